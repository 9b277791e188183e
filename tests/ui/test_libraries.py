"""Trainings by other libraries in the window: commands, tabs, panes, project, export, faults."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.libraries.test_library_training import NO_MESSAGE, WRITING_ON_EVERY_PIPE
from wordpiece_studio.corpus.count_tables import HEADER
from wordpiece_studio.session.vocabulary_table import VocabularyColumn
from wordpiece_studio.storage.manifest import read_manifest
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.panes.tokenization.live_chips import ChipPlace
from wordpiece_studio.ui.widgets.token_text import run_names

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio
    from wordpiece_studio.storage.project.contents import Run

HUG = "hug pug pun bun hugs\n" * 5


def choose(studio: Studio, trainer: str) -> None:
    studio.window.actions_.choice("train_with_library", trainer).trigger()


def trained(studio: Studio, trainer: str) -> Run:
    """Choose a trainer and wait for its run, which is then shown."""
    with studio.qtbot.waitSignal(studio.window.session.library_job.finished, timeout=20_000) as finished:
        choose(studio, trainer)
    assert studio.window.session.runs.current is finished.args[0]
    return finished.args[0]


@pytest.mark.slow
@pytest.mark.usefixtures("long_runs")
def test_runs_of_other_libraries_are_tabs(studio: Studio, tmp_path: Path) -> None:
    window = studio.window
    model, runs = window.model, window.session.runs
    studio.set_text(HUG)
    window.session.settings.set_target_size(17)
    studio.wait(lambda: model.config.vocab_size == 17 and not window.session.changes_since_run().corpus)
    ours = [run.number for run in runs.all]

    window.actions_.command_palette.trigger()
    palette = window.help_controller.palette
    QTest.keyClicks(palette.field, "WordPiece (tokenizers)")
    with studio.qtbot.waitSignal(window.session.library_job.finished, timeout=60_000):
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
    wordpiece = runs.current
    assert not wordpiece.is_trained_on(wordpiece.counts, wordpiece.config)
    assert model.vocabulary_at(model.step).tokens == list(wordpiece.library_run.tokens)
    assert model.step == model.merge_count > 0
    with studio.qtbot.waitSignal(model.candidates_changed) as found:
        model.request_candidates(step=0)
    assert found.args[0].pairs

    window.actions_.library_twice.trigger()
    run = trained(studio, "sentencepiece-unigram")
    index, tabs = runs.all.index(run), window.run_strip.tabs
    assert tabs.tabText(index) == "Unigram (SentencePiece) final only"
    assert "Trained twice, with the same result." in tabs.tabToolTip(index)
    assert "Trained twice, with the same result." in window.notices.library.text
    window.docks.bring("vocabulary")
    studio.wait(lambda: window.session.usage.is_current and not window.vocabulary_pane.is_stale)
    table = window.vocabulary_pane.table
    token = run.library_run.tokens.index("▁")
    assert table.text(token, VocabularyColumn.SCORE) == f"{run.library_run.scores[token]:.3f}"
    table.sort(VocabularyColumn.SCORE)
    assert run.library_run.scores[table.item_of_row(0)] == min(run.library_run.scores)
    assert table.headerData(VocabularyColumn.SCORE, Qt.Orientation.Horizontal) == "log p"
    assert table.text(token, VocabularyColumn.FREQUENCY) == str(
        sum(count * run.library.encode(word).tokens.count("▁") for word, count in run.counts.items())
    )
    window.tokenization_pane.set_text("hugs pun")
    studio.wait(lambda: window.tokenization_pane.tokens == run.library.encode("hugs pun").tokens)
    window.tokenization_pane.chips.chosen.emit((ChipPlace(0, 0, 0), False))
    assert "the best ones in Token details" in window.tokenization_pane.why.title
    assert window.timeline_pane.hints[0] == "Final vocabulary"
    runs.set_compared(wordpiece, True)
    assert [each.run for each in window.session.comparison.steps()] == [wordpiece, run]
    runs.set_compared(wordpiece, False)
    window.docks.fill("token_details")
    model.set_selection(Selection("word", text="hugs"))
    best = run.library.best_segmentations("hugs")
    assert len(best) == 3
    studio.wait(lambda: all(f"{each.score:.3f}" in window.token_details_pane.body.facts.text() for each in best))
    window.docks.fill("")
    assert not window.actions_.train_further.isEnabled()
    window.actions_.next_merge.trigger()
    assert not model.is_busy

    place = tmp_path / "sentencepiece.model"
    assert run.is_unsaved
    with studio.qtbot.waitSignal(window.export_controller.vocabulary.saved):
        window.export_controller.vocabulary.write_library_run(window.project.capture(), str(place))
    assert place.read_bytes() == run.library_run.content
    assert not run.is_unsaved
    assert read_manifest(tmp_path / "sentencepiece.model.card.json").training["trainer"] == "sentencepiece-unigram"
    runs.set_compared(wordpiece, True)
    with studio.qtbot.waitSignal(window.project.saved, timeout=10_000):
        window.project_controller._save_to(tmp_path / "a.wpstudio", None)
    serial = window.project.serial
    window.project_controller.open(tmp_path / "a.wpstudio")
    studio.wait(lambda: window.project.serial != serial and not window.project.reading.is_running, 60_000)
    assert [each.number for each in runs.all] == [*ours, wordpiece.number, run.number]
    again, theirs = runs.current, runs.all[-2]
    assert (again.library_run.content, again.library_run.repetition) == (
        run.library_run.content,
        run.library_run.repetition,
    )
    assert list(theirs.history) == list(wordpiece.history)
    studio.wait(lambda: window.tokenization_pane.tokens == run.library.encode("hugs pun").tokens)
    assert again.history.segmentation("hugs", 0) == run.history.segmentation("hugs", 0)

    library, words = again.library, window.comparison_pane.words
    again.set_library(None)  # as before it is loaded
    window.actions_.word_differences.trigger()
    studio.wait(lambda: "is not available" in words.said.text())
    again.set_library(library)
    model.look_again()
    studio.wait(lambda: "are split differently" in words.said.text())


@pytest.mark.slow
@pytest.mark.expects_log
def test_a_library_that_fails_or_is_stopped_leaves_the_runs_as_they_are(
    studio: Studio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = studio.window
    before, banner = window.session.runs.all, window.notices.library
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for code, message in (
        ("import os; os._exit(7)", "background process ended with exit code 7"),
        ("raise ModuleNotFoundError('No module')", "The library tokenizers is missing"),
        ("raise MemoryError", "There is not enough memory"),
        ("Tokenizer = models = trainers = pre_tokenizers = 3", "could not train"),
        ("import os; os.abort()", "The background process "),
        (WRITING_ON_EVERY_PIPE.format(content=NO_MESSAGE), "sent invalid data"),
    ):
        (tmp_path / "tokenizers.py").write_text(code, encoding="utf-8")
        with studio.qtbot.waitSignal(window.session.library_job.failed, timeout=60_000):
            choose(studio, "tokenizers-bpe")
        assert message in banner.text
        assert not window.actions_.stop_library.isEnabled()
    says_its_id = """import os, time
print(f'"Compute merges","current":{os.getpid()},"total":{os.getpid()}', flush=True)
while True: time.sleep(1)
"""
    (tmp_path / "tokenizers.py").write_text(says_its_id, encoding="utf-8")
    numbers = []
    window.session.library_job.progressed.connect(lambda progress: numbers.append(progress.done))
    choose(studio, "tokenizers-bpe")
    studio.wait(lambda: any(numbers), 60_000)
    with studio.qtbot.waitSignal(window.session.library_job.failed, timeout=60_000):
        psutil.Process(numbers[-1]).kill()
    assert "The background process " in banner.text
    numbers.clear()
    choose(studio, "tokenizers-bpe")
    studio.wait(lambda: any(numbers), 60_000)
    assert f"{numbers[-1]:,} of {numbers[-1]:,}" in banner.text
    assert numbers[0] is None
    window.actions_.stop_library.trigger()
    assert "was stopped" in banner.text
    studio.wait(lambda: not psutil.pid_exists(numbers[-1]), 60_000)
    assert window.session.runs.all == before
    window.session.settings.set_target_size(0)
    choose(studio, "tokenizers-bpe")
    assert "vocab_size must be a whole number" in banner.text
    window.session.settings.set_target_size(3)
    choose(studio, "sentencepiece-unigram")
    studio.wait(lambda: "A vocabulary of 3 tokens is too small" in banner.text, 60_000)
    studio.set_text("")
    choose(studio, "sentencepiece-unigram")
    assert "The corpus has no words." in banner.text
    assert all(run.library_run is None for run in window.session.runs.all)
    window.session.settings.set_target_size(100)
    studio.set_text("hug pug\n▅")
    run = trained(studio, "sentencepiece-unigram")
    assert "tokens: the library found no more in this corpus." in banner.text
    assert "Lines left out by the library" in banner.text
    assert run_names([run]) == {run: "Unigram (SentencePiece)"}
    studio.set_text(f"{HEADER}\nhug\t3\n▅\t2\n")  # which has no lines to learn from
    run = trained(studio, "sentencepiece-unigram")
    assert "was trained on words, as this corpus has no lines." in banner.text
    assert "Words left out because they contain" in banner.text
    assert run_names([run]) == {run: "Unigram (SentencePiece), trained on words"}
    assert (
        f"{len(window.model.run.library_run.tokens)} of 100 tokens · trained with another library"
        in window.bar.progress_label.forms[0]
    )


def test_what_a_library_trains_is_no_run_of_another_project(studio: Studio) -> None:
    window = studio.window
    choose(studio, "tokenizers-unigram")
    assert window.session.library_job.is_running
    window.project.clear()
    assert not window.session.library_job.is_running
    assert "was stopped" in window.notices.library.text
    assert not window.actions_.stop_library.isEnabled()
