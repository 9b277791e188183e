"""Cases 70, 72 and 75: a million merges, counts beyond 32 bits, and a Python that must not run the installed Qt."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from tests.benchmarks.million import MillionModel, million_history
from wordpiece_studio import cli, platform_check
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.session.history_table import HistoryColumn, HistoryFilter
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.panes.history_pane import HistoryPane
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    Told = Callable[[object], str]

BILLIONS = 3_000_000_000


@pytest.fixture
def show(qtbot: QtBot) -> Iterator[Callable[[object], HistoryPane]]:
    """A function that returns the history of a model in a pane, which is taken down after the test."""
    panes: list[HistoryPane] = []

    def pane_of(model: object) -> HistoryPane:
        pane = HistoryPane(model, Theme("light"))  # type: ignore[arg-type]
        qtbot.addWidget(pane)
        pane.resize(900, 600)
        panes.append(pane)
        return pane

    yield pane_of
    for pane in panes:
        pane.close_jobs()
        pane.close()


@pytest.mark.slow
@pytest.mark.case(70)
def test_a_million_merges_are_shown_sorted_filtered_selected_and_copied(
    show: Callable[[object], HistoryPane], qtbot: QtBot, told: Told
) -> None:
    pane = show(MillionModel(million_history(1_000_000)))
    times: dict[str, float] = {}  # of the processor, in the window's thread: others may be at work beside

    def timed(name: str, action: Callable[[], object], limit_s: float) -> None:
        started = time.thread_time()
        action()
        qtbot.waitUntil(lambda: not pane.rows.task.is_running, timeout=20_000)
        pane.grab()
        times[name] = time.thread_time() - started
        assert times[name] < limit_s, name

    timed("show", pane.show, 1)
    timed("jump", lambda: pane.view.scrollTo(pane.rows.index(700_000, 0)), 0.5)
    timed("sort", lambda: pane.rows.sort(HistoryColumn.VALUE, Qt.SortOrder.DescendingOrder), 3)
    timed("filter", lambda: pane.rows.set_filter(HistoryFilter(text="ab")), 5)
    timed("all again", lambda: pane.rows.set_filter(HistoryFilter()), 3)
    timed("select all", pane.view.selectAll, 2)
    assert len(pane.view.selected_steps()) == 1_000_000
    timed("copy", pane.copy_rows, 1)
    assert told(pane.hints[0]) == "1,000,000 rows are too many to copy: export them"
    told("; ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in times.items()))


@pytest.mark.case(72)
def test_counts_beyond_32_bits(show: Callable[[object], HistoryPane], qtbot: QtBot, told: Told) -> None:
    model = TrainerModel()
    try:
        counts = WordCounts.from_pairs([("hug", BILLIONS), ("hugs", 2 * BILLIONS), ("pub", 5)])
        model.start(counts, TrainingConfig(objective="count", max_merges=2))
        qtbot.waitUntil(lambda: model.state is TrainerState.FINISHED, timeout=10_000)
        model.last()
        pane = show(model)
        pane.show()
        assert [merge.pair_frequency for merge in (model.history[0], model.history[1])] == [3 * BILLIONS] * 2
        shown = pane.rows.index(1, HistoryColumn.PAIR_FREQUENCY).data()
        assert "".join(character for character in shown if character.isdigit()) == str(3 * BILLIONS)
        told(f"{shown} is shown as it is")
    finally:
        model.close()


@pytest.mark.case(75)
def test_a_python_that_pyside_would_crash_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], told: Told
) -> None:
    """Nothing is shown in its place: it is a fault of the installation, and whoever started it has to know."""
    monkeypatch.setattr(platform_check, "_version_of", lambda _name: "6.12.0")
    monkeypatch.setattr(platform_check, "_python_version", lambda: (3, 11))
    monkeypatch.setattr("wordpiece_studio.ui.studio.open_studio", pytest.fail)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        code = cli.run([])
    finally:
        signal.signal(signal.SIGTERM, handler)
    captured = capsys.readouterr()
    assert (code, captured.out) == (1, "")
    assert told(captured.err.removeprefix("wordpiece-studio: ").strip()) == (
        "PySide6 6.12.0 crashes Python 3.11, so the window is not opened. "
        'Run: pip install "PySide6-Essentials<6.12". Or use Python 3.12 or newer.'
    )


@pytest.mark.case(75)
def test_where_there_is_no_display_the_sample_is_shown_in_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], told: Told
) -> None:
    problem = "No display can be reached: neither DISPLAY nor WAYLAND_DISPLAY is set."
    monkeypatch.setattr(platform_check, "display_problem", lambda: problem)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        assert cli.run([]) == 0
    finally:
        signal.signal(signal.SIGTERM, handler)
    lines = capsys.readouterr().out.splitlines()
    assert told(lines[0]).startswith(problem)
    assert any(line.startswith("→ Th ##i ##s") for line in lines)
