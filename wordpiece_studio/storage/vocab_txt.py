"""``vocab.txt``: one token per line; the line number minus one is the id.

Reading and writing are strict: what cannot be read back exactly is not written, and what other programs would read
differently is not read.
"""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.small_files import small_file_bytes, utf8_text
from wordpiece_studio.system.atomic_write import atomic_write
from wordpiece_studio.system.printable import file_error
from wordpiece_studio.text.character_tables import bert_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

VOCABULARY_FILE = "vocab.txt"
LARGEST_FILE_BYTES = 256 << 20
MOST_TOKENS = 1 << 22  # TensorFlow's own limit, and a hundred times the size of any known vocabulary
LONGEST_TOKEN = 10_000
_FAULTY = {"\t": "a tab, as in a table", "\0": "a NUL character", "\n": "a line break", "\r": "a line break"}
_LONGEST_LINE = 4 * LONGEST_TOKEN + 2  # bytes, with the line end
# Advice for tokens that cannot be written on a line of their own.
JSON_ALONE_ADVICE = (
    "Save tokenizer.json without vocab.txt; or choose a normalizer that removes such characters from the corpus."
)


def read_vocabulary(path: str | os.PathLike[str]) -> list[str]:
    """Return the tokens of a ``vocab.txt`` in order of id.

    A byte order mark at the start and CRLF line ends throughout are understood.

    Raises
    ------
    StudioError
        If the file cannot be read, is not UTF-8, or contains an empty line, a token twice, or a token that ends in
        white space or contains a tab, a NUL character or a line break; the message names the line.
    """
    data = small_file_bytes(path, LARGEST_FILE_BYTES, "{path} is {n} MB, too large for a vocabulary")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise file_error(path, "{path} is in UTF-16", "Save it as UTF-8.")
    data = data.removeprefix(b"\xef\xbb\xbf")
    tokens = _lines(data, path)
    if not tokens:
        raise file_error(path, "{path} contains no tokens", "A vocabulary has one token per line.")
    first_line: dict[str, int] = {}
    for line, token in enumerate(tokens, start=1):
        fault = _fault(token)
        if fault:
            what = "{path}, line {line}: " + fault
            raise file_error(path, what, "A vocabulary has one token per line.", line=line, length=len(token))
        if token in first_line:
            what = "{path}: {token} appears on line {first} and again on line {line}"
            advice = "Every token may appear only once, since the line number is its ID."
            raise file_error(path, what, advice, token=repr(token), first=first_line[token], line=line)
        first_line[token] = line
    return tokens


def write_vocabulary(path: str | os.PathLike[str], tokens: Sequence[str]) -> None:
    """Write tokens as a ``vocab.txt``: UTF-8, LF after each.

    Raises
    ------
    StudioError
        If a token could not be read back exactly, there are no tokens, or the file cannot be written. Then nothing is
        written.
    """
    atomic_write(path, vocabulary_bytes(tokens))


def vocabulary_bytes(tokens: Sequence[str]) -> bytes:
    if not tokens:
        raise StudioError("There are no tokens to write", "A vocabulary has at least one.")
    faulty = [
        f"{token[:50]!r} ({fault.format(length=len(token))})"
        for token in tokens
        if (fault := _fault(token) or (len(token.splitlines()) > 1 and "a line break"))  # as other programs read it
    ]
    if faulty:
        what = "{n} of the tokens cannot appear in a vocab.txt: {list}"
        raise StudioError(
            what, JSON_ALONE_ADVICE, n=len(faulty), list=", ".join(faulty[:5]) + (", …" if len(faulty) > 5 else "")
        )
    if len(tokens) > MOST_TOKENS:
        what = "There are {n:,} tokens, too many for a vocab.txt"
        raise StudioError(what, "No program reads more than {most:,}.", n=len(tokens), most=MOST_TOKENS)
    if len(set(tokens)) != len(tokens):
        raise StudioError("A token appears twice in the vocabulary", "Every token may appear only once.")
    if tokens[0].startswith("\ufeff"):
        raise StudioError(
            "The first token, {token}, cannot be at the start of a vocab.txt: its U+FEFF would be taken for a byte "
            "order mark",
            JSON_ALONE_ADVICE,
            token=repr(tokens[0][:50]),
        )
    return "".join(f"{token}\n" for token in tokens).encode("utf-8")


def _lines(data: bytes, path: str | os.PathLike[str]) -> list[str]:
    """Return the lines; their number and their lengths are checked before they are decoded."""
    count = data.count(b"\n")
    if count > MOST_TOKENS:
        what = "{path} has {n:,} lines, too many for a vocabulary"
        advice = "Choose another file; at most {most:,} tokens are read."
        raise file_error(path, what, advice, n=count, most=MOST_TOKENS)
    parts = list(iter(partial(io.BytesIO(data).readline, _LONGEST_LINE + 1), b""))
    if long := next((number for number, part in enumerate(parts, start=1) if len(part) > _LONGEST_LINE), None):
        what = "{path}, line {line}: a token of more than {most:,} characters"
        raise file_error(path, what, "A vocabulary has one token per line.", line=long, most=LONGEST_TOKEN)
    try:
        lines = [part.decode("utf-8").removesuffix("\n") for part in parts]
    except UnicodeDecodeError:
        lines = [utf8_text(data, path)]  # raises an error that says where
    # The last line needs no line end, and so no CR.
    if lines and lines[0].endswith("\r") and all(line.endswith("\r") for line in lines[:-1]):
        lines = [line.removesuffix("\r") for line in lines]
    return lines


def _fault(token: str) -> str | None:
    """Return why a token cannot be on a line of its own, a template for its length, or None if it can."""
    if not token:
        return "an empty token"
    if ord(token[-1]) in bert_tables().whitespace:
        return "whitespace at the end of a token, which other programs remove"
    for character, what in _FAULTY.items():
        if character in token:
            return what
    if len(token) > LONGEST_TOKEN:
        return "a token of {length:,} characters"
    try:
        token.encode("utf-8")
    except UnicodeEncodeError:
        return "an unpaired surrogate"
    return None
