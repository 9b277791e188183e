"""What a window works on: a corpus, its counts, the settings chosen, the run, and everything that looks at them.

All of it runs without a window. Panes and controllers get the parts that they need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.chosen_settings import ChosenSettings
from wordpiece_studio.session.corpus_counting import CorpusCounting
from wordpiece_studio.session.corpus_opening import CorpusOpening
from wordpiece_studio.session.corpus_references import CorpusReferences, FileWatch
from wordpiece_studio.session.document import Document
from wordpiece_studio.session.kernel_warmup import KernelWarmup
from wordpiece_studio.session.live_changes import LiveChanges
from wordpiece_studio.session.player import Player
from wordpiece_studio.session.run import RunOrigin
from wordpiece_studio.session.runs import Runs
from wordpiece_studio.session.step_marks import StepMarks
from wordpiece_studio.session.token_usage import TokenUsage
from wordpiece_studio.session.trainer_model import TrainerModel

if TYPE_CHECKING:
    from wordpiece_studio.session.settings import SettingsStore


@dataclass(frozen=True, slots=True)
class Changes:
    """What has changed since the run began.

    Attributes
    ----------
    is_other_corpus
        Whether another corpus was opened.
    corpus, pipeline
        Whether the corpus has other words, and whether text becomes words in another way.
    settings, rules
        Whether settings changed, and whether any but the size of the vocabulary did.
    """

    is_other_corpus: bool = False
    corpus: bool = False
    pipeline: bool = False
    settings: bool = False
    rules: bool = False


class Session(QObject):
    """The parts as attributes.

    Attributes
    ----------
    store
        The user's preferences, kept from start to start.
    document, opening, references, watch
        The corpus; reading another one; what its files were like when they were read, and whether they change.
    counting, settings
        The word counts of the corpus, and the settings of the next training.
    model, runs, warm_up
        The observable trainer with the run that is shown; loading the fast engine beforehand.
    marks, player, usage, changes
        Breakpoints, markers and bookmarks; playing merges; how often tokens are used; the steps that changed the live
        text.

    Signals
    -------
    corpus_taken()
        Another text, or another list of files, is the corpus.
    live_text_changed(str)
        Another text is tokenized live.
    """

    corpus_taken = Signal()
    live_text_changed = Signal(object)

    def __init__(self, store: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.store = store
        self.document = Document(self)
        self.opening = CorpusOpening(self)
        self.references = CorpusReferences(self)
        self.watch = FileWatch(self)
        self.counting = CorpusCounting(self.document, self)
        self.settings = ChosenSettings(self)
        self.model = TrainerModel(self)
        self.runs = Runs(self.model, self)
        self.marks = StepMarks(self.model, self)
        self.player = Player(self.model, self, watch=self.marks.watch)
        self.usage = TokenUsage(self.model, self)
        self.changes = LiveChanges(self)
        self.warm_up = KernelWarmup(self)
        self.given_name = self.tr("new")
        self.is_sample = False
        self._live_text = ""
        self._known_name = self.corpus_name
        self.counting.partial_changed.connect(self._on_counting_partial_changed)

    def close(self) -> None:
        """Stop everything that is running and wait for it to end."""
        self.player.stop()
        self.warm_up.close()
        self.counting.close()
        self.usage.close()
        self.opening.close()
        self.references.close()
        self.watch.close()
        self.document.close()
        self.model.close()

    # The corpus.

    @property
    def corpus_name(self) -> str:
        """The name of the corpus, with a note if only its first part was counted."""
        document = self.document
        name = document.path.name if document.path is not None else self.given_name
        if document.is_files and document.files.rows:
            name = document.files.name
        return self.tr("{name}, in part").format(name=name) if self.counting.is_partial else name

    def take_corpus(self, name: str, *, is_sample: bool = False) -> None:
        """Take what the document holds as another corpus, which is called `name` where it has no file.

        A run that no one asked for is dropped, but not for a sample: that is trained at once.
        """
        self.given_name, self.is_sample = name, is_sample
        self._known_name = self.corpus_name
        self.settings.suggestion.expect_text()
        self.corpus_taken.emit()
        if not is_sample and not self.model.origin.is_wanted:
            self.model.forget()

    def note_renamed(self) -> None:
        """Note that the corpus may have another name, after it was saved or its files changed."""
        name = self.corpus_name
        if self.model.origin.corpus_name == self._known_name != name:
            self.model.rename_corpus(name)
        self._known_name = name

    def _on_counting_partial_changed(self, _is_partial: object) -> None:
        self._known_name = self.corpus_name

    # The live text.

    @property
    def live_text(self) -> str:
        """The live text."""
        return self._live_text

    def set_live_text(self, text: str) -> None:
        """Tokenize another text live."""
        if text != self._live_text:
            self._live_text = text
            self.live_text_changed.emit(text)

    # The run.

    def origin(self, *, is_automatic: bool, is_wanted: bool = False) -> RunOrigin:
        """Return the origin of a run that begins now; what is not automatic is always wanted."""
        return RunOrigin(is_automatic, is_wanted or not is_automatic, self._known_name, self.counting.text_serial)

    def restored_origin(self, corpus_name: str, *, is_of_corpus: bool, is_wanted: bool) -> RunOrigin:
        """Return the origin of a run of a project; `is_of_corpus`: it was trained on the corpus as it is."""
        if is_of_corpus:
            return RunOrigin(not is_wanted, is_wanted, self._known_name, self.counting.text_serial)
        return RunOrigin(not is_wanted, is_wanted, corpus_name)

    def changes_since_run(self) -> Changes:
        """Return what has changed since the run began."""
        model = self.model
        if model.history is None or model.counts is None or model.config is None:
            return Changes()
        pipeline = self.counting.pipeline
        is_same_pipeline = (model.counts.normalizer, model.counts.pre_tokenizer) == (
            pipeline.normalizer,
            pipeline.pre_tokenizer,
        )
        try:
            config = self.settings.config()
        except StudioError:
            config = None
        same_size = None if config is None else replace(config, vocab_size=model.config.vocab_size)
        return Changes(
            is_other_corpus=model.origin.corpus_name != self._known_name,
            corpus=self._is_corpus_changed(is_same_pipeline),
            pipeline=not is_same_pipeline,
            settings=config != model.config,
            rules=same_size != model.config,
        )

    def _is_corpus_changed(self, comparable: bool) -> bool:
        if self.counting.text_serial == self.model.origin.text_serial:
            return False
        counts = self.counting.counts
        if counts is None or not comparable:
            return True  # as far as is known
        history = self.model.history
        if history is not None and not history.is_whole:  # its words are being read, or cannot be
            return history.is_damaged
        return counts is not self.model.counts and counts != self.model.counts
