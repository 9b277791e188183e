"""Makes pictures of the real window after real trainings.

``python -m tests.end_to_end.pictures`` makes those of the README anew. With ``--scenes FOLDER`` it pictures every scene
at every size, to be looked at; ``--corpora`` names the folder with the corpora that some scenes need, ``--only`` and
``--sizes`` choose some: ``--scenes shots --corpora corpora --only hug,thai --sizes 1366x768``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.end_to_end.driver import Driver
from tests.event_loop import wait
from wordpiece_studio.session.samples import document_titles
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.view import Selection
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.panes.corpus.corpus_pane import CorpusTab
from wordpiece_studio.ui.widgets.theme import Theme

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

README_FOLDER = Path(__file__).parents[2] / "resources" / "pictures"
_USUAL_SIZE = (1440, 900)
_SETTLED_MS = 600  # the panes follow at their own pace
_MIDDLE = 0.48  # of the training: something is learned, and something is still to come
_LANGUAGES = {
    "korean": "course-ko.txt",
    "chinese": "course-zh-CN.txt",
    "hindi": "course-hi.txt",
    "thai": "course-th.txt",
    "burmese": "course-my.txt",
}
_SIZES = {"1366x768": 1, "1024x768": 1, "1920x1080": 1, "3840x2160": 2}
"""Of the screen in its own pixels, and the scale of the window on it."""
_SYLLABLES = tuple(a + b for a in "bdfghklmnprstvwyz" for b in ("a", "e", "i", "o", "u", "an"))
_DISTINCT_WORDS = 700_000


@contextmanager
def studio(size: tuple[int, int] = _USUAL_SIZE) -> Iterator[tuple[MainWindow, Theme]]:
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
        window.resize(*size)
        window.show()
        wait(lambda: window.model.state is TrainerState.FINISHED)
        try:
            yield window, theme
        finally:
            window.leave_at_once()
            window.take_down()
            application.setFont(usual_font)  # the layout Demo leaves it large


def settle(window: MainWindow) -> None:
    """Let the panes show what is so."""
    Driver(window).settle()
    wait(lambda: not window.session.judging.task.is_running)
    QTest.qWait(_SETTLED_MS)


def take(window: MainWindow, path: Path) -> None:
    """Save what the window shows."""
    settle(window)
    path.parent.mkdir(parents=True, exist_ok=True)
    window.grab().save(str(path))
    sys.stdout.write(f"{path}\n")


def look_at_the_merge(window: MainWindow) -> None:
    """Have the token of the step as what all panes look at."""
    history = window.model.history
    if history is not None and window.model.step:
        window.model.set_selection(Selection("token", text=history[window.model.step - 1].token))


def take_for_the_readme() -> None:
    """Make the pictures that the README shows."""
    with studio() as (window, _):
        window.model.seek(12)
        look_at_the_merge(window)
        take(window, README_FOLDER / "window-light.png")
    with studio() as (window, theme):
        theme.set_choice("dark")
        open_sample(window, "korean.txt")
        window.actions_.choice("choose_layout", "engineer").trigger()
        window.model.seek(20)
        look_at_the_merge(window)
        take(window, README_FOLDER / "window-dark.png")


# -- what a scene is made of


def open_sample(window: MainWindow, name: str) -> None:
    """Open a sample with its runs."""
    window.corpus_controller.open_sample(name)
    wait(lambda: not window.project.reading.is_running)
    wait(lambda: window.model.state is TrainerState.FINISHED and window.session.counting.counts is not None)


def open_file(window: MainWindow, path: Path) -> None:
    """Open a file of the user's and wait until it is counted."""
    before = window.session.counting.counts
    window.corpus_controller.open_paths([path])
    wait(lambda: not window.session.opening.is_running)
    wait(lambda: window.session.counting.counts is not None and window.session.counting.counts is not before)


def train(window: MainWindow, **settings: object) -> None:
    """Train with the proposed settings, except these."""
    before = window.model.run
    if settings:
        window.session.settings.choose(**settings)
    window.actions_.train.trigger()
    wait(lambda: window.model.run is not before and window.model.state is TrainerState.FINISHED)


def compare_all(window: MainWindow, step: int) -> None:
    """Compare all runs, at a step of the first."""
    runs = window.session.runs
    for run in runs.all:
        runs.set_compared(run, True)
    runs.show(runs.all[0])
    window.model.seek(step)


# -- the scenes


def first(window: MainWindow) -> None:
    """Show what a new user sees."""
    assert window.model.step


def hug(window: MainWindow) -> None:
    """Compare two runs of the smallest sample, with its words."""
    open_sample(window, "hug.txt")
    window.session.runs.keep(window.session.runs.all[0])
    window.session.runs.close(window.session.runs.all[1])
    train(window, objective="likelihood")
    compare_all(window, 3)
    window.corpus_pane.show_tab(CorpusTab.WORDS)


def four(window: MainWindow) -> None:
    """Compare four runs."""
    hug(window)
    train(window, objective="count")
    train(window, objective="score", min_frequency=5)
    compare_all(window, 3)


def shakespeare(window: MainWindow, path: Path) -> None:
    """Compare two long runs."""
    open_file(window, path)
    for objective in ("score", "likelihood"):
        train(window, objective=objective, vocab_size=8000, min_frequency=0)
    compare_all(window, round(window.model.merge_count * _MIDDLE))


def language(window: MainWindow, path: Path) -> None:
    """Train with the proposed settings, and look at a merge in the middle."""
    open_file(window, path)
    train(window)
    window.model.seek(round(window.model.merge_count * _MIDDLE))
    look_at_the_merge(window)


def many_words(window: MainWindow) -> None:
    """Show the words of a corpus that has very many of them."""
    words = ("".join(parts) for parts in itertools.product(_SYLLABLES, repeat=3))
    lines = [f"{word} " * (1 + 2000 // at) for at, word in enumerate(itertools.islice(words, _DISTINCT_WORDS), 1)]
    path = Path(os.environ["XDG_STATE_HOME"], "words.txt")  # it goes with the window
    path.write_text("\n".join(lines), encoding="utf-8")
    language(window, path)
    window.docks.bring("corpus")
    window.corpus_pane.show_tab(CorpusTab.WORDS)


def dark(window: MainWindow) -> None:
    """Compare two runs in the dark."""
    hug(window)
    window.theme.set_choice("dark")


def contrast(window: MainWindow) -> None:
    """Show the layout Engineer with high contrast."""
    window.theme.set_choice("contrast")
    window.actions_.choice("choose_layout", "engineer").trigger()
    look_at_the_merge(window)


def demo(window: MainWindow) -> None:
    """Compare two runs on the projector."""
    hug(window)
    window.actions_.choice("choose_layout", "demo").trigger()


def document_in_the_dark(window: MainWindow) -> None:
    """Show the document with most to see in the dark."""
    open_sample(window, "traditional-chinese-article")
    window.theme.set_choice("dark")


_SCENES: tuple[Callable[[MainWindow], None], ...] = (
    first, hug, four, many_words, dark, contrast, demo, document_in_the_dark,
)  # fmt: skip
_CORPORA: dict[str, tuple[str, Callable[[MainWindow, Path], None]]] = {
    "shakespeare": ("shakespeare.txt", shakespeare),
    **{name: (file, language) for name, file in _LANGUAGES.items()},
}
"""The scenes that need a corpus, which does not come with the program."""


def of_corpus(scene: Callable[[MainWindow, Path], None], path: Path) -> Callable[[MainWindow], None]:
    """Return a scene with its corpus."""
    return lambda window: scene(window, path)


def scenes(corpora: Path | None) -> dict[str, Callable[[MainWindow], None]]:
    """Return the scenes whose corpus is there, and say which are left out."""
    found = {scene.__name__: scene for scene in _SCENES}
    found |= {name: partial(open_sample, name=name) for name in document_titles()}
    for name, (file, scene) in _CORPORA.items():
        path = None if corpora is None else corpora / file
        if path is not None and path.is_file():
            found[name] = of_corpus(scene, path)
        else:
            sys.stdout.write(f"{name} is left out: there is no {file}\n")
    return found


def picture_scenes(arguments: argparse.Namespace, size: str) -> None:
    """Picture the scenes on a screen of this size."""
    width, height = (int(edge) // _SIZES[size] for edge in size.split("x"))
    wanted = set(filter(None, arguments.only.split(",")))
    for name, scene in scenes(arguments.corpora).items():
        if wanted and name not in wanted:
            continue
        with studio((width, height)) as (window, _):
            scene(window)
            take(window, arguments.scenes / f"{name}-{size}.png")


def run_on_screen(size: str) -> None:
    """Run this command again for one size: a process has one screen, and one scale."""
    width, height = map(int, size.split("x"))
    screen = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height, "dpr": 1, "logicalDpi": 96}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "screens.json")
        path.write_text(json.dumps({"screens": [screen]}), encoding="utf-8")
        changes = {"QT_QPA_PLATFORM": f"offscreen:configfile={path}", "QT_SCALE_FACTOR": str(_SIZES[size])}
        command = [sys.executable, "-m", "tests.end_to_end.pictures", *sys.argv[1:], "--screen", size]
        subprocess.run(command, env=os.environ | changes, check=True)


def main() -> None:
    """Make those that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.end_to_end.pictures", description=__doc__)
    parser.add_argument("--scenes", type=Path, help="where to put pictures of the scenes")
    parser.add_argument("--corpora", type=Path, help="the folder with corpora that do not come with the program")
    parser.add_argument("--only", default="", help="the names of scenes, with commas; all unless given")
    parser.add_argument("--sizes", default=",".join(_SIZES), help="of the screen")
    parser.add_argument("--screen", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.scenes is not None and arguments.screen is None:
        for size in arguments.sizes.split(","):
            run_on_screen(size)
        return
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    QApplication([])
    if arguments.scenes is None:
        take_for_the_readme()
    else:
        picture_scenes(arguments, arguments.screen)


if __name__ == "__main__":
    main()
