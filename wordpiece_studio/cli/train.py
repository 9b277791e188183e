"""``wordpiece-studio train``: the training, and the files that it writes."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from wordpiece_studio.cli import options as shared
from wordpiece_studio.cli.messages import (
    detected_encodings,
    held_out_words,
    loss_warnings,
    missing_floor,
    print_result,
    progress,
    summary_words,
    warn,
)
from wordpiece_studio.cli.options import ALPHABET, CHOICE, FILES, JUDGING, ROLES, STOP, flag, option
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.cli.train_by import check_by, check_replayed, read_by, trained_by, write_by
from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.held_out import divided_corpus, held_out_figures, held_out_text
from wordpiece_studio.libraries.library_training import LibraryTrainer
from wordpiece_studio.storage.bpe_files import check_bpe_symbols, why_no_bpe
from wordpiece_studio.storage.corpus_record import record_of_rest
from wordpiece_studio.storage.exports import (
    COUNTS_FILE,
    Exported,
    bpe_names,
    check_tokenizer_stays_whole,
    counts_name,
    manifest_of,
    write_export,
)
from wordpiece_studio.storage.huggingface.tokenizer_json import why_not_expressible
from wordpiece_studio.storage.manifest import MANIFEST_FILE, Origin
from wordpiece_studio.storage.merge_table import check_merge_table_place, write_merge_table
from wordpiece_studio.storage.tokenizer_directory import Only, check_saving, checked_only, save_directory, written_names
from wordpiece_studio.storage.vocab_txt import JSON_ALONE_ADVICE, vocabulary_bytes
from wordpiece_studio.system.atomic_write import check_folder
from wordpiece_studio.text.huggingface_steps import VOCABULARY_ALONE_ADVICE
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS
from wordpiece_studio.tokenizer.tokenizer import MODEL_MAX_LENGTH, Tokenizer
from wordpiece_studio.training.config import (
    AlphabetLayout,
    AlphabetOverflow,
    ByteAlphabet,
    EndOfWord,
    Objective,
    Tie,
    TrainingConfig,
)
from wordpiece_studio.training.forecast import corpus_notices
from wordpiece_studio.training.trainer import Trainer, TrainingRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.evaluation.held_out import HeldOutFigures
    from wordpiece_studio.text.pipeline import Normalizer


ObjectiveOption = Annotated[str, option("Rank pairs by likelihood, score or count (BPE).", CHOICE, Objective)]
OverflowOption = Annotated[
    str,
    option(
        "In words with other characters, leave out the word (unk) or only them (remove).", ALPHABET, AlphabetOverflow
    ),
]
SpecialTokensOption = Annotated[
    str, option("The first tokens, separated by spaces; may be empty.", ALPHABET, show_default="BERT's five")
]
PrefixOption = Annotated[
    str | None,
    option(
        "What precedes symbols inside a word.", ALPHABET, show_default="##; with --by, for tokenizers-wordpiece only"
    ),
]
BY = "Training with another library"
ByOption = Annotated[
    str | None, option("Train with another library: " + ", ".join(get_args(LibraryTrainer)) + ".", BY, LibraryTrainer)
]
ReplayOption = Annotated[
    bool,
    flag(
        "--replay",
        "Then train again in WordPiece Studio with the library's tie-breaking order, for the same vocabulary with its "
        "merges.",
        BY,
    ),
]
CoverageOption = Annotated[
    float | None,
    option("SentencePiece: include this share of all characters in the alphabet.", BY, show_default="0.9995"),
]
FallbackOption = Annotated[bool, flag("--byte-fallback", "SentencePiece: unknown characters become bytes.", BY)]
OnlyOption = Annotated[
    str | None,
    Option(
        help="Write vocab.txt or tokenizer.json alone, if the other cannot express the tokenizer.",
        metavar="NAME",
        autocompletion=lambda: [*get_args(Only)],
    ),
]
_ADVICE_WITH_OPTION = {
    VOCABULARY_ALONE_ADVICE: "Use --only vocab.txt: any program can read its tokens, and WordPiece Studio finds in "
    "the file next to it how text becomes words.",
    JSON_ALONE_ADVICE: "Use --only tokenizer.json; or choose a normalizer that removes such characters.",
}
_SLICE = 1000  # merges between two updates of the progress bar
_BERTS_FIVE = " ".join(BERT_SPECIAL_TOKENS)
_BIG = 8 << 20  # bytes of text beyond which the compiled engine will probably be needed


def _role(names: str) -> Any:
    return option("The special token with this role.", ROLES, metavar="TOKEN", show_default=f"{names}, if present")


def train_command(
    options: dict[str, Any],
    files: Annotated[list[str], Argument(help=FILES, metavar="FILES")],
    output: Annotated[str, Option("-o", "--output", metavar="DIR", help="The folder to write to.")],
    as_json: shared.JsonOption = False,
    normalizer: shared.NormalizerOption = "bert-cased",
    pre_tokenizer: shared.PreTokenizerOption = "bert",
    remove: shared.RemoveOption = "",
    kind: shared.KindOption = None,
    word_counts: shared.WordCountsOption = False,
    column: shared.ColumnOption = None,
    encoding: shared.EncodingOption = None,
    errors: shared.ErrorsOption = "strict",
    user_tokens: shared.UserTokensOption = None,
    max_word_length: shared.LongestWordOption = 1000,
    min_count: shared.MinCountOption = 1,
    processes: shared.ProcessesOption = None,
    cluster: shared.ClusterOption = None,
    by: ByOption = None,
    twice: Annotated[bool, flag("--twice", "Train twice and print the differences.", BY)] = False,
    replay: ReplayOption = False,
    character_coverage: CoverageOption = None,
    byte_fallback: FallbackOption = False,
    objective: ObjectiveOption = "likelihood",
    tie: Annotated[str, option("Break ties by first (in the corpus) or ids (the lowest).", CHOICE, Tie)] = "first",
    min_frequency: Annotated[int, option("Do not merge pairs that occur fewer times.", CHOICE)] = 0,
    max_token_length: Annotated[int | None, option("Create no tokens of more characters.", CHOICE)] = None,
    vocab_size: Annotated[int | None, option("At this many tokens.", STOP, metavar="N")] = None,
    max_merges: Annotated[int | None, option("After this many merges.", STOP)] = None,
    max_seconds: Annotated[float | None, option("After this time.", STOP, metavar="SECONDS")] = None,
    min_value: Annotated[float | None, option("When the highest merge score is below this.", STOP)] = None,
    alphabet: Annotated[str, option("The layout: seen or huggingface.", ALPHABET, AlphabetLayout)] = "seen",
    alphabet_limit: Annotated[int | None, option("At most this many characters.", ALPHABET)] = None,
    alphabet_overflow: OverflowOption = "unk",
    byte_alphabet: Annotated[str, option("After byte-level: all bytes, or only seen.", ALPHABET, ByteAlphabet)] = "all",
    initial_alphabet: Annotated[str, option("Symbols always included, separated by spaces.", ALPHABET)] = "",
    continuing_order: Annotated[str | None, option("Order of symbols inside words, space-separated.", ALPHABET)] = None,
    special_tokens: SpecialTokensOption = _BERTS_FIVE,
    unk_token: Annotated[str | None, _role("[UNK] or <unk>")] = None,
    pad_token: Annotated[str | None, _role("[PAD] or <pad>")] = None,
    cls_token: Annotated[str | None, _role("[CLS] or <s>")] = None,
    sep_token: Annotated[str | None, _role("[SEP] or </s>")] = None,
    mask_token: Annotated[str | None, _role("[MASK] or <mask>")] = None,
    bos_token: Annotated[str | None, _role("[BOS] or <s>")] = None,
    eos_token: Annotated[str | None, _role("[EOS] or </s>")] = None,
    model_max_length: Annotated[int, option("Tokens per text, for transformers.", ALPHABET, min=1)] = MODEL_MAX_LENGTH,
    continuing_subword_prefix: PrefixOption = None,
    end_of_word_suffix: Annotated[str | None, option("Suffix of every word, for byte pair encoding.", ALPHABET)] = None,
    end_of_word: Annotated[str, option("The suffix is a symbol, or attached.", ALPHABET, EndOfWord)] = "symbol",
    held_out: HeldOutOption = False,
    held_out_file: HeldOutFileOption = None,
    held_out_model: HeldOutModelOption = None,
    history: shared.HistoryOption = None,
    only: OnlyOption = None,
    bpe: BpeOption = False,
    with_counts: WithCountsOption = False,
    force: shared.ForceOption = False,
) -> None:
    """Learn a vocabulary from texts and write it to a folder."""
    _train(options | {"user_tokens": shared.tokens_in(user_tokens)})


def _train(options: Mapping[str, Any]) -> None:
    """Do what `train_command` does; the options are its parameters, but for the user tokens, which have been read."""
    started, config, chosen = time.monotonic(), _config(options), checked_only(options["only"])
    check_by(options, config)
    _check_held_out(options)
    options = {**options, **read_by(options)}
    bpe = None
    if options["bpe"]:
        bpe = config.replaying(()) if options["replay"] else config  # a replay learns by count
    normalizing = shared.with_removal(resolve_normalizer(options["normalizer"]), options["remove"])
    if options["by"] is not None and not options["replay"]:
        noticed = dataclasses.replace(config, objective="count")  # which needs no prefix, and most of them have none
        return write_by(options, config, *_counted(options, normalizing, noticed), started)
    tokens = config.vocabulary(config.reserved_tokens)  # so far
    _check_results(options, Tokenizer(tokens, normalizing, options["pre_tokenizer"]), chosen, bpe)
    counts, notes = _counted(options, normalizing, config)
    library_run = trained_by(options, config, counts) if options["replay"] else None
    config = config if library_run is None else library_run.replay_config()
    with progress() as report:
        trainer = Trainer(counts, config)
        tokenizer = Tokenizer(trainer.vocabulary, counts.normalizer, counts.pre_tokenizer)
        _check_saving(tokenizer, options["output"], chosen, bpe)
        while trainer.run(_SLICE):
            report("Training", trainer.history.vocabulary_size(trainer.current_step), config.vocab_size)
    if library_run is not None:
        check_replayed(library_run, trainer)
    origin = Origin(merges=trainer.current_step, corpus=notes.record())
    shared.warn_of_known_text(options, origin.corpus)
    figures = _held_out_figures(options, trainer)
    with shared.results(force=options["force"]):
        _write(options, trainer, origin, chosen)
        if options["held_out_model"] is not None and figures is not None:
            run = figures.run
            rest = Origin(merges=len(run.history), corpus=record_of_rest(origin.corpus))
            _save(options["held_out_model"], run, rest, chosen, options["model_max_length"])
    seconds = time.monotonic() - started
    lines = [summary_words(trainer, options["output"], seconds)]
    lines += [] if figures is None else [held_out_words(figures)]
    summary = _summary(trainer, options["output"], seconds, figures)
    print_result(summary, "\n".join(lines), as_json=options["as_json"])


def _counted(
    options: Mapping[str, Any], normalizer: Normalizer, config: TrainingConfig
) -> tuple[WordCounts, shared.CorpusNotes]:
    """Return the words of the texts, while the files are being hashed; print warnings about them."""
    sources = shared.listed_sources(options)
    files = None if sources is None else sources.files
    notes = shared.CorpusNotes(files, options)
    with progress(of_bytes=True) as report:
        if sum(FileOnDisk(file.path).size for file in files or ()) > _BIG:
            # Counting rarely holds the interpreter lock.
            threading.Thread(target=_load_engine, daemon=True).start()
        counts = shared.counted_words(options, sources, normalizer, report)
    notes.hash_beside()
    tables = shared.table_warnings(counts, files or (), config.user_tokens)
    read = (*tables, *loss_warnings(counts), *detected_encodings(counts.statistics, options["encoding"]))
    warn(*read, *map(str, corpus_notices(counts, config)), *missing_floor(config))
    return counts, notes


def _write(options: Mapping[str, Any], trainer: Trainer, origin: Origin, only: Only | None) -> None:
    """Write the folder of the vocabulary, and, if requested, the words into it and all merges to a file."""
    output = Path(options["output"])
    length = options["model_max_length"]
    run = TrainingRun(trainer.counts, trainer.config, trainer.history, trainer.stop_reason)
    exported = Exported(trainer.counts, trainer.config, trainer.history, trainer.current_step, origin, length)
    if options["bpe"]:
        reason = why_not_expressible(exported.tokenizer, is_bpe=True)
        if reason is not None:
            warn(f"{reason.what}. Only vocab.json and merges.txt are written.")
        write_export("bpe", exported, output)
    else:
        _save(output, run, origin, _writable(trainer, only), length)
    if options["with_counts"]:
        write_export("word-counts", exported, output / counts_name(trainer.counts))
    if options["history"] is not None:
        path = Path(options["history"])
        manifest = manifest_of("merges", exported, path.name, folder=path.parent)
        write_merge_table(path, trainer.history, manifest=manifest)


def _writable(trainer: Trainer, only: Only | None) -> Only | None:
    """Return which files can be written: only tokenizer.json holds any token."""
    if only is None:
        try:
            vocabulary_bytes(trainer.vocabulary.tokens)
        except StudioError as error:  # the initial symbols could be written, and no one wants to train again
            warn(f"{error.what}. Only tokenizer.json is written.")
            return "tokenizer.json"
    return only


def _save(folder: str | Path, run: TrainingRun, origin: Origin, only: Only | None, model_max_length: int) -> None:
    save_directory(
        folder,
        run.vocabulary,
        run.counts.normalizer,
        run.counts.pre_tokenizer,
        model_max_length=model_max_length,
        config=run.config,
        counts=run.counts,
        origin=origin,
        only=only,
    )


def _config(values: Mapping[str, Any]) -> TrainingConfig:
    """Return the settings; the options of `train` have the same names, and lists are space-separated."""
    lists = ("initial_alphabet", "continuing_order", "special_tokens")
    fields = [field.name for field in dataclasses.fields(TrainingConfig)]
    settings = {name: values[name] for name in fields}
    if settings["continuing_subword_prefix"] is None:
        has_prefix = values["by"] in (None, "tokenizers-wordpiece")
        settings["continuing_subword_prefix"] = "##" if has_prefix else ""
    return TrainingConfig.from_dict(
        settings | {name: settings[name].split() for name in lists if settings[name] is not None}
    )


def _check_results(
    options: Mapping[str, Any], beginning: Tokenizer, only: Only | None, bpe: TrainingConfig | None
) -> None:
    """Report what could not be written in the end before the words are counted."""
    output, model = options["output"], options["held_out_model"]
    written = [MANIFEST_FILE, *(sorted(written_names(only)) if bpe is None else bpe_names(beginning))]
    written += [COUNTS_FILE] if options["with_counts"] else []
    _check_places(output, written, options["history"], force=options["force"])
    _check_saving(beginning, output, only, bpe)
    if model is not None:
        _check_places(model, [MANIFEST_FILE, *sorted(written_names(only))], None, force=options["force"])
        _check_saving(beginning, model, only, None)


def _check_places(output: str, written: Iterable[str], history: str | None, *, force: bool) -> None:
    """Check that the files to be written, as far as known in advance, can probably be written and replaced."""
    check_folder(output)
    places = [Path(output) / name for name in written]
    if history is not None:
        check_merge_table_place(history)
        places.append(Path(history))
    shared.check_results(places, force=force)


def _check_saving(tokenizer: Tokenizer, output: str, only: Only | None, bpe: TrainingConfig | None) -> None:
    """Check that the tokenizer, or byte pair encoding of a training with `bpe`, can be written."""
    if bpe is not None:
        _check_bpe(output, bpe, only, tokenizer)
        return
    try:
        check_saving(tokenizer, output, only)
    except StudioError as error:
        advice = _ADVICE_WITH_OPTION.get(error.advice_template, error.advice_template)
        raise StudioError(error.what_template, advice, **error.values) from None


def _load_engine() -> None:
    with contextlib.suppress(Exception):  # training loads it again, and reports errors
        load_kernels("training")


def _summary(trainer: Trainer, output: str, seconds: float, figures: HeldOutFigures | None) -> dict[str, Any]:
    counts = trainer.counts
    summary: dict[str, Any] = {
        "output": output,
        "tokens": len(trainer.vocabulary),
        "merges": len(trainer.history),
        "stop_reason": trainer.stop_reason,
        "words": counts.total,
        "distinct_words": len(counts),
        "skipped_words": counts.statistics.skipped_words,
        "rare_words": counts.statistics.rare_words,
        "guessed_tables": counts.statistics.guessed_tables,
        "left_out_files": counts.statistics.left_out_files,
        "seconds": round(seconds, 3),
    }
    if figures is not None:
        summary["held_out"] = {"words": figures.words, "tokens_per_word": figures.tokens_per_word}
    return summary


WithCountsOption = Annotated[bool, flag("--with-counts", "Also write the words and their counts to DIR, for verify.")]
BpeOption = Annotated[
    bool,
    flag(
        "--bpe",
        "Write byte pair encoding, with vocab.json and merges.txt, instead; for --objective count "
        "--continuing-subword-prefix ''.",
    ),
]


def _check_bpe(output: str, config: TrainingConfig, only: str | None, tokenizer: Tokenizer) -> None:
    """Check before a training whether byte pair encoding can be written after it."""
    if only is not None:
        raise StudioError("--bpe and --only cannot be combined", "Omit one of them.")
    reason = why_no_bpe(config)
    if reason is not None:
        raise StudioError(
            reason.what_template,
            "Train with --objective count --continuing-subword-prefix '' --end-of-word attached; or omit --bpe.",
            **reason.values,
        )
    check_tokenizer_stays_whole(Path(output), bpe_names(tokenizer))
    check_bpe_symbols(tokenizer.vocabulary.tokens)


# ---- text that was not trained on -----------------------------------------------------------------------------------

HeldOutOption = Annotated[
    bool,
    flag(
        "--held-out",
        "Hold out a tenth of the corpus and print its tokens per word for each objective, with vocabularies trained on "
        "the rest.",
        JUDGING,
    ),
]
HeldOutFileOption = Annotated[
    str | None,
    option("Print the tokens per word of this text, for each objective.", JUDGING, metavar="FILE"),
]
HeldOutModelOption = Annotated[
    str | None,
    option("With --held-out, write the vocabulary trained on the rest, which was evaluated.", JUDGING, metavar="DIR"),
]


def _check_held_out(options: Mapping[str, Any]) -> None:
    """Check that the options about held-out text can be combined with each other and with the rest."""
    output, file, model = (options[name] for name in ("output", "held_out_file", "held_out_model"))
    if options["held_out"] and file is not None:
        raise StudioError("--held-out and --held-out-file cannot be combined", "Omit one of them.")
    if model is not None and not options["held_out"]:
        raise StudioError("--held-out-model needs --held-out", "Without it, the vocabulary in --output is evaluated.")
    if model is not None and os.path.realpath(model) == os.path.realpath(output):
        raise StudioError("--output and --held-out-model are the same folder", "Choose another for one of them.")
    if options["bpe"] and (options["held_out"] or file is not None):
        raise StudioError("--bpe cannot be evaluated on held-out text", "Omit --bpe: the merges are the same.")
    if options["held_out"] and shared.is_stream(options["files"]):
        raise StudioError("--held-out needs a text that can be read twice", "Write it to a file.")
    if file is not None:
        shared.held_out_source(options)


def _held_out_figures(options: Mapping[str, Any], trainer: Trainer) -> HeldOutFigures | None:
    """Return how the vocabulary splits the held-out text; None if none is to be."""
    counts, config = trainer.counts, trainer.config
    run = None
    if options["held_out_file"] is not None:
        run = TrainingRun(counts, config, trainer.history, trainer.stop_reason)
        text = shared.read_held_out(held_out_text, shared.held_out_source(options), options, counts, config)
    elif options["held_out"] and (sources := shared.listed_sources(options)) is not None:
        corpus = shared.read_held_out(divided_corpus, sources, options, counts, config)
        counts, text = corpus.rest.at_least(options["min_count"]), corpus.held_out
    else:
        return None
    with progress() as report:

        def report_training(objective: str, tokens: int) -> None:
            report(f"Training with {objective} to compare", tokens, config.vocab_size)

        return held_out_figures(counts, text, config, run=run, progress=report_training)
