"""What other libraries do not say, or say without the place, when they are called from Python.

The rows of bad input at which Hugging Face's `tokenizers` fails late, silently or in words that mislead. Those that the
command line meets too are in the other modules.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

import wordpiece_studio as wps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cases.program import Program

    Told = Callable[[object], str]


def refusal(function: Callable[..., object], *arguments: Any, **options: Any) -> str:
    with pytest.raises(wps.StudioError) as caught:
        function(*arguments, **options)
    return str(caught.value)


@pytest.mark.case(12)
def test_half_a_character_in_texts_of_a_program(told: Told) -> None:
    assert told(refusal(wps.count_texts, ["good", "a\ud800b"])) == (
        "Text 2 contains an unpaired surrogate (U+D800) at position 1. Read it again with the right encoding."
    )


@pytest.mark.case(12)
def test_half_a_character_is_no_reason_not_to_tokenize() -> None:
    tokenizer = wps.Tokenizer(wps.Vocabulary(["[UNK]", "a"], ["[UNK]"]))
    assert tokenizer.encode("a \ud800").tokens == ["a", "[UNK]"]


@pytest.mark.case(5)
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["good", None], "Text 2 is not a string: None. Leave it out, or put an empty text in its place."),
        ([b"bytes"], "Text 1 is not a string: b'bytes'. Decode it first."),
        ([3], "Text 1 is not a string: 3. Make it a text first."),
        ("one text", "One text was given where several are expected. Put it into a list."),
        (None, "Texts are expected, not None. Pass a list of strings."),
    ],
)
def test_what_are_no_texts(told: Told, texts: Any, message: str) -> None:
    assert told(refusal(wps.count_texts, texts)) == message


@pytest.mark.case(5)
def test_the_error_of_who_gives_the_texts_is_not_hidden() -> None:
    def texts() -> Iterator[str]:
        yield "good"
        raise ConnectionError("the line is dead")

    with pytest.raises(ConnectionError, match="the line is dead"):
        wps.count_texts(texts())


@pytest.mark.case(5)
@pytest.mark.parametrize("paths", [[], None, [None], 3])
def test_what_are_no_files(told: Told, paths: Any) -> None:
    assert told(refusal(wps.count_words, paths))


@pytest.mark.case(4)
@pytest.mark.parametrize("texts", [[], [""], [" \t\n"]])
def test_texts_without_words_train_nothing(told: Told, texts: list[str]) -> None:
    assert told(refusal(wps.train, wps.count_texts(texts))).startswith("There are no words to train on")


@pytest.mark.case(33)
@pytest.mark.parametrize("tokens", ["[UNK]", [3], [None], 3])
def test_special_tokens_that_are_no_list_of_texts(told: Told, tokens: Any) -> None:
    assert "special_tokens must be a list of texts" in told(refusal(wps.TrainingConfig, special_tokens=tokens))


@pytest.mark.case(30)
@pytest.mark.parametrize("size", ["30000", 3.5, True, -1, float("nan")])
def test_a_size_that_is_no_number_of_tokens(told: Told, size: Any) -> None:
    message = told(refusal(wps.TrainingConfig, vocab_size=size))
    assert message == f"The setting vocab_size must be a whole number from 1, not {size!r}."


@pytest.mark.case(36)
def test_the_prefix_stands_in_the_corpus(program: Program) -> None:
    """``##b`` is a word, and the token of a ``b`` inside one: both would be one token."""
    file = program.file("a.txt", "## a##b ##b\n")
    told = program.trains(file, "--normalizer", "none", "--pre-tokenizer", "whitespace-split")
    assert "Words of the corpus begin with the prefix ##, such as ##b (1 in all)." in told
    assert "share an ID with them." in told
    assert len(set(program.tokens())) == len(program.tokens())


@pytest.mark.case(9)
def test_a_word_that_is_too_long_to_be_tokenized_has_a_reason(program: Program) -> None:
    program.prepares(program.file("a.txt", "x xx xxx\n"))
    code, said, _ = program.run(("explain", "--vocab", "vocabulary", "x" * 101), 5)
    assert code == 0
    assert said.endswith("→ [UNK]: the word has more than 100 characters\n")
    program.told(said.splitlines()[-1].strip())


@pytest.mark.case(60)
@pytest.mark.parametrize("place", ["file", os.path.join("file", "below")])
def test_the_output_lies_at_or_below_a_file(program: Program, place: str) -> None:
    text = program.file("a.txt", "some words\n")
    program.file("file", "kept")
    message = program.refuses("train", text, "-o", place)
    assert message.endswith("file is not a folder. Choose another.")
    assert (program.folder / "file").read_text() == "kept"


@pytest.mark.case(59)
@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "a.txt", "-o", "new", "--history", os.path.join("gone", "history.csv")),
        ("count", "a.txt", "-o", os.path.join("gone", "words.tsv")),
        ("encode", "a.txt", "--vocab", "vocabulary", "-o", os.path.join("gone", "ids.npy")),
    ],
)
def test_the_folder_of_the_output_is_not_there(program: Program, arguments: tuple[str, ...]) -> None:
    program.prepares(program.file("a.txt", "some words\n"))
    assert "gone" in program.refuses(*arguments)
