"""``wordpiece-studio count``."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from wordpiece_studio.cli.messages import (
    count_summary,
    detected_encodings,
    loss_warnings,
    print_line,
    progress,
    table_of_files,
    warn,
)
from wordpiece_studio.cli.options import (
    FILES,
    ClusterOption,
    ColumnOption,
    CorpusNotes,
    EncodingOption,
    ErrorsOption,
    ForceOption,
    JsonOption,
    KindOption,
    LongestWordOption,
    MinCountOption,
    NormalizerOption,
    PreTokenizerOption,
    ProcessesOption,
    RemoveOption,
    UserTokensOption,
    WordCountsOption,
    check_results,
    counted_words,
    listed_sources,
    results,
    table_warnings,
    tokens_in,
    with_removal,
)
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.corpus.files import is_url
from wordpiece_studio.corpus.word_counts import check_table_place, write_word_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.manifest import make_counts_manifest, with_side_manifest
from wordpiece_studio.system.printable import display_name, printable, printable_json
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
    as_json: JsonOption = False,
    kind: KindOption = None,
    word_counts: WordCountsOption = False,
    column: ColumnOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = "strict",
    normalizer: NormalizerOption = "bert-cased",
    pre_tokenizer: PreTokenizerOption = "bert",
    remove: RemoveOption = "",
    user_tokens: UserTokensOption = None,
    max_word_length: LongestWordOption = 1000,
    min_count: MinCountOption = 1,
    processes: ProcessesOption = None,
    cluster: ClusterOption = None,
    force: ForceOption = False,
) -> None:
    """Count the words of texts, print statistics for each file, and write the words as a table."""
    started = time.monotonic()
    options["user_tokens"] = tokens_in(user_tokens)
    normalizing = with_removal(resolve_normalizer(normalizer), remove)
    sources = listed_sources(options)
    if output is not None:
        _check_output(output, () if sources is None else sources.files)
        check_results([output], force=force)
    notes = CorpusNotes(None if sources is None else sources.files, options)
    with progress(of_bytes=True) as report:
        counts = counted_words(options, sources, normalizing, report)
    files_read = () if sources is None else sources.files
    if not set(options["user_tokens"]) <= set(counts.statistics.user_tokens):
        warn("The words of a table are taken as they are, whatever --user-tokens says.")
    for warning in (
        *table_warnings(counts, files_read, options["user_tokens"]),
        *loss_warnings(counts),
        *detected_encodings(counts.statistics, encoding),
    ):
        warn(warning)
    most_common = _most_common(counts, top)
    lines = [] if as_json else [*table_of_files(counts.statistics.files)]
    lines += [] if as_json else [f"{number:>12,}  {printable(word)}" for word, number in most_common]
    if output is not None:
        manifest = make_counts_manifest(counts, notes.record(), (Path(output).name,), Path(output).parent)
        with results(force=force):
            write_word_counts(output, counts, together=partial(with_side_manifest, manifest))
    seconds = time.monotonic() - started
    if as_json:
        lines.append(printable_json(_summary(counts, most_common, output, seconds)))
    else:
        lines.append(count_summary(counts, output, seconds))
    print_line("\n".join(lines))


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
        "skipped_words": statistics.skipped_words,
        "rare_words": statistics.rare_words,
        "replaced": statistics.replaced,
        "skipped_lines": statistics.skipped_lines,
        "guessed_tables": statistics.guessed_tables,
        "left_out_files": statistics.left_out_files,
        "top": most_common,
        "seconds": round(seconds, 3),
    }
