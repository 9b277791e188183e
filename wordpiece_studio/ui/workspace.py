"""The window without its commands: a session, the panes that show it, and where everything lies."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale, QObject, Qt, Signal
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from wordpiece_studio.session.project_state import ProjectState
from wordpiece_studio.session.session import Session
from wordpiece_studio.session.task import Task
from wordpiece_studio.ui.actions import Actions, tr
from wordpiece_studio.ui.lesson_strip import LessonStrip
from wordpiece_studio.ui.messages import Messages, Notices, reported
from wordpiece_studio.ui.panes.charts.charts_pane import ChartsPane
from wordpiece_studio.ui.panes.charts.sizes_pane import SizesPane
from wordpiece_studio.ui.panes.code_pane import CodePane
from wordpiece_studio.ui.panes.comparison.comparison_pane import ComparisonPane
from wordpiece_studio.ui.panes.corpus.corpus_editor import CorpusMarks
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusPane
from wordpiece_studio.ui.panes.history_pane import HistoryPane
from wordpiece_studio.ui.panes.scoreboard.scoreboard_pane import ScoreboardPane
from wordpiece_studio.ui.panes.timeline.timeline_pane import TimelinePane
from wordpiece_studio.ui.panes.token_details.token_details_pane import TokenDetailsPane
from wordpiece_studio.ui.panes.tokenization.tokenization_pane import TokenizationPane
from wordpiece_studio.ui.panes.vocabulary_pane import VocabularyPane
from wordpiece_studio.ui.run_strip import RunStrip
from wordpiece_studio.ui.training_bar import TrainingBar
from wordpiece_studio.ui.widgets.fields import NUMBERS, FileDrops, RoomArea
from wordpiece_studio.ui.widgets.layouts import DockArea
from wordpiece_studio.ui.widgets.pane import Pane, Panel, fill
from wordpiece_studio.ui.widgets.plain import FittingLabel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.ui.widgets.theme import Theme

PANES = {
    "corpus": (tr("Corpus"), "edit-corpus"),
    "token_details": (tr("Token details"), "look-into-token"),
    "scoreboard": (tr("Merge candidates"), "see-next-merge"),
    "history": (tr("Merge history"), "search-history"),
    "code": (tr("Code"), "read-code"),
    "vocabulary": (tr("Vocabulary"), "search-vocabulary"),
    "charts": (tr("Charts"), "read-charts"),
    "sizes": (tr("Sizes"), "which-size"),
    "comparison": (tr("Comparison"), "compare"),
    "tokenization": (tr("Live tokenization"), "watch-text"),
    "timeline": (tr("Timeline"), "go-to-step"),
}  # the title of each pane, in the context of `Workspace`, and the entry of the help that explains it
_MARGIN = 10
_SAME_LINE = 12  # pixels: the height of a line, for the order in which Tab visits the controls


class Workspace(QMainWindow):
    presenting_changed = Signal()

    def __init__(self, settings: SettingsStore, theme: Theme, commands_of: Iterable[type]) -> None:
        QLocale.setDefault(NUMBERS)  # before there is any widget, which would take the system's
        super().__init__()
        self.settings = settings
        self.theme = theme
        self.session = session = Session(settings, self)
        self.project = ProjectState(session)
        self.model, self.player = session.model, session.player
        self.messages = Messages(self)
        self.actions_ = Actions(theme, commands_of, self)
        self.bar = TrainingBar(session.settings, self.actions_, self)
        self.run_strip = RunStrip(session, self.actions_, theme, self)
        self.lesson_strip = LessonStrip(self.actions_, theme, self)
        self.is_presenting = False
        self._content = QWidget(self)
        self.caption = FittingLabel(self._content, role="title")  # of the step
        self.caption.setContentsMargins(_MARGIN, _MARGIN - 2, _MARGIN, _MARGIN - 2)
        self.caption.hide()
        self.caption_note = FittingLabel(self._content)  # of a bookmark of the step
        self.caption_note.setContentsMargins(_MARGIN, 0, _MARGIN, _MARGIN - 2)
        self.caption_note.hide()
        self.setCentralWidget(RoomArea(self._content, self))
        self.notices = Notices(theme, self._content)
        self._make_panes()
        self.docks = DockArea(theme, self)
        self.drops = FileDrops(self, self.tr("Drop to open"))
        self._put_together()
        self.session.runs.shown.connect(self._refresh_all)
        self.session.prediction.changed.connect(lambda: self.bar.rules.show_until(self.model.last_told))
        self.session.prediction.changed.connect(self._refresh_all)  # before anything hidden would be painted again

    def panes(self) -> tuple[Pane, ...]:
        return tuple(getattr(self, f"{name}_pane") for name in PANES)

    @property
    def is_clicked(self) -> bool:
        """Whether Page Down and Page Up are those of a clicker: while presenting, and while anything is asked."""
        is_asking = self.session.prediction.is_on or self.tokenization_pane.split_view.is_asking
        return self.is_presenting or is_asking

    def present(self, is_presenting: bool) -> None:
        """Show a caption of the step, and neither messages nor notices, from now on; or those again."""
        self.is_presenting = is_presenting
        self.notices.set_quiet(is_presenting)
        self.messages.set_quiet(is_presenting)
        self.presenting_changed.emit()

    # -- what is remembered for the next start

    def remember(self, **preferences: object) -> None:
        with reported(self.messages.show_error):
            self.settings.change(**preferences)

    def remember_files(self, *paths: Path) -> None:
        """Keep these paths, which were opened or saved together, for the menu of recent files."""
        with reported(self.messages.show_error):
            self.settings.remember_files([path.absolute() for path in paths])

    # -- construction

    def _refresh_all(self) -> None:
        """Show another run in all panes at once: one by one, some would be painted while others still show nothing."""
        for pane in self.panes():
            if pane.isVisible() and pane.is_stale:
                pane.refresh_now()

    def _make_panes(self) -> None:
        session, theme, model = self.session, self.theme, self.model
        usage, changes = session.usage, session.changes
        self.corpus_pane = CorpusPane(session, self.actions_, theme, self)
        self.tokenization_pane = TokenizationPane(model, changes, session.comparison, theme, self)
        self.scoreboard_pane = ScoreboardPane(model, theme, self, prediction=session.prediction)
        self.history_pane = HistoryPane(model, theme, self, changes=changes)
        self.code_pane = CodePane(model, self.actions_, theme, self)
        self.vocabulary_pane = VocabularyPane(model, usage, theme, self, comparison=session.comparison)
        self.token_details_pane = TokenDetailsPane(model, usage, theme, self)
        self.charts_pane = ChartsPane(session, theme, self)
        self.sizes_pane = SizesPane(session, self.actions_, theme, self)
        self.comparison_pane = ComparisonPane(session, self.actions_, theme, self)
        self.timeline_pane = TimelinePane(session, self.actions_, theme, self)
        self.run_strip.owner_changed.connect(self.corpus_pane.words_tab.owner.show_text)
        self.corpus_marks = CorpusMarks(model, self.corpus_pane.editor, self)
        self.scoreboard_pane.offer(self.actions_.predict)
        self.scoreboard_pane.prediction_view.save_button.setDefaultAction(self.actions_.save_predictions)
        self.scoreboard_pane.middle.nothing.offer(self.actions_.add_text, self.actions_.train)

    def _put_together(self) -> None:
        for pane, (name, (title, entry)) in zip(self.panes(), PANES.items(), strict=True):
            self.docks.add_panel(Panel(name, self.tr(title), pane, self.docks, entry=entry))
        self.docks.panels["token_details"].toggle_action.setStatusTip(  # Find searches it
            self.tr("How a token was built, and the best splits of a word with their probabilities")
        )
        self.notices.keep_free(self.docks.panels["timeline"])
        around = (_MARGIN, 2, _MARGIN, _MARGIN)
        room = fill(QVBoxLayout(), (self.docks, 1), margins=around, spacing=_MARGIN - 2)
        parts = self.lesson_strip, self.bar, self.run_strip, self.caption, self.caption_note, (room, 1)
        fill(QVBoxLayout(self._content), *parts)

    # -- the order in which Tab visits the controls

    def focusNextPrevChild(self, is_next: bool) -> bool:
        """Let Tab follow the reading order of what is shown now: panes create some controls when first shown."""
        _set_tab_order([self.lesson_strip, self.bar, self.run_strip, *self.docks.parts(), self.notices])
        return super().focusNextPrevChild(is_next)


class Controller(QObject):
    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self._window = window
        self._session = window.session
        self._model = window.session.model
        self._document = window.session.document
        self._actions = window.actions_
        self._messages = window.messages

    def why_hidden(self) -> str:
        """Return why something is not shown that would tell what comes after the step; empty if it may be shown."""
        return QCoreApplication.translate("Controller", "Prediction is on") if self._model.hides_future else ""

    def close(self) -> None:
        """Cancel what is running and wait for the threads to end."""
        for task in self.findChildren(Task):
            task.close()


def _set_tab_order(parts: Sequence[QWidget]) -> None:
    """Let Tab visit the controls of one part after the other, line by line; of a part in two places, in the first."""
    order: list[QWidget] = []
    for part in parts:
        order += [control for control in _controls(part) if control not in order]
    for before, after in pairwise(order):
        QWidget.setTabOrder(before, after)


def _controls(part: QWidget) -> Iterator[QWidget]:
    """Yield what can have the focus inside a part; pop-up windows and the insides of controls are left out."""
    if part.focusPolicy().value & Qt.FocusPolicy.TabFocus.value and part.focusProxy() is None:
        yield part
    children = part.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    inside = [child for child in children if not child.isWindow()]
    for child in sorted(inside, key=lambda each: (each.y() // _SAME_LINE, each.x())):
        yield from _controls(child)
