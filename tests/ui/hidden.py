"""Everything that a window says or shows to anyone who looks into it, by whatever way, and two runs that differ later.

Two runs are *twins up to a step* if all their merges up to there are the same, and the next one is not. What a window
says of one while its future is hidden must be what it says of the other: then it depends on nothing that is hidden.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QObject, Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QHeaderView, QScrollBar, QTabBar, QWidget

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.table_model import VALUE_ROLE
from wordpiece_studio.storage.project.contents import Run, RunOrigin
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer
from wordpiece_studio.ui.panes.timeline.timeline_plot import TimelinePlot
from wordpiece_studio.ui.widgets.chips import ChipFlow
from wordpiece_studio.ui.widgets.pane import EmptyState, Pane
from wordpiece_studio.ui.widgets.plain import FittingLabel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wordpiece_studio.training.history import MergeHistory

_TEXTS = (
    "text", "toolTip", "statusTip", "whatsThis", "accessibleName", "accessibleDescription", "windowTitle",
    "placeholderText", "currentText", "toPlainText", "title", "iconText", "maximum", "value",
)  # fmt: skip
_ROLES = (
    VALUE_ROLE, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole, Qt.ItemDataRole.StatusTipRole,
)  # fmt: skip
_MOST_ROWS = 400
_ACROSS = Qt.Orientation.Horizontal


def said(window: QWidget) -> list[str]:
    """Return all texts, each with where it stands, of everything in a window and of its commands.

    Panes behind others are included; parts that a pane has put away itself are not: it fills them when they are due.
    """
    found: list[str] = []
    for part in [window, *window.findChildren(QObject)]:
        if isinstance(part, QAction) or (isinstance(part, QWidget) and _is_in_use(part)):
            place = _place_of(part)
            found += [f"{place} {text}" for text in _said_by(part)]
    return found


def _is_in_use(part: QWidget) -> bool:
    if isinstance(part.parentWidget(), EmptyState):  # where there is little room, it leaves out parts of a sentence
        part = part.parentWidget()
    around: QObject | None = part
    while around is not None and not isinstance(around, Pane):
        if isinstance(around, QComboBox) and around is not part:  # Qt makes its list when it is first asked about it
            return False
        around = around.parent()
    is_scrolling = isinstance(part, QScrollBar) or part.objectName() in ("ScrollLeftButton", "ScrollRightButton")
    return not is_scrolling and (around is None or around is part or part.isVisibleTo(around))


def _place_of(part: QObject) -> str:
    names = []
    each: QObject | None = part
    while each is not None:
        names.append(each.objectName() or type(each).__name__)
        each = each.parent()
    return "/".join(reversed(names[:-1]))


def _said_by(part: QObject) -> Iterator[str]:
    if isinstance(part, FittingLabel):
        yield f"{part.forms} {part.toolTip()} {part.accessibleName()}"
        return
    for name in _TEXTS:
        method: Any = getattr(part, name, None)
        if callable(method):
            try:
                text = method()
            except TypeError:  # it takes the number of an item
                continue
            if text:
                yield f"{name}={text}"
        elif isinstance(method, str):
            yield f"{name}={method}"
    if isinstance(part, QTabBar):
        for tab in range(part.count()):
            yield f"tab {part.tabText(tab)} {part.tabToolTip(tab)} {part.accessibleTabName(tab)}"
    if isinstance(part, QAbstractItemView) and not isinstance(part, QHeaderView) and part.model() is not None:
        yield from _of_model(part.model())
    if isinstance(part, ChipFlow):
        yield from (f"chip {item}" for item in part.items)
    if isinstance(part, TimelinePlot):
        yield f"{part.values.tolist()} {part.marks} {part.callout} {len(part.lanes)}"
    if isinstance(part, QAction):
        yield str(part.property("reason") or "")
    if isinstance(part, QWidget) and (interface := QAccessible.queryAccessibleInterface(part)) is not None:
        yield from filter(
            None, (interface.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Description))
        )


def _of_model(model: QAbstractItemModel) -> Iterator[str]:
    for column in range(model.columnCount()):
        yield f"heading {model.headerData(column, _ACROSS)}"
        yield f"heading {model.headerData(column, _ACROSS, Qt.ItemDataRole.ToolTipRole)}"
    yield f"{model.rowCount()} rows"
    for row in range(min(model.rowCount(), _MOST_ROWS)):
        for column in range(model.columnCount()):
            index = model.index(row, column)
            yield f"cell {row} {column} {[index.data(role) for role in _ROLES]}"


def random_words(seed: int) -> dict[str, int]:
    rng = random.Random(seed)
    letters = "abcdefgh"[: rng.randint(3, 8)]
    words = {"".join(rng.choices(letters, k=rng.randint(2, 7))): rng.randint(1, 30) for _ in range(rng.randint(6, 25))}
    return words if len(words) > 3 else random_words(seed + 1000)


def _history_of(
    counts: WordCounts, config: TrainingConfig, merges: int, chosen: tuple[tuple[int, str, str], ...]
) -> MergeHistory:
    """Return the history of a training that says nothing of the pairs which were chosen."""
    trainer = Trainer(counts, replace(config, chosen_merges=chosen))
    trainer.run(merges)
    history = trainer.history
    history.config = config
    object.__setattr__(history.input, "config", config)
    return history


def twins(seed: int) -> tuple[Run, Run, int]:
    """Return two runs that are twins up to a step; one of them is longer, and ended for another reason."""
    rng, counts = random.Random(seed), WordCounts.from_pairs(random_words(seed).items())
    objective: Any = rng.choice(["score", "likelihood", "count"])
    config = TrainingConfig(objective=objective)
    trainer = Trainer(counts, config)
    trainer.run(rng.randrange(8))
    candidates = trainer.top(30)
    if len(candidates) < 2:
        return twins(seed + 1000)
    step, other = len(trainer.history), rng.choice(candidates[1:])
    first = _history_of(counts, config, step + rng.randint(1, 6), ())
    second = _history_of(counts, config, step + rng.randint(7, 12), ((step + 1, other.left, other.right),))
    assert list(first[:step]) == list(second[:step])
    assert first[step] != second[step]
    origin = RunOrigin(True, "words")
    return (
        Run(counts, config, first, stop_reason="user", origin=origin),
        Run(counts, config, second, stop_reason="no_pair", origin=origin),
        step,
    )
