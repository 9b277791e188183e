"""The tabs of the runs: shown, kept, named, colored, closed and brought back by mouse, key and menu."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.ui.widgets.fields import LineDialog
from wordpiece_studio.ui.widgets.token_text import run_names

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QAbstractButton

    from tests.ui.conftest import Studio
    from wordpiece_studio.storage.project.contents import Run

_KEYS = Qt.KeyboardModifier
_NONE, _CONTROL, _ALT = _KEYS.NoModifier, _KEYS.ControlModifier, _KEYS.AltModifier
_LEFT, _MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton


def preview(studio: Studio, objective: str) -> Run:
    window = studio.window
    window.session.settings.choose(objective=objective)
    studio.wait(lambda: window.model.config.objective == objective and not window.model.is_replacing)
    return window.model.run


def train(studio: Studio, objective: str) -> Run:
    window = studio.window
    window.session.settings.choose(objective=objective)
    with studio.qtbot.waitSignal(window.model.run_reset):
        QTest.keyClick(window, Qt.Key.Key_F5)
    studio.wait_finished()
    return window.model.run


@pytest.fixture
def three(studio: Studio) -> Studio:
    """A window with three runs that the user asked for; the last one is shown."""
    for objective in ("score", "likelihood", "count"):
        train(studio, objective)
    assert studio.window.run_strip.tabs.count() == 3
    return studio


def texts(studio: Studio) -> list[str]:
    tabs = studio.window.run_strip.tabs
    return [tabs.accessibleTabName(index) for index in range(tabs.count())]


def place_of(studio: Studio, index: int) -> QPoint:
    return studio.window.run_strip.tabs.tabRect(index).center() - QPoint(60, 0)


def close_button(studio: Studio, index: int) -> QAbstractButton:
    return studio.window.run_strip.tabs.controls(index).close_button


def test_tabs_say_what_the_runs_are_and_clicks_and_keys_show_them(three: Studio) -> None:
    assert texts(three) == [
        "Run A: Score · 25 merges", "Run B: Likelihood · 25 merges", "Run C: Count · 25 merges",
    ]  # fmt: skip
    assert three.window.run_strip.tabs.currentIndex() == 2
    window, runs = three.window, three.window.session.runs
    for key, modifiers, place in (
        (Qt.Key.Key_Tab, _CONTROL, 0),
        (Qt.Key.Key_Backtab, _CONTROL | Qt.KeyboardModifier.ShiftModifier, 2),
        (Qt.Key.Key_2, _ALT, 1),
        (Qt.Key.Key_8, _ALT, 1),  # there is no such run
        (Qt.Key.Key_1, _ALT, 0),
    ):
        QTest.keyClick(window.corpus_pane.editor, key, modifiers)
        assert runs.current is runs.all[place]
    tabs = window.run_strip.tabs
    tabs.setFocus()
    step = window.model.step
    QTest.keyClick(tabs, Qt.Key.Key_Right)
    assert runs.current is runs.all[1]
    runs.show(runs.all[0])
    assert window.model.step == step
    runs.show(runs.all[2])
    QTest.mouseClick(window.run_strip.tabs, _LEFT, _NONE, place_of(three, 0))
    assert window.model.run is window.session.runs.all[0]
    assert window.session.settings.objective == "score"
    assert "since this run" not in window.bar.progress_label.forms[0]
    runs.show(runs.all[2])
    runs.show(runs.all[0])
    panes = [window.scoreboard_pane, window.history_pane, window.tokenization_pane, window.timeline_pane]
    assert all(pane.is_current for pane in panes)  # before the window is painted


def test_words_of_a_run_whose_places_were_dropped_come_back(three: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    window = three.window
    runs, first = window.session.runs, window.session.runs.all[0]
    monkeypatch.setattr("wordpiece_studio.session.runs.KEPT_BYTES", 0)
    runs.drop_places()
    runs.show(first)
    window.model.seek(3)
    words = window.scoreboard_pane._words
    three.wait(lambda: first.history.is_whole and words.request is not None and words._found.total > 0)
    assert words.request.history is first.history
    assert [run.history.is_whole for run in runs.all] == [True, False, False]


def test_what_differs_is_named(three: Studio) -> None:
    window = three.window
    window.session.settings.set_target_size(60)
    train(three, "score")
    assert list(run_names(window.session.runs.all).values()) == [
        "Score · size 70",
        "Likelihood",
        "Count",
        "Score · size 60",
    ]
    window.session.runs.rename(window.session.runs.all[3], "short")
    assert list(run_names(window.session.runs.all).values())[3] == "short"


def test_a_tab_says_that_a_run_that_began_by_itself_gives_way_to_another_corpus(studio: Studio) -> None:
    tabs, runs = studio.window.run_strip.tabs, studio.window.session.runs
    assert "A run of another corpus replaces it" in tabs.tabToolTip(0)
    runs.keep(runs.all[0])
    assert "replaces it" not in tabs.tabToolTip(0)


def test_a_long_name_is_cut_and_all_runs_are_in_a_list(three: Studio) -> None:
    window = three.window
    runs, strip = window.session.runs, window.run_strip
    assert strip.list_button.isHidden()
    usual = strip.tabs.tabRect(1).width()
    runs.rename(runs.all[1], "a name of the run that is much too long for its tab")
    widest = 29 * strip.tabs.fontMetrics().averageCharWidth() + strip.tabs.controls(1).sizeHint().width()
    assert usual < strip.tabs.tabRect(1).width() < widest
    assert "a name of the run that is much too long for its tab" in strip.tabs.tabToolTip(1)
    window.resize(window.minimumWidth(), window.height())
    for frequency in (1, 2, 3):  # the same again would train nothing
        window.session.settings.set_values(min_frequency=frequency)
        train(three, "score")
    three.wait(strip.list_button.isVisible)
    menu = strip.list_button.menu()
    menu.aboutToShow.emit()
    assert [action.isChecked() for action in menu.actions()] == [False] * 5 + [True]
    menu.actions()[0].trigger()
    assert runs.current is runs.all[0]


def test_a_run_is_closed_and_undo_brings_it_back(three: Studio) -> None:
    window, runs = three.window, three.window.session.runs
    before, last = runs.all, runs.all[2]
    for way in ("button", "middle", "key", "command", "menu"):
        if way == "button":
            QTest.mouseClick(close_button(three, 2), _LEFT)
        elif way == "middle":
            QTest.mouseClick(window.run_strip.tabs, _MIDDLE, _NONE, place_of(three, 2))
        elif way == "key":
            window.run_strip.tabs.setFocus()
            QTest.keyClick(window.run_strip.tabs, Qt.Key.Key_Delete)
        elif way == "command":
            QTest.keyClick(window, Qt.Key.Key_W, _CONTROL)
        else:
            menu = window.run_strip.tabs.menu_of(last)
            next(action for action in menu.actions() if "Close" in action.text()).trigger()
        assert (runs.all, runs.current) == (before[:2], before[1])
        assert not window.session.document.is_modified
        window.actions_.undo.trigger()
        assert (runs.all, runs.current) == (before, last)
        assert not window.session.document.is_modified


def test_a_preview_is_slanted_until_it_is_kept(studio: Studio) -> None:
    run = preview(studio, "count")
    tabs = studio.window.run_strip.tabs
    assert texts(studio)[1] == "Run B: Count · 25 merges · preview"
    assert tabs._name_font(is_current=False, is_kept=run.is_kept).italic()
    QTest.mouseDClick(tabs, _LEFT, _NONE, place_of(studio, 1))
    assert run.is_kept
    assert texts(studio)[1] == "Run B: Count · 25 merges"
    assert preview(studio, "likelihood").letter == "C"


@pytest.mark.parametrize("way", ["key", "menu"])
def test_a_run_is_renamed(three: Studio, way: str) -> None:
    window, run = three.window, three.window.session.runs.all[2]
    tabs = window.run_strip.tabs
    if way == "key":
        tabs.setFocus()
        QTest.keyClick(tabs, Qt.Key.Key_F2)
    else:
        next(action for action in tabs.menu_of(run).actions() if "Rename" in action.text()).trigger()
    dialog = window.findChild(LineDialog)
    QTest.keyClicks(dialog.field, "R&D <b>")
    dialog.accept()
    assert run.name == "R&D <b>"
    assert texts(three)[2] == "Run C: R&D <b> · 25 merges"
    assert "&lt;b&gt;" in tabs.tabToolTip(2)


def test_a_run_of_an_earlier_text_brings_that_text_back(three: Studio) -> None:
    window, runs = three.window, three.window.session.runs
    text, button = window.session.document.text, window.run_strip._button
    assert not button.isVisible()
    window.session.document.set_text("cat cats hat hats")
    three.wait(lambda: window.model.run not in (None, *runs.all[:3]))
    three.wait(lambda: not button.isVisible())  # the preview is of this text
    runs.show(runs.all[0])
    three.wait(button.isVisible)
    QTest.mouseClick(button, _LEFT)
    assert window.session.document.text == text
    three.wait(lambda: not button.isVisible())
    assert runs.current is runs.all[0]
    assert window.session.counting.counts is runs.current.counts
    window.actions_.undo.trigger()
    assert window.session.document.text == "cat cats hat hats"


def test_a_run_of_another_corpus_brings_that_back(three: Studio, tmp_path: Path) -> None:
    window, runs = three.window, three.window.session.runs
    text, name = window.session.document.text, window.session.corpus_name
    (tmp_path / "other.txt").write_text("hug hugs", encoding="utf-8")
    three.open(tmp_path / "other.txt")
    with three.qtbot.waitSignal(window.model.run_reset):
        window.actions_.train.trigger()
    three.wait_finished()
    runs.show(runs.all[0])
    assert name[:10] in window.run_strip._button.text()
    window.actions_.bring_text_back.trigger()
    assert (window.session.document.text, window.session.corpus_name) == (text, name)
    assert runs.current is runs.all[0]
    assert "from" not in window.bar.progress_label.forms[0]
    three.wait(lambda: not window.run_strip._button.isVisible())


def test_a_run_of_the_corpus_brings_its_settings_and_its_pipeline(studio: Studio) -> None:
    window, session, runs = studio.window, studio.window.session, studio.window.session.runs
    window.corpus_controller.open_sample("english-notebook")
    studio.wait(lambda: not window.project.reading.is_running)
    for run in (*runs.all[1:], runs.all[0]):
        runs.show(run)
        studio.wait(lambda: session.counting.counts is not None)  # again where the longest word is not known
        assert run.is_trained_on(session.counting.counts, session.settings.config())  # as F5 would
        studio.wait(lambda: not (window.run_strip.line.isVisible() or window.corpus_pane.is_stale))
        assert "changed" not in window.bar.progress_label.forms[0]
        assert window.corpus_pane.line_view.heading.text() == "Line 1, as the trainer reads it"
    assert "normalizer bert-uncased, pre-tokenizer bert" in window.run_strip.tabs.tabToolTip(2)


def test_a_line_says_that_the_corpus_is_another_one_and_trains_on_it(three: Studio, tmp_path: Path) -> None:
    session, strip = three.window.session, three.window.run_strip
    (tmp_path / "mixed.txt").write_text("mixed words, more words", encoding="utf-8")
    three.open(tmp_path / "mixed.txt")
    three.wait(strip.line.isVisible)
    settings, said = session.settings.config(), strip._said.accessibleName()
    session.runs.show(session.runs.all[0])  # of another corpus, about which its settings say nothing
    assert session.settings.config() == settings
    assert said.endswith("The corpus is now mixed.txt.")
    assert strip._train.text() == "Train on mixed.txt"
    before = session.runs.all
    QTest.mouseClick(strip._train, _LEFT)
    three.wait_finished()
    three.wait(lambda: not strip.line.isVisible())
    assert session.runs.current not in before
    assert session.counting.counts is session.runs.current.counts


def test_with_no_run_there_is_nothing_to_close(empty_studio: Studio) -> None:
    actions = empty_studio.window.actions_
    assert not actions.close_run.isEnabled()
    assert empty_studio.window.run_strip.tabs.count() == 0


def test_it_is_drawn_in_every_look_with_another_color_and_as_its_runs_grow(three: Studio) -> None:
    for look in ("light", "dark", "contrast"):
        three.window.theme.set_choice(look)
        image = three.window.run_strip.tabs.grab().toImage()
        rect = three.window.run_strip.tabs.tabRect(0)
        found = {image.pixelColor(x, y).name() for x in range(rect.left(), rect.right()) for y in range(rect.height())}
        assert three.window.theme.run_color(0).name() in found
    window, run = three.window, three.window.session.runs.all[2]
    menu = window.run_strip.tabs.menu_of(run)
    *_, colors = (action.menu() for action in menu.actions() if action.menu() is not None)
    assert [action.isChecked() for action in colors.actions()] == [number == 2 for number in range(8)]
    colors.actions()[5].trigger()
    assert run.color == 5
    window.model.train_further(vocab_size=80)
    three.wait_finished()
    three.wait(lambda: texts(three)[2] == "Run C: Count · 35 merges")


def test_runs_are_compared_with_the_current_one_which_still_is_when_another_one_is_current(three: Studio) -> None:
    window, runs = three.window, three.window.session.runs
    tabs, comparison = window.run_strip.tabs, window.session.comparison
    first, second, third = runs.all
    for way in ("box", "menu", "menu of current", "command"):
        runs.show(first)
        assert [each.label for each in comparison.steps()] == []
        box = tabs.controls(0).compare
        assert (box.isChecked(), box.isEnabled()) == (True, False)  # the current run always takes part
        if way == "box":
            QTest.mouseClick(tabs.controls(1).compare, _LEFT, _NONE, QPoint(8, 8))
        elif way == "menu":
            next(action for action in tabs.menu_of(second).actions() if "mpare" in action.text()).trigger()
        elif way == "menu of current":
            (menu,) = (action.menu() for action in tabs.menu_of(first).actions() if "mpare" in action.text())
            assert [action.text() for action in menu.actions()] == ["Run B", "Run C"]
            menu.actions()[0].trigger()
        else:
            window.actions_.compare_runs.trigger()
            assert window.actions_.compare_runs.isChecked()
            runs.set_compared(third, False)
        assert [each.label for each in comparison.steps()] == ["A", "B"]
        runs.show(second)
        assert [each.label for each in comparison.steps()] == ["A", "B"]
        runs.show(third)
        assert [each.label for each in comparison.steps()] == ["A", "B", "C"]
        runs.show(first)
        tabs.controls(1).compare.click()
        runs.show(second)
        assert [each.label for each in comparison.steps()] == []


def test_while_predicting_another_run_is_shown_no_further(three: Studio) -> None:
    window, runs, model = three.window, three.window.session.runs, three.window.model
    first, second, third = runs.all
    first.config = replace(first.config, chosen_merges=((4, "h", "##u"),))
    model.seek(3)
    window.session.prediction.begin()
    tabs, compare = window.run_strip.tabs, window.actions_.compare_runs
    assert (compare.isEnabled(), compare.property("reason")) == (False, "Prediction is on")
    assert not window.actions_.compare_step.isEnabled()
    three.qtbot.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier)
    assert (runs.current, model.step, model.merge_count) == (first, 3, 3)
    assert "h + ##u" not in tabs.tabToolTip(0) + tabs.tabText(0)
    runs.show_next()
    assert (runs.current, model.step) == (second, 3)
    model.seek(0)
    runs.show(third)
    assert model.step == 0
    window.session.prediction.end()
    runs.show(first)
    assert model.step == 3
    assert "Step 4: h + ##u" in tabs.tabToolTip(0)
    assert compare.isEnabled()


def test_a_run_brings_its_pipeline_and_the_words_are_not_counted_again(studio: Studio) -> None:
    window, runs = studio.window, studio.window.session.runs
    counting = window.session.counting
    window.corpus_pane.figures.choose("lowercase", "whitespace")
    studio.wait(lambda: len(runs.all) == 2)
    first, second = runs.all
    assert list(run_names(runs.all).values()) == ["Score · bert-cased · bert", "Score · lowercase · whitespace"]
    for run in (first, second, first):
        runs.show(run)
        assert counting.counts is run.counts
        assert counting.pipeline.normalizer == run.counts.normalizer
        assert not counting.is_under_way
        assert window.corpus_pane.figures.normalizer.name == run.counts.normalizer.name
    assert runs.all == (first, second)  # the preview is still there


def test_a_training_that_is_left_says_that_it_is_paused(three: Studio) -> None:
    window, runs = three.window, three.window.session.runs
    window.session.document.set_text(" ".join(f"{number:x}" * 3 for number in range(20_000)))
    window.session.settings.set_target_size(0)
    three.wait(lambda: window.session.counting.counts is not None)
    with three.qtbot.waitSignal(window.model.run_reset, timeout=20_000):
        window.actions_.train.trigger()
    left = runs.current
    assert window.model.state is TrainerState.TRAINING
    runs.show(runs.all[0])
    assert f"run {left.letter} is paused" in window.notices.training.text
    runs.show(left)
    assert window.model.state is TrainerState.PAUSED
    assert texts(three)[runs.all.index(left)].startswith(f"Run {left.letter}: Count")


def test_the_objective_is_chosen_in_the_menu_and_the_palette_finds_it(studio: Studio) -> None:
    objectives = studio.window.actions_.choices("choose_objective")
    assert [action.data() for action in objectives if action.isChecked()] == [studio.window.session.settings.objective]
    assert any("bjective" in menus for menus, action in studio.window.actions_.placed() if action in objectives)
    count = next(action for action in objectives if action.data() == "count")
    count.trigger()
    assert studio.window.session.settings.objective == "count"
    assert count.isChecked()
    assert studio.window.bar.settings.objective_box.currentData() == "count"


def test_a_text_to_tokenize_is_typed_after_one_key(studio: Studio) -> None:
    studio.qtbot.keyClick(studio.window, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    edit = studio.window.tokenization_pane.edit
    studio.wait(edit.hasFocus)


def test_an_audience_sees_which_of_several_runs_is_shown(studio: Studio) -> None:
    window = studio.window
    window.actions_.choice("choose_layout", "demo").trigger()
    assert not window.run_strip.isVisible()
    window.session.settings.choose(objective="count")
    window.actions_.train.trigger()
    studio.wait_finished()
    assert window.run_strip.isVisible()
    runs, tabs = window.session.runs, window.run_strip.tabs
    runs.all[0].origin = replace(runs.all[0].origin, corpus_name="another")
    runs.changed.emit()
    assert [tabs.isTabVisible(at) for at in range(2)] == [False, True]
    assert not window.run_strip.isVisible()
    window.actions_.choice("choose_layout", "teach").trigger()
    assert [tabs.isTabVisible(at) for at in range(2)] == [True, True]


def test_a_run_that_is_shown_brings_its_longest_word(studio: Studio) -> None:
    window, runs, counting = studio.window, studio.window.session.runs, studio.window.session.counting
    studio.set_text("hug hugs pug")
    window.actions_.train_as_you_type.trigger()
    first = train(studio, "score")
    counting.set_longest_word(3)
    note = window.corpus_pane.note_label
    had = f"Run {first.letter} had normalizer bert-cased, pre-tokenizer bert, maximum word length 1,000."
    studio.wait(lambda: had in note.text())
    train(studio, "count")
    studio.wait(lambda: "had normalizer" not in note.text())
    runs.show(first)
    assert counting.max_word_length == 1000
    assert counting.counts is first.counts


def test_a_training_that_another_longest_word_would_repeat_is_up_to_date(studio: Studio) -> None:
    window, session = studio.window, studio.window.session
    window.actions_.train_as_you_type.trigger()
    studio.set_text("hug hugs pug")
    run = train(studio, "score")
    session.counting.set_longest_word(900)
    studio.wait(lambda: session.counting.counts is not None)
    assert session.changes_since_run().pipeline
    QTest.keyClick(window, Qt.Key.Key_F5)
    studio.wait(lambda: not session.changes_since_run().pipeline)
    assert (session.runs.current, session.counting.max_word_length) == (run, 900)
