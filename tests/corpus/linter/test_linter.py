"""What the linter says of small texts, that its fix mends it, and that it is silent where nothing is wrong."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from wordpiece_studio.corpus.linter.finding import PipelineFix, TextFix, sample_of_text
from wordpiece_studio.corpus.linter.linter import findings, lint, repaired
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Pipeline
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from wordpiece_studio.corpus.linter.finding import Finding

SPANISH = "El niño tiene un año. La niña está aquí.\nEl ano no es el año, el niño lo sabe.\n" * 3
KOREAN = "안녕하세요 할머니. 안녕하세요 아이.\n할머니는 꽃에 물을 주셨다.\n" * 3
CHINESE = "春天的小鱼在河边唱歌。春天的小鱼很快乐。\n小鱼在春天唱歌。\n" * 3


def look(text: str, normalizer: str = "bert-cased", pre_tokenizer: str = "bert") -> list[Finding]:
    """Return what is found in a text that can be edited."""
    pipeline = Pipeline(resolve_normalizer(normalizer), resolve_pre_tokenizer(pre_tokenizer))
    counts = wps.count_texts([text], normalizer, pre_tokenizer)
    return findings(sample_of_text(text), counts, pipeline)


def only(found: list[Finding], kind: str) -> Finding:
    (finding,) = [finding for finding in found if finding.kind == kind]
    return finding


def kinds(found: list[Finding]) -> list[str]:
    return [finding.kind for finding in found]


def vocabulary(text: str, normalizer: str, pre_tokenizer: str = "bert", size: int = 120) -> set[str]:
    """Return the tokens that a training learns, without the mark of those inside a word."""
    counts = wps.count_texts([text], normalizer, pre_tokenizer)
    run = wps.train(counts, wps.TrainingConfig(vocab_size=size))
    return {token.removeprefix("##") for token in run.vocabulary.tokens}


# -- accents


def test_accents_lost() -> None:
    finding = only(look(SPANISH, "bert-uncased"), "lost-marks")
    assert finding.severity == "warning"
    assert finding.values["distinct"] == 5  # niño, año, niña, está, aquí
    assert finding.values["occurrences"] == 7 * 3
    assert finding.values["collapsed"] == 1
    assert (finding.examples[0].before, finding.examples[0].after) == ("año / ano", "ano")
    assert finding.fix == PipelineFix("bert-uncased:keep-accents", "bert")
    assert "lost-marks" not in kinds(look(SPANISH, finding.fix.normalizer))


def test_keeping_accents_is_learned() -> None:
    finding = only(look(SPANISH, "bert-uncased"), "lost-marks")
    assert isinstance(finding.fix, PipelineFix)
    assert not any("ñ" in token for token in vocabulary(SPANISH, "bert-uncased"))
    assert "niñ" in " ".join(vocabulary(SPANISH, finding.fix.normalizer))


@pytest.mark.parametrize(
    ("present", "fixed"),
    [
        ("bert-uncased:keep-chinese", "bert-uncased:keep-chinese,keep-accents"),
        ("bert-cased:strip-accents", "bert-cased:keep-accents"),
        ("nfd+strip-accents+lowercase", "nfc+lowercase"),
        ("remove:,+bert-uncased", "remove:,+bert-uncased:keep-accents"),
    ],
)
def test_the_fix_changes_as_little_as_possible(present: str, fixed: str) -> None:
    fix = only(look(SPANISH, present), "lost-marks").fix
    assert fix == PipelineFix(fixed, "bert")


@pytest.mark.parametrize("normalizer", ["bert-cased", "none", "lowercase", "language-friendly", "nfc"])
@pytest.mark.parametrize("text", [SPANISH, KOREAN, "привет, мой дорогой друг\n"])
def test_nothing_is_lost_where_nothing_is_stripped(text: str, normalizer: str) -> None:
    assert look(text, normalizer) == []


def test_a_few_accents_among_many_words_are_not_reported() -> None:
    text = "the cafe is open today\n" * 1000
    assert look(text + "café\n", "bert-uncased") == []
    assert only(look(text + "café\n" * 20, "bert-uncased"), "lost-marks").severity == "note"


def test_vowel_signs_are_not_accents() -> None:
    finding = only(look("हिन्दी में किताबें\n", "bert-uncased"), "lost-marks")
    assert "signs" in finding.title
    assert finding.fix_name == "Keep signs"


@pytest.mark.parametrize(
    ("text", "normalizer"),
    [
        (SPANISH, "bert-uncased"), (KOREAN, "bert-uncased"), ("cafÃ© niÃ±o\n" * 9, "bert-cased"),
        ("resume re\u0301sume\u0301 caf\u00e9 cafe\u0301\n", "none"), ("hu\u200bg hug\n", "none"),
        ("a" * 3000 + " b\n", "bert-cased"), ("hug " * 9000, "bert-cased"),
    ],
)  # fmt: skip
def test_what_is_said_has_its_values_filled_in(text: str, normalizer: str) -> None:
    found = look(text, normalizer)
    assert found
    for finding in found:
        for words in (finding.title, *finding.details, finding.fix_name, str(finding)):
            assert "{" not in words
        assert str(finding).startswith(finding.title)


def test_an_error_is_shown_with_its_values_in_a_list_too() -> None:
    with pytest.raises(wps.StudioError) as caught:
        wps.count_words("no-such-file.txt")
    assert repr(caught.value) == "StudioError('no-such-file.txt does not exist. Check the name.')"


# -- Hangul


def test_hangul_is_decomposed() -> None:
    finding = only(look(KOREAN, "bert-uncased"), "jamo")
    assert finding.values["word"] == "안녕하세요"
    assert (finding.values["syllables"], finding.values["letters"]) == (5, 12)
    assert finding.values["occurrences"] == 8 * 3
    assert finding.fix == PipelineFix("bert-uncased:keep-accents", "bert")
    assert look(KOREAN, finding.fix.normalizer) == []


def test_syllables_are_learned_whole() -> None:
    fix = only(look(KOREAN, "bert-uncased"), "jamo").fix
    assert isinstance(fix, PipelineFix)
    before, after = vocabulary(KOREAN, "bert-uncased"), vocabulary(KOREAN, fix.normalizer)
    assert any("\u1100" <= character <= "\u11ff" for token in before for character in token)
    assert not any("\u1100" <= character <= "\u11ff" for token in after for character in token)
    assert "할머니" in after


def test_hangul_that_is_decomposed_in_the_file() -> None:
    finding = only(look(unicodedata.normalize("NFD", KOREAN), "bert-cased"), "jamo")
    assert finding.fix == PipelineFix("bert-cased+nfc", "bert")


# -- characters alone


def test_chinese_characters_alone() -> None:
    finding = only(look(CHINESE), "characters-alone")
    assert finding.values["distinct"] == len(set(CHINESE) - set("。\n"))
    assert finding.values["occurrences"] == sum(character not in "。\n" for character in CHINESE)
    assert finding.fix == PipelineFix("bert-cased:keep-chinese", "bert")
    assert finding.values["longest"] == max(map(len, CHINESE.replace("\n", "").split("。")))
    assert look(CHINESE, finding.fix.normalizer) == []


def test_chinese_is_learned_in_longer_tokens() -> None:
    fix = only(look(CHINESE), "characters-alone").fix
    assert isinstance(fix, PipelineFix)
    own = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    assert max(map(len, vocabulary(CHINESE, "bert-cased") - own)) == 1
    assert "春天" in " ".join(vocabulary(CHINESE, fix.normalizer))


@pytest.mark.parametrize(
    ("text", "normalizer", "fixed"),
    [
        (CHINESE, "language-friendly", ("language-friendly:keep-chinese", "bert")),
        (KOREAN, "bert-cased", ("bert-cased", "bert")),
        (CHINESE, "none", ("none", "bert")),
        (CHINESE, "bert-cased", ("bert-cased:keep-chinese", "bert")),
    ],
)
def test_another_pre_tokenizer_where_that_one_parts_them(text: str, normalizer: str, fixed: tuple[str, str]) -> None:
    pre_tokenizer = "bert" if normalizer == "language-friendly" else "unicode-punctuation"
    assert only(look(text, normalizer, pre_tokenizer), "characters-alone").fix == PipelineFix(*fixed)


def test_a_few_characters_in_other_text_and_spaced_characters_are_intended() -> None:
    assert look("the word 漢字 is written so\n" + "and many other words\n" * 100) == []
    assert look("一 二 三 四\n" * 5) == []


# -- mojibake


def test_mojibake_in_a_text_is_repaired_by_an_edit() -> None:
    text = "uno dos\nEl niÃ±o estÃ¡ aquÃ­. DoÃ±a Ana\n" * 2
    finding = only(look(text), "mojibake")
    assert finding.values["places"] == 8
    assert (finding.values["before"], finding.values["after"]) == ("niÃ±o", "niño")
    assert (finding.examples[0].line, finding.fix) == (2, TextFix("decode-again"))
    mended = repaired(text, TextFix("decode-again"))
    assert mended == "uno dos\nEl niño está aquí. Doña Ana\n" * 2
    assert look(mended) == []


def test_one_damaged_place_in_a_long_text_is_a_note() -> None:
    text = "El niño y la niña hablan\n" * 5000
    assert only(look(f"{text}El niÃ±o\n"), "mojibake").severity == "note"
    assert only(look("El niÃ±o\n"), "mojibake").severity == "warning"


def test_lost_characters_have_no_button() -> None:
    finding = only(look("El ni\ufffdo y la ni\ufffda"), "mojibake")
    assert (finding.values["lost"], finding.fix) == (2, None)


# -- long lines


def test_one_line_with_the_whole_text() -> None:
    text = "Hug a pug. Pun a bun! " * 1000
    finding = only(look(text), "long-line")
    assert (finding.values["length"], finding.values["percent"]) == (len(text), 100)
    mended = repaired(text, TextFix("wrap-lines"))
    assert mended.splitlines()[:2] == ["Hug a pug.", "Pun a bun!"]
    assert look(mended) == []
    assert wps.count_texts([mended]).items() == wps.count_texts([text]).items()


@pytest.mark.parametrize("text", ["他来了。他走了！“好。”她说。" * 500, "no end of a sentence " * 2000, "x" * 20_000])
def test_wrapping_loses_nothing(text: str) -> None:
    mended = repaired(text, TextFix("wrap-lines"))
    assert "".join(mended.split()) == "".join(text.split())
    if "x" * 100 not in text:
        assert max(map(len, mended.splitlines())) <= 5000


def test_new_lines_end_as_the_others_do() -> None:
    mended = repaired("one\r\n" + "Hug a pug. Pun a bun! " * 1000 + "\r\n", TextFix("wrap-lines"))
    assert mended.startswith("one\r\nHug a pug.\r\nPun a bun!\r\n")
    assert mended.count("\n") == mended.count("\r\n")


def test_short_texts_may_be_one_line() -> None:
    assert look("Hug a pug. Pun a bun! " * 100) == []


def test_a_long_line_may_be_one_of_many() -> None:
    assert look("Hug a pug. " * 1500 + "\n" + "Pun a bun!\n" * 2000) == []


# -- as a whole


def test_the_examples_of_the_library() -> None:
    found = lint(texts=[SPANISH], normalizer="bert-uncased")
    assert kinds(found) == ["lost-marks"]
    assert str(found[0]) == (
        "Accents are lost: niño → nino. 5 words change, 21×. Different words become one and the same in 1 case."
    )
    assert lint(texts=[SPANISH]) == []


def test_counts_of_a_part_are_those_of_a_sample() -> None:
    counts = wps.count_texts([CHINESE])
    counts.statistics = replace(counts.statistics, is_partial=True)
    pipeline = Pipeline(counts.normalizer, counts.pre_tokenizer)
    assert only(findings(sample_of_text(CHINESE), counts, pipeline), "characters-alone").is_sample


def test_warnings_come_before_notes() -> None:
    found = look(SPANISH + "it is\u200bso and so on\n", "lowercase+nfd+strip-accents")
    assert [finding.severity for finding in found] == sorted((finding.severity for finding in found), reverse=True)
    assert set(kinds(found)) >= {"lost-marks", "invisible"}


@pytest.mark.parametrize("text", ["", "\n", "a", "\u200b", "é", "한", "漢", "\ufffd", "\U0010ffff", "\x00"])
@pytest.mark.parametrize("normalizer", ["bert-uncased", "none"])
def test_tiny_texts(text: str, normalizer: str) -> None:
    for finding in look(text, normalizer):
        assert str(finding)
