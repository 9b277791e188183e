"""Tables of runs and steps side by side: their splits of the live text and of words, their vocabularies and merges."""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from wordpiece_studio.session.live_text import LiveText
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.runs import divergences, overlaps, word_differences
from wordpiece_studio.session.step_marks import selected_token
from wordpiece_studio.session.table_model import LEFT, RIGHT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.tokenizer.bpe_tokenizer import LongestFirstTokenizer, TokenizerInWindow
from wordpiece_studio.ui.widgets.chips import FlowItem, split_variants
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import WholeLabel, explain, tooltip_text
from wordpiece_studio.ui.widgets.table import CELL_PADDING, TableView
from wordpiece_studio.ui.widgets.token_text import divergence_words, run_names, step_name, token_text, where_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from wordpiece_studio.evaluation.differences import VocabularyOverlap
    from wordpiece_studio.session.runs import ComparedStep, DifferentWords, RunDivergence
    from wordpiece_studio.session.session import Session
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "compared_tables")
_FEW_WORDS = 2000  # so many are compared in no time, so there is no need to wait for the step to settle


class ComparedTable(QWidget):
    """A sentence and a table. `refresh` is given what is compared, in the order of the tabs of runs."""

    def __init__(self, session: Session, theme: Theme, name: str, entry: str, parent: QWidget, **look: Any) -> None:
        super().__init__(parent)
        explain(entry, self)
        self._session = session
        self._token = ""  # the selected one, which is marked
        self._shown: tuple[object, ...] = ()
        self.rows: RecordTableModel[Any] = RecordTableModel((), self)
        self.said = WholeLabel(self, role="hint")
        self.table = TableView(self.rows, theme, self, name=name, several=True, **look)
        self.table.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.chip_chosen.connect(lambda token: session.model.set_selection(Selection("token", text=token)))
        self._layout = fill(QVBoxLayout(self), self.said, (self.table, 1), margins=(14, 6, 14, 2), spacing=6)

    def refresh(self, steps: Sequence[ComparedStep]) -> None:
        raise NotImplementedError

    def forget(self) -> None:
        """Compare nothing that nobody sees, and keep no run in memory, as the columns do."""
        self._set_rows([], [])

    def mark_selection(self) -> None:
        token = selected_token(self._session.model)
        if token != self._token:
            self._token = token
            self.table.viewport().update()

    def _set_rows(self, rows: Sequence[Any], columns: Sequence[TableColumn[Any]]) -> None:
        shown = rows, [column.title for column in columns], [column.explanation for column in columns]
        if shown != self._shown:
            bar = self.table.verticalScrollBar()
            before, self._shown = bar.value(), shown
            self.rows.set_records(rows, columns)
            bar.setValue(before)

    def _split_columns(
        self, steps: Sequence[ComparedStep], titles: Sequence[str], splits: Callable[[Any], Sequence[Sequence[str]]]
    ) -> list[TableColumn[Any]]:
        names = run_names(self._session.runs.all)

        def column(place: int, step: ComparedStep, title: str) -> TableColumn[Any]:
            def text(row: Any) -> str:
                return " ".join(splits(row)[place])

            def chips(row: Any) -> list[Iterator[list[FlowItem]]]:
                return [split_variants(splits(row)[place], self._token)]

            def tip(row: Any) -> str:
                order = _order_text(step.tokenizer, row[0]) if step.is_longest_first else ""
                return tooltip_text("\n".join(filter(None, (text(row), order))))

            return TableColumn(
                title, each_row(text), align=LEFT, stretch=1, entry="token", chips=each_row(chips), tip=each_row(tip),
                explanation=tooltip_text(f"{where_text(step)}\n{step_name(step, names)}"),
                width=lambda measure, _rows: measure.letter * 16,  # of a column of chips, where not all columns fit
            )  # fmt: skip

        return [column(place, *each) for place, each in enumerate(zip(steps, titles, strict=True))]


class SearchedTable(ComparedTable):
    def __init__(self, search: Task, *about: Any, **look: Any) -> None:
        super().__init__(*about, **look)
        self.search = search
        search.changed.connect(self._on_search_changed)
        self._shown_request: object = None  # to which the rows belong, if more may come

    def _on_search_changed(self) -> None:
        search = self.search
        if search.error is not None:
            self._clear(str(search.error))
        elif search.request is not None and search.answered == search.request:
            self._show(search.answer)

    def _show(self, found: Any) -> None:
        raise NotImplementedError

    def _clear(self, said: str = "") -> None:
        self._set_rows([], [])
        self._shown_request = None
        self.said.show_text(said)

    def forget(self) -> None:
        self._clear()
        self.search.forget()


def _order_text(tokenizer: Tokenizer, text: str) -> str:
    """Return which tokens of a word, or of several, are found first, where the longest one in the rest is taken."""
    assert isinstance(tokenizer, TokenizerInWindow)
    assert isinstance(tokenizer.encoder, LongestFirstTokenizer)
    trained = _tr("“{word}” is in the training corpus and keeps its split from training.")
    order = _tr("The longest token anywhere in the rest of the word is taken first; of equally long ones, the most "
                "frequent. Order: {order}")  # fmt: skip
    lines = []
    for word in (each.word.text for each in tokenizer.tokenize_words(text) if each.word is not None):
        found = tokenizer.encoder.order_found(word)
        if found is None:
            lines.append(trained.format(word=word))
        elif found:
            lines.append(order.format(order=", ".join(map(token_text, found))))
    return "\n".join(lines)


def _word_column() -> TableColumn[Any]:
    return TableColumn(
        _tr("Word"), each_row(lambda row: row[0]), align=LEFT, drawn=each_row(lambda row: token_text(row[0])),
        tip=each_row(lambda row: tooltip_text(row[0])), elide=Qt.TextElideMode.ElideRight,
        width=lambda it, _: min(max(it.contents + 2 * CELL_PADDING, 8 * it.letter), it.room // 5),
    )  # fmt: skip


# ---- the live text ---------------------------------------------------------------------------------------------------


class TextRow(NamedTuple):
    """A word of a text, or what is one word for some and several for others, with its tokens for each of them."""

    word: str
    splits: Sequence[Sequence[str]]
    is_apart: bool


def text_rows(texts: Sequence[LiveText]) -> list[TextRow]:
    found = [list(_words(each)) for each in texts]
    spans: list[tuple[int, int]] = []
    for start, end in sorted({(start, end) for words in found for start, end, *_ in words}):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((start, end))
    starts = [start for start, _ in spans]
    tokens: list[list[list[str]]] = [[[] for _ in texts] for _ in spans]
    cuts: list[list[list[tuple[int, bool]]]] = [[[] for _ in texts] for _ in spans]
    for at, words in enumerate(found):
        for start, _, split, cut in words:
            row = bisect_right(starts, start) - 1
            tokens[row][at] += split
            cuts[row][at] += cut
    return [
        TextRow(texts[0].text[start:end], splits, any(x != cut[0] for x in cut))
        for (start, end), splits, cut in zip(spans, tokens, cuts, strict=True)
    ]


def _words(live: LiveText) -> Iterator[tuple[int, int, list[str], list[tuple[int, bool]]]]:
    """Yield where the words of a text begin and end, their tokens, and where those begin and whether they are unknown.

    A mark alone at an end is no cut.
    """
    unknown = "" if live.tokenizer is None else live.tokenizer.unk_token
    for line in live:
        for pieces in (word.pieces for word in line.words if word.pieces):
            start, end = min([each.start for each in pieces]), max([each.end for each in pieces])
            seen = [each for each in pieces if each.start < each.end] or pieces
            cut = [(line.start + each.start, each.token == unknown) for each in seen]
            yield line.start + start, line.start + end, [each.token for each in pieces], cut


class TextTable(ComparedTable):
    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        super().__init__(session, theme, _tr("Live text, split by each run"), "live-text", parent, row_room=8, gap=3)
        self.only = QCheckBox(_tr("Only differences"), self)
        self.only.toggled.connect(lambda: self._show())
        self._layout.insertWidget(0, self.only)
        self._lives: list[tuple[Any, LiveText]] = []  # each with what it is found by again; some may be alike
        self._steps: Sequence[ComparedStep] = ()
        self.words: list[TextRow] = []
        self._request: tuple[Any, ...] = ()  # the text and the steps that the words are of

    def refresh(self, steps: Sequence[ComparedStep]) -> None:
        text, libraries = self._session.live_text, [each.run.library for each in steps]
        if self._request != (request := (text, steps, libraries)):  # libraries: see `WordsTable.refresh`
            self._request, before = request, dict(self._lives)
            keys = [(each.run, each.bookmark, each.is_longest_first) for each in steps]
            lives = [
                before.get(key, LiveText()).updated(text, it.tokenizer) for key, it in zip(keys, steps, strict=True)
            ]
            self._lives = list(zip(keys, lives, strict=True))
            self._steps, self.words = steps, text_rows(lives)
        self._show()

    def _show(self) -> None:
        titles = []
        for at, step in enumerate(self._steps):
            tokens, name = sum(len(row.splits[at]) for row in self.words), step.label
            if step.is_longest_first:
                name = _tr("{run}, longest token first").format(run=name)
            titles.append(counted(tokens, "{name} · 1 token", "{name} · {count} tokens", name=name))
        columns = self._split_columns(self._steps, titles, lambda row: row.splits)
        rows = [row for row in self.words if row.is_apart or not self.only.isChecked()]
        self._set_rows(rows, [_word_column(), *columns])
        total = len(self.words)
        said = counted(
            total, "{alike} of 1 word of the live text is split the same way by all.",
            "{alike} of {total} words of the live text are split the same way by all.", total=total,
            alike=sum(not row.is_apart for row in self.words),
        )  # fmt: skip
        self.said.show_text(said if self.words else "")

    def forget(self) -> None:
        super().forget()
        self._request, self._lives, self._steps, self.words = (), [], (), []


# ---- the words of the corpus -----------------------------------------------------------------------------------------


class WordsTable(SearchedTable):
    """The words of the current run that not all split alike, the most frequent first; more come while one looks."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        name = _tr("Words split differently")
        search = Task(word_differences, "The runs cannot be compared", parent, debounce_ms=150)
        super().__init__(search, session, theme, name, "word", parent, row_room=8, gap=3)
        search.part_ready.connect(self._show)

    def refresh(self, steps: Sequence[ComparedStep]) -> None:
        run = self._session.model.run
        assert run is not None  # else nothing is compared
        libraries = [each.run.library for each in steps]  # which are loaded a little later than the runs of a project
        at_once = self.search.request is None or len(run.counts) <= _FEW_WORDS
        self.search.ask(run.counts, libraries, *steps, at_once=at_once)
        if self._shown_request is not self.search.request:
            self.said.show_text(_tr("Comparing words…"))
        self._on_search_changed()

    def _show(self, found: DifferentWords) -> None:
        request = self.search.request
        assert request is not None
        if self._shown_request is request:
            self.rows.extend_records(found.rows)
            self._shown = ()  # there are more rows now
        else:
            _, _, *steps = request
            columns = self._split_columns(steps, [each.label for each in steps], lambda row: row[2])
            self._set_rows(found.rows, [_word_column(), _column(1, _tr("Count"), RIGHT), *columns])
            self._shown_request = request
        self.said.show_text(self._share_text(found))

    def _share_text(self, found: DifferentWords) -> str:
        number = len(found.rows)
        if found.compared < found.distinct_words:
            text = _tr("{number} of the {compared} most frequent words are split differently. Comparing the others…")
            return filled(text, number=number, compared=found.compared)
        return counted(
            found.distinct_words, "{number} of 1 distinct word is split differently: {share:.2f}% of the text.",
            "{number} of {total} distinct words are split differently: {share:.2f}% of the text.", number=number,
            total=found.distinct_words, share=100 * sum(count for _, count, _ in found.rows) / max(found.total, 1),
        )  # fmt: skip


# ---- the vocabularies ------------------------------------------------------------------------------------------------


def overlap_lines(shown: ComparedStep, found: Sequence[VocabularyOverlap]) -> list[tuple[Any, ...]]:
    sets: tuple[tuple[str, Callable[[VocabularyOverlap], float]], ...] = (
        (_tr("Tokens"), lambda each: each.sizes[1]),
        (_tr("Tokens in both"), lambda each: each.shared),
        (_tr("Only in {run}"), lambda each: each.sizes[0] - each.shared),
        (_tr("Only in the other"), lambda each: each.sizes[1] - each.shared),
        (_tr("Share in both, all tokens"), lambda each: each.share),
    )
    lines: list[tuple[Any, ...]] = [(name.format(run=shown.label), *map(value, found)) for name, value in sets]
    by_depth = [dict(each.by_rank) for each in found]
    for depth in sorted({depth for shares in by_depth for depth in shares}):
        name = filled(_tr("Share in both, first {number}"), number=depth)
        lines.append((name, *(shares.get(depth) for shares in by_depth)))
    return lines


def _column(place: int, title: str, align: Qt.AlignmentFlag = LEFT, **how: Any) -> TableColumn[Any]:
    return TableColumn(
        title, each_row(lambda line: line[place]), each_row(lambda line: _cell_text(line[place])), align=align,
        width=lambda measure, _: measure.contents + 2 * CELL_PADDING, **how,
    )  # fmt: skip


def _cell_text(value: str | float | None) -> str:
    if isinstance(value, float):
        return f"{100 * value:.1f}%"
    return f"{value:,}" if isinstance(value, int) else value or ""


class VocabulariesTable(SearchedTable):
    """What the vocabulary of the current run has in common with those of the others: as sets, and by rank."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        name = _tr("Vocabularies compared")
        search = Task(overlaps, "The runs cannot be compared", parent, debounce_ms=150)
        super().__init__(search, session, theme, name, "vocabulary", parent, row_room=10)
        self._note = WholeLabel(self, role="hint")
        self._layout.addWidget(self._note)

    def _clear(self, said: str = "") -> None:
        super()._clear(said)
        self._note.show_text("")

    def refresh(self, _steps: Sequence[ComparedStep]) -> None:
        session = self._session
        shown = session.comparison.shown
        at_once = session.model.state is not TrainerState.TRAINING
        self.search.ask(shown, *session.comparison.beside(), at_once=at_once)
        self._on_search_changed()

    def _show(self, found: Sequence[VocabularyOverlap]) -> None:
        assert self.search.answered is not None
        shown, *others = self.search.answered
        titles = _tr("Metric"), *map(where_text, others)
        columns = [_column(place, title, RIGHT if place else LEFT) for place, title in enumerate(titles)]
        self._set_rows(overlap_lines(shown, found), columns)
        size, run = found[0].sizes[0], where_text(shown)
        said = counted(
            size, "{run} has 1 token. Compared with:", "{run} has {number} tokens. Compared with:", number=size, run=run
        )
        self.said.show_text(said)
        note = _tr("“First” means the lowest IDs. To list the tokens that are only in {run}, choose “Only in this run” "
                   "above the vocabulary.")  # fmt: skip
        self._note.show_text(note.format(run=shown.label))


# ---- the merges ------------------------------------------------------------------------------------------------------


class DivergencesTable(SearchedTable):
    """Where the merges of two runs are different for the first time, for every pair of runs."""

    went = Signal()  # to a step
    _LINK = 4

    def __init__(self, session: Session, theme: Theme, parent: QWidget) -> None:
        keys = dict.fromkeys((Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space), self._go)
        name = _tr("Where runs diverge")
        search = Task(divergences, "The runs cannot be compared", parent)
        super().__init__(search, session, theme, name, "divergence", parent, row_room=10, keys=keys)
        self.table.clicked.connect(lambda index: self._go() if index.column() == self._LINK else None)
        self.table.doubleClicked.connect(self._go)

    def refresh(self, steps: Sequence[ComparedStep]) -> None:
        if self._session.model.is_busy:
            self.search.stop()  # the merges grow
            return
        runs = dict.fromkeys(each.run for each in steps)
        self.search.ask([len(each.history) for each in runs], *combinations(runs, 2))
        self._on_search_changed()

    def _show(self, found: Sequence[RunDivergence]) -> None:
        titles = _tr("Runs"), _tr("Diverge at step"), _tr("First run"), _tr("Second run")
        columns = [_column(place, title, RIGHT if place == 1 else LEFT) for place, title in enumerate(titles)]
        link_text = _tr("Go to step")
        link = _column(self._LINK, "", ink="accent_ink", explanation=tooltip_text(link_text))
        lines = [(*divergence_words(each), link_text if each.step else "") for each in found]
        self._set_rows(lines, [*columns, link])
        self.said.show_text("" if found else _tr("Bookmarked steps of one run have the same merges."))

    def _go(self, _index: object = None) -> None:
        row, session = self.table.currentIndex().row(), self._session
        if row < 0 or self.search.answered != self.search.request:
            return
        divergence: RunDivergence = self.search.answer[row]
        if divergence.step is not None:
            session.player.stop()
            if session.model.run is not divergence.other:
                session.runs.show(divergence.shown)
            session.model.seek(divergence.step)
            self.went.emit()
