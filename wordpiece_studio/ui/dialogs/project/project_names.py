"""How a project is called: its name on the disk, and the title of the window."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003  (for the example below)

from wordpiece_studio.storage.project.layout import SUFFIX
from wordpiece_studio.ui.widgets.plain import shown

_LONGEST_NAME = 100


def names_project(path: str | os.PathLike[str]) -> bool:
    """Return whether the end of a name says that it is one of a project."""
    return os.fspath(path).lower().endswith(SUFFIX)


def with_suffix(path: Path) -> Path:
    """Return the path with the suffix of projects at its end.

    >>> with_suffix(Path("hugs")).name, with_suffix(Path("hugs.WPStudio")).name
    ('hugs.wpstudio', 'hugs.WPStudio')
    """
    return path if names_project(path) else path.with_name(path.name + SUFFIX)


def title_of(name: str) -> str:
    """Return the title of a window for Qt, which takes ``[*]`` for the place of its mark; in a name it is text.

    >>> title_of("hugs"), title_of("[*]")
    ('hugs[*] — WordPiece Studio', '[*][*][*] — WordPiece Studio')
    """
    return f"{shown(name, _LONGEST_NAME).replace('[*]', '[*][*]')}[*] — WordPiece Studio"
