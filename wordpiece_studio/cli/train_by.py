"""``wordpiece-studio train --by``: trainings by other libraries, and the file of the library that is written."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli.messages import print_line, progress, warn
from wordpiece_studio.cli.options import check_results, is_stream, listed_sources, results
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
from wordpiece_studio.storage.manifest import MANIFEST_FILE, make_peer_manifest, side_manifest, with_manifest
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES
from wordpiece_studio.system.atomic_write import atomic_write_all, check_folder, make_folder
from wordpiece_studio.system.printable import display_name, printable_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wordpiece_studio.cli.options import CorpusNotes
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
    is_sentencepiece = by.startswith("sentencepiece")
    if is_sentencepiece and is_stream(options["files"]):
        raise StudioError("--by {by} needs a text that can be read twice", "Write it to a file.", by=by)
    unfit = _OF_WORDS | _OURS if is_sentencepiece else _OURS
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


def read_by(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the text is read where the library does not use our normalizer and pre-tokenizer."""
    if options["by"] is not None and options["by"].startswith("sentencepiece"):
        return {"normalizer": "none", "pre_tokenizer": "whitespace-split"}
    return {}


def write_by(
    options: Mapping[str, Any], config: TrainingConfig, counts: WordCounts, notes: CorpusNotes, started: float
) -> None:
    """Train with another library on the words, or SentencePiece on the texts themselves, and write its file."""
    run = trained_by(options, config, _texts(options) or counts)
    folder = Path(options["output"])
    manifest = make_peer_manifest(run, counts, notes.record(), folder / run.file_name)
    files = with_manifest(manifest, {run.file_name: run.content}, side_manifest(run.file_name).name)
    with results(force=options["force"]):
        target = make_folder(folder)
        atomic_write_all({target / name: data for name, data in files.items()})
    seconds, output = time.monotonic() - started, options["output"]
    print_line(_summary(run, counts, output, seconds) if options["as_json"] else _said(run, output, seconds))


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
    if run.left_out:
        warn(f"{by} left out {run.left_out:,} words or lines with the character \u2585, which it reserves")
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


def _texts(options: Mapping[str, Any]) -> Iterator[str] | None:
    """Return the texts, if they are what the library reads."""
    sources = listed_sources(options) if options["by"].startswith("sentencepiece") else None
    if sources is None or any(file.kind == "word-counts" for file in sources.files):
        return None
    return (piece.text for file in sources.files for piece in opened(file).pieces())


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
    if len(run.tokens) < (run.config.vocab_size or 0):
        lines.append("The library finds no more tokens in this corpus")
    return "\n".join(lines if run.repetition is None else [*lines, repetition_words(run)])


def _summary(run: PeerRun, counts: WordCounts, output: str, seconds: float) -> str:
    differing = run.repetition
    return printable_json(
        {
            "output": output,
            "file": run.file_name,
            "by": run.trainer,
            "version": run.learned.version,
            "tokens": len(run.tokens),
            "merges": None if run.merges is None else len(run.merges),
            "words": counts.total,
            "repetition": None
            if differing is None
            else {"tokens": differing.tokens, "ids": differing.ids, "scores": differing.scores},
            "seconds": round(seconds, 3),
        }
    )
