"""Editor and document hold the same whatever is done to either, over all of Unicode and all the ways to show a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPointF, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QInputMethodEvent, QKeyEvent, QTextCursor
from PySide6.QtWidgets import QApplication

from wordpiece_studio.session import view_text
from wordpiece_studio.session.document import Document, TextFile
from wordpiece_studio.session.view_text import to_view
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.corpus.corpus_editor import CorpusEditor
from wordpiece_studio.ui.widgets.plain import copy_text, whole
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio

pytestmark = pytest.mark.qt_log_ignore("OpenType support missing", extend=True)  # the machine's fonts

SPECIAL = "\ufeff\ufffe\uffff\ufdd0\ufdd1\u2028\u2029\0\r\n\x85\x0b\x0c\x1c\t\u00a0\u00ad\ufffc\ufffd\u200b\u200d\u202e"
WIDE = "\U0001f917\U0001f468\U0010ffff\U0001fffe"
HALVES = "\ud83e\udd17\udfff"
texts = st.text(st.sampled_from("ab \n" + SPECIAL + WIDE + HALVES) | st.characters(codec="utf-16"), max_size=6)
places = st.integers(0, 40)


class OwnDrop(QDropEvent):
    """The drop of what is dragged inside the editor; only a real drag has a source."""

    def __init__(self, editor: CorpusEditor, place: QPointF, data: QMimeData) -> None:
        super().__init__(
            place, Qt.DropAction.MoveAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        )
        self.editor = editor
        self.setDropAction(Qt.DropAction.MoveAction)

    def source(self) -> CorpusEditor:
        return self.editor


class Desk:
    """An editor with its document, and what a user does to them."""

    def __init__(self, text: str = "") -> None:
        self.document = Document()
        self.editor = CorpusEditor(self.document, Theme("light"))
        self.editor.resize(500, 300)
        self.document.set_text(text)

    def close(self) -> None:
        self.document.close()
        self.editor.deleteLater()
        self.document.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    @property
    def held(self) -> str:
        """What Qt holds, unit by unit."""
        qt = self.editor.document()
        units = "".join(qt.characterAt(place) for place in range(qt.characterCount() - 1)).replace("\u2029", "\n")
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")

    def select(self, one: int, other: int) -> None:
        last = self.editor.document().characterCount() - 1
        self.editor.select(min(one, last), min(other, last))

    def press(self, key: Qt.Key, text: str = "", modifiers: Qt.KeyboardModifier | None = None) -> None:
        held = Qt.KeyboardModifier.NoModifier if modifiers is None else modifiers
        self.compose("")  # an input method lets no key through while it composes
        QApplication.sendEvent(self.editor, QKeyEvent(QEvent.Type.KeyPress, key, held, whole(text)))

    def compose(self, text: str, preedit: str = "", start: int = 0, length: int = 0) -> None:
        event = QInputMethodEvent(whole(preedit), [])
        event.setCommitString(whole(text), start, length)
        QApplication.sendEvent(self.editor, event)

    def replace_composed(self, text: str, before: int) -> None:
        """Commit a text in the place of what stands before the cursor, as input methods that correct do."""
        before = min(before, self.editor.textCursor().selectionStart())
        self.compose(text, start=-before, length=before)

    def paste(self, text: str) -> None:
        copy_text(text)
        self.editor.paste()

    def _point(self, place: int) -> QPointF:
        cursor = QTextCursor(self.editor.document())
        cursor.setPosition(min(place, self.editor.document().characterCount() - 1))
        return QPointF(self.editor.cursorRect(cursor).center())

    def _let_fall(self, event: QDropEvent) -> None:
        place, mouse = event.position().toPoint(), (event.buttons(), event.modifiers())
        viewport = self.editor.viewport()
        QApplication.sendEvent(viewport, QDragEnterEvent(place, event.possibleActions(), event.mimeData(), *mouse))
        QApplication.sendEvent(viewport, event)

    def drop(self, text: str, place: int) -> None:
        actions, button, modifier = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        data = QMimeData()
        data.setText(whole(text))
        self._let_fall(QDropEvent(self._point(place), actions, data, button, modifier))

    def drag(self, place: int) -> None:
        """Drag what is selected to another place."""
        data = self.editor.createMimeDataFromSelection()
        self._let_fall(OwnDrop(self.editor, self._point(place), data))

    def insert(self, text: str) -> None:
        self.editor.textCursor().insertText(whole(text))

    def check(self) -> None:
        if self.editor.is_stale:
            QCoreApplication.processEvents()
        assert self.held == self.document.view_text
        assert self.editor.isReadOnly() == self.document.is_kept
        if not self.document.is_kept:
            assert self.held == to_view(self.document.text)

    def check_history(self) -> None:
        """All that was done can be undone and done again."""
        stack, last = self.document.undo_stack, self.document.text
        count = stack.index()
        for step in (stack.undo, stack.redo):
            for _ in range(count):
                step()
                self.check()
        assert self.document.text == last


def act(desk: Desk, data: st.DataObject) -> None:
    """Do one of the things that a user or the program can do."""
    keys, control = Qt.Key, Qt.KeyboardModifier.ControlModifier
    match data.draw(st.sampled_from(ACTIONS)):
        case "select":
            desk.select(data.draw(places), data.draw(places))
        case "type":
            desk.press(keys.Key_A, data.draw(texts))
        case "compose":
            desk.compose(data.draw(texts), data.draw(texts))
        case "replace":
            desk.replace_composed(data.draw(texts), data.draw(st.integers(0, 2)))
        case "paste":
            desk.paste(data.draw(texts))
        case "drop":
            desk.drop(data.draw(texts), data.draw(places))
        case "drag":
            desk.drag(data.draw(places))
        case "insert":
            desk.insert(data.draw(texts))
        case "cut":
            desk.editor.cut()
        case "key":
            key = data.draw(st.sampled_from([keys.Key_Backspace, keys.Key_Delete]))
            desk.press(key, modifiers=data.draw(st.sampled_from([None, control])))
        case "return":
            desk.press(keys.Key_Return, "\r", data.draw(st.sampled_from([None, Qt.KeyboardModifier.ShiftModifier])))
        case "undo":
            desk.press(keys.Key_Z, modifiers=control)
        case "redo":
            desk.press(keys.Key_Z, modifiers=control | Qt.KeyboardModifier.ShiftModifier)
        case "program":
            start = min(data.draw(places), len(desk.document.text))
            removed = min(data.draw(st.integers(0, 5)), len(desk.document.text) - start)
            desk.document.edit(start, removed, data.draw(texts))
        case "events":
            QCoreApplication.processEvents()


ACTIONS = (
    "select", "select", "type", "compose", "replace", "paste", "drop", "drag", "insert", "cut", "key", "return", "undo",
    "redo", "program", "events",
)  # fmt: skip


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.close()


@pytest.fixture(params=["edited", "kept if long"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ways in which a text is shown, with limits that a short one reaches."""
    if request.param == "kept if long":
        monkeypatch.setattr(view_text, "LONGEST_LINE", 8)
        monkeypatch.setattr(view_text, "LARGEST_TEXT", 60)


@pytest.mark.slow
@given(text=st.lists(texts, max_size=5).map("".join), data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_editor_and_document_stay_the_same(qtbot: QtBot, way: None, text: str, data: st.DataObject) -> None:
    desk = Desk(text)
    try:
        desk.check()
        for _ in range(12):
            act(desk, data)
            desk.check()
        desk.check_history()
    finally:
        desk.close()


@pytest.mark.exhaustive
@pytest.mark.parametrize("end", [0x10000, pytest.param(0x110000, marks=pytest.mark.slow)])
def test_the_editor_holds_every_character_of_unicode(desk: Desk, end: int) -> None:
    for start in range(0, end, 0x10000):
        text = "".join(f"{chr(code)}\n" for code in range(start, start + 0x10000))
        desk.document.set_text(text)
        assert desk.editor.document().toRawText() == to_view(text).replace("\n", "\u2029")


@pytest.mark.parametrize("mark", ["\ufeff", "\ufffe", "\ufeff\ufeff", "\ud83e"])
def test_what_is_typed_lands_where_it_is_seen(desk: Desk, mark: str) -> None:
    desk.document.take_text(TextFile(f"{mark}hello\r\nworld"), None)
    desk.editor.select(len(mark) + 5)
    desk.press(Qt.Key.Key_X, "X")
    assert desk.document.text == f"{mark}helloX\r\nworld"
    desk.check()


def test_what_is_dropped_is_in_the_text_once(desk: Desk) -> None:
    desk.document.set_text("hello world")
    desk.drop("\ufeffXY", 5)
    assert desk.document.text == "hello\ufeffXY world"
    desk.check()


@pytest.mark.parametrize(("place", "moved"), [(0, "lohel world"), (11, "hel worldlo"), (4, "hello world")])
def test_what_is_dragged_inside_the_editor_is_moved_in_one_step(desk: Desk, place: int, moved: str) -> None:
    desk.document.set_text("hello world")
    desk.select(3, 5)
    desk.drag(place)
    assert desk.document.text == moved
    desk.check()
    if moved != "hello world":
        desk.document.undo_stack.undo()
        assert desk.document.text == "hello world"


def test_shift_and_return_begin_a_line_as_return_does(desk: Desk) -> None:
    desk.document.take_text(TextFile("one\r\n"), None)
    desk.press(Qt.Key.Key_Return, "\r", Qt.KeyboardModifier.ShiftModifier)
    assert desk.document.text == "\r\none\r\n"


def test_half_of_a_character_is_never_left(desk: Desk) -> None:
    desk.document.set_text("a\U0001f917b")
    desk.select(2, 3)
    desk.press(Qt.Key.Key_X, "X")
    assert desk.document.text == desk.held == "aXb"


def test_an_edit_of_the_program_ends_what_is_composed(desk: Desk) -> None:
    desk.document.set_text("one\ntwo")
    desk.select(1, 1)
    desk.compose("", preedit="ㅎ")
    desk.document.edit(7, 0, "!")
    assert not desk.editor.document().findBlock(0).layout().preeditAreaText()
    desk.check()


def test_marks_move_with_the_text_that_they_mark(desk: Desk) -> None:
    desk.document.set_text("one two three")
    desk.editor.set_marks([(4, 7)])
    desk.editor.set_selection_marks([(8, 13)])
    desk.select(0, 0)
    desk.paste("zero ")
    marked = [each.cursor.selectedText() for each in desk.editor.extraSelections()]
    assert marked == ["", "three", "two"]


# -- copying


KINDS = "a\r\nb\rc\nd\u2028e\u2029f\u0085g\u00a0h\ufdd0i\ufeffj\U0001f917k"


def copied(desk: Desk) -> str:
    desk.editor.copy()
    return QGuiApplication.clipboard().text()


def test_what_is_copied_is_what_the_text_has(desk: Desk) -> None:
    desk.document.take_text(TextFile(KINDS), None)
    desk.editor.selectAll()
    assert copied(desk) == KINDS
    desk.select(desk.held.index("\ufeff"), desk.held.index("k"))
    assert copied(desk) == "\ufeffj\U0001f917"
    desk.editor.cut()
    assert desk.document.text == KINDS.replace("\ufeffj\U0001f917", "")
    assert QGuiApplication.clipboard().text() == "\ufeffj\U0001f917"


def marked(studio: Studio) -> list[str]:
    editor = studio.window.corpus_pane.editor
    return [cursor.selectedText() for cursor in editor.selection_marks]


def expected(studio: Studio, tokens: tuple[str, ...]) -> list[str]:
    """The words of the text in which these tokens follow one another."""
    tokenizer = studio.window.model.tokenizer_at(studio.window.model.step)
    found = []
    for word in tokenizer.tokenize_words(studio.window.session.document.text):
        spelled = [piece.token for piece in word.pieces]
        if any(tuple(spelled[at : at + len(tokens)]) == tokens for at in range(len(spelled))):
            found.append(word.word.text)
    return found


def test_the_words_that_hold_the_selection_are_marked(studio: Studio) -> None:
    model = studio.window.model
    for selection, tokens in (
        (Selection("token", text="##e"), ("##e",)), (Selection("pair", left="##e", right="##r"), ("##e", "##r")),
    ):  # fmt: skip
        model.set_selection(selection)
        studio.wait(lambda: bool(marked(studio)))
        assert marked(studio) == expected(studio, tokens)
        model.seek(model.merge_count)
        studio.wait(lambda tokens=tokens: marked(studio) == expected(studio, tokens))
        model.set_selection(None)
        studio.wait(lambda: not marked(studio))


def test_a_pair_that_was_merged_is_found_again_in_its_token(studio: Studio) -> None:
    model = studio.window.model
    model.seek(10)
    model.set_selection(Selection("pair", left="##h", right="##m"))
    studio.wait(lambda: marked(studio) == ["algorithms"])
    model.seek(11)  # this merge makes ##hm of them
    studio.qtbot.wait(80)
    assert marked(studio) == ["algorithms"]


def test_a_word_is_marked_wherever_it_stands(studio: Studio) -> None:
    studio.set_text("the 🤗 the\nThe there the")
    studio.wait_finished()
    studio.window.model.set_selection(Selection("word", text="the"))
    studio.wait(lambda: marked(studio) == ["the", "the", "the"])


def test_ctrl_click_and_the_menu_put_a_word_into_the_selection(studio: Studio) -> None:
    editor, model = studio.window.corpus_pane.editor, studio.window.model
    editor.select(14)  # in "Hugging"
    point = editor.cursorRect().center()
    studio.qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert model.selection is None
    studio.qtbot.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, point)
    assert model.selection == Selection("word", text="Hugging")
    editor.select(1)
    studio.window.actions_.look_up_word.trigger()
    assert model.selection == Selection("word", text="This")


@pytest.mark.slow
def test_the_text_keeps_its_lines_where_warnings_are_shown(studio: Studio) -> None:
    window, pane = studio.window, studio.window.corpus_pane
    window.resize(1366, 640)
    studio.set_text("你好世界 안녕하세요 niño\n" * 30)
    studio.wait(lambda: bool(pane.lint_view.findings) and not pane.lint_controller.is_under_way)
    lines = pane.editor.fontMetrics().lineSpacing()
    studio.wait(lambda: pane.editor.viewport().height() >= 5 * lines)
    assert not pane.line_view.isVisible()
    window.resize(1366, 1300)
    studio.wait(lambda: pane.line_view.isVisible())
