"""The second step of extending or pruning a vocabulary: the tokens, what they change, and the words behind them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSplitter, QTabBar, QVBoxLayout, QWidget

from wordpiece_studio.evaluation.extension import Extension, Pruning
from wordpiece_studio.session.chart_source import Curve
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.ui.panes.charts.chart import Axis, Chart, Dots, Drawing, Label, Line, Rule, Stroke
from wordpiece_studio.ui.widgets.fields import line_field
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import FittingLabel, push_button
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from wordpiece_studio.evaluation.extension import Effect, Proposal, UnknownWord
    from wordpiece_studio.session.adaptation import Adaptation
    from wordpiece_studio.ui.panes.charts.chart import Room, Shape
    from wordpiece_studio.ui.panes.charts.plot import ChartView
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "adapt_tokens")
_WIDE = "m" * 12  # how wide columns of text are at least


def _token(row: Proposal | str) -> str:
    return row if isinstance(row, str) else row.token


def _text(title: str, text: Callable[[Any], str], wide: str | None = _WIDE) -> TableColumn[Any]:
    return TableColumn(title, each_row(text), align=LEFT, stretch=1, width=wide)


def _number(title: str, number: Callable[[Any], Any], explanation: str | None = None) -> TableColumn[Any]:
    return TableColumn(title, each_row(number), width="99,999,999", explanation=explanation)


def _reason(word: UnknownWord) -> str:
    if word.reason.kind == "too-long":
        return _tr("Longer than the tokenizer’s limit")
    return filled(_tr("No token for {symbol}"), symbol=token_text(word.reason.symbol))


class TokensPage(QWidget):
    def __init__(self, adaptation: Adaptation, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._adaptation, self._theme = adaptation, theme
        self._chart: ChartView | None = None
        self._shown: object = self  # what was found
        is_extending = adaptation.kind == "extend"
        name = self.tr("Tokens to add") if is_extending else self.tr("Tokens to remove")
        self.rows: RecordTableModel[Any] = RecordTableModel(self._columns(), self)
        self.table = TableView(self.rows, theme, self, name=name, is_sorted=True, several=True)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._show_menu)
        self.filter = line_field(self, hint=self.tr("Filter"), name=self.tr("Filter the tokens"), clears=True)
        self.filter.textChanged.connect(self._show_tokens)
        self.all = push_button(self, self.tr("&All"), partial(self._want_shown, is_wanted=True))
        self.none = push_button(self, self.tr("N&one"), partial(self._want_shown, is_wanted=False))
        self.first = push_button(self, "", self._want_enough)
        self.undo = push_button(self, self.tr("&Undo"), adaptation.undo_stack.undo)
        self.undo.setEnabled(False)
        adaptation.undo_stack.canUndoChanged.connect(self.undo.setEnabled)
        for key, act in (("Undo", adaptation.undo_stack.undo), ("Redo", adaptation.undo_stack.redo)):
            QShortcut(QKeySequence(QKeySequence.StandardKey[key]), self, act)
        self.said = FittingLabel(self, role="hint")
        tools = fill(QHBoxLayout(), (self.filter, 1), self.all, self.none, self.first, self.undo, spacing=6)
        for button in (self.all, self.none, self.first, self.undo):
            button.setVisible(is_extending)
        left, right, foot = QWidget(self), QWidget(self), QWidget(self)
        fill(QVBoxLayout(left), tools, self.said, (self.table, 1), spacing=6)
        columns = (
            _text(self.tr("Metric"), itemgetter(0), _WIDE * 2),
            _number(self.tr("Before"), itemgetter(1)),
            _number(self.tr("After"), itemgetter(2)),
        )
        self.effects: RecordTableModel[tuple[str, str, str]] = RecordTableModel(columns, self)
        effects = TableView(self.effects, theme, self, name=self.tr("Metrics before and after"), row_room=4)
        effects.show_rows(5)
        effects.setMaximumHeight(effects.minimumHeight() + effects.horizontalHeader().sizeHint().height())
        self._chart_room = fill(QVBoxLayout())
        fill(QVBoxLayout(right), (self._chart_room, 1), effects, *([] if is_extending else [1]), spacing=6)
        self.lists = QTabBar(self, expanding=False, drawBase=False)
        self.lists.setAccessibleName(self.tr("Why these tokens"))
        for title in (self.tr("Costly words"), self.tr("Unknown words"), self.tr("Unused tokens")):
            self.lists.addTab(title)
        self.lists.currentChanged.connect(self._show_list)
        self.listed: RecordTableModel[Any] = RecordTableModel((), self)
        listed = TableView(self.listed, theme, self, name=self.tr("Words and tokens"), row_room=4)
        fill(QVBoxLayout(foot), self.lists, (listed, 1), spacing=4)
        foot.setVisible(is_extending)
        side = QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False)
        halves = QSplitter(self, childrenCollapsible=False)
        for splitter, parts, sizes in ((side, (right, foot), [340, 180]), (halves, (left, side), [420, 520])):
            for part in parts:
                splitter.addWidget(part)
            splitter.setSizes(sizes)
        fill(QVBoxLayout(self), (halves, 1), margins=(0, 8, 0, 4))
        self.importing = adaptation.task(_chart_view, "The chart cannot be shown")
        adaptation.selected.connect(self.show_result)
        theme.changed.connect(self._restyle)

    def _columns(self) -> tuple[TableColumn[Any], ...]:
        wanted = self._adaptation
        if wanted.kind == "prune":
            return (
                _text(self.tr("Token"), token_text, None),
                _number(self.tr("ID"), lambda token: wanted.found and wanted.found.tokenizer.id_of(token)),
            )
        kinds = {"word": self.tr("Word"), "piece": self.tr("Piece"), "character": self.tr("Character")}
        return (
            TableColumn(
                self.tr("Token"), each_row(lambda row: row.token), each_row(lambda row: token_text(row.token)),
                align=LEFT, stretch=1, check=each_row(lambda row: row.token in wanted.wanted),
                switch=lambda rows, row, is_on: wanted.want([rows[row].token], is_on),
            ),
            TableColumn(self.tr("Kind"), each_row(lambda row: kinds[row.kind]), align=LEFT, width="Character"),
            _number(self.tr("Saves"), lambda row: row.saves,
                    self.tr("How many tokens fewer the text takes when the turn of this one comes")),
        )  # fmt: skip

    def refresh(self) -> None:
        found = self._adaptation.found
        if found is not self._shown:
            self._shown = found
            self.filter.clear()
            self._show_tokens()
            self._show_list()
            enough = found.enough if isinstance(found, Extension) else None
            self.first.setVisible(bool(enough))
            self.first.setText(counted(enough or 0, "&First token", "&First {count}"))
        self.show_result()

    def show_result(self) -> None:
        found, result = self._adaptation.found, self._adaptation.result
        if found is None:
            return
        self.table.viewport().update()
        if isinstance(found, Extension):
            wanted, every = len(self._adaptation.wanted), len(found.proposals)
            said = counted(every, "{wanted} of 1 token", "{wanted} of {count} tokens", wanted=wanted)
        else:
            size, gone = len(found.tokenizer), len(found.removed)
            said = counted(gone, "1 of {size} tokens can go", "{count} of {size} tokens can go", size=size)
        self.said.show_forms(said)
        if (rows := _effect_rows(found, result)) != self.effects.records:
            self.effects.set_records(rows)
        if self._chart is not None and self.isVisible():
            self._chart.refresh()

    def show_chart(self) -> None:
        if self._chart is None and self._adaptation.kind == "extend":
            source: Any = self._adaptation
            name = self.tr("Gain over the number of tokens")
            tip = self.tr("Tokens per word after each token that is added, best first")
            chart = EffectChart(name, "effect", "extend", tip, title=name)
            self._chart = _chart_view()(chart, source, self._theme.colors, self)
            self._chart_room.addWidget(self._chart)
        self.show_result()

    def _restyle(self) -> None:
        if self._chart is not None:
            self._chart.restyle(self._theme.colors)
            self.show_result()

    def _show_tokens(self) -> None:
        found, text = self._adaptation.found, self.filter.text().casefold()
        rows: Sequence[Any] = () if found is None else found.removed if isinstance(found, Pruning) else found.proposals
        self.rows.set_records([row for row in rows if text in _token(row).casefold()])

    def _show_list(self) -> None:
        found = self._adaptation.found
        if not isinstance(found, Extension):
            self.listed.set_records(())
            return
        word = _text(self.tr("Word"), lambda row: token_text(row.word))
        cost = self.tr("How often it occurs, times the number of its tokens beyond the first")
        lists: tuple[tuple[list[Any], list[TableColumn[Any]]], ...] = (
            (found.costly_words, [
                word, _text(self.tr("Tokens"), lambda row: " ".join(map(token_text, row.tokens))),
                _number(self.tr("Cost"), lambda row: row.cost, cost),
            ]),
            (found.unknown_words, [
                word, _text(self.tr("Reason"), _reason), _number(self.tr("Count"), lambda row: row.count)
            ]),
            (found.unused_tokens, [_text(self.tr("Token"), token_text, None)]),
        )  # fmt: skip
        self.listed.set_records(*lists[self.lists.currentIndex()])

    def _want_shown(self, *, is_wanted: bool) -> None:
        self._adaptation.want([row.token for row in self.rows.records], is_wanted)

    def _want_enough(self) -> None:
        found = self._adaptation.found
        if isinstance(found, Extension) and found.enough is not None:
            self._adaptation.want_only(found.tokens[: found.enough])

    @property
    def selected(self) -> list[str]:
        return [_token(self.rows.records[item]) for item in self.table.selected_items().tolist()]

    def menu(self) -> QMenu:
        menu, tokens, adaptation = QMenu(self), self.selected, self._adaptation
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        again = self.tr("&Keep these tokens")
        if adaptation.kind == "extend":
            menu.addAction(self.tr("&Include these tokens"), lambda: adaptation.want(tokens))
            menu.addAction(self.tr("&Exclude these tokens"), lambda: adaptation.want(tokens, is_wanted=False))
            again = self.tr("&Find others instead of these")
        menu.addAction(again, lambda: adaptation.search_without(tokens))
        menu.addAction(self.tr("&Copy"), self.table.copy)
        return menu

    def _show_menu(self, place: QPoint) -> None:
        if self.selected:
            self.menu().popup(self.table.viewport().mapToGlobal(place))


def _chart_view() -> type[ChartView]:
    # Imported here, not at the top: importing pyqtgraph takes a fifth of a second.
    from wordpiece_studio.ui.panes.charts.plot import ChartView

    return ChartView


def _effect_rows(found: Extension | Pruning, result: Extension | Pruning | None) -> list[tuple[str, str, str]]:
    """Return what was measured, before and after; after is not known while it is being measured."""
    before, size = len(found.tokenizer), "…"
    if result is not None:
        size = number_text(before + len(result.proposals) if isinstance(result, Extension) else len(result.kept))
    rows = [(_tr("Vocabulary size"), number_text(before), size)]
    for which, text in (("held_out", _tr("held-out text")), ("general", _tr("general text"))):
        effect, changed = getattr(found, which), getattr(result, which, None)
        names = filled(_tr("Tokens per word, {text}"), text=text), filled(_tr("Unknown tokens, {text}"), text=text)
        if effect is None:
            rows.append((names[0], _tr("unknown"), ""))
        else:
            after = _rates(changed, -1) if changed is not None else ("…", "…")
            rows += zip(names, _rates(effect, 0), after, strict=True)
    return rows


def _rates(effect: Effect, at: int) -> tuple[str, str]:
    return f"{effect.tokens_per_word[at]:.4f}", number_text(int(effect.unknown[at]))


@dataclass(frozen=True, kw_only=True)
class EffectChart(Chart):
    """Its source is an `Adaptation`; a press chooses how many of the tokens are added, best first."""

    kept_keys = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)

    def state(self, source: Any) -> object:
        found = source.found
        return found if isinstance(found, Extension) and found.proposals else None

    def missing(self, source: Any) -> str:
        return _tr("No token is missing: none would save anything often enough.")

    def draw(self, source: Any, room: Room) -> Drawing:
        found: Extension = source.found
        last, enough = len(found.proposals), found.enough
        effects = [(found.held_out, _tr("Held-out text"), Stroke("accent", 1.8), "accent_ink")]
        if found.general is not None:
            effects.append((found.general, _tr("General text"), Stroke("muted", 1.8, Qt.PenStyle.DashLine), "muted"))
        steps = np.arange(last + 1, dtype=np.float64)
        y = Axis(_tr("Tokens per word")).fitted(np.concatenate([each.tokens_per_word for each, *_ in effects]))
        shapes: list[Shape] = [Line(Curve(steps, each.tokens_per_word), stroke) for each, _, stroke, _ in effects]
        if enough is not None and 0 < enough < last:
            shapes.append(Rule(enough, Stroke("accent_ink", style=Qt.PenStyle.DotLine)))
            text = counted(enough, "Enough: 1 token", "Enough: {count} tokens")
            shapes.append(Label(text, enough, y.range[1], 0, 0, "accent_ink"))
        shapes += [Label(name, last, float(each.tokens_per_word[-1]), 1, 1, ink) for each, name, _, ink in effects]
        margin = max(last * 0.012, 1e-9)
        x = Axis(_tr("Tokens added"), "whole", range=(-margin, last + margin), marked=(0, last))
        return Drawing(x, y, shapes, room)

    def marks(self, source: Any, drawing: Drawing, hovered: float | None) -> Sequence[Shape]:
        place, effects = self._at(source, hovered)
        dots = [Dots([place], [rate], "text", Stroke("surface", 1.5)) for rate in effects]
        return [Rule(place, Stroke("text" if hovered is None else "muted", style=Qt.PenStyle.DotLine)), *dots]

    def readout(self, source: Any, drawing: Drawing, hovered: float | None) -> str:
        place, effects = self._at(source, hovered)
        first = counted(place, "With the first token", "With the first {count} tokens")
        chosen = counted(place, "With the chosen token", "With the {count} chosen tokens")
        names = _tr("{rate} held out"), _tr("{rate} general")
        rates = [filled(name, rate=f"{rate:.4f}") for name, rate in zip(names, effects, strict=False)]
        return " · ".join([chosen if hovered is None else first, *rates])

    def _at(self, source: Adaptation, hovered: float | None) -> tuple[int, list[float]]:
        """Return a number of tokens, and tokens per word with so many of the best, or with those that are wanted."""
        place, is_hovered = self._number(source, hovered), hovered is not None
        found, at = (source.found, place) if is_hovered else (source.result, -1)
        effects = (found.held_out, found.general) if found is not None else ()
        return place, [float(each.tokens_per_word[at]) for each in effects if each is not None]

    def press(self, source: Any, drawing: Drawing, place: float) -> None:
        source.want_only(source.found.tokens[: self._number(source, place)])

    def move(self, source: Any, drawing: Drawing, key: Qt.Key) -> bool:
        by = dict(zip(self.kept_keys, (-1, 1, -10, 10), strict=True)).get(key)
        if by is not None:
            source.want_only(source.found.tokens[: self._number(source, len(source.wanted) + by)])
        return by is not None

    def _number(self, source: Adaptation, place: float | None) -> int:
        assert isinstance(source.found, Extension)
        wanted = len(source.wanted) if place is None else round(place)
        return min(max(wanted, 0), len(source.found.proposals))
