"""All tokens of the live text in order: as an ordinary table, for those who cannot see chips, and on the clipboard.

The texts about a token are made here too: under its chip, in a row, for screen readers.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QModelIndex, QObject

from wordpiece_studio.evaluation.metrics import MUCH_UNKNOWN
from wordpiece_studio.session.plural import plural
from wordpiece_studio.session.table_model import LEFT, TableColumn, TableModel
from wordpiece_studio.session.timers import single_shot
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.widgets.explained import explain
from wordpiece_studio.ui.widgets.plain import copy_text
from wordpiece_studio.ui.widgets.quiet_table import QuietTable
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.live_text import LiveLine, LiveText, TextSummary
    from wordpiece_studio.session.table_model import Index
    from wordpiece_studio.session.view_text import TextUnit
    from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.tokenization.live_field import TokenOptions
    from wordpiece_studio.ui.widgets.theme import Theme

_SLICE_SECONDS, _PAUSE_MS = 0.008, 4
_TOKEN, _ID, _OFFSETS, _BORN, _WORD = range(5)
_NOTHING = "–"
_AT_ONCE = 200
"""Rows made at a time; the next ones follow when the table is scrolled to its end."""


class PieceTexts(QObject):
    """Formats ids, offsets and birth steps; birth steps come from the run that made the tokens."""

    def __init__(self, live: LiveText, options: TokenOptions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.history: MergeHistory | None = None
        self.merges = 0
        self._live = live
        self.options = options
        self._captions: dict[int, tuple[str, ...]] = {}  # by id, unless they depend on the place
        options.changed.connect(self._captions.clear)

    def show_run(self, history: MergeHistory | None, merges: int) -> None:
        if history is not self.history:
            self._captions.clear()
        self.history, self.merges = history, merges

    def summary(self, found: TextSummary) -> str:
        """Return the numbers of words and tokens in a text, and the unit of offsets if they are shown."""
        is_too_good = found.unknown > MUCH_UNKNOWN * found.tokens  # an unknown word, however long, is one token
        said = [
            plural(found.words, "1 word", "{count} words").format(count=number_text(found.words)),
            plural(found.tokens, "1 token", "{count} tokens").format(count=number_text(found.tokens)),
            self.tr("{rate} tokens per word").format(
                rate=f"({found.fertility:.2f})" if is_too_good else f"{found.fertility:.2f}"
            ),
            plural(found.unknown, "1 unknown", "{count} unknown").format(count=number_text(found.unknown)),
        ]
        if self.options.offsets:
            said.append(self._unit_words[0])
        return " · ".join(said)

    @property
    def _unit_words(self) -> tuple[str, str]:
        words: dict[TextUnit, tuple[str, str]] = {
            "characters": (self.tr("offsets in characters, from 0"), self.tr("characters {offsets}")),
            "utf8": (self.tr("offsets in UTF-8 bytes, from 0"), self.tr("UTF-8 bytes {offsets}")),
            "utf16": (self.tr("offsets in UTF-16 units, from 0"), self.tr("UTF-16 units {offsets}")),
        }
        return words[self.options.unit]

    def captions(self, line: LiveLine, piece: Piece) -> tuple[str, ...]:
        if piece.id in self._captions:
            return self._captions[piece.id]
        captions = []
        if self.options.ids:
            captions.append(_id_text(piece))
        if self.options.offsets:
            captions.append(self._offsets_text(line, piece))
        if self.options.births:
            captions.append(self.tr("step {step}").format(step=self._born_text(piece)))
        if not self.options.offsets:
            self._captions[piece.id] = tuple(captions)
        return tuple(captions)

    def row(self, line: LiveLine, word: TokenizedWord, chip: int) -> tuple[str, ...]:
        piece = word.pieces[chip]
        text = token_text(word.word.text) if word.word is not None else ""
        offsets = self._offsets_text(line, piece)
        return token_text(piece.token), _id_text(piece), offsets, self._born_text(piece), text

    def spoken(self, line: LiveLine, word: TokenizedWord, chip: int) -> str:
        token, number, offsets, born, text = self.row(line, word, chip)
        created = self.tr("in the alphabet") if born == "0" else self.tr("created at step {step}").format(step=born)
        return " · ".join((
            self.tr("Token {token}").format(token=token),
            self.tr("ID {id}").format(id=number),
            self._unit_words[1].format(offsets=offsets),
            *(() if born == _NOTHING else (created,)),
            self.tr("in the word {word}").format(word=text),
        ))  # fmt: skip

    def _born_text(self, piece: Piece) -> str:
        history = self.history
        return number_text(history.birth_step(piece.id)) if history is not None and piece.id >= 0 else _NOTHING

    def _offsets_text(self, line: LiveLine, piece: Piece) -> str:
        start, end = self._live.offsets_in(self.options.unit, line, piece.start, piece.end)
        return f"{number_text(start)}–{number_text(end)}"


def _id_text(piece: Piece) -> str:
    return number_text(piece.id) if piece.id >= 0 else _NOTHING


def birth_step(history: MergeHistory | None, merges: int, token: str) -> int | None:
    """Return the step up to `merges` at which a token is born, 0 for the alphabet, None if it is not."""
    token_id = history.vocabulary(merges).id_of(token) if history is not None else None
    return history.birth_step(token_id) if history is not None and token_id is not None else None


class TokenCopy(QObject):
    """Copies tokens or ids to the clipboard in slices of time; the latest request wins."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._waiting: Iterator[str] = iter(())
        self._gathered: list[str] = []
        self._timer = single_shot(self, self._gather, _PAUSE_MS)

    def start(self, lines: Sequence[LiveLine], what: Literal["tokens", "ids"]) -> None:
        pieces = (piece for line in lines for word in line.words for piece in word.pieces)
        self._waiting = (piece.token if what == "tokens" else str(piece.id) for piece in pieces)
        self._gathered = []
        self._gather()

    def _gather(self) -> None:
        end = time.perf_counter() + _SLICE_SECONDS
        for text in self._waiting:
            self._gathered.append(text)
            if time.perf_counter() > end:
                self._timer.start()
                return
        copy_text(" ".join(self._gathered))
        self._gathered = []


class TokenModel(TableModel["PieceTexts"]):
    """One row per token: token, id, offsets, birth step, word; rows of later lines are made on request."""

    def __init__(self, texts: PieceTexts, parent: QObject | None = None) -> None:
        super().__init__(texts, parent)
        self._texts = texts
        self._lines: Sequence[LiveLine] = ()
        self._ends: list[int] = []  # the number of tokens up to the end of each line read so far
        self._is_growing = False
        self._describe()

    def _describe(self) -> None:
        self._columns = (
            TableColumn(self.tr("Token"), self._text_of(_TOKEN), align=LEFT, spoken=self._spoken),
            TableColumn(self.tr("ID"), self._text_of(_ID)),
            TableColumn(self._texts.options.unit_title, self._text_of(_OFFSETS)),
            TableColumn(self.tr("Created"), self._text_of(_BORN), entry="step"),
            TableColumn(self.tr("Word"), self._text_of(_WORD), align=LEFT, entry="word"),
        )

    def set_lines(self, lines: Sequence[LiveLine]) -> None:
        """Show the tokens of these lines, with offsets in the unit chosen."""
        self.beginResetModel()
        self._describe()
        self._lines = lines
        self._ends = self._further_ends([])
        self.endResetModel()

    def place_of(self, row: int) -> ChipPlace:
        line = bisect_right(self._ends, row)
        chip = row - (self._ends[line - 1] if line else 0)
        for index, word in enumerate(self._lines[line].words):
            if chip < len(word.pieces):
                return ChipPlace(line, index, chip)
            chip -= len(word.pieces)
        raise IndexError(row)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return self._ends[-1] if self._ends and not parent.isValid() else 0

    def canFetchMore(self, parent: Index) -> bool:
        has_more = len(self._ends) < len(self._lines)
        return has_more and not parent.isValid() and not self._is_growing

    def fetchMore(self, _parent: Index) -> None:
        ends = self._further_ends(self._ends)
        before, after = self.rowCount(), ends[-1] if ends else 0
        if self._is_growing or after == before:
            self._ends = self._ends if self._is_growing else ends  # blank lines only
            return
        self._is_growing = True  # a slot notified of the new rows may ask for more at once
        self.beginInsertRows(QModelIndex(), before, after - 1)
        self._ends = ends
        self.endInsertRows()
        self._is_growing = False

    def _text_of(self, column: int) -> Callable[[PieceTexts, int], str]:
        return lambda texts, row: texts.row(*self._token(row))[column]

    def _spoken(self, texts: PieceTexts, row: int) -> str:
        return texts.spoken(*self._token(row))

    def _token(self, row: int) -> tuple[LiveLine, TokenizedWord, int]:
        place = self.place_of(row)
        line = self._lines[place.line]
        return line, line.words[place.word], place.chip

    def _further_ends(self, ends: list[int]) -> list[int]:
        further = list(ends)
        total = wanted = further[-1] if further else 0
        wanted += _AT_ONCE
        while len(further) < len(self._lines) and total < wanted:
            total += sum(len(word.pieces) for word in self._lines[len(further)].words)
            further.append(total)
        return further


class LiveTokenTable(QuietTable):
    """The table of tokens, one row per token."""

    def __init__(self, texts: PieceTexts, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tokens = TokenModel(texts, self)
        explain("token", self)
        self.setModel(self.tokens)
        self.setAccessibleName(self.tr("Tokens as a table"))
        self.horizontalHeader().setStretchLastSection(True)
        self.restyle()
        theme.changed.connect(self.on_theme_changed)

    def restyle(self) -> None:
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 8)
        for column, width in enumerate((12, 6, 14, 7)):
            self.setColumnWidth(column, metrics.horizontalAdvance("n") * width)
