"""While prediction is on, the window says nothing that depends on what comes after the step."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QTimer

from tests.ui.hidden import random_words, said, twins
from wordpiece_studio.session.task import Task
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.storage.view import Bookmark, Breakpoint, Selection

if TYPE_CHECKING:
    from PySide6.QtGui import QImage

    from tests.ui.conftest import Studio

_LAYOUTS = ("teach", "engineer", "compare", "demo", "sizes")
_PANES = ("token_details", "vocabulary", "charts", "comparison", "history", "corpus", "code")
_SEEDS = 8


def rest(studio: Studio) -> None:
    """Wait until nothing in the window is still to be found or shown."""
    window = studio.window

    def is_at_rest() -> bool:
        soon = [timer for timer in window.findChildren(QTimer) if timer.isSingleShot() and timer.interval() < 1000]
        return not any(timer.isActive() for timer in soon) and not any(
            task.is_running for task in window.findChildren(Task)
        )

    studio.wait(is_at_rest)
    studio.wait(studio.rests)  # a late timer may ask for one more layout
    studio.wait(is_at_rest)


def predict(studio: Studio, run: Run, step: int, live: str) -> None:
    """Show a run to its end, beside an equal one, with marks that name the next merge; then hide what comes next."""
    session, token = studio.window.session, run.history[step].token
    session.prediction.end()
    merge = run.history[step]
    rules = replace(run.config, chosen_merges=((step + 1, merge.left, merge.right),))
    session.settings.set_config(rules)
    run.config = rules
    run.number, run.is_compared = 0, True
    other = Run(run.counts, run.config, run.history, origin=run.origin, number=1, color=1, is_compared=True)
    session.runs.take([run, other], run, step)
    session.marks.bookmarks.set_notes(
        [
            Bookmark(step, f"next: {token}", run.history[step - 1].token if step else "", owner=0),
            Bookmark(step + 1, "later", token, owner=0),
            Bookmark(step + 1, "compared", token, run=0, owner=0),
        ]
    )
    size = run.history.vocabulary_size(step)
    session.marks.breakpoints.set_marks([Breakpoint("tie", number=2), Breakpoint("size", number=size + 1)])
    session.model.set_selection(Selection("token", text=token))
    session.set_live_text(live)
    rest(studio)
    session.prediction.begin()
    studio.wait(lambda: bool(session.prediction.candidates))
    rest(studio)


def image(studio: Studio) -> QImage:
    if (focused := studio.window.focusWidget()) is not None:
        focused.clearFocus()  # a caret blinks
    return studio.window.grab().toImage()


@pytest.mark.parametrize(
    "first",
    [pytest.param(first, marks=[pytest.mark.exhaustive] if first else []) for first in range(0, 200, _SEEDS)],
)
def test_nothing_tells_the_next_merge(studio: Studio, first: int) -> None:
    """Two runs with the same past and different futures look the same, to the pixel and in all that can be read out."""
    window = studio.window
    for name in _PANES:  # whose titles say nothing until they are shown
        window.docks.bring(name)
        rest(studio)
    one, _, step = twins(first)
    predict(studio, one, step, "")  # the question, too, says nothing until it is shown
    for seed in range(first, first + _SEEDS):
        one, other, step = twins(seed)
        live = " ".join(list(random_words(seed))[:3])
        window.actions_.choice("choose_layout", _LAYOUTS[seed // 2 % len(_LAYOUTS)]).trigger()
        window.docks.bring(_PANES[seed % len(_PANES)])
        predict(studio, one, step, live)
        texts, picture = said(window), image(studio)
        assert window.session.prediction.has_question
        merge = one.history[step]
        if merge.is_new and merge.token.startswith("##"):
            named = re.compile(rf"(?<![^\s'\"(>]){re.escape(merge.token)}(?![^\s'\"),<])")
            assert not [text for text in texts if named.search(text)]
        predict(studio, other, step, live)
        differences = (Counter(texts) - Counter(said(window))) + (Counter(said(window)) - Counter(texts))
        assert not differences
        assert image(studio) == picture
