"""What was typed as the place of an export: which folder or file it means, and what is wrong with it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.storage.manifest import MANIFEST_FILE
from wordpiece_studio.ui.dialogs.export.export_work import is_folder

if TYPE_CHECKING:
    from collections.abc import Collection

    from wordpiece_studio.storage.exports import ExportKind

_SEPARATORS = ("/", "\\")


def place_of(text: str, folder: Path) -> Path:
    """Return the folder or file that `text` means; a bare name is one in `folder`, and ``~`` the user's own folder.

    >>> place_of("out", Path("/texts")).as_posix()
    '/texts/out'
    """
    path = Path(text.strip())
    with suppress(RuntimeError):  # "~name" is no one's folder here: then it is a name, as in a shell
        path = path.expanduser()
    return folder / path


def place_trouble(kind: ExportKind, text: str) -> str:
    """Return what is wrong with a place as far as its letters show; empty if nothing is. No disk is asked."""
    text = text.strip()
    if not text:
        return _tr("Say where to.")
    if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text):
        return _tr("A name cannot hold line breaks or other control characters.")
    if not is_folder(kind) and (text.endswith(_SEPARATORS) or Path(text).name in ("", "..", "~")):
        return _tr("Say what the file is called: this is a folder.")
    return ""


def for_other_kind(text: str, proposed: Collection[str], name: str) -> str:
    """Return what was typed with `name` in place of a name that was proposed for another kind of export.

    >>> for_other_kind("/texts/tokenizer", ["tokenizer", "vocab.txt"], "vocab.txt")
    '/texts/vocab.txt'
    >>> for_other_kind("/texts/mine", ["tokenizer", "vocab.txt"], "vocab.txt")
    '/texts/mine'
    """
    text = text.strip()
    old = Path(text).name
    return text.removesuffix(old) + name if old in proposed and text.endswith(old) else text


def folder_for(chosen: Path, name: str) -> Path:
    """Return `chosen` if nothing but an export of the Studio is in it, else a new folder called `name` in it.

    No one who points at a folder full of other things wants these files strewn among them.
    """
    try:
        names = {path.name for path in chosen.iterdir()}
    except OSError:
        return chosen  # not there yet, or it will be told when it is written to
    return chosen if not names or MANIFEST_FILE in names else chosen / name


def _tr(text: str) -> str:
    return QCoreApplication.translate("export_place", text)
