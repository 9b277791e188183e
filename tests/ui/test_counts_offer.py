"""The line that offers to read a text as word counts: once, undoable, with the other reading one click away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from wordpiece_studio.session.samples import first_sentence

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio

HUG = "word\tcount\nhug\t10\npug\t5\n"


def counted(studio: Studio) -> list[tuple[str, int]]:
    counts = studio.window.session.counting.counts
    return [] if counts is None else counts.items()


def test_pasted_counts_are_offered_and_read_as_counts_and_back(studio: Studio) -> None:
    pane, document = studio.window.corpus_pane, studio.window.session.document
    offer = pane.counts_offer
    assert not offer.isVisible()
    pane.editor.selectAll()
    QGuiApplication.clipboard().setText("hug 10\npug 5\n")
    pane.editor.paste()
    studio.wait(offer.isVisible, 30_000)
    studio.wait(lambda: ("10", 1) in counted(studio), 30_000)
    studio.qtbot.mouseClick(offer.accept, Qt.MouseButton.LeftButton)
    assert document.text == HUG
    studio.wait(lambda: counted(studio) == [("hug", 10), ("pug", 5)], 30_000)
    studio.wait(lambda: not pane.line_view.isVisible())  # no text becomes words here
    studio.wait(lambda: offer.text == "Word counts")
    document.undo_stack.undo()
    studio.wait(lambda: offer.text == "This looks like word counts")
    document.undo_stack.redo()
    studio.wait(lambda: offer.text == "Word counts")
    studio.qtbot.mouseClick(offer.accept, Qt.MouseButton.LeftButton)
    assert document.text == "hug\t10\npug\t5\n"
    studio.wait(lambda: ("10", 1) in counted(studio), 30_000)
    studio.wait(lambda: not offer.isVisible())  # not offered again


def test_an_offer_is_declined_once_for_the_text(studio: Studio) -> None:
    offer, document = studio.window.corpus_pane.counts_offer, studio.window.session.document
    document.set_text("hug 10\npug 5")
    studio.wait(offer.isVisible)
    studio.qtbot.mouseClick(offer.decline, Qt.MouseButton.LeftButton)
    assert not offer.isVisible()
    document.set_text("hug 10\npug 51")
    studio.wait(lambda: ("51", 1) in counted(studio), 30_000)
    assert not offer.isVisible()


def test_lines_without_a_count_are_reported(studio: Studio) -> None:
    studio.window.session.document.set_text(HUG + "bun\n")
    studio.wait(lambda: counted(studio) == [("hug", 10), ("pug", 5)], 30_000)
    assert studio.window.corpus_pane.note_label.text() == "1 line is left out: it is not a word with a count."


def test_a_table_that_is_opened_says_that_it_is_read_as_counts(studio: Studio, tmp_path: Path) -> None:
    for name, content in (("a.tsv", "hug\t10\npug\t5\n"), ("b.csv", "Wort,Anzahl\nbun,4\npun,12\n")):
        (tmp_path / name).write_text(content, encoding="utf-8")
    pane, document = studio.window.corpus_pane, studio.window.session.document
    offer = pane.counts_offer
    studio.open(tmp_path / "a.tsv")
    studio.wait(lambda: counted(studio) == [("hug", 10), ("pug", 5)], 30_000)
    assert (offer.isVisible(), offer.text, offer.decline.isVisible()) == (True, "Word counts", False)
    studio.window.corpus_controller.add_paths([tmp_path / "b.csv"])
    studio.wait(lambda: offer.text == "2 of 2 files are read as word counts", 30_000)
    studio.wait(lambda: len(counted(studio)) == 4, 30_000)
    offer.accept.setFocus()
    studio.qtbot.keyClick(offer.accept, Qt.Key.Key_Space)
    studio.wait(lambda: counted(studio) == [("hug", 1), ("pug", 1), ("bun", 1), ("pun", 1)], 30_000)
    assert not offer.isVisible()
    document.undo_stack.undo()
    studio.wait(offer.isVisible)
    studio.wait(lambda: ("hug", 10) in counted(studio), 30_000)


def test_a_text_of_counts_is_saved_opened_and_listed_as_such(studio: Studio, tmp_path: Path) -> None:
    document, path = studio.window.session.document, tmp_path / "counts.txt"
    document.set_text(HUG)
    document.save_text(path)
    corpus = studio.window.session.corpus()
    assert corpus.origin is not None
    assert corpus.origin.file.kind == "word-counts"
    studio.open(path)
    studio.wait(lambda: counted(studio) == [("hug", 10), ("pug", 5)], 30_000)
    assert document.text == HUG
    (tmp_path / "other.txt").write_text("hug hug")
    studio.window.corpus_controller.add_paths([tmp_path / "other.txt"])
    studio.wait(lambda: counted(studio) == [("hug", 12), ("pug", 5)], 30_000)
    assert studio.window.corpus_pane.counts_offer.text == "1 of 2 files is read as word counts"


def test_the_line_makes_nothing_scroll(studio: Studio) -> None:
    window = studio.window
    bar = window.corpus_pane.parentWidget().parentWidget().verticalScrollBar()
    for width, height in ((1366, 768), (1024, 768)):
        window.resize(width, height)
        window.docks.bring("corpus")  # a tab in a narrow window
        window.session.document.set_text("".join(f"word{'x' * number} {number}\n" for number in range(1, 40)))
        studio.wait(window.corpus_pane.counts_offer.isVisible)
        assert not bar.isVisible()
        window.corpus_pane.counts_offer.accept.click()
        studio.wait(lambda: len(counted(studio)) == 39, 30_000)
        assert not bar.isVisible()
        window.session.document.set_text("hug")
        studio.wait(lambda: not window.corpus_pane.counts_offer.isVisible())


def test_the_words_of_word_counts_are_offered_as_live_text_not_their_titles() -> None:
    assert first_sentence(HUG) == "hug pug"
    assert first_sentence("word\tcount\n") == ""
