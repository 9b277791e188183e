"""The pages of the help: reached from the menu, read in their window, linked with each other."""

from __future__ import annotations

import doctest
import re
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt, QUrl, Slot
from PySide6.QtGui import QCursor, QDesktopServices, QHelpEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from wordpiece_studio.resources import resource_path
from wordpiece_studio.ui.dialogs import help_window as help_module
from wordpiece_studio.ui.dialogs.help_window import HelpWindow, entry_for, glossary_terms, help_pages, term_at
from wordpiece_studio.ui.panes.training_bar.training_words import FurtherDialog
from wordpiece_studio.ui.widgets.colors import LOOKS, palette

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QAction
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme


class UrlHandler(QObject):
    """Takes the links that would have been opened in the system's browser."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def handle(self, url: QUrl) -> None:
        self.opened.append(url.toString())


def entries(studio: Studio) -> dict[str, QAction]:
    """Return the commands of the Help menu by their texts."""
    return {action.text(): action for where, action in studio.window.menus.placed() if where == "Help"}


def page(stem: str) -> Path:
    return resource_path(f"help/{stem}.md")


@pytest.fixture
def help_window(qtbot: QtBot, theme: Theme) -> HelpWindow:
    window = HelpWindow(theme)
    qtbot.addWidget(window)
    return window


def test_every_page_has_a_title_and_is_in_the_menu(empty_studio: Studio) -> None:
    pages = help_pages()
    assert {each.path.name for each in pages} == {path.name for path in resource_path("help").iterdir()}
    assert all(each.title for each in pages)
    in_menu = {text: action.data() for text, action in entries(empty_studio).items() if action.data() is not None}
    assert in_menu == {each.title: each.path for each in pages}


def test_the_menu_opens_one_window_and_escape_closes_it(empty_studio: Studio) -> None:
    window, qtbot = empty_studio.window, empty_studio.qtbot
    with qtbot.waitActive(window):
        window.show()
    entries(empty_studio)["Corpora"].trigger()
    pages = window.findChild(HelpWindow)
    assert (pages.windowTitle(), pages.browser.accessibleName()) == ("Corpora", "Corpora")
    empty_studio.wait(pages.browser.hasFocus)
    entries(empty_studio)["Glossary"].trigger()
    assert window.findChildren(HelpWindow) == [pages]
    assert pages.windowTitle() == "Glossary"
    assert pages.browser.toMarkdown().startswith("# Glossary")
    assert not pages.isModal()
    QTest.keyClick(pages.browser, Qt.Key.Key_Escape)
    assert not pages.isVisible()


def test_every_page_shows_all_its_paragraphs(help_window: HelpWindow) -> None:
    for each in help_pages():
        help_window.begin(each.path)
        shown = help_window.browser.document().toRawText().replace("\u2029", "\n")
        headings = re.findall(r"^#+ (.*)$", each.path.read_text("utf-8"), flags=re.MULTILINE)
        assert [line for line in shown.split("\n") if line in headings] == headings


def test_links_between_pages_work_and_the_keyboard_goes_back(help_window: HelpWindow) -> None:
    browser = help_window.browser
    help_window.begin(page("corpora"))
    QTest.keyClick(browser, Qt.Key.Key_Tab)  # the first link
    QTest.keyClick(browser, Qt.Key.Key_Return)
    assert help_window.windowTitle() == "Large corpora and clusters"
    QTest.keyClick(browser, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert help_window.windowTitle() == "Corpora"


def test_the_introduction_has_the_numbers_of_the_sample(help_window: HelpWindow) -> None:
    assert help_pages()[0].title == "What is WordPiece?"
    help_window.begin(page("what-is-wordpiece"))
    shown = " ".join(help_window.browser.toPlainText().split())
    assert "{" not in shown
    for said in (
        "5 different words", "pun (12 times)", "hugs is h ##u ##g ##s.", "The 7 different symbols",
        "##u ##g: 20 / (36 × 20) = 0.02778", "##g ##s: 5 / (20 × 5) = 0.05000, the highest",
        "5.650 times as often as expected by chance", "after 9 merges", "bugs, which it does not contain, is bu ##gs",
        "mug is [UNK]",
    ):  # fmt: skip
        assert said in shown, said


def test_the_examples_hold() -> None:
    assert not doctest.testmod(help_module).failed


@pytest.mark.parametrize(
    ("said", "entry"),
    [
        ("Objective", "Objective"), ("n(ab)", "Pair"), ("Vocabulary size", "Vocabulary"), ("Merge history", "Merge"),
        ("Pieces tried by longest match", "Longest match"), ("[UNK]", "Unknown token"),
        ("Live tokenization", "Live text"), ("Stepping", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_name_leads_to_the_entry_of_its_first_term(said: str, entry: str) -> None:
    assert entry_for(said) == entry


def test_every_entry_is_shown_at_the_top_with_its_term_selected(help_window: HelpWindow) -> None:
    entries_ = dict.fromkeys(glossary_terms().values())
    assert len(entries_) > 30
    for entry in entries_:
        help_window.begin(page("glossary"), entry)
        cursor = help_window.browser.textCursor()
        assert cursor.selectedText() == entry
        bar = help_window.browser.verticalScrollBar()
        assert bar.value() == bar.maximum() or help_window.browser.cursorRect(cursor).top() in range(40)


def test_everything_in_the_window_has_an_entry(studio: Studio) -> None:
    nowhere = QPoint(-1, -1)
    found = {
        each: term_at(each, nowhere)
        for part in (*studio.window.docks.panels, studio.window.bar.settings)
        for each in part.findChildren(QWidget)
        if each.focusPolicy() != Qt.FocusPolicy.NoFocus or isinstance(each, QLabel)
    }
    assert len(found) > 100
    assert [(each.accessibleName(), each.toolTip()) for each, term in found.items() if not term] == []


def test_the_columns_of_the_history_have_entries_of_their_own(studio: Studio) -> None:
    view = studio.window.history_pane.view
    header = view.horizontalHeader()
    found = []
    for column in range(view.model().columnCount()):
        if not view.isColumnHidden(column) and 0 <= header.sectionViewportPosition(column) < header.width():
            middle = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, 5)
            found.append(term_at(header.viewport(), header.viewport().mapToGlobal(middle)))
    assert {"Step", "Pair", "Score", "Tie"} <= set(found)


def test_the_key_explains_what_has_the_focus(studio: Studio) -> None:
    QCursor.setPos(studio.window.frameGeometry().bottomRight() + QPoint(20, 20))  # what it is over goes first
    studio.window.bar.settings._objective_box.setFocus()
    studio.window.actions_.explain.trigger()
    pages = studio.window.findChild(HelpWindow)
    assert pages.windowTitle() == "Glossary"
    assert pages.browser.textCursor().selectedText() == "Objective"


def test_the_key_explains_in_a_dialog_that_blocks_the_window(studio: Studio) -> None:
    dialog = FurtherDialog(70, studio.window)
    with studio.qtbot.waitActive(dialog):
        dialog.open()
    studio.wait(dialog._size_box.hasFocus)
    QTest.keyClick(dialog._size_box, Qt.Key.Key_F1)
    pages = dialog.findChild(HelpWindow)
    assert pages.isVisible()
    assert pages.browser.textCursor().selectedText() == "Vocabulary"
    pages.close()
    studio.wait(dialog._size_box.hasFocus)
    QTest.keyClick(dialog._size_box, Qt.Key.Key_F1)
    assert pages.isVisible()
    assert studio.window.findChildren(HelpWindow) == [pages]
    dialog.close()


def test_a_caption_has_the_tooltip_of_its_field(studio: Studio) -> None:
    captions = [label for label in studio.window.findChildren(QLabel) if label.buddy() is not None]
    assert len(captions) >= 6
    for caption in captions:
        QApplication.sendEvent(caption, QHelpEvent(QEvent.Type.ToolTip, QPoint(1, 1), QPoint(1, 1)))
        assert caption.toolTip() == caption.buddy().toolTip(), caption.text()
    assert sum(bool(caption.toolTip()) for caption in captions) >= 6


def test_links_to_elsewhere_open_in_the_browser_of_the_system(help_window: HelpWindow, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside\n\n[there](https://example.org/there)\n", "utf-8")
    handler = UrlHandler()
    QDesktopServices.setUrlHandler("https", handler, "handle")
    try:
        help_window.begin(outside)
        QTest.keyClick(help_window.browser, Qt.Key.Key_Tab)
        QTest.keyClick(help_window.browser, Qt.Key.Key_Return)
    finally:
        QDesktopServices.unsetUrlHandler("https")
    assert handler.opened == ["https://example.org/there"]
    assert help_window.browser.source().fileName() == "outside.md"


def test_it_follows_the_theme_and_stays_where_it_was_read(
    help_window: HelpWindow, theme: Theme, qapp: QApplication
) -> None:
    def link_colors() -> set[str]:
        return set(re.findall(r'<a [^>]*><span style="[^"]* color:(#\w+)', help_window.browser.toHtml()))

    before = qapp.palette()
    try:
        qapp.setPalette(palette(LOOKS["light"]))
        help_window.resize(300, 200)
        help_window.begin(page("corpora"))
        assert link_colors() == {LOOKS["light"].accent_ink.name()}
        bar = help_window.browser.verticalScrollBar()
        bar.setValue(bar.maximum() // 2)
        place = bar.value()
        assert place
        qapp.setPalette(palette(LOOKS["dark"]))
        theme.set_choice("dark")
        assert link_colors() == {LOOKS["dark"].accent_ink.name()}
        assert bar.value() == place
    finally:
        qapp.setPalette(before)


def test_a_page_keeps_its_size_under_the_wheel_and_ctrl(help_window: HelpWindow) -> None:
    help_window.begin(help_pages()[0].path)
    viewport, size = help_window.browser.viewport(), help_window.browser.font().pointSizeF()
    for _ in range(30):
        place = QPointF(20, 20)
        down, none = QPoint(0, -120), Qt.MouseButton.NoButton
        wheel = QWheelEvent(
            place, viewport.mapToGlobal(place), QPoint(), down, none, Qt.KeyboardModifier.ControlModifier,
            Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(viewport, wheel)
    assert help_window.browser.font().pointSizeF() == size
