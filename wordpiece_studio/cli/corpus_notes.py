"""What manifests say of the corpus that a command reads: noted before it is counted, hashed beside other work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordpiece_studio.storage.corpus_record import (
    STREAM,
    CorpusRecord,
    HashingBeside,
    noted_files,
    record_of_files,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wordpiece_studio.corpus.corpus_file import CorpusFile


class CorpusNotes:
    """The files of a corpus as they are before they are counted.

    Parameters
    ----------
    files
        The files; None for standard input.
    options
        The options of the command.
    """

    def __init__(self, files: Sequence[CorpusFile] | None, options: Mapping[str, Any]) -> None:
        self._noted = None if files is None else noted_files(files)
        self._longest = options["max_word_length"]
        self._rarest = options["min_count"]
        self._hashing: HashingBeside | None = None

    def hash_beside(self) -> None:
        """Begin to hash the files, beside what the program does meanwhile."""
        if self._noted is not None and self._hashing is None:
            self._hashing = HashingBeside(self._noted)

    def record(self) -> CorpusRecord:
        """Wait for the hashes and return what the manifest says."""
        self.hash_beside()
        if self._hashing is None:
            return CorpusRecord(
                sha256_missing=STREAM, max_word_length=self._longest, min_count=self._rarest
            )  # fmt: skip
        return record_of_files(self._hashing.files(), max_word_length=self._longest, min_count=self._rarest)
