"""What the user can undo: edits of the text, which grow while one types, and anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand

if TYPE_CHECKING:
    from collections.abc import Callable

_EDIT_ID = 1


@dataclass(frozen=True, slots=True)
class Edit:
    """At `position`, in code points, the text `inserted` replaces the text `removed`."""

    position: int
    removed: str
    inserted: str

    def reversed(self) -> Edit:
        return Edit(self.position, self.inserted, self.removed)

    def followed_by(self, later: Edit) -> Edit | None:
        """Return this edit and `later` as one if the user simply kept typing or deleting, else None."""
        if not self.removed and not later.removed and later.position == self.position + len(self.inserted):
            ends_word = self.inserted[-1:].isspace() and not self.inserted.isspace()
            if len(later.inserted) > 1 or (ends_word and not later.inserted.isspace()):
                return None  # a paste, or the first letter of a new word
            return Edit(self.position, "", self.inserted + later.inserted)
        if not self.inserted and not later.inserted and len(self.removed) + len(later.removed) < 1000:
            if later.position + len(later.removed) == self.position:  # backspace
                return Edit(later.position, later.removed + self.removed, "")
            if later.position == self.position:  # delete
                return Edit(self.position, self.removed + later.removed, "")
        return None


class EditCommand(QUndoCommand):
    """One edit; typing merges into one command per word."""

    def __init__(self, apply: Callable[[Edit], None], edit: Edit, *, merges: bool) -> None:
        super().__init__()
        self._apply = apply
        self._merges = merges
        self.edit = edit

    def redo(self) -> None:
        self._apply(self.edit)

    def undo(self) -> None:
        self._apply(self.edit.reversed())

    def id(self) -> int:
        return _EDIT_ID if self._merges else -1

    def mergeWith(self, other: QUndoCommand) -> bool:  # Qt's name
        joined = self.edit.followed_by(other.edit) if isinstance(other, EditCommand) else None
        if joined is not None:
            self.edit = joined
        return joined is not None


class Command(QUndoCommand):
    def __init__(self, redo: Callable[[], object], undo: Callable[[], object]) -> None:
        super().__init__()
        self._redo, self._undo = redo, undo

    def redo(self) -> None:
        self._redo()

    def undo(self) -> None:
        self._undo()
