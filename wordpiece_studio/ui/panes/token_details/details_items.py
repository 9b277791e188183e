"""What stands in the lines of chips of the token details."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from wordpiece_studio.session.records import Focus
from wordpiece_studio.ui.panes.token_details.chip_flow import FlowItem
from wordpiece_studio.ui.panes.token_details.tree_layout import merges_of
from wordpiece_studio.ui.widgets.token_text import number_text, token_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wordpiece_studio.training.history import MergeHistory, MergeTree

MORE = "more"
"""The target of the link that shows the rest of a list."""


def chip(token: str, *, faded: bool = False, focused: bool = False, tip: str = "") -> FlowItem:
    """Return a token that can be chosen."""
    return FlowItem(token, "chip", Focus("token", text=token), tip or token_text(token, 400), faded, focused)


def word_item(word: str, count: int = 0) -> FlowItem:
    """Return a word that can be chosen, with how often it occurs."""
    times = f" ×{number_text(count)}" if count > 1 else ""
    return FlowItem(f"{token_text(word, 40)}{times}", "word", Focus("word", text=word), token_text(word, 400))


def step_item(step: int, now: int) -> FlowItem:
    """Return a step that can be gone to."""
    tip = _tr("Go to step {step}").format(step=number_text(step))
    return FlowItem(number_text(step), "link", step, tip, faded=step > now)


def more_item(count: int) -> FlowItem:
    """Return the link to so many more."""
    return FlowItem(_tr("{count} more").format(count=number_text(count)), "link", MORE, _tr("Show more of them"))


def chain_items(history: MergeHistory, tree: MergeTree, now: int) -> list[list[FlowItem]]:
    """Return the merges that made a token, a list for each: ``##fu + ##l → ##ful``, then ``+ ##l → ##full``.

    A merge that does not go on with what the one before it made begins anew.
    """
    groups: list[list[FlowItem]] = []
    made = -1
    for merge in merges_of(tree):
        assert merge.left is not None  # it is a merge
        assert merge.right is not None
        faded = merge.step > now
        left, right, token = (history.token(node.token_id) for node in (merge.left, merge.right, merge))
        group = [] if merge.left.token_id == made else [chip(left, faded=faded)]
        if group and groups:
            group.insert(0, FlowItem("·"))
        tip = _tr("{token}, born at step {step}").format(token=token_text(token), step=number_text(merge.step))
        group += [FlowItem("+"), chip(right, faded=faded), FlowItem("→")]
        group.append(chip(token, faded=faded, focused=merge is tree, tip=tip))
        groups.append(group)
        made = merge.token_id
    return groups


def shortened(groups: Sequence[Sequence[FlowItem]], first: int) -> list[FlowItem]:
    """Return the merges of a chain from the one with index `first` on, behind dots for those left out."""
    items = [item for group in groups[first:] for item in group]
    if not first:
        return items
    return [FlowItem("…"), *(items[1:] if items and items[0].text == "·" else items)]


def children_items(history: MergeHistory, steps: Iterable[int], now: int) -> list[FlowItem]:
    """Return the tokens that these steps made, each once."""
    items: dict[str, FlowItem] = {}
    for step in steps:
        token = history.token(int(history.column("new_id")[step - 1]))
        tip = _tr("{token}, made at step {step}").format(token=token_text(token), step=number_text(step))
        items.setdefault(token, chip(token, faded=step > now, tip=tip))
    return list(items.values())


def _tr(text: str) -> str:
    return QCoreApplication.translate("TokenDetails", text)
