"""Why is the text split in this way? The ladder of pieces tried at one place in a word, and why a word is `[UNK]`.

The ladder, below a chip or gap that was chosen, shows a trace of the tokenizer: what longest match tried, down to what
it took; a tried piece that only later becomes a token shows when. The box below the chips gives the exact reason why a
word is unknown, in sentences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QVBoxLayout, QWidget

from wordpiece_studio.session.plural import counted, filled, plural
from wordpiece_studio.session.table_model import LEFT, RecordTableModel, TableColumn, each_row
from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import (
    WholeLabel,
    explain,
    plain_label,
    set_plain_text,
    set_plain_tooltip,
    tooltip_text,
    wrapped_height,
)
from wordpiece_studio.ui.widgets.table import TableView, needed_height
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.tokenizer.encoding import UnknownReason
    from wordpiece_studio.tokenizer.tokenizer import Trial, WordTrace
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.segmentation import TrainingInput
    from wordpiece_studio.ui.widgets.theme import Theme

_tr = partial(QCoreApplication.translate, "UnknownNote")
# Returns the step at which a token is born, 0 for the alphabet and special tokens, None if it never is.
BirthStep = Callable[[str], int | None]


class Rung(NamedTuple):
    """A tried piece, whether it is a token, when it was born, and what a screen reader says."""

    candidate: str
    matched: bool
    when: str
    spoken: str

    @property
    def texts(self) -> tuple[str, str, str]:
        return token_text(self.candidate), "✓" if self.matched else "✗", self.when

    @property
    def inks(self) -> tuple[str, str, str]:
        return ("text", "success", "success") if self.matched else ("faint", "error", "faint")


def _column(place: int, title: str, **how: Any) -> TableColumn[Sequence[Rung]]:
    ink = each_row(lambda rung: rung.inks[place])
    return TableColumn(title, each_row(lambda rung: rung.texts[place]), align=LEFT, ink=ink, **how)


class WhyHere(QWidget):
    def __init__(self, theme: Theme, choose: Callable[[str], None], parent: QWidget | None = None) -> None:
        """`choose` is called with the token of a rung that is clicked."""
        super().__init__(parent)
        explain("longest-match", self)
        self._title = plain_label("", self, role="heading", wrap=True)
        columns = (
            _column(0, self.tr("Piece tried"), spoken=each_row(lambda rung: rung.spoken), entry="piece-tried",
                    width=lambda measure, _rungs: measure.text("n") * 18),
            _column(1, self.tr("Match"), width=lambda measure, _rungs: measure.text("✓") + 16),
            _column(2, self.tr("Created"), entry="step", stretch=1),
        )  # fmt: skip
        tip = each_row(lambda rung: tooltip_text(rung.spoken))
        self.rungs: RecordTableModel[Rung] = RecordTableModel(columns, self, tip=tip)
        name = self.tr("Pieces tried by longest match")
        self._table = TableView(self.rungs, theme, self, name=name, row_room=4, padding=3, has_heading=False)
        fill(QVBoxLayout(self), self._title, (self._table, 1), 0, margins=(14, 6, 6, 2), spacing=4)
        self._table.item_chosen.connect(lambda row: choose(self.rungs.records[row].candidate))

    @property
    def title(self) -> str:
        return self._title.text()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [row.texts for row in self.rungs.records]

    def needed_height(self, most_rungs: int | None = None) -> int:
        rungs = len(self.rungs.records)
        return needed_height(self, self._title, self._table, rungs if most_rungs is None else min(rungs, most_rungs))

    def show_library(self, has_scores: bool) -> None:
        """Show that another library has cut the word, and where its scores are if it goes by probabilities."""
        text = self.tr("This word was split by the library that trained this run, which gives no reason.")
        if has_scores:
            text = self.tr("This is the most probable split. Double-click to see the best ones in Token details.")
        self._show(text)

    def show_special(self, token: str) -> None:
        """Show that a special token written out in the text is not matched at all."""
        text = self.tr("{token} is a special token: it is matched before the text is split into words.")
        self._show(text.format(token=token_text(token)))

    def show_chip(
        self, trace: WordTrace, chip: int, boundary: bool, birth_step: BirthStep, required: Sequence[str] = ()
    ) -> None:
        """Show the ladder of one token of a word, or of the `boundary` at its end.

        The only token of an unknown word stands for the place where it failed. `required` tokens were not born.
        """
        places, token = trace.positions, ""
        if trace.unknown is not None:
            place = places[-1] if places else None
            title = self.tr("Why “{word}” is unknown: nothing matches from character {position}")
            if place is None:
                title = self.tr("Why “{word}” is unknown: it has too many characters, so nothing was tried")
        else:
            place, token = places[chip] if chip < len(places) else None, token_text(trace.tokens[chip], 30)
            title = self.tr("Why “{token}” in “{word}” (from character {position})")
        position = 1 + (place.start if place is not None else 0)
        if boundary and trace.unknown is None:
            title = self.tr("Why “{word}” is split after character {position}")
            position = places[chip + 1].start if chip + 1 < len(places) else len(trace.word)
        title = title.format(word=token_text(trace.word, 30), token=token, position=number_text(position))
        tried = place.tried if place is not None else ()
        self._show(title, [self._rung(trial, birth_step(trial.candidate), required) for trial in tried])

    def _show(self, title: str, rungs: Sequence[Rung] = ()) -> None:
        set_plain_text(self._title, title)
        self.rungs.set_records(rungs)
        self._table.scrollToTop()
        self._table.setVisible(bool(rungs))  # else its least height would be taken from the chips

    def _rung(self, trial: Trial, born: int | None, required: Sequence[str]) -> Rung:
        candidate = token_text(trial.candidate)
        if trial.matched:
            when, spoken = self.tr("in the alphabet"), self.tr("{candidate} matches: in the alphabet")
            if trial.candidate in required:
                when, spoken = self.tr("required"), self.tr("{candidate} matches: required")
            if born:
                when = self.tr("created at step {step}").format(step=number_text(born))
                spoken = self.tr("{candidate} matches: created at step {step}")
            spoken = spoken.format(candidate=candidate, step=number_text(born or 0))
        else:
            when = self.tr("not created until step {step}").format(step=number_text(born)) if born else ""
            spoken = self.tr("{candidate} is not a token").format(candidate=candidate)
        return Rung(trial.candidate, trial.matched, when, spoken)


_LONGEST_WORD = 100
_SIDE, _TOP = 8, 5


class UnknownNote:
    """Writes the reasons for the unknown words of one run, and caches what it finds out about a symbol."""

    def __init__(self, counts: WordCounts | None, history: MergeHistory | None) -> None:
        self._history = history
        self._words_with = cache(partial(_words_with, counts, history))  # of a method, it would hold itself

    def text(self, trace: WordTrace, unk_token: str, total: int) -> str:
        """Return why a word is unknown, and what becomes of the unknown words, of which the text has `total`."""
        if trace.unknown is None:
            return ""
        lines = [self._reason(trace.word, trace.unknown, unk_token)]
        if total > 1:
            lines.append(counted(total, "The text has 1 unknown word.", "The text has {count} unknown words in all."))
        lines.append(_tr("The whole word becomes unknown, not only the missing part."))
        return "\n".join(lines)

    def _reason(self, word: str, unknown: UnknownReason, unk_token: str) -> str:
        character, count = word[unknown.position] if unknown.position < len(word) else unknown.symbol, 0
        if unknown.kind == "too-long":
            text = plural(
                len(word),
                "“{word}” is {unk}: it has 1 character, and words longer than {limit} are not split.",
                "“{word}” is {unk}: it has {length} characters, and words longer than {limit} are not split.",
            )
        elif self._history is not None and not self._history.is_whole:  # the words are still being read
            text = _tr("“{word}” is {unk}: nothing in the vocabulary matches from character {position}.")
        else:
            text, count = self._template(character, unknown), sum(self._words_with(character))
        return filled(
            text, word=token_text(word, 30 if unknown.kind == "too-long" else 40), unk=unk_token,
            symbol=token_text(unknown.symbol), character=token_text(character), position=unknown.position + 1,
            length=len(word), limit=_LONGEST_WORD, count=count,
        )  # fmt: skip

    def _template(self, character: str, unknown: UnknownReason) -> str:
        first, later = self._words_with(character)
        if not first + later and unknown.position:
            return _tr("“{word}” is {unk}: {character} (character {position}) does not occur in the training corpus.")
        if not first + later:
            return _tr("“{word}” is {unk}: the symbol {symbol} does not occur in the training corpus.")
        if unknown.position and not later:
            return plural(
                first,
                "“{word}” is {unk}: the symbol {symbol} (character {position}) does not occur in the training corpus; "
                "{character} occurs there only at the start of words (1 word).",
                "“{word}” is {unk}: the symbol {symbol} (character {position}) does not occur in the training corpus; "
                "{character} occurs there only at the start of words ({count} words).",
            )
        if not unknown.position and not first:
            return plural(
                later,
                "“{word}” is {unk}: no word in the training corpus starts with {symbol}, which occurs only inside "
                "words (1 word).",
                "“{word}” is {unk}: no word in the training corpus starts with {symbol}, which occurs only inside "
                "words ({count} words).",
            )
        return plural(
            first + later,
            "“{word}” is {unk}: the symbol {symbol} (character {position}) occurs in 1 word of the corpus but was left "
            "out of the alphabet.",
            "“{word}” is {unk}: the symbol {symbol} (character {position}) occurs in {count} words of the corpus but "
            "was left out of the alphabet.",
        )


def _words_with(counts: WordCounts | None, history: MergeHistory | None, character: str) -> tuple[int, int]:
    if history is None:
        return 0, 0
    found = _trained_words_with(character, history.input)
    if found == (0, 0) and counts is not None and history.word_count < len(counts):
        # Words were dropped from training because a character was left out of the alphabet.
        return 0, sum(character in word for word in counts.words)
    return found


def _trained_words_with(character: str, trained: TrainingInput) -> tuple[int, int]:
    spelled = {character, character + (trained.config.end_of_word_suffix or "")}
    symbols = [index for index, symbol in enumerate(trained.symbols) if symbol.text in spelled]
    if not symbols:
        return 0, 0
    places = np.concatenate([np.flatnonzero(trained.cells == symbol) for symbol in symbols])
    words = np.searchsorted(trained.word_starts, places, side="right") - 1
    begins = places == trained.word_starts[words]
    return len(np.unique(words[begins])), len(np.unique(words[~begins]))


class UnknownBox(WholeLabel):
    """Shows all sentences; in a low pane, not the last, which is always the same; the tooltip has them all."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, role="error")
        self.setObjectName("banner")
        explain("unknown-token", self)
        self.setProperty("kind", "error")
        self.setContentsMargins(_SIDE, _TOP, _SIDE, _TOP)
        self.setIndent(0)
        self.whole_text, self._is_low = "", False

    def show_text(self, text: str, *, is_low: bool = False) -> None:
        self.whole_text, self._is_low = text, is_low
        set_plain_tooltip(self, text)
        self.fit()

    def heightForWidth(self, width: int) -> int:
        return wrapped_height(self, self._shown(), width - 2 * (_SIDE + 1)) + 2 * (_TOP + 1)

    def _shown(self) -> str:
        return " ".join(self.whole_text.split("\n")[:-1]) if self._is_low else self.whole_text

    def fit(self) -> None:
        set_plain_text(self, self._shown())
        self.setFixedHeight(self.heightForWidth(self.width()))
