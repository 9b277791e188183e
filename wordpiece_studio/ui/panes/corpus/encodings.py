"""The encodings to choose from for a file that is no UTF-8, and how the reading of a text is called."""

from __future__ import annotations

import codecs
import locale
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from wordpiece_studio.session.document import Document


def encodings() -> list[tuple[str, str]]:
    """Return ``(codec, title)`` of each encoding to choose from; the system's first, if it is not UTF-8."""
    offered = _known()
    system = codecs.lookup(locale.getpreferredencoding(False)).name
    if system in ("utf-8", "ascii"):
        return offered
    title = next((title for codec, title in offered if codecs.lookup(codec).name == system), system)
    others = [(codec, title) for codec, title in offered if codecs.lookup(codec).name != system]
    return [(system, _tr("{encoding}, the system’s").format(encoding=title)), *others]


def encoding_title(codec: str) -> str:
    """Return what an encoding is called, for example ``"Latin-1"``."""
    name = codecs.lookup(codec).name
    if name == "utf-8":
        return "UTF-8"
    return next((title for known, title in _known() if codecs.lookup(known).name == name), codec.upper())


def reading_words(document: Document) -> str:
    """Return how the text was read, if not as plain UTF-8 and whole; else empty."""
    replaced, skipped = document.losses
    if skipped:
        return _tr("1 line left out") if skipped == 1 else _tr("{count:,} lines left out").format(count=skipped)
    if replaced:
        return _tr("1 place replaced") if replaced == 1 else _tr("{count:,} places replaced").format(count=replaced)
    return "" if codecs.lookup(document.encoding).name == "utf-8" else encoding_title(document.encoding)


def _known() -> list[tuple[str, str]]:
    return [
        ("cp1252", "Windows-1252"), ("latin-1", "Latin-1"), ("cp949", _tr("Korean (CP949)")),
        ("gb18030", _tr("Chinese (GB 18030)")), ("big5", _tr("Chinese (Big5)")),
        ("shift_jis", _tr("Japanese (Shift-JIS)")),
        ("koi8-r", _tr("Cyrillic (KOI8-R)")), ("cp1251", _tr("Cyrillic (Windows-1251)")),
        ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16 LE"), ("utf-16-be", "UTF-16 BE"),
    ]  # fmt: skip


def _tr(text: str) -> str:
    return QCoreApplication.translate("encodings", text)
