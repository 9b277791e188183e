"""``wordpiece-studio compare``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from wordpiece_studio.cli.evaluate import TOKENIZER, loaded, texts_of
from wordpiece_studio.cli.messages import aligned, print_line, progress
from wordpiece_studio.cli.options import (
    TEXT_FILES,
    ColumnOption,
    EncodingOption,
    ErrorsOption,
    JsonOption,
    KindOption,
    WordCountsOption,
)
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable, printable_json

if TYPE_CHECKING:
    from wordpiece_studio.evaluation.differences import (
        Divergence,
        TokenizerComparison,
        VocabularyOverlap,
        WordDifferences,
    )

_TABLES = (".csv", ".jsonl", ".parquet")


def compare_command(
    options: dict[str, Any],
    first: Annotated[
        str, Argument(help=f"A tokenizer: {TOKENIZER}; or a table of merges that train wrote.", metavar="A")
    ],
    second: Annotated[str, Argument(help="Another tokenizer or table of merges.", metavar="B")],
    on: Annotated[
        list[str] | None,
        Option(
            "--on",
            help=f"Also compare how the words of a text are split. {TEXT_FILES}.",
            metavar="FILES",
        ),
    ] = None,
    top: Annotated[int, Option(help="Print this many words that are split differently.", metavar="N", min=0)] = 20,
    as_json: JsonOption = False,
    kind: KindOption = None,
    word_counts: WordCountsOption = False,
    column: ColumnOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = "strict",
) -> None:
    """Show where two tokenizers differ: in their vocabularies, in how they split words, and in their merges."""
    from wordpiece_studio.evaluation.differences import compare, divergence  # with it comes the trainer

    are_tables = [Path(path).suffix.lower() in _TABLES for path in (first, second)]
    if any(are_tables):
        if not all(are_tables) or on:
            what = "A table of merges can only be compared with another, and without --on"
            raise StudioError(what, "Specify two tables of merges or two tokenizers.")
        parting = divergence(_pairs_in(first), _pairs_in(second))
        print_line(printable_json({"divergence": _plain(parting)}) if as_json else _merges_line(parting))
        return
    one, other = loaded([first, second]).values()
    with progress() as report:
        files = [file for listed in texts_of({**options, "on": on or []}).values() for file in listed.files]
        found = compare(one, other, files, progress=report)
    print_line(printable_json(_summary(found, top)) if as_json else _printed(found, top))


def _pairs_in(path: str) -> list[tuple[str, str]]:
    from wordpiece_studio.storage.merge_table import read_merge_table

    columns = read_merge_table(path)
    return list(zip(columns["left"], columns["right"], strict=True))


def _plain(record: Divergence | VocabularyOverlap | None) -> dict[str, Any] | None:
    return None if record is None else dataclasses.asdict(record)


def _summary(found: TokenizerComparison, top: int) -> dict[str, Any]:
    words = found.differences
    return {
        "overlap": {**dataclasses.asdict(found.overlap), "share": found.overlap.share},
        "has_merges": found.has_merges,
        "divergence": _plain(found.divergence),
        "differences": None
        if words is None
        else {
            "distinct_words": words.distinct_words,
            "total": words.total,
            "differing_words": len(words.words),
            "share": words.share,
            "words": [dataclasses.asdict(word) for word in words.words[:top]],
        },
    }


def _printed(found: TokenizerComparison, top: int) -> str:
    overlap = found.overlap
    first, second = overlap.sizes
    lines = [f"{first:,} and {second:,} tokens: {overlap.shared:,} in both, {overlap.share:.1%} of all"]
    lines += aligned([(f"of the first {depth:,}", f"{share:.1%}") for depth, share in overlap.by_rank])
    lines += [_merges_line(found.divergence)] if found.has_merges else []
    return "\n".join(lines + ([] if found.differences is None else _word_lines(found.differences, top)))


def _merges_line(parting: Divergence | None) -> str:
    if parting is None:
        return "All merges are the same"
    pairs = ["nothing" if pair is None else printable(" + ".join(pair)) for pair in (parting.first, parting.second)]
    return f"A and B diverge at step {parting.step:,}: A merges {pairs[0]}, B merges {pairs[1]}"


def _word_lines(words: WordDifferences, top: int) -> list[str]:
    shown = words.words[:top]
    rows = [
        (printable(" ".join(each.first)), printable(" ".join(each.second)), printable(each.word), f"{each.count:,}")
        for each in shown
    ]
    number = f"{len(words.words):,} of {words.distinct_words:,} distinct words are split differently"
    head = f"{number}, {words.share:.2%} of the text"
    return [head, *(aligned([("A", "B", "word", "count"), *rows], names=3) if rows else [])]
