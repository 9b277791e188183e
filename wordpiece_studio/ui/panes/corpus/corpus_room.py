"""Who gives way in a low corpus pane: the text keeps some lines, what is said about it is left out first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.panes.corpus.lint_view import LintView

_LEAST_LINES = 7
"""So many lines of the text are seen before anything is said of one of them."""


def give_room_to_text(
    room: int, text: QWidget, line_view: QWidget, warnings: LintView, others: Iterable[QWidget]
) -> None:
    """Where everything has no room in `room` pixels, leave out the line view, then all warnings but one."""
    taken = sum(part.sizeHint().height() for part in others if not part.isHidden())
    rest = room - taken - _LEAST_LINES * text.fontMetrics().lineSpacing()
    warned = warnings.sizeHint().height() if not warnings.isHidden() else 0
    line_view.setVisible(rest >= line_view.sizeHint().height() + warned)
    warnings.set_dense(rest < warnings.usual_height())
