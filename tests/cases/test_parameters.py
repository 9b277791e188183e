"""Cases 30 to 38: settings that make no sense, and what the command line says of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.patterns import SearchPattern
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from tests.cases.program import Program

TEXT = "This is the Hugging Face course. Hopefully\n" * 3


@pytest.fixture
def text(program: Program) -> str:
    return program.file("a.txt", TEXT)


@pytest.mark.case(30)
@pytest.mark.parametrize("size", [0, -1])
def test_a_vocabulary_of_nothing(program: Program, text: str, size: int) -> None:
    message = program.refuses_to_train(text, "--vocab-size", size)
    assert message == f"--vocab-size must be a whole number from 1, not {size}."


@pytest.mark.case(30)
def test_a_vocabulary_below_the_alphabet(program: Program, text: str) -> None:
    assert program.refuses_to_train(text, "--vocab-size", 10) == (
        "--vocab-size: A vocabulary of 10 tokens is too small for this corpus: special tokens and alphabet alone are "
        "27. Choose a size of 27 or more."
    )
    assert "27 tokens after 0 merges" in program.trains(text, "--vocab-size", 27)


@pytest.mark.case(31)
@pytest.mark.parametrize("size", [5 * 10**8, 10**9, 10**12, 2**64])
def test_a_vocabulary_beyond_all_memory(program: Program, text: str, size: int) -> None:
    message = program.refuses_to_train(text, "--vocab-size", size, within_s=1)
    assert message == f"--vocab-size must be at most 100,000,000, not {size}."


@pytest.mark.case(31)
def test_nothing_is_made_as_large_as_is_asked_for(program: Program, text: str) -> None:
    told = program.trains(text, "--vocab-size", 100_000_000, "--max-merges", 10**18, within_s=5)
    assert "(no pair is left)" in told


@pytest.mark.case(32)
def test_a_frequency_above_every_count(program: Program, text: str) -> None:
    told = program.trains(text, "--min-frequency", 10**9)
    assert "27 tokens after 0 merges" in told
    assert "(no pair occurs 1,000,000,000 times or more, so nothing was merged)" in told


@pytest.mark.case(33)
def test_a_special_token_named_twice(program: Program, text: str) -> None:
    assert program.refuses_to_train(text, "--special-tokens", "[UNK] [CLS] [UNK]") == (
        "--special-tokens: The special token '[UNK]' is listed twice. List every special token once."
    )


@pytest.mark.case(33)
@pytest.mark.parametrize("token", ["", " ", "a ", "a\nb", "a\x1b", "a\u2028b", "\ud800"])
def test_a_special_token_that_is_none(program: Program, token: str) -> None:
    with pytest.raises(StudioError) as caught:
        TrainingConfig(special_tokens=("[UNK]", token))
    message = program.told(caught.value)
    assert repr(token) in message
    assert "is empty, or has whitespace at its ends, line breaks or control characters" in message


@pytest.mark.case(34)
@pytest.mark.parametrize("token", ["T", "##s", "##gg"])
def test_a_special_token_that_is_an_ordinary_one(program: Program, text: str, token: str) -> None:
    told = program.trains(text, "--special-tokens", f"[UNK] {token}")
    assert (
        f"The special token {token} is also an ordinary token of this corpus, or may become one. Both share one ID, "
        "and a tokenizer takes it for the special token." in told
    )
    assert program.tokens().count(token) == 1


@pytest.mark.case(34)
def test_a_special_token_that_is_a_word(program: Program, text: str) -> None:
    assert "special token This (3×)" in program.trains(text, "--special-tokens", "[UNK] This")
    assert program.tokens()[:2] == ["[UNK]", "This"]
    assert program.tokens().count("This") == 1


@pytest.mark.case(35)
def test_no_unknown_token(program: Program, text: str) -> None:
    told = program.trains(text, "--special-tokens", "")
    assert "[UNK] is not among the special tokens: words that the vocabulary cannot spell will have no ID." in told


@pytest.mark.case(36)
def test_no_prefix(program: Program, text: str) -> None:
    told = program.trains(text, "--continuing-subword-prefix", "")
    assert (
        "The prefix of tokens inside words is empty: they are written like tokens at the beginning of a word and "
        "share their IDs, so decoding cannot tell where a word begins." in told
    )
    assert len(set(program.tokens())) == len(program.tokens())


@pytest.mark.case(36)
def test_a_prefix_that_the_corpus_has(program: Program, text: str) -> None:
    told = program.trains(text, "--continuing-subword-prefix", "Hu")
    assert "Words of the corpus begin with the prefix Hu, such as Hugging (1 in all)." in told
    assert "share an ID with them." in told


@pytest.mark.case(37)
def test_no_alphabet(program: Program, text: str) -> None:
    message = program.refuses_to_train(text, "--alphabet-limit", 0)
    assert message == "--alphabet-limit must be a whole number from 1, not 0."


@pytest.mark.case(37)
def test_an_alphabet_that_spells_no_word(program: Program, text: str) -> None:
    assert program.refuses_to_train(text, "--alphabet-limit", 1) == (
        "--alphabet-limit: No word is left to train on: each contains a character beyond the alphabet limit of 1. "
        "Raise the limit, or let such characters be removed."
    )


@pytest.mark.case(38)
def test_a_pattern_that_is_none(program: Program, text: str) -> None:
    assert program.refuses_to_train(text, "--pre-tokenizer", "pattern:(a") == (
        '--pre-tokenizer: The pattern "(a" is not a valid regular expression: at character 3, missing ). Correct it; '
        "to match a special character literally, put a backslash before it."
    )


@pytest.mark.slow
@pytest.mark.case(38)
def test_a_pattern_that_runs_away(program: Program) -> None:
    file = program.file("a.txt", f"fine\n{'a' * 60}!\n")
    message = program.refuses("count", file, "--pre-tokenizer", "pattern:(a|aa)+$", "-o", "words.tsv", within_s=4)
    assert message.startswith('--pre-tokenizer: The pattern "(a|aa)+$" takes too long in line 2 of a.txt: "aaaa')
    assert "make it possessive, as in (a|aa)++." in message


@pytest.mark.case(38)
@pytest.mark.parametrize(
    "pattern", ["(" * 500 + ")" * 500, "a{1,999999999}", "(?P<n>a)(?P=n){9999}", "\\", "[a", "(?<=a*)b"]
)
def test_odd_patterns_end_in_time(program: Program, text: str, pattern: str) -> None:
    code, _, err = program.run(("count", text, "--pre-tokenizer", f"pattern:{pattern}", "-o", "words.tsv"), 10)
    assert code in (0, 1)
    assert err.count("\n") == code
    assert (code == 0) == (program.folder / "words.tsv").exists()


@pytest.mark.case(38)
@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a|aa)+$", "takes too long"),
        ("(?:a{1,1000}){1,1000}b", "takes too long"),
        ("(?:" * 100_000, "is too long: 300,000 characters. Write one of at most"),
        ("((a{9999}){9999}){9999}", "has too many repetitions"),
        ("x{0,99999999999999999999}", "at character 3, repeat count too big"),
        ("\x1b[31m(", "at character"),
        ("", "is empty"),
    ],
    ids=range(7),
)
def test_a_pattern_that_is_sought_in_tokens(program: Program, pattern: str, message: str) -> None:
    """As the search of the window looks for it, whose message is bounded whatever the pattern is."""
    started = time.process_time()
    with pytest.raises(StudioError) as caught:
        SearchPattern(pattern).is_in("a" * 60 + "!")
    assert time.process_time() - started < 5
    told = program.told(caught.value)
    assert message in told
    assert len(told) < 600
    assert told.isprintable()
