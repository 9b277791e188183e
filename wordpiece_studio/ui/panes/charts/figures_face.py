"""The figures of all runs and opened tokenizers on a text, as a table: one row per tokenizer, the best in bold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from wordpiece_studio.evaluation.figures import COLUMNS
from wordpiece_studio.session.plural import counted, plural
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.tokenizer_figures import FiguresText
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.pane import EmptyState, fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, copy_text, set_plain_tooltip, shown, tool_button, tooltip_text
from wordpiece_studio.ui.widgets.table import CELL_PADDING, TableView
from wordpiece_studio.ui.widgets.token_text import number_text, run_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from PySide6.QtGui import QHideEvent, QShowEvent

    from wordpiece_studio.evaluation.figures import TokenizerFigures
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.tokenizer_figures import FiguresMeasuring, FiguresRow, Measured
    from wordpiece_studio.ui.widgets.table import Measure
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "figures_face")

_FORMATS = dict(COLUMNS.values())
_NAME, _STEP = range(2)
_FIGURES = tuple(name for name in _FORMATS if name != "name")
_PARITY = 2 + _FIGURES.index("parity")
_MUCH_UNKNOWN = 0.01
"""Of its tokens, more than the tokenizer with the fewest: it loses text, and its other figures say little."""
_LONGEST_NAME = 24
_ROOM = 6
"""Pixels between two columns, besides the padding of their cells."""


@dataclass(frozen=True, slots=True)
class FiguresLine:
    """A row as it is shown: with the name of the tokenizer, and the figures that are the best of their columns."""

    row: FiguresRow
    name: str
    best: frozenset[str] = frozenset()


def figures_lines(rows: Sequence[FiguresRow], names: Sequence[str]) -> list[FiguresLine]:
    """Return the rows with the names of their tokenizers, and which figures are the best."""
    figures = [row.figures for row in rows if row.figures is not None]
    best, lossy = _best(figures), losing(figures)
    lines = []
    for row, name in zip(rows, names, strict=True):
        own = [each for each, value in best.items() if _of(row, each) == value and row.figures not in lossy]
        lines.append(FiguresLine(row, name, frozenset(own)))
    return lines


def figures_columns(has_parity: Callable[[], bool] = lambda: True) -> tuple[TableColumn[Sequence[FiguresLine]], ...]:
    """Return the columns; the last one is there only where there is parity."""
    figures = _figures()
    return (
        TableColumn(
            _tr("Tokenizer"), each_row(lambda line: line.name), align=LEFT, width=partial(_width, _NAME),
            least=lambda measure, lines: min(_width(_NAME, measure, lines), measure.letter * _LONGEST_NAME),
        ),
        TableColumn(
            _tr("Step"), _step, _step_text, entry="step", width=partial(_width, _STEP), importance=6,
            elide=Qt.TextElideMode.ElideRight,
            explanation=tooltip_text(_tr("The step at which the run is measured; to add a row for another step, "
                                         "bookmark it and select “Compare”")),
        ),
        *(
            TableColumn(
                figure.title, partial(_value, name), partial(_text, name), explanation=tooltip_text(figure.tip),
                spoken=partial(_spoken, name), spoken_title=figure.title.replace("\n", " "), entry=figure.entry,
                bold=partial(_is_best, name), elide=Qt.TextElideMode.ElideRight, width=partial(_width, place),
                importance=figure.importance,
                is_there=(lambda _lines: has_parity()) if place == _PARITY else None,
            )
            for place, (name, figure) in enumerate(((name, figures[name]) for name in _FIGURES), start=2)
        ),
    )  # fmt: skip


def _is_best(name: str, lines: Sequence[FiguresLine], row: int) -> bool:
    return name in lines[row].best


def _width(column: int, measure: Measure, lines: Sequence[FiguresLine]) -> int:
    """Return the width of the title and the widest cell that is no error."""
    described = measure.columns[column]
    assert isinstance(described.title, str)
    texts = described.title.split("\n")
    for row, line in enumerate(lines):
        if line.row.error is None or column == _NAME:
            texts.append(measure.cell(row, column))
    return measure.text(*texts, is_bold=True) + 2 * CELL_PADDING + _ROOM


def figures_tsv(rows: RecordTableModel[FiguresLine], *, parity: bool) -> str:
    """Return the table as text, with all digits, with the column of parity or without it."""
    columns = range(rows.columnCount() if parity else _PARITY)
    lines = [[rows.title(column).replace("\n", " ") for column in columns]]
    for number in range(rows.rowCount()):
        values = [rows.value(number, column) for column in columns]
        lines.append(["" if value is None else " ".join(str(value).split()) for value in values])
    return "".join("\t".join(line) + "\n" for line in lines)


def figures_tip(line: FiguresLine) -> str:
    """Return the name of the tokenizer, with its figures in whole numbers, or why there are none."""
    figures = line.row.figures
    if line.row.error is not None:
        return tooltip_text(f"{line.name}\n{line.row.error}")
    if figures is None:
        return tooltip_text(line.name)
    size = counted(figures.vocabulary_size, "1 token in the vocabulary", "{count} tokens in the vocabulary")
    used = counted(figures.used, "1 of them used", "{count} of them used")
    tokens = counted(figures.tokens, "1 token in the text", "{count} tokens in the text")
    unknown = counted(figures.unknown, "1 of them unknown", "{count} of them unknown")
    return tooltip_text(f"{line.name}\n{figures.kind} · {size} · {used}\n{tokens} · {unknown}")


class _Figure(NamedTuple):
    """How a figure is shown: its title, explanation and entry of the glossary, and which of its values is the best."""

    title: str
    tip: str
    entry: str = ""
    best: Callable[[Sequence[float]], float] | None = None
    importance: int = 0  # of its column


def _figures() -> dict[str, _Figure]:
    return {
        "vocabulary_size": _Figure(
            _tr("Size"), _tr("How many tokens the vocabulary has"), "vocabulary", importance=5
        ),
        "tokens_per_word": _Figure(
            _tr("Tokens\nper word"), _tr("Fertility: tokens divided by words; lower is better if the share of unknown "
            "tokens is the same. In brackets: more than 1% are unknown."), "fertility", min
        ),
        "characters_per_token": _Figure(
            _tr("Characters\nper token"), _tr("Characters in the text, including whitespace, divided by tokens"),
            best=max, importance=7,
        ),
        "bytes_per_token": _Figure(
            _tr("Bytes\nper token"), _tr("Bytes in the text as UTF-8, including whitespace, divided by tokens"),
            best=max, importance=1,
        ),
        "unknown_share": _Figure(
            _tr("Unknown"), _tr("The share of tokens that are [UNK] or the like: text that is lost"), "unknown-token",
            min,
        ),
        "whole_share": _Figure(
            _tr("Whole\nwords"), _tr("The share of words, as the tokenizer finds them, that are a single token"),
            best=max, importance=8,
        ),
        "used_share": _Figure(
            _tr("Tokens\nused"), _tr("The share of the vocabulary that the text uses"), "unused-token", max, 3
        ),
        "renyi_efficiency": _Figure(
            _tr("Rényi"), _tr("Rényi efficiency of order 2.5: 1 if all tokens used occur equally often"),
            "renyi-efficiency", max, 4,
        ),
        "bits_per_character": _Figure(
            _tr("Bits per\ncharacter"), _tr("Code length: the bits needed if each token has the optimal code for its "
            "frequency"), "code-length", min, 2,
        ),
        "parity": _Figure(
            _tr("Parity"), _tr("Tokens for each token of the first text, if the texts are translations of each other; "
            "1 means equal treatment"), "parity",
        ),
    }  # fmt: skip


def _of(row: FiguresRow, name: str) -> float | None:
    value = None if row.figures is None else getattr(row.figures, name)
    return None if value is None or value != value else value


def _value(name: str, lines: Sequence[FiguresLine], row: int) -> float | None:
    return _of(lines[row].row, name)


def _text(name: str, lines: Sequence[FiguresLine], row: int) -> str:
    line = lines[row].row
    value = _of(line, name)
    if line.error is not None:
        return str(line.error)
    if value is None:
        return "–" if line.figures is not None else "…"
    if isinstance(value, int):
        return number_text(value)
    written = _FORMATS[name].format(value)
    is_too_good = name == "tokens_per_word" and line.figures is not None and line.figures.loses_text
    return f"({written})" if is_too_good else written


def _spoken(name: str, lines: Sequence[FiguresLine], row: int) -> str:
    said = _text(name, lines, row)
    return _tr("{figure}, the best").format(figure=said) if name in lines[row].best else said


def _step(lines: Sequence[FiguresLine], row: int) -> int | None:
    measured = lines[row].row.measured
    return measured.step if measured.run is not None and measured.run.history.has_steps else None


def _step_text(lines: Sequence[FiguresLine], row: int) -> str:
    line, step = lines[row], _step(lines, row)
    if line.row.error is not None:
        return str(line.row.error)
    return _tr("Final") if step is None else number_text(step)


def losing(figures: Sequence[TokenizerFigures]) -> list[TokenizerFigures]:
    """Return those of tokenizers that lose more of the text than others."""
    least = min((each.unknown_share for each in figures), default=0.0)
    return [each for each in figures if each.unknown_share > least + _MUCH_UNKNOWN]


def _best(figures: Sequence[TokenizerFigures]) -> dict[str, float]:
    """Return the best value of each column; of those that lose text none is, as it makes their figures look good."""
    lossy = losing(figures)
    sound, best = [each for each in figures if each not in lossy], {}
    for name, figure in _figures().items():
        values = [value for each in sound if (value := getattr(each, name)) is not None and value == value]
        if figure.best is not None and len(figures) > 1 and values:
            best[name] = figure.best(values)
    return best


class FiguresFace(QWidget):
    """The table with what chooses the text, what opens tokenizers, and a line that says how far it is.

    Signals
    -------
    files_requested(), tokenizers_requested()
        The user wants to choose files to measure on, or tokenizers to measure.
    """

    files_requested = Signal()
    tokenizers_requested = Signal()

    def __init__(self, figures: FiguresMeasuring, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        explain("metrics", self)
        self._figures = figures
        self.controls = QWidget(parent)  # what stands above the table; the parent places it
        self._offered: tuple[FiguresText, bool] | None = None  # what the combo box offers
        self._rows: list[FiguresRow] = []
        self._names: list[str] = []
        self._left_out = 0
        self._model: RecordTableModel[FiguresLine] = RecordTableModel(
            figures_columns(self._has_parity), self, tip=each_row(figures_tip)
        )
        self.table = TableView(
            self._model, theme, self, name=self.tr("Tokenizer metrics; press Ctrl+C to copy"), padding=3,
            is_sorted=True, keys={QKeySequence.StandardKey.Copy: self._copy, Qt.Key.Key_Delete: self._remove},
        )  # fmt: skip
        self.texts = QComboBox(self.controls)
        self.texts.setAccessibleName(self.tr("Text to measure"))
        self.parts = QComboBox(self.controls)
        self.parts.setAccessibleName(self.tr("Part of the text"))
        for combo in (self.texts, self.parts):
            combo.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.parallel = QCheckBox(self.tr("Translations"), self.controls)
        set_plain_tooltip(self.parallel, self.tr("The files are translations of each other; show parity"))
        self.add = tool_button(self.tr("Add…"), self.tr("Add tokenizer files to the table"), self)
        self.remove = tool_button(self.tr("Remove"), self.tr("Remove the selected tokenizer file from the table"), self)
        self.copy = tool_button(self.tr("Copy"), self.tr("Copy the table with full precision, for a spreadsheet"), self)
        self.stop = tool_button(self.tr("Stop"), self.tr("Stop measuring"), self.controls)
        self.heading = WholeLabel(self, role="hint")  # which words tokens are counted per
        self.note = WholeLabel(self, role="hint")
        self.empty = EmptyState(self)
        self._lay_out()
        self._connect()
        self.refresh()

    def _lay_out(self) -> None:
        buttons = self.parallel, self.stop, self.add, self.remove, self.copy
        fill(QHBoxLayout(self.controls), (self.texts, 3), (self.parts, 2), *buttons, spacing=-1)
        for label in (self.heading, self.note):
            label.setContentsMargins(8, 0, 0, 0)
        fill(QVBoxLayout(self), self.heading, (self.table, 1), (self.empty, 1), self.note)

    def _connect(self) -> None:
        self._figures.changed.connect(self.refresh)
        self.texts.activated.connect(self._on_texts_activated)
        self.parts.activated.connect(self.refresh)
        self.parallel.clicked.connect(self._on_parallel_clicked)
        self.add.clicked.connect(self.tokenizers_requested)
        self.remove.clicked.connect(self._remove)
        self.copy.clicked.connect(self._copy)
        self.stop.clicked.connect(self._figures.stop)
        for changed in (self._model.modelReset, self.table.columns_changed):
            changed.connect(self._fit_errors)
        self.table.selectionModel().selectionChanged.connect(self._enable)

    @property
    def lines(self) -> Sequence[FiguresLine]:
        return self._model.records

    # -- contents

    def refresh(self, _value: object = None) -> None:
        figures = self._figures
        offered = figures.where, figures.can_hold_out
        if offered != self._offered:
            self._offered = offered
            self._fill_texts()
            self._fill_parts()
        part = self.parts.currentData() or ""
        rows = figures.rows(part)
        known = dict(zip(figures.runs, run_names(figures.runs), strict=True))
        names = [_name(row, known) for row in rows]
        if (rows, names) != (self._rows, self._names):
            count, self._rows, self._names = len(self._rows), rows, names
            selected = self._selected()
            self._model.set_records(figures_lines(rows, names))
            self._select(selected)
            if len(rows) > count and rows[-1].measured.path:
                self.table.scrollToBottom()
        self.table.spread()
        self.table.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self.empty.show_text(self.tr("Train a run or add a tokenizer to see its metrics."))
        self._enable()
        measured = [line.row.figures for line in self.lines if line.row.figures is not None]
        self.heading.show_text(self._words_text(measured))
        self.heading.setVisible(bool(self.heading.text()))
        self.note.show_text(self._note())

    def _has_parity(self) -> bool:
        return self._figures.where.is_parallel and bool(self.parts.currentData())

    def _fill_texts(self) -> None:
        where = self._figures.where
        items = [(self.tr("Training corpus"), "training")]
        if self._figures.can_hold_out or where.place == "held-out":
            items.append((self.tr("Held-out text"), "held-out"))
        items.append((self.tr("Live text"), "live"))
        if where.place == "files":
            items.append((self.tr("Files: {files}").format(files=", ".join(where.names())), "files"))
        self.texts.clear()
        for text, place in (*items, (self.tr("Other text…"), "")):
            self.texts.addItem(shown(text, 100), place)
        self.texts.setCurrentIndex(self.texts.findData(where.place))
        self.parallel.setChecked(where.is_parallel)

    def _fit_errors(self) -> None:
        """Let an error take the place of all figures of its row, and say how many columns there is no room for."""
        shown, count = self.table.shown_columns(), self._model.columnCount()
        self.table.clearSpans()
        for row, line in enumerate(self.lines):
            if line.row.error is not None:
                first = min(shown - {_NAME})
                self.table.setSpan(row, first, 1, count - first)
        left_out = count - len(shown) - (not self._has_parity())
        if left_out != self._left_out:
            self._left_out = left_out
            self.note.show_text(self._note())

    def _fill_parts(self) -> None:
        parts, chosen = self._figures.parts, self.parts.currentData()
        self.parts.clear()
        for part in ("", *parts):
            self.parts.addItem(shown(part, 200) if part else self.tr("All files"), part)
        self.parts.setCurrentIndex(max(self.parts.findData(chosen), 0))
        self.parts.setVisible(bool(parts))
        self.parallel.setVisible(bool(parts))

    def _note(self) -> str:
        figures = self._figures
        if figures.error is not None:
            return str(figures.error)
        if figures.is_running:
            return _progress_text(figures.progress)
        if figures.where.place == "held-out" and not figures.can_hold_out:
            return self.tr("No text can be held out from this run’s corpus.")
        if figures.was_stopped:
            return self.tr("Stopped. Choose the text once more to begin again.")
        known = [line.row.figures for line in self.lines if line.row.figures is not None]
        return " ".join(filter(None, (self._losing_text(known), self._left_out_text())))

    def _losing_text(self, known: Sequence[TokenizerFigures]) -> str:
        names = [each.name for each in losing(known)]
        if not names and any(each.loses_text for each in known):
            return self.tr("Tokens per word in brackets: an unknown word, however long, is one token.")
        if not names:
            return ""
        said = self.tr("Text lost to unknown tokens: {names}. Do not compare their other metrics.")
        return said.format(names=", ".join(names))

    def _words_text(self, known: Sequence[TokenizerFigures]) -> str:
        if not known or len(self._figures.words_of) < 2:
            return ""
        normalizer, splitter = self._figures.words_of
        words = known[0].words
        said = plural(words, "1 word ({normalizer}, {splitter}).", "{words} words ({normalizer}, {splitter}).")
        if self._figures.where.place == "held-out":
            said = plural(
                words,
                "1 word held out ({normalizer}, {splitter}); runs were retrained without it.",
                "{words} words held out ({normalizer}, {splitter}); runs were retrained without them.",
            )
        return said.format(words=number_text(words), normalizer=normalizer, splitter=splitter)

    def _left_out_text(self) -> str:
        if not self._left_out or not self.lines:
            return ""
        return counted(
            self._left_out,
            "1 column is hidden; press F12 to show it.",
            "{count} columns are hidden; press F12 to show them.",
        )

    def _enable(self, *_values: object) -> None:
        self.stop.setVisible(self._figures.is_running)
        is_opened = [bool(line.row.measured.path) for line in self.lines]
        self.remove.setVisible(any(is_opened))
        row = self.table.selected_row
        self.remove.setEnabled(0 <= row < len(is_opened) and is_opened[row])
        self.copy.setEnabled(any(line.row.figures is not None for line in self.lines))

    def _selected(self) -> Measured | None:
        row = self.table.selected_row
        return self.lines[row].row.measured if 0 <= row < len(self.lines) else None

    def _select(self, measured: Measured | None) -> None:
        for row, line in enumerate(self.lines):
            if measured is not None and line.row.measured == measured:
                self.table.selectRow(row)

    # -- events

    def _on_texts_activated(self, _index: int) -> None:
        place, where = self.texts.currentData(), self._figures.where
        if place:
            self._figures.measure_on(where if place == where.place else FiguresText(place))
        else:
            self._fill_texts()  # until files are chosen
            self.files_requested.emit()

    def _on_parallel_clicked(self, is_checked: bool) -> None:
        if is_checked and not self.parts.currentData():
            self.parts.setCurrentIndex(2)  # all files together have no parity, and that of the first is 1
        self._figures.measure_on(replace(self._figures.where, is_parallel=is_checked))

    def _copy(self) -> None:
        if self.copy.isEnabled():
            copy_text(figures_tsv(self._model, parity=not self.table.isColumnHidden(_PARITY)))

    def _remove(self) -> None:
        if self.remove.isEnabled():
            self._figures.remove(self.lines[self.table.selected_row].row.measured.path)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._figures.set_wanted(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._figures.set_wanted(False)


def _name(row: FiguresRow, names: Mapping[Run, str]) -> str:
    measured = row.measured
    if measured.run is not None:
        return f"{measured.name}  {names[measured.run]}"
    path = Path(measured.path)
    return display_name(Path(path.parent.name, path.name))


def _progress_text(progress: tuple[str, int, int] | None) -> str:
    if progress is None:
        return _tr("Measuring…")
    what, done, total = progress
    percent = 100 * done // max(total, 1)
    for verb, text in (
        ("Tokenizing by ", _tr("Tokenizing with {name}: {percent}%")),
        ("Training ", _tr("Retraining {name}: {percent}%")),
    ):
        if what.startswith(verb):
            return text.format(name=what.removeprefix(verb), percent=percent)
    return _tr("Reading text: {percent}%").format(percent=percent)
