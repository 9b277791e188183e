"""The monkey itself: it notices every kind of fault, plays a session again, and finds the tail that matters."""

from __future__ import annotations

import pytest

from tests.monkey import __main__ as monkey
from tests.monkey.actions import Action

_OPEN = '["open", "", {"paths": []}, 300]'


def plant(fault: str) -> str:
    return Action("plant", data={"fault": fault}, pause_ms=300).to_json()


def played_actions(*actions: str, fault: str = "") -> monkey.Played:
    return monkey.Played(1, actions, fault, "")


def test_an_action_is_written_and_read_back() -> None:
    action = Action("type", "MainWindow:0", {"text": "\ud800\n한", "all": True}, 5)
    assert Action.from_json(action.to_json()) == action


@pytest.mark.parametrize("culprit", [0, 1, 6, 12])
def test_the_shortest_tail_begins_with_the_culprit(monkeypatch: pytest.MonkeyPatch, culprit: int) -> None:
    actions = tuple(f'["wait", "{number}", {{}}, 0]' for number in range(13))

    def play(_seed: int, *, replay: tuple[str, ...]) -> monkey.Played:
        return played_actions(*replay, fault="bad" if actions[culprit] in replay else "")

    monkeypatch.setattr(monkey, "play", play)
    tail = monkey.shortest_tail(played_actions(*actions, fault="bad"))
    assert tail is not None
    assert tail[1:] == actions[culprit:]


def test_what_does_not_fail_again_has_no_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monkey, "play", lambda _seed, replay: played_actions(*replay))
    assert monkey.shortest_tail(played_actions('["wait", "", {}, 0]', fault="bad")) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("exception", "exception: ValueError: planted in actions.py _fail"),
        ("qt", "qt: planted"),
        ("log", "log: planted"),
        ("stall", "stall: "),
        ("crash", "crash: ended with -11"),
    ],
)
def test_a_fault_is_noticed(fault: str, line: str) -> None:
    played = monkey.play(1, replay=(_OPEN, plant(fault)))
    assert played.fault.startswith(line)
    assert len(played.actions) == 2


@pytest.mark.slow
def test_what_stays_behind_is_noticed() -> None:
    end = Action("end").to_json()
    assert "planted" in monkey.play(1, replay=(_OPEN, plant("thread"), end)).fault
    assert monkey.play(1, replay=(_OPEN, end)).fault == ""


@pytest.mark.slow
def test_an_editor_that_shows_another_text_is_noticed() -> None:
    waits = ['["wait", "", {}, 50]'] * 8  # agreement is looked at after some actions
    fault = monkey.play(1, replay=(_OPEN, plant("text"), *waits)).fault
    assert fault.startswith("disagreement: the editor and the document differ at ")


@pytest.mark.slow
def test_figures_follow_the_files_that_another_program_changes() -> None:
    waits = ['["wait", "", {}, 300]'] * 7
    figures = Action("figures", data={"text": "middle.txt"}, pause_ms=300).to_json()
    names = ("middle.txt", "vocab.txt", "middle.txt", "vocab.txt")
    changes = [Action("change", data={"path": name, "seed": seed}).to_json() for seed, name in enumerate(names, 1)]
    actions = [each for change in changes for each in (change, *waits)]
    assert monkey.play(1, replay=(_OPEN, figures, *waits[:6], *actions)).fault == ""


@pytest.mark.slow
def test_what_is_shown_of_a_corpus_of_files_follows_them_or_says_so() -> None:
    opened = Action("open", data={"paths": ["many"]}, pause_ms=300).to_json()
    waits = ['["wait", "", {}, 300]'] * 7
    changes = [Action("change", data={"path": "many/00.txt", "seed": seed}).to_json() for seed in (1, 2, 3)]
    actions = [each for change in changes for each in (change, *waits)]
    assert monkey.play(1, replay=(opened, *waits, *actions)).fault == ""


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_short_session_is_peaceful() -> None:
    played = monkey.play(7, actions=20)
    assert (played.fault, played.details) == ("", "")
    assert len(played.actions) == 23
