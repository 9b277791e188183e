"""What if: a run is trained once more with another merge or another rule, beside the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.project_file import open_project, save_project
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import RULES, TrainingConfig

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ui.conftest import Studio

STEP, H_U = 12, Selection("pair", left="H", right="##u")


def rules(config: TrainingConfig | None) -> dict[str, Any]:
    assert config is not None
    return {name: value for name in RULES if (value := getattr(config, name))}


def do(studio: Studio, selection: Selection, command: str) -> None:
    window = studio.window
    window.model.set_selection(selection)
    studio.wait(lambda: window.model.candidates is not None and window.model.candidates.step == STEP - 1)
    action = getattr(window.actions_, command)
    window.actions_.refresh_menus()
    assert action.isEnabled(), action.property("reason")
    with studio.qtbot.waitSignal(window.model.run_reset):
        action.trigger()
    studio.wait_finished()


@pytest.fixture
def chosen(studio: Studio) -> Studio:
    """A window with a run, and one beside it that merges another candidate at the same step."""
    studio.window.model.seek(STEP)
    do(studio, H_U, "merge_instead")
    return studio


def test_without_rules_they_take_no_room(studio: Studio) -> None:
    assert studio.window.bar.rules.isHidden()


def test_another_candidate_is_merged_in_a_run_of_its_own(chosen: Studio) -> None:
    model, runs = chosen.window.model, chosen.window.session.runs
    first, second = runs.all
    assert (runs.current, model.step, model.selection) == (second, STEP, H_U)
    assert rules(second.config) == {"chosen_merges": ((STEP, "H", "##u"),)}
    assert second.history[STEP - 1].token == "Hu" != first.history[STEP - 1].token
    assert list(second.history)[: STEP - 1] == list(first.history)[: STEP - 1]
    assert (second.origin.corpus_name, second.is_kept, first.is_kept) == (first.origin.corpus_name, True, True)
    assert rules(chosen.window.session.settings.config()) == rules(second.config)
    assert "Step 12: H + ##u" in chosen.window.run_strip.tabs.tabToolTip(1)
    view = chosen.window.scoreboard_pane.candidates_view
    chosen.wait(lambda: bool(view.ranking) and view.ranking[0].token == "Hu")
    assert (view.ranking.merged_text, view.ranking.first_tied, view.ranking.is_best(0)) == ("✓ chosen", 1, False)
    assert view.ranking.is_best(1)


def test_tokens_and_pairs_are_forbidden_and_required(chosen: Studio) -> None:
    do(chosen, Selection("pair", left="ch", right="##a"), "forbid_pair")
    do(chosen, Selection("token", text="cts"), "forbid_token")  # which no merge makes
    do(chosen, Selection("word", text="tokenizer"), "require_token")
    run = chosen.window.session.runs.current
    assert run is not None
    assert rules(run.config) == {
        "required_tokens": ("tokenizer",),
        "forbidden_tokens": ("cts",),
        "forbidden_pairs": (("ch", "##a"),),
        "chosen_merges": ((STEP, "H", "##u"),),
    }
    tokens = run.history.vocabulary(len(run.history)).tokens
    assert "tokenizer" in tokens
    assert "cha" not in tokens
    do(chosen, Selection("token", text="Fac"), "forbid_token")  # before the chosen merge, which is another step then
    assert run is not chosen.window.session.runs.current
    config = chosen.window.model.config
    assert config is not None
    assert (config.forbidden_tokens, config.chosen_merges) == (("cts", "Fac"), ())


def test_a_chip_takes_a_rule_away_and_the_run_without_it_is_shown(chosen: Studio) -> None:
    window = chosen.window
    (chip,) = window.bar.rules.chips
    assert chip.text().startswith("Step 12: H + ##u")
    chip.click()
    chosen.wait(lambda: window.session.runs.current is window.session.runs.all[0])
    assert window.bar.rules.isHidden()
    assert not rules(window.session.settings.config())
    window.session.runs.show(window.session.runs.all[1])
    assert not window.bar.rules.isHidden()


def test_what_cannot_be_done_says_why(chosen: Studio) -> None:
    window, actions = chosen.window, chosen.window.actions_

    def reasons(selection: Selection | None) -> list[str]:
        window.model.set_selection(selection)
        actions.refresh_menus()
        commands = (actions.merge_instead, actions.forbid_token, actions.forbid_pair, actions.require_token)
        return ["" if each.isEnabled() else each.property("reason") for each in commands]

    assert reasons(None) == ["Nothing is selected"] * 4
    assert reasons(H_U) == ["This pair is merged at this step", "", "", ""]
    symbol = "The alphabet has this symbol from the start"
    assert reasons(Selection("token", text="##u")) == ["No candidate of this step is selected", symbol,
                                                       "No pair is selected", symbol]  # fmt: skip
    assert reasons(Selection("token", text="[UNK]"))[3].startswith("Special and user tokens are in the vocabulary")
    assert reasons(Selection("word", text="a" * 101))[3].startswith("It is too long")


def test_rules_are_saved_with_the_project_and_dropped_with_the_corpus(chosen: Studio, tmp_path: Path) -> None:
    window, path = chosen.window, tmp_path / "p.wpstudio"
    save_project(path, window.project.capture())
    saved = open_project(path)
    saved.check_whole()
    assert [rules(run.config) for run in saved.runs] == [{"chosen_merges": ((STEP, "H", "##u"),)}, {}]
    window.corpus_controller.load_sample("korean.txt")
    chosen.wait_finished()
    assert not rules(window.session.settings.config())
    assert window.bar.rules.isHidden()
    window.project.restore(saved)
    chosen.wait(lambda: not window.project.reading.is_running)
    assert [rules(run.config) for run in window.session.runs.all] == [{}, {"chosen_merges": ((STEP, "H", "##u"),)}]
    assert rules(window.session.settings.config()) == {"chosen_merges": ((STEP, "H", "##u"),)}
    assert not window.bar.rules.isHidden()


def test_a_merge_that_cannot_be_done_any_more_keeps_what_was_learned(chosen: Studio) -> None:
    window = chosen.window
    window.session.settings.set_config(
        TrainingConfig(objective="score", vocab_size=70, chosen_merges=((4, "x", "##y"),))
    )
    window.actions_.train.trigger()
    chosen.wait(lambda: window.model.state is TrainerState.FAILED)
    assert window.model.merge_count == 3
    assert "x + ##y, chosen for step 4, is not a candidate there" in window.notices.training.text
