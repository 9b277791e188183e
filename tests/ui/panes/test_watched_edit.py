"""The live text field: its text is what it shows, whatever is typed, pasted or set."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QTextCursor
from PySide6.QtWidgets import QApplication

from wordpiece_studio.model.view_text import to_view
from wordpiece_studio.ui.look.exact_text import copy_text, editor_text, whole
from wordpiece_studio.ui.tokenization.watched_edit import WatchedEdit

texts = st.text(
    st.sampled_from("ab \n\ufeff\ufffe\u00a0\u2028\u2029\ufdd0\r\U0001f917\ud83e\udd17")
    | st.characters(codec="utf-16"),
    max_size=6,
)
actions = st.lists(st.tuples(st.sampled_from(["set", "paste", "commit", "cut"]), texts, st.integers(0, 20)), max_size=6)


@given(actions)
@example([("set", "\ufeffa", 0), ("paste", "\ufffeb", 1), ("commit", "\ud83e", 0)])
@example([("set", "0\U00010000", 0), ("paste", "", 2)])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_its_text_is_what_it_shows(qapp: object, done: list[tuple[str, str, int]]) -> None:
    edit = WatchedEdit(2, 4)
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
        before = edit.textCursor().position()
        assert len(edit.text[: edit.caret].encode("utf-16-le")) // 2 in (before, before - 1)
    edit.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def test_a_no_break_space_is_copied_as_one(qapp: object) -> None:
    edit = WatchedEdit(2, 4)
    edit.set_text("a\u00a0b\u2028c\n\ufeff")
    edit.selectAll()
    edit.copy()
    assert QGuiApplication.clipboard().text() == edit.text == "a\u00a0b\u2028c\n\ufeff"
    edit.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
