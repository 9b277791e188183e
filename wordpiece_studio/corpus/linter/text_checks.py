"""What is wrong with a raw text before anything is made of it: read in a wrong encoding, or all in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.corpus.linter.damage import damaged_stretches, lost_places
from wordpiece_studio.corpus.linter.finding import Example, Finding, Fix, ReadingFix, TextFix, told

if TYPE_CHECKING:
    from wordpiece_studio.corpus.linter.damage import DamagedStretch
    from wordpiece_studio.corpus.linter.evidence import Evidence, TextPart

_LONG_LINE = 10_000
_MOST = 0.5
_CHARACTERS_A_FAULT = 100_000  # of which one is damaged: what is rarer is only a note


def mojibake(evidence: Evidence) -> Finding | None:
    """Return a finding if the text, or some of it, was read in a wrong encoding."""
    examples: dict[str, Example] = {}
    encodings: dict[str, dict[str, int]] = {}
    repairable = lost = 0
    for part in evidence.sample.parts:
        lost += lost_places(part.text)
        for stretch in damaged_stretches(part.text):
            repairable += 1
            of_source = encodings.setdefault(part.source, {})
            of_source[stretch.encoding] = of_source.get(stretch.encoding, 0) + 1
            if len(examples) < 3:
                example = _example(part, stretch)
                examples.setdefault(example.before, example)
    lost = max(lost, evidence.counts.statistics.replaced)
    if not repairable and not lost:
        return None
    if not examples:
        source, line = evidence.place_of("\ufffd")
        examples["\ufffd"] = Example("\ufffd", "", source, line)
    first = next(iter(examples.values()))
    fix = _fix(evidence, encodings) if repairable else None
    return Finding(
        "mojibake",
        "warning" if (repairable + lost) * _CHARACTERS_A_FAULT >= evidence.sample.characters else "note",
        "Wrong encoding: {before} → {after}" if repairable else "Characters are lost",
        (
            *told(repairable, "1 place was read in a wrong one.", "{places:,} places were read in a wrong one."),
            *told(lost, "1 character is lost (U+FFFD).", "{lost:,} characters are lost (U+FFFD)."),
            *_remark(evidence, fix, lost),
        ),
        {"places": repairable, "lost": lost, "before": first.before, "after": first.after},
        tuple(examples.values()),
        fix,
        "" if fix is None else "Repair" if isinstance(fix, TextFix) else "Read as UTF-8",
        is_sample=not evidence.sample.is_whole,
    )


def long_line(evidence: Evidence) -> Finding | None:
    """Return a finding if one line holds most of the text."""
    sample, statistics = evidence.sample, evidence.counts.statistics
    length, whole, size = sample.longest_line, sample.characters, "It has {length:,} characters."
    if not sample.is_editable and statistics.most_line_bytes:
        length, whole, size = statistics.most_line_bytes, statistics.bytes, "It has {length:,} bytes."
    if length < max(_LONG_LINE, _MOST * whole):
        return None
    fix = TextFix("wrap-lines") if sample.is_editable else None
    remark = () if fix else ("With a line for each sentence, messages could say where things are.",)
    return Finding(
        "long-line",
        "note",
        "One line holds {percent} % of the text",
        (size, *remark),
        {"length": length, "percent": 100 * length // max(1, whole)},
        fix=fix,
        fix_name="Wrap at sentence ends" if fix else "",
        is_sample=not (sample.is_whole or sample.is_editable or statistics.most_line_bytes),
    )


def _example(part: TextPart, stretch: DamagedStretch) -> Example:
    """Return the word round a stretch as it is and as it should be."""
    text = part.text
    start = max(text.rfind(blank, max(0, stretch.start - 20), stretch.start) + 1 for blank in " \n")
    start = start or max(0, stretch.start - 20)
    ends = [place for blank in " \n" if (place := text.find(blank, stretch.end, stretch.end + 20)) >= 0]
    end = min(ends, default=min(stretch.end + 20, len(text)))
    word = text[start:end]
    repaired = text[start : stretch.start] + stretch.repaired + text[stretch.end : end]
    line = None if part.first_line is None else part.first_line + text.count("\n", 0, stretch.start)
    return Example(word, repaired, part.source, line)


def _fix(evidence: Evidence, encodings: dict[str, dict[str, int]]) -> Fix | None:
    if evidence.sample.is_editable:
        return TextFix("decode-again")
    for file in evidence.sample.files:
        found = encodings.get(file.path, {})
        # Only a file that was read in that encoding can be read in another one; else its very bytes are damaged.
        if file.encoding is not None and found and _is_western(file.encoding):
            return ReadingFix(file.path, "utf-8")
    return None


def _is_western(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in {"cp1252", "windows-1252", "latin-1", "latin1", "iso-8859-1", "cp1251"}


def _remark(evidence: Evidence, fix: Fix | None, lost: int) -> tuple[str, ...]:
    if lost:
        return ("They cannot be brought back from here: open the file in its own encoding.",)
    if fix is None and not evidence.sample.is_editable:
        return ("The files themselves hold it: open them as text to repair them.",)
    return ()
