"""The strip of runs below the training bar: a tab for each, and a line where the corpus is not that of the run."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QFont, QFontMetrics, QIcon, QKeyEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QMenu, QTabBar, QVBoxLayout, QWidget

from wordpiece_studio.session.runs import COLORS, Runs
from wordpiece_studio.session.task import later, single_shot
from wordpiece_studio.ui.widgets.fields import keep_keys
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    CutLabel,
    explain,
    key_text,
    menu_text,
    plain_label,
    set_plain_tooltip,
    shown,
    tool_button,
    tooltip_text,
)
from wordpiece_studio.ui.widgets.theme import Theme, run_line
from wordpiece_studio.ui.widgets.token_text import (
    badges_text,
    paint_run_disc,
    pipeline_text,
    repetition_text,
    rules_of,
    run_names,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QContextMenuEvent, QMouseEvent, QPaintEvent, QWheelEvent

    from wordpiece_studio.session.session import Session
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.ui.actions import Actions

_GAP, _EDGE = 7, 9
_RIGHT = QTabBar.ButtonPosition.RightSide
_LEAST_HEIGHT, _MARGIN = 30, 2
_LONGEST_NAME, _LONGEST_CORPUS, _LONGEST_ON_BUTTON = 60, 30, 16
_WIDEST = 28  # letters of average width that a tab takes beside its controls, about 200 pixels; a longer name is cut
_MOST_RULES = 10  # named in the tip of a tab
_KEY = Qt.Key
_KEYS = (_KEY.Key_Left, _KEY.Key_Right, _KEY.Key_Home, _KEY.Key_End, _KEY.Key_Delete, _KEY.Key_F2)


class TabControls(QWidget):
    def __init__(self, runs: Runs, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._run: Run
        self.compare = QCheckBox(self.tr("Compare"), self)
        tip = self.tr("Close this run; Undo brings it back")
        self.close_button = tool_button("", tip, self, lambda: runs.close(self._run))
        theme.set_icon(self.close_button, "close", "muted")
        for control in (self.compare, self.close_button):
            control.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the tabs have keys for both
        fill(QHBoxLayout(self), self.compare, self.close_button, margins=(0, 0, _GAP, 0), spacing=2)
        tip = self.tr("Compare this run with the current one, which always takes part ({key})")
        set_plain_tooltip(self.compare, tip.format(key=key_text("Ctrl+4")))
        self.compare.clicked.connect(lambda is_wanted: runs.set_compared(self._run, is_wanted))

    def show_run(self, run: Run, *, can_compare: bool, is_current: bool) -> None:
        self._run = run
        self.compare.setVisible(can_compare)
        self.compare.setChecked(run.is_compared or is_current)
        self.compare.setEnabled(not is_current)
        self.compare.setAccessibleName(self.tr("Compare run {letter}").format(letter=run.letter))
        self.close_button.setAccessibleName(self.tr("Close run {letter}").format(letter=run.letter))
        self.adjustSize()


class RunTabs(QTabBar):
    """A tab for each run, drawn here: Qt's would neither be slanted nor have the run's color and line."""

    rename_wanted = Signal(object)  # the run
    laid_out = Signal()

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, drawBase=False, expanding=False, usesScrollButtons=True)
        self.setObjectName("run_tabs")
        self.setAccessibleName(self.tr("Runs"))
        self._runs = session.runs
        self._model = session.model
        self._theme = theme
        self._shown: list[tuple[Run, str, str]] = []  # with name and number of merges
        self.is_of_one_corpus = False  # runs of others than the current run's have no tabs
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        keep_keys(self, *_KEYS)
        self.currentChanged.connect(partial(self._do, session.runs.show))
        self.tabBarDoubleClicked.connect(partial(self._do, session.runs.keep))
        for changed in (session.runs.changed, session.model.progress_changed):
            changed.connect(self.refresh)
        theme.dress(self.refresh)  # the controls have other sizes in another font

    def refresh(self) -> None:
        runs = self._runs.all
        self.blockSignals(True)
        while self.count() > len(runs):
            self.removeTab(self.count() - 1)
        while self.count() < len(runs):
            self.setTabButton(self.addTab(""), _RIGHT, TabControls(self._runs, self._theme, self))
            self.updateGeometry()  # a hidden bar does not say that it has become higher
        self._shown = [(run, name, self._badges(run)) for run, name in run_names(runs, self._model.last_told).items()]
        for index, tab in enumerate(self._shown):
            self._describe(index, *tab)
            self.setTabVisible(index, self.has_tab(tab[0]))
        if self._runs.current in runs:
            self.setCurrentIndex(runs.index(self._runs.current))
        self.blockSignals(False)
        self.update()

    def has_tab(self, run: Run) -> bool:
        current = self._runs.current
        is_of_corpus = current is None or run.origin.corpus_name == current.origin.corpus_name
        return is_of_corpus or not self.is_of_one_corpus

    def controls(self, index: int) -> TabControls:
        return cast("TabControls", self.tabButton(index, _RIGHT))

    def menu_of(self, run: Run) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        keep_action = menu.addAction(self.tr("&Keep"), lambda: self._runs.keep(run))
        keep_action.setEnabled(not (run.is_kept and run.origin.is_wanted))
        is_current = run is self._runs.current
        compare = menu.addMenu(self.tr("Co&mpare with")) if is_current else menu
        for other in [each for each in self._runs.all if each is not run] if is_current else [run]:
            text = self.tr("Run {letter}").format(letter=other.letter) if is_current else self.tr("Co&mpare")
            action = compare.addAction(text, partial(self._runs.set_compared, other, not other.is_compared))
            action.setCheckable(True)
            action.setChecked(other.is_compared)
        menu.addAction(self.tr("&Rename…"), lambda: self.rename_wanted.emit(run))
        colors = menu.addMenu(self.tr("C&olor"))
        names = (
            self.tr("Color {number} (solid)"), self.tr("Color {number} (dashed)"), self.tr("Color {number} (dotted)"),
            self.tr("Color {number} (dash and dot)"),
        )  # fmt: skip
        for number in range(COLORS):
            name = names[number % len(names)].format(number=number + 1)
            action = colors.addAction(self._picture(number), name, partial(self._runs.recolor, run, number))
            action.setCheckable(True)
            action.setChecked(number == run.color)
        menu.addSeparator()
        menu.addAction(self.tr("&Close"), lambda: self._runs.close(run))
        return menu

    @property
    def _around(self) -> int:
        """The width of the disc, which is as large as the text, and of the gaps in a tab."""
        return self.fontMetrics().height() + 3 * _GAP + _EDGE

    # -- what Qt asks for

    def tabSizeHint(self, index: int) -> QSize:
        _, name, merges = self._shown[index] if index < len(self._shown) else (None, "", "")
        bold, usual = QFontMetrics(self._name_font(is_current=True, is_kept=True)), self.fontMetrics()
        width = bold.horizontalAdvance(shown(name, _LONGEST_NAME)) + usual.horizontalAdvance(merges) + self._around
        controls = self.tabButton(index, _RIGHT)
        width = min(width, _WIDEST * usual.averageCharWidth()) + (
            0 if controls is None else controls.sizeHint().width()
        )
        return QSize(width, max(_LEAST_HEIGHT, usual.height() + 13))

    def tabLayoutChange(self) -> None:
        later(self, 0, self.laid_out.emit)  # while the tabs change, signals are blocked

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for index in range(min(self.count(), len(self._shown))):
                if self.tabRect(index).intersects(event.rect()):
                    self._paint_tab(painter, index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        run, key = self._runs.current, event.key()
        if run is None or key not in (_KEY.Key_Delete, _KEY.Key_F2):
            super().keyPressEvent(event)
        elif key == _KEY.Key_Delete:
            self._runs.close(run)
        else:
            self.rename_wanted.emit(run)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        run = self._run_of(self.tabAt(event.position().toPoint()))
        if event.button() == Qt.MouseButton.MiddleButton and run is not None:
            self._runs.close(run)
        else:
            super().mouseReleaseEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        is_key = event.reason() == event.Reason.Keyboard
        run = self._runs.current if is_key else self._run_of(self.tabAt(event.pos()))
        if run is not None:
            place = self.tabRect(self.currentIndex()).bottomLeft() if is_key else event.pos()
            self.menu_of(run).popup(self.mapToGlobal(place))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Do nothing: turning the wheel over the tabs must not leave the run."""
        event.ignore()

    # -- drawing

    def _paint_tab(self, painter: QPainter, index: int) -> None:
        run, name, merges = self._shown[index]
        theme, is_current = self._theme, index == self.currentIndex()
        box = QRectF(self.tabRect(index)).adjusted(1, _MARGIN, -_GAP, -_MARGIN)
        color = theme.run_color(run.color)
        is_under_pointer = box.contains(self.mapFromGlobal(self.cursor().pos()).toPointF())
        painter.setBrush(theme.surface if is_current else theme.hover if is_under_pointer else theme.window)
        painter.setPen(QPen(color if is_current else theme.border, 2 if is_current else 1))
        painter.drawRoundedRect(box, 6, 6)
        if is_current and self.hasFocus():
            painter.setPen(QPen(theme.accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(3, 3, -3, -3), 4, 4)
        across = self.fontMetrics().height()
        disc = QRectF(box.left() + _EDGE, box.center().y() - across / 2 - 2, across, across)
        paint_run_disc(painter, run, disc, theme, QFont(self.font()))
        left = disc.right() + _GAP
        painter.setFont(self._name_font(is_current=is_current, is_kept=run.is_kept))
        painter.setPen(theme.text if is_current else theme.muted)
        controls = self.controls(index).sizeHint().width()
        others = controls + self._around + self.fontMetrics().horizontalAdvance(merges) - 1
        room = self.tabRect(index).width() - others
        name = painter.fontMetrics().elidedText(shown(name, _LONGEST_NAME), Qt.TextElideMode.ElideRight, room)
        width = painter.fontMetrics().horizontalAdvance(name)
        painter.drawText(QRectF(left, box.top(), width + 2, box.height()), Qt.AlignmentFlag.AlignVCenter, name)
        painter.setFont(self.font())
        painter.setPen(theme.muted)
        rest = QRectF(left + width + _GAP, box.top(), box.right() - left - width - _GAP, box.height())
        painter.drawText(rest, Qt.AlignmentFlag.AlignVCenter, merges)

    def _picture(self, number: int) -> QIcon:
        pixmap = QPixmap(28, 16)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            painter.setPen(QPen(self._theme.run_color(number), 4, run_line(number), Qt.PenCapStyle.FlatCap))
            painter.drawLine(0, 8, 28, 8)
        return QIcon(pixmap)

    def _name_font(self, *, is_current: bool, is_kept: bool) -> QFont:
        font = QFont(self.font())
        font.setBold(is_current)
        font.setItalic(not is_kept)
        return font

    # -- the tabs

    def _describe(self, index: int, run: Run, name: str, merges: str) -> None:
        said = self.tr("Run {letter}: {name}").format(letter=run.letter, name=name)
        words = " · ".join(filter(None, (said, merges, "" if run.is_kept else self.tr("preview"))))
        self.setAccessibleTabName(index, words)
        hint = "" if run.is_kept else self.tr("The next change replaces it; a double click keeps it.")
        if run.is_kept and not run.origin.is_wanted:
            hint = self.tr("A run of another corpus replaces it; a double click keeps it.")
        rules = " · ".join(rule.text for rule in islice(rules_of(run.config, self._model.last_told), _MOST_RULES))
        lines = (words, rules, run.origin.corpus_name, pipeline_text(run.counts), repetition_text(run), hint)
        self.setTabToolTip(index, tooltip_text("\n".join(filter(None, lines))))
        controls = self.controls(index)
        before, text = controls.sizeHint(), menu_text(f"{name} {merges}")
        controls.show_run(run, can_compare=len(self._shown) > 1, is_current=run is self._runs.current)
        if text != self.tabText(index) or controls.sizeHint() != before:
            self.setTabText(index, text)  # which measures the tabs anew

    def _badges(self, run: Run) -> str:
        is_current = run is self._model.run
        if self._model.hides_future and not is_current:
            return ""
        return badges_text(run, self._model.merge_count if is_current else len(run.history))

    def _run_of(self, index: int) -> Run | None:
        return self._shown[index][0] if 0 <= index < len(self._shown) else None

    def _do(self, act: Callable[[Run], None], index: int) -> None:
        if (run := self._run_of(index)) is not None:
            act(run)


class RunStrip(QFrame):
    """The tabs; and a line below them where the corpus is not what the run shown is of."""

    owner_changed = Signal(str)  # whose the words of the run shown are; empty if they are those of the corpus

    def __init__(self, session: Session, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("run_strip")
        explain("run", self)
        self._session = session
        self._actions = actions
        self.restores_text, self.restoring_words = False, ""  # what the command to do so is now
        self.tabs = RunTabs(session, theme, self)
        self.line = QWidget(self)
        frame = QFrame(self.line)
        frame.setObjectName("corpus_line")
        self._said = CutLabel(parent=frame)
        self._train = tool_button("", "", frame, actions.train.trigger, role="button", takes_focus=True)
        actions.train.enabledChanged.connect(self._train.setEnabled)
        self._button = tool_button("", "", frame, role="button", takes_focus=True)
        self._button.setDefaultAction(actions.bring_text_back)
        fill(QHBoxLayout(frame), (self._said, 1), self._train, self._button, margins=(12, 2, 2, 2), spacing=4)
        fill(QHBoxLayout(self.line), frame, margins=(10, 3, 10, 2))
        title = plain_label(self.tr("Runs"), self, role="heading")
        menu = QMenu(self)
        self._listed = QActionGroup(menu)  # one of them is shown
        self.list_button = tool_button("⌄", self.tr("All runs"), self, takes_focus=True, menu=menu)
        self.list_button.hide()
        menu.aboutToShow.connect(self._list_runs)
        self.tabs.laid_out.connect(  # where not all tabs are in view
            lambda: self.list_button.setVisible(self.tabs.sizeHint().width() > self.tabs.width())
        )
        parts = title, (self.tabs, 1), self.list_button
        tabs = fill(QHBoxLayout(), *parts, margins=(14, 2, 12, 0), spacing=10)
        fill(QVBoxLayout(self), tabs, self.line)
        self._timer = single_shot(self, self._compare_corpus, 150)
        session.runs.changed.connect(self._compare_corpus)
        # What is opened or typed may be trained in an instant.
        session.counting.counts_changed.connect(lambda counts: counts is None or self._timer.start())
        for changed in (session.corpus_taken, session.document.modified_changed):
            changed.connect(self._timer.start)
        self._compare_corpus()

    def _list_runs(self) -> None:
        menu, runs = self.list_button.menu(), self._session.runs
        menu.clear()
        for run, name in run_names(runs.all, self._session.model.last_told).items():
            action = menu.addAction(menu_text(f"{run.letter}  {name}"), partial(runs.show, run))
            self._listed.addAction(action)
            action.setCheckable(True)
            action.setChecked(run is runs.current)

    def _compare_corpus(self) -> None:
        """Say what the run was trained on, and offer what can be done, if the corpus is another now."""
        if self._session.model.is_replacing:
            self._timer.start()
            return
        changes = self._session.changes_since_run()
        run = self._session.runs.current
        is_other = run is not None and (changes.is_other_corpus or changes.corpus)
        later(self, 0, lambda: self.line.setVisible(is_other))  # it lays out panes that may not know the run yet
        self.restores_text = is_other and run is not None and run.origin.corpus is not None
        said, words, owner = "", self.tr("Restore this run’s corpus"), ""
        if run is not None and is_other:
            names = run.origin.corpus_name, self._session.corpus_name
            name, corpus = (shown(each, _LONGEST_CORPUS) for each in names)
            short, corpus_short = (menu_text(shown(each, _LONGEST_ON_BUTTON)) for each in names)
            self._train.setText(self.tr("Train on {name}").format(name=corpus_short))
            owner = self.tr("Words of run {letter} of {name}, not of the corpus")
            if changes.is_other_corpus:
                said = self.tr("Showing run {letter} of {name}. The corpus is now {corpus}.")
                words = self.tr("Back to {name}").format(name=short)
            elif changes.is_edited:
                said = self.tr("Showing run {letter} of {name}, which was edited since.")
                words = self.tr("Restore the earlier corpus")
            else:
                said = self.tr("Showing run {letter}, trained on a different text than the corpus.")
            named = {"letter": run.letter, "name": name, "corpus": corpus}
            said, owner = said.format(**named), owner.format(**named)
        self._said.show_text(said)
        self._button.setHidden(not self.restores_text)
        self.restoring_words = words
        self.owner_changed.emit(owner)
        self._actions.refresh_soon()
