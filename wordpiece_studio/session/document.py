"""The corpus: a text that the user edits, or a list of files; where it is saved, and how edits are undone.

Of a text, the Python string here is the truth, with every character that the file had; an editor shows `view_text`, a
copy in Qt's manner, and reports what is typed in its own coordinates. Of files (`corpus_files`) nothing is kept here
but how they are read. Finding and reading files is `corpus_opening`, counting words `corpus_counting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from wordpiece_studio.errors import StudioError
from wordpiece_studio.resources import resource_path
from wordpiece_studio.session.commands import Edit, EditCommand
from wordpiece_studio.session.corpus_files import CorpusFiles
from wordpiece_studio.session.text_file import TextFile, read_text_file, write_text_file
from wordpiece_studio.session.view_text import (
    LONGEST_TEXT,
    ViewEdit,
    ViewIndex,
    folded,
    has_long_line,
    has_long_line_near,
    main_line_break,
    page_starts,
    placed_edit,
    to_view,
    unfolded,
)

if TYPE_CHECKING:
    from pathlib import Path


UNDO_STEPS = 500


class Document(QObject):
    """The text of the corpus, or its files.

    Signals
    -------
    text_changed()
        After every change of text or files, whoever made it.
    edited(Edit)
        This change was made to the text, forwards or backwards, before its `text_changed`; not when another text is
        taken.
    view_edited(ViewEdit)
        The editor must make this change to what it shows (undo, redo, an edit that it did not make itself).
    reset()
        Another text or another way to show it: the editor must show `view_text` afresh, for reading only if
        `is_folded`.
    path_changed(Path | None), modified_changed(bool)
        What is so now.
    """

    text_changed = Signal()
    edited = Signal(object)
    view_edited = Signal(object)
    reset = Signal()
    path_changed = Signal(object)
    modified_changed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = TextFile("")
        self._text = ""
        self._path: Path | None = None
        self._newline = "\n"
        self._index = ViewIndex("")
        self._is_folded = False
        self._pages = [0]
        self._page = 0
        self._editor_has_it = False  # the edit under way came from the editor
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(UNDO_STEPS)
        self.undo_stack.cleanChanged.connect(self._on_undo_stack_clean_changed)
        self._is_files = False
        self.files = CorpusFiles(self.undo_stack, self)
        self.files.changed.connect(self.text_changed)

    # What is so.

    @property
    def text(self) -> str:
        """The whole text, with the line breaks of its file."""
        return self._text

    @property
    def path(self) -> Path | None:
        """The file it was opened from or saved to."""
        return self._path

    @property
    def encoding(self) -> str:
        """The encoding it was read in and is saved in."""
        return self._file.encoding

    @property
    def file(self) -> TextFile:
        """What its file holds, and how the text is written to it."""
        return self._file

    @property
    def losses(self) -> tuple[int, int]:
        """How many undecodable stretches were replaced and how many lines left out when it was read."""
        return self._file.replaced, self._file.skipped_lines

    @property
    def is_lossy(self) -> bool:
        """Whether its file holds more than the text: saving over it would lose that."""
        return self._file.is_lossy

    @property
    def is_files(self) -> bool:
        """Whether the corpus is a list of files; the text is empty then."""
        return self._is_files

    @property
    def is_modified(self) -> bool:
        """Whether there is a text that differs from what was opened or saved last."""
        return not self._is_files and not self.undo_stack.isClean()

    # Other texts.

    def take_text(self, file: TextFile, path: Path | None, *, is_modified: bool = False) -> None:
        """Take a text that was read, and the file that it came from; `is_modified`: that file holds another text."""
        self._take(file, path)
        if is_modified:
            self.undo_stack.resetClean()

    def take_files(self) -> None:
        """Begin an empty list of files in the place of what there is."""
        self._is_files = True
        self.files.table.set_rows([])
        self._take_content(TextFile(""), None)

    def load_sample(self, name: str) -> None:
        """Take one of the texts that the program brings along, for example ``"course-en.txt"``."""
        self._take(TextFile(read_text_file(resource_path(f"samples/{name}")).text), None)

    def clear(self) -> None:
        """Begin an empty, unsaved text."""
        self._take(TextFile(""), None)

    def save_text(self, path: Path) -> None:
        """Write the text to `path`, which is its file from then on. Without an edit it is the same to the byte.

        Raises
        ------
        StudioError
            If it cannot be written; a file that was there is then still whole.
        """
        self._file = write_text_file(path, self._text, self._file)
        self._set_path(path)
        self.undo_stack.setClean()

    def move_to(self, path: Path) -> None:
        """Say that the file of the text lies at `path` now."""
        self._set_path(path)

    # Edits. All of them can be undone.

    def edit(self, position: int, removed: int, inserted: str) -> None:
        """Replace `removed` code points at `position` by `inserted`.

        Raises
        ------
        StudioError
            If the text does not reach so far.
        """
        if position < 0 or removed < 0 or position + removed > len(self._text):
            raise StudioError("The text has only {length:,} characters", length=len(self._text))
        self._push(Edit(position, self._text[position : position + removed], inserted), editor_has_it=False)

    def set_text(self, text: str) -> None:
        """Replace the whole text."""
        self._push(Edit(0, self._text, text), editor_has_it=False)

    def edit_view(self, position: int, removed: int, inserted: str) -> None:
        """Replace what the editor shows; it does not show it yet and will hear of it. For paste and drop.

        `position` and `removed` are UTF-16 units in `view_text`, as Qt counts them. Line breaks of any kind in
        `inserted` become those of the text.
        """
        self._edit_in_view(position, removed, inserted, editor_has_it=False)

    def take_view_edit(self, position: int, removed: int, inserted: str) -> None:
        """Follow an edit that the editor has made already, in the terms of `QTextDocument.contentsChange`.

        It may report more than was changed: what is the same before and after is left alone. What the text comes to
        look like may differ from what the editor shows: it must compare `view_length` and `view_between`.
        """
        self._edit_in_view(position, removed, inserted, editor_has_it=True)

    def move_view(self, start: int, end: int, place: int) -> None:
        """Move what the editor shows between two UTF-16 positions to a third, as one edit; it will hear of it."""
        if self._is_folded or start <= place <= end:
            return
        (first, last), (at, _) = self._stretch(start, end), self._stretch(place, place)
        moved = self._text[first:last]
        if at < first:
            self._push(Edit(at, self._text[at:last], moved + self._text[at:first]), editor_has_it=False)
        else:
            self._push(Edit(first, self._text[first:at], self._text[last:at] + moved), editor_has_it=False)

    # What an editor shows.

    @property
    def view_text(self) -> str:
        """The text as the editor should show it: every line break one LF; folded, and one page of it, if too long."""
        return folded(self._page_text) if self._is_folded else to_view(self._text)

    @property
    def view_length(self) -> int:
        """The length of `view_text`, which is not folded, in UTF-16 units."""
        return self.view_position(len(self._text))

    def view_between(self, start: int, end: int) -> str:
        """Return the part of `view_text`, which is not folded, between two UTF-16 positions."""
        start, end = self._stretch(start, end)
        return to_view(self._text[start:end])

    def text_between(self, start: int, end: int) -> str:
        """Return what the text has where `view_text` is shown between two UTF-16 positions."""
        if not self._is_folded:
            start, end = self._stretch(start, end)
            return self._text[start:end]
        return unfolded(self._page_text, start, end)

    @property
    def is_folded(self) -> bool:
        """Whether lines are too long or the text is too long to be edited: `view_text` is for reading only."""
        return self._is_folded

    @property
    def page_count(self) -> int:
        """Number of pages that it is shown in; 1 unless it has more than 10 million characters."""
        return len(self._pages)

    @property
    def page(self) -> int:
        """The page that `view_text` is, from 0."""
        return self._page

    def show_page(self, page: int) -> None:
        """Make `view_text` another page."""
        page = max(0, min(page, len(self._pages) - 1))
        if page != self._page:
            self._page = page
            self.reset.emit()

    def text_position(self, view_position: int) -> int:
        """Return the code point position in `text` of a UTF-16 position in `view_text`, which is not folded."""
        return max(0, min(self._index.text_position(view_position), len(self._text)))

    def view_position(self, position: int) -> int:
        """Return the UTF-16 position in `view_text`, which is not folded, of a code point position in `text`."""
        return self._index.view_position(max(0, min(position, len(self._text))))

    @property
    def _page_text(self) -> str:
        ends = [*self._pages[1:], len(self._text)]
        return self._text[self._pages[self._page] : ends[self._page]]

    def _stretch(self, start: int, end: int) -> tuple[int, int]:
        """Return the code points between two UTF-16 positions in the view; a character cut by the end is among them."""
        first, last = self.text_position(start), self.text_position(end)
        is_cut = start < end and self.view_position(last) < end and last < len(self._text)
        return first, last + is_cut

    def close(self) -> None:
        """Forget the edits; nothing may be undone afterwards."""
        # Left to Python's garbage collection, the commands may be gone before the stack that deletes them: a crash.
        self.undo_stack.clear()

    # How it changes itself.

    def _take(self, file: TextFile, path: Path | None) -> None:
        self._is_files = False
        self.files.table.set_rows([])
        self._take_content(file, path)

    def _take_content(self, file: TextFile, path: Path | None) -> None:
        self._file, self._text = file, file.text
        self._newline = main_line_break(self._text)
        self.undo_stack.clear()
        self._lay_out()
        self._set_path(path)
        self.reset.emit()
        self.text_changed.emit()

    def _set_path(self, path: Path | None) -> None:
        if path != self._path:
            self._path = path
            self.path_changed.emit(path)

    def _edit_in_view(self, position: int, removed: int, inserted: str, *, editor_has_it: bool) -> None:
        if self._is_folded:
            return  # for reading only
        start, end = self._stretch(position, position + removed)
        edit = placed_edit(self._text[start:end], inserted, self._newline, start)
        if edit is not None:
            self._push(edit, editor_has_it=editor_has_it)

    def _push(self, edit: Edit, *, editor_has_it: bool) -> None:
        if edit.removed == edit.inserted:
            return
        self._editor_has_it = editor_has_it
        try:
            self.undo_stack.push(EditCommand(self._apply, edit, merges=editor_has_it))
        finally:
            self._editor_has_it = False

    def _apply(self, edit: Edit) -> None:
        """Make `edit`, for the first time, again, or backwards."""
        start, end = edit.position, edit.position + len(edit.removed)
        change = self._change_of_view(edit)
        was_folded = self._is_folded
        self._text = self._text[:start] + edit.inserted + self._text[end:]
        self._index.note_edit(start, len(edit.removed), len(edit.inserted), self._text)
        if was_folded or self._must_fold(edit):
            self._lay_out()
            self.reset.emit()
        elif not self._editor_has_it:
            self.view_edited.emit(change)
        self.edited.emit(edit)
        self.text_changed.emit()

    def _change_of_view(self, edit: Edit) -> ViewEdit:
        """Return what `edit`, not yet made, changes in the view; a CR that meets a LF, or loses it, is part of it."""
        text, inserted = self._text, edit.inserted
        start, end = edit.position, edit.position + len(edit.removed)
        before, after = text[max(start - 1, 0) : start], text[end : end + 1]
        if before == "\r" and "\n" in (text[start : start + 1], (inserted + after)[:1]):
            start -= 1
            inserted = before + inserted
        if after == "\n" and (text[max(end - 1, 0) : end] == "\r") != ((before + inserted)[-1:] == "\r"):
            end += 1
            inserted += after
        position = self.view_position(start)
        return ViewEdit(position, self.view_position(end) - position, to_view(inserted))

    def _must_fold(self, edit: Edit) -> bool:
        end = edit.position + len(edit.inserted)
        return len(self._text) > LONGEST_TEXT or has_long_line_near(self._text, edit.position, end)

    def _lay_out(self) -> None:
        is_long = len(self._text) > LONGEST_TEXT
        self._is_folded = is_long or has_long_line(self._text)
        self._pages = page_starts(self._text) if is_long else [0]
        self._page = min(self._page, len(self._pages) - 1)
        self._index = ViewIndex("" if self._is_folded else self._text)

    def _on_undo_stack_clean_changed(self, is_clean: bool) -> None:
        self.modified_changed.emit(not is_clean and not self._is_files)
