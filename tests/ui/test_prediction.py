"""Predicting in the window: by keys alone, by clicks, as an exercise, and what of it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.session.conftest import HUGS
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.table_model import VALUE_ROLE
from wordpiece_studio.storage.project.contents import Run, RunOrigin
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train
from wordpiece_studio.ui.widgets.chips import FlowItem
from wordpiece_studio.ui.widgets.fields import ScreenDialog
from wordpiece_studio.ui.widgets.table import CELL_PADDING, TableView

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio

Key = Qt.Key
_FIRST_COUNT, _SCORE = 2, 5  # columns


def begin(studio: Studio, step: int = 1, counts: WordCounts | None = None) -> None:
    """Show the course's five words by the score, and ask which pair is merged after a step."""
    counts, config = counts or WordCounts.from_pairs(HUGS), TrainingConfig(objective="score", max_merges=6)
    run = Run(counts, config, train(counts, config).history, stop_reason="max_merges", origin=RunOrigin(True, "hugs"))
    studio.window.session.runs.take([run], run, step)
    window = studio.window
    studio.wait(lambda: len(window.timeline_pane.plot.values) == 6)
    window.activateWindow()
    studio.wait(window.isActiveWindow)
    QTest.keyClick(window, Key.Key_P)
    assert len(window.timeline_pane.plot.values) == step  # at once: what is hidden is not painted again
    assert not window.scoreboard_pane.candidates_view.ranking
    wait_for_question(studio)


def wait_for_question(studio: Studio) -> None:
    prediction, view = studio.window.session.prediction, studio.window.scoreboard_pane.prediction_view
    studio.wait(lambda: bool(prediction.candidates) and view.isVisible())
    view.refresh()


def pairs(studio: Studio) -> list[str]:
    return [row.pair_text for row in studio.window.scoreboard_pane.prediction_view.rows.records]


def cells(studio: Studio, row: int) -> list[str]:
    rows = studio.window.scoreboard_pane.prediction_view.rows
    return [rows.text(row, column) for column in range(_FIRST_COUNT, _SCORE + 1)]


def test_space_reveals_after_a_click_on_predict_with_the_caret_in_a_text(studio: Studio) -> None:
    window = studio.window
    begin(studio)
    window.actions_.predict.trigger()
    for field in (window.corpus_pane.editor, window.tokenization_pane.edit):
        field.setFocus()
        window.actions_.predict.trigger()
        wait_for_question(studio)
        QTest.keyClick(window.focusWidget() or window, Key.Key_Space)
        assert window.session.prediction.is_revealed
        window.actions_.predict.trigger()


def test_a_lecturer_presses_the_space_bar_alone(studio: Studio) -> None:
    begin(studio)
    window, pane = studio.window, studio.window.scoreboard_pane
    assert not window.actions_.bookmarks.isEnabled()
    assert not window.actions_.check_tokenizer.isEnabled()
    view, model, prediction = pane.prediction_view, window.model, window.session.prediction
    studio.wait(lambda: pane.title == "Which pair is merged next?")
    assert (model.step, model.merge_count) == (1, 1)
    assert pairs(studio) == sorted(pairs(studio))
    for row in range(len(pairs(studio))):
        assert cells(studio, row) == ["?", "?", "?", "?"]
        assert view.rows.index(row, _SCORE).data(VALUE_ROLE) == "?"
    assert [view.rows.records[row].mark for row in range(len(pairs(studio)))] == [""] * len(pairs(studio))
    assert not window.actions_.play.isEnabled()
    assert not window.actions_.run_to_breakpoint.isEnabled()
    QTest.keyClick(window, Key.Key_Space)
    assert prediction.is_revealed
    assert (pairs(studio)[0], view.rows.records[0].mark) == ("h ##u", "merged")
    assert cells(studio, 0) == ["15", "15", "36", "1/36"]
    assert [row.look.is_marked for row in view.rows.records] == [True] + [False] * 5
    assert view.sentence.text().startswith("6 pairs share 1/36: a tie. h ##u is merged")
    QTest.keyClick(window, Key.Key_Space)
    assert model.step == 2
    assert [row.word for row in view.words.records if row.is_changed] == ["hug", "hugs"]
    wait_for_question(studio)
    window.actions_.next_merge.trigger()  # as a clicker does
    assert (prediction.is_revealed, model.step) == (True, 2)
    window.actions_.previous_merge.trigger()
    assert (model.step, model.merge_count) == (1, 1)
    assert not [row for row in view.words.records if row.is_changed]  # it would show what is asked
    wait_for_question(studio)
    view.table.setFocus()
    window.actions_.first_merge.trigger()
    wait_for_question(studio)
    QTest.keyClick(view.table, Key.Key_Home, Qt.KeyboardModifier.AltModifier)  # no command at step 0
    QTest.keyClick(view.table, Key.Key_PageUp)
    assert prediction.chosen is None
    QTest.keyClick(view.table, Key.Key_PageDown)
    assert (prediction.is_revealed, prediction.chosen) == (True, None)
    QTest.keyClick(view.table, Key.Key_PageDown)
    wait_for_question(studio)
    view.words_table.setFocus()
    QTest.keyClick(view.words_table, Key.Key_Space)
    assert prediction.is_revealed
    QTest.keyClick(window, Key.Key_P)
    studio.wait(lambda: pane.title != "Which pair is merged next?")
    assert model.merge_count > 1
    assert not view.isVisible()
    assert window.actions_.play.isEnabled()


def test_a_pane_that_is_hidden_forgets_what_it_revealed(studio: Studio) -> None:
    begin(studio)
    window, prediction = studio.window, studio.window.session.prediction
    view, panel = window.scoreboard_pane.prediction_view, window.docks.panels["scoreboard"]
    hint = panel.title_bar._hint_label
    prediction.reveal()
    window.model.next_merge()
    wait_for_question(studio)
    prediction.reveal()
    assert "merged" in [row.mark for row in view.rows.records]
    assert "is merged" in view.sentence.text()
    assert view.words.records
    studio.wait(lambda: hint.forms[0].startswith("before merge 3"))
    panel.toggle_action.trigger()
    assert not view.isVisible()
    assert hint.forms == ("",)
    window.model.seek(1)
    assert (view.rows.records, view.words.records, view.sentence.text()) == ([], [], "")
    panel.toggle_action.trigger()
    wait_for_question(studio)
    assert [row.mark for row in view.rows.records] == [""] * len(prediction.candidates)
    assert view.words.records
    studio.wait(lambda: hint.forms[0].startswith("before merge 2"))


def test_windows_that_know_what_comes_next_are_hidden_meanwhile(studio: Studio) -> None:
    window, actions, prediction = studio.window, studio.window.actions_, studio.window.session.prediction
    for name in ("bookmarks", "check_tokenizer", "extend_vocabulary", "prune_vocabulary", "shortcuts"):
        getattr(actions, name).trigger()

    def shown() -> set[str]:
        return {type(each).__name__ for each in window.findChildren(ScreenDialog) if each.isVisible()}

    before = {"MarksDialog", "CheckWindow", "AdaptWindow", "KeysWindow"}
    assert shown() == before
    for _ in range(2):
        prediction.begin()
        assert shown() == {"KeysWindow"}
        prediction.go_on()
        assert shown() == {"KeysWindow"}
        prediction.end()
        assert shown() == before
    prediction.begin()
    window.vocabulary_controller.close()  # which ends what they do, though they are hidden
    assert window.vocabulary_controller.checking is None
    for each in window.findChildren(ScreenDialog):
        each.reject()


def test_a_student_chooses_and_counts(studio: Studio) -> None:
    begin(studio, 0)
    window, view = studio.window, studio.window.scoreboard_pane.prediction_view
    prediction = window.session.prediction
    assert studio.window.scoreboard_pane.title == "Which pair is merged next?"
    assert studio.window.scoreboard_pane.hints[0] == "before merge 1 · alphabetical order"
    row = pairs(studio).index("##u ##g")
    QTest.mouseClick(
        view.table.viewport(), Qt.MouseButton.LeftButton,
        pos=view.table.visualRect(view.rows.index(row, 0)).center(),
    )  # fmt: skip
    assert prediction.chosen == ("##u", "##g")
    for column, text in enumerate(("20", "35", ""), _FIRST_COUNT):
        view.rows.setData(view.rows.index(row, column), text)
    assert prediction.counts == (20, 35, None)
    view.words_table.chip_chosen.emit("h")
    assert view.words_title.text() == "h occurs 10 + 5 = 15 times"
    lit = [[item.text for item in next(iter(view.words.columns[0].chips(view.words.records, row)[0])) if item.selected]  # type: ignore[misc]
           for row in range(5)]  # fmt: skip
    assert lit == [["h"], [], [], [], ["h"]]
    view.words_table.chip_chosen.emit("h")
    assert view.words_title.text() == "Words, in the order of the text"
    QTest.keyClick(view.table, Key.Key_Space)
    assert view.sentence.text().startswith(
        "Not this one. ##u ##g has 20 / (36 × 20) = 1/36: frequent, but ##u is every"
    )
    assert cells(studio, pairs(studio).index("##u ##g"))[:3] == ["20", "35 ✗ 36", "20"]
    column = _FIRST_COUNT + 1
    needed = view.table.fontMetrics().horizontalAdvance("35 ✗ 36") + 2 * CELL_PADDING
    assert view.table.columnWidth(column) >= needed
    assert prediction.tally == "0 of 1 right"
    window.actions_.type_live_text.trigger()
    field = window.focusWidget()
    assert field is not None
    QTest.keyClicks(field, " p")  # what is typed is not a command
    assert prediction.is_on
    assert window.model.step == 0


def test_an_exercise_is_saved_for_a_teacher(studio: Studio, tmp_path: Path) -> None:
    begin(studio, 0)
    window = studio.window
    prediction = window.session.prediction
    window.actions_.choice("choose_exercise", "undo").trigger()
    for pair in (("h", "##u"), ("##g", "##s")):
        wait_for_question(studio)
        prediction.choose(pair)
        QTest.keyClick(window, Key.Key_Space)
    assert prediction.is_revealed
    window.prediction_controller.write_predictions(str(tmp_path / "page.md"))
    page = (tmp_path / "page.md").read_text("utf-8")
    assert "| 1 | `h ##u`, `##g ##s` |  | `##g ##s` | wrong |" in page
    assert "hug" in page.splitlines()[2]
    view = window.scoreboard_pane.prediction_view
    assert not view.save_button.isVisible()
    while prediction.has_question:
        prediction.reveal()
        prediction.go_on()
    assert view.sentence.text() == "0 of 1 right. Wrong choices: merges 1."
    assert view.save_button.isVisible()
    assert view.save_button.text() == "Save what you did…"


def test_what_decides_is_brought_into_view(studio: Studio) -> None:
    """The word, far down, that has the pair; the pair that is merged, and the one chosen, though a sentence comes."""
    words = [(f"{first}{second}", 2) for first in "abcdefgh" for second in "klmn"] + [("xyzt", 1), ("xyz", 9)]
    begin(studio, 0, WordCounts.from_pairs(words))
    window, view = studio.window, studio.window.scoreboard_pane.prediction_view
    assert window.scoreboard_pane.hints[0] == "before merge 1 · the 30 best in alphabetical order"
    assert view.more_button.text() == "Show more than the 30 best"
    window.session.prediction.choose(("a", "##k"))
    view.words_table.chip_chosen.emit("a")  # what was counted gives way to what is merged
    window.session.prediction.reveal()
    lit = [at for at, word in enumerate(view.words.records) if any(word.lit)]
    merged = [at for at, each in enumerate(view.rows.records) if each.mark == "merged"]
    for table, rows, place in ((view.words_table, view.words, lit[0]), (view.table, view.rows, merged[0])):
        assert table.viewport().rect().contains(table.visualRect(rows.index(place, 1)))
    window.docks.fill("scoreboard")  # where there is room, what is said is large, and the words stand beside
    studio.wait(lambda: view.sentence.fontMetrics().height() > view.table.fontMetrics().height())
    assert view.words_table.x() > view.table.geometry().right()


def test_a_view_has_prediction_and_the_run_stays_whole(studio: Studio) -> None:
    begin(studio)
    session, model = studio.window.session, studio.window.model
    view = session.view()
    assert view.is_predicting
    project = studio.window.project.capture()
    assert project.view == view
    assert len(project.runs[view.current].history) > 1
    QTest.keyClick(studio.window, Key.Key_P)
    assert not session.view().is_predicting
    model.seek(3)
    session.show_view(view)
    assert (model.step, model.merge_count, session.prediction.is_on) == (1, 1, True)


def test_prediction_goes_on_with_a_sample_and_a_new_corpus(studio: Studio) -> None:
    begin(studio)
    window, session, model = studio.window, studio.window.session, studio.window.model
    window.corpus_controller.load_sample("hug.txt")
    studio.wait(lambda: model.run is not None)
    assert (session.prediction.is_on, model.step, model.merge_count) == (True, 0, 0)
    assert not [chip.text() for chip in window.bar.rules.chips]
    wait_for_question(studio)
    window.corpus_controller._begin_empty()
    assert session.prediction.is_on
    studio.set_text("hug hugs pug")
    window.actions_.train.trigger()
    studio.wait_finished()
    assert (model.step, model.merge_count) == (0, 0)
    wait_for_question(studio)


def test_no_rules_of_later_steps_are_shown(studio: Studio) -> None:
    begin(studio)
    session, rules = studio.window.session, studio.window.bar.rules
    session.settings.choose(chosen_merges=((1, "h", "##u"), (3, "hu", "##g")))
    session.model.seek(1)
    assert [chip.text().split("  ")[0] for chip in rules.chips] == ["Step 1: h + ##u"]
    session.prediction.end()
    assert len(rules.chips) == 2


def test_no_menu_of_a_selection_opens_on_an_answer(studio: Studio) -> None:
    begin(studio)
    view = studio.window.scoreboard_pane.prediction_view
    policies = {table.contextMenuPolicy() for table in view.findChildren(TableView)}
    assert policies == {Qt.ContextMenuPolicy.DefaultContextMenu}


def test_chips_that_count_are_those_of_the_words(studio: Studio) -> None:
    begin(studio)
    view = studio.window.scoreboard_pane.prediction_view
    chips = next(iter(view.words.columns[0].chips(view.words.records, 4)[0]))  # type: ignore[misc]
    assert [item.target for item in chips if isinstance(item, FlowItem)] == ["h", "##u", "##gs"]


def test_how_a_word_is_split_is_asked_and_revealed(studio: Studio) -> None:
    begin(studio, 4)
    window = studio.window
    pane, view = window.tokenization_pane, window.tokenization_pane.split_view
    QTest.keyClick(window, Key.Key_P)
    window.session.set_live_text("pugs hugs mug a")
    studio.wait(lambda: pane.live.text == "pugs hugs mug a")
    window.actions_.predict_split.trigger()
    assert view.isVisible()
    assert not pane.chips.isVisible()
    assert not pane.why.isVisible()
    assert view.letters.accessibleName() == "How is “pugs” split?"
    said = [label.text() for label in pane.findChildren(QLabel) if label.isVisible()]
    assert not [text for text in said if "tokens" in text]  # not even how many
    tokens = pane.live.tokenizer.encode("pugs").tokens  # type: ignore[union-attr]
    view.letters.chosen.emit(1)
    view.letters.setFocus()
    QTest.keyClick(view.letters, Key.Key_Space)
    assert [item.text for item in view.letters.items] == [*tokens, "Your split: p │ ugs"]
    assert tokens == ["p", "##u", "##gs"]
    assert view.said.text() == "From character 2 on, the first piece is ##u."
    assert pane.why.isVisible()
    assert pane.why.title.startswith("Why “##u” in “pugs”")  # where the split goes wrong
    view.piece_chosen.emit(len(tokens) - 1)
    assert pane.why.title.startswith(f"Why “{tokens[-1]}” in “pugs”")
    pane.edit.setFocus()
    QTest.keyClick(pane.edit, Key.Key_PageDown)
    assert view.letters.accessibleName() == "How is “hugs” split?"
    assert not pane.why.isVisible()
    trace = pane.live.tokenizer.explain("hugs")  # type: ignore[union-attr]
    for position in trace.positions[1:]:
        view.letters.chosen.emit(position.start)
    QTest.keyClick(window, Key.Key_Space)
    assert view.is_right
    assert view.said.text().startswith("Right.")
    QTest.keyClick(window, Key.Key_Space)
    QTest.keyClick(window, Key.Key_Space)
    assert view.said.text().startswith("The word is unknown")  # mug
    QTest.keyClick(window, Key.Key_Space)
    studio.wait(lambda: pane.chips.isVisible())  # one letter is not asked about
    assert not view.is_asking
    assert not window.actions_.reveal.isEnabled()
