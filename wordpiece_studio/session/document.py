"""The corpus: a text that the user edits, or a list of files; its opening, its saving, and its undo commands.

For a text, the Python string here is the truth, with every character that the file had; an editor shows `view_text`, a
copy in Qt's form, and reports what is typed in its own coordinates. A text that is too long for that is shown as a
file, which is kept among the unsaved work; an edit can make it one, and undoing that makes it a text again. For files
(`corpus_files`), only how they are read is kept here. `corpus_counting` counts words. What is opened is read or listed
beside the window.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoGroup, QUndoStack

from wordpiece_studio.corpus.decoding import BINARY_ADVICE, UNDECODABLE_ADVICE
from wordpiece_studio.corpus.files import (
    CorpusFile,
    FileOnDisk,
    TextOnDisk,
    encoding_of,
    is_url,
    kind_of_name,
    sample_of,
)
from wordpiece_studio.corpus.inspection import described_files
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.commands import Edit, EditCommand
from wordpiece_studio.session.corpus_files import CorpusFiles, FileRow, FileState, described_row
from wordpiece_studio.session.recovery_store import KeptText
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.view_text import (
    LARGEST_TEXT,
    ViewEdit,
    ViewIndex,
    common_ends,
    is_too_long,
    main_line_break,
    placed_edit,
    to_view,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from wordpiece_studio.corpus.decoding import ErrorHandling
    from wordpiece_studio.corpus.files import CorpusReference


@dataclass(frozen=True, slots=True)
class TextFile:
    text: str  # with its original line breaks, without the byte order mark
    encoding: str = "utf-8"  # the matching Python codec
    mark: bytes = b""  # the byte order mark
    # The bytes, if re-encoding the text would give different ones, as in some East Asian encodings.
    original: bytes | None = None
    replaced: int = 0  # undecodable sequences
    skipped_lines: int = 0  # with such sequences

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
        what = "The character {character!r} in line {line} cannot be written in the encoding {encoding}"
        raise StudioError(
            what, "Remove it, or save the text as UTF-8.", character=text[error.start],
            line=text.count("\n", 0, error.start) + 1, encoding=like.encoding.upper(),
        ) from error  # fmt: skip
    atomic_write(path, like.mark + data)
    return TextFile(text, like.encoding, like.mark)


def _head(path: Path, length: int) -> bytes:
    if not length:
        return b""
    with path.open("rb") as file:
        return file.read(length)


UNDO_STEPS = 500


class Document(QObject):
    text_changed = Signal()  # or the files, whatever the cause
    edited = Signal(object)  # by this `Edit`, or that was undone; before `text_changed`, but not by another text
    view_edited = Signal(object)  # by this `ViewEdit`, which the editor must make: undo, redo, what was not typed in it
    reset = Signal()  # the text was replaced or is displayed differently: the editor must reload `view_text`
    path_changed = Signal()
    modified_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.file = TextFile("")  # the content of the text's file, and how the text is written to it
        self.text = ""  # with the line breaks of its file; empty for files
        self._clean_text: str | None = ""  # what was last opened or saved; None: something else
        self._was_modified = False
        self.path: Path | None = None  # the file that the text was opened from or saved to
        # The text's file according to its project, if that is behind a URL or the user has not agreed to reading it:
        # nothing there is touched, and the text has no path meanwhile.
        self.unread_origin: CorpusReference | None = None
        self._newline = "\n"
        self._index: ViewIndex | None = None  # of the text, once it is asked for
        self.is_kept = False  # whether the text is too long to be edited, and the only one of the files
        self._keeper = KeptText()
        self._editor_has_it = False  # the edit under way came from the editor
        self.undo_group = QUndoGroup(self)  # which says what the present stack can undo
        self.undo_stack = self._new_stack()
        self.is_files = False
        self.files = CorpusFiles(self.undo_stack, self)
        self.files.changed.connect(self.text_changed)

    # State.

    @property
    def is_modified(self) -> bool:
        return not self.is_files and self.text != self._clean_text

    # Replacing the text.

    def take_text(
        self, file: TextFile, path: Path | None, *, is_modified: bool = False,
        unread_origin: CorpusReference | None = None,
    ) -> None:  # fmt: skip
        """Switch to a text that was read, and its file; `is_modified`: the file holds a different text."""
        self._take(file, path, unread_origin)
        if is_modified:
            self._clean_text = None
            self._note_modified()

    def take_files(self) -> None:
        self._take(TextFile(""), None, is_files=True)

    def clear(self) -> None:
        self._take(TextFile(""), None)

    def save_text(self, path: Path) -> None:
        """Write the text to `path`, its file from now on. An unedited text keeps its file's exact bytes."""
        self.file = write_text_file(path, self.text, self.file)
        self.move_to(path)
        self.note_saved()

    def note_saved(self) -> None:
        self._clean_text = self.text
        self._note_modified()

    def move_to(self, path: Path | None) -> None:
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
        if self.is_files:
            self.files.agree()
        for file in self.unagreed:
            self.move_to(Path(file.agreed().path))

    # Edits, all of which can be undone.

    def edit(self, position: int, removed: int, inserted: str) -> None:
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
        if self.is_kept:
            return
        start, end = self._text_range(position, position + removed)
        edit = placed_edit(self.text[start:end], inserted, self._newline, start)
        if edit is not None:
            self._push(edit, editor_has_it=is_reported)

    def move_view(self, start: int, end: int, place: int) -> None:
        """Move the part between two UTF-16 positions in the view to a third, as one edit; the editor is notified."""
        if self.is_kept or start <= place <= end:
            return
        (first, last), (at, _) = self._text_range(start, end), self._text_range(place, place)
        moved = self.text[first:last]
        if at < first:
            self._push(Edit(at, self.text[at:last], moved + self.text[at:first]))
        else:
            self._push(Edit(first, self.text[first:at], self.text[last:at] + moved))

    # What the editor shows.

    @property
    def is_editable(self) -> bool:
        return not (self.is_files or self.is_kept)

    @property
    def view_text(self) -> str:
        """The text as the editor should show it, every line break as LF; nothing of one that is too long."""
        return "" if self.is_kept else to_view(self.text)

    @property
    def view_length(self) -> int:
        return 0 if self.is_kept else self.view_position(len(self.text))

    def view_between(self, start: int, end: int) -> str:
        return to_view(self.text_between(start, end))

    def text_between(self, start: int, end: int) -> str:
        """Return the part of the text shown between two UTF-16 positions in `view_text`."""
        if self.is_kept:
            return ""
        start, end = self._text_range(start, end)
        return self.text[start:end]

    def text_position(self, view_position: int) -> int:
        """Return the code point position in `text` of a UTF-16 position in `view_text`."""
        return max(0, min(self._places.text_position(view_position), len(self.text)))

    def view_position(self, position: int) -> int:
        """Return the UTF-16 position in `view_text` of a code point position in `text`."""
        return self._places.view_position(max(0, min(position, len(self.text))))

    @property
    def _places(self) -> ViewIndex:
        if self._index is None:
            self._index = ViewIndex(self.text)
        return self._index

    def _text_range(self, start: int, end: int) -> tuple[int, int]:
        """Return the code point range between two UTF-16 positions in the view, with a character cut by the end."""
        first, last = self.text_position(start), self.text_position(end)
        is_cut = start < end and self.view_position(last) < end and last < len(self.text)
        return first, last + is_cut

    def close(self) -> None:
        """Forget the edits; nothing may be undone afterwards."""
        # Python's garbage collection might free the commands before the stack that deletes them: a crash.
        for stack in self.undo_group.stacks():
            stack.clear()
        self._keeper.close()

    def put_edits_aside(self) -> Callable[[], None]:
        """Begin a list of edits for other texts; return what brings back this one, when its text is back."""
        stack, clean_text = self.undo_stack, self._clean_text
        self._use(self._new_stack())

        def bring_back() -> None:
            others = self.undo_stack
            self._use(stack)
            others.clear()
            others.deleteLater()
            self._clean_text = clean_text
            self._note_modified()

        return bring_back

    # Internal changes.

    def _new_stack(self) -> QUndoStack:
        stack = QUndoStack(self)
        stack.setUndoLimit(UNDO_STEPS)
        self.undo_group.addStack(stack)
        stack.setActive()
        return stack

    def _use(self, stack: QUndoStack) -> None:
        self.undo_stack = self.files.undo_stack = stack
        stack.setActive()

    def _take(
        self, file: TextFile, path: Path | None, unread_origin: CorpusReference | None = None, *, is_files: bool = False
    ) -> None:
        self.is_files = is_files
        self.file, self.text, self.unread_origin = file, file.text, unread_origin
        self._clean_text = self.text
        self._newline = main_line_break(self.text)
        self.undo_stack.clear()
        self._note_modified()
        self._show_or_keep()
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
        start, end = edit.position, edit.position + len(edit.removed)
        was_kept = self.is_kept
        change = None if was_kept or self._editor_has_it else self._change_of_view(edit)
        self.text = self.text[:start] + edit.inserted + self.text[end:]
        self._note_modified()
        self._show_or_keep()
        if was_kept or self.is_kept:
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

    def _show_or_keep(self) -> None:
        """Have the text, which is another one, edited, or keep it as a file if it is too long."""
        self.is_kept, self._index = is_too_long(self.text), None
        if self.is_kept or self.files.rows:
            self.files.set_rows([self._kept_row()] if self.is_kept else [])

    def _kept_row(self) -> FileRow:
        try:
            path, size = self._keeper.keep(self.text)
        except StudioError as error:  # the text itself is not lost
            return FileRow(CorpusFile("corpus.txt"), state=FileState.FAULT, error=error)
        return FileRow(CorpusFile(str(path)), size)

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


Opened: TypeAlias = "TextFile | Undecodable | StudioError | Literal['listed', 'long', 'stopped']"


class CorpusOpening(QObject):
    files_found = Signal(object, object)  # some files of a list (list[FileRow]), and how many there will be in all
    ended = Signal(object)  # `Opened`: one small text, a list, or one text too long to be edited; or why there is none

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.paths: tuple[str, ...] = ()  # what was opened last
        self.reading = Reading()
        self.as_list = False
        self._is_long = False  # it is a text, and listed only for that
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
        self._is_long = False
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

    def _take_text(self, found: TextFile | Undecodable | Literal["long"] | None) -> None:
        self._text.forget()  # it may be large
        if found is None or found == "long":
            self._is_long = found is not None
            self.list.run(self.paths)
        else:
            self.ended.emit(found)

    def _take_files(self, part: tuple[int, list[object]]) -> None:
        number, found = part
        rows = [described_row(each) for each in found]  # type: ignore[arg-type]
        if self._is_long:
            rows = [row.read_as(self.reading.encoding, errors=self.reading.errors) for row in rows]
        self.files_found.emit(rows, number)

    def _end_list(self) -> None:
        self.ended.emit("long" if self._is_long else "listed")


def small_text(path: str, reading: Reading) -> TextFile | Undecodable | Literal["long"] | None:
    """Return the content of a text that can be edited, whether it is too long for that, or None if it is no text."""
    size = text_size(path)
    if size != "small":
        return size
    try:
        file = read_text_file(Path(path), reading.encoding, reading.errors)
        return "long" if is_too_long(file.text) else file
    except StudioError as error:
        if not is_about_decoding(error):
            raise
        guess = encoding_of(sample_of(FileOnDisk(path))[1])
        return Undecodable(error, guess.name if guess is not None and guess.how == "guess" else None)


def is_about_decoding(error: StudioError) -> bool:
    return error.advice_template in (UNDECODABLE_ADVICE, BINARY_ADVICE)


def text_size(path: str) -> Literal["small", "long"] | None:
    """Return whether a text can be edited as far as its bytes show, or reading it will say what is wrong ("small").

    None if it is something else than a text.
    """
    if kind_of_name(path) not in (None, "text") or os.path.isdir(path):
        return None
    if not os.path.isfile(path):
        return None if "*" in path or "?" in path else "small"  # reading it will say what is wrong
    try:
        with open(path, "rb") as file:
            head = file.read(6)
    except OSError:
        return "small"  # as above
    if head.startswith(_COMPRESSED):
        return None
    return "small" if os.path.getsize(path) <= LARGEST_TEXT else "long"
