"""The pages of the help: reached from the menu, read in their window, linked with each other."""

from __future__ import annotations

import math
import re
from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QPointF, Qt, QTranslator, QUrl, Slot
from PySide6.QtGui import QCursor, QDesktopServices, QHelpEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTableView, QTreeWidgetItem, QTreeWidgetItemIterator, QWidget

import wordpiece_studio
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.resources import resource_path
from wordpiece_studio.session.samples import sample_project
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.engine import ratio_of
from wordpiece_studio.training.reference import (
    Corpus,
    Pair,
    best_pair,
    corpus_of,
    count,
    count_pairs,
    count_symbols,
    join,
    likelihood,
    merge,
    pair_values,
    score,
    split,
)
from wordpiece_studio.training.trainer import train
from wordpiece_studio.ui.dialogs.help_window import HelpWindow, help_pages, help_sections
from wordpiece_studio.ui.training_bar import FurtherDialog
from wordpiece_studio.ui.widgets.plain import entry_at
from wordpiece_studio.ui.widgets.theme import LOOKS, palette
from wordpiece_studio.ui.widgets.token_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
    return {action.text(): action for where, action in studio.window.actions_.placed() if where == "Help"}


def page(stem: str) -> Path:
    return resource_path(f"help/{stem}.md")


@pytest.fixture
def help_window(qtbot: QtBot, theme: Theme) -> HelpWindow:
    window = HelpWindow(theme)
    qtbot.addWidget(window)
    return window


def test_every_page_has_a_title_and_is_in_the_menu(empty_studio: Studio) -> None:
    pages = help_pages()
    assert set(map(page, pages)) == set(resource_path("help").iterdir())
    assert all(pages.values())
    in_menu = {text: action.data() for text, action in entries(empty_studio).items() if action.data() is not None}
    assert in_menu == {title: key for key, title in pages.items()}


def test_the_menu_opens_one_window_and_escape_closes_it(empty_studio: Studio) -> None:
    window, qtbot = empty_studio.window, empty_studio.qtbot
    with qtbot.waitActive(window):
        window.show()
    entries(empty_studio)["Read a corpus"].trigger()
    pages = window.findChild(HelpWindow)
    assert (pages.windowTitle(), pages.browser.accessibleName()) == ("Read a corpus", "Read a corpus")
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
        help_window.show_page(each)
        shown = help_window.browser.document().toRawText().replace("\u2029", "\n")
        headings = re.findall(r"^#+ (.*)$", page(each).read_text("utf-8"), flags=re.MULTILINE)
        assert [line for line in shown.split("\n") if line in headings] == headings


def test_links_between_pages_work_and_the_keyboard_goes_back(help_window: HelpWindow) -> None:
    browser = help_window.browser
    help_window.show_page("corpora")
    QTest.keyClick(browser, Qt.Key.Key_Tab)  # the first link
    QTest.keyClick(browser, Qt.Key.Key_Return)
    assert help_window.windowTitle() == "Train on a large corpus"
    QTest.keyClick(browser, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert help_window.windowTitle() == "Read a corpus"


def test_the_introduction_has_the_numbers_of_the_sample(help_window: HelpWindow) -> None:
    assert next(iter(help_pages().values())) == "What is WordPiece?"
    help_window.show_page("what-is-wordpiece")
    shown = " ".join(help_window.browser.toPlainText().split())
    assert "{" not in shown
    for said in (
        "5 different words", "pun (12 times)", "hugs is h ##u ##g ##s.", "The 7 different symbols",
        "##u ##g: 20 / (36 × 20) = 0.02778", "##g ##s: 5 / (20 × 5) = 0.05000, the highest",
        "5.650 times as often as expected by chance", "after 9 merges", "bugs, which it does not contain, is bu ##gs",
        "mug is [UNK]",
    ):  # fmt: skip
        assert said in shown, said


def test_the_numbers_of_the_introduction_are_those_of_the_sample() -> None:
    words = Counter(resource_path("samples/hug.txt").read_text(encoding="utf-8").split())
    corpus = corpus_of(words)
    pairs, symbols = count_pairs(corpus), count_symbols(corpus)
    run = train(WordCounts.from_pairs(list(words.items())), TrainingConfig(objective="score"))
    tokenizer, merges = run.tokenizer(), list(run.history)
    first, common, total = merges[0], max(pairs, key=pairs.__getitem__), sum(symbols.values())
    said = [
        f"has {len(words)} different words: ", *(f"*{word}* ({times} times)" for word, times in words.items()),
        f"`hugs` is {codes(split('hugs'))}", f"The {len(symbols)} different symbols",
        f"`{' '.join(common)}` occurs {pairs[common]} times", f"only {first.pair_frequency} times",
        f"that is {value_text(float(ratio_of(first, total)))} times as often",
        f"next come {' and '.join(f'`{merge.left} {merge.right}`' for merge in merges[1:3])}",
        f"here after {len(merges)} merges", *(f"is {codes(tokenizer.encode(word).tokens)}" for word in
        ("hugs", "bugs", "mug", "gun")),
    ]  # fmt: skip
    assert {"##g", "##u", "##n"} < {*symbols}  # gun has no new characters
    assert "g" not in symbols
    for pair in (common, (first.left, first.right)):
        counts = pairs[pair], *map(symbols.__getitem__, pair)
        value = value_text(score(*counts, total))
        said.append(
            "`{}`: {} / ({} × {}) = ".format(" ".join(pair), *counts) + (f"**{value}**" if pair != common else value)
        )
    page_text = " ".join(page("what-is-wordpiece").read_text("utf-8").split())
    assert [words for words in said if words not in page_text] == []


def test_the_mistake_of_the_course_and_the_code_lengths_are_computed() -> None:
    corpus = corpus_of(Counter(resource_path("samples/hug.txt").read_text(encoding="utf-8").split()))
    for pair in (("##g", "##s"), ("h", "##u")):
        corpus = [(merge(symbols, *pair, join(*pair)), times) for symbols, times in corpus]
    pairs, symbols, said = count_pairs(corpus), count_symbols(corpus), []
    for left, right in (("hu", "##g"), ("hu", "##gs")):
        n, product = pairs[left, right], symbols[left] * symbols[right]
        said.append(f"{n}/({symbols[left]} × {symbols[right]}) = {Fraction(n, product)}")
    assert best_pair(pair_values(pairs, symbols, score)) == ("hu", "##gs")

    words = corpus_of(dict.fromkeys(["low", "lower", "newest", "widest"], 1))
    pairs, symbols = count_pairs(words), count_symbols(words)
    said.append(f"their {sum(symbols.values())} symbols take {bits(words):.2f} bits")
    shortest = min(map(partial(bits_after, words), pairs))
    for objective, name in ((score, "the score merges"), (likelihood, "likelihood and count merge")):
        pair = best_pair(pair_values(pairs, symbols, objective))
        said.append(f"{name} `{' '.join(pair)}`, and they take {bits_after(words, pair):.2f} bits")
    assert best_pair(pair_values(pairs, symbols, count)) == pair
    assert bits_after(words, pair) == shortest
    page_text = " ".join(page("what-is-wordpiece").read_text("utf-8").split())
    assert [words for words in said if words not in page_text] == []
    note = next(note.text for note in sample_project("traditional-chinese-article").view.notes if note.step == 2)
    assert all(number in note for number in re.findall(r"\d+\.\d\d", " ".join(said)))


def bits(corpus: Corpus) -> float:
    """Return the length of a text whose symbols have codes of the best length."""
    counts = count_symbols(corpus).values()
    return sum(n * math.log2(sum(counts) / n) for n in counts)


def bits_after(corpus: Corpus, pair: Pair) -> float:
    return bits([(merge(symbols, *pair, join(*pair)), times) for symbols, times in corpus])


def codes(tokens: Iterable[str]) -> str:
    return " ".join(f"`{token}`" for token in tokens)


def test_every_section_is_in_the_contents_and_shown_at_the_top_with_its_title_selected(help_window: HelpWindow) -> None:
    sections = help_sections()
    found = [re.findall(r"^(?:#+ |\*\*)", page(each).read_text("utf-8"), flags=re.MULTILINE) for each in help_pages()]
    assert len(sections) == sum(map(len, found)) > 100
    assert set(items(help_window)) == {each.title for each in sections.values()}
    for key, section in sections.items():
        help_window.show_page(key)
        cursor, bar = help_window.browser.textCursor(), help_window.browser.verticalScrollBar()
        assert cursor.selectedText() == (section.title if key != section.page.stem else "")
        assert help_window.windowTitle() == help_pages()[section.page.stem]
        assert help_window.contents.currentItem().text(0) == section.title
        assert bar.value() == bar.maximum() or help_window.browser.cursorRect(cursor).top() in range(40)


def items(help_window: HelpWindow) -> dict[str, QTreeWidgetItem]:
    """Return the lines of the contents that are not hidden, by their titles."""
    shown = QTreeWidgetItemIterator(help_window.contents, QTreeWidgetItemIterator.IteratorFlag.NotHidden)
    found: dict[str, QTreeWidgetItem] = {}
    while (item := shown.value()) is not None:
        found[item.text(0)] = item
        shown += 1
    return found


def test_search_lists_what_has_every_word_and_shows_the_best(help_window: HelpWindow, qtbot: QtBot) -> None:
    with qtbot.waitActive(help_window):
        help_window.show_page("glossary")
    QTest.keyClick(help_window.browser, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert help_window.focusWidget() is help_window.field
    help_window.field.setText("bookmarked comPARE")
    assert 2 <= len(items(help_window)) < 12
    assert help_window.windowTitle() == "Use the window"
    assert help_window.browser.textCursor().selectedText().casefold() == "bookmarked"
    help_window.field.setText("renyi")
    assert help_window.contents.currentItem().text(0) == "Rényi efficiency"
    QTest.keyClick(help_window.field, Qt.Key.Key_Down)
    assert help_window.focusWidget() is help_window.contents
    QTest.keyClick(help_window.contents, Qt.Key.Key_Up)
    assert help_window.windowTitle() == help_window.contents.currentItem().text(0)
    help_window.field.setText("nosuchthing")
    assert not items(help_window)
    title = help_window.windowTitle()
    help_window.contents.setCurrentItem(None)  # as keys do in an empty list
    assert help_window.windowTitle() == title
    help_window.show_page("corpora")
    assert len(items(help_window)) == len({each.title for each in help_sections().values()})


def test_for_a_key_without_a_section_the_window_is_explained(help_window: HelpWindow) -> None:
    help_window.show_page("window")
    title = help_window.windowTitle()
    help_window.show_page("corpora")
    help_window.show_page("no such key")
    assert help_window.windowTitle() == title


def test_a_link_moves_in_the_contents_too(help_window: HelpWindow) -> None:
    help_window.show_page("corpora")
    QTest.keyClick(help_window.browser, Qt.Key.Key_Tab)
    QTest.keyClick(help_window.browser, Qt.Key.Key_Return)
    assert help_window.contents.currentItem().text(0) == "Train on a large corpus"


class Reversing(QTranslator):
    """Says everything backwards, the fields excepted."""

    def translate(self, _context: str, text: str, _disambiguation: str = "", _n: int = -1) -> str:
        return "".join(reversed(re.findall(r"\{[^{}]*\}|%\w|.", text, flags=re.DOTALL)))

    def isEmpty(self) -> bool:
        return False


@pytest.fixture(params=[False, True], ids=["in English", "in another language"])
def labeled(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Whether all labels are translated; to be asked for before the window."""
    translator = Reversing()
    if request.param:
        QCoreApplication.installTranslator(translator)
    yield request.param
    QCoreApplication.removeTranslator(translator)


def test_everything_in_the_window_and_every_column_has_an_entry(labeled: bool, studio: Studio) -> None:
    nowhere, window = QPoint(-1, -1), studio.window
    found = {
        each: entry_at(each, nowhere)
        for part in (*window.docks.panels.values(), window.bar, window.run_strip)
        for each in part.findChildren(QWidget)
        if each.focusPolicy() != Qt.FocusPolicy.NoFocus or isinstance(each, QLabel)
    }
    assert len(found) > 150
    assert [
        (each.accessibleName(), each.toolTip()) for each, entry in found.items() if entry not in help_sections()
    ] == []
    assert window.docks.panels["timeline"].windowTitle() == ("enilemiT" if labeled else "Timeline")
    settings = window.bar.settings
    captions = {label.buddy(): entry for label, entry in found.items() if isinstance(label, QLabel) and label.buddy()}
    assert (found[settings.size_box], captions[settings.size_box]) == ("vocabulary", "vocabulary")
    assert {"tie", "symbol", "held-out-text", "longest-match", "changes", "bookmark"} <= {*found.values()}
    columns: dict[str, set[str]] = {}
    for view in studio.window.findChildren(QTableView):
        header = view.horizontalHeader()
        for column in range(view.model().columnCount()):
            middle = QPoint(header.sectionViewportPosition(column) + header.sectionSize(column) // 2, 5)
            if not view.isColumnHidden(column) and 0 <= middle.x() < header.viewport().width():
                entry = entry_at(header.viewport(), header.viewport().mapToGlobal(middle))
                columns.setdefault(type(view).__name__, set()).add(entry)
    assert set().union(*columns.values()) <= help_sections().keys()
    assert {"step", "pair", "score", "tie"} <= columns["HistoryView"]


def test_every_key_in_the_code_is_one_of_the_help() -> None:
    code = "".join(path.read_text("utf-8") for path in Path(wordpiece_studio.__file__).parent.rglob("*.py"))
    keys = set(re.findall(r"\b(?:explain\(|entry=)\"([^\"]*)\"", code))
    assert len(keys) > 20
    assert keys <= help_sections().keys() | {""}


def test_no_command_is_asked_for_when_the_focus_leaves_a_window_that_is_deleted(
    studio: Studio, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.window, "actions_", None)  # they are gone before the last widget
    qapp.focusChanged.emit(studio.window.corpus_pane, None)
    qapp.focusChanged.emit(None, studio.window.corpus_pane)


def test_the_key_explains_what_has_the_focus(studio: Studio) -> None:
    QCursor.setPos(studio.window.frameGeometry().bottomRight() + QPoint(20, 20))  # what it is over goes first
    studio.window.bar.settings.objective_box.setFocus()
    studio.window.actions_.explain.trigger()
    pages = studio.window.findChild(HelpWindow)
    assert pages.windowTitle() == "Glossary"
    assert pages.browser.textCursor().selectedText() == "Objective"


def test_the_key_explains_in_a_dialog_that_blocks_the_window(studio: Studio) -> None:
    dialog = FurtherDialog(70, studio.window)
    with studio.qtbot.waitActive(dialog):
        dialog.open()
    studio.wait(dialog.size_box.hasFocus)
    QTest.keyClick(dialog.size_box, Qt.Key.Key_F1)
    pages = dialog.findChild(HelpWindow)
    assert pages.isVisible()
    assert pages.browser.textCursor().selectedText() == "Vocabulary"
    pages.close()
    studio.wait(dialog.size_box.hasFocus)
    QTest.keyClick(dialog.size_box, Qt.Key.Key_F1)
    assert pages.isVisible()
    assert studio.window.findChildren(HelpWindow) == [pages]
    dialog.close()


def test_the_key_explains_a_pane_and_a_caption_has_the_tooltip_of_its_field(studio: Studio) -> None:
    for name, title in (
        ("corpus", "Edit the corpus"), ("timeline", "Go to a step on the timeline"),
        ("token_details", "Look into a token: token details"), ("charts", "Read the charts"),
    ):  # fmt: skip
        panel = studio.window.docks.panels[name]
        entry = entry_at(panel, QPoint(-1, -1))
        assert help_sections()[entry].title == title
        assert entry_at(panel.title_bar, QPoint(-1, -1)) == entry
    captions = [label for label in studio.window.findChildren(QLabel) if label.buddy() is not None]
    assert len(captions) >= 6
    for caption in captions:
        QApplication.sendEvent(caption, QHelpEvent(QEvent.Type.ToolTip, QPoint(1, 1), QPoint(1, 1)))
        assert caption.toolTip() == caption.buddy().toolTip(), caption.text()
    assert sum(bool(caption.toolTip()) for caption in captions) >= 6


def test_every_command_in_a_menu_is_explained(empty_studio: Studio) -> None:
    entries: dict[str, str] = {}
    for menu in empty_studio.window.menuBar().findChildren(QMenu):
        menu.adjustSize()
        for action in menu.actions():
            menu.setActiveAction(action)
            place = menu.mapToGlobal(menu.actionGeometry(action).center())
            if not action.isSeparator():
                entries[action.text().replace("&", "")] = entry_at(menu, place)
    assert len(entries) > 80
    assert set(entries.values()) <= help_sections().keys()
    assert entries["Vocabulary overlap"] == "compare"
    assert entries["Run metrics"] == "which-is-better"
    assert entries["Export merge history…"] == "export-history"
    assert entries["Objective"] == "objective"
    assert entries["Charts"] == "read-charts"


def test_the_key_explains_the_chosen_command_of_an_open_menu(studio: Studio) -> None:
    window = studio.window
    with studio.qtbot.waitActive(window):
        window.show()
    menu = next(each for each in window.menuBar().findChildren(QMenu) if window.actions_.bookmarks in each.actions())
    menu.popup(window.pos())
    menu.setActiveAction(window.actions_.bookmarks)
    studio.qtbot.waitExposed(menu)
    QTest.keyClick(menu, Qt.Key.Key_F1)
    assert not menu.isVisible()
    pages = window.findChild(HelpWindow)
    studio.wait(pages.isVisible)
    assert pages.browser.textCursor().selectedText() == "Bookmark"


def test_links_to_elsewhere_open_in_the_browser_of_the_system(help_window: HelpWindow, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Outside\n\n[there](https://example.org/there)\n", "utf-8")
    handler = UrlHandler()
    QDesktopServices.setUrlHandler("https", handler, "handle")
    try:
        help_window.browser.setSource(QUrl.fromLocalFile(str(outside)))
        help_window.begin()
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
        help_window.show_page("corpora")
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
    help_window.show_page(next(iter(help_pages())))
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
