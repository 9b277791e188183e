"""Extending and pruning a vocabulary in the window: three steps by mouse and keys, what is refused, and stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QPushButton

import wordpiece_studio as wps
from wordpiece_studio import cli
from wordpiece_studio.evaluation.extension import Extension, Pruning
from wordpiece_studio.storage.adapted_vocabulary import adapted_names
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.tokenizer_loading import manifest_of_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.modeltest import ModelTester
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.dialogs.adapt_vocabulary import AdaptWindow

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [*"abcdeghnpstu", *(f"##{letter}" for letter in "abcdeghnpstu"), "hug", "##ug"]
DOMAIN = ["hugs hug pugs the pugs", "bats and cats – hug the pens", "the end, pugs hugs xyz"] * 30
LEFT = Qt.MouseButton.LeftButton


class Adapting:
    """The window of one kind, on a studio, and the ways in which a test acts on it."""

    def __init__(self, studio: Studio, kind: str) -> None:
        self.studio, self.kind = studio, kind
        getattr(studio.window.actions_, f"{kind}_vocabulary").trigger()
        self.qtbot: QtBot = studio.qtbot
        self.dialog: AdaptWindow = studio.window.vocabulary_controller.open[kind]  # type: ignore[index]
        self.adaptation = self.dialog.adaptation

    def wait(self, condition: object) -> None:
        self.qtbot.waitUntil(condition, timeout=30_000)

    def wait_loaded(self) -> None:
        self.wait(lambda: not self.adaptation.loading.is_running)

    def press_next(self) -> None:
        self.wait(self.dialog.next.isEnabled)
        self.qtbot.mouseClick(self.dialog.next, LEFT)

    def find(self) -> None:
        """Go to the second step."""
        self.press_next()
        self.wait(lambda: self.dialog.step == 1)

    @property
    def error(self) -> str:
        return self.dialog.error.text()

    @property
    def shown(self) -> dict[str, tuple[str, str]]:
        return {name: (before, after) for name, before, after in self.dialog.tokens.effects.records}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a small vocabulary, with some tokens that BERT would keep free."""
    vocabulary = wps.Vocabulary([*SPECIAL, "[unused0]", "[unused1]", *PIECES], [*SPECIAL, "[unused0]", "[unused1]"])
    wps.Tokenizer(vocabulary).save(tmp_path / "small")
    return tmp_path / "small"


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    path = tmp_path / "domain.txt"
    path.write_text("\n".join(DOMAIN), encoding="utf-8")
    return path


@pytest.fixture
def small(empty_studio: Studio, folder: Path, domain: Path, qtbot: QtBot) -> Adapting:
    """The window that extends, on the small vocabulary and its domain."""
    empty_studio.window.show()
    return chosen(Adapting(empty_studio, "extend"), folder, domain)


def chosen(adapting: Adapting, folder: Path, domain: Path) -> Adapting:
    adapting.dialog.texts.take_folder(str(folder))
    adapting.wait_loaded()
    adapting.dialog.texts.take_files("domain", [str(domain)])
    return adapting


def test_a_run_is_extended_by_mouse_and_opens_beside_its_original(studio: Studio, domain: Path, tmp_path: Path) -> None:
    runs = studio.window.session.runs
    original = runs.current
    adapting = Adapting(studio, "extend")
    adapting.wait_loaded()
    dialog = adapting.dialog
    dialog.texts.take_files("domain", [str(domain)])
    assert dialog.texts.general.currentData() == "none"  # the sample is too short for a tenth of it
    assert "unknown" in dialog.texts.note.text()
    adapting.find()
    found = adapting.adaptation.found
    assert isinstance(found, Extension)
    assert dialog.tokens.rows.rowCount() == len(found.proposals) > 3
    adapting.press_next()
    assert dialog.step == 2
    dialog.export.place.setText(str(tmp_path / "out"))
    adapting.press_next()
    adapting.wait(lambda: len(runs.all) == 2)
    assert set(adapted_names("extend")) == {path.name for path in (tmp_path / "out").iterdir()}
    tokenizer = wps.load_tokenizer(tmp_path / "out")
    assert original is not None
    assert tokenizer.tokens == [*original.history.vocabulary(len(original.history)).tokens, *found.tokens]
    assert runs.current is not original
    assert runs.compared == runs.all
    shown = runs.current.tokenizer_at(0)
    assert [shown.encode(line).ids for line in DOMAIN[:3]] == [tokenizer.encode(line).ids for line in DOMAIN[:3]]
    assert adapting.dialog.next.text() == "&Close"


def test_which_500_tokens_and_what_they_gain_takes_ten_clicks(
    empty_studio: Studio, folder: Path, domain: Path, tmp_path: Path
) -> None:
    empty_studio.window.show()
    clicks = ["menu", "command"]
    adapting = Adapting(empty_studio, "extend")
    dialog = adapting.dialog

    def click(button: QPushButton) -> None:
        adapting.wait(button.isEnabled)
        clicks.append(button.text())
        adapting.qtbot.mouseClick(button, LEFT)

    def choose(path: Path) -> None:
        (asked,) = [each for each in dialog.findChildren(QFileDialog) if each.isVisible()]
        asked.selectFile(str(path))
        asked.accept()

    click(dialog.texts.choose_folder)
    choose(folder)
    clicks += ["the folder", "Choose"]
    adapting.wait_loaded()
    click(dialog.texts.add_files)
    choose(domain)
    clicks += ["the file, twice"]
    click(dialog.next)
    adapting.wait(lambda: dialog.step == 1)
    assert adapting.shown["Tokens per word, held-out text"][0] > adapting.shown["Tokens per word, held-out text"][1]
    click(dialog.next)
    assert dialog.export.folder.name == "small-extended"
    click(dialog.next)
    adapting.wait(lambda: (tmp_path / "small-extended" / "tokenizer.json").exists())
    adapting.wait(lambda: not adapting.adaptation.opening.is_running)
    assert len(clicks) == 10, clicks


def test_the_tokens_are_chosen_one_by_one_and_it_can_be_undone(small: Adapting) -> None:
    small.find()
    dialog, adaptation = small.dialog, small.adaptation
    found = adaptation.found
    assert isinstance(found, Extension)
    tokens = dialog.tokens
    whole = small.shown
    tokens.table.setFocus()
    tokens.table.setCurrentIndex(tokens.rows.index(0, 0))
    small.qtbot.keyClick(tokens.table, Qt.Key.Key_Space)
    assert adaptation.wanted == frozenset(found.tokens[1:])
    small.wait(lambda: adaptation.result is not None and not adaptation.choosing.is_running)
    assert small.shown["Vocabulary size"][1] == str(len(found.tokenizer) + len(found.tokens) - 1)
    assert adaptation.result is not None
    assert small.shown["Tokens per word, held-out text"][1] == f"{adaptation.result.held_out.tokens_per_word[-1]:.4f}"
    tokens.filter.setText("hug")
    small.qtbot.mouseClick(tokens.none, LEFT)
    assert not any("hug" in token for token in adaptation.wanted)
    assert adaptation.wanted
    small.qtbot.mouseClick(tokens.undo, LEFT)
    small.qtbot.mouseClick(tokens.undo, LEFT)
    assert adaptation.wanted == frozenset(found.tokens)
    assert small.shown == whole
    assert not tokens.undo.isEnabled()


def test_the_menu_finds_others_instead(small: Adapting) -> None:
    small.dialog.texts.number.setValue(3)
    small.find()
    tokens = small.dialog.tokens
    tokens.table.selectRow(0)
    rejected = tokens.selected[0]
    menu = tokens.menu()
    menu.actions()[2].trigger()
    menu.deleteLater()
    small.wait(lambda: not small.adaptation.searching.is_running)
    assert isinstance(small.adaptation.found, Extension)
    assert len(small.adaptation.found.tokens) == 3
    assert rejected not in small.adaptation.found.tokens


def test_new_tokens_take_the_place_of_unused_ones(small: Adapting, tmp_path: Path) -> None:
    texts = small.dialog.texts
    assert "(2 available)" in texts.replace.text()
    texts.replace.click()
    assert texts.number.value() == 2
    small.find()
    small.press_next()
    small.dialog.export.place.setText(str(tmp_path / "out"))
    small.dialog.export.opens.setChecked(True)
    small.press_next()
    small.wait(lambda: (tmp_path / "out" / "tokenizer.json").exists() and not small.adaptation.opening.is_running)
    tokenizer = wps.load_tokenizer(tmp_path / "out")
    assert len(tokenizer.tokens) == len(SPECIAL) + 2 + len(PIECES)
    assert not any(token.startswith("[unused") for token in tokenizer.tokens)


def test_a_vocabulary_of_a_folder_opens_with_its_extension(small: Adapting, tmp_path: Path) -> None:
    small.find()
    small.press_next()
    small.dialog.export.place.setText(str(tmp_path / "out"))
    small.press_next()
    runs = small.studio.window.session.runs
    small.wait(lambda: len(runs.all) == 2)
    assert [run.name for run in runs.all] == ["small", f"small + {len(small.adaptation.found.tokens)} tokens"]  # type: ignore[union-attr]
    assert all(run.is_compared for run in runs.all)
    assert runs.all[0].origin.corpus_name == "domain.txt"  # not the corpus of the window, which has other words
    assert small.studio.window.session.counting.counts is not runs.all[0].counts


def test_the_result_is_a_run_of_the_project_like_any_other(small: Adapting, tmp_path: Path) -> None:
    small.find()
    small.press_next()
    small.dialog.export.place.setText(str(tmp_path / "out"))
    small.press_next()
    window = small.studio.window
    small.wait(lambda: len(window.session.runs.all) == 2)
    save_project(tmp_path / "a.wpstudio", window.project.capture())
    kept = open_project(tmp_path / "a.wpstudio").runs
    tokens = sorted((run.history.vocabulary(0).tokens for run in kept), key=len)
    assert tokens == [wps.load_tokenizer(folder).tokens for folder in (tmp_path / "small", tmp_path / "out")]
    assert "trained with" not in window.bar.progress_label.text()
    place = tmp_path / "again" / "tokenizer.json"
    place.parent.mkdir()
    window.export_controller.vocabulary.write_library_run(window.project.capture_run(), str(place))
    small.wait(place.exists)
    assert wps.load_tokenizer(place).tokens == tokens[1]
    manifest = manifest_of_tokenizer(place)
    assert manifest is not None
    assert (manifest.kind, manifest.training, manifest.corpus) == ("tokenizer", None, None)


def test_the_training_text_of_a_folder_is_the_general_text(small: Adapting, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(["the bath has a stage", "the tug hugs the pen"] * 30), encoding="utf-8")
    assert cli.run(["train", str(corpus), "--vocab-size", "60", "-o", str(tmp_path / "trained")]) == 0
    small.dialog.texts.take_folder(str(tmp_path / "trained"))
    small.wait_loaded()
    assert small.dialog.texts.general.currentData() == "training"
    assert not small.dialog.texts.note.text()
    small.find()
    found = small.adaptation.found
    assert isinstance(found, Extension)
    assert found.general is not None
    assert small.shown["Tokens per word, general text"][0] == f"{found.general.tokens_per_word[0]:.4f}"


def test_a_press_on_the_curve_takes_the_tokens_up_to_there(small: Adapting) -> None:
    small.find()
    chart = small.dialog.tokens._chart
    assert chart is not None
    small.wait(lambda: chart.drawing is not None)
    place = chart.plot.place_of(3, 1).toPoint()
    small.qtbot.mouseClick(chart.plot.viewport(), LEFT, pos=place)
    assert isinstance(small.adaptation.found, Extension)
    assert small.adaptation.wanted == frozenset(small.adaptation.found.tokens[:3])
    small.wait(lambda: small.adaptation.result is not None)
    small.qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert len(small.adaptation.wanted) == 4
    small.wait(lambda: "4 chosen" in chart.readout)


def test_files_are_replaced_only_if_wanted(small: Adapting, tmp_path: Path) -> None:
    place = tmp_path / "out"
    place.mkdir()
    (place / "vocab.txt").write_text("mine", encoding="utf-8")
    small.find()
    small.press_next()
    small.dialog.export.place.setText(str(place))
    small.dialog.export.opens.setChecked(False)
    small.press_next()
    small.studio.answer(QMessageBox.StandardButton.Cancel)
    assert [path.name for path in place.iterdir()] == ["vocab.txt"]
    small.press_next()
    small.studio.answer(QMessageBox.StandardButton.Yes)
    small.wait(lambda: (place / "resize.py").exists())


def test_a_run_is_pruned_with_keys_alone(studio: Studio, domain: Path, tmp_path: Path) -> None:
    adapting = Adapting(studio, "prune")
    adapting.wait_loaded()
    dialog, qtbot = adapting.dialog, adapting.qtbot
    dialog.texts.take_files("domain", [str(domain)])
    adapting.wait(dialog.next.isEnabled)
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    adapting.wait(lambda: dialog.step == 1)
    found = adapting.adaptation.found
    assert isinstance(found, Pruning)
    assert dialog.tokens.rows.rowCount() == len(found.removed) > 2
    dialog.tokens.table.selectRow(0)
    kept = dialog.tokens.selected[0]
    menu = dialog.tokens.menu()
    menu.actions()[0].trigger()
    menu.deleteLater()
    adapting.wait(lambda: adapting.adaptation.found is not found and not adapting.adaptation.searching.is_running)
    assert kept not in adapting.adaptation.found.removed  # type: ignore[union-attr]
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    adapting.wait(lambda: dialog.step == 2)
    dialog.export.place.setText(str(tmp_path / "out"))
    qtbot.keyClick(dialog.export.place, Qt.Key.Key_Return)
    runs = studio.window.session.runs
    adapting.wait(lambda: len(runs.all) == 2)
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(adapted_names("prune"))
    assert len(wps.load_tokenizer(tmp_path / "out").tokens) == len(found.kept) + 1


@pytest.mark.parametrize(
    ("kind", "said"),
    [("bpe", "its tokens are made from each other"), ("prefix", "no token has a prefix"), ("unk", "has no [UNK]")],
)
def test_what_cannot_be_extended_is_refused(small: Adapting, tmp_path: Path, kind: str, said: str) -> None:
    place = tmp_path / kind
    if kind == "bpe":
        config = wps.TrainingConfig(
            vocab_size=30, objective="count", continuing_subword_prefix="", special_tokens=("[UNK]",)
        )
        run = wps.train_library(wps.count_texts(DOMAIN), config, "tokenizers-bpe")
        place.mkdir()
        (place / "tokenizer.json").write_bytes(run.content)
    else:
        tokens = ["[UNK]", *"abc"] if kind == "prefix" else PIECES
        (tmp_path / f"{kind}.txt").write_text("\n".join(tokens), encoding="utf-8")
        place = tmp_path / f"{kind}.txt"
    small.dialog.texts.take_folder(str(place))
    small.wait_loaded()
    assert said in small.error
    assert not small.dialog.next.isEnabled()
    assert not small.dialog.steps.isTabEnabled(1)


def test_a_text_of_one_word_is_refused(small: Adapting, tmp_path: Path) -> None:
    (tmp_path / "word.txt").write_text("hug", encoding="utf-8")
    small.dialog.texts.take_files("domain", [str(tmp_path / "word.txt")])
    small.press_next()
    small.wait(lambda: bool(small.error))
    assert "too few lines" in small.error
    assert small.dialog.step == 0
    small.dialog.texts.take_files("domain", [str(tmp_path / "domain.txt")])
    assert not small.error


def test_it_stops_in_the_middle(small: Adapting, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("\n".join(f"hugs pugs {number} bats{number}" for number in range(200_000)), encoding="utf-8")
    small.dialog.texts.take_files("domain", [str(long)])
    small.press_next()
    small.wait(lambda: small.adaptation.searching.progress is not None)
    assert "%" in small.dialog._doing.text()
    small.qtbot.mouseClick(small.dialog.stop, LEFT)
    assert not small.adaptation.searching.is_running
    assert small.dialog.step == 0
    assert not small.dialog.progress.isVisible()
    small.wait(small.dialog.next.isEnabled)


def test_closing_ends_the_work_and_forgets_it(small: Adapting) -> None:
    small.press_next()
    small.dialog.close()
    assert not small.studio.window.vocabulary_controller.open
    again = Adapting(small.studio, "extend")
    assert again.dialog.step == 0


def test_the_tables_are_models_for_qt(small: Adapting, qtmodeltester: ModelTester) -> None:
    small.find()
    for rows in (small.dialog.tokens.rows, small.dialog.tokens.effects, small.dialog.tokens.listed):
        qtmodeltester.check(rows)
    for tab in range(3):
        small.dialog.tokens.lists.setCurrentIndex(tab)
        assert small.dialog.tokens.listed.columnCount() >= 1


def test_a_run_that_was_trained_on_the_text_of_the_domain_is_told_so(studio: Studio, domain: Path) -> None:
    studio.set_text("\n".join(10 * DOMAIN))
    studio.window.actions_.train.trigger()
    studio.wait_finished()
    adapting = Adapting(studio, "extend")
    adapting.wait_loaded()
    assert adapting.dialog.texts.domain.currentData() == "corpus"
    assert "was trained on this text" in adapting.dialog.texts.note.text()
    adapting.dialog.texts.take_files("domain", [str(domain)])
    assert not adapting.dialog.texts.note.text()
