"""The line that offers to read a text as word counts: once, undoable, with the other reading one click away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

if TYPE_CHECKING:
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
    assert not pane.line_view.isVisible()  # no text becomes words here
    studio.wait(lambda: offer.text == "Read as words and their counts")
    document.undo_stack.undo()
    studio.wait(lambda: offer.text == "Words and their counts?")
    document.undo_stack.redo()
    studio.wait(lambda: offer.text == "Read as words and their counts")
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
    assert studio.window.corpus_pane.note == "1 line is left out: it is no word with a count."
