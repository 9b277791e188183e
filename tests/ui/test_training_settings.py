"""The fields of the training bar show what the next training uses, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from wordpiece_studio.session.session import ChosenSettings
from wordpiece_studio.session.training_job import Progress
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.training_bar import FurtherDialog, SpecialTokensDialog, TrainingSettings, next_size

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from tests.ui.conftest import Studio
    from wordpiece_studio.ui.widgets.theme import Theme


@pytest.fixture
def settings(qapp: object) -> ChosenSettings:
    return ChosenSettings()


@pytest.fixture
def fields(settings: ChosenSettings, qtbot: QtBot) -> TrainingSettings:
    widget = TrainingSettings(settings)
    qtbot.addWidget(widget)
    return widget


@pytest.mark.parametrize(
    "config",
    [
        TrainingConfig(vocab_size=70),
        TrainingConfig(objective="likelihood", min_frequency=3),
        TrainingConfig(objective="count", vocab_size=30_000, special_tokens=(), tie="ids"),
        TrainingConfig(special_tokens=("<s>", "[UNK]"), continuing_subword_prefix="", end_of_word_suffix="</w>"),
    ],
)
def test_a_config_comes_back_as_it_was(
    settings: ChosenSettings, fields: TrainingSettings, config: TrainingConfig
) -> None:
    settings.set_config(config)
    assert settings.config() == config
    shown = (fields.objective_box.currentData(), fields.size_box.value(), fields.frequency_box.value())
    assert shown == (config.objective, config.vocab_size or 0, config.min_frequency)


def test_the_boxes_hold_the_usual_sizes_in_every_font(fields: TrainingSettings) -> None:
    for scale in (1.0, 2.0, 0.9):
        font = fields.font()
        font.setPointSizeF(scale * 10)
        fields.size_box.setFont(font)
        widest = max(map(fields.size_box.fontMetrics().horizontalAdvance, ("000,000", "No limit")))
        assert widest < fields.size_box.minimumWidth() <= fields.size_box.maximumWidth()


def test_what_is_chosen_in_a_field_is_a_setting(
    settings: ChosenSettings, fields: TrainingSettings, qtbot: QtBot
) -> None:
    for change, expected in (
        (lambda: fields.objective_box.setCurrentIndex(2), {"objective": "count"}),
        (lambda: fields.size_box.setValue(90), {"vocab_size": 90}),
        (lambda: fields.frequency_box.setValue(3), {"min_frequency": 3}),
        (lambda: fields.more.actions()[2].trigger(), {"special_tokens": ()}),
    ):
        with qtbot.waitSignal(settings.changed):
            change()
        assert {name: getattr(settings.config(), name) for name in expected} == expected


def test_showing_a_config_is_no_change_by_the_user(settings: ChosenSettings, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(settings.changed):
        settings.set_config(TrainingConfig(objective="count", vocab_size=5))
    with qtbot.waitSignal(settings.changed):
        settings.set_target_size(6)


def test_the_menu_shows_which_special_tokens_there_are(settings: ChosenSettings, fields: TrainingSettings) -> None:
    for tokens, place in ((settings.special_tokens, 1), ((), 2), (("<s>", "[UNK]"), 3)):
        settings.set_config(TrainingConfig(special_tokens=tokens))
        choices = fields.more.actions()[1:4]
        assert [action.isChecked() for action in choices] == [number == place for number in (1, 2, 3)]
    assert choices[-1].text().endswith("(2)")
    assert "[UNK]" in fields.more_button.toolTip()
    choices[-1].trigger()
    fields.findChild(SpecialTokensDialog).reject()
    assert choices[-1].isChecked()


def test_special_tokens_are_typed_one_a_line_and_checked_at_once(qtbot: QtBot) -> None:
    dialog = SpecialTokensDialog(("[UNK]",))
    qtbot.addWidget(dialog)
    ok = dialog.accept_button
    dialog.editor.setPlainText("[UNK]\n\n <s> \n")
    assert dialog.tokens == ("[UNK]", "<s>")
    assert ok.isEnabled()
    dialog.editor.setPlainText("[UNK]\n[UNK]\n")
    assert not ok.isEnabled()
    assert "twice" in dialog.problem_label.text()


def test_the_dialog_of_special_tokens_grows_with_the_text(qtbot: QtBot, styled: Theme) -> None:
    widths = []
    for scale in (1.0, 2.0):
        styled.set_scale(scale)
        dialog = SpecialTokensDialog(("[UNK]",))
        qtbot.addWidget(dialog)
        widths.append(dialog.width())
    assert widths[1] > 1.7 * widths[0]


def test_going_further_means_more(qtbot: QtBot) -> None:
    dialog = FurtherDialog(8000)
    qtbot.addWidget(dialog)
    assert dialog.size_box.minimum() == 8001
    assert dialog.size_box.value() == 10_000
    assert next_size(70) == 100


def test_progress_is_reported_in_true_counts(studio: Studio) -> None:
    bar = studio.window.bar
    bar.show_progress(Progress(12_000, 12_345, 30_000, 75.0), paused=False)
    assert bar.progress_label.forms[0] == "12,345 of 30,000 tokens · 1 min 15 s left"
    assert (bar.progress_bar.value(), bar.progress_bar.maximum()) == (12_000, 29_655)
    bar.show_progress(Progress(12_000, 12_345, 30_000, None, is_target_sure=False), paused=False)
    assert bar.progress_label.forms[0] == "12,345 tokens · 30,000 at most"
    assert bar.progress_bar.maximum() == 0
    bar.show_progress(Progress(10, 55, None, None), paused=True)
    assert bar.progress_label.forms[0] == "55 tokens · paused"


def test_size_and_look_are_remembered(studio: Studio) -> None:
    studio.window.actions_.choice("choose_theme", "dark").trigger()
    studio.window.actions_.larger_text.trigger()
    studio.window.docks.close_panel("timeline")
    studio.window.close()
    values = studio.window.settings.values
    assert (values.theme, values.font_scale) == ("dark", 110)
    assert values.window_geometry
    assert values.layouts["teach"].closed == ("comparison", "sizes", "timeline")
