"""What sweep measures, against vocabularies trained at each size; how long it takes; and the size that is dragged.

``python -m tests.benchmarks.sweep FILES`` compares all figures of ten sizes of each file with those of a vocabulary
trained at that size and run by `tokenizers`; ``--time FILE`` compares the seconds of a sweep with those of `evaluate`
in a loop; ``--frames FILE`` drags the size in a window through a run of 30,000 steps, or of all that there are.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np
import tokenizers

import wordpiece_studio as wps
from wordpiece_studio.evaluation.coding import code_bits
from wordpiece_studio.evaluation.evaluating import spelling_of
from wordpiece_studio.evaluation.held_out import Fold, divided_corpus
from wordpiece_studio.training.config import Objective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts

_OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
_FRAME_SIZES = 400
_SAMPLE_MERGES = 100  # more than the sample has with which the window opens


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def seconds() -> float:
    """Return the processor's time of this process, which other ones do not lengthen."""
    return time.process_time()


def by_library(
    library: tokenizers.Tokenizer, counts: WordCounts, size: int
) -> tuple[NDArray[np.int64], dict[str, int]]:
    """Return how often each token occurs, and the unknown words with their counts."""
    found, unknown = np.zeros(size, np.int64), {}
    encoded = library.encode_batch(counts.words, add_special_tokens=False)
    for word, each, count in zip(counts.words, encoded, counts.counts.tolist(), strict=True):
        if each.tokens == ["[UNK]"]:
            unknown[word] = count
        for token, number in Counter(each.ids).items():
            found[token] += number * count
    return found, unknown


def compare(path: Path, folds: int) -> None:
    sweep = wps.sweep(path, folds=folds)
    part = divided_corpus(path, fold=Fold(0, folds))
    compared = different = 0
    for objective in _OBJECTIVES:
        for place, size in enumerate(sweep.sizes):
            run = wps.train(part.rest, wps.TrainingConfig(objective=objective, vocab_size=size))
            with tempfile.TemporaryDirectory() as folder:
                run.tokenizer().save(folder)
                library = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
            held, unknown = by_library(library, part.held_out.counts, size)
            rest, _ = by_library(library, part.rest, size)
            for token, count in part.held_out.spelled_out.items():
                held[run.vocabulary.id_of(token)] += count
            spelling = spelling_of(run.tokenizer())
            bits = code_bits(held, rest, size)
            bits += spelling.bits_of_unknown([*unknown], np.array([*unknown.values()], np.int64))
            measured = sweep.methods[objective][0][place]
            figures, pieces = measured.figures, size - len(wps.TrainingConfig().special_tokens)
            wanted = held.sum(), held[1], round(bits), round(spelling.bits), (rest[5:] >= 100).sum() / pieces
            got = (
                figures.tokens, figures.unknown, round(figures.code_length), round(figures.vocabulary_bits),
                measured.frequent_share,
            )  # fmt: skip
            compared += len(got)
            different += sum(one != other for one, other in zip(got, wanted, strict=True))
    say(f"{path.name}: {len(sweep.sizes)} sizes, {compared} figures, {different} different")


def measure_time(path: Path, folds: int) -> None:
    begun = seconds()
    sweep = wps.sweep(path, folds=folds)
    took = seconds() - begun
    begun = seconds()
    for number in range(folds):
        rest = divided_corpus(path, fold=Fold(number, folds)).rest
        for objective in _OBJECTIVES:
            for size in sweep.sizes:
                run = wps.train(rest, wps.TrainingConfig(objective=objective, vocab_size=size))
                wps.evaluate(run, path, is_held_out=True, fold=Fold(number, folds))
    say(f"{path.name}: {sweep!r}: {took:.1f} s of processor time; by evaluate in a loop {seconds() - begun:.1f} s")


def drag(path: Path) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from wordpiece_studio.session.settings import SettingsStore
    from wordpiece_studio.session.training_job import TrainerState
    from wordpiece_studio.ui.main_window import MainWindow
    from wordpiece_studio.ui.widgets.theme import Theme

    application = QApplication([])
    theme = Theme("light")
    theme.apply_to(application)
    with tempfile.TemporaryDirectory() as folder:
        window = MainWindow(SettingsStore(Path(folder)), theme)
        window.resize(1366, 768)
        window.show()

        def wait(condition: object) -> None:
            while not condition():  # type: ignore[operator]
                application.processEvents()
                time.sleep(0.005)

        window.corpus_controller.open_paths([path])
        wait(lambda: window.session.counting.counts is not None)
        window.session.settings.set_config(wps.TrainingConfig(max_merges=30_000))
        window.actions_.train.trigger()
        wait(lambda: window.model.state is TrainerState.FINISHED and window.model.merge_count > _SAMPLE_MERGES)
        window.actions_.choice("choose_layout", "sizes").trigger()
        pane = window.sizes_pane
        wait(lambda: pane.found is not None and not pane.is_stale)
        frames, waits, sizes = [], [], window.session.sizes.task.answer.sizes
        for size in np.geomspace(sizes[0], sizes[-1], _FRAME_SIZES).round().astype(int).tolist():
            begun, at = time.thread_time(), time.perf_counter()
            pane.seek(size)
            application.processEvents()
            frames.append((time.thread_time() - begun) * 1000)
            waits.append((time.perf_counter() - at) * 1000)
        for name, values in (("processor", frames), ("clock", waits)):
            median, rare = np.percentile(values, [50, 99])
            steps = f"{window.model.merge_count:,} steps"
            say(f"{path.name}: a frame at {steps} by the {name}: p50 {median:.1f} ms, p99 {rare:.1f} ms")
        window.leave_at_once()
        window.take_down()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--time", type=Path)
    parser.add_argument("--frames", type=Path)
    parser.add_argument("--folds", type=int, default=3)
    given = parser.parse_args()
    for path in given.files:
        compare(path, given.folds)
    if given.time is not None:
        measure_time(given.time, given.folds)
    if given.frames is not None:
        drag(given.frames)


if __name__ == "__main__":
    main()
