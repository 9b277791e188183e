"""The pages of ``resources/help`` in a window beside the work: our own Markdown, never text from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QDialog, QTextBrowser, QVBoxLayout, QWidget

from wordpiece_studio.resources import resource_path

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.ui.widgets.theme import Theme

_CHARACTERS, _LINES = 110, 38
_MARGIN = 16


class HelpPage(NamedTuple):
    """A page and its title, which is its first line."""

    path: Path
    title: str


def help_pages() -> list[HelpPage]:
    """Return all pages, in the order of their file names."""
    pages = []
    for path in sorted(resource_path("help").glob("*.md")):
        with path.open(encoding="utf-8") as file:
            pages.append(HelpPage(path, file.readline().removeprefix("# ").strip()))
    return pages


class HelpWindow(QDialog):
    """Shows one page at a time; stays open beside the work until it is closed.

    Links to other pages open here, all others in the system's browser.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._browser = QTextBrowser(self)
        self._browser.setOpenExternalLinks(True)
        self._browser.document().setDocumentMargin(_MARGIN)
        self._browser.sourceChanged.connect(self._on_browser_source_changed)
        theme.changed.connect(self._on_theme_changed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._browser)
        self.resize(self.fontMetrics().averageCharWidth() * _CHARACTERS, self.fontMetrics().height() * _LINES)

    @property
    def browser(self) -> QTextBrowser:
        """What shows the page."""
        return self._browser

    def begin(self, page: Path) -> None:
        """Show this page, and the window in front."""
        self._browser.setSource(QUrl.fromLocalFile(str(page)))
        self.show()
        self.raise_()
        self.activateWindow()
        self._browser.setFocus()

    def _on_browser_source_changed(self, source: QUrl) -> None:
        title = next((page.title for page in help_pages() if page.path.name == source.fileName()), "")
        self.setWindowTitle(title)
        self._browser.setAccessibleName(title)

    def _on_theme_changed(self) -> None:
        place = self._browser.verticalScrollBar().value()
        self._browser.reload()  # links and code keep the colors and fonts of the time when they were read
        self._browser.verticalScrollBar().setValue(place)
