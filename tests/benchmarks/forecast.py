"""What the window forecasts of a training, and what it took: ``python -m tests.benchmarks.forecast [FILE …]``.

Counts each file, says memory and seconds of some trainings of it beforehand, and trains: the engine alone, and through
the observable trainer with no one looking on. The forecast is good if it is at most twice or half of what it took.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from rich.console import Console
from rich.table import Table

from tests.benchmarks.bench import Bench
from wordpiece_studio.compiled.kernel_cache import KERNEL_PACKAGES, load_kernels
from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.session.kernel_warmup import measured_pace
from wordpiece_studio.session.trainer_model import TrainerModel
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.system.memory import memory_text
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.forecast import Forecaster
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts

_CORPORA = ("course-en", "course-ko", "course-zh-CN", "shakespeare", "english-26mb", "many-10")
_CONFIGS = (
    TrainingConfig(vocab_size=8000, min_frequency=2),
    TrainingConfig(vocab_size=30_000, min_frequency=2),
    TrainingConfig(vocab_size=30_000, min_frequency=2, objective="count"),
    TrainingConfig(vocab_size=30_000, min_frequency=2, objective="likelihood"),
    TrainingConfig(min_frequency=2),
)


def engine_seconds(counts: WordCounts, config: TrainingConfig) -> float:
    """Train with the engine alone."""
    began = time.perf_counter()
    Trainer(counts, config, memory_limit=math.inf).run()
    return time.perf_counter() - began


def model_seconds(model: TrainerModel, counts: WordCounts, config: TrainingConfig) -> float:
    """Train as the window does."""
    began = time.perf_counter()
    model.start(counts, config)
    while model.state is TrainerState.TRAINING:
        QCoreApplication.processEvents()
        time.sleep(0.0005)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="*", default=_CORPORA, metavar="FILE")
    arguments = parser.parse_args()
    QCoreApplication([])
    for package in KERNEL_PACKAGES:
        load_kernels(package)
    table = Table()
    columns = ("engine: forecast s", "took s", "ratio", "window: forecast s", "took s", "ratio")
    for column in ("corpus", "objective", "size", "memory", *columns):
        table.add_column(column, justify="right")
    pace = measured_pace()
    model = TrainerModel()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for corpus in filter(None, map(bench.corpus, arguments.corpora)):
            counts = count_words([corpus.path])
            forecaster = Forecaster(counts)
            for config in _CONFIGS:
                alone = forecaster.seconds(config, pace)
                watched = forecaster.seconds(config, pace, is_watched=True)
                memory = memory_text(forecaster.memory(config).peak)
                engine, whole = engine_seconds(counts, config), model_seconds(model, counts, config)
                ratios += [alone / engine, watched / whole]
                size = f"{config.vocab_size:,}" if config.vocab_size else "no limit"
                values = (alone, engine, alone / engine, watched, whole, watched / whole)
                numbers = (f"{value:.2f}" for value in values)
                table.add_row(corpus.name, config.objective, size, memory, *numbers)
    model.close()
    Console(width=130).print(table)
    good = sum(0.5 <= ratio <= 2 for ratio in ratios)
    Console().print(f"pace of this machine {pace:.2f}; {good} of {len(ratios)} forecasts within a factor of two")


if __name__ == "__main__":
    main()
