"""The corpus files that a project names outside its folder: the user sees where they are, and agrees or does not.

Until then nothing there is touched, see `wordpiece_studio.storage.project.records`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.session.plural import plural
from wordpiece_studio.storage.project.records import note_agreed
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.file_questions import LONGEST_NAMED, agreement_box, and_more
from wordpiece_studio.ui.messages import ask
from wordpiece_studio.ui.widgets.plain import shown
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from wordpiece_studio.ui.workspace import Workspace

_MOST_NAMED = 3


class FilesElsewhere(QObject):
    """Names these files in the banner about files on disk.

    Signals
    -------
    agreed()
        They may be read now.
    """

    agreed = Signal()

    def __init__(self, window: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._window = window
        self._document = window.session.document
        self._banner = window.notices.files

    def offer(self) -> bool:
        """Name the files, and offer to read them; return whether there are any."""
        unagreed, places = self._document.unagreed, self._places()
        if not unagreed:
            return False
        if not self._document.is_files:
            words = self.tr("The file of this text is outside the project’s folder and has not been looked at: {paths}")
        else:
            words = plural(
                len(unagreed),
                "A file of the corpus is outside the project’s folder and has not been read: {paths}",
                "{number} files of the corpus are outside the project’s folder and have not been read: {paths}",
            )
        paths = " · ".join(shown(display_name(place), LONGEST_NAMED) for place in places[:_MOST_NAMED])
        if len(places) > _MOST_NAMED:
            paths += " · " + and_more(len(places) - _MOST_NAMED)
        action = self._action()
        if not self._has_room(places):
            action = plural(len(unagreed), "Read this file…", "Read these files…")
        words = words.format(number=number_text(len(unagreed)), paths=paths)
        self._banner.show_message(words, "warning", action, self.ask)
        return True

    def ask(self) -> None:
        """Agree, because the user has pressed the banner's button; first show what it had no room for."""
        places = self._places()
        if self._has_room(places):
            self._agree()
            return
        box = agreement_box(self._window, places, self._action())
        ask(box, {QMessageBox.StandardButton.Yes: partial(self._agree_to, places)}, otherwise=self.offer)

    def _places(self) -> list[str]:
        return [place for file in self._document.unagreed for place in file.unagreed]

    def _has_room(self, places: list[str]) -> bool:
        return len(places) <= _MOST_NAMED and all(len(display_name(place)) <= LONGEST_NAMED for place in places)

    def _action(self) -> str:
        return plural(len(self._document.unagreed), "Read this file", "Read these files")

    def _agree_to(self, places: list[str]) -> None:
        if self._places() == places:  # else another project was read meanwhile
            self._agree()
        else:
            self.offer()

    def _agree(self) -> None:
        state = self._window.project
        if state.path is not None:
            note_agreed(state.path, self._window.session.corpus())
        state.agree()
        self.agreed.emit()
