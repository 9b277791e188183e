"""Files of the corpus that are missing, moved or changed on disk: reports them and offers what can be done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from wordpiece_studio.corpus.remote_files import is_url
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.file_rows import FileState
from wordpiece_studio.session.text_file import read_text_file
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.file_questions import place_dialog
from wordpiece_studio.ui.messages import add_button, plain_box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.corpus_references import ChangedFiles, MovedFiles
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.widgets.banner import Banner

_Offer = Literal["", "locate", "count", "reload"]
_MOST_NAMED = 3


class DiskController(QObject):
    """Reports in a banner of its own; nothing is reread or recounted until the user asks for it."""

    def __init__(self, window: QWidget, session: Session, actions: Actions, banner: Banner, messages: Messages) -> None:
        super().__init__(window)
        self._window = window
        self._document = document = session.document
        self._counting = counting = session.counting
        self._references = references = session.references
        self._watch = watch = session.watch
        self._action = actions.locate_files
        self._banner = banner
        self._messages = messages
        self._gone: tuple[str, ...] = ()
        self._changed: tuple[str, ...] = ()
        self._offer: _Offer = ""
        self._action.setEnabled(False)
        self._action.triggered.connect(self._on_locate_triggered)
        banner.action_requested.connect(self._on_banner_action_requested)
        references.checked.connect(self._on_references_checked)
        references.found.connect(self._on_references_found)
        document.reset.connect(self._on_document_reset)
        document.path_changed.connect(self._on_document_path_changed)
        counting.state_changed.connect(self._on_counting_state_changed)
        document.files.changed.connect(self._watch_files)
        counting.counts_changed.connect(self._on_counting_counts_changed)
        watch.changed.connect(self._on_watch_changed)
        watch.gone.connect(self._on_watch_gone)
        watch.back.connect(self._on_watch_back)

    @property
    def gone(self) -> tuple[str, ...]:
        """The paths of the missing files."""
        return self._gone

    # -- the state of the files

    def note_written(self, path: str) -> None:
        """Note that the Studio itself has written a file."""
        self._watch.take(Path(path))
        self._note_read()
        self._take_state(tuple(one for one in self._gone if one != path), ())

    def _paths(self) -> list[str]:
        if self._document.is_files:
            return [file.path for file in self._document.files.files]
        return [] if self._document.path is None else [str(self._document.path)]

    def _note_read(self) -> None:
        self._references.note_read(self._paths())

    def _watch_files(self) -> None:
        self._watch.watch([Path(path) for path in self._paths() if not is_url(path)])

    def _on_document_reset(self) -> None:
        self._forget()
        self._watch_files()

    def _on_document_path_changed(self, _path: object) -> None:
        self._note_read()  # it was read or written just now
        self._watch_files()

    def _on_counting_state_changed(self) -> None:
        if self._counting.is_running and self._document.is_files:
            self._forget()
            self._note_read()
            for path in self._watch.paths:
                self._watch.take(path)

    def _forget(self) -> None:
        self._gone, self._changed, self._offer = (), (), ""
        self._action.setEnabled(False)
        self._banner.clear()

    def _on_watch_changed(self, path: Path) -> None:
        self._take_state(self._gone, _with(self._changed, str(path)))

    def _on_watch_gone(self, path: Path) -> None:
        self._take_state(_with(self._gone, str(path)), self._changed)

    def _on_watch_back(self, path: Path) -> None:
        self._take_state(tuple(one for one in self._gone if one != str(path)), self._changed)

    def _on_references_checked(self, found: ChangedFiles) -> None:
        self._take_state(found.gone, found.changed)

    def _take_state(self, gone: Sequence[str], changed: Sequence[str]) -> None:
        present = set(self._paths())
        before = (self._gone, self._changed)
        self._gone = gone = tuple(path for path in gone if path in present)
        self._changed = changed = tuple(path for path in changed if path in present)
        self._action.setEnabled(bool(gone))
        if before == (gone, changed):
            return  # a dismissed message stays dismissed
        if self._document.is_files:
            self._document.files.table.mark(set(before[0]) - set(gone), FileState.WAITING)
            self._mark()
        self._show(gone, changed)

    def _mark(self) -> None:
        table = self._document.files.table
        table.mark(self._changed, FileState.CHANGED)
        table.mark(self._gone, FileState.FAULT, {path: _is_gone(path) for path in self._gone})

    def _on_counting_counts_changed(self, counts: object) -> None:
        if counts is not None and self._document.is_files:
            self._mark()  # counts that were taken over mark all files as counted

    def _show(self, gone: Sequence[str], changed: Sequence[str]) -> None:
        self._offer = ""
        if gone:
            self._offer = "locate"
            self._banner.show_message(self._gone_words(gone), "warning", self._action.text().replace("&", ""))
        elif changed and self._document.is_files:
            self._offer = "count"
            words = self.tr("Changed on disk since they were counted: {names}. The word counts and merges shown are "
                            "from the files as they were.")  # fmt: skip
            self._banner.show_message(words.format(names=_names(changed)), "warning", self.tr("Count again"))
        elif changed:
            self._offer = "reload"
            words = self.tr("Another program changed “{name}” on disk. Your own text is shown; dismiss this message to "
                            "keep it.")  # fmt: skip
            if self._document.is_modified:
                words += " " + self.tr("Reloading replaces your edits; Undo brings them back.")
            self._banner.show_message(words.format(name=_names(changed)), "warning", self.tr("Reload"))
        else:
            self._banner.clear()

    def _gone_words(self, gone: Sequence[str]) -> str:
        if not self._document.is_files:
            words = self.tr("The file {path} of this text is missing. The text is still here; save it to keep it.")
        elif len(gone) == 1:
            words = self.tr("A file of the corpus is missing: {path}. What was counted and learned is kept.")
        else:
            words = self.tr("{number:,} files of the corpus are missing: {path}. What was counted and learned is kept.")
        path = display_name(gone[0]) if len(gone) == 1 else _names(gone)
        return words.format(number=len(gone), path=path)

    def _on_banner_action_requested(self) -> None:
        offer, self._offer = self._offer, ""
        if offer == "locate":
            self._offer = "locate"
            self._on_locate_triggered()
        elif offer == "count":
            self._banner.clear()
            self._counting.count_again()
        elif offer == "reload":
            self._reload()

    def _reload(self) -> None:
        document, path = self._document, self._document.path
        if path is None:
            return
        try:
            file = read_text_file(path, None if document.encoding.startswith("utf-8") else document.encoding)
        except StudioError as error:
            self._messages.show_error(error)
            return
        self._banner.clear()
        if (file.encoding, file.mark) == (document.encoding, document.file.mark) and not document.is_folded:
            document.set_text(file.text)  # as an edit, so that it can be undone
            document.undo_stack.setClean()
        else:
            document.take_text(file, path)
        self.note_written(str(path))

    # -- files that were moved

    def _on_locate_triggered(self) -> None:
        if not self._gone:
            return
        names = "\n".join(display_name(path) for path in self._gone[:_MOST_NAMED])
        if len(self._gone) > _MOST_NAMED:
            names += "\n" + self.tr("and {number:,} more").format(number=len(self._gone) - _MOST_NAMED)
        title = self.tr("Where is this file now?") if len(self._gone) == 1 else self.tr("Where are these files now?")
        box = plain_box(self._window, QMessageBox.Icon.Question, title, names)
        buttons = QMessageBox.StandardButton
        add_button(box, buttons.Open, self.tr("&Look in a folder…"))
        if len(self._gone) == 1:
            add_button(box, buttons.Yes, self.tr("&Choose the file…"))
        add_button(box, buttons.Cancel)
        box.setDefaultButton(buttons.Open)
        box.finished.connect(self._on_locate_box_finished)
        box.open()

    def _on_locate_box_finished(self, answer: int) -> None:
        if answer not in (QMessageBox.StandardButton.Open.value, QMessageBox.StandardButton.Yes.value):
            return
        is_file = answer == QMessageBox.StandardButton.Yes.value
        title = self.tr("Choose the file") if is_file else self.tr("Look in this folder and its subfolders")
        dialog = place_dialog(self._window, title, QFileDialog.AcceptMode.AcceptOpen, self._nearest_folder())
        modes = QFileDialog.FileMode
        dialog.setFileMode(modes.ExistingFile if is_file else modes.Directory)
        dialog.fileSelected.connect(self._on_file_selected if is_file else self._on_folder_selected)
        dialog.open()

    def _nearest_folder(self) -> Path | None:
        """Return the nearest folder above the first missing file that still exists."""
        return next((folder for folder in Path(self._gone[0]).parents if folder.is_dir()), None)

    def _on_file_selected(self, path: str) -> None:
        if self._gone:
            self._take_places({self._gone[0]: os.path.abspath(path)})

    def _on_folder_selected(self, folder: str) -> None:
        self._references.search(os.path.abspath(folder), self._gone)

    def _on_references_found(self, moved: MovedFiles) -> None:
        places = {old: new for old, new in moved.places.items() if old in self._gone}
        if places:
            self._take_places(places)
        if moved.missing:
            words = self.tr("Not found in that folder: {names}. Choose another folder.")
            self._offer = "locate"
            action = self._action.text().replace("&", "")
            self._banner.show_message(words.format(names=_names(moved.missing)), "warning", action)

    def _take_places(self, places: dict[str, str]) -> None:
        """Read files from their new places; their counts stay valid as long as they are the same files."""
        document, counts = self._document, self._counting.counts
        self._references.move(places)
        if document.is_files:
            if counts is not None:
                document.files.move_files(places)
                self._counting.expect_counts()
                self._counting.take_counts(counts)
            else:
                document.files.move_files(places)
        elif document.path is not None and str(document.path) in places:
            document.move_to(Path(places[str(document.path)]))
        self._references.check()


def _names(paths: Sequence[str]) -> str:
    """Return the names of the first files, for a sentence."""
    names = ", ".join(display_name(os.path.basename(path)) for path in paths[:_MOST_NAMED])
    return f"{names}, …" if len(paths) > _MOST_NAMED else names


def _with(paths: tuple[str, ...], path: str) -> tuple[str, ...]:
    return paths if path in paths else (*paths, path)


def _is_gone(path: str) -> StudioError:
    return StudioError(
        "{path} is missing",
        "If it was moved, use “Locate missing files…” in the File menu.",
        path=display_name(path),
    )
