"""Fills in suggested limits when another corpus is opened, and shows that they are suggestions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.suggested_settings import SuggestedSettings, propose

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.ui.panes.training_bar.training_settings import TrainingSettings

_LARGE_TEXT = 5000
"""Characters; a text that has more and has more than doubled was pasted or dropped, not typed."""


class SuggestedSettingsController(QObject):
    """Suggests settings once for each corpus that is opened, and never overrides a size that was chosen for it."""

    def __init__(self, settings: TrainingSettings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._is_awaited = False
        self._is_users = False  # the user has chosen the size since this corpus was opened
        self._characters = 0
        self._shown: SuggestedSettings | None = None
        self._floor = 0  # the minimum frequency that was suggested, not chosen
        settings.changed.connect(self._on_settings_changed)

    @property
    def words(self) -> str:
        """The suggestion in words, while the fields still hold it and nothing was trained with it; else empty."""
        if self._shown is None:
            return ""
        size = f"{self._shown.vocab_size:,}"
        if not self._shown.vocab_size:
            return self.tr("no size limit: suggested for this corpus")
        if self._shown.min_frequency:
            text = self.tr("size {size}, min. pairs {count}: suggested for this corpus")
            return text.format(size=size, count=self._shown.min_frequency)
        return self.tr("size {size} suggested for this corpus").format(size=size)

    def expect_text(self) -> None:
        """Another corpus was opened: suggest settings when it is counted."""
        self._is_awaited, self._is_users, self._shown = True, False, None

    def offer(self, vocab_size: int) -> None:
        """Suggest the size that is known to show a sample well; 0 means no limit."""
        self._show(SuggestedSettings(vocab_size))

    def take_known(self) -> None:
        """The limits of this corpus are already set."""
        self._is_awaited, self._shown = False, None
        self._settings.set_hint("")

    def take_counts(self, counts: WordCounts) -> None:
        """Suggest settings for the corpus that was counted, if it is a new one."""
        characters, before = counts.statistics.characters, self._characters
        self._characters = characters
        is_pasted = characters > _LARGE_TEXT and characters > 2 * before and not self._is_users
        if not self._is_awaited and not is_pasted:
            return
        self._is_awaited = False
        if len(counts):
            try:
                self._show(propose(counts, self._settings.config()))
            except StudioError:
                return  # training says what is wrong with the settings

    def take_refusal(self, counts: WordCounts) -> bool:
        """Suggest again where the size turned out too small, unless the user chose it; return whether that was done."""
        if self._is_users:
            return False
        try:
            self._show(propose(counts, self._settings.config()))
        except StudioError:
            return False
        return True

    def trained(self) -> None:
        """The suggested settings were used: there is nothing more to say about them."""
        self._shown = None
        self._settings.set_hint("")

    def _show(self, suggested_settings: SuggestedSettings) -> None:
        self._is_awaited = False
        _, present = self._settings.limits
        is_ours = present == self._floor
        floor = suggested_settings.min_frequency if is_ours else present  # a floor that the user chose stays
        self._floor = floor if is_ours else 0
        self._settings.set_limits(suggested_settings.vocab_size, floor)
        self._shown = SuggestedSettings(suggested_settings.vocab_size, floor if is_ours else 0)
        self._settings.set_hint(self.words)

    def _on_settings_changed(self) -> None:
        size, floor = self._settings.limits
        if self._shown is None or size != self._shown.vocab_size:
            self._is_users = True
        if self._shown is not None and (size != self._shown.vocab_size or floor != self._floor):
            self._shown = None
            self._settings.set_hint("")
