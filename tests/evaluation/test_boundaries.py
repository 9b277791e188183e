"""Boundaries of tokens and of morphemes, counted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.libraries.library_models import gpt_2
from wordpiece_studio.evaluation.boundaries import Boundaries

if TYPE_CHECKING:
    from pathlib import Path

# 30 words: morphemes, tokens by longest match, and how often each occurs in the text.
BY_HAND = """
    un|do         un ##do        3
    un|know|n     un ##know ##n  1
    under|stand   unde ##r ##stand 2
    walk|ed       walk ##ed      4
    walk|ing      walk ##ing     1
    walk|s        walk ##s       0
    walk          walk           9
    re|walk       re ##walk      1
    red           red            2
    red|ness      red ##ness     1
    re|do         red ##o        1
    re|done       red ##o ##n ##e  1
    king          king           5
    king|s        king ##s       2
    king|dom      king ##do ##m  1
    sing|ing      sing ##ing     1
    sing|s        sing ##s       1
    sing          sing           1
    under         unde ##r       2
    know|s        know ##s       1
    know|ing      know ##ing     1
    un|know|ing|ness un ##know ##ing ##ness 1
    know|n        know ##n       1
    stand|s       stand ##s      1
    stand|ing     stand ##ing    0
    stand         stand          1
    dog|s         [UNK]          7
    dog           [UNK]          1
    en|d          end            2
    end|less      end ##le ##s ##s 1
"""
SPLIT = [line.split() for line in BY_HAND.strip().splitlines()]
ROWS = [(divided, tokens, int(count)) for divided, *tokens, count in SPLIT]
PIECES = sorted({token for _, tokens, _ in ROWS for token in tokens} - {"[UNK]"})
TOKENIZER = wps.Tokenizer(wps.Vocabulary(["[UNK]", *PIECES], ["[UNK]"]))
TEXT = [" ".join([divided.replace("|", "")] * count) for divided, _, count in ROWS]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.tsv"
    lines = [f"{divided.replace('|', '')}\t{divided}\n" for divided, _, _ in ROWS]
    path.write_text("\n".join(lines), encoding="utf-8", newline="")  # empty lines do not matter
    return path


def test_boundaries_are_those_counted_by_hand(words: Path, tmp_path: Path) -> None:
    assert len(ROWS) == 30
    for divided, tokens, _ in ROWS:
        assert TOKENIZER.encode(divided.replace("|", "")).tokens == tokens
    distinct, of_text = wps.morpheme_boundaries(TOKENIZER, words, texts=TEXT)["A"]
    # Six words are whole and two unknown; only in re|do and re|done is a boundary of morphemes missed.
    assert distinct == Boundaries(words=30, whole=6, unknown=2, found=31, true=24, common=22)
    assert of_text == Boundaries(words=56, whole=20, unknown=8, found=38, true=29, common=27)
    assert (distinct.precision, distinct.recall, distinct.f1) == pytest.approx((22 / 31, 22 / 24, 44 / 55))
    assert wps.morpheme_boundaries({"x": TOKENIZER}, words) == {"x": (distinct, None)}
    (tmp_path / "text.txt").write_text("\n".join(TEXT), encoding="utf-8")
    assert wps.morpheme_boundaries(TOKENIZER, words, tmp_path / "text.txt")["A"] == (distinct, of_text)


def test_another_library_reads_each_word_as_in_a_text(words: Path, tmp_path: Path) -> None:
    gpt_2().save(str(tmp_path / "gpt.json"))
    gpt = wps.load_tokenizer(tmp_path / "gpt.json")
    found, _ = wps.morpheme_boundaries(gpt, words)["A"]
    places = morphemes = both = whole = 0
    for divided, _, _ in ROWS:
        word = divided.replace("|", "")
        starts = {start - 1 for start, _ in gpt.encode(f" {word}").offsets} - {-1, 0}
        ends = [len("".join(divided.split("|")[:number])) for number in range(1, divided.count("|") + 1)]
        whole += not starts
        places, morphemes = places + len(starts), morphemes + len(ends) * bool(starts)
        both += len(starts.intersection(ends))
    assert found == Boundaries(30, whole, 0, places, morphemes, both)
    assert both > 0


def test_what_is_no_file_of_divided_words(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    for text, message in [
        ("walk\twal|ked\n", "line 1: 'walk.twal|ked' is not a word with its morphemes. Write a word, a tab"),
        ("a\ta\n\nwalks walk|s\n", "line 3"),
        ("ab\ta||b\n", "line 1"),
        ("ab\ta|b\nc\tc\nab\tab\n", "line 3: 'ab' is there a second time. Keep one of them"),
        ("\n", "There are no words in"),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(wps.StudioError, match=message.replace("|", r"\|")):
            wps.morpheme_boundaries(TOKENIZER, path)
    with pytest.raises(wps.StudioError, match="does not exist"):
        wps.morpheme_boundaries(TOKENIZER, tmp_path / "none")
    path.write_bytes(b"\xe9a\t\xe9|a\n")
    with pytest.raises(wps.StudioError, match=r"are not UTF-8\. Convert it to UTF-8"):
        wps.morpheme_boundaries(TOKENIZER, path)
    for given in ({"path": None}, {"path": 5}, {"path": path, "texts": 5}):
        with pytest.raises(wps.StudioError, match="expected"):
            wps.morpheme_boundaries(TOKENIZER, **given)
