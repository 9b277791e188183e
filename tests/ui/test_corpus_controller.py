"""Opening and saving, in the window."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox

from wordpiece_studio.session.corpus_counting import LONGEST_WORD
from wordpiece_studio.session.document import Reading
from wordpiece_studio.storage.project.contents import LONG_SECONDS
from wordpiece_studio.storage.project.project_file import open_project
from wordpiece_studio.text.normalizers import BertNormalizer
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.corpus.reading import EncodingDialog

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio

_SAVE = QMessageBox.StandardButton.Save
_DISCARD = QMessageBox.StandardButton.Discard
_CANCEL = QMessageBox.StandardButton.Cancel


def answer(dialog: EncodingDialog, reading: Reading) -> None:
    """Set what the user would."""
    button = {"replace": dialog.replace_button, "skip-line": dialog.skip_button}
    button.get(reading.errors, dialog.read_button).setChecked(True)
    if reading.encoding is not None:
        dialog.encoding_box.setCurrentIndex(dialog.encoding_box.findData(reading.encoding))


def choose(studio: Studio, *paths: Path) -> None:
    """Choose these in the file dialog that is open, and wait until they are opened."""
    dialog = next(each for each in studio.window.findChildren(QFileDialog) if each.isVisible())
    dialog.fileSelected.emit(str(paths[0]))
    dialog.filesSelected.emit([str(path) for path in paths])
    dialog.done(1)
    studio.wait_opened()


# -- opening


def test_a_text_file_is_opened_counted_and_remembered(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "hugs & kisses.txt"
    path.write_text("hug hug\npug\n", encoding="utf-8")
    studio.window.actions_.open_file.trigger()
    choose(studio, path)
    studio.wait(lambda: studio.window.corpus_pane.figures.values["words"] == "3")
    assert studio.window.corpus_pane.hints[0] == path.name
    assert studio.window.settings.values.recent_files == ((str(path),),)
    assert "Suggested for this corpus" in studio.window.bar.progress_label.forms[0]


def test_a_missing_file_and_a_folder_without_texts_are_reported(studio: Studio, tmp_path: Path) -> None:
    before = studio.window.session.document.text
    studio.open(tmp_path / "thing.txt")
    assert "thing.txt does not exist" in studio.box().text()
    assert studio.window.session.document.text == before
    studio.answer(QMessageBox.StandardButton.Ok)
    (tmp_path / "empty").mkdir()
    studio.open(tmp_path / "empty")
    assert "empty" in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Ok)
    assert not studio.window.session.document.is_files


def open_undecodable(studio: Studio, path: Path) -> EncodingDialog:
    studio.open(path)
    return next(each for each in studio.window.findChildren(EncodingDialog) if each.isVisible())


def test_what_cannot_be_decoded_is_reported_and_changes_nothing(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "thing.txt"
    for content, words in ((b"a\x00b" * 100, "binary"), (b"caf\xe9 noir\n", "UTF-8")):
        path.write_bytes(content)
        before = studio.window.session.document.text
        dialog = open_undecodable(studio, path)
        assert words.lower() in dialog.message.lower()
        assert "thing.txt" in dialog.message
        dialog.reject()
        assert studio.window.session.document.text == before


@pytest.mark.slow
def test_an_undecodable_file_is_read_another_way(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "thing.txt"
    path.write_bytes(b"hug\ncaf\xe9 noir\n")
    for reading, text, hint in (
        (Reading("latin-1"), "hug\ncaf\xe9 noir\n", "thing.txt · Latin-1"),
        (Reading(errors="replace"), "hug\ncaf\ufffd noir\n", "thing.txt · 1 invalid sequence replaced"),
        (Reading(errors="skip-line"), "hug\n", "thing.txt · 1 line skipped"),
    ):
        dialog = open_undecodable(studio, path)
        answer(dialog, reading)
        dialog.accept()
        studio.wait_opened()
        assert studio.window.session.document.text == text
        assert studio.window.corpus_pane.hints[0] == hint


def test_an_encoding_that_does_not_fit_is_asked_for_again(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "thing.txt"
    path.write_bytes(b"caf\xe9 noir\n")
    dialog = open_undecodable(studio, path)
    answer(dialog, Reading("shift_jis"))
    dialog.accept()
    studio.wait_opened()
    again = next(each for each in studio.window.findChildren(EncodingDialog) if each is not dialog)
    answer(again, Reading("latin-1"))
    again.accept()
    studio.wait_opened()
    assert studio.window.session.document.text == "caf\xe9 noir\n"


@pytest.mark.slow
def test_a_file_read_with_losses_is_not_overwritten_unasked(studio: Studio, tmp_path: Path) -> None:
    path, other = tmp_path / "thing.txt", tmp_path / "thing.utf-8.txt"
    path.write_bytes(b"caf\xe9 noir\n")
    dialog = open_undecodable(studio, path)
    answer(dialog, Reading(errors="replace"))
    dialog.accept()
    studio.wait_opened()
    studio.window.actions_.save_corpus.trigger()
    choose(studio, path)
    studio.answer(_CANCEL)
    assert path.read_bytes() == b"caf\xe9 noir\n"
    studio.window.actions_.save_corpus.trigger()
    choose(studio, other)
    assert other.read_text(encoding="utf-8") == "caf\ufffd noir\n"
    studio.wait(lambda: studio.window.corpus_pane.hints[0] == "thing.utf-8.txt")


def test_a_recent_file_that_vanished_is_reported(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "gone.txt"
    path.write_text("hug", encoding="utf-8")
    studio.open(path)
    path.unlink()
    studio.window.actions_.refresh_menus()
    studio.window.actions_.choices("open_recent")[0].trigger()
    studio.wait_opened()
    assert "gone.txt" in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Ok)
    assert studio.window.session.document.text == "hug"


@pytest.mark.slow
def test_a_line_of_5_mb_opens_at_once_and_is_reported(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("x" * 5_000_000 + "\nhug\n", encoding="utf-8")
    began = time.process_time()
    studio.open(path)
    studio.window.repaint()
    assert time.process_time() - began < 10
    assert [file.path for file in studio.window.session.document.files.files] == [str(path)]
    assert studio.window.notices.training.text.endswith("so it is a file with a preview.")
    studio.wait(lambda: studio.window.corpus_pane.figures.values["words"] == "1", 20_000)
    assert "5,000,000" in studio.window.corpus_pane.note_label.text()


@pytest.mark.slow
def test_the_samples_open(studio: Studio) -> None:
    for action in studio.window.actions_.choices("open_sample"):
        action.trigger()
        studio.wait(lambda: studio.window.session.counting.counts is not None)
        assert studio.window.session.document.text
        assert studio.window.corpus_pane.hints[0]


# -- edits are not lost


def test_an_edited_text_is_not_replaced_without_a_question(studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("other", encoding="utf-8")
    studio.set_text("mine")
    studio.open(path)
    studio.answer(_CANCEL)
    assert studio.window.session.document.text == "mine"
    studio.open(path)
    studio.answer(_DISCARD)
    studio.wait_opened()
    assert studio.window.session.document.text == "other"


def test_save_first_and_open_then(studio: Studio, tmp_path: Path) -> None:
    other, mine = tmp_path / "other.txt", tmp_path / "mine.wpstudio"
    other.write_text("other", encoding="utf-8")
    studio.set_text("mine")
    studio.open(other)
    studio.answer(_SAVE)
    choose(studio, mine)
    studio.wait(lambda: studio.window.session.document.text == "other")
    assert open_project(mine).corpus.text == "mine"
    assert studio.window.project.path is None  # the other text is no part of it


def test_a_text_is_saved_to_the_byte_and_still_there_if_it_cannot_be(studio: Studio, tmp_path: Path) -> None:
    data = "a\r\nb\u00a0c\u2028d\n\u200be\r\n".encode()
    source, target = tmp_path / "source.txt", tmp_path / "target.txt"
    source.write_bytes(data)
    studio.open(source)
    studio.window.actions_.save_corpus.trigger()
    choose(studio, target)
    assert target.read_bytes() == data
    studio.set_text("mine")
    studio.window.actions_.save_corpus.trigger()
    choose(studio, tmp_path / "no such folder" / "mine.txt")
    assert "no such folder" in studio.box().text()
    studio.answer(QMessageBox.StandardButton.Ok)
    assert studio.window.session.document.is_modified
    studio.window.session.document.undo_stack.undo()


# -- a new corpus


def offered(studio: Studio) -> str:
    (item,) = studio.window.tokenization_pane._field.offer.items
    return item.target


def test_the_live_text_follows_the_first_line_of_a_new_corpus_until_it_is_edited(studio: Studio) -> None:
    window, pane = studio.window, studio.window.tokenization_pane
    window.corpus_controller.open_sample("spanish-course")  # whose text is not the user's either
    window.actions_.new_corpus.trigger()
    assert window.corpus_pane.editor.hasFocus()
    assert pane.text == ""
    studio.set_text("\nthe ship\nsails over the wide sea")
    assert pane.text == "the ship"
    window.session.document.edit(1, 0, "all ")
    assert pane.text == window.session.live_text == "all the ship"
    pane.set_text("mine")
    studio.set_text("other")
    assert pane.text == "mine"
    window.actions_.new_corpus.trigger()
    studio.answer(_DISCARD)
    assert (pane.text, offered(studio)) == ("", "mine")  # which is not lost
    studio.set_text("third")
    assert pane.text == "third"


def test_a_new_corpus_has_nothing_of_the_former_run(studio: Studio) -> None:
    session = studio.window.session
    studio.window.corpus_controller.open_sample("korean-notebook")
    studio.wait(lambda: session.counting.counts is not None)
    session.settings.choose(min_frequency=7, special_tokens=())
    session.counting.set_longest_word(20)
    studio.window.actions_.new_corpus.trigger()
    assert session.settings.config() == TrainingConfig(vocab_size=70)
    pipeline = session.counting.pipeline
    assert (pipeline.normalizer, pipeline.pre_tokenizer) == (BertNormalizer(), BertPreTokenizer())
    assert session.counting.max_word_length == LONGEST_WORD


# -- leaving


def test_leaving_with_edits_asks_once(studio: Studio) -> None:
    studio.set_text("mine")
    studio.window.close()
    studio.answer(_CANCEL)
    assert studio.window.isVisible()
    studio.window.close()
    studio.answer(_DISCARD)
    assert not studio.window.isVisible()


@pytest.mark.usefixtures("long_runs")
def test_leaving_while_training_asks(studio: Studio) -> None:
    path_text = " ".join(f"{number:x}{number:o}" for number in range(3000))
    studio.set_text(path_text)
    studio.window.session.document.note_saved()
    studio.window.session.settings.set_target_size(0)
    with studio.qtbot.waitSignal(studio.window.model.merges_appended, timeout=20_000):
        studio.window.actions_.train.trigger()
    studio.window.close()
    assert "Training is still running" in studio.box().informativeText()
    studio.answer(_DISCARD)
    assert not studio.window.isVisible()


def train(studio: Studio) -> None:
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.actions_.train.trigger()
    studio.wait_finished()


@pytest.mark.usefixtures("long_runs")
def test_leaving_asks_for_merges_that_the_user_asked_for_and_did_not_save(studio: Studio, tmp_path: Path) -> None:
    train(studio)
    studio.window.close()
    assert "25 merges" in studio.box().informativeText()
    studio.answer(_CANCEL)
    assert studio.window.isVisible()
    studio.window.close()
    studio.answer(_SAVE)
    choose(studio, tmp_path / "mine.wpstudio")
    studio.wait(lambda: not studio.window.isVisible())
    assert len(open_project(tmp_path / "mine.wpstudio").run.history) == 25


@pytest.mark.usefixtures("long_runs")
def test_a_saved_vocabulary_is_not_asked_for_until_it_grows(studio: Studio) -> None:
    train(studio)
    studio.window.export_controller.vocabulary.saved.emit()
    assert studio.window.session.runs.unsaved_merges == 0
    studio.window.model.train_further(vocab_size=72)
    studio.wait(lambda: studio.window.model.merge_count == 27)
    studio.wait_finished()
    studio.window.close()
    studio.answer(_DISCARD)
    assert not studio.window.isVisible()


@pytest.mark.usefixtures("long_runs")
def test_text_and_merges_are_one_question_and_one_file(studio: Studio, tmp_path: Path) -> None:
    train(studio)
    studio.set_text("mine")
    studio.wait(lambda: len(studio.window.session.runs.all) == 2)  # the preview of what was typed
    studio.wait_finished()
    studio.window.close()
    words = studio.box().informativeText()
    assert "was edited" in words
    assert "25 merges" in words
    studio.answer(_SAVE)
    choose(studio, tmp_path / "mine.wpstudio")
    studio.wait(lambda: not studio.window.isVisible())
    project = open_project(tmp_path / "mine.wpstudio")
    assert project.corpus.text == "mine"
    assert sorted(len(run.history) for run in project.runs) == [3, 25]  # of the text, and of the sample


def test_leaving_asks_for_a_quick_run_only_if_it_has_a_name(studio: Studio) -> None:
    runs = studio.window.session.runs
    train(studio)
    assert runs.current.origin.is_wanted
    assert 0 < runs.current.seconds < LONG_SECONDS
    assert not studio.window.project_controller.must_ask()
    runs.rename(runs.current, "mine")
    studio.window.close()
    studio.answer(_DISCARD)
    assert not studio.window.isVisible()


def test_leaving_with_nothing_at_stake_asks_nothing(studio: Studio) -> None:
    studio.window.close()
    assert not studio.window.isVisible()
    assert studio.window.settings.values.window_geometry
