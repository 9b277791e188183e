"""The focus in the corpus: the words in view that hold it are marked, and a word can be put into the focus.

Only what is seen is looked at; a word is split into tokens as the vocabulary of the step splits it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.records import Focus
from wordpiece_studio.session.selection import made_by
from wordpiece_studio.session.view_text import utf16_length

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QTextBlock

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.tokenizer.tokenizer import TokenizedWord, Tokenizer
    from wordpiece_studio.ui.panes.corpus.corpus_editor import CorpusEditor

_SOON_MS, _LATER_MS = 0, 60
_LONGEST_BLOCK = 2000
"""Characters of a line that are looked at."""
_MOST_MARKS = 400


class CorpusFocus(QObject):
    """Keeps the marks of `editor` at the focus and at the step of `model`."""

    def __init__(self, model: TrainerModel, editor: CorpusEditor, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._editor = editor
        self._tokenized: dict[str, list[TokenizedWord]] = {}
        self._tokenizer: Tokenizer | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._mark)
        model.focus_changed.connect(self._on_model_focus_changed)
        model.step_changed.connect(self._on_model_step_changed)
        model.run_reset.connect(self._on_model_run_reset)
        editor.view_moved.connect(self._on_editor_view_moved)
        editor.word_wanted.connect(self._on_editor_word_wanted)

    def _mark(self) -> None:
        focus, editor = self._model.focus, self._editor
        tokenizer = self._model.tokenizer_at(self._model.step)
        if focus is None or tokenizer is None or not editor.isVisible():
            editor.set_focus_marks([])
            return
        holds = _holder_of(focus, tokenizer.vocabulary.continuing_subword_prefix)
        marks = []
        for block in editor.visible_blocks():
            for word in self._words(block, tokenizer):
                if word.word is not None and holds(word):
                    marks.append(_place(block, word))
        editor.set_focus_marks(marks[:_MOST_MARKS])

    def _words(self, block: QTextBlock, tokenizer: Tokenizer) -> list[TokenizedWord]:
        if tokenizer is not self._tokenizer:
            self._tokenizer, self._tokenized = tokenizer, {}
        text = block.text()[:_LONGEST_BLOCK]
        words = self._tokenized.get(text)
        if words is None:
            try:
                words = tokenizer.tokenize_words(text)
            except StudioError:  # whoever counts the words says so
                words = []
            self._tokenized[text] = words
        return words

    def _on_editor_word_wanted(self, position: int) -> None:
        tokenizer = self._model.tokenizer_at(self._model.step)
        block = self._editor.document().findBlock(position)
        for word in self._words(block, tokenizer) if tokenizer is not None else ():
            start, end = _place(block, word)
            if start <= position <= end and word.word is not None:
                self._model.set_focus(Focus("word", text=word.word.text))
                return

    def _look(self, delay_ms: int) -> None:
        if self._model.focus is not None or self._editor.has_focus_marks:
            self._timer.start(delay_ms)

    def _on_model_focus_changed(self, _focus: object) -> None:
        self._look(_SOON_MS)

    def _on_model_step_changed(self, _step: object) -> None:
        if not self._timer.isActive():
            self._look(_LATER_MS)

    def _on_model_run_reset(self) -> None:
        self._look(_LATER_MS)

    def _on_editor_view_moved(self) -> None:
        if not self._timer.isActive():
            self._look(_LATER_MS)


def _holder_of(focus: Focus, prefix: str) -> Callable[[TokenizedWord], bool]:
    """Return what tells whether a word holds the focus; a pair is found again in the token that it makes."""
    if focus.kind == "word":
        return lambda word: word.word is not None and word.word.text == focus.text
    if focus.kind == "token":
        return lambda word: any(piece.token == focus.text for piece in word.pieces)

    made = made_by(focus, prefix)

    def holds_pair(word: TokenizedWord) -> bool:
        tokens = [piece.token for piece in word.pieces]
        return made in tokens or (focus.left, focus.right) in itertools.pairwise(tokens)

    return holds_pair


def _place(block: QTextBlock, word: TokenizedWord) -> tuple[int, int]:
    """Return where a word lies in the editor, in UTF-16 units."""
    text, start, end = block.text(), word.pieces[0].start, word.pieces[-1].end
    before = utf16_length(text[:start])
    return block.position() + before, block.position() + before + utf16_length(text[start:end])
