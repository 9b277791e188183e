"""``wordpiece-studio train``: the training, and the files that it writes."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wordpiece_studio.cli.messages import (
    detected_encodings,
    loss_warnings,
    missing_floor,
    print_line,
    progress,
    summary_words,
    warn,
)
from wordpiece_studio.cli.options import (
    ALPHABET,
    CHOICE,
    FILES,
    STOP,
    ClusterOption,
    ColumnOption,
    CorpusNotes,
    EncodingOption,
    ErrorsOption,
    ForceOption,
    HistoryOption,
    JsonOption,
    KindOption,
    LongestWordOption,
    MinCountOption,
    NormalizerOption,
    PreTokenizerOption,
    ProcessesOption,
    RemoveOption,
    WordCountsOption,
    check_results,
    counted_words,
    listed_sources,
    option,
    results,
    with_removal,
)
from wordpiece_studio.compiled.kernel_cache import load_kernels
from wordpiece_studio.corpus.files import FileOnDisk
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.bpe_files import check_bpe_symbols, why_no_bpe
from wordpiece_studio.storage.exports import (
    BPE_FILES,
    COUNTS_FILE,
    Exported,
    check_tokenizer_stays_whole,
    counts_name,
    manifest_of,
    write_export,
)
from wordpiece_studio.storage.huggingface.tokenizer_json import VOCABULARY_ALONE_ADVICE
from wordpiece_studio.storage.manifest import MANIFEST_FILE, Origin
from wordpiece_studio.storage.merge_table import check_merge_table_place, write_merge_table
from wordpiece_studio.storage.tokenizer_directory import Only, check_saving, checked_only, save_directory, written_names
from wordpiece_studio.storage.vocab_txt import JSON_ALONE_ADVICE, vocabulary_bytes
from wordpiece_studio.system.atomic_write import check_folder
from wordpiece_studio.system.printable import printable_json
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS
from wordpiece_studio.tokenizer.tokenizer import Tokenizer
from wordpiece_studio.tokenizer.vocabulary import Vocabulary
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.notices import corpus_notices
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.text.pipeline import Normalizer


OnlyOption = Annotated[
    str | None,
    typer.Option(
        help="Write vocab.txt or tokenizer.json alone, if the other cannot express the tokenizer.",
        metavar="vocab.txt|tokenizer.json",
    ),
]
_ADVICE_WITH_OPTION = {
    VOCABULARY_ALONE_ADVICE: "Use --only vocab.txt: any program can read its tokens, and the Studio finds in the file "
    "beside it how text becomes words.",
    JSON_ALONE_ADVICE: "Use --only tokenizer.json; or choose a normalizer that removes such characters.",
}
_SLICE = 1000  # merges between two updates of the progress bar
_BIG = 8 << 20  # bytes of text beyond which the compiled engine will probably be needed


def train_command(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(help=FILES)],
    output: Annotated[str, typer.Option("-o", "--output", metavar="DIR", help="The folder to write to.")],
    as_json: JsonOption = False,
    normalizer: NormalizerOption = "bert-cased",
    pre_tokenizer: PreTokenizerOption = "bert",
    remove: RemoveOption = "",
    kind: KindOption = None,
    word_counts: WordCountsOption = False,
    column: ColumnOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = "strict",
    max_word_length: LongestWordOption = 1000,
    min_count: MinCountOption = 1,
    processes: ProcessesOption = None,
    cluster: ClusterOption = None,
    objective: Annotated[str, option("likelihood, score (the course's) or count (BPE).", CHOICE)] = "likelihood",
    tie: Annotated[str, option("On ties: first in the corpus, or smallest ids.", CHOICE)] = "first",
    min_frequency: Annotated[int, option("Do not merge rarer pairs.", CHOICE)] = 0,
    max_token_length: Annotated[int | None, option("In characters.", CHOICE)] = None,
    vocab_size: Annotated[int | None, option("At this many tokens.", STOP, metavar="N")] = None,
    max_merges: Annotated[int | None, option("After this many merges.", STOP)] = None,
    max_seconds: Annotated[float | None, option("After this time.", STOP)] = None,
    min_value: Annotated[float | None, option("When the best value is below this.", STOP)] = None,
    alphabet: Annotated[str, option("Layout: seen or huggingface.", ALPHABET)] = "seen",
    alphabet_limit: Annotated[int | None, option("At most this many characters.", ALPHABET)] = None,
    alphabet_overflow: Annotated[str, option("Words with others: unk skips, remove cuts.", ALPHABET)] = "unk",
    initial_alphabet: Annotated[str, option("Symbols always included, separated by spaces.", ALPHABET)] = "",
    continuing_order: Annotated[str | None, option("Order of continuing symbols, space-separated.", ALPHABET)] = None,
    special_tokens: Annotated[
        str, option("The first ids, space-separated; empty: none.", ALPHABET, show_default="BERT's five")
    ] = " ".join(BERT_SPECIAL_TOKENS),
    continuing_subword_prefix: Annotated[str, option("Before symbols inside a word.", ALPHABET)] = "##",
    end_of_word_suffix: Annotated[str | None, option("After every word, for byte pair encoding.", ALPHABET)] = None,
    end_of_word: Annotated[str, option("The suffix is a symbol, or attached.", ALPHABET)] = "symbol",
    history: HistoryOption = None,
    only: OnlyOption = None,
    bpe: BpeOption = False,
    with_counts: WithCountsOption = False,
    force: ForceOption = False,
) -> None:
    """Learn a vocabulary from texts and write it to a folder."""
    started, config, chosen = time.monotonic(), _config(context.params), checked_only(only)
    normalizing = with_removal(resolve_normalizer(normalizer), remove)
    # Report what could not be written in the end before counting the words.
    _check_places(output, history, chosen, bpe=bpe, with_counts=with_counts, force=force)
    _check_saving(_beginning(config, normalizing, pre_tokenizer), output, chosen, config if bpe else None)
    counts, notes = _counted(context.params, normalizing, config)
    with progress() as report:
        trainer = Trainer(counts, config)
        tokenizer = Tokenizer(trainer.vocabulary, counts.normalizer, counts.pre_tokenizer)
        _check_saving(tokenizer, output, chosen, config if bpe else None)
        while trainer.run(_SLICE):
            report("Training", trainer.history.vocabulary_size(trainer.current_step), vocab_size)
    origin = Origin(merges=trainer.current_step, corpus=notes.record())
    with results(force=force):
        _write(Path(output), history, trainer, origin, chosen, bpe=bpe, with_counts=with_counts)
    print_line((_summary if as_json else summary_words)(trainer, output, time.monotonic() - started))


def _beginning(config: TrainingConfig, normalizer: Normalizer, pre_tokenizer: str) -> Tokenizer:
    """Return the tokenizer to be trained, so far with special tokens only."""
    special, prefix, suffix = config.special_tokens, config.continuing_subword_prefix, config.end_of_word_suffix
    return Tokenizer(Vocabulary(special, special, prefix, suffix), normalizer, pre_tokenizer)


def _counted(
    options: Mapping[str, Any], normalizer: Normalizer, config: TrainingConfig
) -> tuple[WordCounts, CorpusNotes]:
    """Return the words of the texts, while the files are being hashed; print warnings about them."""
    sources = listed_sources(options)
    files = None if sources is None else sources.files
    notes = CorpusNotes(files, options)
    if sum(FileOnDisk(file.path).size for file in files or ()) > _BIG:
        # Counting rarely holds the interpreter lock.
        threading.Thread(target=_load_engine, daemon=True).start()
    with progress(of_bytes=True) as report:
        counts = counted_words(options, sources, normalizer, report)
    notes.hash_beside()
    read = (*loss_warnings(counts), *detected_encodings(counts.statistics, options["encoding"]))
    for warning in (*read, *map(str, corpus_notices(counts, config)), *missing_floor(config)):
        warn(warning)
    return counts, notes


def _write(
    output: Path,
    history: str | None,
    trainer: Trainer,
    origin: Origin,
    only: Only | None,
    *,
    bpe: bool,
    with_counts: bool,
) -> None:
    """Write the folder of the vocabulary, and, if requested, the words into it and all merges to the file `history`."""
    exported = Exported(trainer.counts, trainer.config, trainer.history, trainer.current_step, origin)
    if bpe:
        write_export("bpe", exported, output)
    else:
        _write_folder(output, trainer, origin, only)
    if with_counts:
        write_export("word-counts", exported, output / counts_name(trainer.counts))
    if history is not None:
        path = Path(history)
        manifest = manifest_of("merges", exported, path.name, folder=path.parent)
        write_merge_table(path, trainer.history, manifest=manifest)


def _write_folder(output: Path, trainer: Trainer, origin: Origin, only: Only | None) -> None:
    counts, vocabulary = trainer.counts, trainer.vocabulary
    if only is None:
        try:
            vocabulary_bytes(vocabulary.tokens)
        except StudioError as error:  # the initial symbols could be written, and no one wants to train again
            warn(f"{error.what}, so only tokenizer.json is written.")
            only = "tokenizer.json"
    save_directory(
        output,
        vocabulary,
        counts.normalizer,
        counts.pre_tokenizer,
        config=trainer.config,
        counts=counts,
        origin=origin,
        only=only,
    )


def _config(values: Mapping[str, Any]) -> TrainingConfig:
    """Return the settings; the options of `train` have the same names, and lists are space-separated."""
    lists = ("initial_alphabet", "continuing_order", "special_tokens")
    fields = [field.name for field in dataclasses.fields(TrainingConfig)]
    settings = {name: values[name] for name in fields}
    return TrainingConfig.from_dict(
        settings | {name: settings[name].split() for name in lists if settings[name] is not None}
    )


def _check_places(
    output: str, history: str | None, only: Only | None, *, bpe: bool, with_counts: bool, force: bool
) -> None:
    """Check that the files to be written, as far as known in advance, can probably be written and replaced."""
    check_folder(output)
    names = [
        MANIFEST_FILE,
        *(BPE_FILES if bpe else sorted(written_names(only))),
        *([COUNTS_FILE] if with_counts else []),
    ]
    places = [Path(output) / name for name in names]
    if history is not None:
        check_merge_table_place(history)
        places.append(Path(history))
    check_results(places, force=force)


def _check_saving(tokenizer: Tokenizer, output: str, only: Only | None, bpe: TrainingConfig | None) -> None:
    """Check that the tokenizer, or byte pair encoding of a training with `bpe`, can be written."""
    if bpe is not None:
        _check_bpe(output, bpe, only, tokenizer.vocabulary.tokens)
        return
    try:
        check_saving(tokenizer, output, only)
    except StudioError as error:
        advice = _ADVICE_WITH_OPTION.get(error.advice_template, error.advice_template)
        raise StudioError(error.what_template, advice, **error.values) from None


def _load_engine() -> None:
    with contextlib.suppress(Exception):  # training loads it again, and reports errors
        load_kernels("training")


def _summary(trainer: Trainer, output: str, seconds: float) -> str:
    counts = trainer.counts
    summary = {
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
    return printable_json(summary)


WithCountsOption = Annotated[
    bool, typer.Option("--with-counts", help="Also write the words and their counts to DIR, for verify.")
]
BpeOption = Annotated[
    bool,
    typer.Option(
        "--bpe",
        help="Write byte pair encoding, vocab.json and merges.txt, instead; for --objective count "
        "--continuing-subword-prefix ''.",
    ),
]


def _check_bpe(output: str, config: TrainingConfig, only: str | None, symbols: Iterable[str] = ()) -> None:
    """Check before a training whether byte pair encoding can be written after it.

    Raises
    ------
    StudioError
        If it will not.
    """
    if only is not None:
        raise StudioError("--bpe and --only cannot be combined", "Omit one of them.")
    reason = why_no_bpe(config)
    if reason is not None:
        raise StudioError(
            reason.what_template,
            "Train with --objective count --continuing-subword-prefix '' --end-of-word attached; or omit --bpe.",
            **reason.values,
        )
    check_tokenizer_stays_whole("bpe", Path(output))
    check_bpe_symbols(symbols)
