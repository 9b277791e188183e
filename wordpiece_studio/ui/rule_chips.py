"""A row of chips under the settings: what is required, forbidden and chosen for the next training, to be taken away."""

from __future__ import annotations

import math
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget

from wordpiece_studio.ui.widgets.pane import fill
from wordpiece_studio.ui.widgets.plain import Fitted, menu_text, plain_label, tool_button
from wordpiece_studio.ui.widgets.token_text import rules_of

if TYPE_CHECKING:
    from PySide6.QtWidgets import QToolButton

    from wordpiece_studio.session.session import ChosenSettings
    from wordpiece_studio.ui.widgets.token_text import TrainingRule

_MOST = 20  # chips; the other rules are in the menu at the end
_MOST_LISTED = 200
_GAP = 6


class RuleChips(Fitted, QWidget):
    """As many chips as fit into one line, and a menu with the others; hidden without rules."""

    def __init__(self, chosen: ChosenSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen = chosen
        self._last = math.inf
        self._rules: list[TrainingRule] | None = None  # until it is shown for the first time
        self.chips: list[QToolButton] = []
        self._caption = plain_label(self.tr("Rules"), self, role="hint", entry="rule")
        self.more = tool_button(
            "⋯", self.tr("The other rules; choose one to remove it"), self, role="rule", takes_focus=True,
            menu=QMenu(self),
        )  # fmt: skip
        self._row = fill(QHBoxLayout(self), self._caption, self.more, 1, margins=(14, 0, 14, 5), spacing=_GAP)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        chosen.changed.connect(self._show)
        chosen.replaced.connect(self._show)
        self._show()

    def fit(self) -> None:
        room = self.width() - 2 * 14 - self._caption.sizeHint().width() - self.more.sizeHint().width() - _GAP
        for chip in self.chips:
            room -= chip.sizeHint().width() + _GAP
            chip.setVisible(room >= 0)
        left_out = (self._rules or [])[sum(not chip.isHidden() for chip in self.chips) :]
        self.more.setVisible(bool(left_out))
        self.more.menu().clear()
        for rule in left_out:
            self.more.menu().addAction(menu_text(rule.text), partial(self._remove, rule))

    def show_until(self, last: float) -> None:
        """Show no merges chosen for steps after the `last` one."""
        self._last = last
        self._show()

    def _show(self) -> None:
        rules = list(islice(rules_of(self._chosen.valid_config(), self._last), _MOST_LISTED))
        if rules == self._rules:
            return
        self._rules = rules
        for chip in self.chips:
            self._row.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = [self._chip(rule) for rule in rules[:_MOST]]
        for place, chip in enumerate(self.chips, 1):
            self._row.insertWidget(place, chip)
        self.setVisible(bool(rules))
        self.fit()

    def _chip(self, rule: TrainingRule) -> QToolButton:
        tip = self.tr("{rule} Click to remove this rule from the next training.").format(rule=rule.tip)
        name, text = self.tr("Remove the rule {rule}").format(rule=rule.text), f"{rule.text}  ✕".replace("&", "&&")
        act = partial(self._remove, rule)
        return tool_button(text, tip, self, act, name=name, role="rule", takes_focus=True)

    def _remove(self, rule: TrainingRule) -> None:
        if rule.name == "base_merges":
            self._chosen.choose(base_merges=(), base_tokens=())
            return
        items = getattr(self._chosen.valid_config(), rule.name)
        self._chosen.choose(**{rule.name: tuple(item for item in items if item != rule.item)})
