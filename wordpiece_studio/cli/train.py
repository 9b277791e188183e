"""``wordpiece-studio train``, and what trains again, ``verify``, or compiles what trains, ``prepare``."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from copy import copy
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args

from wordpiece_studio.cli.messages import held_out_words, number_of, print_result, progress, summary_words, warn
from wordpiece_studio.cli.options import (
    FORCE,
    JSON,
    PROCESSES,
    WORD_COUNTS,
    CorpusCommand,
    CorpusNotes,
    check_results,
    is_stream,
    report_counting,
    results,
)
from wordpiece_studio.cli.parameters import CliCommand, argument, flag, option, required_option
from wordpiece_studio.compiled.kernel_cache import (
    KERNEL_PACKAGES,
    cache_folder,
    kernels_are_cached,
    load_kernels,
    number_of_kernels,
)
from wordpiece_studio.corpus.files import FileOnDisk, kind_of_name
from wordpiece_studio.errors import StudioError
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
from wordpiece_studio.storage.bpe_files import BPE_FILES
from wordpiece_studio.storage.corpus_record import CorpusRecord, noted_files, record_of_rest, recorded_files
from wordpiece_studio.storage.exports import COUNTS_FILE, Export, Exported, counts_name, write_library_files
from wordpiece_studio.storage.manifest import MANIFEST_FILE, TOKENIZER_FILE
from wordpiece_studio.storage.merge_table import check_merge_table_place, kind_of_merge_table
from wordpiece_studio.storage.tokenizer_directory import (
    TOKENIZER_FILES,
    Only,
    check_no_mixture,
    checked_only,
    library_files,
    library_names,
    why_not_in_transformers,
)
from wordpiece_studio.system.atomic_write import check_folder
from wordpiece_studio.system.printable import display_name, printable
from wordpiece_studio.tokenizer.tokenizer import MODEL_MAX_LENGTH, Tokenizer
from wordpiece_studio.training.config import LIMITS, TrainingConfig
from wordpiece_studio.training.forecast import corpus_notices
from wordpiece_studio.training.trainer import Trainer, TrainingRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.evaluation.held_out import HeldOutFigures
    from wordpiece_studio.storage.verification import Verification
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

_Text = TypeVar("_Text")
USUAL = TrainingConfig()
CHOICE, STOP, ALPHABET, RULES = "Choosing the merges", "Stopping", "Alphabet and tokens", "Rules"
BY, ROLES, JUDGING = "Training with another library", "Roles of special tokens", "Evaluating the vocabulary"
_SLICE = 1000  # merges between two updates of the progress bar
_BIG = 8 << 20  # bytes of text beyond which the compiled engine will probably be needed
# What only our own training writes or uses, and what only word counts have.
_OURS = ("bpe", "only", "history", "with_counts")
_OF_WORDS = ("normalizer", "pre_tokenizer", "remove", "min_count", "max_word_length", "cluster")


def _setting(text: str, panel: str, **given: Any) -> Any:
    """Return the option for a field of `TrainingConfig`, of the same name."""
    return option(text, panel, of=TrainingConfig, **given)


def _rule(text: str, name: str, metavar: str | tuple[str, ...]) -> Any:
    return _setting(f"{text} Repeat {name} for several.", RULES, names=(name,), metavar=metavar, repeats=True)


def _role(names: str) -> Any:
    shown = f"{names}, if present"
    return _setting("The special token with this role.", ROLES, metavar="TOKEN", shown_default=shown)


class _Rates(NamedTuple):
    """How many words held-out text has, and by what was judged, tokens per word and the share of unknown tokens."""

    words: int
    tokens_per_word: Mapping[Any, float]
    unknown: Mapping[Any, float]


class TrainCommand(CorpusCommand):
    output: str = required_option("The folder to write to.", "-o", "--output", metavar="DIR")
    as_json: bool = JSON
    by: LibraryTrainer | None = option(
        f"Train with another library: {', '.join(get_args(LibraryTrainer))}.", BY, values=LibraryTrainer
    )
    twice: bool = flag("Train twice and print the differences.", BY)
    replay: bool = flag(
        "Then train again in WordPiece Studio with the library's tie-breaking order, for the same vocabulary with its "
        "merges.",
        BY,
    )
    character_coverage: float | None = option(
        "SentencePiece: include this share of all characters in the alphabet.", BY, shown_default="0.9995"
    )
    byte_fallback: bool = flag("SentencePiece: unknown characters become bytes.", BY)
    objective = _setting("Rank pairs by likelihood, score or count (BPE).", CHOICE)
    tie = _setting("Break ties by first (in the corpus) or ids (the lowest).", CHOICE)
    min_frequency = _setting("Do not merge pairs that occur fewer times.", CHOICE)
    max_token_length = _setting("Create no tokens of more characters.", CHOICE)
    forbidden_tokens = _rule("Never create this token.", "--forbid", "TOKEN")
    forbidden_pairs = _rule("Never merge these two tokens.", "--forbid-pair", ("LEFT", "RIGHT"))
    chosen_merges = _rule("At this step, merge these two tokens instead.", "--merge", ("STEP", "LEFT", "RIGHT"))
    required_tokens = _rule("Have this token from the start, for longest match.", "--require", "TOKEN")
    unused: int = option(
        "Reserve this many ordinary tokens, [unused0] and so on, whose places extend --unused can take.", RULES,
        default=0, least=0,
    )  # fmt: skip
    vocab_size = _setting("At this many tokens.", STOP)
    max_merges = _setting("After this many merges.", STOP)
    max_seconds = _setting("After this time.", STOP, metavar="SECONDS")
    min_value = _setting("When the highest merge score is below this.", STOP)
    alphabet = _setting("The layout: seen or huggingface.", ALPHABET)
    alphabet_limit = _setting("At most this many characters.", ALPHABET)
    alphabet_overflow = _setting(
        "In words with other characters, leave out the word (unk) or only them (remove).", ALPHABET
    )
    byte_alphabet = _setting("After byte-level: all bytes, or only seen.", ALPHABET)
    initial_alphabet = _setting("Symbols always included, separated by spaces.", ALPHABET)
    continuing_order = _setting("Order of symbols inside words, space-separated.", ALPHABET)
    special_tokens = _setting(
        "The first tokens, separated by spaces; may be empty.", ALPHABET, shown_default="BERT's five"
    )
    unk_token = _role("[UNK] or <unk>")
    pad_token = _role("[PAD] or <pad>")
    cls_token = _role("[CLS] or <s>")
    sep_token = _role("[SEP] or </s>")
    mask_token = _role("[MASK] or <mask>")
    bos_token = _role("[BOS] or <s>")
    eos_token = _role("[EOS] or </s>")
    model_max_length: int = option("Tokens per text, for transformers.", ALPHABET, default=MODEL_MAX_LENGTH, least=1)
    continuing_subword_prefix: str | None = option(
        "What precedes symbols inside a word.", ALPHABET, shown_default="##; with --by, for tokenizers-wordpiece only"
    )
    end_of_word_suffix = _setting("Suffix of every word, for byte pair encoding.", ALPHABET)
    end_of_word = _setting("The suffix is a symbol, or attached.", ALPHABET)
    held_out: bool = flag(
        "Hold out a tenth of the corpus and print its tokens per word for each objective, with vocabularies trained on "
        "the rest.",
        JUDGING,
    )
    held_out_file: str | None = option(
        "Print the tokens per word of this text, for each objective.", JUDGING, metavar="FILE"
    )
    held_out_model: str | None = option(
        "With --held-out, write the vocabulary trained on the rest, which was evaluated.", JUDGING, metavar="DIR"
    )
    continue_from: str | None = option(
        "Continue after this run, with its settings: its merges are replayed on the words first. A project, or a "
        "folder with the merges.csv that --history wrote.", STOP, names=("--continue",), metavar="DIR|FILE",
    )  # fmt: skip
    history: str | None = option("Also write all merges, to a .csv, .jsonl or .parquet file.", metavar="FILE")
    only: Only | None = option(
        "Write vocab.txt or tokenizer.json alone, if the other cannot express the tokenizer.", values=Only
    )
    bpe: bool = flag(
        "Write byte pair encoding, with vocab.json and merges.txt, instead; for --objective count "
        "--continuing-subword-prefix ''."
    )
    with_counts: bool = flag("Also write the words and their counts to DIR, for verify.")
    force: bool = FORCE

    def run(self) -> None:
        started, config = time.monotonic(), self._config()
        checked_only(self.only)
        self._check_by(config)
        self._check_held_out()
        going_on = None if self.continue_from is None else self._continued(self.continue_from)
        if self.by is not None and reads_text(self.by):  # which does not use our normalizer and pre-tokenizer
            self.normalizer, self.pre_tokenizer = "none", "whitespace-split"
        normalizer = self.whole_normalizer()
        if going_on is not None:
            config, normalizer, pre_tokenizer = going_on
            self.tokens = config.user_tokens
            self.pre_tokenizer = pre_tokenizer  # type: ignore[assignment]  # as it is, not by name
        if self.by is not None and not self.replay:
            # Most of them have no prefix, which counts do not need.
            noticed = dataclasses.replace(config, objective="count")
            self._train_by(config, *self._counted(normalizer, noticed), started)
            return
        if self.bpe and self.only is not None:
            raise StudioError("--bpe and --only cannot be combined", "Omit one of them.")
        tokens = config.vocabulary(config.reserved_tokens)  # so far
        beginning = Tokenizer(tokens, normalizer, self.pre_tokenizer)
        exports = self._exports()
        self._check_exports(exports, beginning, config.replaying(()) if self.replay else config)
        if self.held_out_model is not None:
            self._check_exports([Export("folder", Path(self.held_out_model), self.only)], beginning, config)
        counts, notes = self._counted(normalizer, config)
        library_run = self._library_run(config, counts) if self.replay else None
        config = config if library_run is None else library_run.replay_config()
        with progress() as report:
            trainer = Trainer(counts, config)
            tokenizer = Tokenizer(trainer.vocabulary, counts.normalizer, counts.pre_tokenizer)
            exports[0].check(tokenizer, config)
            while trainer.run(_SLICE):
                report("Training", trainer.history.vocabulary_size(trainer.current_step), config.vocab_size)
        if library_run is not None:
            _check_replayed(library_run, trainer)
        record = notes.record()
        self._warn_of_known_text(record)
        figures = self._held_out_figures(trainer)
        with results(force=self.force):
            self._write(trainer, record)
            if self.held_out_model is not None and figures is not None:
                judged = self._exported(figures.run, record_of_rest(record))
                Export("folder", Path(self.held_out_model), self.only).write(judged)
        seconds = time.monotonic() - started
        lines = [summary_words(trainer, self.output, seconds)]
        self._print(lines, self._summary(trainer), seconds, figures)

    def _config(self) -> TrainingConfig:
        names = self.declared().keys() & {field.name for field in dataclasses.fields(USUAL)}
        settings: dict[str, Any] = {name: getattr(self, name) for name in names}
        settings["user_tokens"] = self.tokens
        for step, *_ in self.chosen_merges:
            if not step.isascii() or not step.isdigit():
                raise StudioError("The step of --merge must be a whole number, not {step}", step=step)
        settings["required_tokens"] += tuple(f"[unused{number}]" for number in range(self.unused))
        settings["chosen_merges"] = [(int(step), *pair) for step, *pair in self.chosen_merges]
        if self.continuing_subword_prefix is None:
            settings["continuing_subword_prefix"] = "##" if self.by in (None, "tokenizers-wordpiece") else ""
        return TrainingConfig(**settings)

    def _continued(self, place: str) -> tuple[TrainingConfig, Normalizer, PreTokenizer]:
        from wordpiece_studio.storage.saved_runs import settings_to_continue

        changes = {name: getattr(self, name) for name in (*LIMITS, "min_frequency") if self.is_given(name)}
        names = {field.name for field in dataclasses.fields(USUAL)} - {*LIMITS, "min_frequency"}
        for name in (
            *sorted(names & self.declared().keys()),
            "normalizer",
            "pre_tokenizer",
            "remove",
            "user_tokens",
            "unused",
            "by",
        ):
            if self.is_given(name):
                what = "{option} and --continue cannot be combined: the settings are those of the training so far"
                raise StudioError(what, "Omit one of them.", option=self.declared()[name].names[0])
        limits = dict.fromkeys(LIMITS)
        return settings_to_continue(place, **limits | changes)

    def _counted(self, normalizer: Normalizer, config: TrainingConfig) -> tuple[WordCounts, CorpusNotes]:
        """Return the words of the texts, while the files are being hashed; print warnings about them."""
        sources = self.listed(self.files)
        notes = CorpusNotes(sources, self)
        with progress(of_bytes=True) as report:
            if sources is not None and sum(FileOnDisk(file.path).size for file in sources.files) > _BIG:
                # Counting rarely holds the interpreter lock.
                threading.Thread(target=_load_engine, daemon=True).start()
            counts = self.counted(sources, normalizer, report)
        notes.hash_beside()
        warn(*self.reading_warnings(counts, sources))
        warn(*map(str, corpus_notices(counts, config)))
        if config.objective == "score" and config.min_frequency < 2:
            warn("Without --min-frequency, --objective score favors pairs seen once.")
        return counts, notes

    # -- what is written

    def _exports(self, counts_file: str = COUNTS_FILE) -> list[Export]:
        output = Path(self.output)
        exports = [Export("bpe", output) if self.bpe else Export("folder", output, self.only)]
        if self.with_counts:
            exports.append(Export("word-counts", output / counts_file))
        if self.history is not None:
            exports.append(Export("merges", Path(self.history)))
        return exports

    def _check_exports(self, exports: Sequence[Export], beginning: Tokenizer, config: TrainingConfig) -> None:
        """Report what could not be written in the end before the words are counted, as far as known in advance."""
        for export in exports:
            if export.kind == "merges" and export.folder == Path(self.output):
                kind_of_merge_table(export.place)  # the folder will be there
            elif export.kind == "merges":
                check_merge_table_place(export.place)
            else:
                check_folder(export.folder)
        check_results([path for export in exports for path in reversed(export.files(beginning))], force=self.force)
        exports[0].check(beginning, config)

    def _write(self, trainer: Trainer, record: CorpusRecord) -> None:
        exported = self._exported(trainer, record)
        exports = self._exports(counts_name(trainer.counts))
        if (reason := exports[0].why_incomplete(exported)) is not None:
            # The initial symbols could be written, and no one wants to train again.
            warn(f"{reason.what}. Only {'vocab.json and merges.txt are' if self.bpe else 'tokenizer.json is'} written.")
        for export in exports:
            export.write(exported)

    def _exported(self, run: Trainer | TrainingRun, record: CorpusRecord) -> Exported:
        return Exported(run.counts, run.config, run.history, len(run.history), record, self.model_max_length)

    def _summary(self, trainer: Trainer) -> dict[str, Any]:
        counts = trainer.counts
        losses = ("skipped_words", "rare_words", "guessed_tables", "left_out_files")
        return {
            "output": self.output,
            "tokens": len(trainer.vocabulary),
            "merges": len(trainer.history),
            "stop_reason": trainer.stop_reason,
            "words": counts.total,
            "distinct_words": len(counts),
            **{name: getattr(counts.statistics, name) for name in losses},
        }

    def _print(
        self, lines: list[str], summary: dict[str, Any], seconds: float, rates: _Rates | HeldOutFigures | None
    ) -> None:
        summary["seconds"] = round(seconds, 3)
        if rates is not None:
            lines.append(held_out_words(rates.tokens_per_word, rates.unknown))
            summary["held_out"] = {"words": rates.words, "tokens_per_word": rates.tokens_per_word}
        print_result(summary, "\n".join(lines), as_json=self.as_json)

    # -- text that was not trained on

    def _check_held_out(self) -> None:
        output, file, model = self.output, self.held_out_file, self.held_out_model
        if self.held_out and file is not None:
            raise StudioError("--held-out and --held-out-file cannot be combined", "Omit one of them.")
        if model is not None and not self.held_out:
            raise StudioError(
                "--held-out-model needs --held-out", "Without it, the vocabulary in --output is evaluated."
            )
        if model is not None and os.path.realpath(model) == os.path.realpath(output):
            raise StudioError("--output and --held-out-model are the same folder", "Choose another for one of them.")
        if self.bpe and (self.held_out or file is not None):
            raise StudioError("--bpe cannot be evaluated on held-out text", "Omit --bpe: the merges are the same.")
        if self.held_out and is_stream(self.files):
            raise StudioError("--held-out needs a text that can be read twice", "Write it to a file.")
        if file is not None:
            self._held_out_source(file)

    def _held_out_source(self, file: str) -> Listing:
        """Return the file to judge by, which is text even where the corpus is words with their counts."""
        kind = None if self.kind == "word-counts" else self.kind
        column = None if (kind or kind_of_name(file) or "text") == "text" else self.column
        reading = copy(self)
        reading.kind, reading.column, reading.word_counts = kind, column, False
        return reading.listed_text(file, "--held-out-file")

    def _read_held_out(
        self, read: Callable[..., _Text], sources: Listing, counts: WordCounts, config: TrainingConfig
    ) -> _Text:
        """Return what `divided_corpus` or `held_out_text` makes of files, reading them as the corpus was read."""
        with progress(of_bytes=True) as report:
            return read(
                sources,
                counts.normalizer,
                counts.pre_tokenizer,
                special_tokens=config.special_tokens,
                user_tokens=config.user_tokens,
                max_word_length=self.max_word_length,
                progress=partial(report_counting, report, what="Reading held-out text"),
            )

    def _judged_by(self) -> Listing | None:
        """Return the files to judge by, or of which a part is held out for that; None if nothing is to be judged."""
        if self.held_out:
            return self.listed(self.files)
        return None if self.held_out_file is None else self._held_out_source(self.held_out_file)

    def _held_out_figures(self, trainer: Trainer) -> HeldOutFigures | None:
        counts, config, run, sources = trainer.counts, trainer.config, None, self._judged_by()
        if sources is None:
            return None
        from wordpiece_studio.evaluation.held_out import divided_corpus, held_out_figures, held_out_text

        if self.held_out:
            corpus = self._read_held_out(divided_corpus, sources, counts, config)
            counts, text = corpus.rest.at_least(self.min_count), corpus.held_out
        else:
            run = TrainingRun(counts, config, trainer.history, trainer.stop_reason)
            text = self._read_held_out(held_out_text, sources, counts, config)
        with progress() as report:

            def report_training(objective: str, tokens: int) -> None:
                report(f"Training with {objective} to compare", tokens, config.vocab_size)

            return held_out_figures(counts, text, config, run=run, progress=report_training)

    def _warn_of_known_text(self, corpus: CorpusRecord) -> None:
        if self.held_out_file is None:
            return
        digests = {file.sha256 for file in corpus.files} - {None}
        judged = recorded_files(noted_files(self._held_out_source(self.held_out_file).files)) if digests else ()
        for file in judged:
            if file.sha256 in digests:
                name = display_name(file.path)
                known = f"{name} is in the corpus, and a vocabulary knows its corpus better than other text."
                warn(f"{known} Use --held-out.")

    # -- another library

    def _check_by(self, config: TrainingConfig) -> None:
        by = self.by
        if by is None:
            names = ("replay", "twice", "character_coverage", "byte_fallback")
            if name := next((name for name in names if getattr(self, name)), None):
                raise StudioError("--{name} needs --by", "Specify the library with --by.", name=name.replace("_", "-"))
            return
        check_library_settings(by, config)
        prefix = USUAL.continuing_subword_prefix
        if by != "tokenizers-wordpiece" and self.continuing_subword_prefix == prefix:
            raise StudioError(
                "--continuing-subword-prefix {prefix} and --by {by} cannot be combined: {prefix} is for WordPiece only",
                "Omit it, or use another prefix." if by == "tokenizers-bpe" else "Omit it.",
                prefix=prefix,
                by=by,
            )
        checked_coverage(by, self.character_coverage, self.byte_fallback)
        if self.replay:
            check_replayable(by)
            return
        if reads_text(by) and is_stream(self.files):
            raise StudioError("--by {by} needs a text that can be read twice", "Write it to a file.", by=by)
        unfit = _OF_WORDS + _OURS if reads_text(by) else _OURS
        if wrong := next(filter(self.is_given, unfit), None):
            raise StudioError(
                "--{name} and --by {by} cannot be combined", "Omit one of them.", name=wrong.replace("_", "-"), by=by
            )
        written = library_names(by, config)
        others = (MANIFEST_FILE, *TOKENIZER_FILES, *BPE_FILES, MODEL_FILE) if TOKENIZER_FILE in written else ()
        for folder in (self.output, self.held_out_model):
            if folder is not None:
                place = Path(folder)
                check_folder(place)
                check_results([place / name for name in written], force=self.force)
                check_no_mixture(place, written, others)

    def _train_by(self, config: TrainingConfig, counts: WordCounts, notes: CorpusNotes, started: float) -> None:
        run = self._library_run(config, self._lines() or counts)
        reason = why_not_in_transformers(run.trainer, config)
        if reason is not None:
            warn(f"{reason}. Only {run.file_name} is written.")
        record = notes.record()
        self._warn_of_known_text(record)
        judged, judged_counts, rates = self._judged(config, run, counts)
        with results(force=self.force):
            for folder, each, words, origin in (
                (self.output, run, counts, record),
                (self.held_out_model, judged, judged_counts, record_of_rest(record)),
            ):
                if folder is not None:
                    place = Path(folder) / each.file_name
                    write_library_files(place, library_files(each, words), each, words, origin)
        seconds = time.monotonic() - started
        lines = [self._said_of(run, seconds), *([] if run.repetition is None else [_repetition_words(run)])]
        self._print(lines, self._library_summary(run, counts), seconds, rates)

    def _lines(self) -> Listing | None:
        sources = self.listed(self.files) if self.by is not None and reads_text(self.by) else None
        if sources is None or any(file.kind == "word-counts" for file in sources.files):
            return None
        return sources

    def _judged(
        self, config: TrainingConfig, run: LibraryRun, counts: WordCounts
    ) -> tuple[LibraryRun, WordCounts, _Rates | None]:
        """Judge a training by another text, or one on the rest of the corpus by what is held out, or not at all.

        Return what was judged, and the words that it was made from.
        """
        if (sources := self._judged_by()) is None:
            return run, counts, None
        from wordpiece_studio.evaluation.evaluating import evaluate
        from wordpiece_studio.evaluation.held_out import divided_corpus

        if self.held_out:
            rest = self._read_held_out(divided_corpus, sources, counts, config).rest
            counts, lines = rest.at_least(self.min_count), self._lines()
            run = self._library_run(config, lines or counts, is_rest=lines is not None, twice=False)
        with progress() as report:
            found = evaluate(run.tokenizer(), sources, is_held_out=self.held_out, progress=report)
        (figures,) = found.figures
        rates = {run.trainer: figures.tokens_per_word}
        return run, counts, _Rates(figures.words, rates, {run.trainer: figures.unknown_share})

    def _library_run(
        self, config: TrainingConfig, corpus: WordCounts | Listing, *, is_rest: bool = False, twice: bool | None = None
    ) -> LibraryRun:
        by = self.by
        assert by is not None
        library = by.partition("-")[0]
        far = LibraryProgress()
        with progress() as report:

            def note(progress: LibraryProgress) -> None:
                nonlocal far
                far = progress

            def show() -> bool:
                known = " (progress not available)" if far.done is None else ""
                report(f"Training with {library}{known}", far.done or 0, far.total)
                return False

            run = train_library(
                corpus,
                config,
                by,
                is_rest=is_rest,
                twice=self.twice if twice is None else twice,
                character_coverage=self.character_coverage,
                byte_fallback=self.byte_fallback,
                progress=note,
                should_stop=show,
            )
        if run.repetition is not None and self.replay:
            warn(_repetition_words(run))
        if run.left_out:
            warn(f"{by} left out {run.left_out:,} words or lines with the character \u2585, which it reserves")
        return run

    def _said_of(self, run: LibraryRun, seconds: float) -> str:
        library = run.trainer.partition("-")[0]
        size = run.config.vocab_size or 0
        fewer = f", of {size:,} requested," if len(run.tokens) < size else ""
        trained = f"{len(run.tokens):,} tokens{fewer} in {seconds:.1f} s by {library} {run.learned.version}"
        trained += ", trained on words" if run.is_of_words else ""
        return f"{trained}, written to {display_name(Path(self.output) / run.file_name)}"

    def _library_summary(self, run: LibraryRun, counts: WordCounts) -> dict[str, Any]:
        differing = run.repetition
        repetition = differing and {name: getattr(differing, name) for name in ("tokens", "ids", "scores")}
        return {
            "output": self.output,
            "file": run.file_name,
            "by": run.trainer,
            "version": run.learned.version,
            "trained_on": "lines" if run.learned.is_of_lines else "words",
            "tokens": len(run.tokens),
            "merges": None if run.merges is None else len(run.merges),
            "words": counts.total,
            "repetition": repetition,
        }


def _load_engine() -> None:
    with contextlib.suppress(Exception):  # training loads it again, and reports errors
        load_kernels("training")


def _check_replayed(run: LibraryRun, trainer: Trainer) -> None:
    both = enumerate(zip_longest(trainer.vocabulary.tokens, run.tokens))
    number = next((number for number, (ours, theirs) in both if ours != theirs), None)
    if number is not None:
        raise StudioError(
            "The vocabularies differ from ID {id} onward: a word contains the prefix, the suffix or a special token, "
            "or equally rare characters compete for the last places in the alphabet",
            "Train without --replay.",
            id=number,
        )


def _repetition_words(run: LibraryRun) -> str:
    differing = run.repetition
    assert differing is not None
    if differing.is_same:
        return "Trained twice, with the same result"
    return (
        f"Trained twice, with different results: {differing.tokens:,} tokens are in only one vocabulary, "
        f"{differing.ids:,} others have a different ID, {differing.scores:,} a different score"
    )


# ---- verify ----------------------------------------------------------------------------------------------------------


class VerifyCommand(CliCommand):
    place: str = argument("The export: a folder, or a file with its manifest next to it.", "DIR|FILE")
    sources: list[str] = argument(
        "A project, an exported table of word counts, or the files of the corpus. By default the table in DIR, or the "
        "files that the manifest names.",
        "FROM",
        default=None,
    )
    as_json: bool = JSON
    word_counts: bool = WORD_COUNTS
    processes: int | None = PROCESSES

    def run(self) -> int:
        from wordpiece_studio.storage.verification import verify  # no other command needs it

        started = time.monotonic()
        with progress() as report:
            result = verify(
                self.place,
                self.sources,
                is_counts=self.word_counts,
                processes=self.processes,
                counting=partial(report_counting, report),
                training=lambda done, merges: report("Training", done, merges),
            )
        seconds = time.monotonic() - started
        if not self.as_json:
            warn(*(f"{name} was version {then} then, and is {now} now." for name, then, now in result.versions))
            warn(*result.notes)
        versions = [dict(zip(("name", "then", "now"), each, strict=True)) for each in result.versions]
        summary = {"place": self.place, "agrees": result.agrees, **dataclasses.asdict(result), "versions": versions,
                   "seconds": round(seconds, 3)}  # fmt: skip
        print_result(summary, _printed(result, self.place, seconds), as_json=self.as_json)
        return 0 if result.agrees else 1


def _printed(result: Verification, place: str, seconds: float) -> str:
    lines = []
    for check in result.checks:
        detail = f"  ({check.detail})" if check.detail else ""
        lines.append(printable(f"{check.outcome:<{len('unchecked')}}  {check.name}{detail}"))
    differing = sum(check.outcome == "differs" for check in result.checks)
    compared = sum(check.outcome != "unchecked" for check in result.checks)
    outcome = f"all {compared} agree" if result.agrees else f"{differing} of {compared} differ"
    if not compared:
        outcome = "nothing could be compared"
    learned = (
        f"{number_of(result.tokens, 'token')} after {number_of(result.merges, 'merge')}, " if result.tokens else ""
    )
    return "\n".join([*lines, f"{display_name(place)}: {outcome} ({learned}from {result.source}, in {seconds:.1f} s)"])


# ---- prepare ---------------------------------------------------------------------------------------------------------


class PrepareCommand(CliCommand):
    as_json: bool = JSON

    def run(self) -> None:
        started = time.monotonic()
        compiled = []
        with progress():
            for package in KERNEL_PACKAGES:
                if not kernels_are_cached(package):
                    compiled.append(package)
                load_kernels(package)  # also finds out whether the cache is damaged
        seconds, folder = time.monotonic() - started, cache_folder("text").parent
        kernels = {package: number_of_kernels(package) for package in KERNEL_PACKAGES}
        lines = [f"Compiled the {package} engine: {number_of(kernels[package], 'kernel')}." for package in compiled]
        done = f"in {seconds:.1f} s" if compiled else "before"
        lines.append(f"Everything was compiled {done}, and is kept in {display_name(folder)}")
        engines = [{"name": name, "kernels": kernels[name], "compiled": name in compiled} for name in KERNEL_PACKAGES]
        summary = {"engines": engines, "folder": str(folder), "seconds": round(seconds, 3)}
        print_result(summary, "\n".join(lines), as_json=self.as_json)
