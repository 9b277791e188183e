"""What is said of one token of the live text: under its chip, in a row of the table, to a screen reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from wordpiece_studio.session.live_text import LiveLine, LiveText
    from wordpiece_studio.session.live_timeline import TextSummary
    from wordpiece_studio.tokenizer.tokenizer import Piece, TokenizedWord
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.ui.panes.tokenization.token_options import TokenOptions

_NOTHING = "–"


class PieceTexts(QObject):
    """Writes ids, offsets and birth steps; the run that made the tokens says when each was born."""

    def __init__(self, live: LiveText, options: TokenOptions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._history: MergeHistory | None = None
        self._merges = 0
        self._live = live
        self._options = options
        self._captions: dict[int, tuple[str, ...]] | None = {}  # by id; None where they depend on the place
        options.changed.connect(self._forget)

    def show_run(self, history: MergeHistory | None, merges: int) -> None:
        """Write of the tokens of this run, as far as so many merges."""
        if history is not self._history:
            self._forget()
        self._history, self._merges = history, merges

    def _forget(self) -> None:
        self._captions = None if self._options.offsets else {}

    @property
    def unit_name(self) -> str:
        """What offsets are counted in."""
        return self._options.unit_name

    def birth_step(self, token: str) -> int | None:
        """Return the step at which a token is born in the whole training, 0 for the alphabet, None if it never is."""
        history = self._history
        if history is None:
            return None
        token_id = history.vocabulary(self._merges).id_of(token)
        return history.birth_step(token_id) if token_id is not None else None

    def summary(self, found: TextSummary) -> str:
        """Return how many words and tokens a text has, and how offsets are counted where they are shown."""
        words = self.tr("1 word") if found.words == 1 else self.tr("{count} words")
        tokens = self.tr("1 token") if found.tokens == 1 else self.tr("{count} tokens")
        text = self.tr("{words}, {tokens} · {fertility} tokens a word · {unknown} unknown").format(
            words=words.format(count=number_text(found.words)),
            tokens=tokens.format(count=number_text(found.tokens)),
            fertility=f"{found.fertility:.2f}",
            unknown=number_text(found.unknown),
        )
        if not self._options.offsets:
            return text
        return text + " · " + self.tr("offsets in {unit}, from 0").format(unit=self.unit_name)

    def captions(self, line: LiveLine, piece: Piece) -> tuple[str, ...]:
        """Return the lines under a chip, as the options have it."""
        known = self._captions.get(piece.id) if self._captions is not None else None
        if known is not None:
            return known
        captions = []
        if self._options.ids:
            captions.append(_id_text(piece))
        if self._options.offsets:
            captions.append(self._offsets_text(line, piece))
        if self._options.births:
            captions.append(self.tr("step {step}").format(step=self._born_text(piece)))
        if self._captions is not None:
            self._captions[piece.id] = tuple(captions)
        return tuple(captions)

    def row(self, line: LiveLine, word: TokenizedWord, chip: int) -> tuple[str, ...]:
        """Return token, id, offsets, birth step and word of one token."""
        piece = word.pieces[chip]
        text = token_text(word.word.text) if word.word is not None else ""
        offsets = self._offsets_text(line, piece)
        return token_text(piece.token), _id_text(piece), offsets, self._born_text(piece), text

    def spoken(self, line: LiveLine, word: TokenizedWord, chip: int) -> str:
        """Return what a screen reader says of one token."""
        token, number, offsets, born, text = self.row(line, word, chip)
        said = self.tr("token {token}, id {id}, {unit} {offsets}, born at step {born}, in the word {word}")
        return said.format(token=token, id=number, unit=self.unit_name, offsets=offsets, born=born, word=text)

    def _born_text(self, piece: Piece) -> str:
        history = self._history
        return number_text(history.birth_step(piece.id)) if history is not None and piece.id >= 0 else _NOTHING

    def _offsets_text(self, line: LiveLine, piece: Piece) -> str:
        start, end = self._live.offsets_in(self._options.unit, line, piece.start, piece.end)
        return f"{number_text(start)}–{number_text(end)}"


def _id_text(piece: Piece) -> str:
    return number_text(piece.id) if piece.id >= 0 else _NOTHING
