"""What the Studio remembers between two starts: a JSON file in the user's own folder, checked when it is read.

Not the training settings of a document, and not Qt's own settings, which would run code from a file.
"""

from __future__ import annotations

import logging
import stat
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import platformdirs

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.decodable import decodable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

_log = logging.getLogger(__name__)

FILE_NAME = "settings.json"
RECENT_KEPT = 10
_LARGEST_BYTES = 16 << 20

_Text = Annotated[str, msgspec.Meta(max_length=100_000)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=100_000_000)]
_Size = Annotated[int, msgspec.Meta(ge=1, le=100_000_000)]
_Name = Annotated[str, msgspec.Meta(max_length=100)]
_Names = Annotated[tuple[_Name, ...], msgspec.Meta(max_length=100)]
_Part = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
_Percent = Annotated[int, msgspec.Meta(ge=50, le=400)]
_Paths = Annotated[tuple[_Text, ...], msgspec.Meta(min_length=1)]


@decodable
class SavedLayout(msgspec.Struct, frozen=True, kw_only=True):
    """What the user has changed of an arrangement of the panes. Names that no pane has are passed over.

    Attributes
    ----------
    version
        Of the arrangement that was changed: for another one it is worth nothing.
    closed
        The panes that are not shown.
    front
        Those that lie in front, where it is not the usual one.
    widths, heights
        Parts of the whole area, by the names of panes; empty if no edge was drawn.
    zooms
        Percent of the window's size of text, by the names of panes; those with 100 are left out.
    """

    version: _Count
    closed: _Names = ()
    front: _Names = ()
    widths: dict[_Name, _Part] = {}
    heights: dict[_Name, _Part] = {}
    zooms: dict[_Name, _Percent] = {}


@decodable
class StudioSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The values. What a file does not say has its default; a value of the wrong kind makes the file damaged.

    A name that is not known is passed over: another version of the Studio has written it.

    Attributes
    ----------
    theme
        The palette.
    language
        A language code such as "ko"; empty for the system's.
    font_scale, demo_scale
        Percent of the usual size of the text; the second in the layout for showing, None for what the screen has room
        for.
    objective, vocab_size, min_frequency, normalizer, pre_tokenizer
        What the training bar showed last.
    train_as_you_type
        Whether a small corpus is trained again after every edit.
    play_speed
        Merges per second.
    window_geometry
        Qt's own description of the window, as base64; empty if never saved.
    window_size
        Its width and height in pixels when not maximized: Qt shrinks a window far too much whose screen is smaller now.
    history_columns
        Which columns of the merge history are shown, from left to right; empty if nothing was chosen.
    layout, layouts
        The arrangement of the panes, and what the user changed of each.
    recent_files
        The paths that were opened together, the latest first, at most ten times.
    """

    theme: Literal["system", "light", "dark", "contrast"] = "system"
    language: _Text = ""
    font_scale: _Percent = 100
    demo_scale: _Percent | None = None
    objective: Literal["score", "likelihood", "count"] = "score"
    vocab_size: _Size | None = None
    min_frequency: _Count = 0
    normalizer: _Text = "bert-cased"
    pre_tokenizer: _Text = "bert"
    train_as_you_type: bool = True
    play_speed: Annotated[float, msgspec.Meta(ge=0.25, le=1000.0)] = 4.0
    window_geometry: _Text = ""
    window_size: tuple[_Size, _Size] | None = None
    history_columns: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=100)] = ()
    layout: Literal["teach", "engineer", "demo"] = "teach"
    layouts: dict[Literal["teach", "engineer", "demo"], SavedLayout] = {}
    recent_files: Annotated[tuple[_Paths, ...], msgspec.Meta(max_length=RECENT_KEPT)] = ()


def default_folder() -> Path:
    """Return the folder in which the settings of this user lie."""
    return platformdirs.user_config_path("wordpiece-studio", appauthor=False)


def _content(path: Path) -> bytes:
    """Return the bytes of the settings file; of a device or a pipe there would be no end.

    Raises
    ------
    OSError
        If it cannot be read, is no regular file or far too large.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError("it is not a regular file")
    if status.st_size > _LARGEST_BYTES:
        raise OSError(f"it has {status.st_size:,} bytes")
    return path.read_bytes()


class SettingsStore:
    """The settings and the file that they live in.

    A damaged file is copied beside itself with the ending ``.bad`` and the defaults are used; `damage` says so then.

    Parameters
    ----------
    folder
        Where the file lies, or will lie.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self.damage: StudioError | None = None
        self._is_failure_told = False
        self.values = self._read()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def change(self, **changes: Any) -> None:
        """Set the named values and save.

        Raises
        ------
        StudioError
            If a value is out of its range, or the file cannot be written: the values then hold until the end. That it
            cannot be written is said once.
        """
        if unknown := changes.keys() - set(StudioSettings.__struct_fields__):
            raise StudioError("This setting is not possible: {reason}", reason=", ".join(sorted(unknown)))
        merged = {**msgspec.to_builtins(self.values), **msgspec.to_builtins(changes)}
        try:
            self.values = msgspec.convert(merged, StudioSettings)
        except msgspec.ValidationError as error:
            raise StudioError("This setting is not possible: {reason}", reason=error) from error
        try:
            self._write()
        except (StudioError, OSError) as error:
            _log.info("the settings are not saved: %s", error)
            if not self._is_failure_told:
                self._is_failure_told = True
                raise StudioError(
                    "The settings cannot be saved as {path}: {reason}",
                    "They hold until you leave WordPiece Studio.",
                    path=self._path,
                    reason=error.what if isinstance(error, StudioError) else error,
                ) from error

    def remember_files(self, paths: Sequence[Path]) -> None:
        """Put what was opened together at the top of the recent files."""
        opened = tuple(str(path) for path in paths)
        others = [names for names in self.values.recent_files if names != opened]
        self.change(recent_files=[opened, *others][:RECENT_KEPT])

    def _read(self) -> StudioSettings:
        try:
            data = _content(self._path)
        except FileNotFoundError:
            return StudioSettings()
        except OSError as error:
            self.damage = StudioError(
                "The settings {path} cannot be read: {reason}", "The defaults are used.", path=self._path, reason=error
            )
            return StudioSettings()
        try:
            return msgspec.json.decode(data, type=StudioSettings)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._set_aside(data, error)
            return StudioSettings()

    def _set_aside(self, data: bytes, error: Exception) -> None:
        copy = self._path.with_name(FILE_NAME + ".bad")
        self.damage = StudioError(
            "The settings {path} are damaged: {reason}",
            "The defaults are used; the damaged file was kept as {copy}.",
            path=self._path,
            reason=error,
            copy=copy,
        )
        try:
            copy.write_bytes(data)
        except OSError as failure:
            _log.warning("The damaged settings could not be kept as %s: %s", copy, failure)

    def _write(self) -> None:
        from wordpiece_studio.system.atomic_write import atomic_write

        self._path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(self._path, msgspec.json.format(msgspec.json.encode(self.values), indent=2) + b"\n")
