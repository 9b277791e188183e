"""The texts that commands read, as their options say, and counting their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli.messages import STDIN, no_words
from wordpiece_studio.cli.terminal import files_or_stdin
from wordpiece_studio.core.corpus.corpus_file import checked_kind
from wordpiece_studio.core.corpus.counting.counting import count_stream, count_words
from wordpiece_studio.core.corpus.listing import listing
from wordpiece_studio.core.corpus.sources import opened_stream
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wordpiece_studio.cli.terminal import Report
    from wordpiece_studio.core.corpus.corpus_file import FileKind
    from wordpiece_studio.core.corpus.counting.counting_progress import CountingProgress
    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.corpus.listing import Listing
    from wordpiece_studio.core.corpus.rows import RowSource
    from wordpiece_studio.core.corpus.streams import TextStream
    from wordpiece_studio.core.text.normalizers import Normalizer

_READING = ("column", "encoding", "errors")


def listed_sources(options: Mapping[str, Any]) -> Listing | None:
    """Return the files that the options name; None if that is standard input.

    Raises
    ------
    StudioError
        If there are none, or standard input is one of several.
    """
    source = files_or_stdin(options["files"])
    if not isinstance(source, list):
        return None
    return listing(source, kind=_kind(options), **{name: options[name] for name in _READING})


def opened_stdin(options: Mapping[str, Any]) -> TextStream | RowSource:
    """Return standard input, to be read as the options say.

    Raises
    ------
    StudioError
        If it is closed, or cannot be read so.
    """
    stream = files_or_stdin(["-"])
    assert not isinstance(stream, list)
    return opened_stream(stream, STDIN, _kind(options) or "text", **{name: options[name] for name in _READING})


def counted_words(
    options: Mapping[str, Any], files: Listing | None, normalizer: Normalizer, report: Report
) -> WordCounts:
    """Return the words of files, or of standard input, counted as the options say.

    Raises
    ------
    StudioError
        If something cannot be read, or there are no words.
    """
    counting = {name: options[name] for name in ("pre_tokenizer", "max_word_length")}

    def tell(progress: CountingProgress) -> None:
        report("Counting", progress.bytes_done, progress.bytes_total)

    if files is None:
        if options["cluster"] is not None:
            raise StudioError("Stdin cannot be counted on a cluster", "Write it to a file that its workers can read.")
        stream = files_or_stdin(["-"])
        assert not isinstance(stream, list)
        reading = {name: options[name] for name in _READING}
        counts = count_stream(stream, STDIN, normalizer, kind=_kind(options) or "text", **reading, **counting)
        counts = counts.at_least(options["min_count"])
    else:
        counting |= {name: options[name] for name in ("processes", "cluster", "min_count")}
        counts = count_words(files, normalizer, **counting, progress=tell)
    if not counts and counts.statistics.rare_words:
        raise StudioError("No word occurs {n:,} times or more", "Leave out fewer words.", n=options["min_count"])
    if not counts:
        raise no_words(options["files"], counts)
    return counts


def _kind(options: Mapping[str, Any]) -> FileKind | None:
    name: str | None = "word-counts" if options.get("word_counts") else options["kind"]
    return None if name is None else checked_kind(name)
