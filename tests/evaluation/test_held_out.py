"""Text that is held out: which lines, and what vocabularies of the rest make of it."""

from __future__ import annotations

import dataclasses
import gzip
import io
import itertools
import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wordpiece_studio as wps
from wordpiece_studio.corpus.decoding import TextPiece
from wordpiece_studio.evaluation import held_out as module
from wordpiece_studio.evaluation.held_out import (
    LAST_TENTH,
    DividedCorpus,
    Fold,
    HeldOutText,
    divided_corpus,
    held_out_figures,
    held_out_text,
)

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.corpus.counts import CountingProgress

OBJECTIVES = ["likelihood", "score", "count"]


def text_of(size: int) -> str:
    """Return lines of words of which some are frequent and most are rare."""
    chance, lines, characters = random.Random(5), [], 0
    while characters < size:
        lines.append(" ".join(f"w{int(chance.paretovariate(0.5)) % 3000}" for _ in range(chance.randint(1, 30))) + "\n")
        characters += len(lines[-1])
    return "".join(lines)


@pytest.fixture
def counts(tmp_path: Path) -> DividedCorpus:
    (tmp_path / "text.txt").write_text(text_of(9000), encoding="utf-8", newline="")
    return divided_corpus(tmp_path / "text.txt")


def divided(
    text: str, small: int = module.SMALL_BYTES, stretch: int = module.STRETCH_BYTES, fold: Fold = LAST_TENTH
) -> tuple[str, str]:
    """Return the rest and what is held out, line by line, as the module's page says."""
    parts: tuple[list[str], list[str]] = ([], [])
    offset = 0
    size = len(text.encode())
    for line in io.StringIO(text, newline="\n"):
        borders = (size * number // fold.of for number in (fold.number, fold.number + 1))
        is_large = size >= small
        parts[
            offset // stretch % fold.of == fold.number if is_large else next(borders) <= offset < next(borders)
        ].append(line)
        offset += len(line.encode())
    return "".join(parts[0]), "".join(parts[1])


@given(st.lists(st.text("aé한 ", max_size=12), min_size=1, max_size=60), st.sampled_from([1, 60, 10**6]), st.data())
def test_whole_lines_are_held_out_by_where_they_begin(lines: list[str], small: int, data: Any) -> None:
    text = "\n".join(lines)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)) | {0, len(text)})  # in lines, too
    pieces, byte = [], 0
    for start, end in itertools.pairwise(cuts):
        part = text[start:end]
        pieces.append(TextPiece(part, "a", 1, byte, byte + len(part.encode()), "utf-8"))
        byte = pieces[-1].end_byte
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SMALL_BYTES", small)
        patch.setattr(module, "STRETCH_BYTES", 7)
        folds = data.draw(st.integers(2, 12))
        for fold in (LAST_TENTH, *(Fold(number, folds) for number in range(folds))):
            found = list(module.divided_pieces(iter(pieces), fold))
            texts = ["".join(piece.text for is_out, piece in found if is_out is side) for side in (False, True)]
            assert tuple(texts) == divided(text, small, 7, fold)
            assert all(piece.utf8 == text.encode()[piece.byte : piece.end_byte] for _, piece in found)
    by_fold = [divided(text, small, 7, Fold(number, folds))[1] for number in range(folds)]
    if len(text.encode()) < small:  # blocks stand one after the other
        assert "".join(by_fold) == text
    assert sum(map(len, by_fold)) == len(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "pre_tokenizer"),
    [(30_000, "bert"), (30_000, r"pattern:\w+ ?\w*"), (2_300_000, "bert")],
    ids=["last tenth", "across blanks", "stretches"],
)
def test_each_part_is_counted_as_if_it_were_alone(tmp_path: Path, size: int, pre_tokenizer: str) -> None:
    text = text_of(size)
    middle = text.index("\n", size // 2) + 1
    (tmp_path / "a.txt").write_text(text[:middle], encoding="utf-8", newline="")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(text[middle:].encode()))
    counts = divided_corpus([tmp_path / "a.txt", tmp_path / "b.txt.gz"], "none", pre_tokenizer)
    for part, alone in zip((counts.rest, counts.held_out.counts), divided(text), strict=True):
        assert part.items() == wps.count_texts([alone], "none", pre_tokenizer).items()
    assert 0.08 < counts.held_out.words / (counts.rest.total + counts.held_out.words) < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("size", [30_000, 2_300_000])
def test_a_text_is_divided_like_a_file(tmp_path: Path, size: int) -> None:
    text = text_of(size)
    (tmp_path / "text.txt").write_text(text, encoding="utf-8", newline="")
    reports: list[CountingProgress] = []
    assert divided_corpus(texts=[text], progress=reports.append) == divided_corpus(tmp_path / "text.txt")
    assert (reports[-1].bytes_done, reports[-1].bytes_total) == (len(text), len(text))


def test_rows_are_lines(tmp_path: Path) -> None:
    rows = [f"row {number} of many" for number in range(200)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps({"text": row}) + "\n" for row in rows), encoding="utf-8")
    counts = divided_corpus(tmp_path / "a.jsonl")
    _, held_out = divided("".join(f"{row}\n" for row in rows))
    assert counts.held_out.counts.items() == wps.count_texts([held_out]).items()


def test_what_cannot_be_divided_says_so(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("one line, and no other", encoding="utf-8")
    with pytest.raises(wps.StudioError, match="too few lines for a part of it to be held out"):
        divided_corpus(tmp_path / "one.txt")
    (tmp_path / "counts.tsv").write_text("hug\t3\npug\t5\nbun\t2\n", encoding="utf-8")
    with pytest.raises(wps.StudioError, match="have no lines and cannot be held out"):
        divided_corpus(tmp_path / "counts.tsv")


def test_it_stops(tmp_path: Path, counts: DividedCorpus) -> None:
    with pytest.raises(wps.CountingStopped):
        divided_corpus(tmp_path / "text.txt", should_stop=lambda: True)
    with pytest.raises(wps.CountingStopped):
        held_out_figures(counts.rest, counts.held_out, wps.TrainingConfig(), should_stop=lambda: True)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_figures_are_those_of_three_trainings(counts: DividedCorpus, objective: Any) -> None:
    config = wps.TrainingConfig(objective=objective, vocab_size=150)
    figures = held_out_figures(counts.rest, counts.held_out, config)
    assert next(iter(figures.tokens_per_word)) == figures.run.config.objective == objective
    for each in OBJECTIVES:
        vocabulary = wps.train(counts.rest, dataclasses.replace(config, objective=each)).tokenizer()  # type: ignore[arg-type]
        tokens = sum(len(vocabulary.explain(word).tokens) * count for word, count in counts.held_out.counts.items())
        assert figures.tokens_per_word[each] == tokens / figures.words  # type: ignore[index]
    made = held_out_figures(counts.rest, counts.held_out, config, run=figures.run)
    assert made == figures


def test_a_least_value_holds_for_its_own_objective_alone(counts: DividedCorpus) -> None:
    free = held_out_figures(counts.rest, counts.held_out, wps.TrainingConfig(vocab_size=150))
    bound = held_out_figures(counts.rest, counts.held_out, wps.TrainingConfig(vocab_size=150, min_value=1e9))
    assert bound.tokens_per_word["likelihood"] > free.tokens_per_word["likelihood"]
    assert bound.tokens_per_word["count"] == free.tokens_per_word["count"]


def test_an_unknown_word_is_one_token_with_and_without_one_for_it() -> None:
    words = [("hug", 3), ("xyz", 5), ("h" * 101, 1)]
    for special in (["[UNK]"], []):
        tokenizer = wps.Tokenizer(wps.Vocabulary([*special, "h", "##u", "##g", "##h"]))
        text = HeldOutText(wps.WordCounts.from_pairs(words), special_tokens=2)
        assert wps.evaluate(tokenizer, text).figures[0].tokens_per_word == (3 * 3 + 5 + 1 + 2) / 11
    text = HeldOutText(wps.count_texts(["hug " + "h" * 1001]))  # skipped when it was counted
    assert (
        wps.evaluate(wps.Tokenizer(wps.Vocabulary(["h", "##u", "##g"])), text).figures[0].tokens_per_word == (3 + 1) / 2
    )


def test_special_tokens_are_taken_out_as_a_tokenizer_does(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("hug[CLS]pug hug [SEP]\n[SEP]\n<a><a>b\n", encoding="utf-8")
    text = held_out_text(tmp_path / "text.txt", special_tokens=["[CLS]", "[SEP]", "<a>", "<a>b"])
    assert (text.counts.items(), text.special_tokens, text.words) == ([("hug", 2), ("pug", 1)], 5, 8)
    assert "[" in held_out_text(tmp_path / "text.txt", special_tokens=[]).counts.words


def test_another_text_is_read_as_the_tokenizer_reads_it_and_not_prepared_as_the_corpus() -> None:
    assert held_out_text(texts=["This this"], normalizer="corpus:lowercase+bert-cased").counts.words == ["This", "this"]
