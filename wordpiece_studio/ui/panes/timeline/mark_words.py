"""The wording of the timeline's marks, and the line that shows the markers A and B."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_text, set_plain_tooltip
from wordpiece_studio.ui.widgets.token_text import number_text, token_text, value_text

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from wordpiece_studio.session.breakpoint_watch import Hit
    from wordpiece_studio.session.breakpoints import Breakpoint
    from wordpiece_studio.session.step_marks import Distance, Markers
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.actions import Actions


def _tr(text: str) -> str:
    return QCoreApplication.translate("mark_words", text)


def hit_words(hit: Hit, history: MergeHistory) -> str:
    """Return why a step halts: ``"breakpoint: token ##ing is born; tie of 3 pairs"``."""
    return _tr("breakpoint: {reason}").format(reason=_reasons(hit, history))


def _reasons(hit: Hit, history: MergeHistory) -> str:
    merge = history[hit.step - 1]
    return "; ".join(dict.fromkeys(_reason(each, merge, history) for each in hit.breakpoints))


def _reason(each: Breakpoint, merge: Merge, history: MergeHistory) -> str:
    if each.kind == "word":
        return _tr("word {word} is one token").format(word=token_text(each.text, 30))
    if each.kind == "value":
        return _tr("value {value} < {limit}").format(value=value_text(merge.value), limit=value_text(each.number))
    if each.kind == "tie":
        return _tr("tie of {count} pairs").format(count=number_text(merge.ties))
    if each.kind == "size":
        size = number_text(history.vocabulary_size(merge.step))
        return _tr("the vocabulary has {size} tokens").format(size=size)
    return _tr("token {token} is born").format(token=token_text(merge.token, 30))


def merge_words(step: int, history: MergeHistory | None) -> str:
    """Return the merge of a step: ``"12: ch + ##a → cha"``."""
    if history is None or not step:
        return _tr("before the first merge")
    merge = history[step - 1]
    left, right, token = (token_text(each, 30) for each in (merge.left, merge.right, merge.token))
    return f"{left} + {right} → {token}"


def _distance_words(distance: Distance) -> str:
    """Return the difference between A and B: ``"13 merges, vocabulary +13, symbols −31"``."""
    return _tr("{merges} merges, vocabulary {tokens}, symbols {symbols}").format(
        merges=_signed(distance.merges) if distance.merges < 0 else number_text(distance.merges),
        tokens=_signed(distance.tokens),
        symbols=_signed(distance.symbols),
    )


def markers_words(markers: Markers) -> str:
    """Return where the markers are, and the difference between them; empty if none is set."""
    steps = [f"{name} {number_text(step)}" for name, step in (("A", markers.a), ("B", markers.b)) if step is not None]
    distance = markers.distance()
    where = " → ".join(steps)
    return f"{where}: {_distance_words(distance)}" if distance is not None else where


def _signed(number: int) -> str:
    sign = "+" if number > 0 else "−" if number < 0 else "±"
    return sign + number_text(abs(number))


class MarkerLine(QWidget):
    """The markers A and B and the difference between them; empty while no marker is set."""

    def __init__(self, markers: Markers, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markers = markers
        self._a = self._button("A", actions.go_to_marker_a, actions)
        self._b = self._button("B", actions.go_to_marker_b, actions)
        self._label = plain_label("", self, role="caption")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for widget in (self._a, self._b, self._label):
            layout.addWidget(widget)
        self.refresh()

    def refresh(self) -> None:
        """Show the current markers."""
        for name, button, step in (("A", self._a, self._markers.a), ("B", self._b, self._markers.b)):
            button.setVisible(step is not None)
            if step is not None:
                button.setText(f"{name} {number_text(step)}")
        distance = self._markers.distance()
        set_plain_text(self._label, _distance_words(distance) if distance is not None else "")

    def _button(self, name: str, action: QAction, actions: Actions) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"timeline_go_to_{name.lower()}")
        button.setProperty("role", "button")
        button.setStyleSheet("padding: 0px 5px;")
        button.setAccessibleName(action.text().replace("&", ""))
        set_plain_tooltip(button, actions.usual_tip(action))
        button.clicked.connect(action.trigger)
        return button
