"""The dialogs before an export: what, at which step, in which format and where; shows the files to be written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QSpacerItem,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.session.plural import counted, plural
from wordpiece_studio.session.task import later
from wordpiece_studio.storage.exports import Export
from wordpiece_studio.storage.manifest import MANIFEST_FILE, SIDE_SUFFIX
from wordpiece_studio.storage.merge_table import KINDS as MERGE_TABLE_KINDS
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.export_work import usage_lines
from wordpiece_studio.ui.messages import sentence
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, line_field
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    BuddyLabel,
    CutLabel,
    ExactEdit,
    WholeLabel,
    copy_text,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    set_role,
    shown,
)
from wordpiece_studio.ui.widgets.screen_room import QuestionDialog
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from PySide6.QtGui import QFont
    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.storage.exports import ExportKind
    from wordpiece_studio.ui.dialogs.export_work import Inspection

_tr = partial(QCoreApplication.translate, "export_dialog")

_SEPARATORS = ("/", "\\")
_INDENT = 22
_WIDTH, _HEIGHT = 980, 680
_LEFT_WIDTH = 400
_LONGEST_MANIFEST = 20_000
_LONGEST_VALUE = 300
_LINES = 2
_LONGEST_SHOWN = 2000
_COPIED_MS = 1500
_NAME_WIDTH = 200  # pixels; a longer name is cut in its middle


def _place_of(text: str, folder: Path) -> Path:
    """Return the folder or file that `text` means; a bare name lies in `folder`, and ``~`` is the user's home folder.

    >>> _place_of("out", Path("/texts")).as_posix()
    '/texts/out'
    """
    path = Path(text.strip())
    with suppress(RuntimeError):  # no user is called "~name": then it is a plain name, as in a shell
        path = path.expanduser()
    return folder / path


def _place_trouble(export: Export, text: str) -> str:
    """Return what is wrong with a place as far as its text shows, without reading the disk; empty if nothing is."""
    text = text.strip()
    if not text:
        return _tr("Enter where to save.")
    if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text):
        return _tr("A name cannot contain line breaks or other control characters.")
    if not export.is_folder and (text.endswith(_SEPARATORS) or Path(text).name in ("", "..", "~")):
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


class KindChoice(QWidget):
    """Radio buttons, one for each kind of export."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.group = QButtonGroup(self)
        self._buttons: dict[ExportKind, QRadioButton] = {}
        self._hints: dict[ExportKind, QLabel] = {}
        self._texts = self._explanations()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        for number, (kind, (title, hint)) in enumerate(self._texts.items()):
            button = QRadioButton(title, self)
            button.setAccessibleDescription(hint)
            label = plain_label(hint, self, role="hint", wrap=True)
            label.setContentsMargins(_INDENT, 0, 0, 6)
            self.group.addButton(button, number)
            self._buttons[kind], self._hints[kind] = button, label
            layout.addWidget(button)
            layout.addWidget(label)
        self._buttons["folder"].setChecked(True)

    @property
    def kind(self) -> ExportKind:
        """The kind that is chosen."""
        return list(self._buttons)[self.group.checkedId()]

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
                bpe_advice = self.tr("To train and write BPE, use “wordpiece-studio train --bpe”.")
                text = f"{sentence(reason.what)} {bpe_advice if kind == 'bpe' else reason.advice}"
            set_plain_text(label, text)
            button.setAccessibleDescription(text)
        possible = [kind for kind in self._buttons if kind not in reasons]
        if self.kind in reasons and possible:
            self.choose(possible[0])

    def _explanations(self) -> dict[ExportKind, tuple[str, str]]:
        return {
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


def _space(height: int) -> QSpacerItem:
    return QSpacerItem(0, height, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)


class _Pairs(QGridLayout):
    """Labels in two columns: names, and beside each what it stands for."""

    def __init__(self, spacing: int) -> None:
        super().__init__()
        self._labels: list[QLabel] = []
        self.setHorizontalSpacing(14)
        self.setVerticalSpacing(spacing)
        self.setColumnStretch(1, 1)

    def show_pairs(self, pairs: Iterable[tuple[QLabel, QLabel]]) -> None:
        """Show these in place of those before."""
        for label in self._labels:
            self.removeWidget(label)
            label.hide()
            label.deleteLater()
        self._labels = []
        for row, pair in enumerate(pairs):
            for column, label in enumerate(pair):
                self.addWidget(label, row, column, Qt.AlignmentFlag.AlignTop)
            self._labels += pair


def _code_view(name: str, title: str, font: QFont, parent: QWidget) -> ExactEdit:
    """Return a view of code called `name`, and `title` for screen readers, in a font of fixed width."""
    view = ExactEdit(parent)
    view.setReadOnly(True)
    view.setTabChangesFocus(True)
    view.setLineWrapMode(ExactEdit.LineWrapMode.NoWrap)
    view.setFont(font)
    view.setObjectName(name)
    view.setAccessibleName(title)
    return view


class ManifestView(QWidget):
    """Rows of captions and values; or the file, on demand."""

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[tuple[str, str]] = []
        self.json = ""
        explain("manifest", self)
        self._button = QToolButton(self)
        self._button.setText(self.tr("Show as &JSON"))
        self._button.setCheckable(True)
        set_role(self._button, "button")
        self._edit = _code_view("export_manifest", self.tr("Manifest"), fixed_font, self)
        summary = QWidget(self)
        summary.setObjectName("scroll_contents")
        self._pairs = _Pairs(3)
        fill(QVBoxLayout(summary), self._pairs, 1, margins=(0, 2, 0, 0), spacing=-1)
        scroll = QScrollArea(self)
        scroll.setWidget(summary)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(self.tr("Manifest summary"))
        scroll.viewport().setAutoFillBackground(False)  # the dialog's own colour
        title = plain_label(self.tr("Manifest: how the export was made"), self, role="heading")
        heading = fill(QHBoxLayout(), (title, 1), self._button, spacing=-1)
        stack = QStackedLayout()
        stack.addWidget(scroll)
        stack.addWidget(self._edit)
        self._button.toggled.connect(lambda is_json: stack.setCurrentIndex(int(is_json)))
        fill(QVBoxLayout(self), heading, (stack, 1), spacing=-1)

    def show_manifest(self, rows: Sequence[tuple[str, str]], json: str) -> None:
        """Show a manifest: in words, and the beginning of its file if that is long."""
        self.json = shown(json, _LONGEST_MANIFEST)
        self._edit.setPlainText(self.json)
        self._button.setEnabled(bool(json))
        if list(rows) != self.rows:
            self.rows = list(rows)
            self._pairs.show_pairs(self._labels(*row) for row in rows)

    def _labels(self, caption: str, value: str) -> tuple[QLabel, QLabel]:
        pair = plain_label(caption, self, role="hint"), plain_label(shown(value, _LONGEST_VALUE), self, wrap=True)
        for label in pair:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return pair


class UsageBox(QWidget):
    """Shows two lines of Python that load the export from the place that was chosen."""

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        self._view = view = _code_view("export_usage", self.tr("How to load it in Python"), fixed_font, self)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        margins = 2 * (view.document().documentMargin() + view.frameWidth() + 1)
        view.setFixedHeight(round(_LINES * view.fontMetrics().lineSpacing() + margins))
        self._copy = QPushButton(self.tr("Co&py"), self)
        self._copy.setAutoDefault(False)
        self._copy.setAccessibleName(self.tr("Copy the Python lines"))
        self._copy.clicked.connect(self._copy_lines)
        title = plain_label(self.tr("Load it in Python"), self, role="heading")
        heading = fill(QHBoxLayout(), (title, 1), self._copy, spacing=-1)
        fill(QVBoxLayout(self), heading, view, spacing=2)

    def show_lines(self, text: str) -> None:
        """Show these lines; if there are none, disable copying."""
        self.text = text
        self._view.setPlainText(shown(text, _LONGEST_SHOWN))
        set_plain_tooltip(self._view, text)
        self._copy.setEnabled(bool(text))
        self._reset_button()

    def _copy_lines(self) -> None:
        copy_text(self.text)
        self._copy.setText(self.tr("Copied"))
        later(self, _COPIED_MS, self._reset_button)

    def _reset_button(self) -> None:
        self._copy.setText(self.tr("Co&py"))


class FilePreview(QWidget):
    """The files that an export would write, what each is for, the lines that load them, and the manifest."""

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: list[str] = []
        self._pairs = _Pairs(4)
        self.usage = UsageBox(fixed_font, self)
        self.manifest = ManifestView(fixed_font, self)
        title = plain_label(self.tr("These files will be written"), self, role="heading")
        hint = self.tr("With the manifest, the command “wordpiece-studio verify” trains again and compares every byte.")
        note = plain_label(hint, self, role="hint", wrap=True)
        parts = title, self._pairs, _space(6), self.usage, _space(6), (self.manifest, 1), note
        fill(QVBoxLayout(self), *parts, spacing=-1)

    def show_files(self, names: list[str]) -> None:
        """List these files."""
        if names != self.names:
            self.names = names
            self._pairs.show_pairs(
                (
                    CutLabel(display_name(name), self, most=_NAME_WIDTH),
                    plain_label(self._purpose(name), self, role="hint", wrap=True),
                )
                for name in names
            )

    def _purpose(self, name: str) -> str:
        purposes = {
            "vocab.txt": self.tr("One token per line; the ID is the line number minus one"),
            "tokenizer.json": self.tr("Everything that the Hugging Face libraries need"),
            "tokenizer_config.json": self.tr("Tells transformers which class to use"),
            "special_tokens_map.json": self.tr("Which tokens stand for unknown words, padding and so on"),
            MANIFEST_FILE: self.tr("Manifest, read by WordPiece Studio and the verify command"),
            "vocab.json": self.tr("Every token with its ID"),
            "merges.txt": self.tr("One merge per line, in the order learned"),
        }
        if name.endswith(SIDE_SUFFIX):
            return self.tr("Manifest of the file next to it")
        if name.startswith("word-counts."):
            return self.tr("Every distinct word and its count")
        return purposes.get(name, self.tr("The exported data"))


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """How the vocabulary after `step` merges is exported, and whether with the word counts."""

    export: Export
    step: int
    with_counts: bool


class ExportDialog(QuestionDialog):
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

    step_changed = Signal()
    """Another step was chosen: what can be exported may have changed."""

    def __init__(
        self, steps: Sequence[tuple[int, int]], folder: Path, fixed_font: QFont, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Export"), parent, entry="vocabulary")
        self._folder = folder
        self.inspection: Inspection | None = None
        self._trouble = ""  # what went wrong with this place the last time
        self.kinds = KindChoice(self)
        self._steps = QButtonGroup(self)
        self.counts_box = QCheckBox(self.tr("Add the word &counts, to verify it without the corpus"), self)
        self.preview = FilePreview(fixed_font, self)
        self.place_edit = line_field(self, most=LONGEST_LIST)
        self.place_edit.setAccessibleName(self.tr("Location"))
        self.place_note = CutLabel("", self, role="hint")
        self._left_out_note = WholeLabel(self, role="hint")
        self.trouble_note = WholeLabel(self, role="error")
        self.browse = QPushButton(self.tr("C&hoose…"), self)
        self.browse.setAutoDefault(False)  # Enter exports, wherever the focus is
        self._put_together(steps)
        self.export = self.accept_button
        self.export.setEnabled(False)
        self._connect()
        self._show_kind()
        room = self.size() if parent is None else parent.size()  # as large as the window allows
        self.resize(min(_WIDTH, max(room.width() - 40, 640)), min(_HEIGHT, max(room.height() - 60, 420)))
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

    @property
    def _export(self) -> Export:
        return Export(self.kinds.kind, self.place)

    def choice(self) -> ExportChoice:
        """Return everything that was chosen."""
        with_counts = self.kinds.kind == "folder" and self.counts_box.isChecked()
        return ExportChoice(self._export, self.step, with_counts)

    def take_inspection(self, inspection: Inspection) -> None:
        """Show what can be exported at the chosen step."""
        if inspection.step != self.step:
            return
        self.inspection = inspection
        self.kinds.show_reasons(inspection.reasons)
        self._show_kind()

    def propose(self, choice: ExportChoice, trouble: str = "") -> None:
        """Begin with what was chosen before, and say why that failed."""
        self.kinds.choose(choice.export.kind)
        button = self._steps.button(choice.step)
        if button is not None:
            button.setChecked(True)
        self.counts_box.setChecked(choice.with_counts)
        self.place_edit.setText(str(choice.export.place))
        self._trouble = trouble
        self._show_place()
        self.place_edit.setFocus()
        self.place_edit.selectAll()

    def accept(self) -> None:
        if self.export.isEnabled():
            super().accept()

    # -- construction

    def _put_together(self, steps: Sequence[tuple[int, int]]) -> None:
        left = QWidget(self)
        buttons: list[QRadioButton] = []
        for number, (step, size) in enumerate(steps):
            if number:
                words = plural(
                    size, "Current &step: merge {step}, 1 token", "Current &step: merge {step}, {size} tokens"
                )
            elif len(steps) == 1:
                words = plural(size, "&Last step (current): merge {step}, 1 token",
                               "&Last step (current): merge {step}, {size} tokens")  # fmt: skip
            else:
                words = plural(size, "&Last step: merge {step}, 1 token", "&Last step: merge {step}, {size} tokens")
            button = QRadioButton(words.format(step=number_text(step), size=number_text(size)), left)
            button.setChecked(not buttons)
            self._steps.addButton(button, step)
            buttons.append(button)
        titles = [plain_label(text, left, role="heading") for text in (self.tr("Format"), self.tr("Step"))]
        below = _space(8), self.counts_box, 1
        fill(QVBoxLayout(left), titles[0], self.kinds, titles[1], *buttons, *below, margins=(0, 0, 10, 0), spacing=-1)
        scrolled = QScrollArea(self)
        scrolled.setWidget(left)
        scrolled.setWidgetResizable(True)
        scrolled.setFrameShape(QScrollArea.Shape.NoFrame)
        scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled.setFixedWidth(_LEFT_WIDTH)
        for ground in (left, scrolled.viewport()):
            ground.setAutoFillBackground(False)  # the dialog's own colour
        upper = fill(QHBoxLayout(), scrolled, (self.preview, 1), spacing=16)
        caption = BuddyLabel(self.tr("L&ocation"), self.place_edit, self, role="heading")
        place = fill(QHBoxLayout(), caption, (self.place_edit, 1), self.browse, spacing=-1)
        notes = self.place_note, self._left_out_note, self.trouble_note
        names = {"accept": self.tr("&Export"), "cancel": self.tr("Cancel")}
        self.lay_out((upper, 1), place, *notes, **names, margins=(16, 14, 16, 12))

    def _connect(self) -> None:
        self.kinds.group.idToggled.connect(self._on_kinds_id_toggled)
        self._steps.idToggled.connect(self._on_steps_id_toggled)
        self.counts_box.toggled.connect(lambda: self._show_place())
        self.place_edit.textChanged.connect(self._on_place_edit_text_changed)
        self.browse.clicked.connect(self._on_browse_clicked)
        set_plain_tooltip(self.browse, self.tr("Browse the folders of this computer"))

    # -- what follows from a choice

    def _show_kind(self) -> None:
        kind, inspection = self.kinds.kind, self.inspection
        self.counts_box.setVisible(kind == "folder")
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
        export, inspection = self._export, self.inspection
        trouble = _place_trouble(export, self.place_edit.text()) if self.place_edit.text() or inspection else ""
        note, left_out, files = "", "", list[Path]()
        if not trouble:
            note = self.tr("The folder {place}") if export.is_folder else self.tr("The file {place}")
            note = note.format(place=display_name(export.place))
            if inspection is not None and export.kind == "folder" and inspection.left_out is not None:
                export = replace(export, only="tokenizer.json")
                reason = sentence(inspection.left_out.what)
                left_out = self.tr("No vocab.txt will be written. {reason}").format(reason=reason)
            files = export.files()
        if inspection is not None and export.kind == "folder" and self.counts_box.isChecked():
            files += Export("word-counts", Path(inspection.names["word-counts"])).files()
        self.preview.show_files([path.name for path in files])
        self.preview.usage.show_lines(usage_lines(export) if not trouble else "")
        self.place_note.show_text(note)
        shown_trouble = trouble or self._trouble
        self._show_note(self._left_out_note, left_out)
        self._show_note(self.trouble_note, shown_trouble)
        self.place_edit.setAccessibleDescription(shown_trouble)
        is_possible = inspection is not None and export.kind not in inspection.reasons
        self.export.setEnabled(is_possible and not trouble)

    def _show_note(self, note: WholeLabel, text: str) -> None:
        """Show a note, or hide it if empty; one that was hidden has no width yet and would come out far too high."""
        note.resize(self.place_note.width(), note.height())
        note.show_text(text)
        note.setVisible(bool(text))

    def _on_place_edit_text_changed(self) -> None:
        self._trouble = ""
        self._show_place()

    def _on_kinds_id_toggled(self, _number: int, is_checked: bool) -> None:
        if is_checked:
            self._trouble = ""
            self._show_kind()

    def _on_steps_id_toggled(self, _step: int, is_checked: bool) -> None:
        if is_checked:
            self.inspection = None
            self.export.setEnabled(False)
            self.step_changed.emit()

    def _on_browse_clicked(self) -> None:
        dialog = QFileDialog(self, self.tr("Export"), str(self.place.parent))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._export.is_folder:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
            dialog.setLabelText(QFileDialog.DialogLabel.Accept, self.tr("Use this folder"))
            name = self.place.name
            dialog.fileSelected.connect(lambda chosen: self.place_edit.setText(str(_folder_for(Path(chosen), name))))
        else:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # that is asked once, about all files
            dialog.selectFile(self.place.name)
            dialog.fileSelected.connect(self.place_edit.setText)
        dialog.open()


@dataclass(frozen=True, slots=True)
class HistoryExportChoice:
    """What to export: all merges, or the rows shown in their order; and the file format, as its suffix."""

    all_merges: bool
    kind: str


class HistoryExportDialog(QuestionDialog):
    """Asks which of the merges to export and in which format; the file name is asked for next.

    `rows` is how many are shown; None if they are all in step order, so that there is nothing to choose.
    """

    def __init__(self, merges: int, rows: int | None, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Export merge history"), parent, entry="merge")
        self._parts: list[QWidget | QSpacerItem] = []
        self._rows = None
        if rows is not None:
            shown = counted(
                rows, "1 merge shown, as filtered and sorted", "{count} merges shown, as filtered and sorted"
            )
            every = counted(merges, "The only merge, in step order", "All {count} merges, in step order")
            self._rows = self._ask(self.tr("Merges"), shown, every)
        kinds = (
            self.tr("CSV: for spreadsheets; tokens are never read as formulas"),
            self.tr("JSONL: one JSON object per merge, for programs"),
            self.tr("Parquet: small and fast to read, for programs; needs pyarrow"),
        )
        self._kinds = self._ask(self.tr("Format"), *kinds)
        self.lay_out(*self._parts, accept=self.tr("Choose &location…"))
        self.accept_button.setFocus()

    def _ask(self, question: str, *answers: str) -> QButtonGroup:
        """Add a question; the ids of the answers in the group count from 0, and the first one is chosen."""
        group = QButtonGroup(self)
        self._parts.append(plain_label(question, self, role="heading"))
        for number, text in enumerate(answers):
            button = QRadioButton(text, self)
            button.setChecked(number == 0)
            group.addButton(button, number)
            self._parts.append(button)
        self._parts.append(QSpacerItem(0, 8, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed))
        return group

    @property
    def choice(self) -> HistoryExportChoice:
        are_all = self._rows is None or self._rows.checkedId() == 1
        return HistoryExportChoice(are_all, MERGE_TABLE_KINDS[self._kinds.checkedId()])
