"""Problems in a raw text before anything is done with it: read in a wrong encoding, or all in one line.

Only stretches that convert back to bytes and forward to text without a remainder are reported, and only those that no
one writes on purpose: ``É»`` ends a French quotation in capitals, although its bytes are UTF-8.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.linter.finding import Example, Finding, Fix, ReadingFix, TextFix, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.corpus.linter.finding import Evidence, TextPart


@dataclass(frozen=True, slots=True)
class DamagedStretch:
    """A stretch from `start` to `end` (code points), and the correct text."""

    start: int
    end: int
    repaired: str


def damaged_stretches(text: str) -> list[DamagedStretch]:
    """Return the stretches of `text` that can be repaired, from left to right; they do not overlap.

    >>> [(stretch.start, stretch.repaired) for stretch in damaged_stretches("El niÃ±o")]
    [(5, 'ñ')]
    """
    if text.isascii():
        return []
    found = [*_western(text), *_cyrillic(text), *_controls(text), *_korean(text), *_russian(text)]
    found.sort(key=lambda stretch: (stretch.start, -stretch.end))
    result: list[DamagedStretch] = []
    for stretch in found:
        if not result or stretch.start >= result[-1].end:
            result.append(stretch)
    return result


def decoded_again(text: str) -> str:
    """Return the text with every damaged stretch repaired, repeatedly until none is left.

    >>> decoded_again("donâ€™t")
    'don’t'
    """
    for _ in range(3):  # text may be damaged more than once
        stretches = damaged_stretches(text)
        if not stretches:
            break
        pieces = []
        end = 0
        for stretch in stretches:
            pieces += [text[end : stretch.start], stretch.repaired]
            end = stretch.end
        text = "".join([*pieces, text[end:]])
    return text


_LOST = re.compile("\ufffd|ï¿½|(?:锟斤拷)+|锟斤")  # beyond repair: the replacement character, in whatever form


def _characters_of(codec: str) -> dict[str, int]:
    """Return each character that a byte from 0x80 on can decode to, and the byte."""
    high = range(0x80, 0x100)
    found = {chr(byte): byte for byte in high} if codec == "cp1252" else {}
    return found | {text: byte for byte in high if (text := bytes([byte]).decode(codec, "ignore"))}


# -- UTF-8 read as Windows-1252 or Latin-1: Ã±, â€™, Ð°Ñ…, ä½ å¥½

_QUOTES = frozenset("“”‘’«»…–—\xa0·")
_GLYPHS_OF_E2 = frozenset("€‚„†ˆ‰œ\x80\x82\x84\x86\x88\x89\x9c")


@cache
def _pattern_of(encoding: str, template: str) -> tuple[dict[str, int], re.Pattern[str], re.Pattern[str]]:
    """Return the bytes of characters, and patterns of a run of such sequences, and of one.

    The template is that of one as it is read in an encoding; > in it is any byte after the first.
    """
    bytes_of = _characters_of(encoding)
    rest = f"[{re.escape(''.join(character for character, byte in bytes_of.items() if byte < 0xC0))}]"
    one = template.replace(">", rest)
    return bytes_of, re.compile(f"(?:{one})+"), re.compile(one)


def _misread(text: str, encoding: str, template: str) -> Iterator[tuple[DamagedStretch, re.Match[str], list[str]]]:
    """Yield UTF-8 that was read in an encoding, with its match and sequences; see `_pattern_of`."""
    bytes_of, run, one = _pattern_of(encoding, template)
    for match in run.finditer(text):
        if (repaired := _as_utf8(match[0], bytes_of)) is not None:
            yield DamagedStretch(match.start(), match.end(), repaired), match, one.findall(match[0])


def _western(text: str) -> list[DamagedStretch]:
    found: dict[DamagedStretch, bool] = {}
    for stretch, match, sequences in _misread(text, "cp1252", "[\xc2-\xdf]>|[\xe0-\xef]>>|[\xf0-\xf4]>>>"):
        if _LOST.fullmatch(stretch.repaired):
            continue
        is_sure = _is_sure(text, match, sequences)
        ends_quotation = not (_QUOTES.isdisjoint(match[0]) or text[match.end() : match.end() + 1].isalpha())
        if is_sure or len(sequences[0]) > 2 or sequences[0][0] > "Å" or not ends_quotation:
            found[stretch] = is_sure
    return _with_neighbours(text, found)


def _with_neighbours(text: str, found: dict[DamagedStretch, bool]) -> list[DamagedStretch]:
    """Return the stretches that are sure to be damaged, and the others in their lines."""
    if not any(found.values()):
        return []
    lines = [text.rfind("\n", 0, stretch.start) for stretch in found]
    damaged = {line for line, is_sure in zip(lines, found.values(), strict=True) if is_sure}
    return [stretch for stretch, line in zip(found, lines, strict=True) if line in damaged]


def _as_utf8(text: str, bytes_of: dict[str, int]) -> str | None:
    try:
        decoded = bytes(map(bytes_of.__getitem__, text)).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if any(unicodedata.category(character) in ("Cn", "Co") for character in decoded) else decoded


def _is_sure(text: str, match: re.Match[str], sequences: list[str]) -> bool:
    if len(sequences) >= 3 or (len(sequences) == 2 and max(map(len, sequences)) > 2):
        return True
    before, after = text[max(match.start() - 1, 0) : match.start()], text[match.end() : match.end() + 1]
    return all(_is_sure_sequence(sequence, before, after) for sequence in sequences)


def _is_sure_sequence(sequence: str, before: str, after: str) -> bool:
    lead, second = sequence[0], sequence[1]
    is_inside = before.islower() or after.islower()
    if len(sequence) == 4:
        return True
    if len(sequence) == 3:
        if lead == "á":  # Vietnamese; or a closing quotation mark after a Spanish word
            return second in "º»" and (after.isalpha() or (before.isalpha() and sequence[2] not in _QUOTES))
        return (lead == "â" and second in _GLYPHS_OF_E2) or (lead == "ï" and second in "¼½»")
    if lead in "ÂÃ":
        # A capital at the end of a word in capitals, or quoted alone, may be followed by a closing quotation mark.
        stands_apart = second in _QUOTES and second != "\xa0" and not is_inside
        if lead == "Â" and second in "«»" and not before.isalpha() and before not in _QUOTES:
            return True
        return not stands_apart and (not before.isupper() or after.islower())
    return lead in "ÄÅ" and is_inside and second not in _QUOTES and not before.isupper()


# -- UTF-8 read as Windows-1251: РїСЂРёРІРµС‚


def _cyrillic(text: str) -> list[DamagedStretch]:
    found = [stretch for stretch, *_ in _misread(text, "cp1251", "[РС]>") if stretch.repaired.isalpha()]
    # Two letters, such as a Ukrainian Сі, may be intended.
    return _with_neighbours(text, {each: len(each.repaired) >= 3 for each in found})


# -- Windows-1252 read as Latin-1: the controls that stand for quotation marks

_CONTROL = re.compile("[\x80\x82-\x8c\x8e\x91-\x9c\x9e\x9f]")  # those that Windows-1252 defines


def _controls(text: str) -> list[DamagedStretch]:
    found = _decoded(text, _CONTROL, "cp1252")
    # U+0085 is also a line end.
    return _with_neighbours(text, {each: each.repaired != "…" for each in found})


# -- Pre-Unicode Korean and Russian read as Latin-1: ¾È³çÇÏ¼¼¿ä, Ïðèâåò

_KOREAN = re.compile("(?:[\xb0-\xc8][\xa1-\xfe]){2,}")
_RUSSIAN = re.compile("(?<![^\\W\xc0-\xff])[\xc0-\xff]+(?![^\\W\xc0-\xff])")
_FEWEST_WORDS = 3  # a single word may be a list of letters


def _korean(text: str) -> Iterator[DamagedStretch]:
    found = list(_decoded(text, _KOREAN, "cp949"))
    if len(found) >= _FEWEST_WORDS and any(not text[each.start : each.end].isalpha() for each in found):
        yield from found


def _russian(text: str) -> list[DamagedStretch]:
    found = {
        each: len(each.repaired) > 3
        for each in _decoded(text, _RUSSIAN, "cp1251")
        if len(each.repaired) == 1 or each.repaired[1:].islower()
    }
    words = {each.repaired for each, is_sure in found.items() if is_sure}
    return _with_neighbours(text, found) if len(words) >= _FEWEST_WORDS else []


def _decoded(text: str, pattern: re.Pattern[str], codec: str) -> Iterator[DamagedStretch]:
    for match in pattern.finditer(text):
        try:
            repaired = match[0].encode("latin-1").decode(codec)
        except UnicodeDecodeError:
            continue
        yield DamagedStretch(match.start(), match.end(), repaired)


_LONG_LINE = 10_000
_MOST = 0.5
_CHARACTERS_A_FAULT = 100_000  # with one fault; rarer faults are only a note
_READ_AS = ("cp1252", "windows-1252", "latin-1", "latin1", "iso-8859-1", "cp1251")


def mojibake(evidence: Evidence) -> Finding | None:
    examples: dict[str, Example] = {}
    damaged_sources: set[str] = set()
    repairable = lost = 0
    for part in evidence.sample.parts:
        lost += len(_LOST.findall(part.text))
        for stretch in damaged_stretches(part.text):
            repairable += 1
            damaged_sources.add(part.source)
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
    remark: tuple[str, ...] = ()
    fix = _fix(evidence, damaged_sources) if repairable else None
    if lost:
        remark = ("What is lost cannot be restored here: open the file in its own encoding.",)
    elif fix is None and not evidence.sample.is_editable:
        remark = ("The files themselves are damaged: open them as text to repair them.",)
    return Finding(
        "mojibake",
        "warning" if (repairable + lost) * _CHARACTERS_A_FAULT >= evidence.sample.characters else "note",
        "Wrong encoding: {before} → {after}" if repairable else "Characters are lost",
        (
            *plural(repairable, "1 place is affected.", "{places:,} places are affected."),
            *plural(lost, "1 character is lost (U+FFFD).", "{lost:,} characters are lost (U+FFFD)."),
            *remark,
        ),
        {"places": repairable, "lost": lost, "before": first.before, "after": first.after},
        tuple(examples.values()),
        fix,
        "" if fix is None else "Repair" if isinstance(fix, TextFix) else "Read as UTF-8",
        is_sample=not evidence.sample.is_whole,
    )


def long_line(evidence: Evidence) -> Finding | None:
    sample, statistics = evidence.sample, evidence.counts.statistics
    length, whole, size = sample.longest_line, sample.characters, "It has {length:,} characters."
    if not sample.is_editable and statistics.most_line_bytes:
        length, whole, size = statistics.most_line_bytes, statistics.bytes, "It has {length:,} bytes."
    if length < max(_LONG_LINE, _MOST * whole):
        return None
    fix = TextFix("wrap-lines") if sample.is_editable else None
    remark = () if fix else ("With one line per sentence, messages can say in which line something is.",)
    return Finding(
        "long-line",
        "note",
        "One line has {percent}% of the text",
        (size, *remark),
        {"length": length, "percent": 100 * length // max(1, whole)},
        fix=fix,
        fix_name="Wrap at sentence ends" if fix else "",
        is_sample=not (sample.is_whole or sample.is_editable or statistics.most_line_bytes),
    )


def _example(part: TextPart, stretch: DamagedStretch) -> Example:
    text = part.text
    start = max(text.rfind(blank, max(0, stretch.start - 20), stretch.start) + 1 for blank in " \n")
    start = start or max(0, stretch.start - 20)
    ends = [place for blank in " \n" if (place := text.find(blank, stretch.end, stretch.end + 20)) >= 0]
    end = min(ends, default=min(stretch.end + 20, len(text)))
    word = text[start:end]
    repaired = text[start : stretch.start] + stretch.repaired + text[stretch.end : end]
    line = None if part.first_line is None else part.first_line + text.count("\n", 0, stretch.start)
    return Example(word, repaired, part.source, line)


def _fix(evidence: Evidence, damaged_sources: set[str]) -> Fix | None:
    if evidence.sample.is_editable:
        return TextFix("decode-again")
    for file in evidence.sample.files:
        # Only a file that was read in that encoding can be read in another; otherwise its bytes themselves are damaged.
        if file.path in damaged_sources and (file.encoding or "").lower().replace("_", "-") in _READ_AS:
            return ReadingFix(file.path, "utf-8")
    return None
