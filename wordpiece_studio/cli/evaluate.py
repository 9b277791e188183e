"""``wordpiece-studio evaluate`` and ``wordpiece-studio compare``."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordpiece_studio.cli.messages import LOST_TEXT, aligned, guessed_case, number_of, print_result, progress, warn
from wordpiece_studio.cli.options import JSON, TEXT_FILES, FileOptions
from wordpiece_studio.cli.parameters import CliCommand, argument, flag, option, required_option
from wordpiece_studio.corpus.listing import Listing
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import HELD_OUT, CorpusRecord, RecordedFile, noted_files, recorded_files
from wordpiece_studio.system.printable import display_name, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wordpiece_studio.evaluation.boundaries import Boundaries
    from wordpiece_studio.evaluation.cross_validation import Retraining
    from wordpiece_studio.evaluation.differences import Divergence, TokenizerComparison, WordDifferences
    from wordpiece_studio.evaluation.figures import Evaluation
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer

CODED_BEFORE = (
    "Bits per character: each token by those before it, since no text that was trained on is read; with --held-out "
    "or --folds, by the rest of FILES."
)
_TABLES = (".csv", ".jsonl", ".parquet")
_TOKENIZER = "a folder that train wrote, a vocab.txt, tokenizer.json, vocab.json or SentencePiece .model"


class EvaluateCommand(CliCommand, FileOptions):
    tokenizers: list[str] = argument(f"Each {_TOKENIZER}.", "TOKENIZERS")
    on: list[str] = required_option(f"{TEXT_FILES}. Repeat --on for several.", "--on", metavar="FILES")
    each: bool = flag("Also print the metrics for each of FILES, such as one per language.")
    parallel: bool = flag(
        "FILES are translations of each other: also print parity, the tokens per token of the first file."
    )
    held_out: bool = flag("Measure only on what train --held-out holds out of FILES, together as one text.")
    folds: int | None = option(
        "Measure on each of this many blocks of FILES, and print mean ± standard deviation. What was trained on FILES "
        "is trained again on the other blocks.", metavar="N", least=2,
    )  # fmt: skip
    greedy_gap: bool = flag("Also print how many times the fewest possible tokens longest match takes.")
    boundaries: str | None = option(
        "Also print how boundaries of tokens agree with those of morphemes. Each line of FILE is a word, a tab, and "
        "the word with | between its morphemes.", metavar="FILE",
    )  # fmt: skip
    sort: str | None = option(
        "Print the best value of this column first, such as tokens-per-word, description-length or unknown-share.",
        metavar="COLUMN",
    )
    as_json: bool = JSON

    def run(self) -> None:
        from wordpiece_studio.evaluation.boundaries import morpheme_boundaries  # with it comes the trainer
        from wordpiece_studio.evaluation.cross_validation import cross_validate
        from wordpiece_studio.evaluation.evaluating import evaluate
        from wordpiece_studio.evaluation.figures import checked_column
        from wordpiece_studio.storage.tokenizer_loading import manifest_of_tokenizer

        column = None if self.sort is None else checked_column(self.sort)
        for name, needed, is_given in (
            ("greedy_gap", "greedy-gap", self.greedy_gap),
            ("parity", "parallel", self.parallel),
        ):
            if column == name and not is_given:
                raise StudioError("--sort {column} needs --{option}", "Add it.", column=self.sort, option=needed)
        loaded = _loaded(self.tokenizers)
        manifests = [manifest_of_tokenizer(Path(path)) for path in self.tokenizers]
        marks = [" (trained on words)" * _is_of_words(manifest) for manifest in manifests]
        named: dict[str, Any] = {name + mark: loaded[name] for name, mark in zip(loaded, marks, strict=True)}
        texts: Mapping[str, Listing] = _texts_of(self.on, self)
        one_of = {"--held-out": self.held_out, "--folds": self.folds, "--parallel": self.parallel}
        one_of |= {"--each": self.each} if self.folds else {}
        both = [name for name, is_given in one_of.items() if is_given]
        if len(both) > 1:
            what = "{first} and {second} cannot be combined: they measure different parts of FILES"
            raise StudioError(what, "Omit one of them.", first=both[0], second=both[1])
        corpora = {
            path: manifest.corpus
            for path, manifest in zip(self.tokenizers, manifests, strict=True)
            if manifest is not None and manifest.corpus
        }
        hashed = texts if any(corpus.files for corpus in corpora.values()) else {}
        contents = {name: recorded_files(noted_files(listed.files)) for name, listed in hashed.items()}
        longest = max((corpus.max_word_length or 0 for corpus in corpora.values()), default=0) or 1000
        if self.folds:
            digests = _digests(chain.from_iterable(contents.values()))
            for path, name, manifest in zip(self.tokenizers, [*named], manifests, strict=True):
                is_of_texts = path in corpora and _digests(corpora[path].files) & digests
                if is_of_texts and manifest is not None and (again := _retraining_of(manifest)) is not None:
                    named[name] = again
                    del corpora[path]
        warn(*_warnings(corpora, contents, is_held_out=self.held_out))
        if self.held_out:
            texts = _divided_alike(texts, corpora, contents, is_each=self.each)
        everything = Listing(tuple(file for each in texts.values() for file in each.files))
        boundaries = {}
        with progress() as report:
            if self.boundaries is not None:
                boundaries = morpheme_boundaries(loaded.values(), self.boundaries, everything)
                boundaries = dict(zip(named, boundaries.values(), strict=True))
            options: Any = {"with_greedy_gap": self.greedy_gap}
            if self.folds:
                options |= {"folds": self.folds, "max_word_length": longest, "progress": report}
                evaluation = cross_validate(named, everything, **options)
            else:
                options |= {"progress": lambda what, done, total: report(what.partition(" ")[0], done, total)}
                evaluation = evaluate(named, texts, is_parallel=self.parallel, is_held_out=self.held_out, **options)
        if column:
            evaluation = evaluation.sorted_by(column)
        data = evaluation.to_dict()
        if boundaries:
            boundaries = {each.name: boundaries[each.name] for each in evaluation.figures}
            data["boundaries"] = {
                name: {"by_word": by_word.to_dict(), "by_occurrence": by_occurrence and by_occurrence.to_dict()}
                for name, (by_word, by_occurrence) in boundaries.items()
            }
        text = _printed(evaluation, each=self.each or self.parallel)
        print_result(
            data, "\n".join([text, *_boundary_lines(boundaries, is_loaded=bool(self.folds))]), as_json=self.as_json
        )


def _retraining_of(manifest: Manifest) -> Retraining | None:
    """Return how the training of a tokenizer is repeated on a part of its corpus; None if its manifest does not say."""
    from wordpiece_studio.evaluation.cross_validation import Retraining
    from wordpiece_studio.libraries.library_training import library_retraining
    from wordpiece_studio.training.config import TrainingConfig

    settings = dict(manifest.training or {})
    if not settings or manifest.corpus is None:
        return None
    names = "trainer", "trained_on", "character_coverage", "byte_fallback"
    trainer, trained_on, coverage, byte_fallback = (settings.pop(name, None) for name in names)
    config = TrainingConfig.from_dict(settings, manifest.steps[1])
    again = Retraining(config, manifest.steps)
    if trainer is not None:
        options: Any = trained_on == "lines", coverage, bool(byte_fallback)
        again = library_retraining(trainer, config, manifest.steps, *options)  # type: ignore[arg-type]
    return dataclasses.replace(again, min_count=manifest.corpus.min_count)


def _boundary_lines(found: Mapping[str, tuple[Boundaries, Boundaries | None]], *, is_loaded: bool) -> list[str]:
    titles = "tokenizer", "words", "whole", "unknown", "precision", "recall", "F1"
    lines = []
    for title, at in (("distinct words", 0), ("words of the text", 1)):
        rows = [
            (printable(name), f"{each.words:,}", f"{each.whole:,}", f"{each.unknown:,}",
             *(f"{value:.3f}" if value == value else "–" for value in (each.precision, each.recall, each.f1)))
            for name, pair in found.items() if (each := pair[at]) is not None and each.words
        ]  # fmt: skip
        shown = aligned([titles, *rows]) if rows else ["None of the words to compare occurs in FILES."]
        lines += [f"\nBoundaries of morphemes, {title}", *shown] if found else []
    return lines + ["\nBoundaries are those of the tokenizers as they are, not trained again."] * (
        is_loaded and bool(found)
    )


def _loaded(paths: Sequence[str]) -> dict[str, AnyTokenizer]:
    """Return tokenizers by name; print a warning about each whose case is a guess."""
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

    named = {name: load_tokenizer(path) for name, path in _by_name(paths).items()}
    for path, tokenizer in zip(paths, named.values(), strict=True):
        warn(*guessed_case(tokenizer, path))
    return named


def _texts_of(paths: Sequence[str], reading: FileOptions) -> dict[str, Listing]:
    return {name: reading.listed_text(path, "--on") for name, path in _by_name(paths).items()}


def _warnings(
    corpora: Mapping[str, CorpusRecord], files: Mapping[str, Sequence[RecordedFile]], *, is_held_out: bool
) -> Iterator[str]:
    for path, corpus in corpora.items():
        digests = _digests(corpus.files)
        known = next((file for each in files.values() for file in each if file.sha256 in digests), None)
        is_divided = corpus.sha256_missing == HELD_OUT
        if known is None or (is_held_out and is_divided):
            continue
        name, text = display_name(path), display_name(known.path)
        better = f"of {text}, and knows it better than other text. Measure with --held-out"
        if is_held_out:
            yield (
                f"{name} was trained on all of {text}, also on what is held out of it: specify the tokenizer that "
                "train --held-out-model writes."
            )
        elif is_divided:
            yield f"{name} was trained on most {better}."
        else:
            yield f"{name} was trained on all {better}, with the tokenizer that train --held-out-model writes."


def _divided_alike(
    texts: Mapping[str, Listing],
    corpora: Mapping[str, CorpusRecord],
    contents: Mapping[str, Sequence[RecordedFile]],
    *,
    is_each: bool,
) -> Mapping[str, Listing]:
    given = [[file.sha256 for file in files] for files in contents.values()]
    everything = list(chain.from_iterable(given))
    orders: set[tuple[str | None, ...]] = set()  # of the trainings on all texts together
    is_alone = False  # whether one was trained on a part of one of the texts
    for path, corpus in corpora.items():
        read = [file.sha256 for file in corpus.files]
        if corpus.sha256_missing != HELD_OUT or not _digests(corpus.files).intersection(everything):
            continue
        if read in given and len(given) > 1:
            is_alone = True
        elif Counter(read) == Counter(everything):
            orders.add(tuple(read))
        else:
            raise StudioError(
                "{tokenizer}: a part was held out of these files together: {files}",
                "Measure on all of them, and on no others.",
                tokenizer=display_name(path),
                files=", ".join(display_name(file.path) for file in corpus.files),
            )
    if len(orders) + is_alone > 1:
        what = "With --held-out, these tokenizers cannot be compared: different parts of FILES were held out for them"
        raise StudioError(what, "Measure them one by one.")
    if orders and is_each and len(texts) > 1:
        what = "--held-out and --each cannot be combined: one part of all files together was held out"
        raise StudioError(what, "Omit --each.")
    if is_each or is_alone or (len(texts) == 1 and not orders):
        return texts
    listed = [file for each in texts.values() for file in each.files]
    if orders:
        places = {digest: number for number, digest in enumerate(orders.pop())}
        digests = dict(zip(listed, everything, strict=True))
        listed.sort(key=lambda file: places[digests[file]])
    return {"": Listing(tuple(listed))}


def _digests(files: Iterable[RecordedFile]) -> set[str]:
    return {file.sha256 for file in files if file.sha256}


def _is_of_words(manifest: Manifest | None) -> bool:
    from wordpiece_studio.libraries.library_training import reads_text

    training = {} if manifest is None or manifest.kind != "peer" else manifest.training or {}
    return reads_text(str(training.get("trainer"))) and training.get("trained_on") == "words"


def _by_name(paths: Sequence[str]) -> dict[str, str]:
    """Return paths by their last part, or if several have the same, as they are."""
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise StudioError("{path} is specified twice", "Specify it only once.", path=display_name(twice))
    names = [display_name(Path(path).name or path) for path in paths]
    if len(set(names)) < len(names):
        names = [display_name(path) for path in paths]
    if len(set(names)) < len(names):  # control characters are shown as others write them
        names = [f"{number} {name}" for number, name in enumerate(names, start=1)]
    return dict(zip(names, paths, strict=True))


def _printed(found: Evaluation, *, each: bool) -> str:
    lines = [f"{number_of(found.figures[0].words, 'word')}, as found by {', '.join(found.words_of)}", ""]
    for name, rows in found.tables():
        if not name or each:
            lines += [f"\n{printable(name)}"] if name else []
            lines += aligned([[printable(cell) for cell in row] for row in rows])
    if any(figures.loses_text for figures in (*found.figures, *chain.from_iterable(found.parts.values()))):
        lines.append(f"\n{LOST_TEXT}")
    number, several = len(found.figures[0].folds), len(found.figures) > 1
    if number:
        means = f"Mean ± standard deviation over {number} folds; the description length is that of all of the text."
        lines += ["", means]
        if several:
            lines.append("* the best, and those whose difference to it may be 0 (95%, corrected resampled t-test)")
        if loaded := [printable(each.name) for each in found.figures if not each.is_retrained]:
            lines.append(f"Not trained again: {', '.join(loaded)}")
    elif found.figures[0].coded_by == "before":
        lines.append(f"\n{CODED_BEFORE}")
    if several:
        lines.append("\nFewer tokens do not by themselves make a better model (Schmidt et al. 2024, arXiv 2402.18376).")
    return "\n".join(lines)


# ---- compare ---------------------------------------------------------------------------------------------------------


class CompareCommand(CliCommand, FileOptions):
    first: str = argument(f"A tokenizer: {_TOKENIZER}; or a table of merges that train wrote.", "A")
    second: str = argument("Another tokenizer or table of merges.", "B")
    on: list[str] | None = option(
        f"Also compare how the words of a text are split. {TEXT_FILES}. Repeat --on for several.", metavar="FILES"
    )
    top: int = option("Print this many words that are split differently.", default=20, least=0)
    as_json: bool = JSON

    def run(self) -> None:
        from wordpiece_studio.evaluation.differences import compare, divergence  # with it comes the trainer

        paths = [self.first, self.second]
        are_tables = [Path(path).suffix.lower() in _TABLES for path in paths]
        if any(are_tables):
            if not all(are_tables) or self.on:
                what = "A table of merges can only be compared with another, and without --on"
                raise StudioError(what, "Specify two tables of merges or two tokenizers.")
            diverging = divergence(*map(_pairs_in, paths))
            data = {"divergence": diverging and dataclasses.asdict(diverging)}
            print_result(data, _merges_line(diverging), as_json=self.as_json)
            return
        one, other = _loaded(paths).values()
        with progress() as report:
            texts = _texts_of(self.on or [], self)
            files = [file for listed in texts.values() for file in listed.files]
            found = compare(one, other, files, progress=report)
        print_result(_summary(found, self.top), _compared(found, self.top), as_json=self.as_json)


def _pairs_in(path: str) -> list[tuple[str, str]]:
    from wordpiece_studio.storage.merge_table import read_merge_table

    columns = read_merge_table(path)
    return list(zip(columns["left"], columns["right"], strict=True))


def _summary(found: TokenizerComparison, top: int) -> dict[str, Any]:
    words = found.differences
    return {
        "overlap": {**dataclasses.asdict(found.overlap), "share": found.overlap.share},
        "has_merges": found.has_merges,
        "divergence": found.divergence and dataclasses.asdict(found.divergence),
        "differences": words
        and {
            "distinct_words": words.distinct_words,
            "total": words.total,
            "differing_words": len(words.words),
            "share": words.share,
            "words": [dataclasses.asdict(word) for word in words.words[:top]],
        },
    }


def _compared(found: TokenizerComparison, top: int) -> str:
    overlap = found.overlap
    first, second = overlap.sizes
    lines = [f"{first:,} and {second:,} tokens: {overlap.shared:,} in both, {overlap.share:.1%} of all"]
    lines += aligned([(f"of the first {depth:,}", f"{share:.1%}") for depth, share in overlap.by_rank])
    lines += [_merges_line(found.divergence)] if found.has_merges else []
    return "\n".join(lines + ([] if found.differences is None else _word_lines(found.differences, top)))


def _merges_line(diverging: Divergence | None) -> str:
    if diverging is None:
        return "All merges are the same"
    pairs = ["nothing" if pair is None else printable(" + ".join(pair)) for pair in (diverging.first, diverging.second)]
    return f"A and B diverge at step {diverging.step:,}: A merges {pairs[0]}, B merges {pairs[1]}"


def _word_lines(words: WordDifferences, top: int) -> list[str]:
    shown = words.words[:top]
    rows = [
        (printable(" ".join(each.first)), printable(" ".join(each.second)), printable(each.word), f"{each.count:,}")
        for each in shown
    ]
    number = f"{len(words.words):,} of {words.distinct_words:,} distinct words are split differently"
    head = f"{number}, {words.share:.2%} of the text"
    return [head, *(aligned([("A", "B", "word", "count"), *rows], names=3) if rows else [])]
