"""The focus in the corpus editor: the words that hold it are marked, a word is put into it; and room for the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from wordpiece_studio.session.records import Focus

if TYPE_CHECKING:
    from tests.ui.conftest import Studio


def marked(studio: Studio) -> list[str]:
    editor = studio.window.corpus_pane.editor
    return [cursor.selectedText() for cursor in editor._focus_marks]


def expected(studio: Studio, tokens: tuple[str, ...]) -> list[str]:
    """The words of the text in which these tokens follow one another."""
    tokenizer = studio.window.model.tokenizer_at(studio.window.model.step)
    found = []
    for word in tokenizer.tokenize_words(studio.window.document.text):
        spelled = [piece.token for piece in word.pieces]
        if any(tuple(spelled[at : at + len(tokens)]) == tokens for at in range(len(spelled))):
            found.append(word.word.text)
    return found


@pytest.mark.parametrize(
    ("focus", "tokens"),
    [(Focus("token", text="##e"), ("##e",)), (Focus("pair", left="##e", right="##r"), ("##e", "##r"))],
)
def test_the_words_that_hold_the_focus_are_marked(studio: Studio, focus: Focus, tokens: tuple[str, ...]) -> None:
    model = studio.window.model
    model.set_focus(focus)
    studio.wait(lambda: bool(marked(studio)))
    assert marked(studio) == expected(studio, tokens)
    model.seek(model.merge_count)
    studio.wait(lambda: marked(studio) == expected(studio, tokens))
    model.set_focus(None)
    studio.wait(lambda: not marked(studio))


def test_a_pair_that_was_merged_is_found_again_in_its_token(studio: Studio) -> None:
    model = studio.window.model
    model.seek(10)
    model.set_focus(Focus("pair", left="##h", right="##m"))
    studio.wait(lambda: marked(studio) == ["algorithms"])
    model.seek(11)  # this merge makes ##hm of them
    studio.qtbot.wait(80)
    assert marked(studio) == ["algorithms"]


def test_a_word_is_marked_wherever_it_stands(studio: Studio) -> None:
    studio.set_text("the 🤗 the\nThe there the")
    studio.wait_finished()
    studio.window.model.set_focus(Focus("word", text="the"))
    studio.wait(lambda: marked(studio) == ["the", "the", "the"])


def test_ctrl_click_and_the_menu_put_a_word_into_the_focus(studio: Studio) -> None:
    editor, model = studio.window.corpus_pane.editor, studio.window.model
    editor.select(14)  # in "Hugging"
    point = editor.cursorRect().center()
    studio.qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert model.focus is None
    studio.qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, point)
    assert model.focus == Focus("word", text="Hugging")
    editor.select(1)
    menu = editor._context_menu()
    menu.actions()[-1].trigger()
    menu.deleteLater()
    assert model.focus == Focus("word", text="This")


@pytest.mark.slow
def test_the_text_keeps_its_lines_where_warnings_are_shown(studio: Studio) -> None:
    window, pane = studio.window, studio.window.corpus_pane
    window.resize(1366, 768)
    studio.set_text("你好世界 안녕하세요 niño\n" * 30)
    studio.wait(lambda: bool(pane.lint_view.findings) and not pane.lint_controller.is_under_way)
    lines = pane.editor.fontMetrics().lineSpacing()
    studio.wait(lambda: pane.editor.viewport().height() >= 5 * lines)
    assert not pane.line_view.isVisible()
    window.resize(1366, 1300)
    studio.wait(lambda: pane.line_view.isVisible())
