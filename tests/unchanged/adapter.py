"""All that the recorder asks of a checkout beside the library, by names that may change.

It runs in either of two checkouts: where a name has changed, ask for the new one and then for the old one, here alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.unchanged import qt_texts

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

LAYOUTS = ("teach", "engineer", "demo")
_STUDIO_SIZE = (1440, 900)


def run_command(arguments: list[str]) -> int:
    """Run the command line in this process, as its ``main`` does, and return the exit code."""
    from wordpiece_studio import cli

    return cli.run(arguments)


def sample_names() -> list[str]:
    """Return the samples that can be opened, the documents after the corpora."""
    from wordpiece_studio.resources import resource_path

    try:
        from wordpiece_studio.session.samples import document_titles
    except ModuleNotFoundError:  # as it was called before
        from wordpiece_studio.session.document_samples import document_titles
    corpora = sorted(path.name for path in resource_path("samples").iterdir() if path.suffix == ".txt")
    return [*corpora, *document_titles()]


# -- the window


def studio() -> AbstractContextManager[tuple[Any, Any]]:
    """Open the window on the trained sample."""
    from tests.end_to_end import pictures

    return pictures.studio(_STUDIO_SIZE)


def model(window: Any) -> Any:
    """Return the observable training: ``merged``, ``merge_count``, ``step``, ``seek``."""
    return window.model


def open_sample(window: Any, name: str) -> None:
    """Open a sample, which trains it."""
    from tests.end_to_end import pictures

    pictures.open_sample(window, name)


def open_file(window: Any, path: Path) -> None:
    """Open a file and wait until it is counted."""
    from tests.end_to_end import pictures

    pictures.open_file(window, path)


def train(window: Any, **settings: object) -> None:
    """Train, and wait for the end."""
    from tests.end_to_end import pictures

    pictures.train(window, **settings)


def compare_two(window: Any) -> None:
    """Compare two runs of the smallest sample."""
    from tests.end_to_end import pictures

    pictures.hug(window)


def command(window: Any, name: str) -> Any:
    """Return the QAction of a command."""
    return getattr(window.actions_, name)


def start_over(window: Any) -> None:
    """Begin with an empty corpus."""
    command(window, "new_corpus").trigger()


def choose_layout(window: Any, name: str) -> None:
    """Choose one of `LAYOUTS`."""
    if hasattr(window.actions_, "choice"):
        window.actions_.choice("choose_layout", name).trigger()
    else:
        command(window, f"layout_{name}").trigger()


def chart_names(window: Any) -> list[str]:
    """Return the names of the charts and what else their panel shows, in the order of `choose_chart`."""
    box = qt_texts.combo_boxes(qt_texts.panel(window, "charts"))["Chart"]
    return [box.itemText(at) for at in range(box.count())]


def choose_chart(window: Any, at: int) -> None:
    """Show another chart."""
    window.charts_pane.choose(at)


def settle_quickly(window: Any) -> None:
    """Wait until the panes show the step."""
    from tests.end_to_end.driver import Driver

    Driver(window).settle()


def settle(window: Any) -> None:
    """Wait until everything is shown, with what takes a moment."""
    from tests.end_to_end import pictures

    pictures.settle(window)


def wait(until: Callable[[], bool]) -> None:
    """Run the event loop until something holds."""
    from tests import event_loop

    event_loop.wait(until)
