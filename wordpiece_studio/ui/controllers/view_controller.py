"""Commands of the View and Edit menus: theme, text size, layouts, panes, and what the field with the focus does."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QByteArray, QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QCursor, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.task import later
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.dialogs.palette import Palette
from wordpiece_studio.ui.widgets.fields import is_alone, keep, room_for
from wordpiece_studio.ui.widgets.layouts import LAYOUTS, LayoutName, demo_text_size
from wordpiece_studio.ui.widgets.pane import Panel
from wordpiece_studio.ui.widgets.plain import copy_text
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.theme import ThemeChoice, TokenStyles
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.session.settings import SavedLayout

_STEP, _USUAL, _LEAST, _MOST = 10, 100, 60, 300  # of text sizes, in percent of the system's
_MOST_COLORED_WORDS = 5000  # of more, almost any two symbols stand side by side somewhere
_USUAL_SIZE = QSize(1440, 900)
_FRAME_KNOWN_MS = (0, 60, 400)  # when to check, after the window is shown, that it lies on its screen with its frame
_TEXTS = (QLineEdit, QPlainTextEdit, QTextEdit)
_KEYS = QKeySequence.StandardKey


class ViewController(Controller):
    """Changes how the window looks, and remembers it; each layout keeps the user's changes to it across restarts.

    The text fields handle the keys of Cut, Copy, Paste and Select all themselves; the Edit menu only shows them, and
    acts on the field that had the focus before the menu or the palette took it.
    """

    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._settings = window.settings
        self._docks = window.docks
        self._target: Any = None
        self._holds_frame = False
        window.installEventFilter(self)
        focus_changed = cast("QApplication", QApplication.instance()).focusChanged
        focus_changed.connect(self._on_application_focus_changed)
        self._document.reset.connect(lambda: self._docks.set_wide_left(not self._document.is_editable))
        window.session.runs.changed.connect(self._show_run_strip)
        for show in (self._color_symbols, self._show_gestures):
            window.model.run_reset.connect(show)
        history = window.history_pane
        history.view.take_column_names(self._settings.values.history_columns)
        history.columns_chosen.connect(lambda names: window.remember(history_columns=names))
        window.model.selection_changed.connect(
            lambda selection: self._docks.suggest("token_details", self._pane_meant() if selection is not None else "")
        )
        window.tokenization_pane.chips.chosen.connect(lambda at: self._learn("click") if at else None)
        window.tokenization_pane.chips.word_chosen.connect(lambda: self._learn("open"))
        window.timeline_pane.plot.valueChanged.connect(lambda: self._learn("drag"))
        self._show_gestures()
        self._edits = edits = self._document.undo_group
        self._actions.bind(
            self, window.notices.changed, edits.canUndoChanged, edits.canRedoChanged, self._document.reset
        )

    # -- from start to start

    def restore(self) -> None:
        """Give the window its last size and arrangement, or the default ones; never larger than the screen."""
        values, window = self._settings.values, self._window
        if values.window_geometry:
            window.restoreGeometry(QByteArray.fromBase64(values.window_geometry.encode()))
        if not window.isMaximized() and not window.isFullScreen():
            wanted = QSize(*values.window_size) if values.window_size else _USUAL_SIZE
            window.resize(wanted.boundedTo(room_for(window)))
        self._take_layout()

    def remember(self, play_speed: float) -> None:
        size = self._window.normalGeometry().size()
        self._window.remember(
            play_speed=play_speed,
            window_size=(size.width(), size.height()),
            window_geometry=self._window.saveGeometry().toBase64().toStdString(),
        )
        self._remember_layout()

    def keep_on_screen(self) -> None:
        """Once the window is shown and its frame is known, make sure that no edge lies off the screen."""
        for delay_ms in _FRAME_KNOWN_MS:
            later(self, delay_ms, self._fit_frame)

    def _fit_frame(self) -> None:
        window = self._window
        if window.isMaximized() or window.isFullScreen() or not window.isVisible():
            return
        frame, inner = window.frameGeometry(), window.geometry()
        wanted = fitted(frame, window.screen().availableGeometry())
        if wanted.size() != frame.size():
            window.resize(inner.size() - (frame.size() - wanted.size()))
        if wanted.topLeft() != frame.topLeft():
            window.move(wanted.topLeft())

    # -- theme and text size

    def _color_symbols(self) -> None:
        """Give the symbols of a small corpus their colors, before a pane draws them."""
        counts, config = self._window.model.counts, self._window.model.config
        styles = TokenStyles()
        if counts is not None and config is not None and len(counts.counts) <= _MOST_COLORED_WORDS:
            with suppress(StudioError):  # a damaged project: what shows its words reports it
                styles = TokenStyles(counts.words, config.continuing_subword_prefix)
        self._window.theme.token_styles = styles

    @property
    def text_size(self) -> int:
        """In percent of the system's."""
        values = self._settings.values
        if values.layout != "demo":
            return values.font_scale
        return values.demo_scale or demo_text_size(self._window.screen().size().height())

    def _hold_frame(self) -> None:
        """Show nothing of a change before all that follows is done; Qt's way paints everything twice."""
        self._holds_frame = True
        self._docks.hold(True)
        later(self, 0, lambda: later(self, 0, self._show_frame))

    def _show_frame(self) -> None:
        self._holds_frame = False
        self._docks.hold(False)
        QApplication.sendEvent(self._window, QEvent(QEvent.Type.UpdateRequest))

    def _themes(self) -> Iterator[MenuChoice]:
        yield MenuChoice("system", self.tr("Same as the &system"))
        yield MenuChoice("light", self.tr("&Light"))
        yield MenuChoice("dark", self.tr("&Dark"))
        yield MenuChoice("contrast", self.tr("&High contrast"))

    @command(choices=_themes, checked=lambda self, theme: self._window.theme.choice == theme)
    def choose_theme(self, theme: ThemeChoice) -> None:
        self._hold_frame()
        self._window.theme.set_choice(theme)
        self._window.remember(theme=theme)

    @command(
        tr("La&rger text"), tr("Zoom in: a larger font, readable from the back of the room"), (_KEYS.ZoomIn, "Ctrl+=")
    )
    def larger_text(self) -> None:
        self._set_text_size(self.text_size + _STEP)

    @command(tr("S&maller text"), tr("Zoom out: a smaller font"), _KEYS.ZoomOut)
    def smaller_text(self) -> None:
        self._set_text_size(self.text_size - _STEP)

    @command(tr("&Normal text"), tr("Back to the system’s text size"), "Ctrl+0")
    def normal_text(self) -> None:
        self._set_text_size(None)

    def _set_text_size(self, percent: int | None) -> None:
        if percent is not None:
            percent = max(_LEAST, min(_MOST, percent))
        self._hold_frame()
        if self._settings.values.layout == "demo":
            self._window.remember(demo_scale=percent)
        else:
            self._window.remember(font_scale=percent or _USUAL)
        self._window.theme.set_scale(self.text_size / 100)
        self.keep_on_screen()  # larger text may need a larger window

    # -- layouts

    def _layouts(self) -> Iterator[MenuChoice]:
        tr = self.tr
        tip = tr("Layout for teaching: corpus, merge candidates, history and tokens")
        yield MenuChoice("teach", tr("&Teaching"), tip, "Ctrl+1")
        tip = tr("Layout for engineering: history, vocabulary and charts")
        yield MenuChoice("engineer", tr("&Engineering"), tip, "Ctrl+2")
        tip = tr("Layout for presenting: full screen, large text; formula, tokens and timeline")
        yield MenuChoice("demo", tr("Prese&nting"), tip, "Ctrl+3")
        tip = tr("Layout for comparing: metrics, splits, vocabularies and merges of runs")
        yield MenuChoice("compare", tr("&Comparing"), tip, "Ctrl+4")
        tip = tr("Layout for choosing a size: drag it, and see its metrics and the live text")
        yield MenuChoice("sizes", tr("Si&zes"), tip, "Ctrl+5")

    @command(choices=_layouts, checked=lambda self, name: self._settings.values.layout == name)
    def choose_layout(self, name: LayoutName) -> None:
        self._hold_frame()
        self._remember_layout()
        self.arrange(name, self._settings.values.layouts)

    def _remember_layout(self) -> None:
        name, saved = self._docks.layout_taken.name, self._docks.changed_by_hand()
        layouts = {key: value for key, value in self._settings.values.layouts.items() if key != name}
        if saved is not None:
            layouts[name] = saved
        if layouts != self._settings.values.layouts:
            self._window.remember(layouts=layouts)

    def arrangement(self) -> tuple[LayoutName, dict[LayoutName, SavedLayout], str]:
        """Return the layout, the user's changes to all layouts, and which pane is maximized; see `arrange`."""
        self._remember_layout()
        values = self._settings.values
        return values.layout, values.layouts, self._docks.filling

    def arrange(self, layout: LayoutName, layouts: dict[LayoutName, SavedLayout], filling: str = "") -> None:
        """Show a layout; the demo layout switches to full screen, and leaving it switches back."""
        was_demo = self._settings.values.layout == "demo"
        self._hold_frame()
        self._window.remember(layout=layout, layouts=layouts)
        self._take_layout()
        if filling:
            self._docks.fill(filling)
        if was_demo != (layout == "demo"):
            self._set_full_screen(not was_demo)

    def _take_layout(self) -> None:
        values = self._settings.values
        layout = LAYOUTS[values.layout]
        self._window.bar.setVisible(layout.has_bar)
        self._show_run_strip()
        self._window.present(not layout.has_bar)
        self._window.history_pane.show_tools(layout.has_tools)
        self._window.theme.set_scale(self.text_size / 100)
        self._docks.take(layout, values.layouts.get(layout.name))

    def _show_run_strip(self) -> None:
        """Show the runs, where there is no other command beside them only if there are several of the same corpus."""
        has_bar, strip = LAYOUTS[self._settings.values.layout].has_bar, self._window.run_strip
        if strip.tabs.is_of_one_corpus == has_bar:
            strip.tabs.is_of_one_corpus = not has_bar
            strip.tabs.refresh()
        strip.setVisible(has_bar or sum(map(strip.tabs.has_tab, self._window.session.runs.all)) > 1)

    def _set_full_screen(self, is_full: bool) -> None:
        if is_full != self._window.isFullScreen():
            self._window.setWindowState(self._window.windowState() ^ Qt.WindowState.WindowFullScreen)

    @command(
        tr("F&ull screen"), tr("Switch full screen on or off"), "F11",
        checked=lambda self: self._window.isFullScreen(),
    )  # fmt: skip
    def full_screen(self) -> None:
        self._set_full_screen(not self._window.isFullScreen())

    @command(tr("&Reset layout"), tr("Move all panes of this layout back to their default places"))
    def reset_layout(self) -> None:
        self._docks.take(self._docks.layout_taken)
        self._remember_layout()

    # -- panes

    @command(
        tr("Ma&ximize this pane"),
        tr("Show only the focused pane; press Esc or use this command again to show the others"),
        "F12",
    )
    def fill_pane(self) -> None:
        if name := self._docks.filling or self._pane_meant():
            self._docks.fill(name)

    @staticmethod
    def _pane_meant() -> str:
        """Return the name of the pane with the focus, else of the one under the pointer; empty if there is none."""
        for widget in (QApplication.focusWidget(), QApplication.widgetAt(QCursor.pos())):
            while widget is not None and not isinstance(widget, Panel):
                widget = widget.parentWidget()
            if widget is not None:
                return widget.objectName()
        return ""

    @command(
        tr("Show recent &messages"), tr("Show recent messages"), "Ctrl+M", "info", button=tr("Messages"),
        when=lambda self: self._window.notices.can_come_back,
    )  # fmt: skip
    def last_messages(self) -> None:
        self._window.notices.come_back()

    # -- what the user need not read

    def _learn(self, gesture: str) -> None:
        if gesture not in (known := self._settings.values.gestures):
            self._window.remember(gestures=(*known, gesture))
            self._show_gestures()

    def _show_gestures(self) -> None:
        tr = self.tr
        known = self._settings.values.gestures if self._model.history is not None else ("click", "open", "drag")
        click = "" if "open" in known else tr("Double-click a token to open its word")
        click = click if "click" in known else tr("Click a token: every pane shows it")
        self._docks.panels["tokenization"].show_gesture(click)
        self._docks.panels["timeline"].show_gesture(
            "" if "drag" in known else tr("Drag along the curve to go through the merges")
        )

    # -- finding

    def _is_text(self) -> bool:
        return self._document.is_editable

    @command(tr("&Find in corpus…"), tr("Find text in the corpus"), _KEYS.Find, when=_is_text)
    def find(self) -> None:
        self._window.corpus_pane.open_find_bar()

    @command(tr("Find &next"), tr("Go to the next match"), "F3", when=_is_text)
    def find_next(self) -> None:
        self._window.corpus_pane.find_next()

    @command(tr("Find pre&vious"), tr("Go to the previous match"), "Shift+F3", when=_is_text)
    def find_previous(self) -> None:
        self._window.corpus_pane.find_previous()

    @command(tr("Find a to&ken…"), tr("Search the vocabulary"), "Ctrl+Shift+F")
    def find_token(self) -> None:
        self._docks.bring("vocabulary")
        self._window.vocabulary_pane.controls.focus_search()

    @command(
        tr("Sho&w in vocabulary"), tr("Go to the selected token in the vocabulary"),
        when=lambda self: self._window.vocabulary_pane.has_selected,
    )  # fmt: skip
    def show_in_vocabulary(self) -> None:
        self._docks.bring("vocabulary")
        self._window.vocabulary_pane.show_selected()

    @command(tr("T&ype text to tokenize"), tr("Go to the text field of the live tokenization"), "Ctrl+L")
    def type_live_text(self) -> None:
        self._docks.bring("tokenization")
        self._window.tokenization_pane.edit.setFocus()

    @command(tr("&Go to step…"), tr("Type the number of a step"), "Ctrl+G")
    def go_to_step(self) -> None:
        self._docks.bring("history")
        self._window.history_pane.ask_for_step()

    @command(tr("Sho&w this step in the history"), tr("Scroll to the row of this step"), "Ctrl+J")
    def show_step_row(self) -> None:
        self._docks.bring("history")
        self._window.history_pane.show_step()

    @command(tr("Maximum word &length…"), tr("Choose the length up to which words are counted"))
    def longest_word(self) -> None:
        self._docks.bring("corpus")
        self._window.corpus_pane.figures.ask_for_longest_word()

    @command(
        tr("&Look up word in corpus"), tr("Show the word at the cursor in all panes, as Ctrl+click does"), when=_is_text
    )
    def look_up_word(self) -> None:
        self._window.corpus_pane.editor.want_word()

    # -- the Edit menu

    @property
    def target(self) -> Any:
        return self._target if self._target is not None and isValid(self._target) else None

    @command(
        tr("&Undo"), tr("Undo the last corpus edit, or bring back the run closed last"), _KEYS.Undo,
        when=lambda self: self._edits.canUndo(),
    )  # fmt: skip
    def undo(self) -> None:
        self._edits.undo()

    @command(tr("&Redo"), tr("Redo what was undone"), _KEYS.Redo, when=lambda self: self._edits.canRedo())
    def redo(self) -> None:
        self._edits.redo()

    def _is_writable(self) -> bool:
        return isinstance(self.target, _TEXTS) and not self.target.isReadOnly()

    def _has_selection(self) -> bool:
        if isinstance(self.target, QLineEdit):
            return self.target.hasSelectedText()
        if isinstance(self.target, TableView):
            return self.target.can_copy
        return self.target is not None and bool(self.target.textCursor().hasSelection())

    @command(
        tr("Cu&t"), tr("Cut the selected text"), key_of_fields=_KEYS.Cut,
        when=lambda self: self._is_writable() and self._has_selection(),
    )  # fmt: skip
    def cut(self) -> None:
        self.target.cut()

    @command(
        tr("&Copy"), tr("Copy the selected text, rows, token or word"), key_of_fields=_KEYS.Copy,
        when=lambda self: self._has_selection() or self._model.selection is not None,
    )  # fmt: skip
    def copy(self) -> None:
        if self._has_selection():
            self.target.copy()
        elif (selection := self._model.selection) is not None:
            copy_text(selection.text or f"{selection.left} {selection.right}")

    @command(tr("&Paste"), tr("Insert the text on the clipboard"), key_of_fields=_KEYS.Paste, when=_is_writable)
    def paste(self) -> None:
        self.target.paste()

    @command(
        tr("Select &all"), tr("Select the whole text"), key_of_fields=_KEYS.SelectAll,
        when=lambda self: self.target is not None,
    )  # fmt: skip
    def select_all(self) -> None:
        self.target.selectAll()

    # -- the focus

    def _on_application_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        if isinstance(new, _TEXTS):
            new.installEventFilter(self)
        if new is not None and not isinstance(new, QMenu | QMenuBar) and not isinstance(new.parent(), Palette):
            inner = new.findChild(QLineEdit) if isinstance(new, QAbstractSpinBox) else new
            self._target = inner if isinstance(inner, (*_TEXTS, TableView)) else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the menu in step with full screen, and leave Escape to a text field before the command takes it.

        In a field it clears a search, or closes the bar that the field is in, or leaves the field; elsewhere, if a pane
        fills the window, it brings the others back. Right steps at the end of a field too. A frame may be held back.
        """
        kind = event.type()
        # A line passes on what it has no use for.
        if kind == QEvent.Type.KeyPress and isinstance(watched, Workspace | QPlainTextEdit) and not self._docks.filling:
            field, plot = self._window.focusWidget(), self._window.timeline_pane.plot
            if isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and isinstance(field, _TEXTS):
                plot.setFocus() if plot.isVisible() else field.clearFocus()
                return True
        if watched is self._window:
            if kind == QEvent.Type.UpdateRequest and self._holds_frame:
                return True
            if kind == QEvent.Type.WindowStateChange:
                self._actions.refresh_soon()
            elif kind == QEvent.Type.ShortcutOverride:
                self._actions.catch_up()  # the key may be that of a command that only menus show
            if isinstance(event, QKeyEvent) and self._docks.filling:
                if kind == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
                    self._docks.fill("")
                    return True
                return keep(event, (Qt.Key.Key_Escape,))
        elif kind == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape and not event.modifiers() and _is_field(watched):
                event.accept()
                return True
            if event.key() == Qt.Key.Key_Right and is_alone(event) and _is_at_end_of_line(watched):
                event.ignore()
                return True
            if event.keyCombination() == Qt.Modifier.CTRL | Qt.Key.Key_K:
                event.ignore()  # in some systems it would delete the rest of the line
                return True
            is_of_clicker = event.key() in (Qt.Key.Key_PageDown, Qt.Key.Key_PageUp) and is_alone(event)
            if is_of_clicker and self._window.is_clicked:
                event.ignore()
                return True
        return super().eventFilter(watched, event)


def _is_at_end_of_line(field: QObject) -> bool:
    """Return whether the caret is at the end of a field of one line, where Right does nothing."""
    if isinstance(field, QLineEdit):
        return field.cursorPosition() == len(field.text()) and not field.hasSelectedText()
    if not isinstance(field, QPlainTextEdit) or not _is_field(field) or field.blockCount() > 1:
        return False
    return field.textCursor().atEnd() and not field.textCursor().hasSelection()


def _is_field(widget: QObject) -> bool:
    """Return whether a widget is a field for text, not an editor."""
    return isinstance(widget, QLineEdit) or (isinstance(widget, QPlainTextEdit) and widget.tabChangesFocus())


def fitted(frame: QRect, available: QRect) -> QRect:
    size = frame.size().boundedTo(available.size())
    left = min(max(frame.left(), available.left()), available.left() + available.width() - size.width())
    top = min(max(frame.top(), available.top()), available.top() + available.height() - size.height())
    return QRect(left, top, size.width(), size.height())
