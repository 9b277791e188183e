"""Figures of tokenizers on a text, against the libraries that run or read the same files."""

from __future__ import annotations

import json
import math
import pickle
import statistics
from collections import Counter
from dataclasses import replace
from itertools import count, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer, models, pre_tokenizers

import wordpiece_studio as wps
from tests.evaluation.test_held_out import divided
from tests.libraries.library_models import STRUCTURES, sentencepiece_model, texts
from wordpiece_studio.corpus.count_tables import read_typed_counts
from wordpiece_studio.evaluation.coding import ANY_CHARACTER_BITS
from wordpiece_studio.evaluation.evaluating import renyi_efficiency
from wordpiece_studio.evaluation.figures import difference, t_quantile
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

LINES = [line for text in texts(3, 30) for line in text.split("\n")]


def uncoded(found: wps.Evaluation) -> list[wps.TokenizerFigures]:
    """Return figures without the bits of tokens, which depend on what is known of the training."""
    return [replace(each, code_length=0, coded_by="before", share=1) for each in found.figures]


HUG = wps.Tokenizer(wps.Vocabulary(["[UNK]", "hug", "##s"], ["[UNK]"]))


QUICK = ("bert_with_more", "roberta", "t5", "word_level")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in STRUCTURES]
)
def test_words_counted_once_have_the_ids_that_the_library_gives_the_text(tmp_path: Path, name: str) -> None:
    theirs, path = STRUCTURES[name](), tmp_path / "tokenizer.json"
    theirs.save(str(path))
    expected: Counter[int] = Counter()
    for encoding in theirs.encode_batch(LINES, add_special_tokens=False):
        expected.update(encoding.ids)
    ours = wps.load_tokenizer(path)
    if (reading := ours.reading) is not None:
        text = wps.held_out_text(
            (), *(reading.pipeline.normalizer, reading.pipeline.pre_tokenizer),
            texts=LINES, added_tokens=reading.added_tokens, max_word_length=1 << 30,
        )  # fmt: skip
        found = Counter({ours.id_of(token): number for token, number in text.spelled_out.items()})
        for word, number in zip(ours.encode_words(text.counts.words), text.counts.counts.tolist(), strict=True):
            found.update({token: times * number for token, times in Counter(word.ids).items()})
        assert found == expected
        assert (text.characters, text.bytes) == (len("".join(LINES)), len("".join(LINES).encode()))
    if isinstance(ours, wps.LibraryTokenizer):
        counted: Counter[int] = Counter()
        for _, ids, number in ours.count_words(LINES):
            counted.update({token: times * number for token, times in Counter(ids).items()})
        assert counted == expected
    by_library = {"llama_2", "clip", "metaspace", "xlm_r", "t5", "albert", "unigram_of_bytes"}
    assert (ours.reading is None) == (name in by_library)


def test_a_library_cuts_words_in_their_characters(tmp_path: Path) -> None:
    for name in ("xlm_r", "unigram_of_bytes"):
        STRUCTURES[name]().save(str(tmp_path / name))
    known, of_bytes = (wps.LibraryTokenizer(tmp_path / name) for name in ("xlm_r", "unigram_of_bytes"))
    assert (known.unk_token, of_bytes.unk_token) == ("<unk>", None)
    korean, german = known.encode_words(["▁학교에서", "▁Größe"])
    assert (korean.tokens, korean.offsets) == (["▁학교", "에", "서"], [(0, 3), (3, 4), (4, 5)])
    assert german.offsets[-1] == (4, 6)
    found = of_bytes.encode_words(["athé"])[0]
    assert list(zip(found.tokens, found.offsets, strict=True))[3:] == [("<0xC3>", (3, 4)), ("<0xA9>", (3, 4))]


def independent(
    encoded: list[tuple[list[int], list[int | None]]], words: int, unknown: int | None, text: str, size: int
) -> dict[str, Any]:
    """Return the figures of a text as the papers define them, from the ids of its lines and the word of each."""
    counts = Counter(token for ids, _ in encoded for token in ids)
    grouped = (groupby(zip(ids, of, strict=True), itemgetter(1)) for ids, of in encoded)
    own = [[token for token, _ in word] for line in grouped for number, word in line if number is not None]
    tokens = sum(counts.values())
    renyi = math.log2(sum((n / tokens) ** 2.5 for n in counts.values())) / (1 - 2.5) / math.log2(len(counts))
    return {
        "tokens": tokens, "unknown": 0 if unknown is None else counts[unknown], "used": len(counts),
        "own_words": len(own), "whole_words": sum(len(word) == 1 and word != [unknown] for word in own),
        "tokens_per_word": tokens / words, "characters_per_token": len(text) / tokens,
        "bytes_per_token": len(text.encode()) / tokens, "used_share": len(counts) / size,
        "renyi_efficiency": pytest.approx(renyi, rel=1e-12),
        "tokens_per_line": tokens / (text.count("\n") + (text[-1] != "\n")),
        "renyi_of_vocabulary": pytest.approx(renyi * math.log(len(counts)) / math.log(size), rel=1e-12),
    }  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Return two texts of several scripts, of which one spells out special tokens."""
    folder = tmp_path / "texts"
    folder.mkdir()
    middle = len(LINES) // 2
    for name, lines in {"first": LINES[:middle], "second": [*LINES[middle:], "hug [SEP] the fox <mask>"]}.items():
        text = "\n".join([*lines, ""]).replace("\0", "")  # which no text file has
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return {path.name: path for path in sorted(folder.iterdir())}


def test_figures_are_those_of_tokenizing_every_line(tmp_path: Path, files: dict[str, Path]) -> None:
    theirs: dict[str, Any] = {name: STRUCTURES[name]() for name in ("bert", "roberta", "word_level", "t5")}
    for name, each in theirs.items():
        each.save(str(tmp_path / f"{name}.json"))
    (tmp_path / "pieces.model").write_bytes(sentencepiece_model())
    pieces = SentencePieceProcessor(model_file=str(tmp_path / "pieces.model"))
    merges = [("t", "h"), ("th", "e"), ("e", "r"), ("o", "w")]
    vocab = {token: number for number, token in enumerate(["<unk>", *"abcdefghiklmnorstuwxz", *map("".join, merges)])}
    theirs["merges"] = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>"))
    theirs["merges"].pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ours: dict[str, Any] = {path.stem: wps.load_tokenizer(path) for path in sorted(tmp_path.glob("*.*"))}
    ours["merges"] = wps.BpeTokenizer(vocab, merges, "none", "whitespace-split", unk_token="<unk>")
    unknown = {"bert": "[UNK]", "roberta": None, "word_level": "<unk>", "t5": "<unk>", "merges": "<unk>"}

    found = wps.evaluate(ours, files)
    assert found.words_of == ("bert-cased", "bert")
    assert list(found.parts) == ["first", "second"]
    unk: int | None
    for part, figures in (*found.parts.items(), ("", found.figures)):
        text = "".join(path.read_bytes().decode() for name, path in files.items() if part in ("", name))
        lines = text.split("\n")
        words = sum(len(Pipeline(wps.BertNormalizer(), wps.BertPreTokenizer()).words(line)) for line in lines)
        assert [each.name for each in figures] == [*ours]
        for each in figures:
            if each.name == "pieces":
                starts = ([piece.startswith("▁") for piece in line] for line in pieces.encode(lines, out_type=str))
                of = [[sum(line[: n + 1]) for n in range(len(line))] for line in starts]
                encoded, unk, size = list(zip(pieces.encode(lines), of, strict=True)), pieces.unk_id(), len(pieces)
            else:
                library_run, token = theirs[each.name], unknown[each.name]
                encoded = [(e.ids, e.word_ids) for e in library_run.encode_batch(lines, add_special_tokens=False)]
                unk, size = None if token is None else library_run.token_to_id(token), library_run.get_vocab_size()
            expected = independent(encoded, words, unk, text, size)
            assert {name: getattr(each, name) for name in expected} == expected, (part, each.name)


def test_words_are_those_of_the_tokenizers_if_they_find_the_same() -> None:
    vocabulary = wps.Vocabulary(["[UNK]", "it", "'", "s", "it's", "##'", "##s"], ["[UNK]"])
    split = [wps.Tokenizer(vocabulary, "none", name) for name in ("whitespace-split", "whitespace-split", "bert")]
    alike, different = (wps.evaluate(split[first:], texts=["it's It's"]) for first in (0, 1))
    assert alike.figures[:2] != different.figures[:2]
    only = wps.evaluate(split[:2], texts=["it's It's"])
    assert (only.words_of, only.figures[0].words) == (("none", "whitespace-split"), 2)
    assert [(each.words, each.tokens, each.own_words) for each in different.figures] == [(6, 2, 2), (6, 6, 6)]
    assert [each.name for each in alike.figures] == ["A", "B", "C"]
    special = wps.Tokenizer(wps.Vocabulary(["[UNK]", "it's"], ["[UNK]", "it's"]), "none", "whitespace-split")
    for both in ([special, split[0]], [split[0], special]):
        assert {each.words for each in wps.evaluate(both, texts=["it's it'sit's"]).figures} == {2}


def test_the_published_efficiencies() -> None:
    """Those in the tests of `tokenization-scorer`."""
    for text, efficiency in [
        ("pick @@ed pick @@l @@ed pick @@les", 0.8265064834225245),
        ("pick @@e @@d pick @@l @@e @@d pick @@l @@e @@s", 0.9204840242168808),
    ]:
        tokenizer = wps.Tokenizer(wps.Vocabulary(sorted(set(text.split(" ")))), "none", "whitespace-split")
        assert wps.evaluate(tokenizer, texts=[text]).figures[0].renyi_efficiency == pytest.approx(efficiency, abs=1e-12)


def test_words_with_their_counts(tmp_path: Path) -> None:
    counts = wps.count_texts(["Hug hugs, hug"])
    run = wps.train(counts, wps.TrainingConfig(max_merges=3))
    own = wps.evaluate(run, counts).figures[0]
    assert own == wps.evaluate(run, texts=["Hug hugs, hug"]).figures[0]
    assert (own.characters, own.words, own.name, own.kind) == (13, 4, "A", "WordPiece")
    uncased = wps.Tokenizer(run.vocabulary, "bert-uncased")
    (tmp_path / "counts.tsv").write_text("Hug\t1\nhugs,\t1\nhug\t1\n", encoding="utf-8")
    STRUCTURES["gpt_2"]().save(str(tmp_path / "gpt.json"))
    STRUCTURES["t5"]().save(str(tmp_path / "t5.json"))
    gpt, t5 = (wps.load_tokenizer(tmp_path / name) for name in ("gpt.json", "t5.json"))
    found = wps.evaluate([run, uncased, gpt, t5], tmp_path / "counts.tsv").figures
    expected = [len(run.tokenizer().encode("Hug hugs, hug")), len(uncased.encode("Hug hugs, hug"))]
    expected += [len(gpt.encode(" Hug hugs, hug")), len(t5.encode("Hug hugs, hug"))]
    assert [each.tokens for each in found] == expected
    assert (found[0].words, found[0].characters, found[0].bytes) == (3, 11, 11)


@pytest.mark.parametrize("scheme", ["never", "always"])
def test_words_with_their_counts_stand_after_a_blank_also_for_a_library(tmp_path: Path, scheme: str) -> None:
    theirs = Tokenizer(models.Unigram([("<unk>", -9.0), ("▁hug", -1.0), ("▁", -2.0)], 0))
    theirs.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    theirs.save(str(tmp_path / "tokenizer.json"))
    ours = wps.load_tokenizer(tmp_path / "tokenizer.json")
    assert ours.reading is None
    (figures,) = wps.evaluate(ours, wps.count_texts(["hug hug"])).figures
    assert (figures.tokens, figures.unknown) == (2, 0)
    found = wps.compare(ours, HUG, texts=["hug hug"]).differences
    assert found is not None
    assert found.words == ()


def test_a_table_of_words_with_counts_has_the_figures_of_its_words(tmp_path: Path) -> None:
    """113 characters in 36 words of one token each, however long the table is, and however it was read."""
    lines = ["hug\t10", "pug\t5", "pun\t12", "bun\t4", "hugs\t5"]
    text = "\n".join(["word\tcount", *lines, ""])
    typed = read_typed_counts(text, resolve_normalizer("bert-cased"), resolve_pre_tokenizer("bert"))
    path, words = tmp_path / "words.tsv", [line.split("\t")[0] for line in lines]
    path.write_text(text)
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", *words], ["[UNK]"]))
    spelled = " ".join(" ".join([word] * count) for word, count in typed.items())
    (of_text,) = wps.evaluate(tokenizer, texts=[spelled]).figures
    for on in (typed, wps.count_words([path])):
        (found,) = wps.evaluate(tokenizer, on).figures
        assert (found.tokens, found.characters, found.bytes) == (36, 113, 113)
        assert found.characters_per_token == 113 / 36
        assert found.bits_per_character * 113 == pytest.approx(of_text.bits_per_character * of_text.characters)


def test_only_a_part_held_out_may_be_measured(tmp_path: Path, files: dict[str, Path]) -> None:
    STRUCTURES["t5"]().save(str(tmp_path / "t5.json"))
    tokenizers = [HUG, wps.load_tokenizer(tmp_path / "t5.json")]
    text = "".join(path.read_bytes().decode() for path in files.values())
    held_out = divided(text)[1]
    assert 0 < len(held_out) < len(text) / 5
    expected = wps.evaluate(tokenizers, texts=[held_out])
    of_files = wps.evaluate(tokenizers, [*files.values()], is_held_out=True)
    assert uncoded(of_files) == uncoded(expected)
    assert wps.evaluate(tokenizers, texts=[text], is_held_out=True).figures == of_files.figures
    assert [each.coded_by for each in (*expected.figures, *of_files.figures)] == ["before"] * 2 + ["rest"] * 2


def test_parity_is_tokens_for_each_of_the_first_text() -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", "hug", "h", "##u", "##g"], ["[UNK]"]))
    parts = {"en": ["hug hug"], "xx": ["hu hug h"]}
    found = wps.evaluate(tokenizer, texts=parts, is_parallel=True)
    assert [each.parity for figures in found.parts.values() for each in figures] == [1.0, 2.0]
    assert [each.parity for each in found.figures] == [None]
    assert ["parity" in rows[0] for _, rows in found.tables()] == [False, True, True]


def test_trainings_are_measured_as_their_users_tokenize() -> None:
    counts = wps.count_texts(["hug pug hugs pugs"] * 4, pre_tokenizer="whitespace")
    bare = wps.TrainingConfig(objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>", max_merges=3)
    by_merges = wps.train(counts, bare)
    library_run = wps.train_library(counts, wps.TrainingConfig(vocab_size=12), "tokenizers-bpe")
    given = {"merges": by_merges, "library": library_run}
    made = {"merges": by_merges.bpe_tokenizer(), "library": library_run.tokenizer()}
    found = wps.evaluate(given, texts=["shug pugs"])
    assert uncoded(found) == uncoded(wps.evaluate(made, texts=["shug pugs"]))
    assert found.figures[0] != wps.evaluate({"merges": by_merges.tokenizer()}, texts=["shug pugs"]).figures[0]


def test_one_whose_words_are_unknown_does_not_change_those_of_others(tmp_path: Path) -> None:
    STRUCTURES["t5"]().save(str(tmp_path / "t5.json"))
    spaces = wps.Tokenizer(HUG.vocabulary, "none", "whitespace-split")
    t5 = wps.load_tokenizer(tmp_path / "t5.json")
    assert t5.reading is None
    alone = wps.evaluate({"spaces": spaces}, texts=["hug, (hugs)"])
    beside = wps.evaluate({"spaces": spaces, "t5": t5}, texts=["hug, (hugs)"])
    assert (beside.words_of, beside.figures[0]) == (("none", "whitespace-split"), alone.figures[0])
    assert wps.evaluate({"spaces": spaces, "hug": HUG, "t5": t5}, texts=["hug, (hugs)"]).words_of[1] == "bert"


def test_sentencepiece_alone_is_measured_per_word_of_its_training(tmp_path: Path) -> None:
    text = ["hug, (hugs)"] * 20
    config = wps.TrainingConfig(vocab_size=40, special_tokens=["<unk>"])
    trainings = {
        ("none", "whitespace-split"): wps.train_library(text, config, "sentencepiece-bpe"),
        ("none", "whitespace-split+punctuation"): wps.train_library(
            wps.count_texts(text, "none", "whitespace-split+punctuation"), config, "sentencepiece-bpe"
        ),
    }
    words = {name: wps.evaluate(run, texts=text[:1]).figures[0].words for name, run in trainings.items()}
    assert [*words.values()] == [2, 6 - 1]
    for name, run in trainings.items():
        assert wps.evaluate(run, texts=text).words_of == name
        assert wps.evaluate(pickle.loads(pickle.dumps(run.tokenizer())), texts=text).words_of == name
        assert wps.evaluate([run, HUG], texts=text).words_of == ("bert-cased", "bert")
    assert wps.evaluate([*trainings.values()], texts=text).words_of == ("bert-cased", "bert")


def test_texts_of_unequal_length_are_not_parallel() -> None:
    for second, lines in ((["a", "b"], 2), (["a\nb"], 2), (["a\n\n"], 2), (["a\n", "b\n", ""], 2)):
        with pytest.raises(wps.StudioError, match=rf"one and two do not say the same .* 1 and {lines} lines"):
            wps.evaluate(HUG, texts={"one": ["hug"], "two": second}, is_parallel=True)
    counted = {"one": wps.count_texts(["hug", "hugs", "hug"]), "two": wps.count_texts(["hug hugs hug"])}
    with pytest.raises(wps.StudioError, match=r"one and two do not say the same .* 3 and 1 lines"):
        wps.evaluate(HUG, counted, is_parallel=True)
    counted["two"] = wps.count_texts(["hugs", "hug", "hug"])
    assert wps.evaluate(HUG, {**counted}, is_parallel=True).parts["two"][0].parity == 1
    with pytest.raises(wps.StudioError, match="held out of several texts do not say the same"):
        wps.evaluate(HUG, texts={"one": ["hug"], "two": ["hug"]}, is_parallel=True, is_held_out=True)


def test_figures_that_are_no_numbers() -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]"]))
    (figures,) = wps.evaluate(tokenizer, texts=["hug pug"]).figures
    assert math.isnan(figures.renyi_efficiency)
    _, row = next(wps.evaluate(tokenizer, texts=["hug pug"]).tables())[1]
    assert (row[2], row[9], row[10]) == ("(1.000)", "–", "–")
    assert (figures.code_length, figures.unknown_share, figures.whole_share) == (
        pytest.approx(6 * ANY_CHARACTER_BITS),
        1,
        0,
    )
    assert json.loads(json.dumps(figures.to_dict(), allow_nan=False))["renyi_efficiency"] is None
    without = wps.Tokenizer(wps.Vocabulary(["a"]))
    (figures,) = wps.evaluate(without, texts=["a b"]).figures
    assert (figures.unknown, figures.tokens, figures.used, figures.renyi_efficiency) == (1, 2, 1, 1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("vocab.txt", ()), "'vocab.txt' is not a tokenizer. Pass what load_tokenizer returns"),
        (([], ()), "no tokenizer"),
        (([None], ()), "None is not a tokenizer"),
        ((HUG, {}), "There is no text"),
        ((HUG, []), "There is no text"),
        ((HUG, wps.WordCounts.from_pairs([])), "There are no words"),
        ((HUG, "no such file"), "no such file does not exist"),
    ],
)
def test_what_cannot_be_measured(arguments: tuple[Any, Any], message: str) -> None:
    with pytest.raises(wps.StudioError, match=message):
        wps.evaluate(*arguments)


def test_options_that_cannot_be() -> None:
    with pytest.raises(wps.StudioError, match="order for the Rényi entropy: 0"):
        wps.evaluate(HUG, texts=["hug"], alpha=0)
    with pytest.raises(wps.StudioError, match="order for the Rényi entropy: 1000"):
        wps.evaluate(HUG, texts=["hug"], alpha=10**400)
    with pytest.raises(wps.StudioError, match="Parity needs at least two texts"):
        wps.evaluate(HUG, texts=["hug"], is_parallel=True)
    with pytest.raises(wps.StudioError, match="cannot be held out"):
        wps.evaluate(HUG, wps.count_texts(["hug"] * 50), is_held_out=True)
    with pytest.raises(wps.StudioError, match="words cannot be combined with texts"):
        wps.evaluate(HUG, "a file that is not read", texts=["hug"])


def test_orders_of_entropy_that_are_large_or_nearly_1() -> None:
    shares = np.array([0.5, 0.25, 0.25])
    assert renyi_efficiency(shares, 1e300) == pytest.approx(1 / math.log2(3))  # the share of the most frequent alone
    assert renyi_efficiency(shares, 1 + 1e-12) == renyi_efficiency(shares, 1)


@pytest.mark.parametrize("empty", [[], ["", " \n"]])
def test_the_text_without_words_is_named(empty: list[str]) -> None:
    with pytest.raises(wps.StudioError, match="There are no words in second"):
        wps.evaluate(HUG, texts={"first": ["hug"], "second": empty})


@pytest.mark.parametrize("by_library", [False, True])
def test_a_file_that_changes_between_two_readings_is_not_measured(tmp_path: Path, by_library: bool) -> None:
    (tmp_path / "text.txt").write_text("hug\n" * 9)
    STRUCTURES["t5"]().save(str(tmp_path / "t5.json"))
    uncased = wps.Tokenizer(HUG.vocabulary, "bert-uncased", "bert")
    other = wps.load_tokenizer(tmp_path / "t5.json") if by_library else uncased

    def change(what: str, *_: int) -> None:
        if what == "Tokenizing by A":
            (tmp_path / "text.txt").write_text("hug")

    with pytest.raises(wps.StudioError, match=r"text\.txt changed while it was read"):
        wps.evaluate([HUG, other], tmp_path / "text.txt", progress=change)


def test_texts_may_be_a_column_or_an_array() -> None:
    import pandas

    for column in (pandas.Series(["hug", "hugs"]), np.array(["hug", "hugs"])):
        assert wps.evaluate(HUG, texts=column).figures[0].tokens == 3
        assert wps.compare(HUG, HUG, texts=column).differences is not None


def test_it_reports_what_it_does_and_can_be_stopped(tmp_path: Path, files: dict[str, Path]) -> None:
    STRUCTURES["t5"]().save(str(tmp_path / "t5.json"))
    tokenizers = {"hug": HUG, "t5": wps.load_tokenizer(tmp_path / "t5.json")}
    reports: dict[str, list[tuple[int, int]]] = {}
    wps.evaluate(tokenizers, files, progress=lambda what, *done: reports.setdefault(what, []).append(done))
    ways = ("Reading", "Tokenizing by hug", "Tokenizing by t5")
    assert [*reports] == [f"{way} {part}" for part in files for way in ways]
    assert all(each[-1][0] == each[-1][1] > 0 for each in reports.values())
    for last in range(0, sum(map(len, reports.values())), 3):
        calls = count()
        with pytest.raises(wps.CountingStopped):
            wps.evaluate(tokenizers, files, should_stop=lambda: next(calls) >= last)  # noqa: B023


# From the table of Student's t for two-sided intervals of 95% and 99%, by degrees of freedom.
TABLE = {
    1: (12.706, 63.657), 2: (4.303, 9.925), 3: (3.182, 5.841), 4: (2.776, 4.604), 5: (2.571, 4.032), 6: (2.447, 3.707),
    7: (2.365, 3.499), 8: (2.306, 3.355), 9: (2.262, 3.250), 10: (2.228, 3.169), 15: (2.131, 2.947), 29: (2.045, 2.756),
    60: (2.000, 2.660), 120: (1.980, 2.617),
}  # fmt: skip


def test_quantiles_are_those_of_the_table() -> None:
    for degrees, found in TABLE.items():
        assert tuple(round(t_quantile(level, degrees), 3) for level in (0.975, 0.995)) == found
    assert t_quantile(0.5, 4) == pytest.approx(0, abs=1e-12)


def test_a_paired_difference_has_the_corrected_interval() -> None:
    first, second = [1.31, 1.28, 1.40, 1.22, 1.35], [1.30, 1.29, 1.36, 1.20, 1.33]
    found = difference(first, second)
    apart = [a - b for a, b in zip(first, second, strict=True)]
    # One block in five is judged by, four are trained on.
    error = math.sqrt((1 / 5 + 1 / 4) * statistics.variance(apart))
    assert found.mean == pytest.approx(statistics.mean(apart))
    assert (found.high - found.mean, found.mean - found.low) == pytest.approx((2.7764451 * error,) * 2)
    assert found.may_be_zero
    assert not difference([a + 1 for a in first], second).may_be_zero
    assert not difference([a - 1 for a in first], second).may_be_zero
    assert difference(first, first).may_be_zero


def test_figures_are_sorted_by_a_column_that_there_is() -> None:
    by_name = {"long": HUG, "short": wps.Tokenizer(wps.Vocabulary(["[UNK]", "h", "##u", "##g", "##s"], ["[UNK]"]))}
    found = wps.evaluate(by_name, texts=["hug hugs"])
    for column in ("characters_per_token", "tokens-per-word", "name"):
        assert [each.name for each in found.sorted_by(column).figures] == ["long", "short"]
    assert [each.name for each in found.sorted_by("whole-share").figures] == ["long", "short"]
    assert [each.name for each in found.sorted_by("used-share").figures] == ["short", "long"]
    with pytest.raises(wps.StudioError, match="There is no column color"):
        found.sorted_by("color")
