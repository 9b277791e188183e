"""Where commands write their results to: all together at the very end, and over no one else's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from wordpiece_studio.storage.files_together import check_replaceable
from wordpiece_studio.storage.manifest import side_manifest
from wordpiece_studio.system.atomic_write import written_together

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from contextlib import AbstractContextManager

ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Replace files that this program did not write, or that were changed since."),
]


def check_results(paths: Iterable[str | os.PathLike[str]], *, force: bool) -> None:
    """Check before the work that its results may be put at `paths`, and their manifests beside them.

    Raises
    ------
    StudioError
        If a file is there that only `force` replaces.
    """
    for path in () if force else paths:
        check_replaceable(side_manifest(path))  # first: without it nothing is known of the file
        check_replaceable(path)


def results(*, force: bool) -> AbstractContextManager[object]:
    """Have what is written in the block put in place at its end, which is the end of the command.

    Raises
    ------
    StudioError
        If a file is there that only `force` replaces; or one cannot be written. Nothing is written then.
    """
    return written_together(are_results=True, check=None if force else check_replaceable)
