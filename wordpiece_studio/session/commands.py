"""What a user does to the text, as commands that can be undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoCommand

if TYPE_CHECKING:
    from collections.abc import Callable

_EDIT_ID = 1


@dataclass(frozen=True, slots=True)
class Edit:
    """At `position`, in code points, the text `removed` gives way to the text `inserted`."""

    position: int
    removed: str
    inserted: str

    def reversed(self) -> Edit:
        """Return the edit that undoes this one."""
        return Edit(self.position, self.inserted, self.removed)

    def followed_by(self, later: Edit) -> Edit | None:
        """Return the one edit that this one and `later` are when a user types on or deletes on; None if it is two."""
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
    """One edit; typing merges into one a word."""

    def __init__(self, apply: Callable[[Edit], None], edit: Edit, *, merges: bool) -> None:
        super().__init__()
        self._apply = apply
        self._merges = merges
        self.edit = edit

    def redo(self) -> None:
        """Do it."""
        self._apply(self.edit)

    def undo(self) -> None:
        """Take it back."""
        self._apply(self.edit.reversed())

    def id(self) -> int:
        """Tell Qt which commands may be merged."""
        return _EDIT_ID if self._merges else -1

    def mergeWith(self, other: QUndoCommand) -> bool:  # Qt's name
        """Take `other`, already done, into this one if it goes on with it."""
        joined = self.edit.followed_by(other.edit) if isinstance(other, EditCommand) else None
        if joined is not None:
            self.edit = joined
        return joined is not None
