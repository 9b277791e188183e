"""Live tokenization: a text, its tokens at the current step, and why it is split in this way.

The text is tokenized with the vocabulary of the step, and follows the timeline. Tokenizing is not done here but in
:mod:`~wordpiece_studio.session.live_text`, by the tokenizer of the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.session.live_text import ChangesFinder, LiveChanges, LiveText
from wordpiece_studio.session.step_marks import made_by
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.tokenization.live_chips import LiveChips
from wordpiece_studio.ui.panes.tokenization.live_field import LiveField
from wordpiece_studio.ui.panes.tokenization.split_view import SplitView
from wordpiece_studio.ui.panes.tokenization.token_table import ChangesView, PieceTexts, TokenModel, birth_step
from wordpiece_studio.ui.panes.tokenization.why_here import UnknownBox, UnknownNote, WhyHere
from wordpiece_studio.ui.widgets.pane import Pane, fill
from wordpiece_studio.ui.widgets.plain import copy_text, explain, key_text, plain_label, set_plain_text, tool_button
from wordpiece_studio.ui.widgets.table import TableView
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.session.runs import Comparison
    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord
    from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
    from wordpiece_studio.ui.widgets.theme import Theme

_LOW_LINES = 31  # a pane lower than this many lines of text is low: there the list of changes gives way to the chips


def _ringed(word: TokenizedWord, selection: Selection, made: str) -> set[int]:
    """Return the indices of the selected chips of a word; `made` is the token selected, or what a pair makes."""
    tokens = [piece.token for piece in word.pieces]
    if selection.kind == "word":
        is_selected = word.word is not None and word.word.text == selection.text
        return set(range(len(tokens))) if is_selected else set()
    pairs = [at for at, pair in enumerate(pairwise(tokens)) if pair == (selection.left, selection.right)]
    return {*pairs, *(at + 1 for at in pairs), *(at for at, token in enumerate(tokens) if token == made)}


_LEAST_HEIGHT = 40
_RUNGS, _LOW_RUNGS, _CHANGES_ROWS = 6, 4, 2
_LEAST_ROWS, _LEAST_ROWS_ASKED = 3, 2  # rows of chips
_SIDES, _SPACING = (14, 10, 12, 2), 6
_NO_LIMIT = 16_777_215  # Qt's value for "no maximum height" (``QWIDGETSIZE_MAX``)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The height in pixels that shows everything, and the smallest useful one; 0 if there is nothing to show."""

    all: int
    least: int


def _shared_room(room: int, top: _Wanted, why: _Wanted, changes: _Wanted) -> tuple[int, int, int]:
    """Return the heights of the three parts, `room` pixels in total.

    The chips grow into what the parts below do not need. While an answer is shown, it takes precedence over the list
    of changes, which is left out (0) if its least height would cut into that of the chips or the answer; also if all
    chips are visible only without it. No part is lower than its least, except the chips if all else is left out.

    >>> _shared_room(560, _Wanted(230, 120), _Wanted(0, 0), _Wanted(900, 160))
    (230, 0, 330)
    >>> _shared_room(560, _Wanted(700, 120), _Wanted(0, 0), _Wanted(100, 90))
    (470, 0, 90)
    >>> _shared_room(560, _Wanted(530, 120), _Wanted(0, 0), _Wanted(900, 90))
    (560, 0, 0)
    >>> _shared_room(560, _Wanted(230, 120), _Wanted(300, 180), _Wanted(900, 90))
    (230, 240, 90)
    >>> _shared_room(260, _Wanted(700, 200), _Wanted(0, 0), _Wanted(900, 90))
    (260, 0, 0)
    >>> _shared_room(260, _Wanted(700, 200), _Wanted(300, 90), _Wanted(900, 90))
    (170, 90, 0)
    """
    least = why.least + changes.least
    fits_alone = not why.all and room - least < top.all <= room
    if not changes.all or room < top.least + least or fits_alone:
        high = max(min(top.all, room - why.least), 0) if why.all else room
        return high, room - high, 0
    high = min(top.all, room - least)
    answer = max(why.least, min(why.all, room - high - changes.least))
    return high, answer, room - high - answer


class TokenizationPane(Pane):
    comparison_requested = Signal()

    def __init__(
        self, model: TrainerModel, changes: LiveChanges, comparison: Comparison, theme: Theme,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(model, parent)
        self._changes, self._comparison = changes, comparison
        self.live = LiveText()  # the text with its words, as of the last refresh
        self._note: UnknownNote | None = None  # once the run has an unknown word
        self._asked: tuple[ChipPlace, bool] | None = None  # A chip, and whether its end is asked about
        self._is_low = False
        self._field = LiveField(theme, self._decoded, self)
        self.edit, self.options = self._field.edit, self._field.options
        self._texts = PieceTexts(self.options, self)
        self.chips = LiveChips(theme, self._texts.captions, self._describe_place, self)
        self.chips.setAccessibleName(self.tr("Tokens"))
        explain("token", self.chips)
        self._rows = TokenModel(self._texts, self)
        self._table = TableView(
            self._rows, theme, self, name=self.tr("Tokens as a table"), padding=3, is_adjustable=True
        )
        explain("token", self._table)
        self._summary = plain_label("", self, role="hint", wrap=True, entry="fertility")
        ask = self.tr("Click a token or a gap to see why the text is split there.")
        self._ask = plain_label(ask, self, role="hint", wrap=True)
        self.unknown_box = UnknownBox(self)
        self.why = WhyHere(theme, self._select_token, self)
        tip = self.tr("Show how each run splits this text, and what else differs")
        key = key_text("Ctrl+4")
        self._compare = tool_button(
            self.tr("Compare the runs ({key})").format(key=key), tip, self, self.comparison_requested.emit,
            role="link", entry="comparison", takes_focus=True,
        )  # fmt: skip
        self.changes_view = ChangesView(changes, comparison, theme, self, go=self._go_to_change)
        self._finder = ChangesFinder(model, changes, self)
        self._shown = QStackedWidget(self)
        self._shown.addWidget(self.chips)
        self._shown.addWidget(self._table)
        self.split_view = SplitView(theme, self)
        self._shown.addWidget(self.split_view)
        self._is_shared_by_hand = False
        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._lay_out()
        self._connect()
        self._on_options_changed()
        self.set_text(self.tr("This is the Hugging Face course!"))

    # -- for callers

    @property
    def text(self) -> str:
        return self.edit.text

    def set_text(self, text: str) -> None:
        if text != self.edit.text:  # else the caret and the undo steps of what is being typed would suffer
            self.edit.set_text(text)
            self.edit.document().clearUndoRedoStacks()  # Undo concerns what is typed, not what a lesson shows

    def offer_text(self, text: str) -> None:
        self._field.offer_text(text)

    def ask_nothing(self) -> None:
        self.chips.choose_none()

    @property
    def tokens(self) -> list[str]:
        return [piece.token for piece in self.live.pieces()]

    # -- set-up

    def _lay_out(self) -> None:
        top = QWidget(self._splitter)
        below = self._summary, (self._compare, 0, Qt.AlignmentFlag.AlignLeft), self._ask, self.unknown_box
        fill(QVBoxLayout(top), self._field, (self._shown, 1), *below, 0, margins=_SIDES, spacing=_SPACING)
        for part in (top, self.why, self.changes_view):
            self._splitter.addWidget(part)
        self._splitter.setSizes([420, 120, 120])
        for index, stretch in enumerate((3, 1, 1)):
            self._splitter.setStretchFactor(index, stretch)
        self._splitter.setCollapsible(0, False)
        self.why.hide()
        fill(QVBoxLayout(self), self._splitter)

    def _connect(self) -> None:
        model = self._model
        self.follow(
            self.edit.text_changed, self._comparison.changed, model.step_changed, model.merges_appended,
            model.state_changed,
        )  # fmt: skip
        self.options.longest_first.toggled.connect(self._comparison.set_longest_first)
        self.options.longest_first.triggered.connect(lambda on: self.comparison_requested.emit() if on else None)
        self.options.changed.connect(self._on_options_changed)
        self.options.copy_tokens.triggered.connect(lambda: copy_text(" ".join(self.tokens)))
        self.options.copy_ids.triggered.connect(
            lambda: copy_text(" ".join(str(piece.id) for piece in self.live.pieces()))
        )
        self.chips.chosen.connect(self._on_chips_chosen)
        self.chips.content_height_changed.connect(self._on_chips_content_height_changed)
        self.chips.word_chosen.connect(self._on_chips_word_chosen)
        self._table.item_chosen.connect(self._on_table_item_chosen)
        self.split_view.changed.connect(self._on_split_view_changed)
        self.split_view.piece_chosen.connect(self._show_ladder)
        self._splitter.splitterMoved.connect(self._on_splitter_moved)
        self._changes.changed.connect(self._on_changes_changed)
        model.selection_changed.connect(self._on_model_selection_changed)

    # -- contents

    def forget(self) -> None:
        self._note = None
        if not self.isVisible():  # else the list of changes would flicker
            self._finder.set_lines(self.live.texts)
            self._texts.history = None

    def refresh(self) -> None:
        model = self._model
        self.live = self.live.updated(self.edit.text, model.tokenizer_at(model.step))
        self._texts.history = model.history
        self.split_view.use(self.live.tokenizer)
        self._show_heading()
        self._show_tokens()
        self._compare.setVisible(bool(self._comparison.texts()))
        self._finder.set_lines(self.live.texts, self._comparison.others)
        self.options.offer_longest_first(
            is_possible=model.run is not None and model.run.can_cut_longest_first,
            is_chosen=self._comparison.is_longest_first,
        )
        self._show_summary()
        self._show_unknown()
        self._show_ladder()
        self.changes_view.set_step(model.step)
        self._field.decode_box.refresh()
        self._share_room()  # not later: the chips would be painted twice

    def _show_heading(self) -> None:
        model = self._model
        if model.history is None:
            self.set_heading(self.tr("Nothing trained yet"))
        elif model.history.has_steps:
            where = self.tr("Merge {step} of {count}")
            where = where.format(step=number_text(model.step), count=number_text(model.merge_count))
            self.set_heading(" · ".join((where, self.tr("follows the timeline"))), where, "")
        elif model.history.is_damaged:
            self.set_heading(self.tr("The library that trained this run is not available"))
        else:
            self.set_heading(self.tr("Split by the library that trained this run"))

    def _show_tokens(self) -> None:
        self.chips.set_lines(self.live, self._fresh_id())
        if self.options.table.isChecked():
            self._rows.set_lines(self.live)

    def _show_summary(self) -> None:
        if self._model.history is None:
            set_plain_text(self._summary, self.tr("Train to see the text here as tokens."))
        elif self._changes.is_known:
            set_plain_text(self._summary, self._texts.summary(self._changes.summary_at(self._model.step)))

    def _show_unknown(self) -> None:
        tokenizer = self.live.tokenizer
        place, _ = self._asked or (None, False)
        chosen = self.live.word_at(*place[:2]) if place is not None else None
        unknown = self._changes.rows.unknown_word
        if chosen is not None and chosen.word is not None and chosen.unknown is not None:
            unknown = chosen.word.text
        text = ""
        if unknown and tokenizer is not None and tokenizer.can_explain:
            total = self._changes.summary_at(self._model.step).unknown
            self._note = self._note or UnknownNote(self._model.counts, self._model.history)
            text = self._note.text(tokenizer.explain(unknown), tokenizer.vocabulary.unk_token, total)
        self.unknown_box.show_text(text, is_low=self._is_low)

    def fit(self) -> None:
        is_low = self.seen.height() < _LOW_LINES * self.fontMetrics().height()
        if is_low != self._is_low:
            self._is_low = is_low
            self.unknown_box.show_text(self.unknown_box.whole_text, is_low=is_low)
        self._share_room()

    def _share_room(self) -> None:
        is_asked, is_low = not self.why.isHidden(), self._is_low
        why = changes = _Wanted(0, 0)
        if is_asked:
            why = _Wanted(self.why.needed_height(), self.why.needed_height(_LOW_RUNGS if is_low else _RUNGS))
        if not (is_asked and is_low) and not self.split_view.is_asking:
            least = self.changes_view.needed_height(1 if is_low else _CHANGES_ROWS)
            changes = _Wanted(self.changes_view.needed_height(), least)
        top = self._wanted_top(why.least)
        if not self._is_shared_by_hand:
            sizes = _shared_room(self._room, top, why, changes)
            self.changes_view.setVisible(sizes[2] > 0)
            self._splitter.setSizes(list(sizes))

    @property
    def _room(self) -> int:
        return self.seen.height() - 2 * self._splitter.handleWidth()

    def _wanted_top(self, least_below: int) -> _Wanted:
        """Hide notes that do not fit rather than cut them off, and return the height that the rest wants."""
        can_ask = self.live.tokenizer is not None and not self._is_low and self.why.isHidden()
        says = bool(self.unknown_box.whole_text)
        forms = ((True, says), (False, says), (False, False))
        for has_summary, has_box in forms[2:] if self.split_view.is_asking else forms:
            notes = {self._summary: has_summary, self._ask: has_summary and can_ask, self.unknown_box: has_box}
            wanted = self._wanted_with([note for note, is_shown in notes.items() if is_shown])
            if wanted.least <= self._room - least_below:
                break
        for note, is_shown in notes.items():
            note.setVisible(is_shown)
        return wanted

    def _wanted_with(self, notes: list[QWidget]) -> _Wanted:
        width = self._splitter.width() - _SIDES[0] - _SIDES[2]
        heights = [self._field.sizeHint().height(), self._shown.maximumHeight()]
        heights += [max(note.heightForWidth(width), 0) for note in notes]
        if not self._compare.isHidden():
            heights.append(self._compare.sizeHint().height())
        whole = sum(heights) + (len(heights) - 1) * _SPACING + _SIDES[1] + _SIDES[3]
        rows = _LEAST_ROWS if self.why.isHidden() else _LEAST_ROWS_ASKED
        return _Wanted(whole, min(whole, whole - heights[1] + rows * self.chips.row_height))

    def _on_split_view_changed(self) -> None:
        self._on_options_changed()
        self._on_chips_content_height_changed()
        self.refresh_now()

    def ask_for_split(self) -> None:
        """Ask how the words of the text are split, the selected one first."""
        words = [word.word.text for line in self.live for word in line.words if word.word is not None]
        chosen = self._model.selection
        if chosen is not None and chosen.kind == "word":
            words.insert(0, chosen.text)
        self.split_view.begin(list(dict.fromkeys(word for word in words if len(word) > 1)), self.live.tokenizer)

    def _show_ladder(self, piece: int | None = None) -> None:
        if self.split_view.is_asking:
            trace, history = self.split_view.trace, self._model.history
            if trace is not None:
                required = () if self._model.config is None else self._model.config.required_tokens
                born = partial(birth_step, history, self._model.merge_count)
                piece = self.split_view.piece if piece is None else piece
                self.why.show_chip(trace, piece, False, born, required)
            self.why.setVisible(trace is not None)
            self.changes_view.hide()
            return
        place, is_boundary = self._asked or (None, False)
        word = self.live.word_at(*place[:2]) if place is not None else None
        tokenizer = self.live.tokenizer
        if place is None or word is None or tokenizer is None:
            self.why.hide()
            self.changes_view.show()
            return
        chip = min(place.chip, len(word.pieces) - 1)
        if word.word is None:
            self.why.show_special(word.pieces[0].token)
        elif not tokenizer.can_explain:
            run = self._model.run
            self.why.show_library(run is not None and run.has_best_segmentations)
        else:
            born = partial(birth_step, self._model.history, self._model.merge_count)
            required = () if self._model.config is None else self._model.config.required_tokens
            self.why.show_chip(tokenizer.explain(word.word.text), chip, is_boundary, born, required)
        self.why.show()

    def _fresh_id(self) -> int | None:
        history, step = self._model.history, self._model.step
        if history is None or not step or not history.column("is_new")[step - 1]:
            return None
        return int(history.column("new_id")[step - 1])

    def _describe_place(self, place: ChipPlace) -> str:
        word = self.live.word_at(*place[:2])
        return self._texts.spoken(self.live[place.line], word, place.chip) if word is not None else ""

    def _decoded(self, ids: Sequence[int]) -> str | None:
        tokenizer = self._model.tokenizer_at(self._model.step)
        return tokenizer.decode(ids, skip_special_tokens=False) if tokenizer is not None else None

    # -- events

    def _on_options_changed(self) -> None:
        options = self.options
        captions = [button.isChecked() for button in (options.ids, options.offsets, options.births)]
        if options.table.isChecked():
            self._rows.set_lines(self.live)  # what it showed last may be out of date
        shown = self._table if options.table.isChecked() else self.chips
        self._shown.setCurrentWidget(self.split_view if self.split_view.is_asking else shown)
        self.chips.captions_changed(sum(captions), hold_places=options.offsets.isChecked())
        self.refresh_later()

    def _on_chips_content_height_changed(self) -> None:
        """Keep the line about the text right below the chips, not at the bottom of the pane."""
        limit = max(self.chips.content_height, _LEAST_HEIGHT)
        if self.split_view.is_asking:
            limit = self.split_view.needed_height(self._shown.width())
        self._shown.setMaximumHeight(_NO_LIMIT if self.options.table.isChecked() else limit)

    def _on_chips_chosen(self, chosen: tuple[ChipPlace, bool] | None) -> None:
        self._asked = chosen
        self._show_ladder()
        self._show_unknown()
        word = self.live.word_at(*chosen[0][:2]) if chosen is not None else None
        if chosen is not None and word is not None and word.unknown is None:
            self._select_token(word.pieces[chosen[0].chip].token)

    def _on_chips_word_chosen(self, place: ChipPlace) -> None:
        word = self.live.word_at(*place[:2])
        if word is not None and word.word is not None:
            self._model.set_selection(Selection("word", text=word.word.text))

    def _on_table_item_chosen(self, row: int) -> None:
        place = self._rows.records[row][0]
        self.chips.set_current(place)
        self._on_chips_chosen((place, False))

    def _go_to_change(self, step: int, token: str) -> None:
        self._model.seek(step)
        vocabulary = self._model.vocabulary_at(self._model.merge_count)
        if vocabulary is not None and token in vocabulary:  # another run may have made it
            self._select_token(token)

    def _on_splitter_moved(self) -> None:
        self._is_shared_by_hand = True

    def _select_token(self, token: str) -> None:
        self._model.set_selection(Selection("token", text=token))

    def _on_changes_changed(self) -> None:
        if self.is_current:
            self._show_summary()
            self._show_unknown()
            self._share_room()

    def _on_model_selection_changed(self, selection: Selection | None) -> None:
        if selection is None:
            self.chips.set_rings(None)
            return
        config = self._model.config
        prefix = config.continuing_subword_prefix if config is not None else ""
        made = selection.text if selection.kind == "token" else made_by(selection, prefix)
        self.chips.set_rings(partial(_ringed, selection=selection, made=made))
