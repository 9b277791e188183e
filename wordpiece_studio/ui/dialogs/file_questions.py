"""The window's files: how a project is called, the dialog that asks for a place, and the questions before a loss."""

from __future__ import annotations

import os
from pathlib import Path  # noqa: TC003  (for the example below)
from typing import TYPE_CHECKING, Literal, cast

from PySide6.QtCore import QDateTime, QLocale, Qt
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QListWidget, QMessageBox, QPushButton, QWidget

from wordpiece_studio.session.plural import counted
from wordpiece_studio.storage.project.container import SUFFIX
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.messages import question_box
from wordpiece_studio.ui.widgets.fields import QuestionDialog
from wordpiece_studio.ui.widgets.plain import plain_label, shown
from wordpiece_studio.ui.widgets.token_text import merges_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.session.project_state import UnsavedWork
    from wordpiece_studio.session.recovery_store import About

LONGEST_NAMED = 150  # in characters: of a longer path, messages show a part
_MOST_LINES = 15
_Button = QMessageBox.StandardButton


Place = Literal["new file", "file", "files", "folder"]
_MODES: dict[Place, QFileDialog.FileMode] = {
    "new file": QFileDialog.FileMode.AnyFile,
    "file": QFileDialog.FileMode.ExistingFile,
    "files": QFileDialog.FileMode.ExistingFiles,
    "folder": QFileDialog.FileMode.Directory,
}


def ask_for_place(
    window: QWidget, title: str, kind: Place, take: Callable[..., object], *, folder: Path | None = None,
    name: str = "", filters: Sequence[str] = (), suffix: str = "", accept: str = "", asks: bool = True,
) -> QFileDialog:  # fmt: skip
    """Ask where something is, or where to save it: `take` gets the path, or for "files" and "folder" a list of them.

    The dialog starts in `folder` if there is one, suggests `name`, completes what is typed by `suffix`, and `asks`
    whether to replace a file.
    """
    modes = QFileDialog.AcceptMode
    mode = modes.AcceptSave if kind == "new file" else modes.AcceptOpen
    dialog = QFileDialog(window, title, acceptMode=mode, fileMode=_MODES[kind], defaultSuffix=suffix)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, kind == "folder")
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, not asks)
    if accept:
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, accept)
    if filters:
        dialog.setNameFilters(filters)
    if folder is not None:
        dialog.setDirectory(str(folder))
    if name:
        dialog.selectFile(name)
    chosen = dialog.filesSelected if kind in ("files", "folder") else dialog.fileSelected
    chosen.connect(take)
    dialog.open()
    return dialog


def overwrite_box(parent: QWidget, name: str) -> QMessageBox:
    """Return the question whether the file called `name` may be replaced by a text that lacks some of its content."""
    return question_box(
        parent,
        parent.tr("Replace “{name}” with the text that could be read?").format(name=name),
        parent.tr("Some bytes were replaced or lines skipped when the file was opened; replacing it would lose them. "
        "To keep them, save the text under another name."),
        {_Button.Yes: parent.tr("&Replace the file")},
        picture=QMessageBox.Icon.Warning,
    )  # fmt: skip


def names_project(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(SUFFIX)


def with_suffix(path: Path) -> Path:
    """Return the path with the suffix of a project.

    >>> with_suffix(Path("hugs")).name, with_suffix(Path("hugs.WPStudio")).name
    ('hugs.wpstudio', 'hugs.WPStudio')
    """
    return path if names_project(path) else path.with_name(path.name + SUFFIX)


def title_of(name: str) -> str:
    """Return a window title for Qt, which takes ``[*]`` for the place of its modified mark; in a name it is text.

    >>> title_of("hugs"), title_of("[*]")
    ('hugs[*] — WordPiece Studio', '[*][*][*] — WordPiece Studio')
    """
    return f"{shown(name, 100).replace('[*]', '[*][*]')}[*] — WordPiece Studio"


def replace_box(parent: QWidget, path: Path) -> QMessageBox:
    title = parent.tr("Replace “{name}”?").format(name=display_name(path.name))
    text = parent.tr("A project with this name already exists. Its contents would be lost.")
    return question_box(parent, title, text, {_Button.Yes: parent.tr("&Replace")})


def changed_box(parent: QWidget, path: Path) -> QMessageBox:
    """Return the question what to do with a project that another program has changed: Yes, Save (as) or Cancel."""
    title = parent.tr("“{name}” has changed on disk. Replace it?").format(name=display_name(path.name))
    text = parent.tr("Another program has changed the file since you opened or saved it. To keep both, save yours "
                     "under another name.")  # fmt: skip
    answers = {_Button.Yes: parent.tr("&Replace"), _Button.Save: parent.tr("&Save as…")}
    return question_box(parent, title, text, answers)


def listed(names: Sequence[str], most: int, between: str = "\n") -> str:
    rest = len(names) - most
    return between.join([*names[:most], *([counted(rest, "and 1 more", "and {count} more")] if rest > 0 else [])])


def agreement_box(parent: QWidget, places: Sequence[str], action: str) -> QMessageBox:
    """Return the question whether to read files that a project names outside its folder: `action` names Yes."""
    names = listed([shown(display_name(place), LONGEST_NAMED) for place in places], _MOST_LINES)
    risk = parent.tr("Reading a file on another computer can tell that computer who you are.")
    title = parent.tr("Read files outside the project’s folder?")
    box = question_box(parent, title, f"{names}\n{risk}", {_Button.Yes: action})
    box.setDetailedText("\n".join(map(display_name, places)))
    return box


def unsaved_work_box(window: QWidget, unsaved_work: UnsavedWork, corpus_name: str, path: Path | None) -> QMessageBox:
    """Return the question whether to save the project first: ``Save``, ``Discard`` or ``Cancel``."""
    if path is None:
        title = window.tr("Save your work as a project?")
    else:
        title = window.tr("Save the changes to the project “{name}”?").format(name=path.stem)
    answers = {
        _Button.Save: window.tr("&Save as…") if path is None else window.tr("&Save"),
        _Button.Discard: window.tr("&Don’t save"),
    }
    text = "\n".join(_lines(window, unsaved_work, corpus_name))
    return question_box(window, title, text, answers, default=_Button.Save)


def _lines(window: QWidget, unsaved_work: UnsavedWork, corpus_name: str) -> list[str]:
    edited = window.tr("The corpus “{name}” was edited.")
    missing = window.tr("The file of the corpus “{name}” is missing.")
    merges, runs, notes = unsaved_work.merges, unsaved_work.library_runs, unsaved_work.notes
    said = (
        (unsaved_work.text, edited.format(name=corpus_name)),
        (unsaved_work.is_text_missing, missing.format(name=corpus_name)),
        (unsaved_work.is_file_another, window.tr("Another program changed or removed the project file.")),
        (merges, counted(merges, "One merge was learned.", "{count} merges were learned.")),
        (runs, counted(runs, "One run was trained with another library.",
                       "{count} runs were trained with other libraries.")),
        (notes, counted(notes, "One bookmark was added or changed.", "{count} bookmarks were added or changed.")),
        (unsaved_work.others, window.tr("Settings, breakpoints, comparisons or the live text were changed.")),
        (unsaved_work.trains,
         window.tr("Training is still running and will stop; the merges learned so far can be saved.")),
        (True, window.tr("If you don’t save, your changes will be lost.")),
    )  # fmt: skip
    return [words for holds, words in said if holds]


_MOST_ROWS = 6
_SPACING = 2


class RecoveryDialog(QuestionDialog):
    """Lists the unsaved work found; the selected item is restored (accepted) or deleted. Escape decides nothing."""

    DELETED = 2  # the result when the selected item is to be deleted

    def __init__(self, found: Sequence[About], parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Restore unsaved work"), parent)
        is_one = len(found) == 1
        question = (
            self.tr("WordPiece Studio closed before this work was saved. Restore it?") if is_one
            else self.tr("WordPiece Studio closed before this work was saved. Choose what to restore.")
        )  # fmt: skip
        title = plain_label(question, self, role="heading", wrap=True)
        self.list = QListWidget(self)
        self.list.setAccessibleName(self.tr("Unsaved work"))
        self.list.setSpacing(_SPACING)
        for about in found:
            self.list.addItem(self._line(about))
        self.list.setCurrentRow(0)
        row = self.list.sizeHintForRow(0) + 2 * _SPACING
        self.list.setFixedHeight(row * min(len(found), _MOST_ROWS) + 2 * (self.list.frameWidth() + _SPACING))
        self.list.itemDoubleClicked.connect(self.accept)
        hint = self.tr("“Delete” discards this work permanently. “Later” keeps it and asks again at the next start.")
        if not is_one:
            hint = self.tr("“Delete” discards the selected work permanently. Everything else is kept, and you are "
                           "asked again at the next start.")  # fmt: skip
        note = plain_label(hint, self, role="hint", wrap=True)
        self.lay_out(title, self.list, note, accept=self.tr("&Restore"), cancel=self.tr("&Later"))
        delete = self.buttons.addButton(self.tr("&Delete"), QDialogButtonBox.ButtonRole.DestructiveRole)
        delete.clicked.connect(lambda: self.done(self.DELETED))
        for button in self.buttons.buttons():
            cast("QPushButton", button).setAutoDefault(button is self.accept_button)
        self._acting = self.accept_button, delete
        self.list.itemSelectionChanged.connect(self._enable)
        self.accept_button.setFocus()
        self.setMinimumWidth(max(460, min(self.list.sizeHintForColumn(0) + 60, 760)))

    @property
    def number(self) -> int:
        return max(0, self.list.currentRow())

    def _enable(self) -> None:
        for button in self._acting:  # only on work that is visibly selected: a Ctrl+click clears the selection
            button.setEnabled(bool(self.list.selectedIndexes()))

    def _line(self, about: About) -> str:
        name = shown(" ".join(about.name.split()), 60) or self.tr("Unnamed text")
        edits = counted(about.edits, "1 edit", "{count} edits") if about.edits else ""
        merges = merges_text(about.merges) if about.merges else ""
        time = QDateTime.fromSecsSinceEpoch(int(about.time))
        when = QLocale.system().toString(time, QLocale.FormatType.ShortFormat)
        return " · ".join(filter(None, (name, edits, merges, when)))
