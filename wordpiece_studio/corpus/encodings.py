"""Text encodings: their names, byte order marks, and recognizing the encoding of bytes without a mark.

UTF-8 and UTF-16 are determined strictly, others by what they look like; a guess is never acted on unless the user asks
for it. Not here: decoding (`decoding`), and which bytes of a file are examined (`files`).
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.errors import StudioError

DETECT = "detect"
"""Stands for whatever encoding the bytes look like."""

# The longer marks first: UTF-32's begins with UTF-16's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Python's codecs for things other than text files, and one that cannot be cut at line ends.
_NO_TEXT_FILE_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7")


def known_encoding(name: str) -> str:
    """Return Python's name of a text encoding; `DETECT` stays as it is."""
    if name == DETECT:
        return name
    try:
        known = codecs.lookup(name).name
        line_end = "\n".encode(known)  # which a bytes-to-bytes codec refuses
        if line_end.endswith((b"\n", b"\n\0", b"\n\0\0\0")) and known not in _NO_TEXT_FILE_ENCODINGS:
            return "utf-8" if known == "utf-8-sig" else known
    except (LookupError, ValueError):
        pass
    raise StudioError(
        'There is no text encoding called "{name}"', "Common ones are utf-8, utf-16, cp1252 and gb18030.", name=name
    )


def marked_encoding(head: bytes) -> tuple[str, int] | None:
    """Return the encoding that a byte order mark indicates, and the length of the mark; None if there is none."""
    return next(((encoding, len(mark)) for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), None)


if TYPE_CHECKING:
    from collections.abc import Sequence

    from charset_normalizer import CharsetMatch, CharsetMatches

    How = Literal["byte order mark", "valid", "guess", "mixed"]

_SAMPLE_BYTES = 64 << 10
"""How many bytes of non-ASCII words are examined."""

# Encodings of text files outside Unicode; charset_normalizer knows many more, and would confuse them.
_CANDIDATES = (
    "cp1252", "cp1251", "koi8_r", "cp932", "euc_jp", "cp949", "gb18030", "cp950", "big5hkscs", "cp1250", "cp1253",
    "cp1254", "cp1255", "cp1256", "cp1258", "cp874", "iso8859_2",
)  # fmt: skip
# They share most letters: cp1252, by far the most frequent, is chosen unless another fits clearly better.
_LIKE_CP1252 = {"cp1250", "cp1254", "cp1258", "iso8859_2"}
# In no candidate is a second or later byte of a character this low, so words can be split here.
_BETWEEN_WORDS = re.compile(rb"[\x00-\x2f]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")  # in no text
_MOST_NOISE = 0.9
_MIXED_SHARE = 0.2
_LONGEST_CUT_CHARACTER = 3


@dataclass(frozen=True, slots=True)
class EncodingGuess:
    """An encoding, and how it was determined.

    Attributes
    ----------
    name
        Python's name for it.
    how
        ``"byte order mark"``; ``"valid"``: everything examined is valid in it, as in hardly any other encoding;
        ``"guess"``: it looks like it; ``"mixed"``: in part, but some stretches are in another.
    telling
        How many of the examined words are not plain ASCII; with a few of them a guess is worth something.
    """

    name: str
    how: How
    telling: int = 0


def guessed_encoding(*samples: bytes) -> EncodingGuess | None:
    """Return the encoding of stretches of a file, or None if none fits.

    Each may begin and end in the middle of a character, at a multiple of four bytes from the file's beginning.
    """
    if all(map(_is_valid_utf_8, samples)):
        return EncodingGuess("utf-8", "valid")
    wide = {_utf_16(sample) for sample in samples}
    if len(wide) == 1 and (encoding := wide.pop()):
        return EncodingGuess(encoding, "valid")
    if any(map(_CONTROLS.search, samples)):
        return None
    words = [word for sample in samples for word in _BETWEEN_WORDS.split(sample)[1:-1] if not word.isascii()]
    words = words or list(samples)
    if sum(_is_in("utf-8", word) for word in words) > _MIXED_SHARE * len(words):
        return EncodingGuess("utf-8", "mixed", len(words))
    guess = _best_match(words)
    return EncodingGuess(guess, "guess", len(words)) if guess else None


def _is_valid_utf_8(data: bytes) -> bool:
    """Return whether `data` is UTF-8 without NUL, apart from a character cut at its beginning or end."""
    if b"\0" in data:
        return False
    start = 0
    while start < min(_LONGEST_CUT_CHARACTER, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    try:
        data[start:].decode()
    except UnicodeDecodeError as error:
        is_cut = "end of data" in error.reason and error.start > 0
        return is_cut and len(data) - start - error.start <= _LONGEST_CUT_CHARACTER
    return True


def _utf_16(sample: bytes) -> str | None:
    """Return which byte order of UTF-16 a sample without a mark is in; None if it is in neither."""
    if b"\0" not in sample:
        return None
    sample = sample[: len(sample) & ~1]
    # In the wrong byte order, line ends and blanks are characters that hardly any text contains.
    blanks = {"utf-16-le": 0, "utf-16-be": 0}
    for blank in "\n ":
        for encoding in blanks:
            places = re.finditer(re.escape(blank.encode(encoding)), sample)
            blanks[encoding] += sum(place.start() % 2 == 0 for place in places)
    encoding = max(blanks, key=blanks.__getitem__)
    if blanks[encoding] <= 4 * min(blanks.values()):
        return None
    for start, end in ((0, 0), (2, 0), (0, 2), (2, 2)):  # a pair of surrogates may be cut
        try:
            text = sample[start : len(sample) - end].decode(encoding)
        except UnicodeDecodeError:
            continue
        strange = sum(unicodedata.category(character) in ("Cc", "Cn", "Co") for character in text)
        strange -= sum(map(text.count, "\t\n\r"))
        return encoding if strange * 100 <= len(text) else None
    return None


def _best_match(words: Sequence[bytes]) -> str | None:
    """Return the candidate that the words look most like."""
    from charset_normalizer import from_bytes

    sizes = accumulate(map(len, words))
    data = b" ".join(
        word for word, size in zip(words, sizes, strict=True) if size <= _SAMPLE_BYTES or size == len(word)
    )
    best = _preferred(from_bytes(data, steps=32, chunk_size=512, threshold=_MOST_NOISE, cp_isolation=list(_CANDIDATES)))
    if best is not None:
        # Both contain more than big5 does; most texts are in the first.
        return "cp950" if best.encoding == "big5hkscs" and _is_in("cp950", data) else best.encoding
    # Too few words to tell by: a curly quote or an accent here and there.
    return "cp1252" if _is_in("cp1252", data) else None


def _is_in(encoding: str, data: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        data.decode(encoding)
        return True
    return False


def _preferred(matches: CharsetMatches) -> CharsetMatch | None:
    best = matches.best()
    if best is None or best.encoding not in _LIKE_CP1252:
        return best
    wanted = "cp1258" if best.language == "Vietnamese" else "cp1252"
    for match in matches:
        if match.encoding == wanted and match.coherence > best.coherence - 0.05 and match.chaos < best.chaos + 0.01:
            return match
    return best
