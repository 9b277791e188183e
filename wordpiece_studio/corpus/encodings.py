"""The names of text encodings, and the byte order marks that files begin with.

Not here: decoding (`decoding`), and finding out an encoding that no one names (`encoding_guess`).
"""

from __future__ import annotations

import codecs

from wordpiece_studio.errors import StudioError

DETECT = "detect"
"""In place of an encoding: whatever the bytes look like."""

# The longer marks first: UTF-32's begins with UTF-16's.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Python's codecs for other things than text files, and one that cannot be cut at line ends.
_NO_TEXT_FILE_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "unicode-escape", "utf-7")


def known_encoding(name: str) -> str:
    """Return Python's name of a text encoding; `DETECT` stays as it is.

    Raises
    ------
    StudioError
        If there is none of that name, or text files are never in it.
    """
    if name == DETECT:
        return name
    try:
        known = codecs.lookup(name).name
        line_end = "\n".encode(known)  # which a codec from bytes to bytes refuses
        if line_end.endswith((b"\n", b"\n\0", b"\n\0\0\0")) and known not in _NO_TEXT_FILE_ENCODINGS:
            return "utf-8" if known == "utf-8-sig" else known
    except (LookupError, ValueError):
        pass
    raise StudioError(
        'There is no text encoding called "{name}"', "Usual ones are utf-8, utf-16, cp1252 and gb18030.", name=name
    )


def marked_encoding(head: bytes) -> tuple[str, int] | None:
    """Return the encoding that a byte order mark tells, and the length of the mark; None if there is none."""
    return next(((encoding, len(mark)) for mark, encoding in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
