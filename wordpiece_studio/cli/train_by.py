"""``wordpiece-studio train --by``: trainings by other libraries, and the file of the library that is written."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli.messages import print_line, progress, warn
from wordpiece_studio.cli.options import check_results, counted_words, listed_sources, opened_stdin, results
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.library_training import (
    PeerProgress,
    PeerRun,
    check_peer_settings,
    check_replayable,
    file_of,
    train_peer,
)
from wordpiece_studio.storage.exports import BPE_FILES
from wordpiece_studio.storage.huggingface.tokenizer_json import TOKENIZER_FILE
from wordpiece_studio.storage.manifest import MANIFEST_FILE
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES
from wordpiece_studio.system.atomic_write import atomic_write_all, check_folder, make_folder
from wordpiece_studio.system.printable import display_name, printable_json
from wordpiece_studio.text.normalizers import Unchanged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.trainer import Trainer

# What only our own training writes or uses, and what only word counts have, each with its default.
_OURS = {"bpe": False, "only": None, "history": None, "with_counts": False, "held_out": False, "held_out_file": None}
_OF_WORDS = {
    "normalizer": "bert-cased",
    "pre_tokenizer": "bert",
    "remove": "",
    "min_count": 1,
    "max_word_length": 1000,
    "cluster": None,
}


def check_by(options: Mapping[str, Any], config: TrainingConfig) -> None:
    """Check that the options about other libraries can be combined with the rest.

    Raises
    ------
    StudioError
        If not, or the library has no such setting, or the folder holds another tokenizer.
    """
    by, is_replayed = options["by"], options["replay"]
    if by is None and (is_replayed or options["twice"]):
        name = "replay" if is_replayed else "twice"
        raise StudioError("--{name} needs --by", "Name another library with it.", name=name)
    if by is None:
        return
    check_peer_settings(by, config)
    if is_replayed:
        check_replayable(by)
        return
    unfit = _OF_WORDS | _OURS if by.startswith("sentencepiece") else _OURS
    wrong = next((name for name, usual in unfit.items() if options[name] != usual), None)
    if wrong is not None:
        raise StudioError(
            "--{name} and --by {by} cannot be combined", "Omit one of them.", name=wrong.replace("_", "-"), by=by
        )
    check_folder(options["output"])
    output, own = Path(options["output"]), file_of(by)
    check_results([output / own], force=options["force"])
    for other in (MANIFEST_FILE, *TOKENIZER_FILES, *BPE_FILES):
        if own == TOKENIZER_FILE != other and (output / other).exists():
            raise StudioError(
                "{path} contains a tokenizer with a {name} that would not match the new file",
                "Choose another folder.",
                path=display_name(output),
                name=other,
            )


def write_by(options: Mapping[str, Any], config: TrainingConfig, counted: Callable[[], WordCounts]) -> None:
    """Train with another library, and write its file; `counted` returns the words, where they are needed."""
    started = time.monotonic()
    with _corpus(options, counted) as corpus:
        run = trained_by(options, config, corpus)
    output = Path(options["output"])
    with results(force=options["force"]):
        atomic_write_all({make_folder(output) / run.file_name: run.content})
    tell = _summary if options["as_json"] else _said
    print_line(tell(run, options["output"], time.monotonic() - started))


def trained_by(options: Mapping[str, Any], config: TrainingConfig, corpus: WordCounts | Iterable[str]) -> PeerRun:
    """Train with another library, twice if requested, and show how far it is."""
    by = options["by"]
    library = by.partition("-")[0]
    far = PeerProgress()
    with progress() as report:

        def note(progress: PeerProgress) -> None:
            nonlocal far
            far = progress

        def show() -> bool:
            if far.done is None:
                report(f"Training by {library}, which does not say how far it is", 0, None)
            else:
                report(f"Training by {library}", far.done, far.total)
            return False

        run = train_peer(by, corpus, config, twice=options["twice"], progress=note, should_stop=show)
    if run.repetition is not None and options["replay"]:
        warn(repetition_words(run))
    return run


def check_replayed(run: PeerRun, trainer: Trainer) -> None:
    """Check that our training gave the vocabulary of the other library.

    Raises
    ------
    StudioError
        If not, with the first difference.
    """
    ours = trainer.vocabulary.tokens
    differing = (number for number, both in enumerate(zip(ours, run.tokens, strict=False)) if both[0] != both[1])
    number = next(differing, None if len(ours) == len(run.tokens) else min(len(ours), len(run.tokens)))
    if number is not None:
        raise StudioError(
            "The vocabularies differ from id {id} on: a word contains the prefix or the suffix or a special token, or "
            "equally rare characters compete for the limit of the alphabet",
            "Train without --replay.",
            id=number,
        )


@contextmanager
def _corpus(options: Mapping[str, Any], counted: Callable[[], WordCounts]) -> Iterator[WordCounts | Iterable[str]]:
    """Provide the words; for SentencePiece the texts, unless there are only tables of words."""
    if not options["by"].startswith("sentencepiece"):
        yield counted()
        return
    sources = listed_sources(options)
    if sources is None:
        with opened_stdin(options) as source:
            yield (piece.text for piece in source.pieces())
    elif any(file.kind == "word-counts" for file in sources.files):
        with progress(of_bytes=True) as report:
            counts = counted_words({**options, "pre_tokenizer": "whitespace-split"}, sources, Unchanged(), report)
        yield counts
    else:
        yield (piece.text for file in sources.files for piece in opened(file).pieces())


def repetition_words(run: PeerRun) -> str:
    """Return what differed when the library trained twice."""
    differing = run.repetition
    assert differing is not None
    if differing.is_same:
        return "Trained twice, with the same result"
    return (
        f"Trained twice, with different results: {differing.tokens:,} tokens are in one vocabulary only, "
        f"{differing.ids:,} others have another id, {differing.scores:,} another score"
    )


def _said(run: PeerRun, output: str, seconds: float) -> str:
    library = run.trainer.partition("-")[0]
    figures = f"{len(run.tokens):,} tokens in {seconds:.1f} s by {library} {run.learned.version}"
    lines = [f"{figures}, written to {display_name(Path(output) / run.file_name)}"]
    return "\n".join(lines if run.repetition is None else [*lines, repetition_words(run)])


def _summary(run: PeerRun, output: str, seconds: float) -> str:
    differing, counts = run.repetition, run.counts
    return printable_json(
        {
            "output": output,
            "file": run.file_name,
            "by": run.trainer,
            "version": run.learned.version,
            "tokens": len(run.tokens),
            "merges": None if run.merges is None else len(run.merges),
            "words": None if counts is None else counts.total,
            "repetition": None
            if differing is None
            else {"tokens": differing.tokens, "ids": differing.ids, "scores": differing.scores},
            "seconds": round(seconds, 3),
        }
    )
