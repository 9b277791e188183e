"""Twins, invisible characters and long words."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from wordpiece_studio.corpus.linter.finding import LengthFix, PipelineFix, TextFix, sample_of_text, sample_of_texts
from wordpiece_studio.corpus.linter.linter import findings, repaired
from wordpiece_studio.corpus.linter.word_checks import stray_characters, without_stray_characters
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from wordpiece_studio.corpus.linter.finding import Finding


def look(
    text: str, normalizer: str = "bert-cased", pre_tokenizer: str = "bert", *, edits: bool = True
) -> list[Finding]:
    pipeline = Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))
    sample = sample_of_text(text) if edits else sample_of_texts([text])
    return findings(sample, wps.count_texts([text], normalizer, pre_tokenizer), pipeline)


def words(text: str, fix: object) -> set[str]:
    assert isinstance(fix, PipelineFix)
    return set(wps.count_texts([text], fix.normalizer, fix.pre_tokenizer).words)


# -- twins


@pytest.mark.parametrize("normalizer", ["bert-cased", "lowercase", "none"])
def test_twins(normalizer: str) -> None:
    text = "café 2 " + unicodedata.normalize("NFD", "café niño") + " café"
    (finding,) = look(text, normalizer)
    assert (finding.kind, finding.severity) == ("twins", "warning")
    assert (finding.values["distinct"], finding.values["occurrences"]) == (1, 1)
    assert finding.examples[0].after == "U+00E9 (2×) / U+0065 U+0301 (1×)"
    assert isinstance(finding.fix, PipelineFix)
    assert words(text, finding.fix) == {"café", "2", "niño"}
    assert look(text, finding.fix.normalizer) == []


def test_twins_are_learned_as_one() -> None:
    text = f"{unicodedata.normalize('NFD', 'año niño ')} año niño " * 5
    (finding,) = look(text)
    assert isinstance(finding.fix, PipelineFix)
    before = wps.train(wps.count_texts([text])).vocabulary.tokens
    after = wps.train(wps.count_texts([text], finding.fix.normalizer)).vocabulary.tokens
    assert any("\u0303" in token for token in before)
    assert not any("\u0303" in token for token in after)


def test_no_twins_where_accents_go_or_all_is_in_one_form() -> None:
    assert "twins" not in [each.kind for each in look("café cafe\u0301", "bert-uncased")]
    assert look(unicodedata.normalize("NFD", "café niño año")) == []


# -- invisible characters


@pytest.mark.parametrize(
    "text",
    [
        "क्‍ष र्‍क", "می‌خواهم", "ක්‍ෂ", "നന്‍", "👩‍💻 👨‍👩‍👧 🏳️‍🌈 ❤️ ❤️‍🔥 ✔️", "1️⃣ #️⃣", "葛\U000e0100",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "🤷🏽‍♀️", "⚠︎ ©️ ↔️ ‼️ 〰️", "မြန်မာ",
    ],
)  # fmt: skip
def test_what_scripts_and_emoji_need_is_not_a_fault(text: str) -> None:
    assert stray_characters(text) == []
    assert look(f"{text}\n", "none", "whitespace-split") == []


@pytest.mark.parametrize(
    "character", ["\u200b", "\u200c", "\u200d", "\u00ad", "\ufeff", "\u200e", "\u2060", "\ufe0f", "\u034f", "\u3164"]
)
def test_invisible_characters_are_reported(character: str) -> None:
    text = f"models and mo{character}dels\n"
    (finding,) = look(text, "none", "whitespace-split", edits=False)
    assert finding.kind == "invisible"
    assert finding.values["character"] == f"U+{ord(character):04X}"
    assert (finding.values["distinct"], finding.values["doubled"]) == (1, 1)
    assert words(text, finding.fix) == {"models", "and"}
    assert without_stray_characters(text) == "models and models\n"


def test_cleaning_is_the_fix_where_it_is_switched_off() -> None:
    (finding,) = look("a mo\u200bdel", "bert-cased:keep-controls")
    assert finding.fix == PipelineFix("bert-cased", "bert")
    assert look("a mo\u200bdel") == []  # cleaning removes it


def test_the_text_is_repaired_where_some_are_needed() -> None:
    text = "mo\u200bdel ❤️ model"
    (finding,) = look(text, "none")
    assert finding.fix == TextFix("remove-invisible")
    assert repaired(text, finding.fix) == "model ❤️ model"


# -- long words


def test_addresses_are_cut_by_another_pre_tokenizer() -> None:
    text = f"see\nhttps://example.org/{'a-page/' * 10}index.html now\n"
    (finding,) = look(text, "bert-cased", "whitespace-split")
    assert finding.kind == "long-words"
    assert (finding.values["distinct"], finding.values["line"]) == (1, 2)
    assert finding.fix == PipelineFix("bert-cased", "bert")
    assert max(map(len, words(text, finding.fix))) <= 50


def test_words_that_cannot_be_split_are_left_out() -> None:
    text = "some words and a sum\n" * 50 + f"then {'0123456789abcdef' * 4} and {'0123456789abcdef' * 4}\n"
    (finding,) = look(text)
    assert (finding.values["longest"], finding.values["occurrences"], finding.values["line"]) == (64, 2, 51)
    assert finding.fix == TextFix("remove-long-words")
    assert look(repaired(text, finding.fix)) == []
    (finding,) = look(text, edits=False)
    assert finding.fix == LengthFix(50)


def test_scripts_without_spaces_get_a_remark() -> None:
    (finding,) = look("ภาษาไทยเขียนติดกันโดยไม่มีช่องว่างระหว่างคำทำให้คำยาวมากเกินไปสำหรับการฝึก\n")
    assert finding.fix is None
    assert any("without spaces" in sentence for sentence in finding.details)


def test_words_left_out_are_reported_with_their_line() -> None:
    text = "one\n" * 30 + "x" * 1500 + "\n"
    finding = look(text)[0]
    assert finding.kind == "long-words"
    assert (finding.values["left_out"], finding.values["longest"], finding.values["line"]) == (1, 1500, 31)


def test_ordinary_long_words_are_not_a_fault() -> None:
    assert look("Donaudampfschifffahrtselektrizitätenhauptbetriebswerk\n".replace("werk", "")) == []
