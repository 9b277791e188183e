"""Bytes to text, strictly and in pieces of bounded size that end at a line end; texts that a program has; encodings.

Nothing is guessed: bytes are UTF-8, unless a byte order mark or the caller says otherwise. Nothing is repaired
silently: undecodable bytes are an error that says where they are, or they are replaced or left out and counted.
Not here: where the bytes come from (`files`) and what happens to the text.

Texts in memory come in lists, tuples and iterators, as columns of Arrow and pandas, and in NumPy arrays; none of these
libraries is imported here. Encodings have names and byte order marks; UTF-8 and UTF-16 are determined strictly, others
by what they look like, and such a guess is never acted on unless the user asks for it.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch, CharsetMatches

    How = Literal["byte order mark", "valid", "guess", "mixed"]

ErrorHandling = Literal["strict", "replace", "skip-line"]

PIECE_BYTES = 1 << 20
LONGEST_STRETCH_BYTES = 256 << 20
AROUND_BYTES = 64 << 10  # how many bytes around a fault are examined to guess the encoding
_TELLING_WORDS = 3  # a guess is reported from this many on

# Constants, so that the command line can name its options instead.
UNDECODABLE_ADVICE = "Set the file's encoding, or have such bytes replaced or such lines skipped."
BINARY_ADVICE = "If it is text in UTF-16, set the encoding; or have such characters replaced or such lines skipped."


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the rows begin that a piece of text is made of: characters of the piece, lines and bytes of the file."""

    starts: Sequence[int]
    lines: Sequence[int]
    bytes: Sequence[int]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of a file's text, which begins in a line, from 1, and at a byte, from 0."""

    text: str
    source: str  # the file's name, as shown to the user
    line: int
    byte: int
    end_byte: int
    encoding: str  # of the file
    replaced: int = 0  # undecodable stretches
    skipped_lines: int = 0  # just before it
    raw: bytes = b""  # the text in UTF-8, if available
    rows: Rows | None = None  # if it is not simply a stretch of the file
    unrepaired: bytes = b""  # its bytes in the file, if something was replaced in UTF-8

    @property
    def characters(self) -> int:
        return len(self.text)

    @property
    def utf8(self) -> bytes:
        return self.raw or self.text.encode("utf-8", "surrogatepass")

    def locate(self, index: int) -> tuple[int, int]:
        """Return the line, from 1, and the byte offset in the file, from 0, of a character or of its row."""
        if self.rows is not None:
            row = bisect_right(self.rows.starts, index) - 1
            return self.rows.lines[row], self.rows.bytes[row]
        before = self.text[:index]
        if self.unrepaired:
            # What was replaced had other lengths, but blanks and line ends are the same in both.
            blanks = [match.end() for match in re.finditer(rb"[ \n]", self.unrepaired)]
            passed = before.count(" ") + before.count("\n")
            start = blanks[passed - 1] if passed else 0
            rest = before[max(before.rfind(" "), before.rfind("\n")) + 1 :]
            return self.line + before.count("\n"), self.byte + start + len(rest.encode("utf-8", "surrogatepass"))
        return self.line + before.count("\n"), self.byte + len(before.encode(self.encoding, "replace"))


def checked_error_handling(name: str) -> ErrorHandling:
    if name in get_args(ErrorHandling):
        return cast("ErrorHandling", name)
    raise StudioError('There is no error handling called "{name}"', "Choose strict, replace or skip-line.", name=name)


def decoded_pieces(
    read: Callable[[int], bytes],
    head: bytes,
    name: str,
    *,
    encoding: str | None = None,
    errors: ErrorHandling = "strict",
    splits_at_blanks: bool = False,
    piece_bytes: int = PIECE_BYTES,
    byte: int = 0,
    around: Callable[[int], bytes] | None = None,
) -> Iterator[TextPiece]:
    """Yield the text of a source of bytes in pieces, each ending at a line end, if allowed a blank, or with the source.

    `head` is read first: at least four bytes, or all up to the first LF, or all there are. Without an encoding it is
    UTF-8 or what a byte order mark says; with `DETECT`, what `head` looks like. Reading begins at a `byte` of the file,
    where lines are numbered from 1. `around` returns the bytes around a byte of the file: from these an encoding is
    guessed when something cannot be decoded, however the file is divided.
    """
    known, mark_length = _encoding_of(head, encoding, name)
    decoder = _Decoder(name, known, errors, around)
    # Only whole lines can be left out.
    splits_at_blanks = splits_at_blanks and errors != "skip-line"
    line, byte = 1, byte + mark_length
    for data in _blocks_of(read, head[mark_length:], known, splits_at_blanks, piece_bytes):
        if data is None:
            what = "{path}, line {line}, byte {byte}: {size} MB without a line break"
            advice = "Add line breaks; a corpus is read line by line."
            raise StudioError(what, advice, path=name, line=line, byte=byte, size=LONGEST_STRETCH_BYTES >> 20)
        yield from decoder.pieces(data, line, byte)
        line += decoder.count_line_ends(data)
        byte += len(data)


def _encoding_of(head: bytes, given: str | None, name: str) -> tuple[str, int]:
    marked = marked_encoding(head)
    if marked and given in (None, DETECT, marked[0], marked[0].removesuffix("-le").removesuffix("-be")):
        return marked
    if given in ("utf-16", "utf-32"):
        what = "{path} does not begin with a byte order mark"
        raise StudioError(what, "Use {name}-le or {name}-be as the encoding.", path=name, name=given)
    if given == DETECT:
        guess = guessed_encoding(head)
        return (guess.name if guess else "utf-8"), 0
    return given or "utf-8", 0


def _blocks_of(
    read: Callable[[int], bytes], head: bytes, encoding: str, splits_at_blanks: bool, piece_bytes: int
) -> Iterator[bytes | None]:
    """Yield blocks of bytes that end after a line end, or a blank if allowed; None if neither occurs for too long."""
    line_end, blank = "\n".encode(encoding), " ".encode(encoding)
    rest, data = b"", head or read(piece_bytes)
    while data:
        # The rest has already been searched, except for a separator that was cut in two.
        unsearched = max(0, len(rest) - len(line_end) + 1)
        rest += data
        end = end_of_last(rest, line_end, unsearched)
        if not end and splits_at_blanks:
            end = end_of_last(rest, blank, unsearched)
        if end:
            yield rest[:end]
            rest = rest[end:]
        if len(rest) > LONGEST_STRETCH_BYTES:
            yield None
        data = read(max(piece_bytes, len(rest)))
    if rest:
        yield rest


@dataclass
class _Decoder:
    """Decodes blocks of whole lines of one file; for `around`, see `decoded_pieces`."""

    name: str
    encoding: str
    errors: ErrorHandling
    around: Callable[[int], bytes] | None

    def count_line_ends(self, data: bytes) -> int:
        line_end = "\n".encode(self.encoding)
        if len(line_end) == 1:
            return data.count(line_end)
        return data.decode(self.encoding, "replace").count("\n")

    def pieces(self, data: bytes, line: int, byte: int) -> Iterator[TextPiece]:
        """Yield a block as text: in one piece if it is clean, else line by line."""
        try:
            text = data.decode(self.encoding)
        except UnicodeDecodeError as error:
            if self.errors == "strict":
                before = data[: error.start].decode(self.encoding, "ignore")
                if "\0" in before:  # the first fault is reported, however the text is divided into blocks
                    raise self._binary(before, data, line, byte) from None
                raise self._undecodable(error, data, line, byte) from None
        else:
            if "\0" not in text:
                raw = data if self.encoding == "utf-8" else b""
                yield TextPiece(text, self.name, line, byte, byte + len(data), self.encoding, raw=raw)
                return
            if self.errors == "strict":
                raise self._binary(text, data, line, byte)
        skipped = 0
        for raw in self._lines(data):
            piece = self._repaired(raw, line, byte, skipped)
            skipped = 0 if piece else skipped + 1
            line += 1
            byte += len(raw)
            if piece:
                yield piece
        if skipped:
            yield TextPiece("", self.name, line, byte, byte, self.encoding, skipped_lines=skipped)

    def _lines(self, data: bytes) -> Iterator[bytes]:
        line_end, start = "\n".encode(self.encoding), 0
        while start < len(data):
            end = end_of_first(data, line_end, start) or len(data)
            yield data[start:end]
            start = end

    def _repaired(self, raw: bytes, line: int, byte: int, skipped: int) -> TextPiece | None:
        text = raw.decode(self.encoding, "replace").replace("\0", "\ufffd")
        # The U+FFFD that "ignore" leaves were in the file.
        faults = text.count("\ufffd") - raw.decode(self.encoding, "ignore").count("\ufffd")
        if faults and self.errors == "skip-line":
            return None
        unrepaired = raw if faults and self.encoding == "utf-8" else b""
        end = byte + len(raw)
        return TextPiece(text, self.name, line, byte, end, self.encoding, faults, skipped, unrepaired=unrepaired)

    def _undecodable(self, error: UnicodeDecodeError, data: bytes, line: int, byte: int) -> StudioError:
        line += self.count_line_ends(data[: error.start])
        guess, is_mixed = self._guess(data, error.start, byte)
        what = "{path}, line {line}: the bytes {bytes} at byte {byte} are not {encoding}"
        if guess is not None:
            what += "; it may be {guess}"
        elif is_mixed:
            what += "; the text around them is, so encodings seem to be mixed"
        return StudioError(
            what,
            UNDECODABLE_ADVICE,
            path=self.name,
            line=line,
            bytes=data[error.start : max(error.end, error.start + 1)][:8].hex(" ").upper(),
            byte=byte + error.start,
            encoding=self.encoding.upper(),
            guess=guess,
        )

    def _guess(self, data: bytes, fault: int, byte: int) -> tuple[str | None, bool]:
        """Return the encoding that seems to be used instead of UTF-8 around a fault, and whether several seem to be."""
        if self.encoding != "utf-8":
            return None, False
        if self.around is not None:
            sample = self.around(byte + fault)
        else:
            start = max(0, fault - AROUND_BYTES // 2)
            start += min(-(byte + start) % 4, fault - start) if start else 0
            sample = data[start : start + AROUND_BYTES]
        guess = guessed_encoding(sample)
        if guess is not None and guess.how == "mixed":
            return None, True
        if guess is None or guess.name == "utf-8" or (guess.how == "guess" and guess.telling < _TELLING_WORDS):
            return None, False
        return guess.name.upper(), False

    def _binary(self, text: str, data: bytes, line: int, byte: int) -> StudioError:
        before = text[: text.index("\0")]
        start = len(before.encode(self.encoding))
        guess, _ = self._guess(data, start, byte)
        what = "{path}, line {line}: there is a NUL character at byte {byte}, as in a binary file"
        what += "; it may be {guess}" if guess else ""
        place = {"path": self.name, "line": line + before.count("\n"), "byte": byte + start}
        return StudioError(what, BINARY_ADVICE, **place, guess=guess)


def end_of_last(data: bytes, separator: bytes, start: int) -> int:
    """Return the position after the last `separator` at a multiple of its length; 0 if there is none."""
    width = len(separator)
    position = data.rfind(separator, start)
    while position >= 0 and position % width:
        position = data.rfind(separator, start, position + width - 1)
    return position + width if position >= 0 else 0


def end_of_first(data: bytes, separator: bytes, start: int) -> int:
    """Return the position after the first `separator` at a multiple of its length from `start`; 0 if there is none."""
    width = len(separator)
    position = data.find(separator, start)
    while position >= 0 and (position - start) % width:
        position = data.find(separator, position + 1)
    return position + width if position >= 0 else 0


_PIECE_CHARACTERS = 1 << 20
_ARROW_ROWS = 4096  # that become Python objects at once
_MISSING = {"None", "nan", "NaT", "<NA>"}  # also those of pandas, as text


def checked_texts(texts: Any) -> Iterator[str]:
    """Return an iterator over the texts of a list, an iterator, an Arrow or pandas column or a NumPy array.

    >>> list(checked_texts(["hug", "pug"]))
    ['hug', 'pug']
    >>> list(checked_texts(["hug", b"pug"]))
    Traceback (most recent call last):
    wordpiece_studio.errors.StudioError: Text 2 is not a string: b'pug'. Decode it first.
    """
    if isinstance(texts, str):
        raise StudioError("One text was given where several are expected", "Put it into a list.")
    if isinstance(texts, bytes | bytearray):
        raise StudioError("Bytes were given where texts are expected", "Decode them, and put the text into a list.")
    if isinstance(texts, Mapping):
        raise StudioError(
            "A mapping was given where texts are expected", "For words with counts, use WordCounts.from_pairs."
        )
    if hasattr(type(texts), "columns"):
        raise StudioError("A table was given where texts are expected", 'Pass one of its columns: table["text"].')
    if not isinstance(texts, Iterable) or getattr(texts, "ndim", 1) == 0:
        raise StudioError("Texts are expected, not {value}", "Pass a list of strings.", value=repr(texts)[:100])
    return _checked(texts)


def _checked(texts: Any) -> Iterator[str]:
    items = texts
    if hasattr(type(texts), "to_pylist"):  # what an Arrow array itself yields are not Python's own
        starts = range(0, len(texts), _ARROW_ROWS)
        items = (item for start in starts for item in texts.slice(start, _ARROW_ROWS).to_pylist())
    for number, text in enumerate(items, start=1):
        if not isinstance(text, str):
            raise _not_a_text(text, number)
        yield text if type(text) is str else str(text)  # NumPy has a type of its own


def _not_a_text(item: object, number: int) -> StudioError:
    if str(item) in _MISSING:
        advice = "Leave it out, or put an empty text in its place."
    elif isinstance(item, bytes | bytearray):
        advice = "Decode it first."
    elif isinstance(item, Iterable):
        advice = "Pass the texts themselves, one by one."
    else:
        advice = "Make it a text first."
    return StudioError("Text {number} is not a string: {item}", advice, number=number, item=repr(item)[:100])


def size_of_text(text: str, number: int) -> int:
    """Return the size of a text, the `number`-th of several, in UTF-8."""
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        what = "Text {number} contains an unpaired surrogate (U+{code:04X}) at position {position}"
        advice = "Read it again with the right encoding."
        raise StudioError(what, advice, number=number, code=ord(text[error.start]), position=error.start) from None


def text_pieces(text: str, source: str) -> Iterator[TextPiece]:
    start, line, byte = 0, 1, 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_CHARACTERS) + 1 or len(text)
        part = text[start:end]
        end_byte = byte + len(part.encode("utf-8"))
        yield TextPiece(part, source, line, byte, end_byte, "utf-8")
        start, line, byte = end, line + part.count("\n"), end_byte


DETECT = "detect"  # stands for whatever encoding the bytes look like

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
    """Return the encoding that a byte order mark indicates, and the length of the mark."""
    return next(((encoding, len(mark)) for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), None)


_SAMPLE_BYTES = 64 << 10  # how many bytes of non-ASCII words are examined

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
    """An encoding by Python's name, and how it was determined.

    ``"valid"``: everything examined is valid in it, as in hardly any other encoding; ``"guess"``: it looks like it;
    ``"mixed"``: in part, but some stretches are in another. `telling`: how many of the examined words are not plain
    ASCII; with a few of them a guess is worth something.
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
        text = codecs.getincrementaldecoder("utf-8")().decode(data[start:])  # its last character may be cut
    except UnicodeDecodeError:
        return False
    return bool(text) or start == len(data)


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
