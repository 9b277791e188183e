"""The texts that commands read according to their options, counting their words, and their records for manifests.

The state of the files is recorded before they are counted, and they are hashed in the background.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli.messages import STDIN, no_words
from wordpiece_studio.cli.terminal import is_stream, opened_bytes
from wordpiece_studio.corpus.corpus_file import checked_kind, kind_of_name
from wordpiece_studio.corpus.counting.counting import count_stream, count_words
from wordpiece_studio.corpus.listing import listing, opened_stream
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import STREAM, CorpusRecord, HashingBeside, noted_files, record_of_files
from wordpiece_studio.system.printable import display_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from wordpiece_studio.cli.terminal import Report
    from wordpiece_studio.corpus.corpus_file import CorpusFile, FileKind
    from wordpiece_studio.corpus.counts import CountingProgress, WordCounts
    from wordpiece_studio.corpus.files import TextStream
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.corpus.rows import RowSource
    from wordpiece_studio.text.pipeline import Normalizer


_READING = ("column", "encoding", "errors")


def listed_sources(options: Mapping[str, Any]) -> Listing | None:
    """Return the files that the options name; None for standard input or a pipe.

    Raises
    ------
    StudioError
        If there are none, or standard input is one of several.
    """
    if is_stream(options["files"]):
        return None
    return listing(options["files"], kind=_kind(options), **{name: options[name] for name in _READING})


@contextmanager
def opened_stdin(options: Mapping[str, Any]) -> Iterator[TextStream | RowSource]:
    """Open standard input or the named pipe for the duration of the block, with the reading options.

    Raises
    ------
    StudioError
        If it is closed, or cannot be read that way.
    """
    (name,) = options["files"]
    reading = {name: options[name] for name in _READING}
    with opened_bytes(name) as stream:
        yield opened_stream(stream, _stream_name(name), _stream_kind(options), **reading)


def counted_words(
    options: Mapping[str, Any], files: Listing | None, normalizer: Normalizer, report: Report
) -> WordCounts:
    """Return the words of files, or of standard input, counted according to the options.

    Raises
    ------
    StudioError
        If something cannot be read, or there are no words.
    """
    counting = {name: options[name] for name in ("pre_tokenizer", "max_word_length")}

    def report_progress(progress: CountingProgress) -> None:
        report("Counting", progress.bytes_done, progress.bytes_total)

    if files is None:
        (name,) = options["files"]
        if options["cluster"] is not None:
            advice = "Write it to a file that its workers can read."
            raise StudioError(
                "{name} cannot be counted on a cluster", advice, name="Stdin" if name == "-" else display_name(name)
            )
        counting |= {name: options[name] for name in _READING} | {"kind": _stream_kind(options)}
        with opened_bytes(name) as stream:
            counts = count_stream(stream, _stream_name(name), normalizer, **counting)
        counts = counts.at_least(options["min_count"])
    else:
        counting |= {name: options[name] for name in ("processes", "cluster", "min_count")}
        counts = count_words(files, normalizer, **counting, progress=report_progress)
    if not counts and counts.statistics.rare_words:
        raise StudioError("No word occurs {n:,} times or more", "Skip fewer words.", n=options["min_count"])
    if not counts:
        raise no_words(options["files"], counts)
    return counts


def _stream_kind(options: Mapping[str, Any]) -> FileKind:
    return _kind(options) or kind_of_name(options["files"][0]) or "text"


def _stream_name(name: str) -> str:
    return STDIN if name == "-" else display_name(name)


def _kind(options: Mapping[str, Any]) -> FileKind | None:
    name: str | None = "word-counts" if options.get("word_counts") else options["kind"]
    return None if name is None else checked_kind(name)


class CorpusNotes:
    """The state of the corpus files before they are counted.

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
        """Start hashing the files in the background."""
        if self._noted is not None and self._hashing is None:
            self._hashing = HashingBeside(self._noted)

    def record(self) -> CorpusRecord:
        """Wait for the hashes and return the record for the manifest."""
        self.hash_beside()
        if self._hashing is None:
            return CorpusRecord(
                sha256_missing=STREAM, max_word_length=self._longest, min_count=self._rarest
            )  # fmt: skip
        return record_of_files(self._hashing.files(), max_word_length=self._longest, min_count=self._rarest)
