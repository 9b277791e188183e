"""What the window shows and signals, recorded: keys and menus, merges, charts and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.unchanged import adapter, corpora, qt_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unchanged.records import Records

_MOST_STEPS = 60
"""A sample with more merges is shown at this many steps, evenly chosen."""
_ROOM_FOR_ALL_CHARTS = (3000, 2000)
_PARTS_OF_A_TRAINING = (0.0, 0.5, 1.0)


# -- keys and menus


def keys(_folder: Path) -> Records:
    """Record every command in every state of the window, and which widgets are seen."""
    records: Records = {}

    def note(window: Any, state: str) -> None:
        adapter.settle(window)
        records.update((f"{state}: {name}", value) for name, value in qt_texts.actions(window).items())
        records[f"{state}: menus"] = qt_texts.menus(window)
        records[f"{state}: widgets that are seen"] = qt_texts.visible_names(window)

    for state, reach in _states().items():
        with adapter.studio() as (window, _):
            reach(window)
            note(window, state)
    return records


def _states() -> dict[str, Callable[[Any], None]]:
    return {
        "first": lambda window: None,
        "empty": adapter.start_over,
        "a sample": lambda window: adapter.open_sample(window, "hug.txt"),
        "at the first step": lambda window: adapter.model(window).seek(0),
        "at the last step": lambda window: adapter.model(window).seek(adapter.model(window).merge_count),
        "trained": _train_the_sample,
        "two compared": adapter.compare_two,
        **{f"layout {name}": lambda window, name=name: adapter.choose_layout(window, name) for name in adapter.LAYOUTS},
    }


def _train_the_sample(window: Any) -> None:
    adapter.open_sample(window, "hug.txt")
    adapter.train(window, objective="count")


# -- merges signalled


def merges(folder: Path) -> Records:
    """Record the merges that the window's training signals, in their order, and those of the library."""
    records: Records = {}
    with adapter.studio() as (window, _):
        signalled: list[str] = []
        adapter.model(window).merged.connect(lambda merge: signalled.append(corpora.merge_text(merge)))
        for name in adapter.sample_names():
            signalled.clear()
            adapter.open_sample(window, name)
            records[f"window: {name}"] = "\n".join(signalled)
        for name, text in corpora.texts().items():
            path = folder / f"{name}.txt"
            path.write_text(text, encoding="utf-8")
            adapter.open_file(window, path)
            for objective in corpora.OBJECTIVES:
                signalled.clear()
                adapter.train(window, objective=objective)
                records[f"window: {name}, {objective}"] = "\n".join(signalled)
    records.update((f"library: {name}", text) for name, text in corpora.library_merges())
    return records


# -- charts and texts


def _steps(window: Any) -> Iterator[int]:
    last = adapter.model(window).merge_count
    count = min(last, _MOST_STEPS)
    yield from sorted({round(last * at / count) for at in range(count + 1)} if count else {0})


def charts(_folder: Path) -> Records:
    """Record what every chart says at every step of every sample."""
    records: Records = {}
    with adapter.studio() as (window, _):
        adapter.choose_layout(window, "engineer")  # which shows the charts
        window.resize(*_ROOM_FOR_ALL_CHARTS)
        for name in adapter.sample_names():
            adapter.open_sample(window, name)
            adapter.settle(window)
            for at, chart in enumerate(adapter.chart_names(window)):
                adapter.choose_chart(window, at)
                adapter.settle(window)
                records[f"{name}, {chart}, at the end"] = _chart_texts(window)
            adapter.choose_chart(window, adapter.chart_names(window).index("All"))
            for step in _steps(window):
                adapter.model(window).seek(step)
                adapter.settle_quickly(window)
                records[f"{name}, all charts, step {step}"] = _chart_texts(window)
    return records


def _chart_texts(window: Any) -> dict[str, str]:
    panel = qt_texts.panel(window, "charts")
    return {"painted": qt_texts.painted_texts(panel), "said": qt_texts.descriptions(panel)}


def texts(_folder: Path) -> Records:
    """Record all that can be read in every panel, in the three layouts, at some steps of every sample."""
    records: Records = {}
    for layout in adapter.LAYOUTS:
        with adapter.studio() as (window, _):
            adapter.choose_layout(window, layout)
            for name in adapter.sample_names():
                adapter.open_sample(window, name)
                for part in _PARTS_OF_A_TRAINING:
                    _note_texts(window, f"{layout}, {name}", part, records)
            adapter.compare_two(window)
            _note_texts(window, f"{layout}, two compared", _PARTS_OF_A_TRAINING[1], records)
    return records


def _note_texts(window: Any, state: str, part: float, records: Records) -> None:
    step = round(adapter.model(window).merge_count * part)
    adapter.model(window).seek(step)
    adapter.settle(window)
    for name in ("training_bar", "run_strip", *qt_texts.PANELS):
        panel = qt_texts.panel(window, name)
        if panel.isVisible():
            said = {"painted": qt_texts.painted_texts(panel), "said": qt_texts.descriptions(panel)}
            records[f"{state}, step {step}: {name}"] = said | qt_texts.tables(panel)
