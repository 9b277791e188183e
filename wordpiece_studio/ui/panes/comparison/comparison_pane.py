"""Everything that compares runs, in one place: a tab for each question.

The first has the figures of all runs and opened tokenizers on a text: one row per tokenizer, the best in bold.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from wordpiece_studio.corpus.count_tables import csv_text, guarded
from wordpiece_studio.evaluation.cross_validation import FOLDS
from wordpiece_studio.evaluation.figures import BEST, best_of, figure_text, known, losing
from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.task import later
from wordpiece_studio.session.tokenizer_figures import FiguresText
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.panes.comparison import compared_tables as tables
from wordpiece_studio.ui.widgets.fields import combo_box, keep_keys, offer
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane, fill
from wordpiece_studio.ui.widgets.plain import (
    WholeLabel,
    copy_lines,
    explain,
    set_plain_tooltip,
    shown,
    tool_button,
    tooltip_text,
)
from wordpiece_studio.ui.widgets.table import CELL_PADDING, WRAPPED, RowLook, TableView
from wordpiece_studio.ui.widgets.token_text import run_names, where_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from PySide6.QtGui import QHideEvent, QShowEvent

    from wordpiece_studio.evaluation.figures import TokenizerFigures
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.session.tokenizer_figures import FiguresMeasuring, FiguresRow, Measured
    from wordpiece_studio.storage.project.contents import Run
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.widgets.table import Measure
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "summary_table")

_NAME, _TOKENS_PER_WORD = 0, 3
_LONGEST_NAME, _SHORTEST_CHOICE = 24, 8  # characters
_ROOM = 6  # pixels between two columns, besides the padding of their cells
_ROW_ROOM, _FEW_ROWS = 14, 4


def figures_lines(rows: Sequence[FiguresRow], names: Sequence[str]) -> list[FiguresRow]:
    """Return the rows with the names of their tokenizers, and with the figures that are the best of their columns.

    Those that lose text have none: it makes their figures look good.
    """
    figures = [row.figures for row in rows if row.figures is not None]
    best = {name: list(map(id, best_of(figures, name))) for name in BEST} if len(figures) > 1 else {}
    return [
        replace(row, name=name, best=frozenset(each for each, of in best.items() if id(row.figures) in of))
        for row, name in zip(rows, names, strict=True)
    ]


def figures_columns(has_parity: Callable[[], bool] = lambda: True) -> tuple[TableColumn[Sequence[FiguresRow]], ...]:
    """Return the columns; the last one is there only where there is parity."""
    columns = (
        TableColumn(
            _tr("Tokenizer"), each_row(lambda line: line.name), align=LEFT, drawn=each_row(_beside_disc),
            run=each_row(lambda line: line.measured.run),
            least=lambda measure, lines: min(_width(_NAME, measure, lines), measure.letter * _LONGEST_NAME),
        ),
        TableColumn(
            _tr("Step"), each_row(_step), each_row(_step_text), entry="step", importance=9,
            elide=Qt.TextElideMode.ElideRight,
            explanation=tooltip_text(_tr("The step at which the run is measured; to add a row for another step, "
                                         "bookmark it and select “Compare”")),
        ),
        _column("vocabulary_size", _tr("Size"), _tr("How many tokens the vocabulary has"), "vocabulary", importance=8),
        _column(
            "tokens_per_word", _tr("Tokens\nper word"), _tr("Fertility: tokens divided by words; lower is better if "
            "the share of unknown tokens is the same. In brackets: more than 1% are unknown."), "fertility",
        ),
        _column(
            "tokens_per_line", _tr("Tokens\nper line"), _tr("Tokens divided by lines; for text without spaces, where "
            "a line may be one word"), "tokens-per-line", importance=3,
        ),
        _column(
            "characters_per_token", _tr("Characters\nper token"),
            _tr("Characters in the text, including whitespace, divided by tokens"), importance=10,
        ),
        _column(
            "bytes_per_token", _tr("Bytes\nper token"),
            _tr("Bytes in the text as UTF-8, including whitespace, divided by tokens"), importance=1,
        ),
        _column(
            "unknown_share", _tr("Unknown"),
            _tr("The share of tokens that are [UNK] or the like: text that is lost"), "unknown-token",
        ),
        _column(
            "whole_share", _tr("Whole\nwords"),
            _tr("The share of words, as the tokenizer finds them, that are a single token"), importance=11,
        ),
        _column(
            "used_share", _tr("Tokens\nused"), _tr("The share of the vocabulary that the text uses"), "unused-token",
            importance=5,
        ),
        _column(
            "renyi_efficiency", _tr("Rényi"),
            _tr("Rényi efficiency of order 2.5: 1 if all tokens used occur equally often"), "renyi-efficiency",
            importance=6,
        ),
        _column(
            "renyi_of_vocabulary", _tr("Rényi of\nvocabulary"), _tr("The same, divided by the logarithm of the whole "
            "vocabulary’s size: 1 if all of its tokens occur equally often"), "renyi-efficiency", importance=2,
        ),
        _column(
            "bits_per_character", _tr("Bits per\ncharacter"), _tr("Code length per character: the share of each token "
            "comes from its count on the training part plus one; unknown words are spelled"), "code-length",
            importance=13,
        ),
        _column(
            "vocabulary_bits", _tr("Vocabulary\ncost"), _tr("What the vocabulary itself takes, spelled in its "
            "alphabet"), "description-length", importance=7,
        ),
        _column(
            "description_length", _tr("Description\nlength"), _tr("What all of the text and the vocabulary take "
            "together; lower is better"), "description-length", importance=12,
        ),
        _column(
            "greedy_gap", _tr("Greedy\ngap"), _tr("Tokens of longest match divided by the fewest possible with the "
            "same vocabulary"), "greedy-gap", importance=4,
        ),
        _column(
            "parity", _tr("Parity"), _tr("Tokens for each token of the first text, if the texts are translations of "
            "each other; 1 means equal treatment"), "parity", is_there=lambda _lines: has_parity(),
        ),
    )  # fmt: skip
    return tuple(replace(column, width=partial(_width, place)) for place, column in enumerate(columns))


def _column(name: str, title: str, tip: str, entry: str = "", **others: Any) -> TableColumn[Sequence[FiguresRow]]:
    def spoken(line: FiguresRow) -> str:
        said = _text(name, line)
        return _tr("{figure}, the best").format(figure=said) if name in line.best else said

    return TableColumn(
        title, each_row(lambda line: known(line.figures, name)), each_row(partial(_text, name)),
        explanation=tooltip_text(tip), spoken=each_row(spoken), spoken_title=title.replace("\n", " "), entry=entry,
        bold=each_row(lambda line: name in line.best), elide=Qt.TextElideMode.ElideRight, **others,
    )  # fmt: skip


def _text(name: str, line: FiguresRow) -> str:
    if line.error is not None:
        return str(line.error)
    return "…" if line.figures is None else figure_text(line.figures, name)


def _beside_disc(line: FiguresRow) -> str:
    run = line.measured.run
    return line.name if run is None else line.name.removeprefix(f"{run.letter}  ")  # which is on the disc


def _step(line: FiguresRow) -> int | None:
    measured = line.measured
    return measured.step if measured.run is not None and measured.run.history.has_steps else None


def _step_text(line: FiguresRow) -> str:
    if line.error is not None:
        return str(line.error)
    step = _step(line)
    return _tr("Final") if step is None else f"{step:,}"


def _width(column: int, measure: Measure, lines: Sequence[FiguresRow]) -> int:
    """Return the width of the title and the widest cell that is no error."""
    described = measure.columns[column]
    assert isinstance(described.title, str)
    cells = [measure.cell(row, column) for row, line in enumerate(lines) if line.error is None or column == _NAME]
    around = 2 * CELL_PADDING + _ROOM + (measure.line if column == _NAME else 0)  # for the disc
    return measure.text(*described.title.split("\n"), *cells, is_bold=True) + around


def summary_text(lines: Sequence[FiguresRow]) -> str:
    figures = [line.figures for line in lines if line.figures is not None]
    lossy = losing(figures)
    sound = [each for each in figures if each not in lossy]
    best = [line for line in lines if "tokens_per_word" in line.best]
    if not best or len(sound) < 2:
        return ""
    said = plural(
        len(best), "{names} needs the fewest tokens per word.", "{names} need the fewest tokens per word, equally many."
    )
    if lossy:
        said = plural(
            len(best), "Of those that lose the least text, {names} needs the fewest tokens per word.",
            "Of those that lose the least text, {names} need the fewest tokens per word, equally many.",
        )  # fmt: skip
    are_folds = any(each.folds for each in sound)
    if are_folds:
        said = plural(
            len(best), "{names} needs the fewest tokens per word; no difference has 0 in its 95% interval.",
            "{names} need the fewest tokens per word; the differences may be 0.",
        )  # fmt: skip
    parts = [said.format(names=_and(best))]
    if are_folds and lossy:
        parts.append(_tr("Those that lose more text are left out."))
    if len(sizes := {each.vocabulary_size for each in sound}) > 1:
        parts.append(_tr("The vocabularies differ in size; a larger one usually needs fewer tokens."))
    for size in sorted(sizes - {line.figures.vocabulary_size for line in best if line.figures is not None}):
        alike = [line for line in lines if line.figures in sound and line.figures.vocabulary_size == size]
        first = [line for line in figures_lines(alike, [line.name for line in alike]) if "tokens_per_word" in line.best]
        if 0 < len(first) < len(alike) and not are_folds:
            parts.append(counted(
                len(first), "Of those of size {size}, {names} needs the fewest.",
                "Of those of size {size}, {names} need the fewest, equally many.", size=size, names=_and(first),
            ))  # fmt: skip
    parts.append(_tr("Fewer tokens do not by themselves make a better model (Schmidt et al. 2024)."))
    return " ".join(parts)


def _and(lines: Sequence[FiguresRow]) -> str:
    *names, last = (shown(" ".join(line.name.split()), 40) for line in lines)
    return _tr("{names} and {last}").format(names=", ".join(names), last=last) if names else last


def figures_tip(line: FiguresRow) -> str:
    figures = line.figures
    if line.error is not None:
        return tooltip_text(f"{line.name}\n{line.error}")
    if figures is None:
        return tooltip_text(line.name)
    size = counted(figures.vocabulary_size, "1 token in the vocabulary", "{count} tokens in the vocabulary")
    used = counted(figures.used, "1 of them used", "{count} of them used")
    tokens = counted(figures.tokens, "1 token in the text", "{count} tokens in the text")
    unknown = counted(figures.unknown, "1 of them unknown", "{count} of them unknown")
    return tooltip_text(f"{line.name}\n{figures.kind} · {size} · {used}\n{tokens} · {unknown}")


class SummaryTable(QWidget):
    """The table, what it means, what chooses the text and opens tokenizers, and a line that says how far it is."""

    files_requested = Signal()  # to measure on
    tokenizers_requested = Signal()  # to measure

    def __init__(self, figures: FiguresMeasuring, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        explain("metrics", self)
        self._figures = figures
        self.controls = QWidget(parent)  # what stands above the table; the parent places it
        self._offered: tuple[FiguresText, bool] | None = None  # what the combo box offers
        self._unsorted: list[FiguresRow] = []
        self._model: RecordTableModel[FiguresRow] = RecordTableModel(
            figures_columns(self._has_parity), self, tip=each_row(figures_tip)
        )
        self.table = TableView(
            self._model, theme, self, name=self.tr("Tokenizer metrics"), row_room=_ROW_ROOM, is_sorted=True,
            look=each_row(lambda line: RowLook(is_marked="tokens_per_word" in line.best)),
            keys={Qt.Key.Key_Delete: self._remove},
        )  # fmt: skip
        self.table.sortByColumn(_TOKENS_PER_WORD, Qt.SortOrder.AscendingOrder)
        self.texts = combo_box(self.controls, self.tr("Text to measure"))
        self.parts = combo_box(self.controls, self.tr("Part of the text"))
        for combo in (self.texts, self.parts):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            combo.setMinimumContentsLength(_SHORTEST_CHOICE)
            combo.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.parallel = QCheckBox(self.tr("Translations"), self.controls)
        set_plain_tooltip(self.parallel, self.tr("The files are translations of each other; show parity"))
        self.add = tool_button(self.tr("Add…"), self.tr("Add tokenizer files to the table"), self.controls)
        tip = self.tr("Remove the selected tokenizer file from the table")
        self.remove = tool_button(self.tr("Remove"), tip, self.controls, self._remove)
        self.stop = tool_button(self.tr("Stop"), self.tr("Stop measuring"), self.controls, figures.stop)
        self.said = WholeLabel(self)
        self.heading = WholeLabel(self, role="hint")  # which words tokens are counted per
        self.note = WholeLabel(self, role="hint")
        self.empty = EmptyState(self)
        self.empty.show_text(self.tr("Train a run or add a tokenizer to see its metrics."))
        buttons = self.parallel, self.stop, self.add, self.remove
        fill(QHBoxLayout(self.controls), (self.texts, 3), (self.parts, 2), *buttons, spacing=-1)
        parts = self.said, self.heading, (self.table, 1), (self.empty, 1), self.note
        fill(QVBoxLayout(self), *parts, margins=(14, 6, 14, 2), spacing=6)
        figures.changed.connect(self.refresh)
        self.texts.activated.connect(self._on_texts_activated)
        self.parts.activated.connect(self.refresh)
        self.parallel.clicked.connect(self._on_parallel_clicked)
        self.add.clicked.connect(self.tokenizers_requested)
        for changed in (self._model.modelReset, self.table.columns_changed):
            changed.connect(self._fit_errors)
        self.table.selectionModel().selectionChanged.connect(self._enable)
        self.refresh()

    @property
    def lines(self) -> Sequence[FiguresRow]:
        return self._model.records

    # -- contents

    def refresh(self, *_values: object) -> None:
        figures = self._figures
        offered = figures.where, figures.can_hold_out
        if offered != self._offered:
            self._offered = offered
            self._fill_texts()
            self._fill_parts()
        rows = figures.rows(self.parts.currentData() or "")
        names = run_names(figures.runs)
        lines = figures_lines(rows, [_name(row.measured, names) for row in rows])
        if lines != self._unsorted:
            count, self._unsorted = len(self._unsorted), lines
            selected = self._selected()
            self._model.set_records(lines)
            for row, line in enumerate(self.lines):
                if line.measured == selected:
                    self.table.selectRow(row)
            if len(lines) > count and lines[-1].measured.path:
                self.table.scrollToBottom()
        self.table.spread()
        head = self.table.horizontalHeader().sizeHint().height()  # a low pane is scrolled rather than the table
        self.table.setMinimumHeight(head + min(len(rows), _FEW_ROWS) * self.table.row_height + 3)
        self.table.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        self._enable()
        self.said.show_text(summary_text(lines))
        self.heading.show_text(self._words_text())
        self.note.show_text(self._note())

    @property
    def _known(self) -> list[TokenizerFigures]:
        return [line.figures for line in self.lines if line.figures is not None]

    def _has_parity(self) -> bool:
        return self._figures.where.is_parallel and bool(self.parts.currentData())

    def _fill_texts(self) -> None:
        where = self._figures.where
        items = [(self.tr("Training corpus"), "training")]
        if self._figures.can_hold_out or where.place in ("held-out", "folds"):
            items.append((self.tr("Held-out text"), "held-out"))
            items.append((self.tr("{count} folds").format(count=FOLDS), "folds"))
        items.append((self.tr("Live text"), "live"))
        if where.place == "files":
            items.append((self.tr("Files: {files}").format(files=", ".join(where.names())), "files"))
        items.append((self.tr("Other text…"), ""))
        offer(self.texts, [(shown(text, 100), place) for text, place in items], where.place)
        self.parallel.setChecked(where.is_parallel)

    def _fit_errors(self) -> None:
        """Let an error take the place of all figures of its row, and say how many columns there is no room for."""
        table, metrics, count = self.table, self.table.fontMetrics(), self._model.columnCount()
        shown = table.shown_columns()
        table.clearSpans()
        for row, line in enumerate(self.lines):
            height = 0
            if line.error is not None:
                first = min(shown - {_NAME})
                table.setSpan(row, first, 1, count - first)
                room = QRect(0, 0, sum(map(table.columnWidth, shown - {_NAME})) - 2 * CELL_PADDING, table.height())
                height = metrics.boundingRect(room, WRAPPED, str(line.error)).height() + _ROW_ROOM
            table.setRowHeight(row, max(height, table.row_height))
        self.note.show_text(self._note())

    def _fill_parts(self) -> None:
        parts, chosen = self._figures.parts, self.parts.currentData()
        items = [(self.tr("All files"), ""), *((shown(part, 200), part) for part in parts)]
        offer(self.parts, items, chosen if chosen in parts else "")
        self.parts.setVisible(bool(parts))
        self.parallel.setVisible(bool(parts))

    def _note(self) -> str:
        figures = self._figures
        if figures.task.error is not None:
            return str(figures.task.error)
        if figures.is_running:
            return _progress_text(figures.task.progress)
        if figures.where.place in ("held-out", "folds") and not figures.can_hold_out:
            return self.tr("No text can be held out from this run’s corpus.")
        if figures.was_stopped:
            return self.tr("Stopped. Choose the text once more to begin again.")
        return " ".join(filter(None, (self._losing_text(), self._coding_text(), self._left_out_text())))

    def _coding_text(self) -> str:
        if any(each.folds for each in self._known):
            return self.tr(
                "Mean ± standard deviation. Bold: the best, and those whose difference to it may be 0 (95% interval)."
            )
        if any(each.coded_by == "before" for each in self._known):
            return self.tr("Bits: each token is coded by those before it; on held-out text, by the rest of the corpus.")
        return ""

    def _losing_text(self) -> str:
        names = [each.name for each in losing(self._known)]
        if names:
            said = self.tr("Text lost to unknown tokens: {names}. Do not compare their other metrics.")
            return said.format(names=", ".join(names))
        if any(each.loses_text for each in self._known):
            return self.tr("Tokens per word in brackets: an unknown word, however long, is one token.")
        return ""

    def _words_text(self) -> str:
        figures = self._figures
        if not self._known or not figures.words_of:
            return ""
        normalizer, splitter = figures.words_of
        words = self._known[0].words
        said = plural(words, "1 word ({normalizer}, {splitter}).", "{words} words ({normalizer}, {splitter}).")
        if figures.where.place == "held-out":
            said = plural(
                words, "1 word held out ({normalizer}, {splitter}); runs were retrained without it.",
                "{words} words held out ({normalizer}, {splitter}); runs were retrained without them.",
            )  # fmt: skip
        if figures.where.place == "folds":
            said = plural(
                words, "1 word in {count} blocks ({normalizer}, {splitter}); runs were retrained for each block on the "
                "others.", "{words} words in {count} blocks ({normalizer}, {splitter}); runs were retrained for each "
                "block on the others.",
            ).replace("{count}", str(FOLDS))  # fmt: skip
        return filled(said, words=words, normalizer=normalizer, splitter=splitter)

    def _left_out_text(self) -> str:
        left_out = self._model.columnCount() - len(self.table.shown_columns()) - (not self._has_parity())
        if not left_out or not self.lines:
            return ""
        return counted(
            left_out, "1 column is hidden at this width; it is copied too.",
            "{count} columns are hidden at this width; they are copied too.",
        )  # fmt: skip

    def _enable(self, *_values: object) -> None:
        self.stop.setVisible(self._figures.is_running)
        selected = self._selected()
        self.remove.setVisible(any(line.measured.path for line in self.lines))
        self.remove.setEnabled(selected is not None and bool(selected.path))

    def _selected(self) -> Measured | None:
        row = self.table.selected_row
        return self.lines[row].measured if 0 <= row < len(self.lines) else None

    # -- events

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            later(self, 0, self._fit_errors)  # when the table too has the font

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

    def _remove(self) -> None:
        if self.remove.isEnabled():
            self._figures.remove(self.lines[self.table.selected_row].measured.path)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._figures.set_wanted(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._figures.set_wanted(False)


def _name(measured: Measured, names: Mapping[Run, str]) -> str:
    if measured.run is not None:
        return f"{measured.name}  {names[measured.run]}"
    path = Path(measured.path)
    return display_name(Path(path.parent.name, path.name))


def _progress_text(progress: tuple[str, int, int] | None) -> str:
    if progress is None:
        return _tr("Measuring…")
    what, done, total = progress
    head, _, rest = what.partition(": ")
    if head.startswith("Fold "):
        number, count = head.removeprefix("Fold ").split(" of ")
        said = _progress_text((rest, done, total))
        return _tr("Fold {number} of {count} · {what}").format(number=number, count=count, what=said)
    texts = {
        "Tokenizing by ": _tr("Tokenizing with {name}: {percent}%"),
        "Training ": _tr("Retraining {name}: {percent}%"),
    }
    verb = next((verb for verb in texts if what.startswith(verb)), "")
    text = texts.get(verb, _tr("Reading text: {percent}%"))
    return text.format(name=what.removeprefix(verb), percent=100 * done // max(total, 1))


class Tab(IntEnum):
    SUMMARY = 0
    TEXT = 1
    WORDS = 2
    VOCABULARIES = 3
    DIVERGENCES = 4


_FILE_NAMES = ("metrics", "split-text", "words-split-differently", "vocabularies", "divergences")


class _Tabs(QTabBar):
    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())


class ComparisonPane(Pane):
    def __init__(self, session: Session, actions: Actions, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(session.model, parent)
        self._session, self._actions = session, actions
        self._comparison = session.comparison
        self.tabs = _Tabs(self, expanding=False, drawBase=False)
        self.tabs.setAccessibleName(self.tr("What is compared"))
        keep_keys(self.tabs, Qt.Key.Key_Left, Qt.Key.Key_Right)
        tr = self.tr
        for title in (tr("Summary"), tr("Text"), tr("Words"), tr("Vocabularies"), tr("Where they diverge")):
            self.tabs.addTab(title)
        self.summary = SummaryTable(session.figures, theme, self)
        self.text, self.words = tables.TextTable(session, theme, self), tables.WordsTable(session, theme, self)
        self.vocabularies = tables.VocabulariesTable(session, theme, self)
        self.divergences = tables.DivergencesTable(session, theme, self)
        self._stack = QStackedWidget(self)
        self.faces = self.summary, self.text, self.words, self.vocabularies, self.divergences
        self.empty = EmptyState(self)
        self.empty.offer(actions.compare_runs)
        for face in (*self.faces, self.empty):
            self._stack.addWidget(face)
        tip = tr("Copy the selected rows, or the whole table, with all digits")
        self.copy_button = tool_button(tr("Copy"), tip, self, self.copy)
        self.export_button = tool_button("", "", self)
        self.export_button.setDefaultAction(actions.export_comparison)
        self.export_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        buttons = self.copy_button, self.export_button
        head = fill(QHBoxLayout(), self.tabs, 1, (self.summary.controls, 2), *buttons, margins=(8, 0, 12, 0), spacing=6)
        fill(QVBoxLayout(self), head, (self._stack, 1), margins=(1, 2, 1, 2), spacing=4)
        self._connect()

    def _connect(self) -> None:
        for face in self.faces:
            self._actions.give_menu(face.table, "copy export_comparison")
            face.table.rows.modelReset.connect(self._actions.refresh_soon)  # there may be something to export now
            face.table.keys[QKeySequence.StandardKey.Copy] = self.copy
            face.table.copies_all = True
        self.tabs.currentChanged.connect(lambda: self.refresh_now() if self.isVisible() else None)
        session, model = self._session, self._model
        self.follow(
            self._comparison.changed, model.step_changed, model.state_changed, model.selection_changed,
            session.live_text_changed, session.figures.changed,
        )  # fmt: skip

    @property
    def tab(self) -> Tab:
        return Tab(self.tabs.currentIndex())

    @property
    def file_name(self) -> str:
        return _FILE_NAMES[self.tab]

    @property
    def table(self) -> TableView | None:
        table = self.faces[self.tab].table
        is_shown = self._stack.currentWidget() is self.faces[self.tab]
        return table if is_shown and table.rows.rowCount() else None

    def show_tab(self, tab: Tab) -> None:
        self.tabs.setCurrentIndex(tab)
        self.refresh_now()
        (self.tabs if self.table is None else self.table).setFocus()

    # -- contents

    def refresh(self) -> None:
        steps = self._comparison.texts() if self.tab is Tab.TEXT else self._comparison.steps()
        face = self.faces[self.tab]
        for each in self.faces[1:]:
            each.mark_selection()
            if each is not face or not steps:
                each.forget()  # compare nothing that nobody sees
        is_hidden = self._model.hides_future
        is_summary = self.tab is Tab.SUMMARY and not is_hidden
        self.summary.controls.setVisible(is_summary)
        if is_summary:
            self.set_heading(self.tr("Each run at its final step"))
        elif steps:
            face.refresh(steps)
            where = where_text(self._comparison.shown)
            beside = self.tr("{run} · the others at the same vocabulary size or below")
            self.set_heading(beside.format(run=where), where)
        else:
            self.set_heading()
            text = self.tr("There is nothing to compare yet. Choose other settings and train a second run (F5).")
            if len(self._comparison.runs.all) > 1:
                text = self.tr("No runs are compared. Select “Compare” on the tabs of other runs, or compare all.")
            self.empty.show_text(self.tr("Prediction is on: what comes next is hidden.") if is_hidden else text)
        self._stack.setCurrentWidget(face if is_summary or steps else self.empty)
        self._actions.refresh_soon()

    def forget(self) -> None:
        for face in self.faces[1:]:
            face.forget()

    # -- copying

    def lines(self, *, only_selected: bool = False, take: Callable[[str], str] = str) -> list[list[str]]:
        """Return the table shown, with all digits, under its titles; a column of links has none, and is left out.

        `take` returns what stands for a text, be it a title or in a row; numbers are unchanged.
        """
        table = self.table
        if table is None:
            return []
        rows = table.rows
        titled = ((at, each.is_there) for at, each in enumerate(rows.columns) if each.title)
        there = [at for at, is_there in titled if is_there is None or is_there(rows.source)]
        is_part = only_selected and table.selected_count() > 0
        items = table.selected_items().tolist() if is_part else range(rows.rowCount())

        def written(value: object) -> str:
            if isinstance(value, str):
                return take(" ".join(value.split()))
            return "" if value is None else str(value)

        lines = [[rows.title(at) for at in there], *([rows.value(item, at) for at in there] for item in items)]
        return [list(map(written, line)) for line in lines]

    def copy(self) -> None:
        if lines := self.lines(only_selected=True):
            copy_lines(lines)

    def csv(self) -> bytes:
        return csv_text(self.lines(take=guarded)).encode("utf-8-sig")

    # -- Qt

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.forget()
        self.refresh_later()  # when it is shown again
