from __future__ import annotations

import doctest
import json
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QRadioButton,
    QToolButton,
)

from tests.storage.project.making import run_of
from tests.ui.dialogs.export.conftest import SHOWN, Exporting
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.storage.manifest import MANIFEST_FILE, read_manifest
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.storage.verification import verify
from wordpiece_studio.storage.vocab_txt import read_vocabulary
from wordpiece_studio.ui.dialogs import export_dialog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_TEXT = "hugs pugs bun unhug"


def test_the_examples_hold() -> None:
    assert not doctest.testmod(export_dialog).failed


def test_the_tokenizer_of_the_last_step_is_exported(exporting: Exporting, tmp_path: Path) -> None:
    folder = tmp_path / "my <b>tokenizer & co</b>"  # two folders
    exporting.export_whole("folder", folder)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*TOKENIZER_FILES, MANIFEST_FILE])
    last = exporting.last
    size = exporting.model.history.vocabulary_size(last)
    assert exporting.banner.text == f"Exported {size} tokens, the vocabulary after merge {last}, to {folder}"
    assert load_tokenizer(folder).encode(_TEXT) == exporting.model.tokenizer_at(last).encode(_TEXT)
    manifest = read_manifest(folder / MANIFEST_FILE)
    assert (manifest.merges, manifest.corpus.sha256_of) == (last, "text")
    assert manifest.corpus.sha256 is not None


def test_the_last_step_is_proposed_and_the_one_shown_is_a_click_away(exporting: Exporting) -> None:
    dialog = exporting.ask()
    history = exporting.model.history
    texts = [button.text().replace("&", "") for button in dialog._steps.buttons()]
    assert dialog.step == exporting.last != SHOWN
    assert texts == [
        f"Last step: merge {exporting.last}, {history.vocabulary_size(exporting.last)} tokens",
        f"Current step: merge {SHOWN}, {history.vocabulary_size(SHOWN)} tokens",
    ]
    dialog.reject()
    exporting.model.seek(exporting.last)
    dialog = exporting.ask()
    assert [button.text().replace("&", "").partition(":")[0] for button in dialog._steps.buttons()] == [
        "Last step (current)"
    ]
    dialog.reject()


def test_the_step_shown_can_be_exported_with_the_words_to_verify_it(exporting: Exporting, tmp_path: Path) -> None:
    dialog = exporting.ask_for_shown()
    dialog.counts_box.setChecked(True)
    exporting.wait(lambda: dialog.inspection is not None)
    assert "word-counts.tsv" in dict(dialog.preview.files.pairs)
    dialog.place_edit.setText(str(tmp_path / "out"))
    dialog.accept()
    exporting.wait_exported(tmp_path / "out")
    result = verify(tmp_path / "out")
    assert (result.agrees, result.merges) == (True, SHOWN)


def test_a_preview_that_arrives_leaves_the_cursor_in_what_is_edited(exporting: Exporting) -> None:
    dialog = exporting.ask()
    exporting.wait(lambda: dialog.inspection is not None)
    dialog.place_edit.setText("/texts/mine")
    dialog.place_edit.setCursorPosition(3)
    dialog.take_inspection(dialog.inspection)
    assert (dialog.place_edit.text(), dialog.place_edit.cursorPosition()) == ("/texts/mine", 3)


def test_nothing_is_replaced_without_a_question(exporting: Exporting, tmp_path: Path) -> None:
    place = tmp_path / "vocab.txt"
    place.write_text("mine\n", encoding="utf-8")
    exporting.export("vocabulary", place)
    box = exporting.box()
    assert "vocab.txt" in box.informativeText()
    assert box.defaultButton() is box.button(QMessageBox.StandardButton.Cancel)
    exporting.answer(QMessageBox.StandardButton.Cancel)
    assert place.read_text(encoding="utf-8") == "mine\n"
    dialog = exporting.dialog  # back to the question, with the same answers
    assert (dialog.kinds.kind, dialog.place, dialog.step) == ("vocabulary", place, exporting.last)
    dialog.accept()
    exporting.answer(QMessageBox.StandardButton.Yes)
    exporting.wait_exported(place)
    assert read_vocabulary(place) == exporting.model.history.vocabulary(exporting.last).tokens
    assert (tmp_path / "vocab.txt.card.json").exists()


def test_only_an_export_of_all_that_was_learned_counts_as_saved(exporting: Exporting, tmp_path: Path) -> None:
    exporting.export_whole("word-counts", tmp_path / "words.csv")
    assert read_manifest(tmp_path / "words.csv.card.json").kind == "word-counts"
    assert "5 distinct words" in exporting.banner.text
    dialog = exporting.ask_for_shown()
    dialog.kinds.choose("vocabulary")
    dialog.place_edit.setText(str(tmp_path / "early.txt"))
    dialog.accept()
    exporting.wait_exported(tmp_path / "early.txt")
    assert not exporting.saved
    exporting.export_whole("vocabulary", tmp_path / "vocab.txt")
    assert len(exporting.saved) == 1


def test_the_dialog_shows_all_files_and_the_manifest(exporting: Exporting) -> None:
    dialog = exporting.ask()
    assert list(dict(dialog.preview.files.pairs)) == [*TOKENIZER_FILES, MANIFEST_FILE]
    manifest = json.loads(dialog.preview.json.toPlainText())
    assert (manifest["merges"], manifest["corpus"]["words"]) == (exporting.last, 36)
    rows = dict(dialog.preview.manifest.pairs)
    assert rows["Vocabulary"] == f"{manifest['vocabulary_size']} tokens, after merge {exporting.last}"
    assert manifest["corpus"]["sha256"].startswith(rows["Corpus hash"].rstrip("…"))
    assert rows["Corpus"] == "course · 36 words · 5 distinct words"
    assert manifest["vocabulary_sha256"].startswith(rows["Vocabulary hash"].rstrip("…"))
    assert any(label.text() == rows["Vocabulary"] for label in dialog.findChildren(QLabel))
    dialog.kinds.choose("vocabulary")
    assert list(dict(dialog.preview.files.pairs)) == ["vocab.txt", "vocab.txt.card.json"]
    assert dialog.place.name == "vocab.txt"
    dialog.place_edit.setText("/texts/vocab.txt")
    dialog.kinds.choose("word-counts")
    assert dialog.place_edit.text() == "/texts/word-counts.tsv"  # the folder is kept
    dialog.place_edit.setText("mine.txt")
    dialog.kinds.choose("vocabulary")
    assert dialog.place.name == "mine.txt"  # what was typed is kept
    dialog.reject()


@pytest.mark.parametrize(
    ("kind", "typed", "told"),
    [
        ("folder", " ", "Enter where to save."),
        ("folder", "a\x1b[2Jb", "A name cannot contain line breaks or other control characters."),
        ("folder", "a\0b", "A name cannot contain line breaks or other control characters."),
        ("vocabulary", "/", "Enter a file name: this is a folder."),
        ("word-counts", "..", "Enter a file name: this is a folder."),
        ("vocabulary", "texts/", "Enter a file name: this is a folder."),
        ("folder", "~nobody-of-that-name/x", ""),
        ("folder", "/", ""),
    ],
)
def test_a_place_that_is_invalid_is_reported_as_it_is_typed(
    exporting: Exporting, kind: str, typed: str, told: str
) -> None:
    dialog = exporting.ask()
    dialog.kinds.choose(kind)
    dialog.place_edit.setText(typed)
    assert dialog.trouble_note.text() == told
    assert dialog.place_edit.accessibleDescription() == told
    assert dialog.export.isEnabled() == (not told)
    if told:
        dialog.accept()
        assert dialog.isVisible()
    dialog.reject()


def test_long_and_strange_names_fit_in_and_are_shown_as_they_are(exporting: Exporting) -> None:
    dialog = exporting.ask()
    width = dialog.width()
    dialog.kinds.choose("vocabulary")
    dialog.place_edit.setText("/" + "<b>folder&amp;</b>" * 40 + "/" + "ë" * 300 + ".txt")
    assert dialog.minimumSizeHint().width() <= width
    assert dialog.place_note.accessibleName() == f"The file {dialog.place}"
    assert "…" in dialog.place_note.text()
    assert dialog.preview.files.pairs[0][0] == dialog.place.name
    dialog.reject()


def test_the_lines_that_load_it_are_copied(exporting: Exporting, tmp_path: Path) -> None:
    place = tmp_path / 'it\'s "mine"'
    dialog = exporting.ask()
    dialog.place_edit.setText(str(place))
    lines = dialog.preview.usage.toPlainText()
    assert eval(lines.split("from_pretrained")[1]) == str(place)
    dialog.preview.copy_button.click()
    assert QGuiApplication.clipboard().text() == lines
    dialog.accept()
    exporting.wait_exported(place)
    QGuiApplication.clipboard().clear()
    exporting.banner.button.click()
    assert QGuiApplication.clipboard().text() == lines


def test_what_is_copied_tokenizes_as_the_window_does(exporting: Exporting, tmp_path: Path) -> None:
    exporting.open(run_of(objective="count", continuing_subword_prefix="", special_tokens=("[UNK]",)))
    expected = exporting.model.tokenizer_at(exporting.last).encode("hug pug")
    for kind, name in (("vocabulary", "my.txt"), ("folder", "folder"), ("bpe", "bpe")):
        exporting.export_whole(kind, tmp_path / name)
        if kind == "folder":
            assert load_tokenizer(tmp_path / name).encode("hug pug").tokens == expected.tokens
            continue
        exporting.banner.button.click()
        found = {}
        exec(QGuiApplication.clipboard().text(), found)
        assert found["tokenizer"].encode("hug pug").tokens == expected.tokens
    exporting.export_whole("word-counts", tmp_path / "words.tsv")
    exporting.banner.button.click()
    exec(QGuiApplication.clipboard().text(), found)
    assert found["counts"].total == 36


def test_what_is_not_possible_says_why_and_what_is(exporting: Exporting) -> None:
    dialog = exporting.ask()
    assert not dialog.kinds._buttons["bpe"].isEnabled()
    assert "objective" in dialog.kinds._hints["bpe"].text()
    dialog.reject()


def test_a_pipeline_that_no_tokenizer_json_can_hold_is_exported_as_vocab_txt(exporting: Exporting) -> None:
    run = exporting.project.run
    pairs = zip(run.counts.words, run.counts.counts.tolist(), strict=True)
    counts = WordCounts.from_pairs(pairs, pre_tokenizer="unicode-punctuation")
    exporting.open(replace(run, counts=counts))
    dialog = exporting.ask()
    assert dialog.kinds.kind == "vocabulary"
    assert "unicode-punctuation" in dialog.kinds._hints["folder"].text()
    assert "vocab.txt alone" in dialog.kinds._hints["folder"].text()
    assert dialog.export.isEnabled()
    dialog.reject()


def test_a_file_is_chosen_in_the_systems_dialog(exporting: Exporting, tmp_path: Path) -> None:
    dialog = exporting.ask()
    dialog.kinds.choose("vocabulary")
    dialog.browse.click()
    places = dialog.findChild(QFileDialog)
    places.fileSelected.emit(str(tmp_path / "here"))
    places.done(0)
    assert dialog.place == tmp_path / "here"
    dialog.reject()


@pytest.mark.parametrize(
    ("names", "taken"), [([], ""), (["holiday.jpg"], "tokenizer"), ([MANIFEST_FILE, "vocab.txt"], "")]
)
def test_a_folder_of_other_things_gets_a_folder_within(
    exporting: Exporting, tmp_path: Path, names: list[str], taken: str
) -> None:
    for name in names:
        (tmp_path / name).touch()
    dialog = exporting.ask()
    dialog.browse.click()
    folders = dialog.findChild(QFileDialog)
    assert folders.fileMode() is QFileDialog.FileMode.Directory
    folders.filesSelected.emit([str(tmp_path)])
    folders.done(0)
    assert dialog.place == tmp_path / taken
    dialog.reject()


def test_the_folders_of_a_file_are_made(exporting: Exporting, tmp_path: Path) -> None:
    exporting.export("vocabulary", tmp_path / "new" / "folder" / "vocab.txt")
    exporting.wait_exported(tmp_path / "new" / "folder" / "vocab.txt")


@pytest.mark.parametrize(
    ("kind", "place", "told"),
    [
        ("folder", "file/out", "file"),
        ("folder", "file", "is a file, not a folder"),
        ("vocabulary", "folder", "is a folder. Choose a file in it."),
        ("word-counts", "folder", "is a folder. Choose a file in it."),
        ("vocabulary", "file/vocab.txt", "is a file, not a folder"),
        ("word-counts", "x" * 300, "cannot be written"),
        ("vocabulary", "x" * 300, "cannot be written"),
    ],
)
def test_a_place_that_cannot_be_written_is_reported_where_another_can_be_named(
    exporting: Exporting, tmp_path: Path, kind: str, place: str, told: str
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    exporting.export(kind, tmp_path / place)
    dialog = exporting.dialog
    assert told in dialog.trouble_note.text()
    assert dialog.height() <= exporting.window.height() - 60  # as high as without the note
    assert (dialog.kinds.kind, dialog.place) == (kind, tmp_path / place)
    assert (tmp_path / "file").read_text() == "mine"
    dialog.place_edit.setText(str(tmp_path / "better.txt"))
    assert dialog.trouble_note.text() == ""
    dialog.accept()
    exporting.wait_exported(tmp_path / "better.txt")


def test_a_vocab_txt_does_not_tear_a_tokenizer_apart(exporting: Exporting, tmp_path: Path) -> None:
    exporting.export_whole("folder", tmp_path / "out")
    exporting.export("vocabulary", tmp_path / "out" / "vocab.txt")
    exporting.answer(QMessageBox.StandardButton.Yes)
    dialog = exporting.dialog
    assert "Choose another folder" in dialog.trouble_note.text()
    dialog.reject()
    load_tokenizer(tmp_path / "out")  # which compares the files


def test_a_long_export_is_reported_and_can_be_given_up(
    exporting: Exporting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_request: object, should_stop: Callable[[], bool]) -> tuple[str, ...]:
        while not should_stop():
            time.sleep(0.01)
        return ()

    monkeypatch.setattr(exporting.controller.exporting, "_work", hang)
    exporting.export("folder", tmp_path / "out")
    exporting.wait(lambda: exporting.banner.text == f"Writing {tmp_path / 'out'}…")
    assert not exporting.actions.save_vocabulary.isEnabled()
    exporting.banner.button.click()
    assert exporting.banner.text == ""
    assert exporting.actions.save_vocabulary.isEnabled()
    assert not (tmp_path / "out").exists()


def test_before_a_training_there_is_nothing_to_export(unfilled: Exporting) -> None:
    assert not unfilled.actions.save_vocabulary.isEnabled()


def test_the_keyboard_alone_exports(exporting: Exporting, tmp_path: Path) -> None:
    dialog, bot = exporting.ask(), exporting.qtbot
    assert dialog.focusWidget() is dialog.kinds._buttons["folder"]
    bot.keyClick(dialog.focusWidget(), Qt.Key.Key_Down)
    assert dialog.kinds.kind == "vocabulary"
    stops = []
    while not stops or dialog.focusWidget() is not stops[0]:
        stops.append(dialog.focusWidget())
        bot.keyClick(dialog, Qt.Key.Key_Tab)
        assert len(stops) < 20
    assert sum(isinstance(stop, QLineEdit) for stop in stops) == 1
    assert {dialog.export, dialog.browse, dialog.place_edit, dialog.preview.copy_button} <= set(stops)
    assert stops.index(dialog.place_edit) < stops.index(dialog.browse) < stops.index(dialog.export)
    bot.keyClick(dialog, Qt.Key.Key_O, Qt.KeyboardModifier.AltModifier)
    assert dialog.focusWidget() is dialog.place_edit
    dialog.place_edit.selectAll()
    bot.keyClicks(dialog.place_edit, str(tmp_path / "typed.txt"))
    bot.keyClick(dialog.place_edit, Qt.Key.Key_Return)
    exporting.wait_exported(tmp_path / "typed.txt")
    dialog = exporting.ask()
    bot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_screen_readers_have_a_name_for_every_control(exporting: Exporting) -> None:
    dialog = exporting.ask()
    controls = [*dialog.findChildren(QPushButton), *dialog.findChildren(QRadioButton), *dialog.findChildren(QCheckBox)]
    controls += [tool for tool in dialog.findChildren(QToolButton) if tool.isVisible()]
    assert len(controls) >= 10
    assert all(control.accessibleName() or control.text() for control in controls)
    for field in (dialog.place_edit, dialog.preview.usage, dialog.preview.json):
        assert field.accessibleName()
    dialog.reject()


def test_the_manifest_is_shown_as_it_is_written(exporting: Exporting) -> None:
    preview = exporting.ask().preview
    assert not preview.json.isVisible()
    preview.json_button.click()
    assert preview.json.isVisible()
    exporting.dialog.reject()


@pytest.mark.skipif(sys.platform == "win32", reason="a folder's permissions are another matter there")
def test_a_folder_that_cannot_be_written_to_is_reported(
    exporting: Exporting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.open", refuse)  # whoever runs the tests may be allowed everything
    exporting.export("vocabulary", tmp_path / "vocab.txt")
    assert "Permission denied" in exporting.dialog.trouble_note.text()
    exporting.dialog.reject()
