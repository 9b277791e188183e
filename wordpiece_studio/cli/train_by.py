"""``wordpiece-studio train --by``: trainings by other libraries, and the file of the library that is written."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli import options as shared
from wordpiece_studio.cli.messages import judged_words, print_result, progress, warn
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.figures import evaluate
from wordpiece_studio.evaluation.held_out import divided_corpus
from wordpiece_studio.libraries.library_child import MODEL_FILE
from wordpiece_studio.libraries.library_training import (
    LibraryProgress,
    LibraryRun,
    LibraryTrainer,
    check_library_settings,
    check_replayable,
    checked_coverage,
    reads_text,
    train_library,
)
from wordpiece_studio.storage.corpus_record import record_of_rest
from wordpiece_studio.storage.exports import BPE_FILES
from wordpiece_studio.storage.huggingface.tokenizer_json import TOKENIZER_FILE
from wordpiece_studio.storage.manifest import MANIFEST_FILE, make_library_manifest, side_manifest, with_manifest
from wordpiece_studio.storage.tokenizer_directory import (
    TOKENIZER_FILES,
    library_files,
    library_names,
    why_not_in_transformers,
)
from wordpiece_studio.system.atomic_write import atomic_write_all, check_folder
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wordpiece_studio.cli.options import CorpusNotes
    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.evaluation.figures import TokenizerFigures
    from wordpiece_studio.storage.corpus_record import CorpusRecord
    from wordpiece_studio.training.trainer import Trainer

_OF_LIBRARIES = ("replay", "twice", "character_coverage", "byte_fallback")
# What only our own training writes or uses, and what only word counts have, each with its default.
_OURS = {"bpe": False, "only": None, "history": None, "with_counts": False}
_OF_WORDS = {
    "normalizer": "bert-cased",
    "pre_tokenizer": "bert",
    "remove": "",
    "min_count": 1,
    "max_word_length": 1000,
    "cluster": None,
}


def check_by(options: Mapping[str, Any], config: TrainingConfig) -> None:
    """Check that the options about other libraries can be combined with the rest."""
    by, is_replayed = options["by"], options["replay"]
    if by is None and (name := next((name for name in _OF_LIBRARIES if options[name]), None)):
        raise StudioError("--{name} needs --by", "Specify the library with --by.", name=name.replace("_", "-"))
    if by is None:
        return
    check_library_settings(by, config)
    usual = TrainingConfig().continuing_subword_prefix
    if by != "tokenizers-wordpiece" and options["continuing_subword_prefix"] == usual:
        raise StudioError(
            "--continuing-subword-prefix {prefix} and --by {by} cannot be combined: {prefix} is for WordPiece only",
            "Omit it, or use another prefix." if by == "tokenizers-bpe" else "Omit it.",
            prefix=usual,
            by=by,
        )
    checked_coverage(by, options["character_coverage"], options["byte_fallback"])
    if is_replayed:
        check_replayable(by)
        return
    is_sentencepiece = reads_text(by)
    if is_sentencepiece and shared.is_stream(options["files"]):
        raise StudioError("--by {by} needs a text that can be read twice", "Write it to a file.", by=by)
    unfit = _OF_WORDS | _OURS if is_sentencepiece else _OURS
    wrong = next((name for name, usual in unfit.items() if options[name] != usual), None)
    if wrong is not None:
        raise StudioError(
            "--{name} and --by {by} cannot be combined", "Omit one of them.", name=wrong.replace("_", "-"), by=by
        )
    for name in ("output", "held_out_model"):
        if options[name] is not None:
            _check_place(options[name], by, library_names(by, config), force=options["force"])


def _check_place(folder: str, by: LibraryTrainer, written: Sequence[str], *, force: bool) -> None:
    check_folder(folder)
    output = Path(folder)
    shared.check_results([output / name for name in written], force=force)
    others = (MANIFEST_FILE, *TOKENIZER_FILES, *BPE_FILES, MODEL_FILE) if TOKENIZER_FILE in written else ()
    for other in others:
        if other not in written and (output / other).exists():
            raise StudioError(
                "{path} contains a tokenizer with a {name} that would not match the new file",
                "Choose another folder.",
                path=display_name(output),
                name=other,
            )


def read_by(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the text is read where the library does not use our normalizer and pre-tokenizer."""
    if options["by"] is not None and reads_text(options["by"]):
        return {"normalizer": "none", "pre_tokenizer": "whitespace-split"}
    return {}


def write_by(
    options: Mapping[str, Any], config: TrainingConfig, counts: WordCounts, notes: CorpusNotes, started: float
) -> None:
    """Train with another library on the words, or SentencePiece on the texts themselves, and write its file."""
    run = trained_by(options, config, _lines(options) or counts)
    reason = why_not_in_transformers(run.trainer, config)
    if reason is not None:
        warn(f"{reason}. Only {run.file_name} is written.")
    record = notes.record()
    shared.warn_of_known_text(options, record)
    judged, judged_counts, figures = _judged(options, config, run, counts)
    with shared.results(force=options["force"]):
        _write(options["output"], run, counts, record)
        if options["held_out_model"] is not None:
            _write(options["held_out_model"], judged, judged_counts, record_of_rest(record))
    seconds, output = time.monotonic() - started, options["output"]
    summary, words = _summary(run, counts, output, seconds, figures), _said(run, output, seconds, figures)
    print_result(summary, words, as_json=options["as_json"])


def _write(output: str, run: LibraryRun, counts: WordCounts, record: CorpusRecord) -> None:
    manifest = make_library_manifest(run, counts, record, Path(output) / run.file_name)
    files = with_manifest(manifest, library_files(run, counts), side_manifest(run.file_name).name)
    target = Path(output)
    atomic_write_all({target / name: data for name, data in files.items()}, folder=target)


def _judged(
    options: Mapping[str, Any], config: TrainingConfig, run: LibraryRun, counts: WordCounts
) -> tuple[LibraryRun, WordCounts, TokenizerFigures | None]:
    """Judge a training by another text, or one on the rest of the corpus by what is held out, or not at all.

    Return what was judged, and the words that it was made from.
    """
    is_held_out = options["held_out"]
    sources = shared.listed_sources(options) if is_held_out else None
    if sources is not None:
        counts = shared.read_held_out(divided_corpus, sources, options, counts, config).rest.at_least(
            options["min_count"]
        )
        lines = _lines(options)
        run = trained_by({**options, "twice": False}, config, lines or counts, is_rest=lines is not None)
    elif options["held_out_file"] is not None:
        sources = shared.held_out_source(options)
    else:
        return run, counts, None
    with progress() as report:
        found = evaluate(run.tokenizer(), sources, is_held_out=is_held_out, progress=report)
    return run, counts, found.figures[0]


def trained_by(
    options: Mapping[str, Any], config: TrainingConfig, corpus: WordCounts | Listing, *, is_rest: bool = False
) -> LibraryRun:
    """Train with another library, twice if requested, and show how far it is."""
    by = options["by"]
    library = by.partition("-")[0]
    far = LibraryProgress()
    with progress() as report:

        def note(progress: LibraryProgress) -> None:
            nonlocal far
            far = progress

        def show() -> bool:
            if far.done is None:
                report(f"Training with {library} (progress not available)", 0, None)
            else:
                report(f"Training with {library}", far.done, far.total)
            return False

        own = {name: options[name] for name in ("twice", "character_coverage", "byte_fallback")}
        run = train_library(corpus, config, by, is_rest=is_rest, **own, progress=note, should_stop=show)
    if run.repetition is not None and options["replay"]:
        warn(repetition_words(run))
    if run.left_out:
        warn(f"{by} left out {run.left_out:,} words or lines with the character \u2585, which it reserves")
    return run


def check_replayed(run: LibraryRun, trainer: Trainer) -> None:
    """Check that our training gave the vocabulary of the other library."""
    ours = trainer.vocabulary.tokens
    differing = (number for number, both in enumerate(zip(ours, run.tokens, strict=False)) if both[0] != both[1])
    number = next(differing, None if len(ours) == len(run.tokens) else min(len(ours), len(run.tokens)))
    if number is not None:
        raise StudioError(
            "The vocabularies differ from ID {id} onward: a word contains the prefix, the suffix or a special token, "
            "or equally rare characters compete for the last places in the alphabet",
            "Train without --replay.",
            id=number,
        )


def _lines(options: Mapping[str, Any]) -> Listing | None:
    """Return the files, if their lines are what the library reads."""
    sources = shared.listed_sources(options) if reads_text(options["by"]) else None
    if sources is None or any(file.kind == "word-counts" for file in sources.files):
        return None
    return sources


def repetition_words(run: LibraryRun) -> str:
    """Return what differed when the library trained twice."""
    differing = run.repetition
    assert differing is not None
    if differing.is_same:
        return "Trained twice, with the same result"
    return (
        f"Trained twice, with different results: {differing.tokens:,} tokens are in only one vocabulary, "
        f"{differing.ids:,} others have a different ID, {differing.scores:,} a different score"
    )


def _said(run: LibraryRun, output: str, seconds: float, figures: TokenizerFigures | None) -> str:
    library = run.trainer.partition("-")[0]
    size = run.config.vocab_size or 0
    fewer = f", of {size:,} requested," if len(run.tokens) < size else ""
    trained = f"{len(run.tokens):,} tokens{fewer} in {seconds:.1f} s by {library} {run.learned.version}"
    trained += ", trained on words" if run.is_of_words else ""
    lines = [f"{trained}, written to {display_name(Path(output) / run.file_name)}"]
    lines += [] if run.repetition is None else [repetition_words(run)]
    lines += [] if figures is None else [judged_words(figures.tokens_per_word, figures.unknown_share)]
    return "\n".join(lines)


def _summary(
    run: LibraryRun, counts: WordCounts, output: str, seconds: float, figures: TokenizerFigures | None
) -> dict[str, Any]:  # fmt: skip
    differing = run.repetition
    summary: dict[str, Any] = {
        "output": output,
        "file": run.file_name,
        "by": run.trainer,
        "version": run.learned.version,
        "trained_on": "lines" if run.learned.is_of_lines else "words",
        "tokens": len(run.tokens),
        "merges": None if run.merges is None else len(run.merges),
        "words": counts.total,
        "repetition": None
        if differing is None
        else {"tokens": differing.tokens, "ids": differing.ids, "scores": differing.scores},
        "seconds": round(seconds, 3),
    }
    if figures is not None:
        judged = {run.trainer: figures.tokens_per_word}
        summary["held_out"] = {"words": figures.words, "tokens_per_word": judged}
    return summary
