"""Where the panels lie in each layout, as plain values; :mod:`~wordpiece_studio.ui.widgets.dock_area` places them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LayoutName = Literal["teach", "engineer", "demo"]

_LOW_LINES = 36
"""An area of fewer lines of text is low: there the merge history comes before the curve and the formula."""

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
    """

    groups: tuple[tuple[str, ...], ...]
    part: float = 0.0
    least: int = 0
    upper: float = 0.5

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
    low
        The columns in a low area.
    """

    name: LayoutName
    version: int
    columns: tuple[Column, ...]
    bottom: str = "timeline"
    closed: frozenset[str] = frozenset()
    low: tuple[Column, ...] = ()
    bottom_part: float = 0.235

    @property
    def has_bar(self) -> bool:
        """Whether the bar with the training controls is shown."""
        return self.name != "demo"

    def columns_for(self, height: int, line: int, *, is_full: bool = False) -> tuple[Column, ...]:
        """Return the columns for an area of `height` pixels with lines of text of `line` pixels.

        With a full corpus, a list of files and their preview, the first column is always the one of a low area.
        """
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
_TOKENIZATION = Column((("tokenization",),), 0.29, 330)
_MIDDLE = Column((("scoreboard",), _TABLES), upper=0.56)

TEACH = Layout(
    "teach", 1, (Column((("corpus",), ("token_details",)), 0.225, 235, upper=0.72), _MIDDLE, _TOKENIZATION),
    low=(Column((("corpus", "token_details"),), 0.225, 235), Column(_MIDDLE.groups, upper=0.46), _TOKENIZATION),
)  # fmt: skip
ENGINEER = Layout(
    "engineer", 1,
    (
        Column((("corpus",), ("token_details",)), 0.225, 235, upper=0.72),
        Column((("history", "vocabulary", "scoreboard"), ("charts",)), upper=0.55),
        _TOKENIZATION,
    ),
    bottom_part=0.17,
    low=(
        Column((("corpus", "token_details"),), 0.225, 235),
        Column((("history", "vocabulary", "scoreboard"), ("charts",)), upper=0.5),
        _TOKENIZATION,
    ),
)  # fmt: skip
DEMO = Layout(
    "demo", 1,
    (Column((("scoreboard", *_TABLES),)), Column((("tokenization", "token_details", "corpus"),), 0.44, 330)),
    closed=frozenset(("corpus", "token_details", *_TABLES)),
)  # fmt: skip
LAYOUTS: dict[LayoutName, Layout] = {"teach": TEACH, "engineer": ENGINEER, "demo": DEMO}
