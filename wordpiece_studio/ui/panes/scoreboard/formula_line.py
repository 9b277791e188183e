"""One line of chips and text, ``a + ##b → ab  = n(ab) / …``, that wraps where it is too long.

It paints what it is given; the formula itself is written in :mod:`~wordpiece_studio.ui.widgets.formula`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from wordpiece_studio.ui.widgets.chip_style import ChipStyle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.ui.widgets.theme import Theme

_GAP = 8.0
_LINE_GAP = 5.0


@dataclass(frozen=True, slots=True)
class Run:
    """A chip, or a piece of text that is not broken: ordinary, muted or strong."""

    text: str
    kind: Literal["chip", "text", "muted", "strong"] = "text"


class FormulaLine(QWidget):
    """Paints runs of chips and text from left to right, in as many lines as they need."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._runs: Sequence[Run] = ()
        self._restyle()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self._on_theme_changed)

    def set_runs(self, runs: Sequence[Run], spoken: str) -> None:
        """Show these runs; `spoken` is what a screen reader says instead."""
        self._runs = tuple(runs)
        self.setAccessibleName(spoken)
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.height_of(self._runs, width)

    def height_of(self, runs: Sequence[Run], width: int) -> int:
        """Return how high these runs would be in lines of this width, in pixels."""
        bottom = max((rect.bottom() for _, rect in self._placed(runs, width)), default=self._style.height)
        return int(bottom + 1)

    def sizeHint(self) -> QSize:
        return QSize(420, self.heightForWidth(420))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._style.height)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._on_theme_changed()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for run, rect in self._placed(self._runs, self.width()):
                if run.kind == "chip":
                    self._style.paint(painter, rect, run.text)
                else:
                    painter.setFont(self._strong_font if run.kind == "strong" else self._style.font)
                    painter.setPen(self._theme.muted if run.kind == "muted" else self._theme.text)
                    painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter), run.text)

    def _placed(self, runs: Sequence[Run], width: int) -> Iterator[tuple[Run, QRectF]]:
        x = y = 0.0
        for run in runs:
            needed = min(self._width_of(run), float(width))
            if x and x + needed > width:
                x, y = 0.0, y + self._style.height + _LINE_GAP
            yield run, QRectF(x, y, needed, self._style.height)
            x += needed + _GAP

    def _width_of(self, run: Run) -> float:
        if run.kind == "chip":
            return self._style.width(run.text)
        font = self._strong_font if run.kind == "strong" else self._style.font
        return QFontMetricsF(font).horizontalAdvance(run.text) + 1

    def _restyle(self) -> None:
        self._style = ChipStyle(self._theme, 1)
        self._strong_font = self._theme.font(1, bold=True)

    def _on_theme_changed(self) -> None:
        self._restyle()
        self.updateGeometry()
        self.update()
