"""The strip of a lesson above all else: the task of a page, the field for the answer, and what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.session.plural import filled
from wordpiece_studio.ui.widgets.fields import ask_in, combo_box, line_field, offer
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import CutLabel, WholeLabel, explain, menu_text, set_look, tool_button

if TYPE_CHECKING:
    from wordpiece_studio.storage.lesson import Lesson
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.theme import Theme

_FIELD_WIDTH, _CHOICE_WIDTH, _BESIDE = 150, 440, 16  # pixels; the last beside a text in the list of choices


class LessonStrip(QFrame):
    def __init__(self, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lesson_strip")
        explain("lessons", self)
        self._text = ""
        self._place = CutLabel(parent=self, role="hint")
        self.title, self.said = WholeLabel(self, role="title"), WholeLabel(self)
        self.field = line_field(self, hint=self.tr("Answer"), name=self.tr("Answer"), most=1000)
        self.field.setFixedWidth(_FIELD_WIDTH)
        self.field.returnPressed.connect(actions.lesson_check.trigger)
        self.box = combo_box(self, self.tr("Answer"))
        self.box.setPlaceholderText(self.tr("Choose an answer"))
        self.box.setMaximumWidth(_CHOICE_WIDTH)
        self.box.view().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for edited in (self.field.textEdited, self.box.activated):
            edited.connect(lambda: self.say())
        buttons = []
        for name in ("lesson_back", "lesson_show", "lesson_check", "lesson_next"):
            role = "primary" if name == "lesson_check" else "button"
            buttons.append(button := tool_button("", "", self, role=role, takes_focus=True))
            button.setDefaultAction(getattr(actions, name))
        close = tool_button("", self.tr("Leave this lesson; it goes on here later"), self, actions.lesson_leave.trigger)
        theme.set_icon(close, "close", "muted")
        said = fill(QVBoxLayout(), 1, self._place, self.title, self.said, 1, spacing=2)
        parts = (said, 3), self.field, (self.box, 2)
        fill(QHBoxLayout(self), *parts, *buttons, close, margins=(14, 8, 10, 8), spacing=8)
        self.hide()

    def show_page(self, lesson: Lesson, number: int) -> None:
        page = lesson.pages[number]
        place = filled(self.tr("{number} of {count}"), number=number + 1, count=len(lesson.pages))
        self._place.show_text(f"{lesson.title} · {place}")
        self._text = page.text
        self.title.show_text(page.title)
        asked = page.question
        self.field.setVisible(asked is not None and asked.kind == "ask")
        choices = () if asked is None else asked.choices
        offer(self.box, [(menu_text(text), text) for text in choices])
        self.box.view().setMinimumWidth(self.box.view().sizeHintForColumn(0) + _BESIDE)
        self.box.setVisible(bool(choices))
        self.show()
        if not self.field.isHidden():
            ask_in(self.field)
        else:  # what is typed must not change the corpus, and the keys of commands work
            (self.box if choices else self).setFocus()

    @property
    def answer(self) -> str:
        """What is typed or chosen; empty if nothing is."""
        return str(self.box.currentData() or "") if self.box.count() else self.field.text().strip()

    def set_answer(self, text: str) -> None:
        self.field.setText(text)
        self.box.setCurrentIndex(self.box.findData(text))

    def say(self, *sentences: str, is_right: bool = True) -> None:
        """Say something about what was answered or done, in place of the text of the page; nothing shows that again."""
        text = " ".join(filter(None, sentences))
        set_look(self.said, role="success" if text and is_right else "error" if text else "")
        self.said.show_text(text or self._text)
