"""Problems in the words of a corpus, and what a pipeline takes from the letters of a language."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from unicodedata import is_normalized, normalize

import regex

from wordpiece_studio.corpus.linter.finding import (
    Evidence,
    Example,
    Finding,
    Fix,
    LengthFix,
    PipelineFix,
    Severity,
    TextFix,
    few,
    fix_to,
    plural,
)
from wordpiece_studio.text.character_tables import bert_tables
from wordpiece_studio.text.normalizers import BertNormalizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from wordpiece_studio.text.pipeline import Pipeline

LONG_WORD = 50  # characters; longer words are suspicious

_FEW = 0.001  # the share of the words below which a finding is a note
_MOST_TRIED = 3000


def twins(evidence: Evidence) -> Finding | None:
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
        _composed(evidence.pipeline.normalizer.name),
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
    places = (evidence.place_of(min(pairs[whole], key=counts.__getitem__)) for whole in best)
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
            Example(whole, _spellings(pairs[whole], counts), *place) for whole, place in zip(best, places, strict=True)
        ),
        fix_to(kept),
        "Unify them",
    )


def _spellings(both: list[str], counts: dict[str, int]) -> str:
    start = _in_common(both)
    end = _in_common([word[start:][::-1] for word in both])
    parts = [word[start : len(word) - end] for word in both]
    return " / ".join(
        f"{' '.join(f'U+{ord(character):04X}' for character in part)} ({counts[word]:,}×)"
        for word, part in zip(both, parts, strict=True)
    )


def _in_common(words: list[str]) -> int:
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
        {**_amount(bad), "doubled": doubled, "character": f"U+{ord(characters.most_common(1)[0][0]):04X}"},
        tuple(Example(word, without_stray_characters(word), *evidence.place_of(word)) for word in best),
        _fix_of_invisible(evidence, list(bad)[:_MOST_TRIED], "".join(sorted(characters)), needed),
        "Remove them",
    )


def stray_characters(text: str) -> list[str]:
    found: list[str] = _stray().findall(text)
    return found


def without_stray_characters(text: str) -> str:
    return _stray().sub("", text)


def _stray() -> regex.Pattern[str]:
    return regex.compile(f"(?!{_NEEDED})[{_INVISIBLE}]")  # cached by the module


def _fix_of_invisible(evidence: Evidence, words: list[str], characters: str, needed: bool) -> Fix | None:
    """Return what removes the characters; if some are needed elsewhere, the text itself is better repaired."""
    if needed and evidence.sample.is_editable:
        return TextFix("remove-invisible")
    kept = evidence.first_that_fixes(
        _cleaned(evidence.pipeline.normalizer.name, characters),
        lambda other: not any(stray_characters(part) for word in words for part in other.words(word)),
    )
    return None if kept is None else fix_to(kept)


# -- long words

LONG_RUN = regex.compile(rf"[\w\p{{M}}]{{{LONG_WORD + 1},}}")  # what no pre-tokenizer splits
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
    values = {**_amount(found), "limit": LONG_WORD, "left_out": left_out} | ({} if line is None else {"line": line})
    values["longest"] = max([*map(len, longest[:1]), *(word.length for word in counts.skipped)])
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
    present = [evidence.pipeline.normalizer.name]
    kept = evidence.first_that_fixes(present, lambda other: _most_are_cut(tried, other), "bert")
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


def _amount(found: Mapping[Any, int]) -> dict[str, int | str]:
    return {"distinct": len(found), "occurrences": sum(found.values())}


def _severity(occurrences: int, evidence: Evidence) -> Severity:
    return "warning" if occurrences >= _FEW * evidence.counts.total else "note"


# -- what a pipeline takes from letters

_SYLLABLES = re.compile("[\uac00-\ud7a3]")
_SYLLABLES_ONLY = re.compile("[\uac00-\ud7a3]+")
_JAMO = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
_KANA_AND_HANGUL = "\u3041-\u3096\u30a1-\u30fa\uac00-\ud7a3"
_ACCENTS = re.compile("[\u0300-\u036f]")
_NOT_MARKS = re.compile("[\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef]")  # they are among the marks, but select a glyph

_TOO_FEW, _FEW_CHANGES = 0.001, 0.01  # shares of the words below which a finding is not reported, and is only a note
_ALONE = 0.95
_WORTH = 0.01


def lost_marks(evidence: Evidence) -> Finding | None:
    lost, kept, changes = _spoiled_stretches(evidence, _loses_marks)
    severity = _severity_of_changes(changes, evidence)
    if kept is None or severity is None:
        return None
    collapsed = _collapsed(changes, _plain_words(evidence, lost))
    decomposed = normalize("NFD", "".join(lost))
    are_accents = 2 * len(_ACCENTS.findall(decomposed)) >= len(_mark_pattern().findall(decomposed))
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
        {"word": word, "plain": plain, **_amount(changes), "collapsed": len(collapsed)},
        _examples_of_marks(collapsed, changes, evidence),
        fix_to(kept),
        "Keep accents" if are_accents else "Keep signs",
        is_sample=not evidence.sample.is_whole,
    )


def jamo(evidence: Evidence) -> Finding | None:
    _, kept, changes = _spoiled_stretches(evidence, _falls_apart)
    whole = [change for change in changes if _SYLLABLES_ONLY.fullmatch(change[0])]
    severity = _severity_of_changes(changes, evidence)
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
        {"word": word, "syllables": len(word), "letters": len(letters), **_amount(changes)},
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
        _with_marks(pipeline.normalizer.name), lambda other: not any(spoils(stretch, other) for stretch in tried)
    )
    changes = Counter[tuple[str, str]]() if kept is None else _changes(spoiled, kept, pipeline)
    return spoiled, kept, changes


def characters_alone(evidence: Evidence) -> Finding | None:
    """Return a finding if each Chinese character, kana or syllable is a word, so that no token can be longer."""
    chinese = bert_tables().chinese
    kinds = re.compile(f"[{chinese.pattern()}{_KANA_AND_HANGUL}]"), re.compile(f"[{chinese.pattern()}]")
    alone = next(filter(None, (_alone(evidence, characters) for characters in kinds)), None)
    if alone is None:
        return None
    run = re.compile(f"[{re.escape(''.join(alone))}]{{2,}}")
    runs = [stretch for stretch, _ in evidence.non_ascii_stretches if run.search(stretch)]
    tried = few(runs)
    present = evidence.pipeline.normalizer.name
    together, is_fixed = _with_steps(present, _keeping_chinese), lambda other: _holds_runs(tried, other, run)
    kept = evidence.first_that_fixes([together], is_fixed)
    kept = kept or evidence.first_that_fixes([present, together], is_fixed, "bert")
    if kept is None:
        return None
    words: Counter[str] = Counter()
    for stretch in runs:
        words.update({word: evidence.stretches[stretch] for word in kept.words(stretch) if run.search(word)})
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
        {**_amount(alone), "longest": max(map(len, words))},
        (_run_example(evidence, [word for word, _ in words.most_common()], runs, run),),
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


def _alone(evidence: Evidence, characters: re.Pattern[str]) -> dict[str, int] | None:
    """Return the characters that are words, with their counts, if hardly any of their kind is in a longer word."""
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
    separator = " " if evidence.pipeline.is_local else "\n"
    return frozenset(
        evidence.pipeline.words(separator.join(stretch for stretch in evidence.stretches if stretch not in lost))
    )


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


def _severity_of_changes(changes: Counter[tuple[str, str]], evidence: Evidence) -> Severity | None:
    """Return how much the changed words matter; None if there are hardly any."""
    occurrences = sum(changes.values())
    total = evidence.counts.total if evidence.sample.is_whole else sum(evidence.stretches.values())
    if occurrences < max(1, _TOO_FEW * total):
        return None
    return "warning" if occurrences >= _FEW_CHANGES * total else "note"


def _holds_runs(stretches: list[str], pipeline: Pipeline, run: re.Pattern[str]) -> bool:
    held = sum(any(run.search(word) for word in pipeline.words(stretch)) for stretch in stretches)
    return 2 * held > len(stretches)


def _run_example(evidence: Evidence, together: list[str], tried: list[str], run: re.Pattern[str]) -> Example:
    usual = next((word for word in together if 4 <= len(word) <= 12 and run.fullmatch(word)), together[0])
    stretch = next((stretch for stretch in tried if usual in stretch), "")
    source, line = evidence.place_of(stretch) if stretch else ("", None)
    return Example(usual, " · ".join(evidence.pipeline.words(usual)), source, line)


# -- other pipelines to try as a fix, by name, those that change the present one least first

_FRIENDLY, _FRIENDLY_TOGETHER = "language-friendly", "language-friendly:keep-chinese"

_COMPOSED = {"nfd": "nfc", "nfkd": "nfkc"}


def _with_marks(present: str) -> tuple[str, ...]:
    kept = _with_steps(present, _keeping_marks)
    return kept, f"{kept}+nfc", _FRIENDLY_TOGETHER if _keeps_chinese(present) else _FRIENDLY


def _composed(present: str) -> tuple[str, ...]:
    steps = _with_steps(present, lambda step: _COMPOSED.get(step, step))
    return "nfc" if present == "none" else f"nfc+{present}", steps, f"{steps}+nfc"


def _cleaned(present: str, characters: str) -> tuple[str, ...]:
    removing = f"remove:{characters}"
    return _with_steps(present, _cleaning), removing if present == "none" else f"{removing}+{present}"


def _with_steps(name: str, change: Callable[[str], str]) -> str:
    """Return the name of a normalizer with each step changed; an empty one is left out."""
    steps = [change(step) for step in name.split("+")]
    return "+".join(step for step in steps if step) or "none"


def _keeping_marks(step: str) -> str:
    if step == "strip-accents":
        return ""
    bert = _bert(step)
    if bert is None:
        return _COMPOSED.get(step, step)
    strips = bert.lowercase if bert.strip_accents is None else bert.strip_accents
    return replace(bert, strip_accents=False).name if strips else step


def _keeping_chinese(step: str) -> str:
    if step == _FRIENDLY:
        return _FRIENDLY_TOGETHER
    bert = _bert(step)
    return step if bert is None else replace(bert, handle_chinese_chars=False).name


def _cleaning(step: str) -> str:
    bert = _bert(step)
    return step if bert is None else replace(bert, clean_text=True).name


def _keeps_chinese(name: str) -> bool:
    steps = name.split("+")
    return _FRIENDLY not in steps and all(bert is None or not bert.handle_chinese_chars for bert in map(_bert, steps))


def _bert(step: str) -> BertNormalizer | None:
    with suppress(ValueError):
        return BertNormalizer.from_name(step)
    return None
