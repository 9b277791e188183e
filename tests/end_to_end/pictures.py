"""Makes pictures of the real window after real trainings.

``python -m tests.end_to_end.pictures`` makes those of the README anew; with ``--folder`` every corpus, look, layout and
size is pictured, to be looked at: ``python -m tests.end_to_end.pictures --folder shots course-es.txt course-ko.txt``.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from tests.event_loop import wait
from wordpiece_studio.session.run import Selection, TrainerState
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Iterator

README_FOLDER = Path(__file__).parents[2] / "resources" / "pictures"
_USUAL_SIZE = (1440, 900)
_LOOKS, _LAYOUTS, _SIZES = "light,dark,contrast", "teach,engineer,demo", "1440x900,1024x700"
_SETTLED_SECONDS = 1.0  # the panes follow at their own pace
_MIDDLE = 0.48  # of the training: something is learned, and something is still to come


@contextmanager
def studio() -> Iterator[tuple[MainWindow, Theme]]:
    """Open the window with settings of its own, on the trained sample."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    usual_font = application.font()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder  # nothing that another window left is asked about
        theme = Theme("light")
        theme.apply_to(application)
        window = MainWindow(SettingsStore(Path(folder)), theme)
        window.open_first()
        window.resize(*_USUAL_SIZE)
        window.show()
        wait(lambda: window.model.state is TrainerState.FINISHED)
        try:
            yield window, theme
        finally:
            window.leave_at_once()
            window.take_down()
            application.setFont(usual_font)  # the layout Demo leaves it large


def train(window: MainWindow, path: Path) -> None:
    """Open a file, learn as much as is proposed for it, and go to the middle of that."""
    before = window.session.counting.counts
    window.corpus_controller.open_paths([path])
    wait(lambda: not window.session.opening.is_running)
    wait(lambda: window.session.counting.counts is not None and window.session.counting.counts is not before)
    settle()
    if window.model.state is not TrainerState.TRAINING:
        window.actions_.train.trigger()
    wait(lambda: window.model.state is TrainerState.FINISHED)
    window.model.seek(round(window.model.merge_count * _MIDDLE))


def settle() -> None:
    """Let the panes show what is so."""
    end = time.monotonic() + _SETTLED_SECONDS
    wait(lambda: time.monotonic() > end)


def take(window: MainWindow, path: Path) -> None:
    """Save what the window shows."""
    settle()
    path.parent.mkdir(parents=True, exist_ok=True)
    window.grab().save(str(path))
    sys.stdout.write(f"{path}\n")


def look_at_the_merge(window: MainWindow) -> None:
    """Have the token of the step as what all panes look at."""
    history = window.model.history
    if history is not None and window.model.step:
        window.model.set_selection(Selection("token", text=history[window.model.step - 1].token))


def take_all(window: MainWindow, theme: Theme, name: str, arguments: argparse.Namespace) -> None:
    """Picture the run that is shown in every layout, look and size that is asked for, with its token looked at."""
    look_at_the_merge(window)
    for layout, size in itertools.product(arguments.layouts.split(","), arguments.sizes.split(",")):
        getattr(window.actions_, f"layout_{layout}").trigger()
        window.showNormal()  # a full screen has a size of its own
        window.resize(*map(int, size.split("x")))
        for look in arguments.looks.split(","):
            theme.set_choice(look)
            take(window, arguments.folder / f"{name}-{layout}-{look}-{size}.png")
    theme.set_choice("light")


def take_for_the_readme() -> None:
    """Make the pictures that the README shows."""
    with studio() as (window, _):
        window.model.seek(12)
        look_at_the_merge(window)
        take(window, README_FOLDER / "window-light.png")
    with studio() as (window, theme):
        theme.set_choice("dark")
        window.corpus_controller.open_sample("korean.txt")
        wait(lambda: window.model.state is TrainerState.FINISHED and window.session.counting.counts is not None)
        window.actions_.layout_engineer.trigger()
        window.model.seek(20)
        look_at_the_merge(window)
        take(window, README_FOLDER / "window-dark.png")


def main() -> None:
    """Make those that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.pictures", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", help="corpora to picture beside the sample")
    parser.add_argument("--folder", type=Path, help="where to put pictures of everything")
    parser.add_argument("--looks", default=_LOOKS, help=_LOOKS)
    parser.add_argument("--layouts", default=_LAYOUTS, help=_LAYOUTS)
    parser.add_argument("--sizes", default=_SIZES, help=_SIZES)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    QApplication([])
    if arguments.folder is None:
        take_for_the_readme()
        return
    with studio() as (window, theme):
        take_all(window, theme, "sample", arguments)
    for path in arguments.files:
        with studio() as (window, theme):
            train(window, path)
            take_all(window, theme, path.stem, arguments)


if __name__ == "__main__":
    main()
