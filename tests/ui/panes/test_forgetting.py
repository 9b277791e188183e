"""A pane that is hidden keeps no run in memory that is not there any more."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoStack

from tests.ui.panes.looking import Looking
from wordpiece_studio.session.live_text import LiveChanges
from wordpiece_studio.session.runs import Comparison, Runs
from wordpiece_studio.session.step_marks import Bookmarks
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.token_details.token_details_pane import TokenDetailsPane
from wordpiece_studio.ui.panes.tokenization.tokenization_pane import TokenizationPane
from wordpiece_studio.ui.panes.tokenization.why_here import UnknownNote

if TYPE_CHECKING:
    from tests.ui.panes.conftest import Bench


def test_the_note_on_unknown_words_goes_with_its_history(bench: Bench) -> None:
    history = bench.model.history
    note = UnknownNote(bench.model.counts, history)
    tokenizer = bench.model.tokenizer_at(12)
    assert "does not occur" in note.text(tokenizer.explain("!"), "[UNK]", 1)
    ended = weakref.ref(note._words_with)
    gc.disable()  # which would find a cycle later
    try:
        del note
        assert ended() is None
    finally:
        gc.enable()


def test_hidden_token_details_keep_no_tree(bench: Bench) -> None:
    looking = Looking(bench)
    pane = looking.show(TokenDetailsPane)
    bench.model.set_selection(Selection("token", text="##ful"))
    looking.settle()
    assert pane.body.tree.nodes
    pane.hide()
    history = weakref.ref(bench.model.history)
    bench.train(vocab_size=60)
    bench.wait(lambda: history() is None)
    looking.close()


def test_a_hidden_live_tokenization_keeps_no_compared_run(empty_bench: Bench) -> None:
    bench, model = empty_bench, empty_bench.model
    runs, changes = Runs(model, QUndoStack(), model), LiveChanges(model)
    comparison = Comparison(model, runs, Bookmarks(model, model), model)
    pane = bench.show(lambda model, theme: TokenizationPane(model, changes, comparison, theme))
    bench.train()
    runs.set_compared(model.run, True)
    bench.train(vocab_size=60)
    bench.wait(lambda: bool(changes.others))
    runs.keep(model.run)
    pane.hide()
    bench.train(vocab_size=50)
    histories = [weakref.ref(run.history) for run in runs.all if run is not model.run]
    assert len(histories) == 2
    runs.take((model.run,), model.run, 0)
    bench.settle()
    gc.collect()
    assert not any(history() for history in histories)
