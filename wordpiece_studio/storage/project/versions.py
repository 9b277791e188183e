"""Older and newer project files: what an older one lacks is put in its place, what a newer one adds is kept.

A minor number is newer: its records, fields and parts that are not known are kept as `UnknownContents`. A major number
is older: each step of `MIGRATIONS` makes the records of one those of the next; parts keep their names and kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.storage.project import layout
from wordpiece_studio.storage.project.contents import UnknownContents, UnknownPart
from wordpiece_studio.storage.project.layout import damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Set
    from typing import Any

    from wordpiece_studio.storage.project.container_reading import Container

    Records = dict[str, str]

MIGRATIONS: Mapping[int, Callable[[Records], Records]] = {}
"""For each older major number, what makes its records (JSON by name) those of the next one."""


def migrated(container: Container) -> Records:
    """Return the records of a project as the newest major number has them.

    Raises
    ------
    StudioError
        If no one can have written a file of its version.
    """
    records = dict(container.meta)
    for major in range(container.major, layout.MAJOR):
        if major not in MIGRATIONS:
            raise damaged(container.path, "its version", f"there was never a format {major}")
        records = MIGRATIONS[major](records)
    return records


def unknown_contents(
    container: Container, records: Records, fields: dict[str, dict[str, Any]], known: Set[str], known_parts: Set[str]
) -> UnknownContents | None:
    """Return what of a project is not known; None if all is.

    Parameters
    ----------
    container, records
        The project, and its records.
    fields
        The fields of known records that are not known.
    known, known_parts
        The names of records and parts that are known.
    """
    others = {name: text for name, text in records.items() if name not in known}
    names = sorted(container.parts.keys() - known_parts)
    fields = {name: values for name, values in fields.items() if values}
    if not others and not names and not fields:
        return None
    parts = [container.parts[name] for name in names]
    return UnknownContents(
        container.minor,
        others,
        fields,
        tuple(UnknownPart(part.name, part.kind, part.n, tuple(container.chunks(part.name))) for part in parts),
    )
