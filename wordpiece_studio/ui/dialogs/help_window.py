"""The pages of ``resources/help`` in a window beside the work: our own Markdown, never text from outside."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextCursor, QWheelEvent
from PySide6.QtWidgets import QTextBrowser, QVBoxLayout, QWidget

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.resources import resource_path
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.engine import ratio_of
from wordpiece_studio.training.reference import corpus_of, count_pairs, count_symbols, score, split
from wordpiece_studio.training.trainer import train
from wordpiece_studio.ui.widgets.screen_room import ScreenDialog
from wordpiece_studio.ui.widgets.token_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from wordpiece_studio.ui.widgets.theme import Theme

_CHARACTERS, _LINES = 110, 38
_MARGIN = 16
_INTRODUCTION = "what-is-wordpiece.md"
GLOSSARY = "help/glossary.md"
_ENTRY = re.compile(r"^<!-- (\S+) -->\n\*\*(.+?)\.?\*\*", re.MULTILINE)


class HelpPage(NamedTuple):
    """A page and its title, which is its first line."""

    path: Path
    title: str


def help_pages() -> list[HelpPage]:
    """Return all pages, in the order of their file names; the one to begin with is the first."""
    pages = []
    for path in sorted(resource_path("help").glob("*.md"), key=lambda path: (path.name != _INTRODUCTION, path.name)):
        with path.open(encoding="utf-8") as file:
            pages.append(HelpPage(path, file.readline().removeprefix("# ").strip()))
    return pages


@cache
def introduction() -> str:
    """Return the page that begins with the beginning, with the numbers of the smallest sample computed."""
    words = Counter(resource_path("samples/hug.txt").read_text(encoding="utf-8").split())
    corpus = corpus_of(words)
    pairs, symbols = count_pairs(corpus), count_symbols(corpus)
    run = train(WordCounts.from_pairs(list(words.items())), TrainingConfig(objective="score"))
    tokenizer, merges = run.tokenizer(), list(run.history)
    first = merges[0]
    numbers: dict[str, object] = {
        "distinct": len(words),
        "words": ", ".join(f"*{word}* ({times} times)" for word, times in words.items()),
        "characters": _codes(split("hugs")),
        "alphabet": len(symbols),
        "best_count": first.pair_frequency,
        "ratio": value_text(float(ratio_of(first, sum(symbols.values())))),
        "next_merges": " and ".join(f"`{merge.left} {merge.right}`" for merge in merges[1:3]),
        "merges": len(merges),
        **{word: _codes(tokenizer.encode(word).tokens) for word in ("hugs", "bugs", "mug")},
    }
    common = max(pairs, key=pairs.__getitem__)
    for name, (left, right) in (("common", common), ("best", (first.left, first.right))):
        counts = pairs[left, right], symbols[left], symbols[right]
        numbers[name] = f"{left} {right}"
        numbers[f"{name}_count"] = counts[0]
        numbers[f"{name}_numbers"] = "{} / ({} × {})".format(*counts)
        numbers[f"{name}_score"] = value_text(score(*counts, sum(symbols.values())))
    return resource_path(f"help/{_INTRODUCTION}").read_text(encoding="utf-8").format(**numbers)


def _codes(tokens: Iterable[str]) -> str:
    return " ".join(f"`{token}`" for token in tokens)


@cache
def glossary_entries() -> dict[str, str]:
    """Return the terms of the glossary by their keys, which stand in comments above them, in its order."""
    return dict(_ENTRY.findall(resource_path(GLOSSARY).read_text(encoding="utf-8")))


class _PageBrowser(QTextBrowser):
    """Shows a page; what the introduction says about the sample is computed."""

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        if isinstance(name, QUrl) and name.fileName() == _INTRODUCTION:
            return introduction()
        return super().loadResource(kind, name)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Keep the size of the text: Qt would make it smaller until there is none."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)


class HelpWindow(ScreenDialog):
    """Shows one page at a time; stays open beside the work until it is closed.

    Links to other pages open here, all others in the system's browser.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._browser = _PageBrowser(self)
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

    def begin(self, page: Path, entry: str = "") -> None:
        """Show this page, at the entry of the glossary with this key if there is one, and the window in front."""
        self._browser.setSource(QUrl.fromLocalFile(str(page)))
        self.show()
        self.raise_()
        self.activateWindow()
        self._browser.setFocus()
        if entry in glossary_entries():
            self._go_to(glossary_entries()[entry])

    def _go_to(self, term: str) -> None:
        """Show the entry of a term at the top, with the term selected."""
        block = self._browser.document().begin()
        while block.isValid() and not re.match(rf"{re.escape(term)}(?:\.| \()", block.text()):
            block = block.next()
        if not block.isValid():
            return
        cursor = QTextCursor(block)
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, len(term))
        self._browser.setTextCursor(cursor)
        bar = self._browser.verticalScrollBar()
        bar.setValue(bar.value() + self._browser.cursorRect(cursor).top() - _MARGIN)

    def _on_browser_source_changed(self, source: QUrl) -> None:
        title = next((page.title for page in help_pages() if page.path.name == source.fileName()), "")
        self.setWindowTitle(title)
        self._browser.setAccessibleName(title)

    def _on_theme_changed(self) -> None:
        place = self._browser.verticalScrollBar().value()
        self._browser.reload()  # links and code keep the colors and fonts of the time when they were read
        self._browser.verticalScrollBar().setValue(place)
