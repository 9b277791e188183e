"""Predicting: the history ends at the step, choices are graded, and nothing else of the run is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import HUGS, random_counts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.prediction import Prediction
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.contents import Run
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.reference import best_pair, count_pairs, count_symbols, pair_values, score

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from wordpiece_studio.session.trainer_model import TrainerModel

SCORE = TrainingConfig(objective="score", max_merges=6)


def trained(qtbot: QtBot, model: TrainerModel, counts: WordCounts, config: TrainingConfig = SCORE) -> TrainerModel:
    model.start(counts, config)
    qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED and not model.is_busy)
    return model


@pytest.fixture
def prediction(qtbot: QtBot, model: TrainerModel) -> Prediction:
    """A prediction, not begun, of the course's five words by the score at step 1."""
    trained(qtbot, model, WordCounts.from_pairs(HUGS)).seek(1)
    return Prediction(model, model)


def begin(qtbot: QtBot, prediction: Prediction, *exercise: str) -> None:
    with qtbot.waitSignal(prediction.changed, check_params_cb=lambda: bool(prediction.candidates)):
        prediction.begin(*exercise)  # type: ignore[arg-type]


def wait_for_question(qtbot: QtBot, prediction: Prediction, step: int) -> None:
    qtbot.waitUntil(lambda: prediction.step == step and bool(prediction.candidates))


def names(prediction: Prediction) -> list[str]:
    return [f"{each.left} {each.right}" for each in prediction.candidates]


def test_the_history_ends_at_the_step_and_grows_and_shrinks_with_it(qtbot: QtBot, prediction: Prediction) -> None:
    model = prediction._model
    assert model.run is not None
    whole = list(model.run.history)
    begin(qtbot, prediction)
    assert model.history is not None
    assert list(model.history) == whole[:1]
    assert (model.merge_count, model.step, model.is_at_head) == (1, 1, True)
    model.seek(5)  # there is no such step
    assert model.step == 1
    for step in range(2, 7):
        model.next_merge()
        assert (model.step, list(model.history)) == (step, whole[:step])
    model.next_merge()  # not even the engine learns more
    assert (model.step, prediction.has_question) == (6, False)
    model.seek(2)
    assert (list(model.history), model.merge_count) == (whole[:2], 2)
    prediction.end()
    assert (list(model.history), model.merge_count, model.step) == (whole, 6, 2)
    assert list(model.run.history) == whole


def test_what_was_selected_does_not_stay_and_what_is_saved_counts_whole(qtbot: QtBot, prediction: Prediction) -> None:
    model = prediction._model
    model.set_selection(Selection("token", text="hug"))
    begin(qtbot, prediction)
    assert model.selection is None
    model.note_saved()
    assert model.run is not None
    assert model.run.saved_merges == 6


def test_a_training_that_goes_on_is_not_shown(qtbot: QtBot, prediction: Prediction) -> None:
    model = prediction._model
    begin(qtbot, prediction)
    trained(qtbot, model, random_counts(1), TrainingConfig(max_merges=40))
    assert (model.step, model.merge_count) == (0, 0)
    wait_for_question(qtbot, prediction, 1)
    assert model.run is not None
    assert len(model.run.history) == 40


def test_a_run_that_replaces_another_shows_the_same_step(qtbot: QtBot, prediction: Prediction) -> None:
    """As the user types, while what is shown ends at the step."""
    model = prediction._model
    begin(qtbot, prediction)
    with qtbot.waitSignal(model.run_reset):
        model.replace(random_counts(2), TrainingConfig(max_merges=20))
    assert (model.step, model.merge_count) == (1, 1)
    assert model.run is not None
    assert len(model.run.history) == 20


def test_a_run_whose_words_cannot_be_read_is_not_predicted(
    qtbot: QtBot, prediction: Prediction, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_history: object, _step: int) -> None:
        raise StudioError("The file is gone", "Look for it.")

    monkeypatch.setattr("wordpiece_studio.training.history.MergeHistory.until", fail)
    prediction.begin()
    assert not prediction.is_on
    assert prediction._model.merge_count == 6


def test_candidates_are_in_order_of_the_alphabet_until_one_is_revealed(qtbot: QtBot, prediction: Prediction) -> None:
    begin(qtbot, prediction)
    assert names(prediction) == ["##u ##g", "##u ##gs", "##u ##n", "b ##u", "h ##u", "p ##u"]
    assert prediction.sentence() == ""
    prediction.reveal()
    assert names(prediction)[0] == "h ##u"
    assert prediction.sentence() == (
        "6 pairs share 1/36: a tie. h ##u is merged, as it occurs first: in hug, the first word."
    )
    assert prediction.tally == ""  # the lecturer asked the room
    with qtbot.waitSignal(prediction.changed):
        prediction.go_on()
    assert prediction.step == 3


def test_a_tied_pair_is_right(qtbot: QtBot, prediction: Prediction) -> None:
    begin(qtbot, prediction)
    prediction.choose(("##u", "##g"))
    prediction.count(15, 15, None)
    assert prediction.is_right
    prediction.reveal()
    prediction.choose(("p", "##u"))  # too late
    assert prediction.chosen == ("##u", "##g")
    assert prediction.sentence().startswith("Right: it is tied. Another of the 6 pairs that share 1/36, h ##u, is")
    assert "| right: tied, and another is merged by the tie-breaking order; counts wrong |" in prediction.report("", "")
    assert prediction.counted_right == [True, False, True]
    assert prediction.tally == "1 of 1 right"


def test_what_was_answered_about_a_run_is_there_when_it_is_shown_again(qtbot: QtBot, prediction: Prediction) -> None:
    model = prediction._model
    begin(qtbot, prediction)
    prediction.choose(("##u", "##g"))
    prediction.reveal()
    one = model.run
    assert one is not None
    model.open_run(Run(one.counts, one.config, one.history, origin=one.origin, number=1))
    assert prediction.tally == ""
    model.open_run(one, 1)
    assert prediction.tally == "1 of 1 right"


def test_a_wrong_pair_is_explained(qtbot: QtBot, prediction: Prediction) -> None:
    prediction._model.seek(0)
    begin(qtbot, prediction)
    prediction.choose(("##u", "##g"))
    assert not prediction.is_right
    prediction.reveal()
    assert prediction.sentence() == (
        "Not this one. ##u ##g has 20 / (36 × 20) = 1/36: frequent, but ##u is everywhere. "
        "##g ##s has the highest: 5 / (20 × 5) = 1/20."
    )
    assert prediction.tally == "0 of 1 right"


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_every_wrong_pair_of_every_objective_is_explained(
    qtbot: QtBot, make_model: Callable[[], TrainerModel], objective: str
) -> None:
    config = TrainingConfig(objective=objective, max_merges=6)  # type: ignore[arg-type]
    model = trained(qtbot, make_model(), random_counts(3), config)
    model.seek(2)
    prediction = Prediction(model, model)
    begin(qtbot, prediction)
    for pair in [(each.left, each.right) for each in prediction.candidates][:8]:
        prediction._ask()
        wait_for_question(qtbot, prediction, 3)
        prediction.choose(pair)
        is_right = prediction.is_right
        prediction.reveal()
        said = prediction.sentence()
        assert said.startswith("Right." if is_right else "Not this one.")
        assert is_right or " ".join(pair) in said


def test_a_wrong_choice_is_made_again(qtbot: QtBot, prediction: Prediction) -> None:
    prediction._model.seek(0)
    begin(qtbot, prediction, "undo")
    prediction.go_on()
    assert prediction.sentence() == "Choose a pair first."
    prediction.choose(("h", "##u"))
    prediction.go_on()
    assert (prediction.sentence(), prediction.chosen) == ("Not h ##u. Choose again.", None)
    assert not prediction.is_revealed
    prediction.choose(("##g", "##s"))
    prediction.go_on()
    assert prediction.is_revealed
    assert prediction.answers[1].tries == (("h", "##u"),)
    assert not prediction.answers[1].is_right  # at the first try


def test_an_exercise_that_is_left_alone_is_graded_by_the_training(qtbot: QtBot, prediction: Prediction) -> None:
    """Choose what the reference does in its own run, so that a wrong choice would part the two."""
    prediction._model.seek(0)
    begin(qtbot, prediction, "leave")
    for step in range(1, 7):
        wait_for_question(qtbot, prediction, step)
        words = {word: prediction._model.history.segmentation(word, step - 1) for word, _ in HUGS}  # type: ignore[union-attr]
        corpus = [(words[word], times) for word, times in HUGS]
        best = best_pair(pair_values(count_pairs(corpus), count_symbols(corpus), score))
        prediction.choose(best if step != 3 else ("nothing", "##like"))
        prediction.go_on()
        assert not prediction.is_revealed
    assert prediction.sentence() == "5 of 6 right. Wrong choices: merges 3."
    page = prediction.report("hug, pug, pun", "Score")
    assert "| 3 | `nothing ##like` |  | `##g" not in page
    assert page.count("| right |") == 5
    assert page.count("| wrong |") == 1
    assert page.splitlines()[0] == "# Which pair is merged next?"
