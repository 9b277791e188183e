"""The agreement with `tokenizers` and `transformers`, in small; the whole takes minutes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("tokenizers")
from tests.benchmarks import agreement
from tests.benchmarks.agreement import (
    WRITTEN,
    Setting,
    compared,
    compared_as_written,
    groups_of_settings,
    lines_of,
    pipelines,
)
from tests.benchmarks.agreement_texts import mixed_lines, scripts
from wordpiece_studio.resources import resource_path

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.tokenizer.encoding import Encoding


@functools.cache
def lines() -> list[str]:
    return mixed_lines(120)


@pytest.fixture(autouse=True)
def _no_network_and_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSFORMERS_VERBOSITY", "error")  # else it tells that there is no PyTorch
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    pytest.importorskip("transformers")


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        [Setting("language-friendly", "whitespace-split+punctuation", "count")],
        [Setting("nfd", "punctuation", "likelihood")],
        *range(-6, 0),  # the unusual ones
        *range(0, 370, 90),
        *(pytest.param(place, marks=pytest.mark.exhaustive) for place in range(18, 370, 18) if place % 90),
    ],
    ids=lambda chosen: str(chosen) if isinstance(chosen, int) else chosen[0].normalizer,
)
def test_ids_tokens_offsets_and_files_agree(chosen: list[Setting] | int) -> None:
    settings = chosen if isinstance(chosen, list) else groups_of_settings()[chosen]
    result = compared(settings, lines())
    assert result.shown == ()
    assert result.differences == 0
    assert result.texts == len(settings) * 2 * len(lines())
    assert result.files >= 4 * len(settings)
    assert 0 < result.unknown < result.tokens / 3


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITTEN)
def test_what_the_command_line_writes_agrees(form: str, tmp_path: Path) -> None:
    corpus = resource_path("samples/course-en.txt")
    is_sentencepiece = "sentencepiece" in form  # which normalizes hostile text in another way
    texts = lines_of(corpus, 40) if is_sentencepiece else [*lines_of(corpus, 20), *lines()]
    result = compared_as_written(form, corpus, texts, 600, tmp_path / "out")
    assert result.shown == ()
    assert result.texts == 2 * len(texts)
    # Elsewhere, long words are unknown, or bytes that are new inside words.
    if ("--bpe" in form and "</w>" not in form) or form in ("--by tokenizers-bpe", "--by tokenizers-unigram"):
        assert result.unknown == sum(text.count("[UNK]") for text in texts)


@pytest.mark.slow
def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = agreement.Tokenizer.encode

    def wrong(tokenizer: agreement.Tokenizer, text: str) -> Encoding:
        return genuine(tokenizer, text.lower())

    monkeypatch.setattr(agreement.Tokenizer, "encode", wrong)
    result = compared([Setting("bert-cased", "bert")], [*lines(), "A", "A"])
    assert result.differences > 20
    assert "the ids of" in result.shown[0]


def test_every_combination_is_gone_through() -> None:
    names = pipelines()
    assert len(names) > 180
    assert len(set(names)) == len(names)
    assert ("bert-cased", "punctuation") not in names  # it takes the line ends away
    assert ("bert-cased:keep-controls", "punctuation") in names
    assert len([setting for settings in groups_of_settings() for setting in settings]) == 3 * len(names) + 6


def test_the_lines_are_the_same_every_time_and_of_every_kind() -> None:
    assert mixed_lines(120) == lines()
    text = "".join(mixed_lines(2000))
    assert max(map(ord, text)) > 0xF0000
    assert not any(0xD800 <= ord(character) <= 0xDFFF for character in text)
    for part in ("[MASK]", "\0", "\u202e", "\u200d", "中", "\r", "\u2028"):
        assert part in text
    assert len(scripts()) > 100
    assert max(map(len, text.split())) >= 1000
