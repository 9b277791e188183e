"""What the Studio remembers between sessions: a JSON file in the user's own folder, validated when read.

This excludes a document's training settings, and avoids Qt's own settings, which would run code from a file.
"""

from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import platformdirs

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.small_files import small_file_bytes
from wordpiece_studio.system.printable import decodable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

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
    """The user's changes to an arrangement of the panes. Names that no pane has are ignored."""

    version: _Count  # of the arrangement that was changed: for any other, the changes are useless
    closed: _Names = ()
    front: _Names = ()  # where they differ from the default
    widths: dict[_Name, _Part] = {}  # of the whole area; empty if no edge was moved
    heights: dict[_Name, _Part] = {}


@decodable
class StudioSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The values; unknown names are ignored: another version of the Studio wrote them."""

    theme: Literal["system", "light", "dark", "contrast"] = "system"
    language: _Text = ""  # a code such as "ko"; empty for the system's
    font_scale: _Percent = 100
    demo_scale: _Percent | None = None  # None: what fits the screen
    train_as_you_type: bool = True
    animates_merges: bool | None = None  # None: as the system wants it
    play_speed: Annotated[float, msgspec.Meta(ge=0.0, le=1000.0)] = 4.0  # 0 plays any run in half a minute
    window_geometry: _Text = ""  # Qt's own, as base64
    window_size: tuple[_Size, _Size] | None = None  # Qt makes it far too small if the screen is smaller now
    history_columns: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=100)] = ()
    gestures: _Names = ()  # what the user has done once, so that no hint about it is needed
    layout: Literal["teach", "engineer", "demo", "compare", "sizes"] = "teach"
    layouts: dict[Literal["teach", "engineer", "demo", "compare", "sizes"], SavedLayout] = {}
    lessons: dict[_Name, _Count] = {}  # the page at which each was left, from 0
    answered_pages: dict[_Name, tuple[_Count, ...]] = {}  # of each: right, or shown
    finished_lessons: _Names = ()
    recent_files: Annotated[tuple[_Paths, ...], msgspec.Meta(max_length=RECENT_KEPT)] = ()


def default_folder() -> Path:
    return platformdirs.user_config_path("wordpiece-studio", appauthor=False)


class SettingsStore:
    """The settings and their file; a damaged one is copied with the suffix ``.bad``, and `damage` is set."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self.damage: StudioError | None = None
        self._is_failure_reported = False
        self.values = self._read()

    def change(self, **changes: Any) -> None:
        changed = msgspec.structs.replace(self.values, **changes)
        self.values = msgspec.convert(msgspec.to_builtins(changed), StudioSettings)
        try:
            self._write()
        except (StudioError, OSError) as error:
            _log.info("the settings are not saved: %s", error)
            if not self._is_failure_reported:
                self._is_failure_reported = True
                what = "The settings cannot be saved as {path}: {reason}"
                advice = "They apply until you quit WordPiece Studio."
                reason = error.what if isinstance(error, StudioError) else error
                raise StudioError(what, advice, path=self.path, reason=reason) from error

    def remember_files(self, paths: Sequence[Path]) -> None:
        opened = tuple(str(path) for path in paths)
        others = [names for names in self.values.recent_files if names != opened]
        self.change(recent_files=[opened, *others][:RECENT_KEPT])

    def _read(self) -> StudioSettings:
        try:
            if self.path.exists():
                data = small_file_bytes(self.path, _LARGEST_BYTES, "{path} is {n} MB, too large for settings")
                return msgspec.json.decode(data, type=StudioSettings)
        except (StudioError, OSError) as error:
            reason = error.what if isinstance(error, StudioError) else error
            self.damage = StudioError("The settings cannot be read: {reason}", "The defaults are used.", reason=reason)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self._set_aside(error)
        return StudioSettings()

    def _set_aside(self, error: Exception) -> None:
        copy = self.path.with_name(FILE_NAME + ".bad")
        what = "The settings {path} are damaged: {reason}"
        advice = "The defaults are used; the damaged file was kept as {copy}."
        self.damage = StudioError(what, advice, path=self.path, reason=error, copy=copy)
        try:
            shutil.copyfile(self.path, copy)
        except OSError as failure:
            _log.warning("The damaged settings could not be kept as %s: %s", copy, failure)

    def _write(self) -> None:
        from wordpiece_studio.system.atomic_write import atomic_write

        self.path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(self.path, msgspec.json.format(msgspec.json.encode(self.values), indent=2) + b"\n")
