"""The token details: what they show of tokens, pairs and words, and that everything in them can be chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from tests.ui.panes.looking import Looking
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.training_job import Candidates
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.engine import Candidate
from wordpiece_studio.training.trainer import Trainer
from wordpiece_studio.ui.panes.token_details.merge_tree_view import MOST_NODES, laid_out, merges_of
from wordpiece_studio.ui.panes.token_details.token_details_pane import TokenDetailsPane
from wordpiece_studio.ui.widgets.plain import tooltip_text
from wordpiece_studio.ui.widgets.token_text import dead_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ui.panes.conftest import Bench
    from wordpiece_studio.ui.widgets.chips import ChipFlow

FULLY = Selection("token", text="##fully")


@pytest.fixture
def looking(bench: Bench) -> Iterator[Looking]:
    looking = Looking(bench)
    yield looking
    looking.close()


@pytest.fixture
def pane(looking: Looking) -> TokenDetailsPane:
    return looking.show(TokenDetailsPane, 400, 600)  # type: ignore[no-any-return]


def look_at(looking: Looking, selection: Selection | None, step: int | None = None) -> None:
    looking.bench.model.set_selection(selection)
    if step is not None:
        looking.bench.model.seek(step)
    looking.settle()


def texts(controller: ChipFlow) -> list[str]:
    return [item.text for item in controller.items]


def choose(looking: Looking, controller: ChipFlow, text: str) -> None:
    place = controller.rect_of(texts(controller).index(text)).center().toPoint()
    looking.bench.qtbot.mouseClick(controller.viewport(), Qt.MouseButton.LeftButton, pos=place)
    looking.settle()


def test_no_selection(looking: Looking, pane: TokenDetailsPane) -> None:
    assert "Click any token" in pane.empty_text.text()
    looking.bench.model.seek(8)
    looking.bench.qtbot.mouseClick(pane.show_merge, Qt.MouseButton.LeftButton)
    assert looking.bench.model.selection == FULLY
    looking.settle()
    assert not pane.empty.isVisible()


def test_before_training_it_says_what_to_do(empty_bench: Bench) -> None:
    looking = Looking(empty_bench)
    pane = looking.show(TokenDetailsPane)
    assert "Train" in pane.empty_text.text()
    assert not pane.show_merge.isVisible()
    looking.close()


def test_a_learned_token(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, FULLY)
    body = pane.body
    assert pane.hints[0] == "##fully"
    assert body.summary.text() == "ID 52 · created at step 8"
    assert texts(body.formula) == ["##full", "+", "##y", "score 1 / (1 × 2) = 0.5000"]
    assert body.facts.text() == "It is used once in the corpus."
    assert texts(body.words.flow) == ["Hopefully"]
    assert not body.children_.isVisible()
    looking.bench.qtbot.mouseClick(body.birth, Qt.MouseButton.LeftButton)
    assert looking.bench.model.step == 8


def test_a_dead_token_says_why(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, Selection("token", text="##full"))
    reason = looking.usage.reason(51)
    assert reason is not None
    assert pane.body.facts.text() == dead_sentence(reason, 1)
    assert texts(pane.body.children_.flow) == ["##fully"]
    assert pane.body.words.heading.text() == "Occurs in no word at this step"


def test_the_alphabet_and_special_tokens(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, Selection("token", text="##h"), 0)
    assert "in the alphabet" in pane.body.summary.text()
    assert "distinct words: 6." in pane.body.facts.text()
    assert texts(pane.body.children_.flow) == ["Th", "ch", "##hm", "sh", "th"]
    assert all(item.faded for item in pane.body.children_.flow.items)
    assert not pane.body.tree.isVisible()
    assert not pane.body.birth.isVisible()
    look_at(looking, Selection("token", text="[UNK]"))
    assert pane.body.summary.text().endswith("special token")
    assert pane.body.facts.text() == "No word in the corpus is unknown."
    assert not pane.body.words.isVisible()  # it would say that the token stands nowhere


def test_not_yet_born(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, FULLY, 5)
    assert pane.body.summary.text() == "ID 52 · not created until step 8; now at step 5"
    assert pane.hints[0] == "##fully · created at step 8"
    assert pane.body.head.items[0].faded
    assert pane.body.facts.text() == ""
    assert not pane.body.words.isVisible()


def test_every_chip_can_be_chosen(looking: Looking, pane: TokenDetailsPane) -> None:
    model = looking.bench.model
    look_at(looking, FULLY)
    choose(looking, pane.body.formula, "##full")
    assert model.selection == Selection("token", text="##full")
    choose(looking, pane.body.children_.flow, "##fully")
    assert model.selection == FULLY
    choose(looking, pane.body.words.flow, "Hopefully")
    assert model.selection == Selection("word", text="Hopefully")


def test_a_word(looking: Looking, pane: TokenDetailsPane) -> None:
    model = looking.bench.model
    look_at(looking, Selection("word", text="Hopefully"), 7)
    assert texts(pane.body.formula) == model.history.segmentation("Hopefully", 7)
    assert pane.body.summary.text() == "Once in the corpus. Still several tokens after the last merge."
    assert texts(pane.body.parts.flow) == ["2", "6", "7", "8"]
    choose(looking, pane.body.parts.flow, "2")
    assert model.step == 2
    assert texts(pane.body.formula) == model.history.segmentation("Hopefully", 2)
    look_at(looking, Selection("word", text="is"), 25)
    assert pane.body.summary.text() == "2 times in the corpus. One token since step 21."
    look_at(looking, Selection("word", text="full"), 25)
    assert "Not a word of the training corpus." in pane.body.summary.text()


def test_a_pair_that_was_merged_shows_its_token(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, Selection("pair", left="##full", right="##y"))
    assert pane.hints[0] == "##fully"
    assert "pair" not in pane.body.facts.text()


def test_a_pair_that_is_not_learned_has_its_numbers_if_they_are_known(looking: Looking, pane: TokenDetailsPane) -> None:
    model = looking.bench.model
    look_at(looking, Selection("pair", left="t", right="##o"))
    assert pane.body.summary.text() == "Not learned yet."
    assert texts(pane.body.formula) == ["t", "+", "##o", "→", "to"]
    candidate = Candidate("t", "##o", "to", 3, 5, 6, 0.1, False)
    model.candidates = Candidates(model.step, (candidate,), available=True)
    model.candidates_changed.emit(model.candidates)
    looking.settle()
    assert pane.body.summary.text() == "Not learned yet. A candidate after 25 merges: 3 / (5 × 6) = 0.1000"


def test_what_is_not_a_token(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, Selection("token", text="<img src=x>"))
    assert "Not in the vocabulary" in pane.body.summary.text()
    assert pane.hints[0] == "<img src=x>"


def test_a_low_pane_shows_the_chain(looking: Looking) -> None:
    pane = looking.show(TokenDetailsPane, 300, 58)
    look_at(looking, FULLY)
    shown = texts(pane.line.chain)
    assert pane.line.chain.isVisible()
    assert shown[-1] == "##fully"
    assert pane.line.chain.height_of(pane.line.chain.items, 272) <= 58
    assert not pane.line.note.isVisible()
    pane.resize(300, 130)
    looking.settle()
    assert pane.line.note.text() == "ID 52 · created at step 8\nIt is used once in the corpus."
    pane.resize(700, 58)
    looking.settle()
    whole = "##f + ##u → ##fu + ##l → ##ful + ##l → ##full + ##y → ##fully"
    assert " ".join(texts(pane.line.chain)) == whole
    choose(looking, pane.line.chain, "##ful")
    assert looking.bench.model.selection == Selection("token", text="##ful")
    pane.resize(400, 500)
    looking.settle()
    assert pane.body.isVisible()


def test_a_low_pane_shows_the_beginning_of_a_long_word(empty_bench: Bench) -> None:
    empty_bench.train(["ab" * 40 + " hi"], max_merges=0)
    looking = Looking(empty_bench)
    pane = looking.show(TokenDetailsPane, 300, 100)
    look_at(looking, Selection("word", text="ab" * 40))
    shown = texts(pane.line.chain)
    assert (shown[:3], shown[-1]) == (["a", "##b", "##a"], "…")
    assert pane.line.chain.height_of(pane.line.chain.items, 272) < 80
    assert pane.line.note.text() == "Once in the corpus. Still several tokens after the last merge."
    looking.close()


def test_the_unknown_token_says_how_many_words_are_unknown(empty_bench: Bench) -> None:
    empty_bench.train(["a" * 101 + " hi", "b" * 101 + " " + "b" * 101], max_merges=0)
    looking = Looking(empty_bench)
    pane = looking.show(TokenDetailsPane, 400, 600)
    look_at(looking, Selection("token", text="[UNK]"))
    assert pane.body.facts.text() == "2 distinct words in the corpus are unknown; occurrences: 3."
    looking.close()


def test_the_tree(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, FULLY)
    view, history = pane.body.tree, looking.bench.model.history
    names = [history.token(node.tree.token_id) for node in view.nodes]
    assert names == ["##fully", "##full", "##y", "##ful", "##l", "##fu", "##l", "##f", "##u"]
    assert [node.tree.step for node in view.nodes] == [8, 7, 0, 6, 0, 2, 0, 0, 0]
    assert view.accessibleName() == "Merge tree of ##fully"
    assert view.accessibleDescription().startswith("step 2: ##f + ##u → ##fu; step 6: ##fu + ##l → ##ful")
    place = view.rect_of(3).center().toPoint()
    looking.bench.qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert looking.bench.model.selection == Selection("token", text="##ful")


def test_a_node_of_the_tree_says_what_it_is(
    looking: Looking, pane: TokenDetailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_at(looking, FULLY)
    view, shown = pane.body.tree, []
    monkeypatch.setattr(QToolTip, "showText", lambda _place, text, *_: shown.append(text))
    for place in (view.rect_of(3).center().toPoint(), view.viewport().rect().bottomRight()):
        QApplication.sendEvent(view.viewport(), QHelpEvent(QEvent.Type.ToolTip, place, view.mapToGlobal(place)))
    assert shown == [tooltip_text("step 6: ##fu + ##l → ##ful"), ""]


def test_the_cursor_stays_on_its_chip_when_the_step_moves(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, Selection("token", text="##h"), 12)
    controller = pane.body.children_.flow
    controller.setFocus()
    looking.bench.wait(controller.hasFocus)
    looking.bench.qtbot.keyClick(controller, Qt.Key.Key_Right)
    looking.bench.seek(9)  # "ch" is pale now
    looking.settle()
    assert controller.accessibleDescription() == "ch, created at step 10"
    looking.bench.qtbot.keyClick(controller, Qt.Key.Key_Return)
    assert looking.bench.model.selection == Selection("token", text="ch")


def test_the_tree_by_key(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, FULLY)
    view, qtbot = pane.body.tree, looking.bench.qtbot
    view.setFocus()
    looking.bench.wait(view.hasFocus)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left):
        qtbot.keyClick(view, key)
    assert view.accessibleDescription() == "step 6: ##fu + ##l → ##ful"
    qtbot.keyClick(view, Qt.Key.Key_Up)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert looking.bench.model.selection == Selection("token", text="##full")


def test_lines_of_chips_by_key(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, Selection("token", text="##h"), 0)
    controller, qtbot = pane.body.children_.flow, looking.bench.qtbot
    controller.setFocus()
    looking.bench.wait(controller.hasFocus)
    qtbot.keyClick(controller, Qt.Key.Key_Left)
    qtbot.keyClick(controller, Qt.Key.Key_Right)
    assert controller.accessibleDescription() == "ch, created at step 10"
    qtbot.keyClick(controller, Qt.Key.Key_Space)
    assert looking.bench.model.selection == Selection("token", text="ch")
    assert looking.bench.model.step == 0


def test_many_children_are_shown_on_request(empty_bench: Bench) -> None:
    words = [f"{chr(0x410 + n)}a" for n in range(40)]
    empty_bench.train([" ".join(words)], vocab_size=None, objective="count")
    looking = Looking(empty_bench)
    pane = looking.show(TokenDetailsPane, 400, 600)
    look_at(looking, Selection("token", text="##a"))
    controller = pane.body.children_.flow
    assert texts(controller) == [*words[:24], "16 more"]
    choose(looking, controller, "16 more")
    assert texts(controller) == words
    looking.close()


def test_it_stays_right_when_another_run_replaces_this_one(looking: Looking, pane: TokenDetailsPane) -> None:
    look_at(looking, FULLY)
    looking.bench.train(["hug hugs pug"], vocab_size=20)
    look_at(looking, Selection("token", text="hu"))
    assert pane.hints[0] == "hu"
    look_at(looking, None)
    assert pane.empty.isVisible()


def test_a_hidden_pane_forgets_a_run_once(
    looking: Looking, pane: TokenDetailsPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten: list[str] = []
    look_at(looking, FULLY)
    monkeypatch.setattr(pane, "forget", lambda: forgotten.append("run"))
    pane.hide()
    for _ in range(2):
        looking.bench.train(["hug hugs pug"], vocab_size=20)
    assert forgotten == ["run"]  # of the second one it has shown nothing


@pytest.mark.parametrize("look", ["light", "dark", "contrast"])
@pytest.mark.parametrize(
    "selection", [FULLY, Selection("word", text="Hopefully"), Selection("pair", left="t", right="##o"), None]
)
def test_it_paints_in_all_themes(looking: Looking, look: str, selection: Selection | None) -> None:
    looking.bench.theme.set_choice(look)  # type: ignore[arg-type]
    pane = looking.show(TokenDetailsPane, 300, 90)
    look_at(looking, selection, 6)
    assert not pane.grab().isNull()
    pane.resize(400, 600)
    assert not pane.grab().isNull()


# ---- the layout of trees


def history_of(words: dict[str, int], **config: object) -> Trainer:
    settings = TrainingConfig(**{"objective": "score", **config})  # type: ignore[arg-type]
    trainer = Trainer(WordCounts.from_pairs(words), settings, engine="plain")
    trainer.run()
    return trainer


def test_nodes_of_a_level_do_not_overlap() -> None:
    history = history_of({"abcabcdd": 3, "bcd": 2, "ddab": 1}).history
    for token_id in range(len(history.vocabulary(len(history)))):
        nodes = laid_out(history.merge_tree(token_id), lambda each: 12.0 * len(history.token(each)), 6.0)
        for left in nodes:
            assert left.x >= 0
            for right in nodes:
                if left is not right and left.level == right.level:
                    assert left.x + left.width <= right.x or right.x + right.width <= left.x
        leaves = sorted((node.x, history.token(node.tree.token_id)) for node in nodes if node.left < 0)
        spelled = "".join(token.removeprefix("##") for _, token in leaves)
        assert spelled == history.token(token_id).removeprefix("##")


def test_a_large_tree_is_cut() -> None:
    history = history_of({"ab" * 250: 1}, special_tokens=()).history
    longest = len(history.vocabulary(len(history))) - 1
    nodes = laid_out(history.merge_tree(longest), lambda _each: 20.0, 6.0)
    assert len(nodes) <= MOST_NODES
    assert any(node.is_cut for node in nodes)
    assert [each.step for each in merges_of(history.merge_tree(longest))] == list(range(1, len(history) + 1))
