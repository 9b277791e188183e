"""The interface through which a project accesses the window's own fields; `ui.project.window_fields` implements it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.storage.project.contents import ProjectSettings


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """The origin of a run, see `ProjectRun`."""

    corpus_name: str = ""
    is_of_corpus: bool = False
    is_wanted: bool = False


class ProjectFields(QObject):
    """Reads and writes the fields; subclasses implement all methods.

    Signals
    -------
    changed()
        A setting, the live text or the name of the corpus has changed.
    """

    changed = Signal()

    @property
    def live_text(self) -> str:
        """The live text."""
        raise NotImplementedError

    @property
    def given_name(self) -> str:
        """The name of the corpus if it has no file."""
        raise NotImplementedError

    def settings(self) -> ProjectSettings:
        """Return the settings of the next training."""
        raise NotImplementedError

    def origin(self) -> RunOrigin:
        """Return the origin of the current run."""
        raise NotImplementedError

    def show_settings(self, settings: ProjectSettings) -> None:
        """Show these settings, without counting for them."""
        raise NotImplementedError

    def take_corpus(self, name: str) -> None:
        """Report that the document holds a new corpus, named `name` if it has no file."""
        raise NotImplementedError

    def counts(self) -> WordCounts | None:
        """Return the word counts of the present corpus; None while unknown."""
        raise NotImplementedError

    @property
    def expects_counts(self) -> bool:
        """Whether the counts of the present corpus are still to come, see `expect_counts`."""
        raise NotImplementedError

    def expect_counts(self) -> None:
        """Do not count the corpus: `take_counts` will deliver its counts."""
        raise NotImplementedError

    def take_counts(self, counts: WordCounts | None) -> None:
        """Accept the expected counts; None: there are none, so the corpus must be counted."""
        raise NotImplementedError

    def begin_run(self, origin: RunOrigin) -> None:
        """Record the origin of the run that the model is about to show."""
        raise NotImplementedError

    def watch(self, text: str) -> None:
        """Set the live text."""
        raise NotImplementedError
