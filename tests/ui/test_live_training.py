"""Training as you type: what follows the text and how, and what stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtTest import QTest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session import session
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.ui.conftest import Studio

FINISHED = TrainerState.FINISHED


def is_current(studio: Studio) -> bool:
    """Return whether the run shown is that of the present text."""
    window = studio.window
    counts = window.session.counting.counts
    return counts is not None and not window.model.is_replacing and window.model.counts == counts


def type_text(studio: Studio, text: str) -> None:
    """Type at the end of the corpus and wait for its run."""
    editor = studio.window.corpus_pane.editor
    editor.select(editor.document().characterCount() - 1)
    QTest.keyClicks(editor, text)
    studio.wait(lambda: is_current(studio))


def train(studio: Studio, press: Callable[[], None] | None = None) -> None:
    """Train as the user does, and wait until it is done."""
    (press or studio.window.actions_.train.trigger)()
    studio.wait(lambda: studio.window.model.state is FINISHED and studio.window.model.origin.is_wanted)


def test_a_key_trains_and_the_step_stays(studio: Studio) -> None:
    model = studio.window.model
    step, before = model.step, model.history
    type_text(studio, " zebra")
    assert model.history is not before
    assert model.step == step > 0
    assert "zebra" in model.counts.words
    assert model.history.input.config.vocab_size == studio.window.session.settings.target_size
    assert [(run.letter, run.is_kept) for run in studio.window.session.runs.all] == [("A", True), ("B", False)]
    assert studio.window.session.runs.unsaved_merges == 0


def test_every_key_between_two_runs_is_taken_and_only_one_run_comes(studio: Studio) -> None:
    resets = []
    studio.window.model.run_reset.connect(lambda: resets.append(studio.window.session.counting.text_serial))
    editor = studio.window.corpus_pane.editor
    serial = studio.window.session.counting.text_serial
    for letter in "abcdefgh":
        QTest.keyClick(editor, letter)
    studio.wait(lambda: is_current(studio))
    assert resets == [serial + 8]


def test_at_the_head_it_stays_at_the_head(studio: Studio) -> None:
    studio.window.actions_.last_merge.trigger()
    studio.window.session.settings.set_target_size(0)
    type_text(studio, " zebras zebra")
    assert studio.window.model.is_at_head
    assert studio.window.model.stop_reason == "no_pair"


def test_panes_change_once_and_the_bar_does_not_blink(studio: Studio) -> None:
    window = studio.window
    type_text(studio, "x")
    studio.qtbot.wait(50)
    states, texts, figures = [], [], []
    window.model.state_changed.connect(states.append)
    window.session.counting.counts_changed.connect(figures.append)
    show_text = window.bar.show_text
    window.bar.show_text = lambda *forms, **_more: (texts.append(forms[0]), show_text(*forms))
    type_text(studio, "yz")
    studio.qtbot.wait(50)
    assert set(states) == {FINISHED}
    assert None not in figures
    assert not any("changed since" in text for text in texts)
    assert window.actions_.train.isEnabled()


@pytest.mark.usefixtures("long_runs")
def test_what_the_user_trained_stays_beside_one_preview(studio: Studio) -> None:
    window = studio.window
    train(studio)
    runs, kept = window.session.runs, window.model.run
    type_text(studio, " zebra")
    preview = window.model.run
    assert (runs.all, kept.is_kept, preview.is_kept) == ((kept, preview), True, False)
    type_text(studio, " lion")
    assert runs.all == (kept, window.model.run)
    assert runs.unsaved_merges == len(kept.history)  # leaving asks about them as before
    runs.show(kept)
    type_text(studio, "s")  # beside the kept run
    assert (runs.all, window.model.run.letter) == ((kept, window.model.run), "B")
    assert window.notices.training.text == ""


@pytest.mark.slow
def test_undoing_the_edit_shows_the_run_of_before(studio: Studio) -> None:
    train(studio)
    before, history = studio.window.model.run, studio.window.model.history
    type_text(studio, " zebra")
    assert studio.window.model.history is not history
    studio.window.actions_.undo.trigger()
    studio.wait(lambda: is_current(studio) and studio.window.model.run is before)
    assert studio.window.session.runs.all == (before,)


def test_a_setting_opens_a_preview_and_the_next_one_replaces_it(studio: Studio) -> None:
    window = studio.window
    runs, first = window.session.runs, window.model.run
    window.session.settings.choose(objective="likelihood")
    studio.wait(lambda: window.model.config.objective == "likelihood")
    window.session.settings.choose(objective="count")
    studio.wait(lambda: window.model.config.objective == "count")
    assert runs.all == (first, window.model.run)
    window.session.settings.choose(objective="score")
    studio.wait(lambda: window.model.run is first)
    assert runs.all == (first,)


def test_a_setting_beside_a_corpus_that_was_not_trained_trains_nothing(studio: Studio, tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text("cat cats hat hats\n", encoding="utf-8")
    studio.open(tmp_path / "small.txt")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    studio.window.session.settings.choose(objective="count")
    assert not studio.window.model.is_replacing
    assert studio.window.session.runs.all == ()  # that of the sample had not been asked for


@pytest.mark.slow
def test_it_can_be_turned_off_and_the_run_then_stays(studio: Studio) -> None:
    window = studio.window
    train(studio)
    type_text(studio, " zebra")
    menus = [bar_action.menu() for bar_action in window.menuBar().actions()]
    found = [a for menu in menus for a in menu.actions() if a is window.actions_.train_as_you_type]
    found[0].trigger()
    assert not window.actions_.train_as_you_type.isChecked()
    before = window.model.history
    window.session.document.edit(0, 0, "lion ")
    studio.wait(lambda: window.session.counting.counts is not None)
    studio.qtbot.wait(100)
    assert window.model.history is before
    studio.wait(lambda: "edited since" in window.run_strip._said.accessibleName())


def test_a_large_corpus_is_not_trained_by_a_key(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_BYTES", 100)
    before = studio.window.model.history
    studio.window.session.document.edit(0, 0, "zebra ")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    studio.qtbot.wait(100)
    assert studio.window.model.history is before


def test_a_corpus_that_was_opened_is_trained_when_it_is_edited_not_before(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text("cat cats hat hats\n", encoding="utf-8")
    studio.open(path)
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    studio.qtbot.wait(100)
    assert studio.window.model.history is None
    type_text(studio, "cat")
    assert "cat" in studio.window.model.counts.words


@pytest.mark.slow
def test_merges_of_another_corpus_that_were_asked_for_stay(studio: Studio, tmp_path: Path) -> None:
    train(studio)
    before = studio.window.model.run
    path = tmp_path / "small.txt"
    path.write_text("cat cats hat hats\n", encoding="utf-8")
    studio.open(path)
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    assert studio.window.model.run is before
    type_text(studio, "cat")
    assert studio.window.session.runs.all == (before, studio.window.model.run)


def test_a_size_that_becomes_too_small_is_suggested_again_unless_it_was_chosen(studio: Studio) -> None:
    window = studio.window
    size = window.session.settings.target_size
    window.session.document.edit(0, 0, "".join(map(chr, range(0x410, 0x450))) + " ")
    studio.wait(lambda: is_current(studio))
    assert window.session.settings.target_size > size
    assert window.notices.training.text == ""
    window.session.settings.set_target_size(20)
    window.session.document.edit(0, 0, "zebra ")
    studio.wait(lambda: "too small" in window.notices.training.text)
    assert window.model.state is FINISHED
    window.session.settings.set_target_size(300)
    type_text(studio, " zebras")
    assert window.notices.training.text == ""


def test_the_selection_and_the_candidates_follow(studio: Studio) -> None:
    window = studio.window
    window.model.set_selection(Selection("token", text="##s"))
    candidates = []
    window.model.candidates_changed.connect(candidates.append)
    type_text(studio, " zebra")
    studio.wait(lambda: bool(candidates))
    assert candidates[-1].available
    assert candidates[-1].step == window.model.step - 1
    assert window.model.selection == Selection("token", text="##s")


def test_a_key_that_changes_no_word_changes_nothing(studio: Studio) -> None:
    type_text(studio, " zebra")
    before = studio.window.model.history
    type_text(studio, "  ")
    studio.qtbot.wait(50)
    assert studio.window.model.history is before
    assert "changed since" not in studio.window.bar.progress_label.forms[0]


def test_a_paused_training_stays(studio: Studio) -> None:
    window = studio.window
    window.model.forget()
    window.actions_.next_merge.trigger()  # begins a training that stands still
    studio.wait(lambda: window.model.merge_count == 1 and not window.model.is_busy)
    before = window.model.history
    window.session.document.edit(0, 0, "zebra ")
    studio.wait(lambda: window.session.counting.counts is not None)
    studio.qtbot.wait(100)
    assert window.model.history is before
    assert window.model.state is TrainerState.PAUSED


def test_the_choice_is_kept_for_the_next_start(studio: Studio) -> None:
    studio.window.actions_.train_as_you_type.trigger()
    store = SettingsStore(studio.window.settings.path.parent)
    assert not store.values.train_as_you_type
    again = MainWindow(store, Theme("light"))
    assert not again.actions_.train_as_you_type.isChecked()
    again.actions_.train_as_you_type.trigger()
    assert SettingsStore(store.path.parent).values.train_as_you_type
    again.leave_at_once()
    again.take_down()


def test_a_choice_that_cannot_be_kept_is_reported_and_holds_until_the_end(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_changes: object) -> None:
        raise StudioError("The disk is full")

    monkeypatch.setattr(studio.window.settings, "change", refuse)
    studio.window.actions_.train_as_you_type.trigger()
    assert "disk is full" in studio.window.notices.training.text
    before = studio.window.model.history
    studio.window.session.document.edit(0, 0, "zebra ")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    studio.qtbot.wait(50)
    assert studio.window.model.history is before
    monkeypatch.undo()


def test_another_pre_tokenizer_trains_too_though_the_words_are_the_same(studio: Studio) -> None:
    window = studio.window
    type_text(studio, " zebra")
    before, known = window.model.history, []
    window.session.counting._patience.setInterval(60_000)  # a busy machine may take longer than usual
    window.session.counting.counts_changed.connect(known.append)
    window.session.counting.set_pipeline(
        window.session.counting.pipeline.normalizer, resolve_pre_tokenizer("whitespace")
    )
    studio.wait(lambda: window.model.history is not before)
    assert window.model.counts.pre_tokenizer == resolve_pre_tokenizer("whitespace")
    assert "changed since" not in window.bar.progress_label.forms[0]
    assert None not in known  # figures that are gone for a moment would flicker


def test_a_merge_that_was_stopped_before_its_counts_were_there_is_not_asked_for_again(studio: Studio) -> None:
    window = studio.window
    window.actions_.train_as_you_type.setChecked(False)
    window.session.document.set_text("hug pug pun bun hugs " * 5)
    window.training_controller.learn_first_merge()
    assert window.actions_.stop.isEnabled()
    window.actions_.stop.trigger()
    states: list[TrainerState] = []
    window.model.state_changed.connect(states.append)
    train(studio)
    assert TrainerState.PAUSED not in states


def test_a_training_that_would_repeat_a_run_shows_that_run(studio: Studio) -> None:
    window, runs = studio.window, studio.window.session.runs
    train(studio)
    first = runs.current
    window.session.settings.choose(objective="count")
    train(studio, lambda: window.actions_.train.trigger())
    studio.wait(lambda: runs.current is not first and window.model.state is FINISHED)
    window.session.settings.choose(objective=first.config.objective)
    studio.wait(lambda: not window.model.is_replacing)
    window.actions_.train.trigger()
    assert runs.current is first
    notice = window.notices.training
    assert notice.text == "Run A was trained with the same corpus and settings."
    assert not notice.button.isHidden()
    before = len(runs.all)
    with studio.qtbot.waitSignal(window.model.run_reset):
        notice.button.click()
    studio.wait_finished()
    assert (len(runs.all), notice.text) == (before + 1, "")
    assert runs.current.is_trained_on(first.counts, first.config)
