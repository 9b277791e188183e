"""What the palette finds and does: commands from the menus, steps and tokens from the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from wordpiece_studio.session.records import Selection
from wordpiece_studio.ui.dialogs.palette import (
    Entry,
    Palette,
    asks_for_token,
    command_entries,
    matching_entries,
    step_entry,
    token_entries,
)
from wordpiece_studio.ui.widgets.later import later

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.trainer_model import TrainerModel
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    from wordpiece_studio.ui.actions import Actions
    from wordpiece_studio.ui.menus import Menus
    from wordpiece_studio.ui.widgets.dock_area import DockArea
    from wordpiece_studio.ui.widgets.theme import Theme


class PaletteController(QObject):
    """Opens the palette, fills it as the user types, and carries out what is chosen in it."""

    def __init__(
        self, window: QWidget, model: TrainerModel, docks: DockArea, menus: Menus, actions: Actions, theme: Theme
    ) -> None:
        super().__init__(window)
        self._window = window
        self._model = model
        self._docks = docks
        self._menus = menus
        self._actions = actions
        self._theme = theme
        self._palette: Palette | None = None
        self._commands: list[Entry] = []
        self._vocabulary: Vocabulary | None = None
        self._tokens: list[str] = []
        self._chosen: Entry | None = None
        actions.command_palette.triggered.connect(self._on_command_palette_triggered)

    @property
    def palette(self) -> Palette | None:
        """The palette, if it was ever opened."""
        return self._palette

    def found(self, text: str) -> list[Entry]:
        """Return the entries that match `text`, the best first."""
        tokens = token_entries(text, self._vocabulary, self._tokens)
        if tokens and asks_for_token(text):
            return tokens
        step = step_entry(text, self._model.merge_count)
        commands = matching_entries(self._commands, text)
        return [*([step] if step is not None else []), *commands, *tokens]

    def _on_command_palette_triggered(self) -> None:
        palette = self._palette
        if palette is None:
            palette = self._palette = Palette(self._theme, self._window)
            palette.text_changed.connect(self._on_palette_text_changed)
            palette.chosen.connect(self._on_palette_chosen)
        if palette.isVisible():
            palette.leave()
            return
        self._menus.refresh()
        placed = [each for each in self._menus.placed() if each[1] is not self._actions.command_palette]
        self._commands = command_entries(placed)
        self._vocabulary = self._model.vocabulary_at(self._model.step)
        self._tokens = self._vocabulary.tokens if self._vocabulary is not None else []
        palette.begin()

    def _on_palette_text_changed(self, text: str) -> None:
        if self._palette is not None:
            self._palette.show_entries(self.found(text))

    def _on_palette_chosen(self, entry: Entry) -> None:
        self._chosen = entry
        later(self, 0, self._do_chosen)  # when the focus is back where it was

    def _do_chosen(self) -> None:
        entry, self._chosen = self._chosen, None
        if entry is None:
            return
        panes = {panel.toggleViewAction(): panel for panel in self._docks.panels}
        if entry.action in panes:
            panes[entry.action].come_to_front(True)  # the command would hide one that is already shown
        elif entry.action is not None:
            entry.action.trigger()
        elif entry.step is not None:
            self._model.seek(entry.step)
        elif entry.token is not None:
            self._model.set_selection(Selection("token", text=entry.token))
            self._docks.bring("token_details")
