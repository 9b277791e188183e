"""The question what to do with work that was unsaved when the Studio ended unexpectedly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QListWidget, QVBoxLayout, QWidget

from wordpiece_studio.ui.widgets.plain import plain_label, set_role, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.recovery.journal import About

_LONGEST_NAME = 60
_MOST_ROWS = 6
_SPACING = 2


class RecoveryDialog(QDialog):
    """Lists the unsaved work found; the selected item is restored or deleted. Escape decides nothing.

    Signals
    -------
    restore_wanted(int), refused(int)
        What the user wants done with the work that has this number.
    postponed()
        The user wants to be asked again at the next start.
    """

    restore_wanted = Signal(object)
    refused = Signal(object)
    postponed = Signal()

    def __init__(self, found: Sequence[About], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Restore unsaved work?"))
        self._is_answered = False
        layout = QVBoxLayout(self)
        is_one = len(found) == 1
        question = (
            self.tr("WordPiece Studio ended before this was saved. Restore it?") if is_one
            else self.tr("WordPiece Studio ended before these were saved. Restore the selected one?")
        )  # fmt: skip
        layout.addWidget(plain_label(question, self, role="heading", wrap=True))
        self.list = QListWidget(self)
        self.list.setAccessibleName(self.tr("Unsaved work"))
        for about in found:
            self.list.addItem(self._line(about))
        self.list.setCurrentRow(0)
        self.list.setSpacing(_SPACING)
        row = self.list.sizeHintForRow(0) + 2 * _SPACING
        self.list.setFixedHeight(row * min(len(found), _MOST_ROWS) + 2 * (self.list.frameWidth() + _SPACING))
        self.list.itemDoubleClicked.connect(self._on_restore_clicked)
        layout.addWidget(self.list)
        hint = self.tr("“Don’t restore” deletes it. “Later” keeps it, and you are asked again at the next start.")
        if not is_one:
            hint = self.tr("“Don’t restore” deletes the selected one. What is neither restored nor deleted is kept, "
                           "and you are asked again at the next start.")  # fmt: skip
        layout.addWidget(plain_label(hint, self, role="hint", wrap=True))
        layout.addWidget(self._buttons())
        self.list.itemSelectionChanged.connect(self._enable)
        self.setMinimumWidth(max(460, min(self.list.sizeHintForColumn(0) + 60, 760)))

    def reject(self) -> None:
        """Postpone the question; also for the Escape key and the window's close button."""
        if not self._is_answered:
            self._is_answered = True
            self.postponed.emit()
        super().reject()

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(self)
        roles = QDialogButtonBox.ButtonRole
        restore = buttons.addButton(self.tr("&Restore"), roles.AcceptRole)
        set_role(restore, "primary")
        restore.setDefault(True)
        restore.clicked.connect(self._on_restore_clicked)
        refuse = buttons.addButton(self.tr("&Don’t restore"), roles.DestructiveRole)
        refuse.setAutoDefault(False)
        refuse.clicked.connect(self._on_refuse_clicked)
        later = buttons.addButton(self.tr("&Later"), roles.RejectRole)
        later.setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        restore.setFocus()
        self._answers = (restore, refuse)
        return buttons

    def _enable(self) -> None:
        """Act only on work that is visibly selected: a Ctrl+click clears the selection."""
        for button in self._answers:
            button.setEnabled(bool(self.list.selectedIndexes()))

    def _on_restore_clicked(self) -> None:
        self._answer(self.restore_wanted)

    def _on_refuse_clicked(self) -> None:
        self._answer(self.refused)

    def _answer(self, signal: object) -> None:
        if not self._is_answered:
            self._is_answered = True
            number = max(0, self.list.currentRow())
            self.accept()
            signal.emit(number)  # type: ignore[attr-defined]

    def _line(self, about: About) -> str:
        name = shown(" ".join(about.name.split()), _LONGEST_NAME) or self.tr("Unnamed text")
        return " · ".join([name, *self._amounts(about), _time_text(about.time)])

    def _amounts(self, about: About) -> list[str]:
        amounts = []
        if about.edits:
            number = about.edits
            amounts.append(
                self.tr("1 edit") if number == 1 else self.tr("{number:,} edits").format(number=number)
            )  # fmt: skip
        if about.merges:
            number = about.merges
            amounts.append(
                self.tr("1 merge") if number == 1 else self.tr("{number:,} merges").format(number=number)
            )  # fmt: skip
        return amounts


def _time_text(seconds: float) -> str:
    time = QDateTime.fromSecsSinceEpoch(int(seconds))
    return QLocale().toString(time, QLocale.FormatType.ShortFormat)
