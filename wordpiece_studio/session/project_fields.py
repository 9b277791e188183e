"""What a project has to know of the window's own fields: the side of the window is `ui.project.window_fields`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.storage.project.contents import ProjectSettings


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """Where a run comes from, see `ProjectRun`."""

    corpus_name: str = ""
    is_of_corpus: bool = False
    is_wanted: bool = False


class ProjectFields(QObject):
    """Reads and writes the fields; subclasses write all of its methods.

    Signals
    -------
    changed()
        A setting, the live text or the name of the corpus is another now.
    """

    changed = Signal()

    @property
    def live_text(self) -> str:
        """The text that is tokenized live."""
        raise NotImplementedError

    @property
    def given_name(self) -> str:
        """What the corpus is called where it has no file."""
        raise NotImplementedError

    def settings(self) -> ProjectSettings:
        """Return how the next training begins."""
        raise NotImplementedError

    def origin(self) -> RunOrigin:
        """Return where the run that is shown comes from."""
        raise NotImplementedError

    def show_settings(self, settings: ProjectSettings) -> None:
        """Show these settings; nothing is counted for them yet."""
        raise NotImplementedError

    def take_corpus(self, name: str) -> None:
        """Say that the document holds another corpus, which is called `name` where it has no file."""
        raise NotImplementedError

    def counts(self) -> WordCounts | None:
        """Return the word counts of the corpus as it is; None while they are not known."""
        raise NotImplementedError

    @property
    def expects_counts(self) -> bool:
        """Whether the counts of the corpus as it is are on their way, see `expect_counts`."""
        raise NotImplementedError

    def expect_counts(self) -> None:
        """Count nothing: the counts of the corpus are on their way."""
        raise NotImplementedError

    def take_counts(self, counts: WordCounts | None) -> None:
        """Take the counts that were expected; None: there are none, the corpus has to be counted."""
        raise NotImplementedError

    def begin_run(self, origin: RunOrigin) -> None:
        """Take down where the run comes from that the model is about to show."""
        raise NotImplementedError

    def watch(self, text: str) -> None:
        """Tokenize `text` live."""
        raise NotImplementedError
