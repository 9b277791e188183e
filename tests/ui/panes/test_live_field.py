"""The live text field: it shows exactly its text, whatever is typed, pasted or set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent, QGuiApplication, QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from wordpiece_studio.session.view_text import to_view
from wordpiece_studio.ui.panes.tokenization.live_field import MOST_CHARACTERS, LiveEdit
from wordpiece_studio.ui.widgets.fields import LimitedEdit, beginning
from wordpiece_studio.ui.widgets.plain import copy_text, editor_text, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

texts = st.text(
    st.sampled_from("ab \n\ufeff\ufffe\u00a0\u2028\u2029\ufdd0\r\U0001f917\ud83e\udd17")
    | st.characters(codec="utf-16"),
    max_size=6,
)
actions = st.lists(st.tuples(st.sampled_from(["set", "paste", "commit", "cut"]), texts, st.integers(0, 20)), max_size=6)


@pytest.mark.slow
@given(actions)
@example([("set", "\ufeffa", 0), ("paste", "\ufffeb", 1), ("commit", "\ud83e", 0)])
@example([("set", "0\U00010000", 0), ("paste", "", 2)])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_its_text_is_what_it_shows(qapp: object, done: list[tuple[str, str, int]]) -> None:
    edit = LiveEdit()
    for what, text, place in done:
        cursor = edit.textCursor()
        cursor.setPosition(min(place, edit.document().characterCount() - 1), QTextCursor.MoveMode.KeepAnchor)
        edit.setTextCursor(cursor)
        if what == "set":
            edit.set_text(text)
            assert edit.text == to_view(text)
        elif what == "paste":
            copy_text(text)
            edit.paste()
        elif what == "cut":
            edit.cut()
        else:
            event = QInputMethodEvent()
            event.setCommitString(whole(text))
            QApplication.sendEvent(edit, event)
        shown = editor_text(edit.document())
        assert edit.text == to_view(shown)
        assert len(edit.text) == len(shown)
    edit.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_a_no_break_space_is_copied_as_one(qapp: object) -> None:
    edit = LiveEdit()
    edit.set_text("a\u00a0b\u2028c\n\ufeff")
    edit.selectAll()
    edit.copy()
    assert QGuiApplication.clipboard().text() == edit.text == "a\u00a0b\u2028c\n\ufeff"
    edit.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


# -- a text beyond the limit


_WAYS = ["set", "paste", "drop", "commit", "key", "insert", "append", "plain", "cut", "undo", "redo"]
ways = st.lists(st.tuples(st.sampled_from(_WAYS), texts, st.integers(0, 20), st.integers(0, 20)), max_size=12)


def come_in(edit: LimitedEdit, what: str, text: str) -> None:
    """Perform an action on an editor: a text that arrives in one of several ways, or something else."""
    if what == "paste":
        copy_text(text)
        edit.paste()
    elif what == "drop":
        data = QMimeData()
        data.setText(whole(text))
        point, copies, button = QPointF(1, 1), Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
        edit.dropEvent(QDropEvent(point, copies, data, button, Qt.KeyboardModifier.NoModifier))
    elif what == "commit":
        event = QInputMethodEvent()
        event.setCommitString(whole(text))
        QApplication.sendEvent(edit, event)
    elif what == "key":
        for key in (Qt.Key.Key_X, Qt.Key.Key_Return, Qt.Key.Key_X):
            QTest.keyClick(edit, key)
    else:
        calls = {"set": edit.set_text, "insert": edit.insertPlainText, "append": edit.appendPlainText}
        calls["plain"] = edit.setPlainText
        calls[what](whole(text) if what != "set" else text) if what in calls else getattr(edit, what)()


@pytest.mark.slow
@given(ways, st.integers(1, 9))
@example([("paste", "ab", 0, 0), ("key", "", 2, 2), ("undo", "", 0, 0), ("redo", "", 0, 0)], 3)
@example([("commit", "a\U0001f917\U0001f917", 0, 0), ("drop", "abc", 1, 2), ("undo", "", 0, 0)], 2)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_it_never_holds_more_whatever_comes_in(qapp: object, done: list[tuple[str, str, int, int]], most: int) -> None:
    edit, told = LiveEdit(), []
    edit.most = most
    edit.text_changed.connect(told.append)
    for what, text, start, end in done:
        last = edit.document().characterCount() - 1
        cursor = edit.textCursor()
        cursor.setPosition(min(start, last))
        cursor.setPosition(min(end, last), QTextCursor.MoveMode.KeepAnchor)
        edit.setTextCursor(cursor)
        come_in(edit, what, text)
        shown = to_view(editor_text(edit.document()))
        assert edit.text == shown
        assert len(shown) <= most
        assert told[-1:] in ([], [shown])
    assert all(len(text) <= most for text in told)
    edit.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def full(qapp: object) -> Iterator[LimitedEdit]:
    """A full editor with room for five characters."""
    edit = LimitedEdit(most=5)
    edit.set_text("abcde")
    yield edit
    edit.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.mark.parametrize(
    ("what", "left_out"), [("paste", 4), ("drop", 4), ("commit", 4), ("insert", 4), ("append", 5), ("key", 1)]
)
def test_what_fits_stays_and_the_rest_is_counted(full: LimitedEdit, what: str, left_out: int) -> None:
    come_in(full, what, "wxyz")
    assert (full.text, full.left_out) == ("abcde", left_out)
    full.moveCursor(QTextCursor.MoveOperation.End)
    full.textCursor().deletePreviousChar()
    assert full.left_out == 0
    full.undo()
    assert full.text == "abcde"


@pytest.mark.parametrize(
    ("text", "most", "kept"),
    [
        ("ab\U0001f917c", 3, "ab\U0001f917"),
        ("abe\u0301", 3, "ab"),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467" * 2, 7, "\U0001f468\u200d\U0001f469\u200d\U0001f467"),
        ("\U0001f1e9\U0001f1ea" * 3, 3, "\U0001f1e9\U0001f1ea"),
        ("\ufeffab", 2, "\ufeffa"),
        ("e" + "\u0301" * 200, 100, "e" + "\u0301" * 99),
        ("ab", 0, ""),
    ],
)
def test_no_character_is_cut_in_two(text: str, most: int, kept: str) -> None:
    assert beginning(text, most) == kept


@pytest.mark.slow
def test_a_text_too_long_to_tokenize_live_is_truncated_and_counted(qapp: object) -> None:
    edit = LiveEdit()
    edit.set_text("\n" * 4_000_000)
    assert (len(edit.text), edit.left_out) == (MOST_CHARACTERS, 4_000_000 - MOST_CHARACTERS)
    edit.set_text("short")
    assert edit.left_out == 0
    edit.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
