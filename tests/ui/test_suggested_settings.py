"""What the fields suggest when another corpus is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio


def open_text(studio: Studio, path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    studio.open(path)
    studio.wait(lambda: studio.window.session.counting.counts is not None)


@pytest.mark.slow
def test_a_file_whose_alphabet_is_larger_than_the_size_gets_a_larger_size(studio: Studio, tmp_path: Path) -> None:
    open_text(studio, tmp_path / "ko.txt", "".join(chr(0xAC00 + n % 900) + " " for n in range(4000)))
    settings = studio.window.session.settings
    assert settings.target_size == 2000
    assert "Suggested for this corpus" in studio.window.bar.progress_label.forms[0]
    studio.window.actions_.train.trigger()
    studio.wait_finished()
    assert "Suggested" not in studio.window.bar.progress_label.forms[0]


def test_a_size_that_the_user_changes_is_no_longer_called_suggested(studio: Studio, tmp_path: Path) -> None:
    open_text(studio, tmp_path / "a.txt", "hug hug pug")
    studio.window.session.settings.set_target_size(123)
    assert "Suggested" not in studio.window.bar.progress_label.forms[0]
    studio.set_text("hug hug pug bun " * 1000)  # pasted, but the size was chosen for this corpus
    assert studio.window.session.settings.target_size == 123


def test_typing_leaves_the_size_alone_and_a_large_paste_does_not(studio: Studio) -> None:
    settings = studio.window.session.settings
    studio.window.session.document.edit(0, 0, "hug ")
    studio.wait(lambda: studio.window.session.counting.counts is not None)
    assert settings.target_size == 70
    studio.set_text("hug hug pug bun " * 1000)
    assert settings.target_size == 500


@pytest.mark.slow
def test_above_a_megabyte_a_minimum_frequency_is_suggested(studio: Studio, tmp_path: Path) -> None:
    open_text(studio, tmp_path / "big.txt", "hug hug pug bun\n" * 70_000)
    assert studio.window.session.settings.limits == (500, 2)
    assert (
        "Suggested for this corpus: Likelihood · size 500 · min. frequency 2"
        in studio.window.bar.progress_label.toolTip()
    )
    studio.window.corpus_controller.load_sample("hug.txt")
    assert studio.window.session.settings.limits == (0, 0)
    open_text(studio, tmp_path / "small.txt", "hug hug pug bun\n")
    assert studio.window.session.settings.limits[1] == 0


def test_likelihood_is_suggested_for_a_corpus_of_ones_own_and_the_score_for_samples(
    studio: Studio, tmp_path: Path
) -> None:
    settings = studio.window.session.settings
    assert settings.objective == "score"
    open_text(studio, tmp_path / "a.txt", "hug hug pug")
    assert settings.objective == "likelihood"
    settings.choose(objective="count")
    assert "Suggested" not in studio.window.bar.progress_label.forms[0]
    open_text(studio, tmp_path / "b.txt", "hug pug")
    assert settings.objective == "likelihood"
    studio.window.corpus_controller.load_sample("hug.txt")
    assert settings.objective == "score"
    settings.choose(objective="count")
    studio.set_text("hug hug pug bun " * 1000)  # pasted, but the objective was chosen before
    assert (settings.objective, settings.target_size) == ("count", 500)


def test_a_sample_sets_its_own_size_and_floor(studio: Studio) -> None:
    studio.window.session.settings.set_values(vocab_size=500, min_frequency=7)
    with studio.qtbot.waitSignal(studio.window.model.run_reset):
        studio.window.corpus_controller.open_sample("spanish.txt")
    studio.wait_finished()
    assert studio.window.session.settings.limits == (110, 0)
    assert studio.window.model.progress.vocabulary_size == 110


def test_the_settings_of_an_opened_project_stay(studio: Studio, tmp_path: Path) -> None:
    window, settings = studio.window, studio.window.session.settings
    window.actions_.new_corpus.trigger()
    studio.set_text("hug hug pug bun " * 1000)
    settings.set_target_size(70)
    with studio.qtbot.waitSignal(window.project.saved):
        window.project_controller._save_to(tmp_path / "a.wpstudio", None)
    window.actions_.new_corpus.trigger()
    studio.wait(lambda: window.session.counting.counts is not None)
    with studio.qtbot.waitSignal(window.session.counting.counts_changed, check_params_cb=lambda counts: bool(counts)):
        window.project_controller.open(tmp_path / "a.wpstudio")
    assert settings.target_size == 70
    assert "Suggested" not in window.bar.progress_label.forms[0]
