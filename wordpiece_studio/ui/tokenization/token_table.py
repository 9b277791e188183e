"""The tokens of the watched text as an ordinary table: what the chips show, for those who cannot see chips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.ui.look.quiet_table import QuietTable
from wordpiece_studio.ui.look.row_table import RowTable

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.ui.look.theme import Theme


class TokenTable(QuietTable):
    """Token, id, place in the text, birth step, word. One row a token."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        headings = (
            self.tr("token"),
            self.tr("id"),
            self.tr("code points"),
            self.tr("born"),
            self.tr("word"),
        )
        self.tokens = RowTable(headings, frozenset({1, 2, 3}), self)
        self.setModel(self.tokens)
        self.setAccessibleName(self.tr("Tokens as a table"))
        self.horizontalHeader().setStretchLastSection(True)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        for column, width in enumerate((12, 6, 12, 7)):
            self.setColumnWidth(column, metrics.horizontalAdvance("n") * width)
