"""Where the program's own files are: icons, samples, tables, translations."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource_path(name: str) -> Path:
    """Return the path of the resource called `name`, for example ``"samples/course-en.txt"``.

    An installed package contains its resources; in a checkout, or an editable install of one, they are beside the
    package.
    """
    for folder in (_PACKAGE / "resources", _PACKAGE.parent / "resources"):
        path = folder / name
        if path.exists() and path.resolve().is_relative_to(folder.resolve()):
            return path
    raise FileNotFoundError(f"WordPiece Studio is installed without its resource {name!r}")
