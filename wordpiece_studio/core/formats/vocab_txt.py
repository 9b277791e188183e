"""``vocab.txt``: one token a line, the line's number less one is the id.

Both ways are strict: what cannot be read back as it was is not written, and what other programs would read in
another way is not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.files import display_name, regular_file_status, unreadable
from wordpiece_studio.core.formats.atomic_write import atomic_write
from wordpiece_studio.core.text.character_tables import bert_tables
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

LARGEST_FILE_BYTES = 1 << 30
LONGEST_TOKEN = 10_000


def read_vocabulary(path: str | os.PathLike[str]) -> list[str]:
    """Return the tokens of a ``vocab.txt`` in id order.

    A byte order mark at the start and CRLF line ends throughout are understood.

    Raises
    ------
    StudioError
        If the file cannot be read, is not UTF-8, or holds an empty line, a token twice, or a token that ends in
        white space or holds a tab, a NUL character or a line break; the message names the line.
    """
    name = display_name(path)
    tokens = _lines(_text(path, name))
    if not tokens:
        raise StudioError("{path} holds no tokens", "A vocabulary has one token a line.", path=name)
    first_line: dict[str, int] = {}
    for line, token in enumerate(tokens, start=1):
        fault = _fault(token)
        if fault:
            raise StudioError(
                "{path}, line {line}: {fault}", "A vocabulary has one token a line.", path=name, line=line, fault=fault
            )
        if token in first_line:
            raise StudioError(
                "{path}: {token} stands in line {first} and again in line {line}",
                "Every token may stand there once; the line's number is its id.",
                path=name,
                token=repr(token),
                first=first_line[token],
                line=line,
            )
        first_line[token] = line
    return tokens


def write_vocabulary(path: str | os.PathLike[str], tokens: Sequence[str]) -> None:
    """Write tokens as a ``vocab.txt``: UTF-8, LF after each.

    Raises
    ------
    StudioError
        If a token could not be read back as it is, there is none, or the file cannot be written. Then nothing is
        written.
    """
    atomic_write(path, vocabulary_bytes(tokens))


def vocabulary_bytes(tokens: Sequence[str]) -> bytes:
    """Return the content of the ``vocab.txt`` that holds these tokens.

    Raises
    ------
    StudioError
        If a token could not be read back as it is, or there is none.
    """
    if not tokens:
        raise StudioError("There are no tokens to write", "A vocabulary has at least one.")
    faulty = [f"{token[:50]!r} ({fault})" for token in tokens if (fault := _fault(token))]
    if faulty:
        raise StudioError(
            "{n} of the tokens cannot stand in a vocab.txt: {list}",
            "Choose a normalizer that removes such characters from the corpus.",
            n=len(faulty),
            list=", ".join(faulty[:5]) + (", …" if len(faulty) > 5 else ""),
        )
    if len(set(tokens)) != len(tokens):
        raise StudioError("A token stands in the vocabulary twice", "Every token may stand there once.")
    if tokens[0].startswith("\ufeff"):
        raise StudioError(
            "The first token, {token}, cannot stand at the start of a vocab.txt: its U+FEFF would be taken for a byte "
            "order mark",
            "Put a special token first, or remove that character from the corpus. There is no other format to save in "
            "yet.",
            token=repr(tokens[0][:50]),
        )
    return "".join(f"{token}\n" for token in tokens).encode("utf-8")


def _text(path: str | os.PathLike[str], name: str) -> str:
    size = regular_file_status(path).st_size
    if size > LARGEST_FILE_BYTES:
        raise StudioError("{path} has {n} MB, too many for a vocabulary", path=name, n=size >> 20)
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_FILE_BYTES)
    except OSError as error:
        raise unreadable(path, error) from error
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise StudioError("{path} is in UTF-16", "Save it as UTF-8.", path=name)
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise StudioError(
            "{path}, line {line}: the byte {value} at byte {byte} is not UTF-8",
            "Save the vocabulary as UTF-8.",
            path=name,
            line=data.count(b"\n", 0, error.start) + 1,
            value=f"{data[error.start]:02X}",
            byte=error.start,
        ) from None


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    # The last line need have no line end, so it need have no CR.
    if lines and lines[0].endswith("\r") and all(line.endswith("\r") for line in lines[:-1]):
        lines = [line.removesuffix("\r") for line in lines]
    return lines


def _fault(token: str) -> str | None:
    """Return why a token cannot stand in a line of its own, or None if it can."""
    if not token:
        return "an empty token"
    if ord(token[-1]) in bert_tables().whitespace:
        return "white space at the end of a token, which other programs cut off"
    for character, what in (("\t", "a tab, as in a table"), ("\0", "a NUL character"), ("\n", "a line break")):
        if character in token:
            return what
    if "\r" in token:
        return "a line break"
    if len(token) > LONGEST_TOKEN:
        return f"a token of {len(token)} characters"
    try:
        token.encode("utf-8")
    except UnicodeEncodeError:
        return "half a character"
    return None
