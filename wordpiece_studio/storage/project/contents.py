"""The contents of a project as plain records; `project_file` writes and reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from wordpiece_studio.system.printable import decodable

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusReference
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.storage.project.container import PackedPart
    from wordpiece_studio.storage.view import View
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.history import MergeHistory


@decodable
class ProjectSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the next training, as in the training bar and the corpus pane."""

    training: dict[str, Any]  # `TrainingConfig.to_dict`
    normalizer: dict[str, Any]  # `normalizers.to_spec`
    pre_tokenizer: dict[str, Any]
    max_word_length: Annotated[int, msgspec.Meta(ge=1, le=2**31)] = 1000  # of the words that are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectCorpus:
    """The corpus: a text stored in the project itself, line breaks as they are, or references to files."""

    name: str = ""  # if it has no file
    text: str | None = ""  # None if the corpus is a list of files
    encoding: str = "utf-8"  # how the text is written to a file: a Python codec, and a byte order mark
    mark: bytes = b""
    is_edited: bool = False  # whether the text has edits that are in no file but the project
    origin: CorpusReference | None = None  # the file that the text was opened from or saved to
    files: tuple[CorpusReference, ...] = ()  # in reading order

    @property
    def references(self) -> tuple[CorpusReference, ...]:
        """The files, and the text's file."""
        return self.files if self.origin is None else (*self.files, self.origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRun:
    """A training and what it was learned from."""

    counts: WordCounts
    config: TrainingConfig  # with limits raised since
    history: MergeHistory
    stop_reason: str | None = None  # a stop rule's name or "user"; None if it was only paused
    corpus_name: str = ""  # at that time
    is_of_corpus: bool = False  # whether the counts are those of the present corpus, which need not be counted again
    is_wanted: bool = True  # whether the user asked for it
    merges: int | None = None  # how many belong to it, if a training may be appending to the history
    number: int = 0  # tells the runs of a project apart
    text: str | None = None  # that it was trained on; None for files, or if that is not known any more
    library_run: LibraryRun | None = None  # what another library trained

    @property
    def merge_count(self) -> int:
        """The number of merges that belong to the run now."""
        return len(self.history) if self.merges is None else self.merges


@dataclass(frozen=True, slots=True)
class UnknownContents:
    """Contents unknown to this program because a newer one wrote them: kept, and saved again."""

    minor: int  # of its format
    records: dict[str, str]  # as JSON
    fields: dict[str, dict[str, Any]]  # of known records
    parts: tuple[PackedPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A whole project. An opened project reads words and places from its file when they are first needed."""

    settings: ProjectSettings
    corpus: ProjectCorpus
    view: View
    runs: tuple[ProjectRun, ...] = ()  # the one that is shown first
    counts: WordCounts | None = None  # of the present corpus, if known and not those of the run
    unknown: UnknownContents | None = None  # must be carried over from the opened project to the saved one

    @property
    def run(self) -> ProjectRun | None:
        """The run that is shown."""
        return self.runs[0] if self.runs else None
