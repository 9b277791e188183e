"""The one dialog before an export: what, at which step, in which format and where; shows the files to be written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.session.plural import plural
from wordpiece_studio.storage.exports import files_of, is_folder
from wordpiece_studio.storage.manifest import MANIFEST_FILE
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.export_preview import FilePreview
from wordpiece_studio.ui.dialogs.export_work import KINDS, usage_lines
from wordpiece_studio.ui.messages import sentence
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, line_field
from wordpiece_studio.ui.widgets.plain import (
    BuddyLabel,
    CutLabel,
    WholeLabel,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    set_role,
)
from wordpiece_studio.ui.widgets.screen_room import ScreenDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from PySide6.QtGui import QFont
    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.storage.exports import ExportKind
    from wordpiece_studio.ui.dialogs.export_work import Inspection

_SEPARATORS = ("/", "\\")
_INDENT = 22
_WIDTH, _HEIGHT = 980, 680
_LEFT_WIDTH = 400


def _place_of(text: str, folder: Path) -> Path:
    """Return the folder or file that `text` means; a bare name lies in `folder`, and ``~`` is the user's home folder.

    >>> _place_of("out", Path("/texts")).as_posix()
    '/texts/out'
    """
    path = Path(text.strip())
    with suppress(RuntimeError):  # no user is called "~name": then it is a plain name, as in a shell
        path = path.expanduser()
    return folder / path


def _place_trouble(kind: ExportKind, text: str) -> str:
    """Return what is wrong with a place as far as its text shows, without reading the disk; empty if nothing is."""
    text = text.strip()
    if not text:
        return _tr("Enter where to save.")
    if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text):
        return _tr("A name cannot contain line breaks or other control characters.")
    if not is_folder(kind) and (text.endswith(_SEPARATORS) or Path(text).name in ("", "..", "~")):
        return _tr("Enter a file name: this is a folder.")
    return ""


def _for_other_kind(text: str, proposed: Collection[str], name: str) -> str:
    """Return the typed text with `name` in place of a name that was suggested for another kind of export.

    >>> _for_other_kind("/texts/tokenizer", ["tokenizer", "vocab.txt"], "vocab.txt")
    '/texts/vocab.txt'
    >>> _for_other_kind("/texts/mine", ["tokenizer", "vocab.txt"], "vocab.txt")
    '/texts/mine'
    """
    text = text.strip()
    old = Path(text).name
    return text.removesuffix(old) + name if old in proposed and text.endswith(old) else text


def _folder_for(chosen: Path, name: str) -> Path:
    """Return `chosen` if it is empty or holds an export of the Studio, else a new folder called `name` in it.

    No one who picks a folder full of other things wants these files scattered among them.
    """
    try:
        names = {path.name for path in chosen.iterdir()}
    except OSError:
        return chosen  # not there yet, or it will be reported when it is written to
    return chosen if not names or MANIFEST_FILE in names else chosen / name


def _tr(text: str) -> str:
    return QCoreApplication.translate("export_place", text)


class KindChoice(QWidget):
    """Radio buttons, one for each kind of export."""

    kind_changed = Signal(object)
    """Another kind was chosen."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._buttons: dict[ExportKind, QRadioButton] = {}
        self._hints: dict[ExportKind, QLabel] = {}
        self._texts = self._explanations()
        self._bpe_advice = self.tr("To train and write BPE, use “wordpiece-studio train --bpe”.")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for number, (kind, (title, hint)) in enumerate(self._texts.items()):
            button = QRadioButton(title, self)
            button.setAccessibleDescription(hint)
            label = plain_label(hint, self, role="hint", wrap=True)
            label.setContentsMargins(_INDENT, 0, 0, 6)
            self._group.addButton(button, number)
            self._buttons[kind], self._hints[kind] = button, label
            layout.addWidget(button)
            layout.addWidget(label)
        self._buttons["folder"].setChecked(True)
        self._group.idToggled.connect(self._on_group_id_toggled)

    @property
    def kind(self) -> ExportKind:
        """The kind that is chosen."""
        return list(self._buttons)[self._group.checkedId()]

    def choose(self, kind: ExportKind) -> None:
        self._buttons[kind].setChecked(True)

    def take_focus(self) -> None:
        """Focus the chosen button, so that the arrow keys choose."""
        self._buttons[self.kind].setFocus()

    def show_reasons(self, reasons: Mapping[ExportKind, StudioError]) -> None:
        """Show what is not possible and why; if that was chosen, choose the first kind that is possible."""
        for kind, button in self._buttons.items():
            reason, label = reasons.get(kind), self._hints[kind]
            button.setEnabled(reason is None)
            text = self._texts[kind][1]
            if reason is not None:  # a prefix cannot be chosen in the window
                text = f"{sentence(reason.what)} {self._bpe_advice if kind == 'bpe' else reason.advice}"
            set_plain_text(label, text)
            button.setAccessibleDescription(text)
        possible = [kind for kind in self._buttons if kind not in reasons]
        if self.kind in reasons and possible:
            self.choose(possible[0])

    def reason_shown(self, kind: ExportKind) -> str:
        """Return the text that is now shown below a kind."""
        return self._hints[kind].text()

    def _on_group_id_toggled(self, _number: int, is_checked: bool) -> None:
        if is_checked:
            self.kind_changed.emit(self.kind)

    def _explanations(self) -> dict[ExportKind, tuple[str, str]]:
        texts: dict[ExportKind, tuple[str, str]] = {
            "folder": (
                self.tr("&Tokenizer for Hugging Face"),
                self.tr(
                    "A folder that transformers and tokenizers load directly: text is split exactly as in this window."
                ),
            ),
            "vocabulary": (
                self.tr("&vocab.txt only"),
                self.tr("One token per line, in ID order. Most BERT programs and TF Text read it."),
            ),
            "bpe": (
                self.tr("&BPE: vocab.json and merges.txt"),
                self.tr("For programs that apply the merges one after another."),
            ),
            "word-counts": (
                self.tr("&Word counts"),
                self.tr("Everything that the training saw of the corpus: enough to train again, here or elsewhere."),
            ),
        }
        return {kind: texts[kind] for kind in KINDS}


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """In which format and where the vocabulary after `step` merges is exported, and whether with the word counts."""

    kind: ExportKind
    step: int
    place: Path
    with_counts: bool


class ExportDialog(ScreenDialog):
    """Asks everything at once and shows what will be written.

    Parameters
    ----------
    steps
        ``(step, vocabulary size)`` of the last step, which is proposed, and of the one shown if that is different.
    folder
        The folder of the place that is suggested.
    fixed_font
        The font of the manifest.
    """

    chosen = Signal(object)
    """The `ExportChoice`, when the dialog was accepted."""
    step_changed = Signal(object)
    """Another step was chosen: what can be exported may have changed."""

    def __init__(
        self, steps: Sequence[tuple[int, int]], folder: Path, fixed_font: QFont, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export"))
        explain("vocabulary", self)
        self._folder = folder
        self._inspection: Inspection | None = None
        self._trouble = ""  # what went wrong with this place the last time
        self.kinds = KindChoice(self)
        self._steps = QButtonGroup(self)
        self._counts_box = QCheckBox(self.tr("Add the word &counts, to verify it without the corpus"), self)
        self.preview = FilePreview(fixed_font, self)
        self.place_edit = line_field(self, most=LONGEST_LIST)
        self.place_edit.setAccessibleName(self.tr("Location"))
        self._place_note = CutLabel("", self, role="hint")
        self._left_out_note = WholeLabel(self, role="hint")
        self._trouble_note = WholeLabel(self, role="error")
        self._browse = QPushButton(self.tr("C&hoose…"), self)
        self._browse.setAutoDefault(False)  # Enter exports, wherever the focus is
        self._buttons = QDialogButtonBox(self)
        self._export = self._buttons.addButton(self.tr("&Export"), QDialogButtonBox.ButtonRole.AcceptRole)
        self._buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        set_role(self._export, "primary")
        self._export.setDefault(True)
        self._export.setEnabled(False)
        self._put_together(steps)
        self._connect()
        self._show_kind()
        self._fit()
        self.kinds.take_focus()

    # -- what is chosen

    @property
    def step(self) -> int:
        """The vocabulary after this many merges is exported."""
        return self._steps.checkedId()

    @property
    def place(self) -> Path:
        """The folder or file; a bare name lies in the suggested folder."""
        return _place_of(self.place_edit.text(), self._folder)

    def choice(self) -> ExportChoice:
        """Return everything that was chosen."""
        kind = self.kinds.kind
        with_counts = kind == "folder" and self._counts_box.isChecked()
        return ExportChoice(kind, self.step, self.place, with_counts)

    def take_inspection(self, inspection: Inspection) -> None:
        """Show what can be exported at the chosen step."""
        if inspection.step != self.step:
            return
        self._inspection = inspection
        self.kinds.show_reasons(inspection.reasons)
        self._show_kind()

    def set_place(self, place: str) -> None:
        """Take a place that was chosen in the file dialog."""
        self.place_edit.setText(place)

    def propose(self, choice: ExportChoice, trouble: str = "") -> None:
        """Begin with what was chosen before, and say why that failed."""
        self.kinds.choose(choice.kind)
        button = self._steps.button(choice.step)
        if button is not None:
            button.setChecked(True)
        self._counts_box.setChecked(choice.with_counts)
        self.place_edit.setText(str(choice.place))
        self._trouble = trouble
        self._show_place()
        self.place_edit.setFocus()
        self.place_edit.selectAll()

    def accept(self) -> None:
        """Hand the choice over and close."""
        if self._export.isEnabled():
            self.chosen.emit(self.choice())
            super().accept()

    # -- construction

    def _put_together(self, steps: Sequence[tuple[int, int]]) -> None:
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 10, 0)
        column.addWidget(plain_label(self.tr("Format"), left, role="heading"))
        column.addWidget(self.kinds)
        column.addWidget(plain_label(self.tr("Step"), left, role="heading"))
        for number, (step, size) in enumerate(steps):
            if number:
                words = plural(
                    size, "Current &step: merge {step}, 1 token", "Current &step: merge {step}, {size} tokens"
                )
            elif len(steps) == 1:
                words = plural(
                    size, "&Last step (current): merge {step}, 1 token",
                    "&Last step (current): merge {step}, {size} tokens",
                )  # fmt: skip
            else:
                words = plural(size, "&Last step: merge {step}, 1 token", "&Last step: merge {step}, {size} tokens")
            button = QRadioButton(words.format(step=number_text(step), size=number_text(size)), left)
            button.setChecked(not self._steps.buttons())
            self._steps.addButton(button, step)
            column.addWidget(button)
        column.addSpacing(8)
        column.addWidget(self._counts_box)
        column.addStretch(1)
        scrolled = QScrollArea(self)
        scrolled.setWidget(left)
        scrolled.setWidgetResizable(True)
        scrolled.setFrameShape(QScrollArea.Shape.NoFrame)
        scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled.setFixedWidth(_LEFT_WIDTH)
        for ground in (left, scrolled.viewport()):
            ground.setAutoFillBackground(False)  # the dialog's own colour
        upper = QHBoxLayout()
        upper.setSpacing(16)
        upper.addWidget(scrolled)
        upper.addWidget(self.preview, 1)
        place = QHBoxLayout()
        place.addWidget(BuddyLabel(self.tr("L&ocation"), self.place_edit, self, role="heading"))
        place.addWidget(self.place_edit, 1)
        place.addWidget(self._browse)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 14, 16, 12)
        layout.addLayout(upper, 1)
        layout.addLayout(place)
        for note in (self._place_note, self._left_out_note, self._trouble_note):
            layout.addWidget(note)
        layout.addWidget(self._buttons)

    def _connect(self) -> None:
        self.kinds.kind_changed.connect(self._on_kinds_kind_changed)
        self._steps.idToggled.connect(self._on_steps_id_toggled)
        self._counts_box.toggled.connect(self._on_counts_box_toggled)
        self.place_edit.textChanged.connect(self._on_place_edit_text_changed)
        self._browse.clicked.connect(self._on_browse_clicked)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        set_plain_tooltip(self._browse, self.tr("Browse the folders of this computer"))

    def _fit(self) -> None:
        """Be as large as the parent window allows."""
        parent = self.parentWidget()
        room = parent.size() if parent is not None else self.size()
        width = min(_WIDTH, max(room.width() - 40, 640)) if parent is not None else _WIDTH
        height = min(_HEIGHT, max(room.height() - 60, 420)) if parent is not None else _HEIGHT
        self.resize(width, height)

    # -- what follows from a choice

    def _show_kind(self) -> None:
        kind, inspection = self.kinds.kind, self._inspection
        self._counts_box.setVisible(kind == "folder")
        for button in self._steps.buttons():
            button.setEnabled(kind != "word-counts")
        if inspection is None:
            self.preview.manifest.show_manifest([], "")
        else:
            name, typed = inspection.names[kind], self.place_edit.text()
            text = _for_other_kind(typed, inspection.names.values(), name) if typed else name
            if text != typed:
                self.place_edit.setText(text)
            self.preview.manifest.show_manifest(*inspection.manifests.get(kind, ([], "")))
        self._show_place()

    def _show_place(self) -> None:
        kind, inspection = self.kinds.kind, self._inspection
        trouble = _place_trouble(kind, self.place_edit.text()) if self.place_edit.text() or inspection else ""
        place, note, left_out, names = self.place, "", "", list[str]()
        if not trouble:
            names = [path.name for path in files_of(kind, place)]
            note = self.tr("The folder {place}") if is_folder(kind) else self.tr("The file {place}")
            note = note.format(place=display_name(place))
        if inspection is not None and kind == "folder":
            if self._counts_box.isChecked():
                names += [path.name for path in files_of("word-counts", Path(inspection.counts_name))]
            if inspection.left_out is not None and VOCABULARY_FILE in names:
                names.remove(VOCABULARY_FILE)
                reason = sentence(inspection.left_out.what)
                left_out = self.tr("No vocab.txt will be written. {reason}").format(reason=reason)
        self.preview.show_files(names)
        self.preview.usage.show_lines(usage_lines(kind, place) if not trouble else "")
        self._place_note.show_text(note)
        shown_trouble = trouble or self._trouble
        self._show_note(self._left_out_note, left_out)
        self._show_note(self._trouble_note, shown_trouble)
        self.place_edit.setAccessibleDescription(shown_trouble)
        is_possible = inspection is not None and kind not in inspection.reasons
        self._export.setEnabled(is_possible and not trouble)

    def _show_note(self, note: WholeLabel, text: str) -> None:
        """Show a note, or hide it if empty; one that was hidden has no width yet and would come out far too high."""
        note.resize(self._place_note.width(), note.height())
        note.show_text(text)
        note.setVisible(bool(text))

    def _on_kinds_kind_changed(self, _kind: object) -> None:
        self._trouble = ""
        self._show_kind()

    def _on_counts_box_toggled(self, _is_checked: bool) -> None:
        self._show_place()

    def _on_place_edit_text_changed(self, _text: str) -> None:
        self._trouble = ""
        self._show_place()

    def _on_steps_id_toggled(self, step: int, is_checked: bool) -> None:
        if is_checked:
            self._inspection = None
            self._export.setEnabled(False)
            self.step_changed.emit(step)

    def _on_browse_clicked(self) -> None:
        dialog = QFileDialog(self, self.tr("Export"), str(self.place.parent))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if is_folder(self.kinds.kind):
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
            dialog.setLabelText(QFileDialog.DialogLabel.Accept, self.tr("Use this folder"))
            dialog.fileSelected.connect(self._on_folder_selected)
        else:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # that is asked once, about all files
            dialog.selectFile(self.place.name)
            dialog.fileSelected.connect(self.set_place)
        dialog.open()

    def _on_folder_selected(self, chosen: str) -> None:
        self.set_place(str(_folder_for(Path(chosen), self.place.name)))
