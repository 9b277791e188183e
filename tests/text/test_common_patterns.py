r"""Patterns that are given to `tokenizers` as they are must match there as here, wherever they match."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.text.patterns import PROPERTIES, Split, common_pattern, literal_pattern, untranslatable_part

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import Regex, pre_tokenizers  # noqa: E402 (only if it is installed)

from tests.benchmarks.unicode_tables import SCALARS, class_members  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

CLASSES = [r"\s", r"\d", r"\w", *(rf"\p{{{name}}}" for name in sorted(PROPERTIES))]
# A few characters of every kind, and those that only one of the two has in a class, or in either case.
CHARACTERS = (
    "ab stSTßſkKlffiﬁIİı09٣½²¾Ⅳªʕǅéе中ひ한.,'-_+(\u0301\u094d\t\r \xa0\u3000\u200c\u200d\x1c\x85\U0001f44d\U00010d40𞗰"
)
TEXTS = st.text(
    st.one_of(st.sampled_from(CHARACTERS), st.characters(exclude_characters="\n", codec="utf-8")), max_size=25
)

ATOMS = [
    *[
        "a",
        "b",
        "é",
        "中",
        " ",
        ".",
        r"\.",
        r"\(",
        r"\t",
        r"\x41",
        r"\u00e9",
        "'",
        "^",
        "$",
        "_",
        "-",
        "]",
        "{",
        '\\"',
        r"\!\%\,\:\;\=\@",
    ],
    *[r"\S", r"\D", r"\W", r"\P{L}", r"\p{^N}", r"(?!\S)", r"(?=\p{L})", "(?<=a)", r"(?<!\s)", "(?<=a+)", r"\b", r"\h"],
    *["(?i:'s|st)", "(?i:[stk])", "(?i:ll|re)", "(?i:ff)", "(?i:I)", "(?i:f)i", "(?i:s)(?i:s)", "(?m:a)", r"\A"],
    *["[ab]", "[^ab]", r"[^\s\p{L}\p{N}]", r"[\w'-]", "[a-z0-9]", r"[\]\[\\]", r"[\P{L}\d]", "[[:alpha:]]", "[a&&b]"],
    *CLASSES,
]
REPETITIONS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,3}", "{2,}", "{2}?", "{1,2}+"]
GROUPS = ["(", "(?:", "(?>", "(?=", "(?!", "(?i:", "(?<=", "(?<!"]


def random_pattern(rng: random.Random, depth: int = 2) -> str:
    parts = []
    for _ in range(rng.randrange(1, 4)):
        inner = random_pattern(rng, depth - 1) if depth and rng.random() < 0.3 else ""
        parts.append((f"{rng.choice(GROUPS)}{inner})" if inner else rng.choice(ATOMS)) + rng.choice(REPETITIONS))
    return rng.choice(["", "", "|"]).join(parts)


def common_patterns(count: int, seed: int) -> Iterator[str]:
    """Yield random patterns that are valid here and let through."""
    rng = random.Random(seed)
    while count:
        pattern = random_pattern(rng)
        try:
            regex.compile(pattern)
        except regex.error:
            continue
        if untranslatable_part(pattern) is None:
            count -= 1
            yield pattern


@pytest.mark.filterwarnings("ignore:Possible (nested )?set:FutureWarning")
@pytest.mark.parametrize("count", [150, pytest.param(20_000, marks=pytest.mark.exhaustive)])
def test_what_is_common_matches_alike(count: int) -> None:
    rng = random.Random(2)
    for number, pattern in enumerate(common_patterns(count, seed=3)):
        theirs = pre_tokenizers.Split(Regex(pattern), "isolated", invert=number % 2 == 0)
        ours = Split(pattern, "isolated", invert=number % 2 == 0)
        for _ in range(8):
            text = "".join(rng.choices(CHARACTERS, k=rng.randrange(20)))
            found = [(span.text, (span.start, span.end)) for span in ours.spans(text)]
            assert found == theirs.pre_tokenize_str(text), (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s*[\r\n]",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        "(?<=[a-z])(?=[A-Z])",
        r"[-\w]+(?:[.'’][\w-]+)*|[^\w\s]",
    ],
)
def test_patterns_in_use_are_common(pattern: str) -> None:
    assert untranslatable_part(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        (r"a\bb", r"\b"), ("x*", "x*"), ("(?P<n>a)", "(?P"), (r"(a)\1", r"\1"), ("a{2}?", "{2"), ("[a&&b]", "[a&&b]"),
        ("[[:alpha:]]", "[:"), ("(?:a*)+", "+"), ("(?<=a|b)c", "|b"), ("(?i:x[st])", "st"),
        ("(?i:é)", "é)"), (r"(?i:\p{Lu})", r"\p"), (r"\p{Deva}", r"\p{Deva}"), ("(?x)a", "(?x"), ("a|", "a|"),
        ("\ud800", "\ud800"),
    ],
)  # fmt: skip
def test_what_others_may_understand_differently_is_named(pattern: str, part: str) -> None:
    assert untranslatable_part(pattern) == part
    assert common_pattern(pattern) is None


@pytest.mark.parametrize(
    "codes",
    [
        pytest.param(SCALARS[:0x3000] + SCALARS[0x3000::611], marks=pytest.mark.slow),
        pytest.param(SCALARS, marks=pytest.mark.exhaustive),
    ],
    ids=["many", "every"],
)
def test_the_classes_have_the_same_members(codes: list[int]) -> None:
    text = "".join(map(chr, codes))
    outside = [*CLASSES, *(expression.upper()[:2] + expression[2:] for expression in CLASSES)]
    for expression in [*outside, *(f"[{expression}]" for expression in outside), r"[^\w]", r"[^\p{Ll}]"]:
        pattern = regex.compile(str(common_pattern(expression)), regex.VERSION1)
        assert set(map(ord, pattern.findall(text))) == class_members(expression, codes), expression


@given(TEXTS.filter(bool))
def test_a_literal_matches_itself(text: str) -> None:
    pattern = literal_pattern(text)
    assert untranslatable_part(pattern) is None
    assert Split(pattern).split(f"{text}{text}") == [text, text]
