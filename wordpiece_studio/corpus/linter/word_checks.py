"""Problems in the words of a corpus: two forms of one word, invisible characters, things that are not words."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile
from typing import TYPE_CHECKING
from unicodedata import is_normalized, normalize

import regex

from wordpiece_studio.corpus.linter.finding import (
    Example,
    Finding,
    Fix,
    LengthFix,
    PipelineFix,
    Severity,
    TextFix,
    cleaned,
    composed,
    cut_shorter,
    fix_to,
    plural,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.corpus.linter.evidence import Evidence
    from wordpiece_studio.text.pipeline import Pipeline

LONG_WORD = 50
"""Characters; longer words are suspicious."""

_FEW = 0.001  # the share of the words below which a finding is a note
_MOST_TRIED = 3000


def twins(evidence: Evidence) -> Finding | None:
    """Return a finding if words that look the same are counted separately because their normal forms differ."""
    forms: dict[str, list[str]] = {}
    for word, _ in evidence.non_ascii_words:
        if not is_normalized("NFC", word):
            forms.setdefault(normalize("NFC", word), []).append(word)
    if not forms:
        return None
    counts = dict(evidence.non_ascii_words)
    pairs = {whole: [*([whole] if whole in counts else []), *others] for whole, others in forms.items()}
    pairs = {whole: both for whole, both in pairs.items() if len(both) > 1}
    if not pairs:
        return None
    tried = list(pairs.values())[:_MOST_TRIED]
    kept = evidence.first_that_fixes(
        composed(evidence.pipeline),
        lambda other: all(len({" ".join(other.words(word)) for word in both}) == 1 for both in tried),
    )
    if kept is None:
        return None
    # Occurrences of the rarer form, which the other form lacks.
    rare = {
        whole: sum(counts[word] for word in both) - max(counts[word] for word in both) for whole, both in pairs.items()
    }
    occurrences = sum(rare.values())
    best = sorted(pairs, key=rare.__getitem__, reverse=True)[:3]
    return Finding(
        "twins",
        _severity(occurrences, evidence),
        "One word, two spellings: {word}",
        (
            "They look the same and differ in their characters (Unicode normal forms).",
            *plural(
                len(pairs),
                "1 word is counted separately, in the rarer spelling {occurrences:,}×.",
                "{distinct:,} words are counted separately, in the rarer spelling {occurrences:,}×.",
            ),
        ),
        {"distinct": len(pairs), "occurrences": occurrences, "word": best[0]},
        tuple(
            Example(
                whole, _spellings(pairs[whole], counts), *evidence.place_of(min(pairs[whole], key=counts.__getitem__))
            )
            for whole in best
        ),
        fix_to(kept),
        "Unify them",
    )


def _spellings(both: list[str], counts: dict[str, int]) -> str:
    """Return the code points in which the forms of a word differ, with the count of each form."""
    start = _in_common(both)
    end = _in_common([word[start:][::-1] for word in both])
    parts = [word[start : len(word) - end] for word in both]
    return " / ".join(
        f"{' '.join(f'U+{ord(character):04X}' for character in part)} ({counts[word]:,}×)"
        for word, part in zip(both, parts, strict=True)
    )


def _in_common(words: list[str]) -> int:
    """Return the length of the common prefix of all words."""
    places = zip(*words, strict=False)
    return sum(1 for _ in takewhile(lambda characters: len(set(characters)) == 1, places))


# -- invisible characters

_INVISIBLE = (
    r"\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff"
)
_JOINED = r"\p{Arab}\p{Syrc}\p{Nkoo}\p{Mong}\p{Deva}\p{Beng}\p{Guru}\p{Gujr}\p{Orya}\p{Taml}\p{Telu}\p{Knda}\p{Mlym}" \
    r"\p{Sinh}\p{Mymr}\p{Khmr}\p{Tibt}"  # fmt: skip
# Joiners where scripts need them; joiners and variation selectors in emoji, symbols and Chinese; tags in flags.
_NEEDED = (
    rf"(?<=[{_JOINED}])[\u200c\u200d]|(?<=[\p{{So}}\p{{Sk}}\ufe0f])\u200d(?=[\p{{So}}\u2640\u2642])"
    r"|(?<=[\p{So}\p{Sm}\p{Po}\p{Pd}\p{Sc}\p{Han}\u00a9\u00ae\u2122\u2139\u24c2\u3030\u303d])[\ufe00-\ufe0f]"
    r"|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=\p{Han})[\U000e0100-\U000e01ef]|(?<=[\p{Mong}\p{Phag}])[\u180b-\u180f\ufe00]"
    r"|(?<=[\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007f]"
)
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")


def invisible(evidence: Evidence) -> Finding | None:
    """Return a finding if words contain invisible characters that no script needs there."""
    bad: dict[str, int] = {}
    characters: Counter[str] = Counter()
    needed = False
    for word, count in evidence.non_ascii_words:
        if _ANY_INVISIBLE.search(word):
            found = stray_characters(word)
            needed = needed or len(found) < len(_ANY_INVISIBLE.findall(word))
            if found:
                bad[word] = count
                characters.update(dict.fromkeys(found, count))
    if not bad:
        return None
    seen = dict(evidence.counts.items())
    doubled = sum(without_stray_characters(word) in seen for word in bad)
    occurrences = sum(bad.values())
    best = sorted(bad, key=lambda word: (without_stray_characters(word) in seen, bad[word]), reverse=True)[:3]
    return Finding(
        "invisible",
        _severity(occurrences, evidence),
        "Invisible characters in words: {character}",
        (
            *plural(len(bad), "1 word has them, {occurrences:,}×.", "{distinct:,} words have them, {occurrences:,}×."),
            *plural(doubled, "1 also occurs without them.", "{doubled:,} also occur without them."),
        ),
        {
            "distinct": len(bad),
            "occurrences": occurrences,
            "doubled": doubled,
            "character": f"U+{ord(characters.most_common(1)[0][0]):04X}",
        },
        tuple(Example(word, without_stray_characters(word), *evidence.place_of(word)) for word in best),
        _fix_of_invisible(evidence, list(bad)[:_MOST_TRIED], "".join(sorted(characters)), needed),
        "Remove them",
    )


def stray_characters(text: str) -> list[str]:
    """Return the invisible characters of `text` that no script needs where they are."""
    return [match[0] for match in _stray().finditer(text)]


def without_stray_characters(text: str) -> str:
    """Return `text` without its stray characters."""
    return _stray().sub("", text)


def _stray() -> regex.Pattern[str]:
    return regex.compile(f"(?!{_NEEDED})[{_INVISIBLE}]")  # cached by the module


def _fix_of_invisible(evidence: Evidence, words: list[str], characters: str, needed: bool) -> Fix | None:
    """Return what removes the characters; if some are needed elsewhere, the text itself is better repaired."""
    if needed and evidence.sample.is_editable:
        return TextFix("remove-invisible")
    kept = evidence.first_that_fixes(
        cleaned(evidence.pipeline, characters),
        lambda other: not any(stray_characters(part) for word in words for part in other.words(word)),
    )
    return None if kept is None else fix_to(kept)


# -- long words

LONG_RUN = regex.compile(rf"[\w\p{{M}}]{{{LONG_WORD + 1},}}")
"""What no pre-tokenizer splits."""
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmr}\p{Mymr}]")


def long_words(evidence: Evidence) -> Finding | None:
    counts = evidence.counts
    found = {word: count for word, count in evidence.words() if len(word) > LONG_WORD}
    left_out = counts.statistics.skipped_words
    if not found and not left_out:
        return None
    longest = sorted(found, key=len, reverse=True)
    looked_at = longest[:_MOST_TRIED]
    is_unspaced = 2 * sum(2 * len(_UNSPACED.findall(word)) > len(word) for word in looked_at) > len(looked_at)
    fix, name = _fix_of_long_words(evidence, found, is_unspaced)
    examples, line = _long_examples(evidence, longest)
    values: dict[str, int | str] = {
        "distinct": len(found),
        "occurrences": sum(found.values()),
        "limit": LONG_WORD,
        "left_out": left_out,
        "longest": max([*map(len, longest[:1]), *(word.length for word in counts.skipped)]),
    }
    if line is not None:
        values["line"] = line
    return Finding(
        "long-words",
        _severity(sum(found.values()) + left_out, evidence),
        "Very long words: up to {longest:,} characters",
        (
            *plural(
                len(found),
                "1 word has more than {limit} characters, {occurrences:,}×.",
                "{distinct:,} words have more than {limit} characters, {occurrences:,}×.",
            ),
            *plural(
                left_out,
                "1 is far too long to be a word and was left out.",
                "{left_out:,} are far too long to be words and were left out.",
            ),
            *(("The longest is in line {line:,}.",) if line is not None else ()),
            *_remark(fix, is_unspaced),
        ),
        values,
        examples,
        fix,
        name,
    )


def _fix_of_long_words(evidence: Evidence, found: dict[str, int], is_unspaced: bool) -> tuple[Fix | None, str]:
    tried = list(found)[:_MOST_TRIED]
    kept = evidence.first_that_fixes(cut_shorter(evidence.pipeline), lambda other: _most_are_cut(tried, other))
    if kept is not None and tried:
        return fix_to(kept), "Split at punctuation too"
    if is_unspaced or not tried:
        return None, ""
    if evidence.sample.is_editable and any(LONG_RUN.search(stretch) for stretch in evidence.stretches):
        return TextFix("remove-long-words"), "Remove them"
    return LengthFix(LONG_WORD), "Leave them out"


def _most_are_cut(words: list[str], pipeline: Pipeline) -> bool:
    return 10 * sum(max(map(len, pipeline.words(word)), default=0) <= LONG_WORD for word in words) >= 9 * len(words)


def _long_examples(evidence: Evidence, longest: list[str]) -> tuple[tuple[Example, ...], int | None]:
    examples = []
    for word in longest[:3]:
        source, line = evidence.place_of(_raw_stretch(evidence, word))
        examples.append(Example(word, str(len(word)), source, line))
    skipped = evidence.counts.skipped
    if skipped and (not examples or skipped[0].length > len(longest[0])):
        return tuple(examples), skipped[0].line
    return tuple(examples), examples[0].line if examples else None


def _raw_stretch(evidence: Evidence, word: str) -> str:
    if word in evidence.stretches:
        return word
    long_ones: Iterable[str] = (stretch for stretch in evidence.stretches if len(stretch) >= LONG_WORD)
    return next((stretch for stretch in long_ones if word in evidence.pipeline.words(stretch)), word)


def _remark(fix: Fix | None, is_unspaced: bool) -> tuple[str, ...]:
    if is_unspaced and not isinstance(fix, PipelineFix):
        return ("Their script is written without spaces: split the text into words with a segmenter beforehand.",)
    return () if fix is not None else ("The longer the longest word, the slower the training.",)


def _severity(occurrences: int, evidence: Evidence) -> Severity:
    return "warning" if occurrences >= _FEW * evidence.counts.total else "note"
