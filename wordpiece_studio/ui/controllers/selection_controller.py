"""Commands of the selection: find a token, go to its birth, clear the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QLineEdit, QWidget
from shiboken6 import isValid

from wordpiece_studio.session.selection import id_of_token

if TYPE_CHECKING:
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.panes.vocabulary.vocabulary_pane import VocabularyPane


class SelectionController(QObject):
    """Connects the commands to the model and the vocabulary, and leaves Escape to the fields that want it."""

    def __init__(self, window: QWidget, model: TrainerModel, vocabulary: VocabularyPane, actions: Actions) -> None:
        super().__init__(window)
        self._model = model
        self._vocabulary = vocabulary
        self._actions = actions
        self._field: QLineEdit | None = None  # the one that has the focus
        actions.find_token.triggered.connect(self._on_find_token_triggered)
        actions.go_to_birth.triggered.connect(self._on_go_to_birth_triggered)
        actions.clear_selection.triggered.connect(self._on_clear_selection_triggered)
        model.selection_changed.connect(self._on_model_selection_changed)
        model.merges_appended.connect(self._on_model_merges_appended)
        model.run_reset.connect(self._enable)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_application_focus_changed)
        self._enable()

    def birth_step(self) -> int | None:
        """Return the step that made the selected token, or the token of the selected pair; None if there is none."""
        selection, history = self._model.selection, self._model.history
        if selection is None or history is None:
            return None
        token_id = id_of_token(selection, history.vocabulary(self._model.merge_count))
        return (history.birth_step(token_id) or None) if token_id is not None else None

    def _enable(self) -> None:
        self._actions.clear_selection.setEnabled(self._model.selection is not None)
        self._actions.go_to_birth.setEnabled(self.birth_step() is not None)

    def _on_find_token_triggered(self) -> None:
        dock = self._vocabulary.parentWidget()
        while dock is not None and not isinstance(dock, QDockWidget):
            dock = dock.parentWidget()
        if dock is not None:
            dock.show()
            dock.raise_()
        self._vocabulary.focus_search()

    def _on_go_to_birth_triggered(self) -> None:
        step = self.birth_step()
        if step is not None:
            self._model.seek(step)

    def _on_clear_selection_triggered(self) -> None:
        self._model.set_selection(None)

    def _on_model_selection_changed(self, _selection: object) -> None:
        self._enable()

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        if self._model.selection is not None:
            self._enable()

    # -- Escape in a text field belongs to the field: it clears a search, or closes the bar that the field is in

    def _on_application_focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        # A field loses the focus while it is deleted with its dialog: it is half gone by then.
        if self._field is not None and isValid(self._field):
            self._field.removeEventFilter(self)
        self._field = new if isinstance(new, QLineEdit) else None
        if self._field is not None:
            self._field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim Escape for the field before the command takes it."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape and not event.modifiers():
                event.accept()
                return True
        return super().eventFilter(watched, event)
