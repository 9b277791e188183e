from __future__ import annotations

import pytest

from tests.peers.foreign import library, texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.expressions import GPT2_WORDS, Expression

CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
KNOWN = {
    "GPT-2": GPT2_WORDS,
    "GPT-2, shorter": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "GPT-4": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s",
    "Llama 3": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + TAIL,
    "Qwen 2": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + TAIL,
    "Qwen 3": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
    "GPT-4o": rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTIONS}?"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTIONS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "DeepSeek 3": r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "DeepSeek 3, ideographs": "[一-龥\u3040-ゟ゠-ヿ]+",
    "DeepSeek, lines": "[\r\n]",
    "DeepSeek, punctuation": r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    "DeepSeek, ends": r"\s+$",
    "BLOOM": " ?[^(\\s|[.,!?…。，、।۔،])]+",
    "CLIP": r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    "Falcon": "[0-9][0-9][0-9]",
    "T5": " {2,}",
    "an interval repeated": r"a{1,2}+a|\p{N}{2}+",
    "a dot": "a.b|.$",
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_well_known_models_ask_for(name: str) -> None:
    library()
    from tokenizers import Regex, pre_tokenizers

    theirs, ours = pre_tokenizers.Split(Regex(KNOWN[name]), "removed", invert=True), Expression(KNOWN[name])
    more = [
        "aaaaa 12345 aa",
        "  a \n b  \n\n  ",
        "'S'T'LL 'ſ CAN'T Can't",
        "a|b (c) [d], e..., &&~~^^ a\rb a\nb x",
        "ʕ ʖ\U0001fae9",
    ]
    given = more + texts(5, 25)
    found = [list(ours.matches(text)) for text in given]
    assert found == [[place for _, place in theirs.pre_tokenize_str(text)] for text in given]
    assert sum(map(len, found)) > 3


CLASSES = "L Lu Ll Lt Lm Lo N Nd Nl No M Mn Mc Me P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp"
SCRIPTS = "Han Hangul Hiragana Katakana Latin Cyrillic Greek Thai"


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [*(rf"\p{{{name}}}" for name in f"{CLASSES} {SCRIPTS}".split()), r"\s", r"\d"])
def test_every_character_is_in_the_classes_that_it_is_in_there(pattern: str) -> None:
    library()
    from tokenizers import Regex, pre_tokenizers

    theirs, ours = pre_tokenizers.Split(Regex(pattern), "removed", invert=True), Expression(pattern)
    everything = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    for start in range(0, len(everything), 0x8000):
        text = everything[start : start + 0x8000]
        assert list(ours.matches(text)) == [place for _, place in theirs.pre_tokenize_str(text)]


@pytest.mark.parametrize(
    "pattern",
    [
        r"\w+",
        "^a",
        r"(?i:ss)",
        r"\b",
        r"[[:alpha:]]",
        r"[^[:alpha:]]",
        r"[a&&b]",
        r"[a[^b]]",
        r"[a[b-]c]",
        r"[[a[b]]]",
        r"\1",
        "(a",
        "a{1}{2}",
        "a+?",
        "a**",
        r"[\s-a]",
        "[]a]",
        r"\p{Arabic}",
        r"\p{^L}",
        r"\p{InCB=Consonant}",
        "(?<=a)b",
        "(?#a)",
    ],
)
def test_what_might_mean_something_else_is_refused(pattern: str) -> None:
    with pytest.raises(StudioError):
        Expression(pattern)


def test_a_search_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(StudioError, match="takes too long"):
        list(Expression("(a|aa)+b").matches("a" * 60))


def test_code_points_that_are_newer_than_the_library_are_of_no_class() -> None:
    assert list(Expression(r"\p{L}+").matches("a\ua7ceb")) == [(0, 1), (2, 3)]
