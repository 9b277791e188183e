"""Where one is in a text of several pages, and the buttons to the page before and the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.session.document import Document


class PageBar(QWidget):
    """Seen only where the text has pages."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._label = plain_label("", self, role="hint")
        earlier, later = QToolButton(self), QToolButton(self)
        for button, text, name, slot in (
            (earlier, "‹", self.tr("Earlier page"), self._on_earlier_clicked),
            (later, "›", self.tr("Later page"), self._on_later_clicked),
        ):
            button.setText(text)
            button.setAccessibleName(name)
            set_plain_tooltip(button, name)
            button.clicked.connect(slot)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(14, 0, 14, 0)
        layout.addWidget(earlier)
        layout.addWidget(self._label, 1)
        layout.addWidget(later)
        document.reset.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the present page."""
        document = self._document
        self.setVisible(document.page_count > 1)
        words = self.tr("page {page} of {pages}")
        set_plain_text(
            self._label, words.format(page=number_text(document.page + 1), pages=number_text(document.page_count))
        )

    def _on_earlier_clicked(self) -> None:
        self._document.show_page(self._document.page - 1)

    def _on_later_clicked(self) -> None:
        self._document.show_page(self._document.page + 1)
