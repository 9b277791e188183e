"""The whole window, run by key, menu and button."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QMessageBox, QSpinBox, QToolButton

from wordpiece_studio.session.project_state import unsaved_work
from wordpiece_studio.session.samples import document_titles, sample_project
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.continuing import replayed
from wordpiece_studio.ui.actions import REASON
from wordpiece_studio.ui.dialogs.file_questions import unsaved_work_box
from wordpiece_studio.ui.panes.comparison.comparison_pane import Tab
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusTab
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.rule_chips import RuleChips
from wordpiece_studio.ui.training_bar import FurtherDialog

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio

_DISCARD = QMessageBox.StandardButton.Discard
_CANCEL = QMessageBox.StandardButton.Cancel


def press(studio: Studio, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    studio.qtbot.keyClick(studio.window, key, modifier)


def train_anew(studio: Studio) -> None:
    """Train by the button, so that the run is one that the user asked for."""
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.actions_.train.trigger()
    studio.wait_finished()


# -- the start


def test_the_first_window_shows_the_sample_in_mid_training_and_one_primary_button(
    studio: Studio,
) -> None:
    model = studio.window.model
    assert model.merge_count == 25
    assert model.step == 12
    assert model.progress.vocabulary_size == 70
    assert len(model.config.special_tokens) == 5
    assert model.config.objective == "score"
    pane = studio.window.corpus_pane
    assert pane.editor.view_part(0, 16) == "This is the Hugg"
    assert [pane.figures.values[name] for name in ("lines", "distinct", "symbols", "alphabet")] == [
        "4", "30", "171", "40",
    ]  # fmt: skip
    primary = [button for button in studio.window.bar.findChildren(QToolButton) if button.property("role") == "primary"]
    assert [button.text() for button in primary] == ["Train"]


# -- moving in time


def test_keys_move_between_steps_in_the_window_a_table_and_the_editor(studio: Studio) -> None:
    for key, modifier, step in (
        (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, 13),
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, 11),
        (Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier, 13),
        (Qt.Key.Key_F10, Qt.KeyboardModifier.NoModifier, 13),
        (Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier, 11),
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, 0),
        (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, 25),
    ):
        studio.window.model.seek(12)
        press(studio, key, modifier)
        assert studio.window.model.step == step, (key, modifier)
    studio.window.activateWindow()
    view = studio.window.history_pane.view
    view.setFocus()
    for modifier in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier):
        for key, row in ((Qt.Key.Key_End, 24), (Qt.Key.Key_Home, 0)):
            studio.qtbot.keyClick(view, key, modifier)
            assert view.currentIndex().row() == row
            assert studio.window.model.step == row + 1  # the beginning, which no row has, would be 0
    studio.window.model.seek(12)
    editor = studio.window.corpus_pane.editor
    editor.setFocus()
    studio.qtbot.keyClick(editor, Qt.Key.Key_Right)
    assert studio.window.model.step == 12
    assert editor.textCursor().position() == 1
    studio.qtbot.keyClick(editor, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert studio.window.model.step == 13
    live, search = studio.window.tokenization_pane.edit, studio.window.corpus_pane.words_tab._field
    studio.window.corpus_pane.show_tab(CorpusTab.WORDS)
    for field in (live, search):  # Right has no other use at the end of a line, and Escape leaves it
        studio.window.model.seek(12)
        field.setFocus()
        studio.qtbot.keyClicks(field, "hu")
        studio.qtbot.keyClick(field, Qt.Key.Key_Left)
        studio.qtbot.keyClick(field, Qt.Key.Key_Right)
        assert studio.window.model.step == 12
        studio.qtbot.keyClick(field, Qt.Key.Key_Right)
        assert studio.window.model.step == 13
        field.selectAll()
        studio.qtbot.keyClick(field, Qt.Key.Key_Delete)
        studio.qtbot.keyClick(field, Qt.Key.Key_Escape)
        assert not field.hasFocus()
        press(studio, Qt.Key.Key_Left)
        assert studio.window.model.step == 12
    studio.window.setFocus()
    press(studio, Qt.Key.Key_Space)
    assert studio.window.player.is_playing
    assert studio.window.actions_.play.isChecked()
    press(studio, Qt.Key.Key_Space)
    assert not studio.window.player.is_playing
    studio.window.actions_.last_merge.trigger()
    studio.window.actions_.next_merge.trigger()
    assert "vocabulary size reached" in studio.window.notices.training.text
    assert studio.window.model.step == 25


def test_next_begins_a_training_where_there_is_none(empty_studio: Studio) -> None:
    empty_studio.window.session.document.set_text("hug hug pug")
    empty_studio.window.actions_.next_merge.trigger()
    empty_studio.wait(lambda: empty_studio.window.model.merge_count == 1)
    assert empty_studio.window.model.state is TrainerState.PAUSED
    empty_studio.window.actions_.next_merge.trigger()
    empty_studio.wait(lambda: empty_studio.window.model.merge_count == 2)
    assert empty_studio.window.model.step == 2


# -- training


def test_training_the_untouched_sample_and_again_adds_a_run_and_asks_nothing(studio: Studio) -> None:
    train_anew(studio)
    assert studio.window.model.merge_count == 25
    assert studio.window.model.step == 25
    first = studio.window.model.run
    studio.window.session.settings.set_config(TrainingConfig(vocab_size=70, objective="count"))
    train_anew(studio)
    assert not studio.has_box()
    assert studio.window.session.runs.all == (first, studio.window.model.run)
    assert len(first.history) == 25


def test_train_further_keeps_what_was_learned(studio: Studio) -> None:
    model = studio.window.model
    history, first = model.history, [merge.token for merge in model.history]
    studio.window.actions_.train_further.trigger()
    box = next(
        each for each in studio.window.findChildren(QSpinBox) if each.accessibleName().startswith("New vocabulary")
    )
    box.setValue(90)
    box.window().accept()
    studio.wait(lambda: model.progress.vocabulary_size == 90)
    studio.wait_finished()
    assert model.history is history
    assert [merge.token for merge in history][:25] == first
    assert studio.window.session.settings.target_size == 90


def test_another_objective_trains_another_vocabulary(studio: Studio) -> None:
    box = next(each for each in studio.window.findChildren(QComboBox) if each.accessibleName() == "Objective")
    box.setCurrentIndex(2)
    assert "Settings changed" in studio.window.bar.progress_label.forms[0]
    train_anew(studio)
    assert studio.window.model.config.objective == "count"
    assert "70 tokens" in studio.window.bar.progress_label.forms[0]


def test_a_target_below_the_alphabet_names_the_minimum_beside_the_work(studio: Studio) -> None:
    studio.window.session.settings.set_target_size(20)
    studio.window.actions_.train.trigger()
    studio.wait(lambda: bool(studio.window.notices.training.text))
    assert "45" in studio.window.notices.training.text
    assert not studio.has_box()
    assert studio.window.model.merge_count == 25  # what was learned before is still there
    studio.window.notices.training.button.click()
    studio.wait(lambda: studio.window.model.progress.vocabulary_size == 100)


def test_an_empty_corpus_and_words_that_are_too_long_are_reasons_for_no_words(studio: Studio) -> None:
    studio.window.actions_.new_corpus.trigger()
    studio.wait(lambda: not studio.window.actions_.train.isEnabled())
    assert "no words" in studio.window.actions_.train.property(REASON)
    studio.set_text("x" * 5000)
    studio.wait(lambda: "too long: line 1, length 5,000" in studio.window.actions_.train.property(REASON))
    assert not studio.window.actions_.train.isEnabled()


def test_what_is_odd_about_a_corpus_is_reported_when_the_user_trains(studio: Studio) -> None:
    studio.set_text("[UNK] hug hug ##gs ##gs")
    studio.window.session.settings.set_config(TrainingConfig())
    assert not studio.window.notices.training.text
    train_anew(studio)
    assert "[UNK] (1×)" in studio.window.notices.training.text


def test_odd_little_corpora_train(studio: Studio) -> None:
    for text in ("x", "[UNK] ##a ##a [UNK] ## # \U0001f917"):
        studio.set_text(text)
        train_anew(studio)
        assert studio.window.model.history.segmentation(studio.window.model.counts.words[0], 0)


def test_nothing_learned_is_explained(studio: Studio) -> None:
    studio.window.session.settings.set_config(TrainingConfig(vocab_size=70, min_frequency=1000))
    train_anew(studio)
    assert "of 1,000" in studio.window.notices.training.text
    studio.window.session.settings.set_config(TrainingConfig())
    studio.set_text("春天来了")
    train_anew(studio)
    assert "Chinese kept together" in studio.window.notices.training.text
    studio.set_text("a")
    studio.window.actions_.train.trigger()
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.wait_finished()
    assert "no pair to merge" in studio.window.notices.training.text
    assert "Chinese" not in studio.window.notices.training.text


@pytest.mark.slow
def test_stop_keeps_what_was_learned(studio: Studio) -> None:
    studio.set_text(" ".join(f"{number:x}{number:o}" for number in range(3000)))
    studio.window.session.settings.set_target_size(0)
    with studio.qtbot.waitSignal(studio.window.model.merges_appended, timeout=20_000):
        studio.window.actions_.train.trigger()
    studio.window.actions_.stop.trigger()
    studio.wait_finished()
    assert studio.window.model.merge_count > 0
    assert studio.window.model.stop_reason == "user"
    assert "stopped" in studio.window.bar.progress_label.forms[0]


def test_pause_and_resume(studio: Studio) -> None:
    studio.set_text(" ".join(f"{number:x}{number:o}" for number in range(2000)))
    studio.window.session.settings.set_target_size(0)
    model, actions = studio.window.model, studio.window.actions_
    with studio.qtbot.waitSignal(model.merges_appended, timeout=20_000):
        actions.train.trigger()
    actions.pause.trigger()
    studio.wait(lambda: model.state is TrainerState.PAUSED)
    assert actions.pause.text() == "&Resume"
    learned = model.merge_count
    actions.pause.trigger()
    studio.wait(lambda: model.merge_count > learned)
    actions.stop.trigger()
    studio.wait_finished()


def test_training_as_you_type_follows_the_text_without_asking(studio: Studio) -> None:
    train_anew(studio)
    assert studio.window.actions_.train_as_you_type.isChecked()
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.session.document.edit(0, 0, "hug ")
    studio.wait_finished()
    assert "hug" in studio.window.model.counts.words
    assert not studio.has_box()


# -- the commands


def test_no_two_commands_have_the_same_key(studio: Studio) -> None:
    keys = [key.toString() for action in studio.window.actions_.all() for key in action.shortcuts()]
    assert len(keys) == len(set(keys))


def test_all_commands_have_a_tooltip_and_those_with_a_key_name_it(studio: Studio) -> None:
    for action in studio.window.actions_.all():
        assert action.toolTip()
        if action.shortcuts():
            assert action.shortcut().toString() in action.toolTip()


def test_all_controls_have_names(studio: Studio) -> None:
    nameless = []
    for kind in (QToolButton, QComboBox, QSpinBox, QLineEdit):
        for widget in studio.window.findChildren(kind):
            inner = isinstance(widget.parent(), QSpinBox | QComboBox | QLineEdit)
            if widget.isVisible() and not inner and not (widget.accessibleName() or getattr(widget, "text", str)()):
                nameless.append(repr(widget))
    assert not nameless


def test_the_window_fits(studio: Studio) -> None:
    window = studio.window
    for size in ((1440, 900), (1024, 700)):
        window.resize(*size)
        studio.qtbot.wait(50)
        assert (window.width(), window.height()) == size
        for name in ("corpus", "scoreboard", "tokenization", "timeline"):
            panel = window.docks.panels[name]
            assert window.docks.rect().contains(panel.geometry()), name
        assert window.bar.settings.geometry().right() < window.bar.width()


# -- samples


def test_a_sample_is_trained_at_once_with_a_sentence_of_its_own(studio: Studio) -> None:
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.corpus_controller.open_sample("hug.txt")
    studio.wait_finished()
    assert [merge.token for merge in studio.window.model.history][:3] == ["##gs", "hu", "hugs"]
    studio.wait(lambda: studio.window.tokenization_pane.text == "hugs pug puns mug")


def test_the_smallest_sample_opens_at_its_first_step_and_the_others_at_their_last(studio: Studio) -> None:
    model = studio.window.model
    for name, shown in (("hug.txt", 1), ("spanish.txt", None)):
        with studio.qtbot.waitSignal(model.run_reset):
            studio.window.corpus_controller.open_sample(name)
        studio.wait_finished()
        studio.wait(lambda shown=shown: model.step == (model.merge_count if shown is None else shown))
        assert model.merge_count > 1


@pytest.mark.slow
def test_typing_amid_the_live_text_leaves_the_caret_and_the_undo_steps_alone(studio: Studio) -> None:
    edit = studio.window.tokenization_pane.edit
    studio.window.tokenization_pane.set_text("hugs bugs")
    cursor = edit.textCursor()
    cursor.setPosition(4)
    edit.setTextCursor(cursor)
    QTest.keyClicks(edit, " mug")
    assert (edit.text, edit.textCursor().position()) == ("hugs mug bugs", 8)
    assert studio.window.session.live_text == edit.text
    edit.undo()
    assert edit.text == "hugs bugs"


def test_the_chinese_sample_learns_merges_and_leaves_no_trace_in_the_next(studio: Studio) -> None:
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.corpus_controller.open_sample("chinese.txt")
    studio.wait_finished()
    assert studio.window.model.merge_count == 25
    assert studio.window.corpus_pane.figures.normalizer.name == "bert-cased:keep-chinese"
    tokens = studio.window.model.tokenizer_at(25).encode(studio.window.tokenization_pane.text).tokens
    assert "[UNK]" not in tokens
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.corpus_controller.open_sample("hug.txt")
    studio.wait_finished()
    assert studio.window.model.counts.normalizer.name == "bert-cased"


def test_a_document_opens_with_its_runs_its_text_and_its_notes(studio: Studio) -> None:
    window = studio.window
    for name in document_titles():
        project = sample_project(name)
        window.corpus_controller.open_sample(name)
        studio.wait(lambda: not window.project.reading.is_running)
        runs = window.session.runs.all
        assert [run.name for run in runs] == [tab.name for tab in project.view.tabs]
        assert [run.history.vocabulary(len(run.history)).tokens for run in runs] == [
            run.history.vocabulary(len(run.history)).tokens for run in project.runs
        ]
        assert (window.model.run, window.model.step) == (runs[0], project.view.step)
        assert window.session.live_text == window.tokenization_pane.text == project.view.live_text
        assert [note.text for note in window.session.marks.bookmarks.records] == [
            note.text for note in project.view.notes
        ]
        assert window.corpus_pane.figures.normalizer == project.run.counts.normalizer
        assert not unsaved_work(window.session, window.project).is_any
        window.session.runs.show(runs[-1])  # whatever was trained on, it can be shown
        assert window.model.run is runs[-1]
        window.corpus_controller.open_sample("hug.txt")  # nothing is asked about
        assert [len(run.history) for run in window.session.runs.all] == [9, 3]


def test_the_article_shows_both_of_its_encoders_live(studio: Studio, tmp_path: Path) -> None:
    window = studio.window
    comparison, table = window.session.comparison, window.comparison_pane.text

    def cuts() -> list[str]:
        """Return the text as it is cut by others than the step that is shown."""
        window.runs_controller.show_comparison(Tab.TEXT)
        return [" ".join(" ".join(row.splits[at]) for row in table.words) for at in range(1, len(table._steps))]

    window.corpus_controller.open_sample("traditional-chinese-article")
    studio.wait(lambda: not window.project.reading.is_running)
    window.model.last()
    assert cuts() == ["ne w est</w> </u> i </u> i </u> w </u>", "newe ##st [UNK]"]
    titles = [table.rows.title(at) for at in range(table.rows.columnCount())]
    assert titles[1:] == ["A · 21 tokens", "A, longest token first · 10 tokens", "C · 3 tokens"]
    tips = [table.rows.index(row, 2).data(Qt.ItemDataRole.ToolTipRole) for row in range(len(table.words))]
    assert "is in the training corpus" in tips[0]
    assert "The longest token anywhere" in tips[1]
    window.actions_.choice("choose_layout", "teach").trigger()
    studio.wait(lambda: not window.timeline_pane.is_stale)
    assert [lane.name for lane in window.timeline_pane.plot.lanes] == ["Byte pair encoding", "WordPiece"]
    assert window.corpus_pane.figures.values["symbols"] == "24"  # with the ends of its four words
    save_project(tmp_path / "a.wpstudio", window.project.capture())
    longest_first = window.tokenization_pane.options.longest_first
    longest_first.trigger()
    assert cuts() == ["newe ##st [UNK]"]
    window.actions_.choice("choose_layout", "teach").trigger()
    longest_first.trigger()
    assert (window.settings.values.layout, window.comparison_pane.tab) == ("compare", Tab.TEXT)
    longest_first.trigger()
    window.project.restore(open_project(tmp_path / "a.wpstudio"))
    assert comparison.is_longest_first
    window.session.runs.show(window.session.runs.all[-1])
    window.actions_.choice("choose_layout", "teach").trigger()
    studio.wait(lambda: window.corpus_pane.figures.values["symbols"] == "20")
    assert len(cuts()) == 1  # WordPiece has no merges to cut by
    assert not longest_first.isVisible()


def test_the_notes_of_a_document_are_said_with_their_run_alone(studio: Studio) -> None:
    window, runs, said = studio.window, studio.window.session.runs, studio.window.notices.step
    window.corpus_controller.open_sample("korean-notebook")
    assert said.text.endswith("stays [UNK]. 2 bookmarks in total (Ctrl+B).")
    runs.show(runs.all[1])  # with the same merges
    assert (window.model.step, said.text) == (30, "")
    runs.show(runs.all[0])
    window.model.seek(1)
    assert said.text.startswith("The notebook says that WordPiece uses likelihood")
    window.actions_.new_corpus.trigger()
    assert said.text == ""


def test_a_run_of_another_text_is_said_to_be_of_one_and_brings_it_without_an_edit(studio: Studio) -> None:
    window, runs, corpus = studio.window, studio.window.session.runs, studio.window.corpus_pane
    words, strip = corpus.words_tab.owner, window.run_strip

    def is_said_of(letter: str) -> bool:
        said = f"Showing run {letter}, trained on a different text than the corpus."
        return (strip._button.text(), strip._said.accessibleName()) == ("Restore this run’s corpus", said)

    window.corpus_controller.open_sample("spanish-course")
    studio.wait(lambda: not window.project.reading.is_running)
    runs.show(runs.all[1])
    studio.wait(lambda: is_said_of("B") and strip.line.isVisible())
    corpus.tabs.setCurrentIndex(CorpusTab.WORDS)
    assert corpus.figures.summary_label.text().startswith("Current\u00a0corpus · Lines:\u00a012")
    assert words.text().startswith("Words of run B of Spanish course")
    window.actions_.bring_text_back.trigger()
    studio.wait(lambda: not (strip.line.isVisible() or words.text()))
    assert window.session.document.text == runs.all[1].origin.corpus.text
    assert not unsaved_work(window.session, window.project).is_any
    runs.show(runs.all[0])
    studio.wait(lambda: is_said_of("A"))
    window.actions_.train_as_you_type.trigger()  # off: a preview would be of the edited text
    window.session.document.edit(0, 0, "hug ")
    studio.wait(lambda: window.run_strip._button.text() == "Restore the earlier corpus")
    window.actions_.bring_text_back.trigger()
    assert unsaved_work(window.session, window.project).text


def test_token_details_are_found_by_what_they_show(studio: Studio) -> None:
    studio.window.actions_.command_palette.trigger()
    found = studio.window.help_controller._found("splits probabilities")
    assert [entry.action for entry in found] == [studio.window.docks.panels["token_details"].toggle_action]


def test_another_document_puts_the_question_of_the_last_one_away(studio: Studio) -> None:
    window = studio.window
    window.corpus_controller.open_sample("english-notebook")
    studio.wait(lambda: not window.project.reading.is_running and not window.tokenization_pane.is_stale)
    window.tokenization_pane.chips.chosen.emit((ChipPlace(0, 0, 0), False))
    assert window.tokenization_pane.why.isVisible()
    window.corpus_controller.open_sample("simplified-chinese-notebook")
    assert not window.tokenization_pane.why.isVisible()
    window.corpus_controller.open_sample("spanish-course")
    assert [item.text for item in window.tokenization_pane._field.offer.items] == [
        "Try: This is the Hugging Face course!"
    ]


# -- another corpus


def test_a_run_that_no_one_asked_for_goes_with_its_corpus(studio: Studio) -> None:
    studio.window.actions_.new_corpus.trigger()
    assert studio.window.model.history is None
    assert studio.window.model.state is TrainerState.IDLE
    assert not studio.window.actions_.save_vocabulary.isEnabled()
    studio.qtbot.wait(50)  # the panes take their time
    studio.set_text("hug hug pug")
    studio.window.session.settings.set_target_size(0)
    train_anew(studio)
    assert studio.window.model.merge_count
    assert not studio.has_box()


def test_a_bookmark_that_was_edited_is_one_change(studio: Studio) -> None:
    window, bookmarks = studio.window, studio.window.session.marks.bookmarks
    bookmarks.keep("first", 3)
    window.project.saved_content = window.project.content()
    bookmarks.set_text(0, "second")
    work = unsaved_work(window.session, window.project)
    assert work.notes == 1
    assert "One bookmark was added or changed." in unsaved_work_box(window, work, "hug.txt", None).informativeText()


def test_notes_of_a_run_that_is_gone_are_not_those_of_the_next(studio: Studio, tmp_path: Path) -> None:
    window, bookmarks, runs = studio.window, studio.window.session.marks.bookmarks, studio.window.session.runs
    bookmarks.keep("sample", 0)
    window.project.left_content = window.project.content()
    (tmp_path / "other.txt").write_text("hug hugs", encoding="utf-8")
    studio.open(tmp_path / "other.txt")
    train_anew(studio)
    assert (runs.current.number, bookmarks.of_run(), len(bookmarks.records)) == (0, [], 1)
    assert not unsaved_work(window.session, window.project).notes
    bookmarks.keep("mine", 0)
    runs.close(runs.current)
    window.session.document.undo_stack.undo()
    assert [note.text for note in bookmarks.of_run()] == ["mine"]


def test_the_users_run_stays_and_says_of_which_corpus_it_is(studio: Studio, tmp_path: Path) -> None:
    train_anew(studio)
    (tmp_path / "other.txt").write_text("hug", encoding="utf-8")
    studio.open(tmp_path / "other.txt")
    assert studio.window.model.merge_count == 25
    said = "Showing run A of English: the Hugging Face cou…. The corpus is now other.txt."
    studio.wait(lambda: studio.window.run_strip._said.accessibleName() == said)


def test_another_normalizer_is_a_change_of_settings(studio: Studio) -> None:
    studio.window.actions_.train_as_you_type.trigger()
    studio.window.corpus_pane.figures.choose("lowercase", "bert")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    assert studio.window.bar.progress_label.forms[0] == "Settings changed since this run"
    pane = studio.window.corpus_pane
    studio.wait(lambda: pane.note_label.text() == "Run A had normalizer bert-cased, pre-tokenizer bert.")
    assert pane.line_view.heading.text() == "Line 1, as the next run reads it"


# -- training further


def open_further(studio: Studio) -> FurtherDialog:
    studio.window.actions_.train_further.trigger()
    return next(each for each in studio.window.findChildren(FurtherDialog) if each.isVisible())


def test_going_further_says_what_it_leaves_out(studio: Studio) -> None:
    studio.window.actions_.train_as_you_type.trigger()
    dialog = open_further(studio)
    assert not dialog.note
    dialog.reject()
    studio.window.corpus_pane.figures.choose("lowercase", "bert")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    dialog = open_further(studio)
    assert "normalizer" in dialog.note
    dialog.reject()
    studio.window.corpus_pane.figures.choose("bert-cased", "bert")
    studio.window.session.document.set_text("hug hug pug")  # and it is not counted yet
    dialog = open_further(studio)
    assert "as it was when the run began" in dialog.note
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        next(each for each in dialog.buttons.buttons() if "again" in each.text()).click()
    studio.wait_finished()
    assert studio.window.model.counts.words == ["hug", "pug"]


def test_a_training_continues_on_another_text(studio: Studio) -> None:
    window = studio.window
    first = window.model.history.vocabulary(25).tokens
    window.actions_.train_as_you_type.trigger()  # else the run shown is soon one of the new text
    studio.set_text("this runs this hugging")
    window.actions_.continue_on_text.trigger()
    dialog = next(each for each in window.findChildren(FurtherDialog) if each.isVisible())
    dialog.size_box.setValue(len(first) + 12)
    with studio.qtbot.waitSignal(window.model.run_reset):
        dialog.accept()
    studio.wait_finished()
    assert window.model.counts.words == ["this", "runs", "hugging"]
    assert window.model.history.vocabulary(len(window.model.history)).tokens[: len(first)] == first
    rules = window.findChild(RuleChips)
    chips = rules.chips
    assert [chip.text() for chip in chips] == ["Continues after 25 merges  ✕"]
    window.model.seek(0)
    split = ["t", "##h", "##i", "##s"]
    assert window.model.history.segmentation("this", 0) == replayed(split, window.model.config.base_merges) != split
    chips[0].click()
    assert not window.session.settings.valid_config().base_tokens
    assert not rules.chips


def test_with_no_pair_left_there_is_no_further(studio: Studio) -> None:
    further = studio.window.actions_.train_further
    usual = further.toolTip()
    assert further.isEnabled()
    studio.set_text("hug hug pug")
    studio.window.session.settings.set_target_size(0)
    train_anew(studio)
    assert not further.isEnabled()
    assert "No pair is left" in further.toolTip()
    studio.window.corpus_controller.open_sample("course-en.txt")
    studio.answer(_DISCARD)  # text and merges
    studio.wait(lambda: studio.window.model.merge_count == 25)
    studio.wait_finished()
    assert further.isEnabled()
    assert further.toolTip() == usual


# -- the Edit menu


def test_the_edit_menu_acts_on_the_text_with_the_focus(studio: Studio) -> None:
    actions, editor = studio.window.actions_, studio.window.corpus_pane.editor
    studio.window.activateWindow()
    editor.setFocus()
    actions.refresh_menus()
    actions.select_all.trigger()
    studio.window.actions_.refresh_menus()
    assert actions.cut.isEnabled()
    actions.cut.trigger()
    assert studio.window.session.document.text == ""
    assert QGuiApplication.clipboard().text().startswith("This is the Hugging Face Course")
    actions.paste.trigger()
    assert studio.window.session.document.text.startswith("This is the Hugging Face Course")
    studio.window.bar.buttons.train.setFocus()
    studio.window.actions_.refresh_menus()
    assert not actions.paste.isEnabled()
    studio.window.session.document.note_saved()
