"""Live tokenization: a text, its tokens at the moment chosen, and why they are these.

The text is tokenized by the vocabulary of the moment; it follows the timeline. Nothing is tokenized here: that is done
in :mod:`~wordpiece_studio.model.watched_text` by the tokenizer of the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from wordpiece_studio.model.records import Focus, TrainerState
from wordpiece_studio.model.watched_changes import WatchedChanges
from wordpiece_studio.model.watched_text import WatchedText, changed_letters
from wordpiece_studio.ui.look.pane import Pane
from wordpiece_studio.ui.look.plain import plain_label, set_plain_text
from wordpiece_studio.ui.look.token_text import number_text
from wordpiece_studio.ui.tokenization.chip_blocks import ChipPlace
from wordpiece_studio.ui.tokenization.chips import ChipFlow
from wordpiece_studio.ui.tokenization.film_strip_flow import FilmStripFlow
from wordpiece_studio.ui.tokenization.film_strip_view import FilmStripView
from wordpiece_studio.ui.tokenization.pane_parts import PaneParts
from wordpiece_studio.ui.tokenization.piece_texts import PieceTexts
from wordpiece_studio.ui.tokenization.token_table import TokenTable
from wordpiece_studio.ui.tokenization.unknown_box import UnknownBox
from wordpiece_studio.ui.tokenization.unknown_note import UnknownNote, unknown_note
from wordpiece_studio.ui.tokenization.watched_field import WatchedField
from wordpiece_studio.ui.tokenization.why_here import WhyHere

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from wordpiece_studio.core.encoder import TokenizedWord
    from wordpiece_studio.core.training.history import MergeHistory
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.ui.look.theme import Theme

_LONG_TEXT = 20_000
"""Characters; a longer text is tokenized a moment after the last key, not at each."""
_LONG_DELAY_MS = 80
_BUSY_DELAY_MS = 100
_MOST_LOOKS = 100_000
"""Tokens times lines up to which looking for the lines that changed is faster than tokenizing all of them."""
_LOW_LINES = 29
"""A pane of fewer lines of text is low: there the film strip gives way to the chips."""


class TokenizationPane(Pane):
    """The typed text as chips at the moment of the timeline."""

    def __init__(
        self, model: TrainerModel, theme: Theme, parent: QWidget | None = None, *, changes: WatchedChanges | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._changes = changes if changes is not None else WatchedChanges(self)
        self._watched = WatchedText()
        self._note = UnknownNote(model.counts)
        self._chosen: tuple[ChipPlace, bool] | None = None
        self._tokenized_at: tuple[MergeHistory | None, int] = (None, 0)
        self._is_low = False
        self._field = WatchedField(theme, self)
        self._edit, self._options = self._field.edit, self._field.options
        self._texts = PieceTexts(model, self._options, self)
        self._chips = ChipFlow(theme, self._texts.captions, self._describe_place, self)
        self._chips.setAccessibleName(self.tr("Tokens"))
        self._table = TokenTable(theme, self)
        self._summary = plain_label("", self, role="hint", wrap=True)
        ask = self.tr("Why here? Click a chip, or the gap between two.")
        self._ask = plain_label(ask, self, role="hint", wrap=True)
        self._unknown_box = UnknownBox(self)
        self._unknown_label = self._unknown_box.label
        self._why = WhyHere(theme, self)
        self._strip = FilmStripView(theme, self)
        self._strip_flow = FilmStripFlow(model, self._watched, self._strip, self._changes, self)
        self._lay_out()
        self._connect()
        self.set_heading(self.tr("Live tokenization"))
        self._on_options_changed()
        self.set_text(self.tr("This is the Hugging Face course!"))

    # -- what it is told and asked

    @property
    def text(self) -> str:
        """The text that is watched."""
        return self._edit.text

    def set_text(self, text: str) -> None:
        """Watch another text."""
        self._edit.set_text(text)

    @property
    def watched(self) -> WatchedText:
        """The text with its words, as of the last refresh."""
        return self._watched

    @property
    def tokens(self) -> list[str]:
        """All tokens in the order of the text, as of the last refresh."""
        return self._watched.tokens()

    # -- set-up

    def _lay_out(self) -> None:
        self._shown = QStackedWidget(self)
        self._shown.addWidget(self._chips)
        self._shown.addWidget(self._table)
        self._parts = PaneParts(
            self._field, self._shown, (self._summary, self._ask), self._unknown_box, self._why, self._strip, self
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._parts)

    def _connect(self) -> None:
        self._edit.text_changed.connect(self._on_edit_text_changed)
        self._edit.composed_changed.connect(self._chips.set_composed)
        self._options.changed.connect(self._on_options_changed)
        self._options.copy_tokens_requested.connect(self.copy_tokens)
        self._options.copy_ids_requested.connect(self.copy_ids)
        self._chips.chip_chosen.connect(self._on_chips_chip_chosen)
        self._chips.content_height_changed.connect(self._on_chips_content_height_changed)
        self._chips.boundary_chosen.connect(self._on_chips_boundary_chosen)
        self._table.row_chosen.connect(self._on_table_row_chosen)
        self._why.token_chosen.connect(self._on_why_token_chosen)
        self._strip.step_chosen.connect(self._model.seek)
        self._model.moment_changed.connect(self._on_model_moment_changed)
        self._model.merges_appended.connect(self._on_model_merges_appended)
        self._model.run_reset.connect(self._on_model_run_reset)
        self._model.state_changed.connect(self._on_model_state_changed)
        self._model.focus_changed.connect(self._on_model_focus_changed)

    # -- what is shown

    def refresh(self) -> None:
        model = self._model
        self._watched.set_text(self._edit.text)
        self._watched.set_tokenizer(model.tokenizer_at(model.moment), self._changed_letters())
        self._tokenized_at = (model.history, model.moment)
        self._show_heading()
        self._show_tokens()
        self._show_summary()
        self._show_unknown()
        self._show_ladder()
        self._strip_flow.refresh()

    def _changed_letters(self) -> list[str] | None:
        """Return the letters of the tokens between the moment shown and the present one, None if there are many."""
        model, (history, shown) = self._model, self._tokenized_at
        first, last = sorted((shown, model.moment))
        if history is None or history is not model.history:
            return None
        if (last - first) * len(self._watched.lines) > _MOST_LOOKS:
            return None  # tokenizing all lines is faster
        return changed_letters(history, first, last)

    def _show_heading(self) -> None:
        model = self._model
        if model.history is None:
            self.set_heading(self.tr("Live tokenization"), self.tr("nothing is trained yet"))
            return
        title, where = self.tr("Live tokenization"), self.tr("at merge {moment} of {count}")
        where = where.format(moment=number_text(model.moment), count=number_text(model.merge_count))
        whole = self.tr("{where} · follows the timeline").format(where=where)
        self.set_heading(title, self.fitting_hint(title, whole, where))

    def _show_tokens(self) -> None:
        self._chips.set_lines(self._watched.lines)
        if self._options.as_table:
            self._table.tokens.set_rows(self._texts.rows(self._watched.lines))

    def _show_summary(self) -> None:
        if self._model.history is None:
            set_plain_text(self._summary, self.tr("Train, and the text appears here in tokens."))
            return
        set_plain_text(self._summary, self._texts.summary(self._watched.summary))

    def _show_unknown(self) -> None:
        tokenizer = self._watched.tokenizer
        chosen = self._word_at(self._chosen[0]) if self._chosen is not None else None
        is_chosen_unknown = chosen is not None and chosen.unknown is not None
        words = [chosen] if chosen is not None and is_chosen_unknown else self._watched.unknown_words(1)
        text = ""
        if words and tokenizer is not None:
            total = self._watched.summary.unknown
            text = unknown_note(words, self._note, tokenizer.vocabulary.unk_token, total)
        self._unknown_box.show_text(text)
        self._parts.share_later()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        is_low = self.height() < _LOW_LINES * self.fontMetrics().height()
        if is_low != self._is_low:
            self._is_low = is_low
            self._parts.set_low(is_low)
            self._field.set_low(is_low)
            self._unknown_box.set_low(is_low)
            self._show_ladder()
        self._show_heading()
        self._parts.share_room()

    def _show_ladder(self) -> None:
        word = self._word_at(self._chosen[0]) if self._chosen is not None else None
        tokenizer = self._watched.tokenizer
        if self._chosen is None or word is None or tokenizer is None:
            self._parts.show_question(tokenizer is not None)
            return
        if word.word is None:
            self._why.show_special(word.pieces[0].token)
        else:
            place, is_boundary = self._chosen
            chip = min(place.chip, len(word.pieces) - 1)
            self._why.show_chip(tokenizer.explain(word.word.text), chip, is_boundary, self._texts.birth_step)
        self._parts.show_answer()

    def _word_at(self, place: ChipPlace) -> TokenizedWord | None:
        lines = self._watched.lines
        if place.line >= len(lines) or place.word >= len(lines[place.line].words):
            return None
        return lines[place.line].words[place.word]

    def _describe_place(self, place: ChipPlace) -> str:
        word = self._word_at(place)
        return self._texts.spoken(self._watched.lines[place.line], word, place) if word is not None else ""

    # -- copying

    def copy_tokens(self) -> None:
        """Put the tokens on the clipboard, as they are, with a space between two."""
        QGuiApplication.clipboard().setText(" ".join(self.tokens))

    def copy_ids(self) -> None:
        """Put the ids on the clipboard, with a space between two."""
        QGuiApplication.clipboard().setText(" ".join(map(str, self._watched.ids())))

    # -- what happens

    def _delay(self) -> int:
        if len(self._edit.text) > _LONG_TEXT:
            return _LONG_DELAY_MS
        return _BUSY_DELAY_MS if self._model.state is TrainerState.TRAINING else 0

    def _on_edit_text_changed(self, _text: str) -> None:
        self.refresh_later(self._delay())

    def _on_options_changed(self) -> None:
        options = self._options
        lines = options.ids + options.offsets + options.births
        self._shown.setCurrentWidget(self._table if options.as_table else self._chips)
        self._chips.captions_changed(lines, hold_places=options.offsets)
        self.refresh_later()

    def _on_chips_content_height_changed(self, height: int) -> None:
        """The line about the text stands right below the chips, not at the foot of the pane."""
        frame = self._chips.height() - self._chips.viewport().height()
        self._parts.set_shown_height(None if self._options.as_table else height + frame)

    def _on_chips_chip_chosen(self, place: ChipPlace | None) -> None:
        if place is not None:
            self._choose(place, is_boundary=False)
            return
        self._chosen = None
        self._show_ladder()
        self._show_unknown()

    def _on_chips_boundary_chosen(self, place: ChipPlace) -> None:
        self._choose(place, is_boundary=True)

    def _on_table_row_chosen(self, row: int) -> None:
        place = self._table.tokens.rows[row].item
        if isinstance(place, ChipPlace):
            self._chips.set_current(place)
            self._choose(place, is_boundary=False)

    def _choose(self, place: ChipPlace, *, is_boundary: bool) -> None:
        self._chosen = (place, is_boundary)
        self._show_ladder()
        self._show_unknown()
        word = self._word_at(place)
        if word is not None and word.unknown is None:
            self._model.set_focus(Focus("token", text=word.pieces[place.chip].token))

    def _on_why_token_chosen(self, token: str) -> None:
        self._model.set_focus(Focus("token", text=token))

    def _on_model_moment_changed(self, _moment: object) -> None:
        self.refresh_later(self._delay())

    def _on_model_merges_appended(self, _first: object, _last: object) -> None:
        self.refresh_later(self._delay())

    def _on_model_state_changed(self, _state: object) -> None:
        self.refresh_later()

    def _on_model_run_reset(self) -> None:
        self._note = UnknownNote(self._model.counts)
        self._strip_flow.forget()
        self.refresh_later()

    def _on_model_focus_changed(self, focus: Focus | None) -> None:
        tokens = frozenset[str]()
        if focus is not None:
            tokens = frozenset({focus.left, focus.right} if focus.kind == "pair" else {focus.text})
        self._chips.set_focused_tokens(tokens)
