"""What the window shows of its runs on held-out text, beside what ``train --held-out`` prints; see `held_out_pairs`."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.held_out_pairs import VARYING, Refused, called, pairs_of
from tests.benchmarks.window_watch import rest, studio, wait_for
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.benchmarks.held_out_pairs import Figures, Pair
    from tests.benchmarks.window_watch import WatchedWindow

_SETTLED_SECONDS = 0.5


def window_pairs(texts: dict[str, str], number: int, seed: int) -> Iterator[tuple[str, str, dict[str, Figures]]]:
    """Yield each pair, whether both say the same, and what they say."""
    with tempfile.TemporaryDirectory() as name:
        for kind in ("CONFIG", "DATA", "STATE"):  # settings and unsaved work of its own
            os.environ[f"XDG_{kind}_HOME"] = name
        yield from _in_window(texts, number, seed, Path(name))


def _in_window(
    texts: dict[str, str], number: int, seed: int, folder: Path
) -> Iterator[tuple[str, str, dict[str, Figures]]]:
    with studio() as (window, _):
        window.session.figures.set_wanted(True)
        for count, pair in enumerate(pairs_of(texts, number, seed)):
            pair = replace(pair, form="file", is_held_out=True)
            path = folder / f"{count}.txt"
            path.write_text(texts[pair.text], encoding="utf-8", newline="")
            yield (str(pair), *_compared(window, pair, path))


def _compared(window: WatchedWindow, pair: Pair, path: Path) -> tuple[str, dict[str, Figures]]:
    try:
        folder = path.with_suffix(".out")
        printed = called("train", path, *pair.options(), "--held-out", "-o", folder)["held_out"]
    except Refused as error:
        return f"refused: {error}", {}
    found = {"train": (printed["words"], printed["tokens_per_word"][pair.trainer])}
    shown = _shown(window, pair, path.read_text("utf-8"))
    if shown is None:
        return "DIFFERENT: the window alone refuses", found
    found["window"] = shown
    (words, rate), (words_there, rate_there) = found["train"], shown
    is_near = pair.trainer in VARYING and words == words_there and abs(rate - rate_there) < 0.02 * rate
    return "same" if shown == found["train"] or is_near else "DIFFERENT", found


def _shown(window: WatchedWindow, pair: Pair, text: str) -> Figures | None:
    """Train in the window, and return what its table says on held-out text, where it is by default."""
    session = window.session
    failed: list[object] = []
    before = session.runs.all  # what is trained by itself meanwhile may be the run that is asked for
    session.document.set_text(text)
    session.counting.set_pipeline(
        resolve_normalizer(pair.normalizer), resolve_pre_tokenizer(pair.pre_tokenizer)
    )  # fmt: skip
    wait_for(lambda: session.counting.counts is not None)
    rest(_SETTLED_SECONDS)  # settings are suggested for a corpus
    config = pair.config()
    session.settings.choose(objective=config.objective, vocab_size=config.vocab_size, min_frequency=0)
    if pair.is_ours:
        window.actions_.train.trigger()

        def is_trained() -> bool:
            run = session.runs.current
            is_new = run not in before and run is not None and run.counts is session.counting.counts
            return is_new and run.config == pair.config() and window.model.state is TrainerState.FINISHED

        wait_for(is_trained)
    else:
        session.library_job.failed.connect(failed.append)
        window.actions_.choice("train_with_library", pair.trainer).trigger()
        wait_for(
            lambda: (
                bool(failed) or (not session.library_job.is_running and session.runs.current.library_run is not None)
            )
        )
    for run in session.runs.all:
        if run is not session.runs.current:
            session.runs.close(run)
    if failed:
        return None

    def is_measured() -> bool:
        rows = session.figures.rows()
        return not session.figures.is_running and bool(rows) and bool(rows[0].figures or rows[0].error)

    wait_for(is_measured)
    (row,) = session.figures.rows()
    figures = row.figures
    return None if figures is None else (figures.words, figures.tokens_per_word)
