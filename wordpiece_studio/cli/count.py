"""``wordpiece-studio count``."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from wordpiece_studio.cli import options as shared
from wordpiece_studio.cli.messages import (
    LOSSES,
    count_summary,
    detected_encodings,
    loss_warnings,
    print_result,
    progress,
    table_of_files,
    warn,
)
from wordpiece_studio.cli.options import FILES
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.corpus.files import is_url
from wordpiece_studio.corpus.word_counts import check_table_place, write_word_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.manifest import make_counts_manifest, with_side_manifest
from wordpiece_studio.system.printable import display_name, printable
from wordpiece_studio.text.normalizers import resolve_normalizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.files import CorpusFile


def count_command(
    options: dict[str, Any],
    files: Annotated[list[str], Argument(help=FILES, metavar="FILES")],
    output: Annotated[
        str | None, Option("-o", "--output", metavar="FILE", help="The .tsv, .csv or .parquet file to write.")
    ] = None,
    top: Annotated[int, Option(help="Print this many of the most common words.", metavar="N", min=0)] = 0,
    as_json: shared.JsonOption = False,
    kind: shared.KindOption = None,
    word_counts: shared.WordCountsOption = False,
    column: shared.ColumnOption = None,
    encoding: shared.EncodingOption = None,
    errors: shared.ErrorsOption = "strict",
    normalizer: shared.NormalizerOption = "bert-cased",
    pre_tokenizer: shared.PreTokenizerOption = "bert",
    remove: shared.RemoveOption = "",
    user_tokens: shared.UserTokensOption = None,
    max_word_length: shared.LongestWordOption = 1000,
    min_count: shared.MinCountOption = 1,
    processes: shared.ProcessesOption = None,
    cluster: shared.ClusterOption = None,
    force: shared.ForceOption = False,
) -> None:
    """Count the words of texts, print statistics for each file, and write the words as a table."""
    started = time.monotonic()
    options["user_tokens"] = shared.tokens_in(user_tokens)
    normalizing = shared.with_removal(resolve_normalizer(normalizer), remove)
    sources = shared.listed_sources(options)
    if output is not None:
        _check_output(output, () if sources is None else sources.files)
        shared.check_results([output], force=force)
    notes = shared.CorpusNotes(None if sources is None else sources.files, options)
    with progress(of_bytes=True) as report:
        counts = shared.counted_words(options, sources, normalizing, report)
    files_read = () if sources is None else sources.files
    if not set(options["user_tokens"]) <= set(counts.statistics.user_tokens):
        warn("The words of a table are taken as they are, whatever --user-tokens says.")
    warn(
        *shared.table_warnings(counts, files_read, options["user_tokens"]),
        *loss_warnings(counts),
        *detected_encodings(counts.statistics, encoding),
    )
    most_common = _most_common(counts, top)
    if output is not None:
        manifest = make_counts_manifest(counts, notes.record(), (Path(output).name,), Path(output).parent)
        with shared.results(force=force):
            write_word_counts(output, counts, together=partial(with_side_manifest, manifest))
    seconds = time.monotonic() - started
    lines = [*table_of_files(counts.statistics.files)]
    lines += [f"{number:>12,}  {printable(word)}" for word, number in most_common]
    lines.append(count_summary(counts, output, seconds))
    print_result(_summary(counts, most_common, output, seconds), "\n".join(lines), as_json=as_json)


def _check_output(output: str, sources: Sequence[CorpusFile]) -> None:
    """Check before counting that the table can probably be written, and would not overwrite one of the files."""
    path = Path(output)
    check_table_place(path)
    if path.exists() and any(not is_url(source.path) and path.samefile(source.path) for source in sources):
        raise StudioError("{path} is one of the files to count", "Write to another file.", path=display_name(output))


def _most_common(counts: WordCounts, number: int) -> list[tuple[str, int]]:
    """Return the most common words; ties in order of appearance."""
    order = np.argsort(-counts.counts, kind="stable")[:number]
    return [(counts.words[index], int(counts.counts[index])) for index in order]


def _summary(
    counts: WordCounts, most_common: list[tuple[str, int]], output: str | None, seconds: float
) -> dict[str, Any]:
    statistics = counts.statistics
    names = ("name", "bytes", "lines", "words", "distinct_words", "encoding", "replaced", "skipped_lines")
    return {
        "output": output,
        "files": [{name: getattr(file, name) for name in names} for file in statistics.files],
        "bytes": statistics.bytes,
        "lines": statistics.lines,
        "words": counts.total,
        "distinct_words": len(counts),
        **{name: getattr(statistics, name) for name in LOSSES},
        "top": most_common,
        "seconds": round(seconds, 3),
    }
