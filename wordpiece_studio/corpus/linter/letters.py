"""What a pipeline takes from the letters of a language: accents, Hangul syllables, their neighbours."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import normalize

from wordpiece_studio.corpus.linter.evidence import Evidence, few
from wordpiece_studio.corpus.linter.finding import (
    Example,
    Finding,
    Severity,
    fix_to,
    keeping_marks,
    keeping_together,
    plural,
)
from wordpiece_studio.text.character_tables import bert_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.text.pipeline import Pipeline

_SYLLABLES = re.compile("[\uac00-\ud7a3]")
_SYLLABLES_ONLY = re.compile("[\uac00-\ud7a3]+")
_JAMO = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
_KANA_AND_HANGUL = "\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3"
_ACCENTS = re.compile("[\u0300-\u036f]")
_NOT_MARKS = re.compile("[\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # they are among the marks, but select a glyph

_TOO_FEW, _FEW = 0.001, 0.01  # shares of the words below which a finding is not reported, and is only a note
_ALONE = 0.95
_WORTH = 0.01


def lost_marks(evidence: Evidence) -> Finding | None:
    """Return a finding if accents, or the vowel signs of other scripts, are lost."""
    lost, kept, changes = _spoiled_stretches(evidence, _loses_marks)
    severity = _severity(changes, evidence)
    if kept is None or severity is None:
        return None
    collapsed = _collapsed(changes, _plain_words(evidence, lost))
    are_accents = _mostly_accents(lost)
    word, plain = max(changes, key=lambda change: (3 < len(change[0]) < 15, changes[change]))
    return Finding(
        "lost-marks",
        severity,
        "Accents are lost: {word} → {plain}" if are_accents else "Letters lose their signs: {word} → {plain}",
        (
            *plural(len(changes), "1 word changes, {occurrences:,}×.", "{distinct:,} words change, {occurrences:,}×."),
            *plural(
                len(collapsed),
                "Different words become one and the same in 1 case.",
                "Different words become one and the same in {collapsed:,} cases.",
            ),
        ),
        {
            "word": word,
            "plain": plain,
            "distinct": len(changes),
            "occurrences": sum(changes.values()),
            "collapsed": len(collapsed),
        },
        _examples_of_marks(collapsed, changes, evidence),
        fix_to(kept),
        "Keep accents" if are_accents else "Keep signs",
        is_sample=not evidence.sample.is_whole,
    )


def jamo(evidence: Evidence) -> Finding | None:
    """Return a finding if Hangul syllables are decomposed, or left decomposed, into their letters."""
    _, kept, changes = _spoiled_stretches(evidence, _falls_apart)
    whole = [change for change in changes if _SYLLABLES_ONLY.fullmatch(change[0])]
    severity = _severity(changes, evidence)
    if kept is None or severity is None or not whole:
        return None
    best = sorted(whole, key=lambda change: (not 3 <= len(change[0]) <= 6, -changes[change]))
    word, letters = best[0]
    return Finding(
        "jamo",
        severity,
        "Decomposed Hangul: {word} → {letters} letters",
        (
            "{word} has {syllables} syllables and becomes {letters} letters (jamo), each a symbol of its own.",
            *plural(len(changes), "1 word changes, {occurrences:,}×.", "{distinct:,} words change, {occurrences:,}×."),
        ),
        {
            "word": word,
            "syllables": len(word),
            "letters": len(letters),
            "distinct": len(changes),
            "occurrences": sum(changes.values()),
        },
        tuple(Example(before, " ".join(after), *evidence.place_of(before)) for before, after in best[:3]),
        fix_to(kept),
        "Keep syllables whole",
        is_sample=not evidence.sample.is_whole,
    )


def _spoiled_stretches(
    evidence: Evidence, spoils: Callable[[str, Pipeline], bool]
) -> tuple[Counter[str], Pipeline | None, Counter[tuple[str, str]]]:
    """Return the stretches that the pipeline spoils, the first one that does not, and the words it would change."""
    pipeline = evidence.pipeline
    spoiled = Counter({stretch: count for stretch, count in evidence.non_ascii_stretches if spoils(stretch, pipeline)})
    tried = few(list(spoiled))
    kept = evidence.first_that_fixes(
        keeping_marks(pipeline), lambda other: not any(spoils(stretch, other) for stretch in tried)
    )
    changes = Counter[tuple[str, str]]() if kept is None else _changes(spoiled, kept, pipeline)
    return spoiled, kept, changes


def characters_alone(evidence: Evidence) -> Finding | None:
    """Return a finding if each Chinese character, kana or syllable is a word, so that no token can be longer."""
    alone = next(filter(None, (_alone(evidence, characters) for characters in _alone_patterns())), None)
    if alone is None:
        return None
    run = re.compile(f"[{re.escape(''.join(alone))}]{{2,}}")
    runs = [stretch for stretch, _ in evidence.non_ascii_stretches if run.search(stretch)]
    tried = few(runs)
    kept = evidence.first_that_fixes(keeping_together(evidence.pipeline), lambda other: _holds_runs(tried, other, run))
    if kept is None:
        return None
    together: Counter[str] = Counter()
    for stretch in runs:
        together.update({word: evidence.stretches[stretch] for word in kept.words(stretch) if run.search(word)})
    chinese = bert_tables().chinese
    is_chinese = all(ord(character) in chinese for character in alone)
    return Finding(
        "characters-alone",
        "warning",
        "Every Chinese character is a word" if is_chinese else "Every East Asian character is a word",
        (
            "No token can have two of them, whatever the size of the vocabulary.",
            "{distinct:,} characters are separate words, {occurrences:,}×.",
            "Kept together they are split at punctuation only: sentences become words of up to {longest:,} characters.",
        ),
        {"distinct": len(alone), "occurrences": sum(alone.values()), "longest": max(map(len, together))},
        (_run_example(evidence, [word for word, _ in together.most_common()], runs, run),),
        fix_to(kept),
        "Keep Chinese together" if is_chinese else "Keep them together",
    )


def _loses_marks(stretch: str, pipeline: Pipeline) -> bool:
    marks = _marks_of(stretch)
    return marks > 0 and _marks_of(pipeline.normalizer.normalize(stretch)) < marks


def _marks_of(text: str) -> int:
    return len(_mark_pattern().findall(normalize("NFD", text)))


@cache
def _mark_pattern() -> re.Pattern[str]:
    return re.compile(f"(?!{_NOT_MARKS.pattern})[{bert_tables().marks.pattern()}]")


@cache
def _alone_patterns() -> tuple[re.Pattern[str], ...]:
    chinese = bert_tables().chinese.pattern()
    return re.compile(f"[{chinese}{_KANA_AND_HANGUL}]"), re.compile(f"[{chinese}]")


def _alone(evidence: Evidence, characters: re.Pattern[str]) -> dict[str, int] | None:
    """Return the characters that are words, with their counts, if hardly any of their kind is part of a longer word."""
    alone = {word: count for word, count in evidence.non_ascii_words if len(word) == 1 and characters.match(word)}
    occurrences = sum(alone.values())
    if occurrences < max(2, _WORTH * evidence.counts.total):
        return None
    in_words = sum(len(characters.findall(word)) * count for word, count in evidence.non_ascii_words if len(word) > 1)
    return alone if occurrences >= _ALONE * (occurrences + in_words) else None


def _falls_apart(stretch: str, pipeline: Pipeline) -> bool:
    if not _SYLLABLES.search(stretch) and not _JAMO.search(stretch):
        return False
    return bool(_JAMO.search(pipeline.normalizer.normalize(stretch)) and _SYLLABLES.search(normalize("NFC", stretch)))


def _changes(stretches: Counter[str], kept: Pipeline, present: Pipeline) -> Counter[tuple[str, str]]:
    """Return the words from `kept` with the corresponding words from `present`, where the two differ."""
    changes: Counter[tuple[str, str]] = Counter()
    for stretch, count in stretches.items():
        before, after = kept.words(stretch), present.words(stretch)
        if len(before) == len(after):
            for pair in zip(before, after, strict=True):
                if pair[0] != pair[1]:
                    changes[pair] += count
    return changes


def _plain_words(evidence: Evidence, lost: Counter[str]) -> frozenset[str]:
    """Return the words of the stretches that are not in `lost`."""
    separator = " " if evidence.pipeline.is_local else "\n"
    return frozenset(
        evidence.pipeline.words(separator.join(stretch for stretch in evidence.stretches if stretch not in lost))
    )


def _mostly_accents(lost: Counter[str]) -> bool:
    decomposed = normalize("NFD", "".join(lost))
    return 2 * len(_ACCENTS.findall(decomposed)) >= len(_mark_pattern().findall(decomposed))


def _collapsed(changes: Counter[tuple[str, str]], others: frozenset[str]) -> dict[str, list[str]]:
    """Return words that several words turn into, with these words; also with itself, if it occurs in the text."""
    origins: dict[str, list[str]] = {}
    for before, after in changes:
        origins.setdefault(after, []).append(before)
    for after in origins.keys() & others:
        origins[after].append(after)
    return {after: befores for after, befores in origins.items() if len(befores) > 1}


def _examples_of_marks(
    collapsed: dict[str, list[str]], changes: Counter[tuple[str, str]], evidence: Evidence
) -> tuple[Example, ...]:
    """Return the merged words whose confusion matters most, or else the most frequent changes."""

    def weight(after: str) -> tuple[bool, int]:
        # The second most frequent of them shows how much is lost.
        known = [
            changes[before, after] if before != after else evidence.stretches[after] for before in collapsed[after]
        ]
        return 1 < len(after) < 15, sorted(known)[-2]

    best = sorted(collapsed, key=weight, reverse=True)[:3]
    if best:
        return tuple(
            Example(" / ".join(collapsed[after][:4]), after, *evidence.place_of(collapsed[after][0])) for after in best
        )
    return tuple(Example(*change, *evidence.place_of(change[0])) for change, _ in changes.most_common(3))


def _severity(changes: Counter[tuple[str, str]], evidence: Evidence) -> Severity | None:
    """Return how much the changed words matter; None if there are hardly any."""
    occurrences = sum(changes.values())
    total = evidence.counts.total if evidence.sample.is_whole else sum(evidence.stretches.values())
    if occurrences < max(1, _TOO_FEW * total):
        return None
    return "warning" if occurrences >= _FEW * total else "note"


def _holds_runs(stretches: list[str], pipeline: Pipeline, run: re.Pattern[str]) -> bool:
    """Return whether the pipeline leaves words of several characters in most of the stretches."""
    held = sum(any(run.search(word) for word in pipeline.words(stretch)) for stretch in stretches)
    return 2 * held > len(stretches)


def _run_example(evidence: Evidence, together: list[str], tried: list[str], run: re.Pattern[str]) -> Example:
    usual = next((word for word in together if 4 <= len(word) <= 12 and run.fullmatch(word)), together[0])
    stretch = next((stretch for stretch in tried if usual in stretch), "")
    source, line = evidence.place_of(stretch) if stretch else ("", None)
    return Example(usual, " · ".join(evidence.pipeline.words(usual)), source, line)
