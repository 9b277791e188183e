"""Where the panels lie in each layout, as plain values; :mod:`~wordpiece_studio.ui.widgets.dock_area` places them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LayoutName = Literal["teach", "engineer", "demo"]

_LOW_LINES = 40
"""An area of fewer lines of text is low: there the token details lie behind the corpus, and the timeline is low."""
_NARROW_LINES = 62
"""An area less wide than this many lines of text are high is narrow: there the corpus gives way to a tab."""

_MOST_DEMO_TEXT, _DEMO_HEIGHT = 160, 896
"""Percent; and how many pixels high a screen must be for text that large."""


@dataclass(frozen=True, slots=True)
class Column:
    """Panels below each other.

    Attributes
    ----------
    groups
        The names of the panels from top to bottom; those of one group lie behind each other, the first in front.
    part
        The fraction of the width that it takes; 0 for what the others leave.
    least
        Its minimum width in pixels.
    upper
        The fraction of the height above the timeline that its first group takes, if there is another below it.
    lower_lines
        How many lines of text are left to that other group before.
    """

    groups: tuple[tuple[str, ...], ...]
    part: float = 0.0
    least: int = 0
    upper: float = 0.5
    lower_lines: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its panels."""
        return tuple(name for group in self.groups for name in group)


@dataclass(frozen=True, slots=True)
class Layout:
    """An arrangement of all panels.

    Attributes
    ----------
    version
        Changes with the arrangement: what was saved for another version is ignored.
    columns
        From left to right, above the panel `bottom`.
    closed
        The panels that are not shown until the user asks for them.
    low, narrow
        The columns in a low area, and in a narrow one.
    """

    name: LayoutName
    version: int
    columns: tuple[Column, ...]
    bottom: str = "timeline"
    closed: frozenset[str] = frozenset()
    low: tuple[Column, ...] = ()
    narrow: tuple[Column, ...] = ()
    bottom_part: float = 0.235

    @property
    def has_bar(self) -> bool:
        """Whether the bar with the training controls is shown."""
        return self.name != "demo"

    @property
    def has_tools(self) -> bool:
        """Whether the panes offer what an engineer needs and a class does not; the menus always do."""
        return self.name == "engineer"

    def columns_for(self, width: int, height: int, line: int, *, is_full: bool = False) -> tuple[Column, ...]:
        """Return the columns for an area of this size, in pixels, with lines of text of `line` pixels.

        With a full corpus, a list of files and their preview, the first column is always the one of a low area.
        """
        if self.narrow and width < _NARROW_LINES * line:
            return self.narrow
        if not self.low or not (is_full or is_low(height, line)):
            return self.columns
        return self.low if is_low(height, line) else (self.low[0], *self.columns[1:])

    def bottom_height(self, height: int, line: int) -> int:
        """Return the default height of the panel at the bottom, in pixels; there is always room for its buttons."""
        least = max(round(6.6 * line), 124)
        return least if is_low(height, line) else max(least, round(height * self.bottom_part))


def is_low(height: int, line: int) -> bool:
    """Return whether an area of `height` pixels is low for lines of text of `line` pixels.

    >>> is_low(575, 17), is_low(760, 17)
    (True, False)
    """
    return height < _LOW_LINES * line


def demo_text_size(height: int) -> int:
    """Return the text size for *Demo* on a screen of `height` pixels, in percent of the usual size.

    >>> demo_text_size(1080), demo_text_size(900), demo_text_size(768), demo_text_size(480)
    (160, 160, 130, 100)
    """
    fitting = int(height / _DEMO_HEIGHT * _MOST_DEMO_TEXT) // 10 * 10
    return max(100, min(fitting, _MOST_DEMO_TEXT))


_TABLES = ("history", "vocabulary", "charts")
_TOKENIZATION = Column((("tokenization",),), 0.325, 330)
_LEFT = Column((("corpus",), ("token_details",)), 0.22, 235, upper=0.72)
_LOW_LEFT = Column((("corpus", "token_details"),), 0.22, 235)
_NARROW_RIGHT = Column((("tokenization", "corpus", "token_details"),), 0.43, 330)
_MIDDLE = Column((("scoreboard",), _TABLES), upper=0.6, lower_lines=12)
_LOW_MIDDLE = Column(_MIDDLE.groups, upper=0.57, lower_lines=12)
_WORK = Column((("history", "vocabulary", "scoreboard"), ("charts",)), upper=0.55)
_LOW_WORK = Column(_WORK.groups, upper=0.5)

TEACH = Layout(
    "teach", 2, (_LEFT, _MIDDLE, _TOKENIZATION), low=(_LOW_LEFT, _LOW_MIDDLE, _TOKENIZATION),
    narrow=(_LOW_MIDDLE, _NARROW_RIGHT),
)  # fmt: skip
ENGINEER = Layout(
    "engineer", 2, (_LEFT, _WORK, _TOKENIZATION), low=(_LOW_LEFT, _LOW_WORK, _TOKENIZATION),
    narrow=(_LOW_WORK, _NARROW_RIGHT), bottom_part=0.17,
)  # fmt: skip
DEMO = Layout(
    "demo", 1,
    (Column((("scoreboard", *_TABLES),)), Column((("tokenization", "token_details", "corpus"),), 0.44, 330)),
    closed=frozenset(("corpus", "token_details", *_TABLES)),
)  # fmt: skip
LAYOUTS: dict[LayoutName, Layout] = {"teach": TEACH, "engineer": ENGINEER, "demo": DEMO}
