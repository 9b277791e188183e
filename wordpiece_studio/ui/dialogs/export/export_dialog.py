"""The one question before an export: what, of which step, as what, and where; with all files that will be written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.export.export_place import folder_for, for_other_kind, place_of, place_trouble
from wordpiece_studio.ui.dialogs.export.export_work import files_of, is_folder
from wordpiece_studio.ui.dialogs.export.file_preview import FilePreview
from wordpiece_studio.ui.dialogs.export.kind_choice import KindChoice
from wordpiece_studio.ui.dialogs.export.usage_lines import usage_lines
from wordpiece_studio.ui.widgets.cut_label import CutLabel
from wordpiece_studio.ui.widgets.line_field import LONGEST_LIST, line_field
from wordpiece_studio.ui.widgets.plain import plain_label, set_plain_tooltip, set_role
from wordpiece_studio.ui.widgets.whole_label import WholeLabel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFont

    from wordpiece_studio.storage.exports import ExportKind
    from wordpiece_studio.ui.dialogs.export.export_work import Inspection

_WIDTH, _HEIGHT = 980, 680
_LEFT_WIDTH = 400


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """As what the vocabulary after `step` merges is exported, where to, and whether with the word counts."""

    kind: ExportKind
    step: int
    place: Path
    with_counts: bool


class ExportDialog(QDialog):
    """Asks everything at once and shows what will come of it.

    Parameters
    ----------
    steps
        ``(step, vocabulary size)`` of the step shown, and of the last one if that is another.
    folder
        Where the place that is proposed lies.
    fixed_font
        In which the manifest is shown.
    """

    chosen = Signal(object)
    """The `ExportChoice`, when the dialog was accepted."""
    step_changed = Signal(object)
    """Another step was chosen: what can be exported may be something else."""

    def __init__(
        self, steps: Sequence[tuple[int, int]], folder: Path, fixed_font: QFont, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Export"))
        self._folder = folder
        self._inspection: Inspection | None = None
        self._trouble = ""  # what went wrong with this place the last time
        self.kinds = KindChoice(self)
        self._steps = QButtonGroup(self)
        self._counts_box = QCheckBox(self.tr("The word &counts too: it can be checked without the corpus"), self)
        self.preview = FilePreview(fixed_font, self)
        self.place_edit = line_field(self, most=LONGEST_LIST)
        self.place_edit.setAccessibleName(self.tr("Where to"))
        self._place_note = CutLabel("", self, role="hint")
        self._left_out_note = WholeLabel(self, role="hint")
        self._trouble_note = WholeLabel(self, role="error")
        self._browse = QPushButton(self.tr("C&hoose…"), self)
        self._browse.setAutoDefault(False)  # Enter exports, wherever one is
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
        """The vocabulary after so many merges."""
        return self._steps.checkedId()

    @property
    def place(self) -> Path:
        """The folder or file; a bare name is one in the folder proposed."""
        return place_of(self.place_edit.text(), self._folder)

    def choice(self) -> ExportChoice:
        """Return all that was chosen."""
        kind = self.kinds.kind
        with_counts = kind == "folder" and self._counts_box.isChecked()
        return ExportChoice(kind, self.step, self.place, with_counts)

    def take_inspection(self, inspection: Inspection) -> None:
        """Show what can be exported of the step chosen."""
        if inspection.step != self.step:
            return
        self._inspection = inspection
        self.kinds.show_reasons(inspection.reasons)
        self._show_kind()

    def set_place(self, place: str) -> None:
        """Take a place that was chosen in a dialog of its own."""
        self.place_edit.setText(place)

    def propose(self, choice: ExportChoice, trouble: str = "") -> None:
        """Begin with what was chosen before, and say why that came to nothing."""
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

    # -- making it

    def _put_together(self, steps: Sequence[tuple[int, int]]) -> None:
        left = QWidget(self)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 10, 0)
        column.addWidget(plain_label(self.tr("As what?"), left, role="heading"))
        column.addWidget(self.kinds)
        column.addWidget(plain_label(self.tr("Which step?"), left, role="heading"))
        sentences = [
            self.tr("The one &shown: after merge {step:,}, {size:,} tokens"),
            self.tr("The &last one: after merge {step:,}, {size:,} tokens"),
        ]
        for text, (step, size) in zip(sentences, steps, strict=False):
            button = QRadioButton(text.format(step=step, size=size), left)
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
        caption = plain_label(self.tr("Where t&o?"), self, role="heading")
        caption.setBuddy(self.place_edit)
        place.addWidget(caption)
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
        set_plain_tooltip(self._browse, self.tr("Choose the place in the folders of this computer"))

    def _fit(self) -> None:
        """Be as large as the window behind allows."""
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
            text = for_other_kind(typed, inspection.names.values(), name) if typed else name
            if text != typed:
                self.place_edit.setText(text)
            manifest = inspection.manifests.get(kind)
            self.preview.manifest.show_manifest(manifest.rows if manifest else [], manifest.json if manifest else "")
        self._show_place()

    def _show_place(self) -> None:
        kind, inspection = self.kinds.kind, self._inspection
        trouble = place_trouble(kind, self.place_edit.text()) if self.place_edit.text() or inspection else ""
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
                left_out = self.tr("It gets no vocab.txt: {reason}.").format(reason=inspection.left_out.what)
        self.preview.show_files(names)
        self.preview.usage.show_lines(usage_lines(kind, place) if not trouble else "")
        self._place_note.show_text(note)
        told = trouble or self._trouble
        self._tell(self._left_out_note, left_out)
        self._tell(self._trouble_note, told)
        self.place_edit.setAccessibleDescription(told)
        is_possible = inspection is not None and kind not in inspection.reasons
        self._export.setEnabled(is_possible and not trouble)

    def _tell(self, note: WholeLabel, text: str) -> None:
        """Show a note, or hide it: one that was hidden has no width yet, for which it would be far too high."""
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
            dialog.setLabelText(QFileDialog.DialogLabel.Accept, self.tr("Take this folder"))
            dialog.fileSelected.connect(self._on_folder_selected)
        else:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # it is asked once, about all files
            dialog.selectFile(self.place.name)
            dialog.fileSelected.connect(self.set_place)
        dialog.open()

    def _on_folder_selected(self, chosen: str) -> None:
        self.set_place(str(folder_for(Path(chosen), self.place.name)))
