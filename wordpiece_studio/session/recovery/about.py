"""What is known about unsaved work without opening it: its name, its time and its extent."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from wordpiece_studio.system.printable import decodable

if TYPE_CHECKING:
    from wordpiece_studio.storage.project.contents import Project

_log = logging.getLogger(__name__)

_Kind = TypeVar("_Kind")
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


@decodable
class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the user is told about the work, and which of the files kept belong together.

    Attributes
    ----------
    name
        The name of the corpus or the project.
    project_path
        The project file that the work belongs to; empty if it was never saved as one.
    project_size, project_modified_ns
        Size of that file in bytes and time of its last change in nanoseconds since 1970, as of when it was last opened
        or saved; -1 if unknown.
    time
        When this was written, in seconds since 1970.
    edits
        Number of unsaved changes to the text.
    merges
        Number of merges kept; the training may have had more.
    run
        The number of the file with the training; 0 if there is none.
    is_edited
        Whether the text has edits that are not in any file.
    """

    name: str = ""
    project_path: str = ""
    project_size: int = -1
    project_modified_ns: int = -1
    time: Annotated[float, msgspec.Meta(ge=-1e11, le=1e11)] = 0.0
    edits: _Count = 0
    merges: _Count = 0
    run: _Count = 0
    is_edited: bool = False


def to_json(value: msgspec.Struct) -> bytes:
    """Return a record as JSON, which may contain lone surrogates."""
    return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def from_json(content: bytes, kind: type[_Kind]) -> _Kind | None:
    """Return the record that `to_json` wrote; None if the content is not a record of this kind."""
    try:
        value: Any = json.loads(content, parse_constant=_refuse)
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        _log.info("a record of the journal cannot be read: %s", error)
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number that this program writes")


def is_worth_keeping(project: Project) -> bool:
    """Return whether it holds any work of the user's: text, a list of files, a requested training, a mark."""
    corpus, view, run = project.corpus, project.view, project.run
    return bool(
        (corpus.text is not None and corpus.is_edited)
        or corpus.files
        or (run is not None and run.is_wanted and len(run.history))
        or view.notes
        or view.breakpoints
        or view.markers
    )
