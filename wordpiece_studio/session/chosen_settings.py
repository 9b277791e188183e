"""The settings of the next training: as the user chose them, or as they were suggested for the corpus."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.segmentation import minimum_vocab_size

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import Objective

SUGGESTED_OBJECTIVE: Objective = "likelihood"
"""For a corpus of the user's own, where the score needs a floor that no one knows beforehand."""
_FIRST_SIZE = 70
_LARGE_TEXT = 5000
"""Characters; a text that is longer and has at least doubled was pasted or dropped, not typed."""
_SIZES = (500, 1000, 2000, 4000, 8000, 16_000, 30_000)
_TOY_BYTES = 5000
_TOY_MERGES = 25
_MANY_BYTES = 1_000_000
_OFTEN = 6
"""Words that occur less often are mostly numbers, names and codes."""
_MOST_WORDS = 20_000
"""Up to so many distinct words the smallest size is found as a training would; of more, from their characters."""


class ChosenSettings(QObject):
    """The settings as the fields show them; a value that the trainer refuses is kept until it is corrected.

    Signals
    -------
    changed()
        The user changed a setting.
    replaced()
        The program changed settings, or what is suggested: fields must show them afresh.
    """

    changed = Signal()
    replaced = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._base = TrainingConfig(vocab_size=_FIRST_SIZE)
        self._values: dict[str, Any] = {}  # in place of those of the base
        self.suggestion = Suggestion(self)

    def config(self) -> TrainingConfig:
        return dataclasses.replace(self._base, **self._values)

    def valid_config(self) -> TrainingConfig:
        """Return the settings as they stand; where the trainer refuses a value, those that were set last."""
        try:
            return self.config()
        except StudioError:
            return self._base

    def set_config(self, config: TrainingConfig) -> None:
        self._base, self._values = config, {}
        self.replaced.emit()

    def choose(self, **values: Any) -> None:
        """Take the values that the user chose, by the names of the fields of `TrainingConfig`."""
        self._values.update(values)
        self.suggestion.note_choice(is_of_objective="objective" in values)
        self.changed.emit()

    @property
    def target_size(self) -> int:
        """The vocabulary size to reach; 0 is no limit."""
        return self._value("vocab_size") or 0

    def set_target_size(self, size: int) -> None:
        if size != self.target_size:
            self.choose(vocab_size=size or None)
            self.replaced.emit()

    @property
    def limits(self) -> tuple[int, int]:
        """The vocabulary size to reach, 0 for no limit, and the smallest count of a pair."""
        return self.target_size, self._value("min_frequency")

    def set_values(self, **values: Any) -> None:
        """Replace values that the user did not choose, by the names of the fields of `TrainingConfig`."""
        self._values.update(values)
        self.replaced.emit()

    @property
    def special_tokens(self) -> tuple[str, ...]:
        tokens: tuple[str, ...] = self._value("special_tokens")
        return tokens

    @property
    def objective(self) -> str:
        return str(self._value("objective"))

    def _value(self, name: str) -> Any:
        return self._values.get(name, getattr(self._base, name))


@dataclass(frozen=True, slots=True)
class SuggestedSettings:
    """A vocabulary size, 0 for no limit, and the smallest count of a pair, 0 for none."""

    vocab_size: int
    min_frequency: int = 0


class Suggestion(QObject):
    """Suggests objective and limits once for each corpus that is opened, never in place of what was chosen for it."""

    def __init__(self, settings: ChosenSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._is_awaited = False
        self._is_users = False  # the user has chosen the size since this corpus was opened
        self._is_objective_users = False  # likewise
        self._is_objective_suggested = False
        self._characters = 0
        self._shown: SuggestedSettings | None = None
        self._floor = 0  # the smallest count that was suggested, not chosen

    @property
    def words(self) -> str:
        """What is suggested, as long as the settings are that and nothing was trained with it; else empty."""
        if self._shown is None:
            return ""
        size = self.tr("size {size}").format(size=f"{self._shown.vocab_size:,}")
        floor = self.tr("min. frequency {count}").format(count=self._shown.min_frequency)
        parts = (
            self.tr("Likelihood") if self._is_objective_suggested else "",
            size if self._shown.vocab_size else self.tr("no size limit"),
            floor if self._shown.min_frequency else "",
        )
        return self.tr("Suggested for this corpus: {settings}").format(settings=" · ".join(filter(None, parts)))

    def expect_text(self) -> None:
        """Another corpus was opened: make a suggestion when it is counted."""
        self._is_awaited, self._is_users, self._shown = True, False, None
        self._is_objective_users = self._is_objective_suggested = False

    def withdraw(self) -> None:
        """Suggest nothing: the limits are known, or were used."""
        self._is_awaited = False
        _, self._floor = self._settings.limits
        self._set(None)

    def keep_saved(self) -> None:
        """Suggest nothing for this corpus: the settings are those that it was saved with."""
        self.withdraw()
        self._is_users = self._is_objective_users = True

    def note_training(self) -> None:
        """The suggestion was used: there is nothing more to say about it."""
        self._set(None)

    def take_counts(self, counts: WordCounts) -> None:
        characters, before = counts.statistics.characters, self._characters
        self._characters = characters
        is_pasted = characters > _LARGE_TEXT and characters > 2 * before and not self._is_users
        if self._is_awaited or is_pasted:
            self._is_awaited = False
            if len(counts):
                self._is_objective_suggested = not self._is_objective_users
                self._suggest(counts)

    def take_refusal(self, counts: WordCounts) -> bool:
        """Suggest another size where one turned out too small that the user did not choose; return whether it did."""
        return not self._is_users and self._suggest(counts)

    def note_choice(self, *, is_of_objective: bool = False) -> None:
        """The user changed a setting; `is_of_objective`: which pair is best."""
        if is_of_objective:
            self._is_objective_users, self._is_objective_suggested = True, False
            self._set(None)
            return
        size, floor = self._settings.limits
        if self._shown is None or size != self._shown.vocab_size:
            self._is_users = True
        if self._shown is not None and (size != self._shown.vocab_size or floor != self._floor):
            self._set(None)

    def _suggest(self, counts: WordCounts) -> bool:
        try:
            suggested = suggested_settings(counts, self._settings.config())
        except StudioError:
            return False  # training says what is wrong with the settings
        self._is_awaited = False
        _, present = self._settings.limits
        is_ours = present == self._floor
        floor = suggested.min_frequency if is_ours else present  # a floor that the user chose stays
        self._floor = floor if is_ours else 0
        self._shown = SuggestedSettings(suggested.vocab_size, floor if is_ours else 0)
        objective = SUGGESTED_OBJECTIVE if self._is_objective_suggested else self._settings.objective
        size = suggested.vocab_size or None
        self._settings.set_values(vocab_size=size, min_frequency=floor, objective=objective)
        return True

    def _set(self, shown: SuggestedSettings | None) -> None:
        if shown != self._shown:
            self._shown = shown
            self._settings.replaced.emit()


def suggested_settings(counts: WordCounts, config: TrainingConfig) -> SuggestedSettings:
    """Return limits for training on this corpus with these settings.

    A toy text gets a few merges to look at. For a larger one, the size is the largest usual one that has no more tokens
    than special tokens, alphabet and words that occur often, so that the last merges still make words, in whatever
    script; at least a quarter more than special tokens and alphabet. Above a megabyte a pair must occur twice.
    """
    size = max(counts.statistics.bytes, counts.statistics.characters)
    least = _least_size(counts, config)
    if size <= _TOY_BYTES:
        return SuggestedSettings(-(-(least + _TOY_MERGES) // 5) * 5)
    wanted = least * 5 // 4
    fitting = next((usual for usual in _SIZES if usual >= wanted), -(-wanted // 1000) * 1000)
    most = least + int(np.count_nonzero(counts.counts >= _OFTEN))
    largest = max((usual for usual in _SIZES if usual <= most), default=0)
    return SuggestedSettings(max(fitting, largest), 2 if size > _MANY_BYTES else 0)


def _least_size(counts: WordCounts, config: TrainingConfig) -> int:
    if len(counts) <= _MOST_WORDS:
        return minimum_vocab_size(counts, config)
    return len(config.reserved_tokens) + counts.alphabet_size
