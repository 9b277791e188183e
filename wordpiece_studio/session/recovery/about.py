"""What is known of unsaved work without opening it: its name, when it was kept last, how much it is."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from wordpiece_studio.system.decodable import decodable

if TYPE_CHECKING:
    from wordpiece_studio.storage.project.contents import Project

_log = logging.getLogger(__name__)

_Kind = TypeVar("_Kind")
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


@decodable
class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a question can say of the work, and what belongs together of what was kept.

    Attributes
    ----------
    name
        What the corpus or the project is called.
    project_path
        The project file that it is of; empty if it was never saved as one.
    project_size, project_modified_ns
        Bytes of that file, and when it was changed last in nanoseconds since 1970, as it was opened or saved last; -1
        if that is not known.
    time
        When this was written, in seconds since 1970.
    edits
        How many changes to the text were not saved.
    merges
        How many merges are kept; the training may have had more.
    run
        The number of the file with the training; 0 if there is none.
    is_edited
        Whether the text has edits that are in no file.
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
    """Return a record as JSON, in which half a surrogate pair can stand too."""
    return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def from_json(content: bytes, kind: type[_Kind]) -> _Kind | None:
    """Return what `to_json` has written; None if it is nothing of the kind."""
    try:
        value: Any = json.loads(content, parse_constant=_refuse)
        return msgspec.convert(value, kind)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        _log.info("a record of the journal cannot be read: %s", error)
        return None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number that was written here")


def is_worth_keeping(project: Project) -> bool:
    """Tell whether someone has made anything of it: text, a list of files, a training asked for, a mark."""
    corpus, view, run = project.corpus, project.view, project.run
    return bool(
        (corpus.text is not None and corpus.is_edited)
        or corpus.files
        or (run is not None and run.is_wanted and len(run.history))
        or view.notes
        or view.breakpoints
        or view.markers
    )
