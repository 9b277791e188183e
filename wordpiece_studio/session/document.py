"""The corpus: a text that the user edits, or a list of files; its opening, its saving, and its undo commands.

For a text, the Python string here is the truth, with every character that the file had; an editor shows `view_text`, a
copy in Qt's form, and reports what is typed in its own coordinates. For files (`corpus_files`), only how they are read
is kept here. `corpus_counting` counts words. What is opened is read or listed beside the window.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from wordpiece_studio.corpus.decoding import BINARY_ADVICE, UNDECODABLE_ADVICE
from wordpiece_studio.corpus.files import FileOnDisk, TextOnDisk, encoding_of, is_url, kind_of_name, sample_of
from wordpiece_studio.corpus.inspection import described_files
from wordpiece_studio.errors import StudioError
from wordpiece_studio.resources import resource_path
from wordpiece_studio.session.commands import Edit, EditCommand
from wordpiece_studio.session.corpus_files import CorpusFiles, described_row
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.view_text import (
    LONGEST_TEXT,
    ViewEdit,
    ViewIndex,
    common_ends,
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
    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import CorpusFile, CorpusReference


LARGEST_EDITED = 10_000_000
"""In bytes; a larger file is read in parts and never loaded into the editor."""


@dataclass(frozen=True, slots=True)
class TextFile:
    """The content of a file.

    Attributes
    ----------
    text
        The text, with its original line breaks, without the byte order mark.
    encoding
        The matching Python codec.
    mark
        The byte order mark; may be empty.
    original
        The bytes, if re-encoding the text would give different ones, as in some East Asian encodings; else None.
    replaced, skipped_lines
        How many undecodable sequences were replaced, and how many lines with such sequences were skipped: the text is
        then not the whole content of the file.
    """

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    original: bytes | None = None
    replaced: int = 0
    skipped_lines: int = 0

    @property
    def is_lossy(self) -> bool:
        """Whether the text is not the whole content of the file."""
        return bool(self.replaced or self.skipped_lines)


def read_text_file(path: Path, encoding: str | None = None, errors: ErrorHandling = "strict") -> TextFile:
    """Return the content of a text file; without an encoding, it is UTF-8 or what the byte order mark says.

    With `errors` other than strict, content may be lost; the text is then written as UTF-8.
    """
    file = TextOnDisk(path, encoding=encoding, errors=errors)
    pieces = list(file.pieces())
    if not pieces:
        return TextFile("", encoding or "utf-8", mark=_head(path, file.size))
    text = "".join(piece.text for piece in pieces)
    codec = pieces[0].encoding
    replaced, skipped = sum(piece.replaced for piece in pieces), sum(piece.skipped_lines for piece in pieces)
    if replaced or skipped:
        return TextFile(text, replaced=replaced, skipped_lines=skipped)
    mark = _head(path, pieces[0].byte)
    original = None
    if not codec.startswith("utf-"):  # strict decoding of those is reversible
        data = path.read_bytes()
        original = data if text.encode(codec) != data[len(mark) :] else None
    return TextFile(text, codec, mark, original)


def write_text_file(path: Path, text: str, like: TextFile) -> TextFile:
    """Write `text` to `path`, encoded `like` a file; if it is that file's text, write the very same bytes."""
    from wordpiece_studio.system.atomic_write import atomic_write

    if like.original is not None and text == like.text:
        atomic_write(path, like.original)
        return like
    try:
        data = text.encode(like.encoding)
    except UnicodeEncodeError as error:
        raise StudioError(
            "The character {character!r} in line {line} cannot be written in the encoding {encoding}",
            "Remove it, or save the text as UTF-8.",
            character=text[error.start],
            line=text.count("\n", 0, error.start) + 1,
            encoding=like.encoding.upper(),
        ) from error
    atomic_write(path, like.mark + data)
    return TextFile(text, like.encoding, like.mark)


def _head(path: Path, length: int) -> bytes:
    if not length:
        return b""
    with path.open("rb") as file:
        return file.read(length)


UNDO_STEPS = 500


class Document(QObject):
    """The text of the corpus, or its files.

    Attributes
    ----------
    text, file, path
        The whole text with the line breaks of its file, empty for files; the content of its file, and how the text is
        written to it; the file that it was opened from or saved to.
    unread_origin
        The text's file according to its project, if that is behind a URL or the user has not agreed to reading it:
        nothing there is touched; the text has no path meanwhile.
    is_files, files
        Whether the corpus is a list of files, and the list.
    is_folded, page
        Whether the text or one of its lines is too long to edit: `view_text` is read-only; the page that it shows.

    Signals
    -------
    text_changed()
        The text or the files have changed, whatever the cause.
    edited(Edit)
        An edit was made or undone; emitted before `text_changed`, but not when another text replaces this one.
    view_edited(ViewEdit)
        The editor must make this change to what it shows (undo, redo, an edit that it did not make itself).
    reset()
        The text was replaced or is displayed differently: the editor must reload `view_text`, read-only if
        `is_folded`.
    path_changed(), modified_changed()
        There is another path; `is_modified` has changed.
    """

    text_changed = Signal()
    edited = Signal(object)
    view_edited = Signal(object)
    reset = Signal()
    path_changed = Signal()
    modified_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.file = TextFile("")
        self.text = ""
        self._clean_text: str | None = ""  # what was last opened or saved; None: something else
        self._was_modified = False
        self.path: Path | None = None
        self.unread_origin: CorpusReference | None = None
        self._newline = "\n"
        self._index = ViewIndex("")
        self.is_folded = False
        self._pages = [0]
        self.page = 0
        self._editor_has_it = False  # the edit under way came from the editor
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(UNDO_STEPS)
        self.is_files = False
        self.files = CorpusFiles(self.undo_stack, self)
        self.files.changed.connect(self.text_changed)

    # State.

    @property
    def is_modified(self) -> bool:
        """Whether there is a text that differs from what was last opened or saved."""
        return not self.is_files and self.text != self._clean_text

    # Replacing the text.

    def take_text(
        self,
        file: TextFile,
        path: Path | None,
        *,
        is_modified: bool = False,
        unread_origin: CorpusReference | None = None,
    ) -> None:
        """Switch to a text that was read, and its file; `is_modified`: the file holds a different text."""
        self._take(file, path, unread_origin)
        if is_modified:
            self._clean_text = None
            self._note_modified()

    def take_files(self) -> None:
        """Switch to an empty list of files."""
        self._take(TextFile(""), None, is_files=True)

    def load_sample(self, name: str) -> None:
        """Switch to one of the sample texts that come with the program, for example ``"course-en.txt"``."""
        self._take(TextFile(read_text_file(resource_path(f"samples/{name}")).text), None)

    def clear(self) -> None:
        self._take(TextFile(""), None)

    def save_text(self, path: Path) -> None:
        """Write the text to `path`, its file from now on. An unedited text keeps its file's exact bytes."""
        self.file = write_text_file(path, self.text, self.file)
        self.move_to(path)
        self.note_saved()

    def note_saved(self) -> None:
        """Note that the file holds the text as it is now."""
        self._clean_text = self.text
        self._note_modified()

    def move_to(self, path: Path | None) -> None:
        """Set the path of the text's file, which is there now."""
        if path is not None:
            self.unread_origin = None
        if path != self.path:
            self.path = path
            self.path_changed.emit()

    @property
    def unagreed(self) -> tuple[CorpusFile, ...]:
        """The files of the project that are outside its folder, and not read unless the user agrees."""
        if self.is_files:
            return tuple(file for file in self.files.files if file.unagreed)
        origin = self.unread_origin
        return () if origin is None or is_url(origin.file.path) or not origin.file.unagreed else (origin.file,)

    def agree(self) -> None:
        """Note that the user agrees to reading them all."""
        if self.is_files:
            self.files.agree()
        for file in self.unagreed:
            self.move_to(Path(file.agreed().path))

    # Edits, all of which can be undone.

    def edit(self, position: int, removed: int, inserted: str) -> None:
        """Replace `removed` code points at `position` by `inserted`."""
        self._push(Edit(position, self.text[position : position + removed], inserted))

    def set_text(self, text: str) -> None:
        """Replace the whole text; what is the same at its beginning and end is left alone."""
        head, tail = common_ends(self.text, text)
        removed, inserted = self.text[head : len(self.text) - tail], text[head : len(text) - tail]
        self._push(Edit(head, removed, inserted))

    def edit_view(self, position: int, removed: int, inserted: str, *, is_reported: bool = False) -> None:
        """Edit the text at a place in the editor, which is notified of the edit; or one that it has made and reports.

        `position` and `removed` are UTF-16 units in `view_text`, as Qt counts them. Line breaks of any kind in
        `inserted` become those of the text. A report by `QTextDocument.contentsChange` may cover more than was changed:
        what is the same before and after is left alone. The resulting view may differ from what the editor shows: it
        must compare `view_length` and `view_between`.
        """
        if self.is_folded:
            return  # read-only
        start, end = self._text_range(position, position + removed)
        edit = placed_edit(self.text[start:end], inserted, self._newline, start)
        if edit is not None:
            self._push(edit, editor_has_it=is_reported)

    def move_view(self, start: int, end: int, place: int) -> None:
        """Move the part between two UTF-16 positions in the view to a third, as one edit; the editor is notified."""
        if self.is_folded or start <= place <= end:
            return
        (first, last), (at, _) = self._text_range(start, end), self._text_range(place, place)
        moved = self.text[first:last]
        if at < first:
            self._push(Edit(at, self.text[at:last], moved + self.text[at:first]))
        else:
            self._push(Edit(first, self.text[first:at], self.text[last:at] + moved))

    # What the editor shows.

    @property
    def view_text(self) -> str:
        """The text as the editor should show it: every line break as LF; if too long, folded and one page of it."""
        return folded(self._page_text) if self.is_folded else to_view(self.text)

    @property
    def view_length(self) -> int:
        """The length of `view_text`, which is not folded, in UTF-16 units."""
        return self.view_position(len(self.text))

    def view_between(self, start: int, end: int) -> str:
        """Return the part of `view_text`, which is not folded, between two UTF-16 positions."""
        start, end = self._text_range(start, end)
        return to_view(self.text[start:end])

    def text_between(self, start: int, end: int) -> str:
        """Return the part of the text shown between two UTF-16 positions in `view_text`."""
        if not self.is_folded:
            start, end = self._text_range(start, end)
            return self.text[start:end]
        return unfolded(self._page_text, start, end)

    @property
    def page_count(self) -> int:
        """Number of pages; 1 unless the text has more than 10 million characters."""
        return len(self._pages)

    def show_page(self, page: int) -> None:
        page = max(0, min(page, len(self._pages) - 1))
        if page != self.page:
            self.page = page
            self.reset.emit()

    def text_position(self, view_position: int) -> int:
        """Return the code point position in `text` of a UTF-16 position in `view_text`, which is not folded."""
        return max(0, min(self._index.text_position(view_position), len(self.text)))

    def view_position(self, position: int) -> int:
        """Return the UTF-16 position in `view_text`, which is not folded, of a code point position in `text`."""
        return self._index.view_position(max(0, min(position, len(self.text))))

    @property
    def _page_text(self) -> str:
        ends = [*self._pages[1:], len(self.text)]
        return self.text[self._pages[self.page] : ends[self.page]]

    def _text_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the code point range between two UTF-16 positions in the view, with a character cut by the end."""
        first, last = self.text_position(start), self.text_position(end)
        is_cut = start < end and self.view_position(last) < end and last < len(self.text)
        return first, last + is_cut

    def close(self) -> None:
        """Forget the edits; nothing may be undone afterwards."""
        # Python's garbage collection might free the commands before the stack that deletes them: a crash.
        self.undo_stack.clear()

    # Internal changes.

    def _take(
        self, file: TextFile, path: Path | None, unread_origin: CorpusReference | None = None, *, is_files: bool = False
    ) -> None:
        self.is_files = is_files
        self.files.set_rows([])
        self.file, self.text, self.unread_origin = file, file.text, unread_origin
        self._clean_text = self.text
        self._newline = main_line_break(self.text)
        self.undo_stack.clear()
        self._note_modified()
        self._lay_out()
        self.move_to(path)
        self.reset.emit()
        self.text_changed.emit()

    def _push(self, edit: Edit, *, editor_has_it: bool = False) -> None:
        if edit.removed == edit.inserted:
            return
        self._editor_has_it = editor_has_it
        try:
            self.undo_stack.push(EditCommand(self._apply, edit, merges=editor_has_it))
        finally:
            self._editor_has_it = False

    def _apply(self, edit: Edit) -> None:
        """Do, redo or undo an edit."""
        start, end = edit.position, edit.position + len(edit.removed)
        change = self._change_of_view(edit)
        was_folded = self.is_folded
        self.text = self.text[:start] + edit.inserted + self.text[end:]
        self._note_modified()
        self._index.note_edit(start, len(edit.removed), len(edit.inserted), self.text)
        if was_folded or self._must_fold(edit):
            self._lay_out()
            self.reset.emit()
        elif not self._editor_has_it:
            self.view_edited.emit(change)
        self.edited.emit(edit)
        self.text_changed.emit()

    def _change_of_view(self, edit: Edit) -> ViewEdit:
        """Return how `edit`, not yet made, changes the view, including a CR that meets or loses an LF."""
        text, inserted = self.text, edit.inserted
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
        return len(self.text) > LONGEST_TEXT or has_long_line_near(self.text, edit.position, end)

    def _lay_out(self) -> None:
        is_long = len(self.text) > LONGEST_TEXT
        self.is_folded = is_long or has_long_line(self.text)
        self._pages = page_starts(self.text) if is_long else [0]
        self.page = min(self.page, len(self._pages) - 1)
        self._index = ViewIndex("" if self.is_folded else self.text)

    def _note_modified(self) -> None:
        if self.is_modified != self._was_modified:
            self._was_modified = self.is_modified
            self.modified_changed.emit()


_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"PAR1")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; an encoding of None means UTF-8, or what the byte order mark says."""

    encoding: str | None = None
    errors: ErrorHandling = "strict"


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Why a small text cannot be read in the way that was tried, and the encoding that it seems to be in."""

    error: StudioError
    guess: str | None


Opened: TypeAlias = "TextFile | Undecodable | StudioError | Literal['listed', 'stopped']"


class CorpusOpening(QObject):
    """Opens one thing at a time, the latest.

    Attributes
    ----------
    paths, reading, as_list
        What was opened last.

    Signals
    -------
    files_found(list[FileRow], int)
        It is a list: some of its files, and how many there will be in all.
    ended(Opened)
        Nothing is being opened any more: it was one small text, all files of a list were found, it could not be
        opened, or opening was stopped.
    """

    files_found = Signal(object, object)
    ended = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.paths: tuple[str, ...] = ()
        self.reading = Reading()
        self.as_list = False
        self._text = Task(
            small_text, "The files cannot be opened", self, on_answer=self._take_text, on_error=self.ended
        )
        self.list = Task(
            described_files, "The files cannot be listed", self, in_child=True,
            on_part=self._take_files, on_answer=self._end_list, on_error=self.ended,
        )  # fmt: skip

    @property
    def is_running(self) -> bool:
        return self._text.is_running or self.list.is_running

    def open(self, paths: tuple[str, ...], reading: Reading | None = None, *, as_list: bool = False) -> None:
        """Open something; cancel what is being opened. With `as_list`, even one small text becomes a list."""
        self.stop()
        self.paths, self.reading, self.as_list = paths, reading or Reading(), as_list
        if as_list or len(paths) > 1:
            self.list.run(paths)
        else:
            self._text.run(paths[0], self.reading)

    def stop(self) -> None:
        was_running = self.is_running
        self._text.stop()
        self.list.stop()
        if was_running:
            self.ended.emit("stopped")

    def _take_text(self, found: TextFile | Undecodable | None) -> None:
        self._text.forget()  # it may be large
        if found is None:
            self.list.run(self.paths)
        else:
            self.ended.emit(found)

    def _take_files(self, part: tuple[int, list[object]]) -> None:
        number, found = part
        self.files_found.emit([described_row(each) for each in found], number)  # type: ignore[arg-type]

    def _end_list(self) -> None:
        self.ended.emit("listed")


def small_text(path: str, reading: Reading) -> TextFile | Undecodable | None:
    """Return the content of a small text; None if it is something else, to be listed."""
    if not is_small_text(path):
        return None
    try:
        return read_text_file(Path(path), reading.encoding, reading.errors)
    except StudioError as error:
        if not is_about_decoding(error):
            raise
        guess = encoding_of(sample_of(FileOnDisk(path))[1])
        return Undecodable(error, guess.name if guess is not None and guess.how == "guess" else None)


def is_about_decoding(error: StudioError) -> bool:
    return error.advice_template in (UNDECODABLE_ADVICE, BINARY_ADVICE)


def is_small_text(path: str) -> bool:
    """Return whether a path names a file that belongs in the editor, or nothing that can be listed."""
    if kind_of_name(path) not in (None, "text") or os.path.isdir(path):
        return False
    if not os.path.isfile(path):
        return not ("*" in path or "?" in path)  # reading it will say what is wrong
    try:
        with open(path, "rb") as file:
            head = file.read(6)
    except OSError:
        return True  # as above
    return os.path.getsize(path) <= LARGEST_EDITED and not head.startswith(_COMPRESSED)
