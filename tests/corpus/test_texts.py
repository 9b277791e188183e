"""Texts of a program: every kind of column that holds them, and what is said about anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import wordpiece_studio as wps

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = ["the hug and the pug", "", "안녕 👋 hugs", "they hug\nthe pugs"]
KINDS = [
    "tuple(texts)",
    "iter(texts)",
    "(text for text in texts)",
    "pyarrow.array(texts)",
    "pyarrow.array(texts).dictionary_encode()",
    "pyarrow.table({'text': pyarrow.chunked_array([texts[:1], texts[1:]])})['text']",
    "pandas.Series(texts)",
    "pandas.DataFrame({'text': texts})['text'].astype('category')",
    "np.array(texts, dtype=object)",
    "np.array(texts)",
]
if hasattr(np.dtypes, "StringDType"):
    KINDS.append("np.array(texts, dtype=np.dtypes.StringDType())")


def made(expression: str, texts: list[str] | None = None) -> Any:
    """Return what an expression gives. The libraries are imported here, as pytest reads every file in every process."""
    import pandas
    import pyarrow

    return eval(expression, {"np": np, "pandas": pandas, "pyarrow": pyarrow, "texts": texts})


def refusal(function: Callable[..., object], *arguments: Any, **options: Any) -> str:
    with pytest.raises(wps.StudioError) as caught:
        function(*arguments, **options)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_column_is_a_corpus(kind: str) -> None:
    counts = wps.count_texts(made(kind, TEXTS))
    assert counts.items() == wps.count_texts(TEXTS).items()
    assert {type(word) for word in counts.words} == {str}
    tokenizer = wps.train(counts, wps.TrainingConfig(max_merges=5)).tokenizer()
    encoded = wps.encode_texts(tokenizer, made(kind, TEXTS))
    assert [encoded[index].tolist() for index in range(4)] == list(map(tokenizer.ids, TEXTS))
    assert wps.held_out_text(texts=made(kind, TEXTS)) == wps.held_out_text(texts=TEXTS)
    many = TEXTS * 10
    assert wps.divided_corpus(texts=made(kind, many)) == wps.divided_corpus(texts=many)
    (finding,) = wps.lint(texts=made(kind, ["El niño y la niña"] * 2), normalizer="bert-uncased")
    assert finding.kind == "lost-marks"


@pytest.mark.slow
def test_a_long_arrow_column_is_read_in_parts() -> None:
    texts = [f"{number}" for number in range(10_000)]
    assert wps.count_texts(made("pyarrow.chunked_array([texts[:6000], texts[6000:]])", texts)).words == texts


def test_a_text_held_out_is_that_of_its_lines() -> None:
    assert wps.held_out_text(texts=["hug [MASK] pug", "pun"]).words == 4
    with pytest.raises(wps.StudioError, match=r"Text 2 contains an unpaired surrogate \(U\+D800\) at position 1"):
        wps.held_out_text(texts=["good", "a\ud800b"])


_MISSING = "Leave it out, or put an empty text in its place."
_NESTED = "Pass the texts themselves, one by one."
ENTRIES = [
    ("['good', None]", f"Text 2 is not a string: None. {_MISSING}"),
    ("pyarrow.array(['a', None])", f"Text 2 is not a string: None. {_MISSING}"),
    ("pandas.Series(['a', pandas.NA], dtype=object)", f"Text 2 is not a string: <NA>. {_MISSING}"),
    ("pandas.Series([float('nan')])", f"Text 1 is not a string: nan. {_MISSING}"),
    ("['a', b'b']", "Text 2 is not a string: b'b'. Decode it first."),
    ("np.array([b'a'])", "Text 1 is not a string: np.bytes_(b'a'). Decode it first."),
    ("pyarrow.array([b'a'])", "Text 1 is not a string: b'a'. Decode it first."),
    ("(n for n in (3, 4))", "Text 1 is not a string: 3. Make it a text first."),
    ("[['a', 'b']]", f"Text 1 is not a string: ['a', 'b']. {_NESTED}"),
    ("pyarrow.array([['a']])", f"Text 1 is not a string: ['a']. {_NESTED}"),
    ("'one text'", "One text was given where several are expected. Put it into a list."),
    ("b'bytes'", "Bytes were given where texts are expected. Decode them, and put the text into a list."),
    (
        "{'hug': 2}",
        "A mapping was given where texts are expected. For words with counts, use WordCounts.from_pairs.",
    ),
    ("pandas.DataFrame({'text': ['a']})", "A table was given where texts are expected. Pass one of its columns"),
    ("pyarrow.table({'text': ['a']})", "A table was given where texts are expected. Pass one of its columns"),
    ("np.array('a')", "Texts are expected, not array('a', dtype='<U1'). Pass a list of strings."),
    ("3", "Texts are expected, not 3. Pass a list of strings."),
]


@pytest.mark.parametrize(("texts", "message"), ENTRIES)
def test_anything_else_is_named_with_what_to_give(texts: str, message: str) -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", "a"]))
    for function in (wps.count_texts, lambda given: wps.encode_texts(tokenizer, given)):
        assert refusal(function, made(texts)).startswith(message)
    for function in (wps.lint, wps.held_out_text, wps.divided_corpus):
        assert refusal(function, texts=made(texts)).startswith(message)


@pytest.mark.parametrize("words", ["{'hug': 10, 'pug': 5, 'hugs': 5}", "pandas.Series(['hug', 'pug']).value_counts()"])
def test_words_with_their_counts_are_trained_on_as_they_are(words: str) -> None:
    run = wps.train(made(words))
    assert run.counts == wps.WordCounts.from_pairs(dict(made(words)))
    assert list(run.history) == list(wps.train(run.counts).history)


@pytest.mark.parametrize("counts", ["corpus.txt", ["the hug"], None, 3])
def test_what_cannot_be_trained_on(counts: Any) -> None:
    message = refusal(wps.train, counts)
    assert message.startswith(f"Words with their counts are expected, not {counts!r}. Use count_texts for texts")


def test_settings_are_no_dictionary() -> None:
    settings: Any = {"vocab_size": 30}
    assert refusal(wps.train, {"hug": 1}, settings) == (
        "Settings are expected, not {'vocab_size': 30}. Pass a TrainingConfig."
    )


def test_word_counts_are_no_files() -> None:
    words: Any = {"hug": 1}
    assert refusal(wps.count_words, words) == "Files are expected, not {'hug': 1}. Pass their paths."
