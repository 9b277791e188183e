"""The contents of a project as plain records; `project_file` writes and reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from wordpiece_studio.system.printable import decodable

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusReference
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.storage.project.container import PackedPart
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory

_Text = Annotated[str, msgspec.Meta(max_length=1_000_000)]
_Step = Annotated[int, msgspec.Meta(ge=0, le=2**31)]


@decodable
class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the next training, as in the training bar and the corpus pane.

    Attributes
    ----------
    training
        `TrainingConfig.to_dict`.
    normalizer, pre_tokenizer
        The results of ``normalizers.to_spec`` and ``pre_tokenizers.to_spec``.
    max_word_length
        The most characters a word may have to be counted.
    """

    training: dict[str, Any]
    normalizer: dict[str, Any]
    pre_tokenizer: dict[str, Any]
    max_word_length: Annotated[int, msgspec.Meta(ge=1, le=2**31)] = 1000


@decodable
class ProjectSelection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The selection, see `wordpiece_studio.session.run.Selection`."""

    kind: Literal["pair", "token", "word"]
    left: _Text = ""
    right: _Text = ""
    text: _Text = ""


@decodable
class ProjectBookmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bookmark: after `step` merges, the last of which made `token`."""

    step: _Step
    text: _Text
    token: _Text = ""


@decodable
class ProjectBreakpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A breakpoint, see `wordpiece_studio.session.breakpoints.Breakpoint`."""

    kind: Literal["token", "pattern", "word", "value", "tie", "size"]
    text: _Text = ""
    number: float = 0.0
    is_enabled: bool = True


@decodable
class ProjectTab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tab of a run, see `wordpiece_studio.session.run.Run`; `number`: that of its `ProjectRun`."""

    number: _Step
    name: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    color: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0
    is_kept: bool = True
    is_compared: bool = False
    step: _Step = 0


@decodable
class ProjectView(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the window shows of the project, in any layout.

    Attributes
    ----------
    step
        The number of merges.
    live_text
        The text in the tokenization pane.
    note_runs
        For each of the notes, the number of the run whose step is compared; None, or none at all, if it is not.
    markers
        Two steps that programs before format 1.3 marked; they are left out.
    tabs, current
        The runs in the order of their tabs, and the number of the one that is shown.
    is_longest_first
        Whether texts are also cut by the longest token first.
    """

    step: _Step = msgspec.field(default=0, name="moment")
    selection: ProjectSelection | None = msgspec.field(default=None, name="focus")
    live_text: Annotated[str, msgspec.Meta(max_length=20_000_000)] = msgspec.field(default="", name="watched_text")
    notes: tuple[ProjectBookmark, ...] = ()
    note_runs: tuple[_Step | None, ...] = ()
    markers: dict[Literal["A", "B"], _Step] | msgspec.UnsetType = msgspec.UNSET
    breakpoints: tuple[ProjectBreakpoint, ...] = ()
    tabs: Annotated[tuple[ProjectTab, ...], msgspec.Meta(max_length=10_000)] = ()
    current: _Step = 0
    is_longest_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCorpus:
    """The corpus: a text stored in the project itself, or references to files.

    Attributes
    ----------
    name
        The name of the corpus if it has no file.
    text
        The text, line breaks as they are; None if the corpus is a list of files.
    encoding, mark
        How the text is written to a file: a Python codec, and a byte order mark that may be empty.
    is_edited
        Whether the text has edits that are in no file but the project.
    origin
        The file that the text was opened from or saved to.
    files
        The files, in reading order.
    """

    name: str = ""
    text: str | None = ""
    encoding: str = "utf-8"
    mark: bytes = b""
    is_edited: bool = False
    origin: CorpusReference | None = None
    files: tuple[CorpusReference, ...] = ()

    @property
    def references(self) -> tuple[CorpusReference, ...]:
        """The files, and the text's file."""
        return self.files if self.origin is None else (*self.files, self.origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRun:
    """A training and what it was learned from.

    Attributes
    ----------
    counts, config, history
        The word counts, the settings, including limits raised since, and the merges.
    stop_reason
        Why it ended: a stop rule's name or ``"user"``; None if it was only paused.
    corpus_name
        The name of the corpus at that time.
    is_of_corpus
        Whether `counts` are those of the project's present corpus, so that it need not be counted again.
    is_wanted
        Whether the user asked for the training.
    merges
        How many merges of the history, to which a training may be appending, belong to the run; None: all.
    number
        Tells the runs of a project apart.
    text
        The text that it was trained on; None if it was trained on files, or that is not known any more.
    library_run
        What another library trained; None for our own trainings.
    """

    counts: WordCounts
    config: TrainingConfig
    history: MergeHistory
    stop_reason: str | None = None
    corpus_name: str = ""
    is_of_corpus: bool = False
    is_wanted: bool = True
    merges: int | None = None
    number: int = 0
    text: str | None = None
    library_run: LibraryRun | None = None

    @property
    def merge_count(self) -> int:
        """The number of merges that belong to the run now."""
        return len(self.history) if self.merges is None else self.merges


@dataclass(frozen=True, slots=True)
class UnknownContents:
    """Contents unknown to this program because a newer one wrote them: kept, and saved again.

    Attributes
    ----------
    minor
        The minor number of the newer program's format.
    records
        Whole records as JSON, by name.
    fields
        Unknown fields of known records: by record name, the values from JSON.
    parts
        The parts.
    """

    minor: int
    records: dict[str, str]
    fields: dict[str, dict[str, Any]]
    parts: tuple[PackedPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A whole project. An opened project reads words and places from its file when they are first needed.

    Attributes
    ----------
    settings, corpus, view, run
        See their classes; no run if nothing was trained. Of several runs, the one that is shown.
    others
        The other runs.
    counts
        The word counts of the present corpus, if known and not those of the run.
    unknown
        What a newer program added. It must be carried over from the opened project to the saved one.
    """

    settings: ProjectSettings
    corpus: ProjectCorpus
    view: ProjectView
    run: ProjectRun | None = None
    counts: WordCounts | None = None
    unknown: UnknownContents | None = None
    others: tuple[ProjectRun, ...] = ()

    @property
    def runs(self) -> tuple[ProjectRun, ...]:
        """All runs, the one that is shown first."""
        return () if self.run is None else (self.run, *self.others)
