"""The lower part of the scoreboard: the words that contain the selection, under a title that says how many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication, QMargins, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.plural import counted, filled
from wordpiece_studio.session.step_marks import made_by
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.session.task import Task, single_shot
from wordpiece_studio.session.words_table import changed_tokens
from wordpiece_studio.ui.widgets.chips import FlowItem
from wordpiece_studio.ui.widgets.fields import Segments
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    explain,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    tooltip_text,
    wrapped_height,
)
from wordpiece_studio.ui.widgets.table import Measure, TableView
from wordpiece_studio.ui.widgets.token_text import token_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wordpiece_studio.storage.view import Selection
    from wordpiece_studio.training.engine import Candidate, Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "scoreboard")
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class PairWord:
    """A word of the corpus with its weight, and its symbols before and after a merge."""

    word: str
    count: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    token: str = ""  # the symbol to keep visible if the merge changes nothing


class PairWords(NamedTuple):
    words: tuple[PairWord, ...]
    total: int


NO_WORDS = PairWords((), 0)


class WordsRequest(NamedTuple):
    """The words with a selection, before or after the merge of a step; with a pair, those that merging it changes.

    Without a selection, they are those that the merge of the step changes. `are_all` adds all other words.
    """

    history: MergeHistory
    step: int
    selection: Selection | None
    is_after: bool = False
    in_text_order: bool = False
    are_all: bool = False


def find_words(request: WordsRequest) -> PairWords:
    """Return the words with a selection, and what the merge of the step, or that of the pair, makes of them.

    All words of a text are in its order; those that were changed come first after the merge.
    """
    history, step, selection, is_after, in_text_order, are_all = request
    places, before, token, pair = history.places, max(step - 1, 0), "", None
    shown = step if is_after else before
    if selection is None or (step > 0 and not is_after and is_of(selection, history[step - 1])):  # without a search
        touched = history.positions(step - 1)
        found = places.weighted_words_at(touched, _SHOWN, in_text_order=in_text_order)
        total = places.count_words_at(touched)
    elif selection.kind == "word":
        try:
            index = places.index_of(selection.text)
        except StudioError:  # it is not in the training corpus
            return NO_WORDS
        found, total = [(selection.text, int(history.input.weights[index]))], 1
    elif selection.kind == "token":
        token = selection.text
        token_id = history.vocabulary(shown).id_of(token)
        if token_id is None:
            return NO_WORDS
        found = history.words_with_token(token_id, shown, _SHOWN, in_text_order=in_text_order)
        total = history.number_of_words(token_id, shown)
    else:
        pair = selection.left, selection.right
        made = made_by(selection, history.config.continuing_subword_prefix)
        found = history.words_with_pair(*pair, shown, _SHOWN, in_text_order=in_text_order)
        total = history.number_of_words_with_pair(*pair, shown)
    words = []
    for word, count in found:
        tokens = tuple(history.segmentation(word, before if pair is None else shown))
        after = tuple(history.segmentation(word, step)) if pair is None else joined(tokens, *pair, made)
        words.append(PairWord(word, count, tokens, after, token))
    if are_all:
        known, shown_words = {row.word: row for row in words}, []
        for word, count in zip(history.input.words, history.input.weights.tolist(), strict=True):
            tokens = tuple(history.segmentation(word, shown))
            shown_words.append(known.get(word) or PairWord(word, count, tokens, tokens))
        words = sorted(shown_words, key=lambda row: is_after and step > 0 and row.word not in known)
    return PairWords(tuple(words), total)


def is_of(selection: Selection, merge: Merge | Candidate) -> bool:
    return selection.kind == "pair" and (selection.left, selection.right) == (merge.left, merge.right)


def joined(tokens: Sequence[str], left: str, right: str, token: str) -> tuple[str, ...]:
    """Return the tokens with each `left right` replaced by `token`, from left to right.

    >>> joined(("a", "##a", "##a"), "##a", "##a", "##aa")
    ('a', '##aa')
    """
    result: list[str] = []
    index = 0
    while index < len(tokens):
        is_pair = tuple(tokens[index : index + 2]) == (left, right)
        result.append(token if is_pair else tokens[index])
        index += 2 if is_pair else 1
    return tuple(result)


_TITLE_PART = 2.5  # of the width of the buttons, at least, is that of the panel

_PATIENCE_MS = 80  # how long words of an earlier request stay: most are found by then, and nothing flickers

MOST_CELLS = 1 << 20  # total characters of all distinct words up to which a search takes a few milliseconds

_SIDES, _LOW_SIDES = QMargins(14, 4, 6, 4), QMargins(14, 0, 6, 0)


def _change_text(row: PairWord) -> str:
    """Return ``ch ##a ##p → cha ##p``, or only the tokens of a word that does not change."""
    before, after = (" ".join(map(token_text, tokens)) for tokens in (row.before, row.after))
    return after if row.before == row.after else f"{before} → {after}"


def _chips_of(row: PairWord) -> Iterator[list[FlowItem]]:
    """Yield the change of a word, unchanged tokens as text and changed ones as chips; then without unchanged ones."""
    if row.before == row.after:
        sides = [[_item(token, is_chip=token == row.token) for token in row.after]]
    else:
        is_merged, is_made = changed_tokens(row.before, row.after)
        sides = [list(map(_item, row.before, is_merged)), list(map(_item, row.after, is_made))]
    yield _joined(sides)
    if row.token or len(sides) > 1:
        yield _joined([_shortened(side) for side in sides])


def _item(token: str, is_chip: bool) -> FlowItem:
    return FlowItem(token, "chip") if is_chip else FlowItem(token_text(token))


def _joined(sides: list[list[FlowItem]]) -> list[FlowItem]:
    return sides[0] if len(sides) == 1 else [*sides[0], FlowItem("→"), *sides[1]]


def _shortened(items: list[FlowItem]) -> list[FlowItem]:
    """Return the items with each run of texts replaced by an ellipsis.

    >>> [each.text for each in _shortened([FlowItem("a"), FlowItem("##b"), FlowItem("##c", "chip")])]
    ['…', '##c']
    """
    runs = groupby(items, lambda item: item.kind == "chip")
    return [item for is_chips, run in runs for item in (run if is_chips else (FlowItem("…"),))]


def _word_width(measure: Measure, words: Sequence[PairWord]) -> int:
    longest = measure.text(*(row.word[:60] for row in words[:20]))
    return min(max(longest + 18, 60), 10 * measure.line)


def _count_width(measure: Measure, words: Sequence[PairWord]) -> int:
    return 18 + (measure.text(f"×{words[0].count:,}") if words else 20)


_COLUMNS: tuple[TableColumn[Sequence[PairWord]], ...] = (
    TableColumn("", each_row(lambda row: token_text(row.word)), align=LEFT, width=_word_width),
    TableColumn("", each_row(lambda row: f"×{row.count:,}"), width=_count_width),
    TableColumn("", each_row(_change_text), align=LEFT, chips=each_row(lambda row: [_chips_of(row)]), stretch=1),
)


def words_title(request: WordsRequest, found: PairWords) -> str:
    selection, history, shown = request.selection, request.history, len(found.words)
    if selection is None:
        name = filled(_tr("{token}, made"), token=token_text(history[request.step - 1].token))
    elif selection.kind == "word":
        return _word_title(selection.text, request, found)
    elif selection.kind == "pair":
        name = f"{token_text(selection.left)} + {token_text(selection.right)}"
    else:
        name = token_text(selection.text)
    if found.total:
        one, many = "{name} in one word", "{name} in {count} words, most frequent first"
        if request.are_all:
            one, many = "{name} in one of {shown} words", "{name} in {count} of {shown} words"
        elif found.total > shown and request.in_text_order:
            many = "{name} in {count} words, the first {shown} of the text shown"
        elif found.total > shown:
            many = "{name} in {count} words, the {shown} most frequent shown"
        elif request.in_text_order:
            many = "{name} in {count} words, in the order of the text"
        return counted(found.total, one, many, name=name, shown=shown)
    text, birth = _tr("{name} is in no word at this step"), 0
    if selection is not None and selection.kind == "token":
        token_id = history.vocabulary(len(history)).id_of(selection.text)
        birth = 0 if token_id is None else history.birth_step(token_id)
        if token_id is None:
            text = _tr("{name} is not a token of this run")
        elif birth > request.step - (not request.is_after):
            text = _tr("{name} is not created until step {step}")
    return filled(text, name=name, step=birth)


def short_words_title(request: WordsRequest, found: PairWords) -> str:
    """Return, as briefly as possible, how many words there are, or what happens to the only one."""
    if request.selection is not None and request.selection.kind == "word":
        return _tr("Unchanged") if found.words[0].before == found.words[0].after else _tr("Changed")
    return counted(found.total, "In 1 word", "In {count} words")


def _word_title(word: str, request: WordsRequest, found: PairWords) -> str:
    text = _tr("{word} is unchanged by this merge") if request.step else _tr("{word} before the first merge")
    if not found.words:
        text = _tr("{word} is not in the training corpus")
    elif found.words[0].before != found.words[0].after:
        text = _tr("{word} is changed by this merge")
    return text.format(word=token_text(word))


class WordsPanel(QWidget):
    order_wanted = Signal(object)  # whether that of the text

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.request: WordsRequest | None = None
        self._shown: WordsRequest | None = None  # the earlier one, while the words of the latest are searched for
        self._found = NO_WORDS
        self._marked = ""
        self._rows = 1
        self._is_narrow = False
        explain("word", self)
        self._title = plain_label("", self, role="heading", wrap=True)
        tip = each_row(lambda row: tooltip_text(f"{row.word} ×{row.count:,}\n{_change_text(row)}"))
        self.words: RecordTableModel[PairWord] = RecordTableModel(_COLUMNS, self, tip=tip)
        self.view = TableView(
            self.words, theme, self, name=self.tr("Words that contain the selection"), row_room=3, has_heading=False,
            has_bar=False, walking_chooses=True,
        )  # fmt: skip
        failure = "The words with the selection cannot be found"
        self.task = Task(find_words, failure, self, on_answer=self._show)
        self.task.failed.connect(lambda error: set_plain_text(self._title, str(error)))
        column = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        names = self.tr("Text order"), self.tr("Most frequent")
        tips = self.tr("List words in the order of the text, which ties go by"), self.tr("List frequent words first")
        self.order = Segments(names, tips, self, lambda at: self.order_wanted.emit(at == 0), entry="word")
        self._top = fill(QHBoxLayout(), (self._title, 1), (self.order, 0, Qt.AlignmentFlag.AlignTop), spacing=8)
        self._layout = fill(column, self._top, (self.view, 1), margins=None, spacing=2)
        self._layout.setContentsMargins(_SIDES)
        self._patience = single_shot(self, self._on_patience_timeout, _PATIENCE_MS)

    @property
    def title(self) -> str:
        return self._title.text()

    def show_words(self, request: WordsRequest | None) -> None:
        """Show the words requested, or none; those before stay for a moment if these must be searched for."""
        self.request = request
        self.task.stop()
        if request is None:
            self._show(NO_WORDS)
        elif request.history.is_whole and len(request.history.input.cells) <= MOST_CELLS:
            self._show(find_words(request))
        else:
            if self._shown is None or self._shown.history is not request.history:
                self._show_search()
            elif not self._patience.isActive():
                self._patience.start()
            self.task.run(request)

    def mark_word(self, word: str) -> bool:
        """Mark a word as soon as it is shown; an empty one marks none. Return whether it is shown now."""
        self._marked = word
        row = next((row for row, shown in enumerate(self.words.records) if shown.word == word), -1)
        self.view.mark_row(row)
        return row >= 0

    def set_room(self, rows: int, width: int, *, is_low: bool) -> None:
        """Make room for this many rows; with `is_low`, a short title stands beside them."""
        self._rows = rows
        self.order.setVisible(not is_low and self._has_room_for_order(width))
        if is_low != self._is_narrow:
            self._is_narrow = is_low
            direction = QBoxLayout.Direction.LeftToRight if is_low else QBoxLayout.Direction.TopToBottom
            self._layout.setDirection(direction)
            self._layout.setContentsMargins(_LOW_SIDES if is_low else _SIDES)
            self._title.setWordWrap(not is_low)
            self._show_rows()
            self._show_title()
        self._fit()

    def needed_height(self, rows: int, width: int, *, is_low: bool) -> int:
        if self.request is None:
            return 0
        row = self.view.row_height
        if is_low:
            return max(rows * row + 2, self._title.fontMetrics().height()) + 4
        if self.request.are_all:
            rows = min(rows, self.request.history.word_count)
        return self._top_height(width) + rows * row + 2 + self._layout.spacing() + _SIDES.top() + _SIDES.bottom()

    def _top_height(self, width: int) -> int:
        beside, order = _SIDES.left() + _SIDES.right(), self.order.sizeHint()
        if self._has_room_for_order(width):
            beside += self._top.spacing() + order.width()
        return max(wrapped_height(self._title, self._title.accessibleName(), width - beside), order.height())

    def _has_room_for_order(self, width: int) -> bool:
        return width > _TITLE_PART * self.order.sizeHint().width()

    def _fit(self) -> None:
        """Take the height set by `set_room`, and no more than all words need."""
        count = len(self._found.words)
        self.view.show_rows(min(self._rows, max(count, 1)))
        row = self.view.row_height
        if self._is_narrow:
            self.setMaximumHeight(max(self._rows * row, self._title.sizeHint().height()) + 4)
        else:
            rows = max(count * row, self.view.minimumHeight()) + self._layout.spacing() if count else 0
            around = _SIDES.top() + _SIDES.bottom() + 4
            self.setMaximumHeight(self._top_height(self.width()) + rows + around)

    def _show_search(self) -> None:
        self._show(NO_WORDS)
        set_plain_text(self._title, self.tr("Searching for words…"))

    def _show(self, found: PairWords) -> None:
        self._patience.stop()
        self._found, self._shown = found, self.request
        self.task.answer = self.task.answered = None
        self.order.choose(0 if self.request is not None and self.request.in_text_order else 1)
        self._show_rows()
        self.view.setVisible(bool(found.words))  # an empty table would take the keyboard focus
        self._show_title()
        self._fit()

    def _show_rows(self) -> None:
        """Show all words, or where there is little room, those that change."""
        rows = self._found.words
        if self._is_narrow and self._shown is not None and self._shown.are_all:
            rows = tuple(row for row in rows if row.before != row.after)
        self.words.set_records(rows)
        self.view.scrollToTop()
        self.mark_word(self._marked)

    def _show_title(self) -> None:
        text = whole = "" if self._shown is None else words_title(self._shown, self._found)
        if self._shown is not None and self._is_narrow and self._found.words:
            text = short_words_title(self._shown, self._found)
        set_plain_text(self._title, text)
        set_plain_tooltip(self._title, whole)
        self._title.setAccessibleName(whole)

    def _on_patience_timeout(self) -> None:
        if self.task.is_running:
            self._show_search()
