"""What is said of one token of the watched text: under its chip, in a row of the table, to a screen reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.ui.look.row_table import TableRow
from wordpiece_studio.ui.look.token_text import number_text, token_text
from wordpiece_studio.ui.tokenization.chip_blocks import ChipPlace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.core.encoder import TokenizedWord
    from wordpiece_studio.model.trainer_model import TrainerModel
    from wordpiece_studio.model.watched_text import TextSummary, WatchedLine
    from wordpiece_studio.ui.tokenization.chip_blocks import FlowLine, FlowPiece
    from wordpiece_studio.ui.tokenization.token_options import TokenOptions

_NOTHING = "–"


class PieceTexts(QObject):
    """Writes ids, offsets and birth steps; it asks the model's history when each token was born."""

    def __init__(self, model: TrainerModel, options: TokenOptions, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._options = options

    def birth_step(self, token: str) -> int | None:
        """Return the step at which a token is born in the whole training, 0 for the alphabet, None if it never is."""
        history = self._model.history
        if history is None:
            return None
        token_id = history.vocabulary(self._model.merge_count).id_of(token)
        return history.birth_step(token_id) if token_id is not None else None

    def summary(self, found: TextSummary) -> str:
        """Return how many words and tokens a text has, and how offsets are counted where they are shown."""
        text = self.tr("{words} words, {tokens} tokens · {fertility} tokens a word · {unknown} unknown").format(
            words=number_text(found.words),
            tokens=number_text(found.tokens),
            fertility=f"{found.fertility:.2f}",
            unknown=number_text(found.unknown),
        )
        return text + " · " + self.tr("offsets in code points from 0") if self._options.offsets else text

    def captions(self, line: FlowLine, piece: FlowPiece) -> tuple[str, ...]:
        """Return the lines under a chip, as the options have it."""
        captions = []
        if self._options.ids:
            captions.append(_id_text(piece))
        if self._options.offsets:
            captions.append(_offsets_text(line, piece))
        if self._options.births:
            captions.append(self.tr("step {step}").format(step=self._born_text(piece)))
        return tuple(captions)

    def rows(self, lines: Sequence[WatchedLine]) -> list[TableRow]:
        """Return a row for each token of the text."""
        return [
            self.row(line, word, ChipPlace(index, word_index, chip))
            for index, line in enumerate(lines)
            for word_index, word in enumerate(line.words)
            for chip in range(len(word.pieces))
        ]

    def row(self, line: WatchedLine, word: TokenizedWord, place: ChipPlace) -> TableRow:
        """Return token, id, offsets, birth step and word of one token."""
        piece = word.pieces[place.chip]
        text = token_text(word.word.text) if word.word is not None else ""
        texts = (token_text(piece.token), _id_text(piece), _offsets_text(line, piece), self._born_text(piece), text)
        return TableRow(texts, item=place)

    def spoken(self, line: WatchedLine, word: TokenizedWord, place: ChipPlace) -> str:
        """Return what a screen reader says of one token."""
        token, number, offsets, born, text = self.row(line, word, place).texts
        said = self.tr("token {token}, id {id}, code points {offsets}, born at step {born}, in the word {word}")
        return said.format(token=token, id=number, offsets=offsets, born=born, word=text)

    def _born_text(self, piece: FlowPiece) -> str:
        history = self._model.history
        return number_text(history.birth_step(piece.id)) if history is not None and piece.id >= 0 else _NOTHING


def _id_text(piece: FlowPiece) -> str:
    return number_text(piece.id) if piece.id >= 0 else _NOTHING


def _offsets_text(line: FlowLine, piece: FlowPiece) -> str:
    return f"{number_text(line.start + piece.start)}–{number_text(line.start + piece.end)}"
