"""The dialogs before an export: what, at which step, in which format and where; shows the files to be written."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFormLayout,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QSpacerItem,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.libraries.library_child import VOCAB_JSON_FILE
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.storage.corpus_record import CorpusRecord, record_of_project
from wordpiece_studio.storage.exports import Export, Exported, ExportKind, counts_name
from wordpiece_studio.storage.manifest import MANIFEST_FILE, SIDE_SUFFIX, Manifest, manifest_bytes
from wordpiece_studio.storage.merge_table import KINDS as MERGE_TABLE_KINDS
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.file_questions import ask_for_place
from wordpiece_studio.ui.messages import sentence
from wordpiece_studio.ui.widgets.fields import LONGEST_LIST, QuestionDialog, line_field
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    BuddyLabel,
    CutLabel,
    ExactEdit,
    WholeLabel,
    copy_text,
    explain,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    shown,
    tool_button,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from PySide6.QtGui import QFont
    from PySide6.QtWidgets import QLabel

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.storage.project.contents import Project

_tr = partial(QCoreApplication.translate, "export_dialog")

_WIDTH, _HEIGHT = 980, 680
_LINES = 2
_HASH_LETTERS = 16  # enough to compare by eye; the manifest holds all 64
_PENDING = "computed when the files are written"
_HASHED_SECONDS = 0.3  # a corpus that takes longer is hashed when the files are written


# -- what can be exported, in words


def usage_lines(export: Export) -> str:
    """Return two lines of Python that load what is exported.

    >>> from pathlib import PurePosixPath
    >>> print(usage_lines(Export("folder", PurePosixPath("/texts/tokenizer"))))
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained('/texts/tokenizer')
    """
    kind, place = export.kind, repr(str(export.place))  # whatever the name holds, Python reads it back
    if kind == "folder":
        return f"from transformers import AutoTokenizer\ntokenizer = AutoTokenizer.from_pretrained({place})"
    if kind == "word-counts":
        return f"import wordpiece_studio as wps\ncounts = wps.read_word_counts({place})"
    if kind == "bpe":
        place = repr(str(export.place / VOCAB_JSON_FILE))
    return f"import wordpiece_studio as wps\ntokenizer = wps.load_tokenizer({place})"


def _manifest_rows(manifest: Manifest, corpus_name: str) -> list[tuple[str, str]]:
    rows = []
    vocabulary_hash, corpus = manifest.vocabulary_sha256, manifest.corpus
    if vocabulary_hash is not None:
        one, many = "1 token, after merge {step}", "{count} tokens, after merge {step}"
        rows.append((_tr("Vocabulary"), counted(manifest.vocabulary_size, one, many, step=manifest.merges or 0)))
    if manifest.training is not None:
        rows.append((_tr("Trained with"), _objective(manifest.training)))
    normalizer, pre_tokenizer = manifest.steps
    steps = _tr("Normalizer {normalizer}, pre-tokenizer {pre_tokenizer}")
    rows.append((_tr("Text processing"), steps.format(normalizer=normalizer.name, pre_tokenizer=pre_tokenizer.name)))
    if corpus is not None:
        is_pending, missing = corpus.sha256_missing == _PENDING, _tr("Not available: {reason}")
        # Of a file, the reason comes after its name, and may be followed by that of the system.
        translate = partial(QCoreApplication.translate, "corpus_record")
        reason = ": ".join(map(translate, corpus.sha256_missing.split(": ")))
        said = _tr("Computed during export") if is_pending else missing.format(reason=reason)
        parts = (
            corpus_name,
            counted(corpus.words, "1 word", "{count} words"),
            counted(corpus.distinct_words, "1 distinct word", "{count} distinct words"),
        )
        rows += [
            (_tr("Corpus"), " · ".join(filter(None, parts))),
            (_tr("Corpus hash"), said if corpus.sha256 is None else f"{corpus.sha256[:_HASH_LETTERS]}…"),
            (_tr("Word counts hash"), f"{corpus.word_counts_sha256[:_HASH_LETTERS]}…"),
        ]
    if vocabulary_hash is not None:
        rows.append((_tr("Vocabulary hash"), f"{vocabulary_hash[:_HASH_LETTERS]}…"))
    versions = [f"{name} {manifest.versions[name]}" for name in ("python", "numpy")]
    rows.append((_tr("Created with"), ", ".join([manifest.program, *versions])))
    return rows


def _objective(training: Mapping[str, object]) -> str:
    names = {"score": _tr("Score"), "likelihood": _tr("Likelihood"), "count": _tr("Count (BPE)")}
    name, size = names[str(training["objective"])], training["vocab_size"]
    if not isinstance(size, int):
        return name
    return counted(size, "{objective}, up to 1 token", "{objective}, up to {count} tokens", objective=name)


@dataclass(frozen=True, slots=True)
class Inspection:
    """What can be exported from a training after some merges."""

    step: int
    reasons: dict[ExportKind, StudioError]  # why not; kinds that can be exported are not in it
    names: dict[ExportKind, str]  # suggested for the file or folder
    left_out: StudioError | None  # why a tokenizer's folder is written without its vocab.txt
    manifests: dict[ExportKind, tuple[list[tuple[str, str]], str]]  # in words, and as they are written


def inspect(project: Project, step: int, *, should_stop: Callable[[], bool]) -> Inspection:
    run, until = project.runs[0], time.monotonic() + _HASHED_SECONDS
    record = record_of_project(project, lambda: should_stop() or time.monotonic() > until)
    if record.was_stopped:
        record = CorpusRecord(sha256_missing=_PENDING)
    exported = Exported(run.counts, run.config, run.history, step, record)
    names: dict[ExportKind, str] = {"folder": "tokenizer", "vocabulary": VOCABULARY_FILE, "bpe": "bpe"}
    names["word-counts"] = counts_name(exported.counts)
    exports = {kind: Export(kind, Path(name)) for kind, name in names.items()}
    found = Inspection(step, {}, names, exports["folder"].why_incomplete(exported), {})
    for kind, export in exports.items():
        if should_stop():
            break
        reason = export.why_not(exported)
        if reason is not None:
            found.reasons[kind] = reason
        else:
            manifest = export.manifest(exported, is_preview=True)
            name = _corpus_name(project, is_of_text=record.sha256_of == "text")
            found.manifests[kind] = _manifest_rows(manifest, name), manifest_bytes(manifest).decode()
    return found


def _corpus_name(project: Project, *, is_of_text: bool) -> str:
    """Return what the corpus is called: its first file stands for all; it says so if that may differ from its text."""
    corpus = project.corpus
    if not project.runs[0].is_of_corpus:
        return project.runs[0].origin.corpus_name
    if corpus.files:
        name = Path(corpus.files[0].file.path).name
        return name if len(corpus.files) == 1 else f"{name}, … ({len(corpus.files):,})"
    if corpus.origin is None:
        return corpus.name
    name = _tr("{name} (edited)") if corpus.is_edited else _tr("{name} (the file has changed or is missing)")
    return (name if is_of_text else "{name}").format(name=Path(corpus.origin.file.path).name)


# -- the place


def _place_trouble(export: Export, text: str) -> str:
    """Return what is wrong with a place as far as its text shows, without reading the disk; empty if nothing is."""
    text = text.strip()
    if not text:
        return _tr("Enter where to save.")
    if any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in text):
        return _tr("A name cannot contain line breaks or other control characters.")
    if not export.is_folder and (text.endswith(("/", "\\")) or Path(text).name in ("", "..", "~")):
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


def folder_for(chosen: Path, name: str) -> Path:
    """Return `chosen` if it is empty or holds an export, else a new folder in it, not to scatter files among others."""
    try:
        names = {path.name for path in chosen.iterdir()}
    except OSError:
        return chosen  # not there yet, or it will be reported when it is written to
    return chosen if not names or MANIFEST_FILE in names else chosen / name


# -- the parts of the dialog


class KindChoice(QWidget):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.group = QButtonGroup(self)
        self._buttons: dict[ExportKind, QRadioButton] = {}
        self._hints: dict[ExportKind, QLabel] = {}
        self._texts: dict[ExportKind, tuple[str, str]] = {
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
        layout = fill(QVBoxLayout(self), spacing=2)
        for number, (kind, (title, hint)) in enumerate(self._texts.items()):
            button = self._buttons[kind] = QRadioButton(title, self)
            label = self._hints[kind] = plain_label(hint, self, role="hint", wrap=True)
            button.setAccessibleDescription(hint)
            label.setContentsMargins(22, 0, 0, 6)  # in line with the button's text
            self.group.addButton(button, number)
            layout.addWidget(button)
            layout.addWidget(label)
        self.choose("folder")

    @property
    def kind(self) -> ExportKind:
        return list(self._buttons)[self.group.checkedId()]

    def choose(self, kind: ExportKind) -> None:
        self._buttons[kind].setChecked(True)

    def show_reasons(self, reasons: Mapping[ExportKind, StudioError]) -> None:
        """Show what is not possible and why; if that was chosen, choose the first kind that is possible."""
        for kind, button in self._buttons.items():
            text, reason = self._texts[kind][1], reasons.get(kind)
            button.setEnabled(reason is None)
            if reason is not None:  # a prefix cannot be chosen in the window
                bpe_advice = self.tr("To train and write BPE, use “wordpiece-studio train --bpe”.")
                text = f"{sentence(reason.what)} {bpe_advice if kind == 'bpe' else reason.advice}"
            set_plain_text(self._hints[kind], text)
            button.setAccessibleDescription(text)
        if self.kind in reasons:
            self.choose(next((kind for kind in self._buttons if kind not in reasons), self.kind))


class _Pairs(QFormLayout):
    """Names, and beside each what it stands for, in labels that `make` returns."""

    def __init__(self, spacing: int, make: Callable[[str, str], tuple[QLabel, QLabel]]) -> None:
        super().__init__(horizontalSpacing=14, verticalSpacing=spacing)
        self.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.pairs: list[tuple[str, str]] = []
        self._make = make

    def show_pairs(self, pairs: list[tuple[str, str]]) -> None:
        if pairs != self.pairs:
            self.pairs = pairs
            while self.rowCount():
                self.removeRow(0)
            for pair in pairs:
                self.addRow(*self._make(*pair))


class ExportPreview(QWidget):
    """The files that an export would write, what each is for, the lines that load them, and the manifest."""

    def __init__(self, fixed_font: QFont, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines = ""  # of Python
        self.files = _Pairs(4, self._file_labels)
        self.usage = self._code_view("export_usage", self.tr("How to load it in Python"), fixed_font)
        self.usage.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.usage.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        margins = 2 * (self.usage.document().documentMargin() + self.usage.frameWidth() + 1)
        self.usage.setFixedHeight(round(_LINES * self.usage.fontMetrics().lineSpacing() + margins))
        self.copy_button = QPushButton(self, autoDefault=False)
        self.copy_button.setAccessibleName(self.tr("Copy the Python lines"))
        self.copy_button.clicked.connect(self._copy_lines)
        self.manifest = _Pairs(3, self._manifest_labels)
        self.json = self._code_view("export_manifest", self.tr("Manifest"), fixed_font)
        summary = QWidget(self)
        fill(QVBoxLayout(summary), self.manifest, 1, margins=(0, 2, 0, 0), spacing=-1)
        scroll = _scrolled(summary, self)
        scroll.setAccessibleName(self.tr("Manifest summary"))
        stack = QStackedLayout()
        stack.addWidget(scroll)
        stack.addWidget(self.json)
        show = self.tr("Show as &JSON")
        self.json_button = tool_button(show, "", self, stack.setCurrentIndex, role="button", is_switch=True)
        manifest = QWidget(self)
        explain("manifest", manifest)
        manifest_heading = self._heading(self.tr("Manifest: how the export was made"), self.json_button)
        fill(QVBoxLayout(manifest), manifest_heading, (stack, 1), spacing=-1)
        usage_heading = self._heading(self.tr("Load it in Python"), self.copy_button)
        usage = fill(QVBoxLayout(), usage_heading, self.usage, spacing=2)
        title = plain_label(self.tr("These files will be written"), self, role="heading")
        hint = self.tr("With the manifest, the command “wordpiece-studio verify” trains again and compares every byte.")
        note = plain_label(hint, self, role="hint", wrap=True)
        parts = title, self.files, QSpacerItem(0, 6), usage, QSpacerItem(0, 6), (manifest, 1), note
        fill(QVBoxLayout(self), *parts, spacing=-1)

    def _code_view(self, name: str, title: str, font: QFont) -> ExactEdit:
        view = ExactEdit(self, readOnly=True, tabChangesFocus=True, lineWrapMode=ExactEdit.LineWrapMode.NoWrap)
        view.setFont(font)
        view.setObjectName(name)
        view.setAccessibleName(title)
        return view

    def _heading(self, text: str, button: QWidget) -> QHBoxLayout:
        return fill(QHBoxLayout(), (plain_label(text, self, role="heading"), 1), button, spacing=-1)

    def show_manifest(self, rows: list[tuple[str, str]], json: str) -> None:
        self.manifest.show_pairs(rows)
        self.json.setPlainText(shown(json, 20_000))
        self.json_button.setEnabled(bool(json))

    def show_files(self, names: Sequence[str], lines: str) -> None:
        self.files.show_pairs([(name, file_purpose(name)) for name in names])
        self.lines = lines
        self.usage.setPlainText(shown(lines, 2000))
        set_plain_tooltip(self.usage, lines)
        self.copy_button.setEnabled(bool(lines))
        self.copy_button.setText(self.tr("Co&py"))

    def _copy_lines(self) -> None:
        copy_text(self.lines)
        self.copy_button.setText(self.tr("Copied"))

    def _file_labels(self, name: str, purpose: str) -> tuple[QLabel, QLabel]:
        return CutLabel(display_name(name), self, most=200), CutLabel(purpose, self, role="hint")

    def _manifest_labels(self, caption: str, value: str) -> tuple[QLabel, QLabel]:
        pair = plain_label(caption, self, role="hint"), plain_label(shown(value, 300), self, wrap=True)
        for label in pair:
            label.setAlignment(Qt.AlignmentFlag.AlignTop)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return pair


def file_purpose(name: str) -> str:
    purposes = {
        "vocab.txt": _tr("One token per line; the ID is the line number minus one"),
        "tokenizer.json": _tr("Everything that the Hugging Face libraries need"),
        "tokenizer_config.json": _tr("Tells transformers which class to use"),
        "special_tokens_map.json": _tr("Which tokens stand for unknown words, padding and so on"),
        MANIFEST_FILE: _tr("Manifest, read by WordPiece Studio and the verify command"),
        "vocab.json": _tr("Every token with its ID"),
        "merges.txt": _tr("One merge per line, in the order learned"),
    }
    if name.endswith(SIDE_SUFFIX):
        return _tr("Manifest of the file next to it")
    if name.startswith("word-counts."):
        return _tr("Every distinct word and its count")
    return purposes.get(name, _tr("The exported data"))


def _scrolled(content: QWidget, parent: QWidget) -> QScrollArea:
    area = QScrollArea(parent, widgetResizable=True)
    area.setWidget(content)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    for ground in (content, area.viewport()):
        ground.setAutoFillBackground(False)
    return area


class ExportDialog(QuestionDialog):
    """Asks everything at once and shows what will be written; it remains, hidden, until that has been done.

    `steps` has the last step, which is proposed, and the one shown if that is different, each with its vocabulary's
    size; `folder` is that of the suggested place.
    """

    step_changed = Signal()  # another step was chosen: what can be exported may have changed

    def __init__(
        self, steps: Sequence[tuple[int, int]], folder: Path, fixed_font: QFont, parent: QWidget | None = None
    ) -> None:
        super().__init__(self.tr("Export"), parent, entry="vocabulary")
        self._folder = folder
        self.inspection: Inspection | None = None
        self._trouble = ""  # what went wrong with this place the last time
        self.kinds = KindChoice(self)
        self.kinds.group.idToggled.connect(self._on_kinds_id_toggled)
        self._steps = QButtonGroup(self)
        self.counts_box = QCheckBox(self.tr("Add the word &counts"), self)
        set_plain_tooltip(self.counts_box, self.tr("To verify it without the corpus"))
        self.counts_box.toggled.connect(self._show_place)
        self.preview = ExportPreview(fixed_font, self)
        self.place_edit = line_field(self, most=LONGEST_LIST)
        self.place_edit.setAccessibleName(self.tr("Location"))
        self.place_edit.textChanged.connect(self._on_place_edit_text_changed)
        self.place_note = CutLabel("", self, role="hint")
        self._left_out_note = WholeLabel(self, role="hint")
        self.trouble_note = WholeLabel(self, role="error")
        # Enter exports, wherever the focus is.
        self.browse = QPushButton(self.tr("C&hoose…"), self, autoDefault=False)
        self.browse.clicked.connect(self._on_browse_clicked)
        set_plain_tooltip(self.browse, self.tr("Browse the folders of this computer"))
        upper = fill(QHBoxLayout(), self._choices(steps), (self.preview, 1), spacing=16)
        caption = BuddyLabel(self.tr("L&ocation"), self.place_edit, self, role="heading")
        place = fill(QHBoxLayout(), caption, (self.place_edit, 1), self.browse, spacing=-1)
        notes = self.place_note, self._left_out_note, self.trouble_note
        names = {"accept": self.tr("&Export"), "cancel": self.tr("Cancel")}
        self.lay_out((upper, 1), place, *notes, **names, margins=(16, 14, 16, 12))
        self.export = self.accept_button
        self._show_kind()
        room = self.size() if parent is None else parent.size()  # as large as the window allows
        self.resize(min(_WIDTH, max(room.width() - 40, 640)), min(_HEIGHT, max(room.height() - 60, 420)))
        self.kinds.group.button(self.kinds.group.checkedId()).setFocus()  # so that the arrow keys choose

    def _choices(self, steps: Sequence[tuple[int, int]]) -> QScrollArea:
        content = QWidget(self)
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
            button = QRadioButton(filled(words, step=step, size=size), content)
            button.setChecked(not number)
            self._steps.addButton(button, step)
        self._steps.idToggled.connect(self._on_steps_id_toggled)
        titles = [plain_label(text, content, role="heading") for text in (self.tr("Format"), self.tr("Step"))]
        parts = titles[0], self.kinds, titles[1], *self._steps.buttons()
        below = QSpacerItem(0, 8), self.counts_box, 1
        fill(QVBoxLayout(content), *parts, *below, margins=(0, 0, 10, 0), spacing=-1)
        area = _scrolled(content, self)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        needed = content.minimumSizeHint().width() + area.verticalScrollBar().sizeHint().width()
        area.setFixedWidth(max(400, needed))
        return area

    # -- what is chosen

    def choose_step(self, step: int) -> None:
        self._steps.button(step).setChecked(True)

    @property
    def step(self) -> int:
        return self._steps.checkedId()

    @property
    def place(self) -> Path:
        """The folder or file; a bare name lies in the suggested folder, and ``~`` is the user's home folder."""
        path = Path(self.place_edit.text().strip())
        with suppress(RuntimeError):  # no user is called "~name": then it is a plain name, as in a shell
            path = path.expanduser()
        return self._folder / path

    @property
    def chosen(self) -> Export:
        return Export(self.kinds.kind, self.place)

    @property
    def with_counts(self) -> bool:
        return self.kinds.kind == "folder" and self.counts_box.isChecked()

    def take_inspection(self, inspection: Inspection) -> None:
        if inspection.step == self.step:
            self.inspection = inspection
            self.kinds.show_reasons(inspection.reasons)
            self._show_kind()

    def accept(self) -> None:
        if self.export.isEnabled():
            self.hide()
            self.accepted.emit()

    def ask_again(self, trouble: str = "") -> None:
        self._trouble = trouble
        self._show_place()
        self.place_edit.setFocus()
        self.place_edit.selectAll()
        self.open()

    # -- what follows from a choice

    def _show_kind(self) -> None:
        kind, inspection = self.kinds.kind, self.inspection
        self.counts_box.setVisible(kind == "folder")
        for button in self._steps.buttons():
            button.setEnabled(kind != "word-counts")
        manifest: tuple[list[tuple[str, str]], str] = [], ""
        if inspection is not None:
            name, typed = inspection.names[kind], self.place_edit.text()
            text = _for_other_kind(typed, inspection.names.values(), name) if typed else name
            if text != typed:  # else the cursor would leave the place where one edits
                self.place_edit.setText(text)
            manifest = inspection.manifests.get(kind, manifest)
        self.preview.show_manifest(*manifest)
        self._show_place()

    def _show_place(self) -> None:
        export, inspection = self.chosen, self.inspection
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
        if inspection is not None and self.with_counts:
            files += Export("word-counts", Path(inspection.names["word-counts"])).files()
        self.preview.show_files([path.name for path in files], "" if trouble else usage_lines(export))
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
        place = self.place
        if self.chosen.is_folder:
            ask_for_place(
                self, self.tr("Export"), "folder", folder=place.parent, accept=self.tr("Use this folder"),
                take=lambda chosen: self.place_edit.setText(str(folder_for(Path(chosen[0]), place.name))),
            )  # fmt: skip
        else:  # what would be replaced is asked once, about all files
            take = self.place_edit.setText
            ask_for_place(self, self.tr("Export"), "new file", take, folder=place.parent, name=place.name, asks=False)


class HistoryExportDialog(QuestionDialog):
    """Asks which of the merges to export and in which format; the file name is asked for next.

    `rows` is how many are shown; None if they are all in step order, so that there is nothing to choose.
    """

    def __init__(self, merges: int, rows: int | None, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Export merge history"), parent, entry="merge")
        self._rows, self._kinds = QButtonGroup(self), QButtonGroup(self)
        parts: list[QWidget | QSpacerItem] = []
        if rows is not None:
            shown = counted(
                rows, "1 merge shown, as filtered and sorted", "{count} merges shown, as filtered and sorted"
            )
            every = counted(merges, "The only merge, in step order", "All {count} merges, in step order")
            parts += self._question(self._rows, self.tr("Merges"), shown, every)
        kinds = (
            self.tr("CSV: for spreadsheets; tokens are never read as formulas"),
            self.tr("JSONL: one JSON object per merge, for programs"),
            self.tr("Parquet: small and fast to read, for programs; needs pyarrow"),
        )
        parts += self._question(self._kinds, self.tr("Format"), *kinds)
        self.lay_out(*parts, accept=self.tr("Choose &location…"))
        self.accept_button.setFocus()

    def _question(self, group: QButtonGroup, question: str, *answers: str) -> list[QWidget | QSpacerItem]:
        """Return a question and its answers, whose ids in the group count from 0, and of which the first is chosen."""
        for number, text in enumerate(answers):
            group.addButton(QRadioButton(text, self), number)
        group.button(0).setChecked(True)
        space = QSpacerItem(0, 8, QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        return [plain_label(question, self, role="heading"), *group.buttons(), space]

    @property
    def all_merges(self) -> bool:
        return self._rows.checkedId() != 0

    @property
    def kind(self) -> str:
        return MERGE_TABLE_KINDS[self._kinds.checkedId()]
