"""Lessons in the window: the strip, what is put aside and brought back, and every lesson played to its end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox

from wordpiece_studio.session.project_state import content_of, unsaved_work
from wordpiece_studio.session.recovery_store import find_recoverable, recover, recovery_folder
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.lesson import lesson_paths, read_lesson
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.widgets.plain import entry_at

if TYPE_CHECKING:
    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.controllers.lesson_controller import LessonController

SCORE = next(path for path in lesson_paths() if path.stem == "score")
LESSON = """---
lesson: Doing
objective: score
special_tokens: none
run: Score
run: Count
objective: count
---

```
hug 10
pug 5
hugs 5
```

## Go to step 1
pane: timeline
step: 0
check: step = 1

## Type pugs
live_text: hugs
pane: tokenization
check: live_text = pugs

## Select hu
check: selection = token hu

## Show the other run
check: current = Count

## Train by likelihood
check: trained objective = likelihood

## What is merged first?
step: 0
ask: merge(1)

## The end
is_predicting: yes
step: 0
check: predict
"""


def begin(studio: Studio, path: Path = SCORE) -> LessonController:
    controller = studio.window.lesson_controller
    controller.open_lesson(path)
    studio.wait(lambda: controller.lesson is not None)
    return controller


@pytest.fixture
def doing(studio: Studio, tmp_path: Path) -> LessonController:
    path = tmp_path / "doing.md"
    path.write_text(LESSON, encoding="utf-8")
    return begin(studio, path)


def test_a_lesson_is_answered_page_by_page_and_finished(studio: Studio) -> None:
    controller, strip, window = begin(studio), studio.window.lesson_strip, studio.window
    assert strip.isVisible()
    assert window.session.corpus_name == "The score and its denominator"
    assert window.docks.panels["corpus"].property("pointed") == "yes"
    assert strip.title.text().startswith("How often do h")
    window.actions_.lesson_check.trigger()
    assert strip.said.text() == "Type or choose an answer first."
    strip.field.setText("12")
    QTest.keyClick(strip.field, Qt.Key.Key_Return)
    assert strip.said.text() == "Not 12. Count it in every word, times the count of the word."
    strip.field.setText("15")
    QTest.keyClick(strip.field, Qt.Key.Key_Return)
    assert strip.said.text() == "Right. h + ##u occurs 15 times: hug × 10, hugs × 5."
    QTest.keyClick(strip.field, Qt.Key.Key_Backspace)
    assert strip.said.text().startswith("A word that occurs ten times")
    for _ in range(3):
        window.actions_.lesson_next.trigger()
    strip.field.setText("5/(20 × 5)")
    window.actions_.lesson_check.trigger()
    assert strip.said.text().startswith("Right. n(ab) / (n(a) × n(b)) = 5 / (20 × 5) = 1/20")
    assert window.settings.values.lessons == {"score": 3}
    for _ in range(3):
        window.actions_.lesson_back.trigger()
    assert controller.number == 0
    assert not window.actions_.lesson_back.isEnabled()
    assert (strip.field.text(), strip.said.text()[:6]) == ("15", "Right.")  # as it was left
    while controller.number < 6:
        window.actions_.lesson_next.trigger()
    window.actions_.lesson_next.trigger()  # with pages that have no answer
    banner = window.notices.lesson
    assert "gets its tick when page 2 is answered" in banner.text
    assert not window.settings.values.finished_lessons
    window.actions_.refresh_menus()
    title = "The score and its denominator"
    assert any(action.text() == f"{title} (page 2 of 7)" for action in window.actions_.choices("open_lesson"))
    banner.button.click()
    studio.wait(lambda: controller.lesson is not None)
    while controller.lesson is not None:
        window.actions_.lesson_show.trigger()
        window.actions_.lesson_next.trigger()
    assert strip.isHidden()
    assert not any(panel.property("pointed") == "yes" for panel in window.docks.panels.values())
    assert window.settings.values.finished_lessons == ("score",)
    window.actions_.refresh_menus()
    assert any(action.text() == f"{title} ✓" for action in window.actions_.choices("open_lesson"))
    assert banner.text == f"You finished “{title}”."
    assert banner.button.text().startswith("Next: ")
    banner.button.click()
    studio.wait(lambda: controller.lesson is not None)
    assert controller.lesson is not None
    assert banner.button.text() == f"Next: {controller.lesson.title}"


def test_what_is_to_be_done_is_checked_and_shown(studio: Studio, doing: LessonController) -> None:
    window, strip = studio.window, studio.window.lesson_strip

    def check() -> bool:
        window.actions_.lesson_check.trigger()
        return strip.said.text().startswith("Right.")

    def after(act: object) -> bool:
        assert not check()
        assert callable(act)
        act()
        is_right = check()
        window.actions_.lesson_next.trigger()
        return is_right

    assert not check()
    assert strip.said.text() == "Not done yet. The current step is 0; go to step 1."
    window.model.next_merge()
    assert strip.said.text() == "Right."  # what is done is seen at once
    window.actions_.lesson_next.trigger()
    window.actions_.lesson_back.trigger()
    assert (window.model.step, strip.said.text()) == (1, "Right.")  # as it was left
    assert strip.mapTo(window, QPoint(0, 0)).y() < window.bar.mapTo(window, QPoint(0, 0)).y()  # which may grow
    window.actions_.lesson_next.trigger()
    live = window.tokenization_pane.edit
    assert window.focusWidget() is live
    assert after(lambda: QTest.keyClicks(live, "pugs"))
    assert (window.model.step, window.session.live_text) == (1, "pugs")
    assert after(lambda: window.model.set_selection(Selection("token", text="hu")))
    assert after(window.actions_.next_run.trigger)
    assert not check()
    assert strip.said.text().startswith("Not done yet. The current run has objective count")
    before = window.model.run
    window.actions_.lesson_show.trigger()
    studio.wait(lambda: window.model.run is not before and window.model.state is TrainerState.FINISHED)
    assert check()
    window.actions_.lesson_next.trigger()
    assert window.model.config is not None
    assert window.model.config.objective == "likelihood"
    window.actions_.lesson_show.trigger()
    assert check()
    window.actions_.lesson_next.trigger()


def test_a_prediction_is_of_its_page_and_is_asked_for_again_when_it_was_wrong(
    studio: Studio, doing: LessonController
) -> None:
    window, said, prediction = studio.window, studio.window.lesson_strip.said, studio.window.session.prediction
    for _ in range(6):
        window.actions_.lesson_next.trigger()

    def check(wanted: str) -> None:
        window.actions_.lesson_check.trigger()
        assert said.text() == wanted
        assert said.property("role") == ("success" if wanted == "Right." else "error")

    def wait_for_candidates() -> list[tuple[str, str]]:
        studio.wait(lambda: bool(prediction.candidates))
        return [(each.left, each.right) for each in prediction.candidates]

    merge = window.model.hidden_merge
    assert merge is not None
    wait_for_candidates()
    wrong = next((each.left, each.right) for each in prediction.candidates if each.value != merge.value)
    check("Not done yet. Choose a pair among the candidates, then press Space.")
    prediction.choose(wrong)
    check("Not done yet. Press Space to see whether the pair is right.")
    prediction.go_on()
    assert not said.text()  # it was pressed
    window.actions_.lesson_check.trigger()
    assert said.text().count("Not this one.") == 1
    assert said.text().endswith("Choose again, then press Space.")
    assert not prediction.is_revealed
    wait_for_candidates()
    prediction.choose((merge.left, merge.right))
    prediction.go_on()
    assert said.text() == "Right."  # without Check
    assert doing.number in window.settings.values.answered_pages[doing.lesson.name]
    doing._predict_again()
    wait_for_candidates()
    prediction.choose(wrong)
    prediction.go_on()
    prediction.go_on()  # merges the right one
    assert window.model.step == 1
    prediction.choose(wait_for_candidates()[0])
    prediction.go_on()
    check("Not this one. Choose again, then press Space.")
    assert window.model.step == 0
    wait_for_candidates()
    prediction.choose(wrong)
    prediction.go_on()
    window.actions_.lesson_show.trigger()
    assert said.text().startswith(f"Right. {merge.left} {merge.right}")
    assert (prediction.chosen, prediction.is_right) == ((merge.left, merge.right), True)
    prediction.go_on()
    check("Right.")  # at the next step, too


def test_a_token_is_selected_by_a_click_and_its_question_goes_with_the_lesson(studio: Studio) -> None:
    window, strip, pane = studio.window, studio.window.lesson_strip, studio.window.tokenization_pane
    begin(studio, SCORE.with_name("subwords.md"))
    for _ in range(5):
        window.actions_.lesson_next.trigger()
    window.actions_.lesson_check.trigger()
    assert strip.said.text().startswith("Not done yet. Click it in Live tokenization")
    studio.wait(lambda: not pane.is_stale)
    pane.chips.chosen.emit((ChipPlace(0, 0, 1), False))
    window.actions_.lesson_check.trigger()
    assert strip.said.text() == "Right."
    assert pane.why.isVisible()
    window.actions_.lesson_leave.trigger()
    assert not pane.why.isVisible()


def test_a_page_left_is_where_it_goes_on_but_not_behind_a_run_that_is_gone(
    studio: Studio, doing: LessonController, tmp_path: Path
) -> None:
    for _ in range(6):
        studio.window.actions_.lesson_next.trigger()
    studio.window.actions_.lesson_leave.trigger()
    assert studio.window.settings.values.lessons == {"doing": 6}
    assert begin(studio, tmp_path / "doing.md").number == 4


def test_all_that_was_open_comes_back_with_its_undo(studio: Studio, tmp_path: Path) -> None:
    window, session = studio.window, studio.window.session
    document, runs = session.document, session.runs
    path = tmp_path / "mine.txt"
    path.write_text("low lower lowest\n", encoding="utf-8")
    studio.open(path)
    document.set_text("low lower lowest new newest\n")
    studio.wait(lambda: session.counting.counts is not None and len(session.counting.counts) == 5)
    window.actions_.train.trigger()
    studio.wait(lambda: runs.current is not None and runs.current.origin.corpus_name == "mine.txt")
    studio.wait_finished()
    window.actions_.train_as_you_type.trigger()  # off: nothing changes by itself meanwhile
    session.settings.choose(objective="score")
    window.actions_.train.trigger()
    studio.wait(lambda: len(runs.all) == 2 and window.model.state is TrainerState.FINISHED)
    session.settings.choose(objective="count", vocab_size=31)
    window.model.seek(2)
    window.actions_.keep_step.trigger()
    window.tokenization_pane.edit.setPlainText("lowest of the new")
    window.view_controller.choose_layout("engineer")
    window.docks.close_panel("charts")
    before, runs_before, undone = window.project.capture(), runs.all, document.undo_stack.count()
    unsaved = unsaved_work(session, window.project)
    arrangement = window.view_controller.arrangement()
    settings = window.settings.values
    others = [run for run in runs.all if run is not runs.current]

    begin(studio)
    assert document.text != before.corpus.text
    assert window.project.capture() is window.project.capture()
    assert content_of(window.project.capture()) == content_of(before)  # which is kept, and saved after a crash
    assert unsaved_work(session, window.project) == unsaved
    assert not window.actions_.save_project.isEnabled()
    assert not document.undo_stack.canUndo()
    document.set_text("other words")
    window.actions_.undo.trigger()
    assert document.text != "other words"
    window.tokenization_pane.edit.setPlainText("mine no longer")
    window.docks.bring("charts")
    window.actions_.lesson_leave.trigger()

    after = window.project.capture()
    assert content_of(after) == content_of(before)
    assert after.view == before.view
    assert after.corpus == before.corpus
    assert after.settings == before.settings
    assert runs.all == runs_before
    assert document.path == path
    assert unsaved_work(session, window.project) == unsaved
    assert window.view_controller.arrangement() == arrangement
    assert msgspec.structs.replace(window.settings.values, lessons={}) == msgspec.structs.replace(settings, lessons={})
    assert document.undo_stack.count() == undone
    window.actions_.undo.trigger()
    assert document.text == "low lower lowest\n"
    assert not document.is_modified
    window.actions_.redo.trigger()
    assert document.text == before.corpus.text
    runs.close(others[0])
    assert others[0] not in runs.all
    begin(studio)
    window.actions_.lesson_leave.trigger()
    window.actions_.undo.trigger()
    assert others[0] in runs.all


def test_a_lesson_that_is_dropped_is_opened_and_what_is_wrong_is_told(studio: Studio, tmp_path: Path) -> None:
    window, path = studio.window, tmp_path / "mine.md"
    text = SCORE.read_text("utf-8").replace("ask: n(##g)", "ask: ties(99)")
    path.write_text(text, encoding="utf-8")
    window.corpus_controller.open_paths([path], are_dropped=True)
    line = text.splitlines().index("ask: ties(99)") + 1
    assert f"mine.md, line {line}: there is no step 99" in studio.box().text()
    studio.box().close()
    path.write_text(SCORE.read_text("utf-8"), encoding="utf-8")
    window.corpus_controller.open_paths([path], are_dropped=True)
    studio.wait(lambda: window.lesson_controller.lesson is not None)
    assert not window.session.opening.is_running
    other = tmp_path / "a.txt"
    other.write_text("other words", encoding="utf-8")
    studio.open(other)
    assert window.lesson_controller.lesson is None
    assert window.session.document.path == other


@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_every_lesson_can_be_played(studio: Studio, path: Path) -> None:
    lesson = read_lesson(path)
    controller, window, strip = begin(studio, path), studio.window, studio.window.lesson_strip
    assert len(lesson.pages) > 2
    for number, page in enumerate(lesson.pages):
        assert (controller.number, strip.title.text()) == (number, page.title)
        if page.question is not None:
            if page.question.kind != "trained":
                window.actions_.lesson_check.trigger()
                assert not strip.said.text().startswith("Right."), f"page {number + 1} asks for what is there already"
            if page.question.kind == "predict":
                studio.wait(lambda: bool(window.session.prediction.candidates))
            window.actions_.lesson_show.trigger()
            studio.wait(lambda: window.model.state is TrainerState.FINISHED)
            window.actions_.lesson_check.trigger()
            assert strip.said.text().startswith("Right."), strip.said.text()
            assert strip.said.property("role") == "success"
        window.actions_.lesson_next.trigger()
    assert controller.lesson is None


def test_the_first_start_offers_a_lesson_once(studio: Studio) -> None:
    banner = studio.window.notices.lesson
    assert not banner.text
    studio.window.show_soon()
    studio.wait(lambda: bool(banner.text))
    assert "Help › Lessons" in banner.text
    banner.button.click()
    studio.wait(lambda: studio.window.lesson_controller.lesson is not None)
    assert not banner.text
    studio.window.lesson_controller.offer()
    assert not banner.text


def test_what_is_put_aside_survives_a_crash_during_the_lesson(studio: Studio) -> None:
    window = studio.window
    studio.set_text("my own words, in no file")
    begin(studio)
    studio.set_text("the words of the lesson, edited")
    studio.wait(lambda: window.recovery.keeper.is_idle, 10_000)
    window.leave_at_once()  # as after a signal: nothing is asked
    (found,) = find_recoverable(recovery_folder())
    found.lock.release()
    assert recover(found).project.corpus.text == "my own words, in no file"


def test_closing_the_window_during_a_lesson_asks_about_what_was_open_before(studio: Studio) -> None:
    window = studio.window
    studio.set_text("my own words, in no file")
    begin(studio)
    window.close()
    assert window.isVisible()
    assert "score" not in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Cancel)
    assert window.lesson_controller.lesson is not None  # as it was
    window.actions_.lesson_leave.trigger()
    assert window.session.document.text == "my own words, in no file"


def test_what_a_lesson_types_and_searches_for_goes_with_it(studio: Studio) -> None:
    window, live, search = studio.window, studio.window.tokenization_pane.edit, studio.window.vocabulary_pane.controls
    search.search("g")
    live.selectAll()
    QTest.keyClicks(live, "my own")
    begin(studio)
    assert not search.filter.text
    search.search("hug")
    window.actions_.lesson_next.trigger()
    assert not search.filter.text
    window.actions_.lesson_leave.trigger()
    assert (search.filter.text, live.text) == ("g", "my own")
    live.undo()
    assert live.text == "my own"
    QTest.keyClicks(live, " hats")
    live.undo()
    assert "hats" not in live.text
    assert "own" in live.text  # what is typed is undone alone


def test_lessons_are_found_by_the_palette_and_explained(studio: Studio) -> None:
    window, help_controller = studio.window, studio.window.help_controller
    window.actions_.command_palette.trigger()
    assert help_controller.palette is not None
    found = [entry for entry in help_controller._found("lesson ties") if entry.action is not None]
    help_controller.palette.leave()
    assert found
    found[0].action.trigger()
    studio.wait(lambda: window.lesson_controller.lesson is not None)
    assert window.lesson_controller.lesson.title == "Ties"
    strip = window.lesson_strip
    assert entry_at(strip, strip.mapToGlobal(QPoint(5, 5))) == "lessons"


def test_what_is_typed_where_no_answer_is_asked_for_changes_nothing(studio: Studio, doing: LessonController) -> None:
    window = studio.window
    assert doing.number == 0
    assert window.focusWidget() is window.lesson_strip
    before = window.session.document.text
    QTest.keyClicks(window.focusWidget(), "12")
    assert window.session.document.text == before
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    assert window.model.step == 1


def test_a_corpus_of_files_comes_back_counted_and_can_be_undone(studio: Studio, tmp_path: Path) -> None:
    window, session = studio.window, studio.window.session
    paths = [tmp_path / name for name in ("one.txt", "two.txt", "three.txt")]
    for path in paths:
        path.write_text(f"hugs and pugs of {path.stem}\n", encoding="utf-8")
    window.actions_.train_as_you_type.trigger()  # off
    studio.open(*paths[:2])
    window.corpus_controller.add_paths(paths[2:])
    studio.wait_opened()
    studio.wait(lambda: len(session.document.files.rows) == 3 and session.counting.counts is not None)
    before, words = window.project.capture(), session.counting.counts
    begin(studio)
    assert not session.document.is_files
    window.actions_.lesson_leave.trigger()
    studio.wait(lambda: session.counting.counts is not None)
    assert content_of(window.project.capture()) == content_of(before)
    assert session.counting.counts == words
    window.actions_.undo.trigger()
    assert [Path(row.file.path).name for row in session.document.files.rows] == ["one.txt", "two.txt"]
