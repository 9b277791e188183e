"""Commands that check a vocabulary, extend it and prune it, each in a window of its own beside the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.session.adaptation import Adaptation
from wordpiece_studio.ui.actions import command, tr
from wordpiece_studio.ui.dialogs.adapt_vocabulary import AdaptWindow
from wordpiece_studio.ui.dialogs.check_tokenizer import CheckWindow
from wordpiece_studio.ui.workspace import Controller

if TYPE_CHECKING:
    from wordpiece_studio.storage.adapted_vocabulary import Adapting
    from wordpiece_studio.ui.workspace import Workspace


class VocabularyController(Controller):
    def __init__(self, window: Workspace) -> None:
        super().__init__(window)
        self.open: dict[Adapting, AdaptWindow] = {}
        self.checking: CheckWindow | None = None
        self._actions.bind(self, self._session.prediction.changed)

    @command(
        tr("Chec&k a tokenizer…"),
        tr("Check IDs, special tokens, unknown words, and tokens that no text can produce; of a run or of a file"),
        unless=Controller.why_hidden,
    )
    def check_tokenizer(self) -> None:
        if self.checking is None:
            self.checking = CheckWindow(self._session, self._window.theme, self._window)
            self.checking.finished.connect(lambda: setattr(self, "checking", None))
        self.checking.begin()

    @command(
        tr("E&xtend a vocabulary…"),
        tr("Find the tokens that a vocabulary lacks for a text, see what they gain, and add them"),
        unless=Controller.why_hidden,
    )
    def extend_vocabulary(self) -> None:
        self._show("extend")

    @command(
        tr("Prune a &vocabulary…"),
        tr("Find the tokens that a text does not use, see what removing them changes, and remove them"),
        unless=Controller.why_hidden,
    )
    def prune_vocabulary(self) -> None:
        self._show("prune")

    def _show(self, kind: Adapting) -> None:
        if kind not in self.open:
            adaptation = Adaptation(kind, self._session, self)
            window = self.open[kind] = AdaptWindow(adaptation, self._session, self._window.theme, self._window)
            adaptation.compared.connect(self._actions.figures.trigger)
            window.finished.connect(lambda: self.open.pop(kind).adaptation.deleteLater())
        self.open[kind].begin()

    def close(self) -> None:
        if self.checking is not None:
            self.checking.reject()  # even if it is hidden
        super().close()
