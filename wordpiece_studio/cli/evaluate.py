"""``wordpiece-studio evaluate``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from wordpiece_studio.cli.messages import LOST_TEXT, aligned, guessed_case, number_of, print_line, progress, warn
from wordpiece_studio.cli.options import (
    TEXT_FILES,
    ColumnOption,
    EncodingOption,
    ErrorsOption,
    JsonOption,
    KindOption,
    WordCountsOption,
    listed_sources,
)
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.corpus.listing import Listing
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import HELD_OUT, noted_files, recorded_files
from wordpiece_studio.system.printable import display_name, printable, printable_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wordpiece_studio.evaluation.figures import Evaluation
    from wordpiece_studio.storage.corpus_record import CorpusRecord, RecordedFile
    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer

TOKENIZER = "a folder that train wrote, a vocab.txt, tokenizer.json, vocab.json or SentencePiece .model"


def evaluate_command(
    options: dict[str, Any],
    tokenizers: Annotated[list[str], Argument(help=f"Each {TOKENIZER}.", metavar="TOKENIZERS")],
    on: Annotated[list[str], Option("--on", help=f"{TEXT_FILES}.", metavar="FILES")],
    each: Annotated[
        bool, Option("--each", help="Also print the metrics for each of FILES, such as one per language.")
    ] = False,
    parallel: Annotated[
        bool,
        Option(
            "--parallel",
            help="FILES are translations of each other: also print parity, the tokens per token of the first file.",
        ),
    ] = False,
    held_out: Annotated[
        bool,
        Option("--held-out", help="Measure only on what train --held-out holds out of FILES, together as one text."),
    ] = False,
    as_json: JsonOption = False,
    kind: KindOption = None,
    word_counts: WordCountsOption = False,
    column: ColumnOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = "strict",
) -> None:
    """Compare tokenizers on a text: tokens per word, unknown tokens, words kept whole, and more."""
    from wordpiece_studio.evaluation.figures import evaluate  # with it comes the trainer

    named = {
        f"{name} (trained on words)" if _is_of_words(path) else name: each
        for path, (name, each) in zip(tokenizers, loaded(tokenizers).items(), strict=True)
    }
    texts: Mapping[str, Listing] = texts_of(options)
    if held_out and parallel:
        what = "--held-out and --parallel cannot be combined: what is held out of each file says something else"
        raise StudioError(what, "Omit one of them.")
    origins = origins_of(tokenizers, texts)
    for warning in origins.warnings(is_held_out=held_out):
        warn(warning)
    if held_out:
        texts = origins.divided_alike(is_each=each)
    with progress() as report:
        found = evaluate(
            named,
            texts,
            is_parallel=parallel,
            is_held_out=held_out,
            progress=lambda what, done, total: report(what.partition(" ")[0], done, total),
        )
    print_line(printable_json(found.to_dict()) if as_json else _printed(found, each=each or parallel))


def loaded(paths: Sequence[str]) -> dict[str, AnyTokenizer]:
    """Return tokenizers by name; print a warning about each whose case is a guess."""
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

    named = {name: load_tokenizer(path) for name, path in _by_name(paths).items()}
    for path, tokenizer in zip(paths, named.values(), strict=True):
        for warning in guessed_case(tokenizer, path):
            warn(warning)
    return named


def texts_of(options: Mapping[str, Any]) -> dict[str, Listing]:
    """Return the texts of ``--on`` by name."""
    listed = {}
    for name, path in _by_name(options["on"]).items():
        sources = listed_sources({**options, "files": [path]})
        if sources is None:
            raise StudioError("--on needs a text that can be read twice", "Write it to a file.")
        listed[name] = sources
    return listed


@dataclass(frozen=True, slots=True)
class Origins:
    """What tokenizers were trained on, as far as their manifests say, beside the texts to measure on.

    Attributes
    ----------
    corpora
        The corpus of each tokenizer, by its path.
    texts
        The texts by name.
    files
        What is in the files of each text; nothing if no manifest names any.
    """

    corpora: Mapping[str, CorpusRecord]
    texts: Mapping[str, Listing]
    files: Mapping[str, tuple[RecordedFile, ...]]

    def warnings(self, *, is_held_out: bool) -> Iterator[str]:
        """Yield a sentence about each tokenizer that was trained on what it is measured on."""
        for path, corpus in self.corpora.items():
            digests = _digests(corpus.files)
            known = next((file for each in self.files.values() for file in each if file.sha256 in digests), None)
            if known is None:
                continue
            name, text, is_divided = display_name(path), display_name(known.path), corpus.sha256_missing == HELD_OUT
            if is_held_out and not is_divided:
                yield (
                    f"{name} was trained on all of {text}, also on what is held out of it: specify the tokenizer that "
                    "train --held-out-model writes."
                )
            elif not is_held_out:
                part = "most" if is_divided else "all"
                more = "" if is_divided else ", with the tokenizer that train --held-out-model writes"
                yield (
                    f"{name} was trained on {part} of {text}, and knows it better than other text. Measure with "
                    f"--held-out{more}."
                )

    def divided_alike(self, *, is_each: bool) -> Mapping[str, Listing]:
        """Return the texts as they are to be divided: the files together, in the order of the training."""
        given = {name: [file.sha256 for file in files] for name, files in self.files.items()}
        everything = list(chain.from_iterable(given.values()))
        together: list[list[str | None]] = []
        is_alone = False  # whether one was trained on a part of one of the texts
        for path, corpus in self.corpora.items():
            read = [file.sha256 for file in corpus.files]
            if corpus.sha256_missing != HELD_OUT or not _digests(corpus.files).intersection(everything):
                continue
            if read in given.values() and len(given) > 1:
                is_alone = True
            elif Counter(read) == Counter(everything):
                together.append(read)
            else:
                names = ", ".join(display_name(file.path) for file in corpus.files)
                raise StudioError(
                    "{tokenizer}: a part was held out of these files together: {files}",
                    "Measure on all of them, and on no others.",
                    tokenizer=display_name(path),
                    files=names,
                )
        if len(self.texts) < 2 and not together:
            return self.texts
        if any(read != together[0] for read in together) or (together and is_alone):
            raise StudioError(
                "With --held-out, these tokenizers cannot be compared: different parts of FILES were held out for them",
                "Measure them one by one.",
            )
        if together and is_each and len(self.texts) > 1:
            what = "--held-out and --each cannot be combined: one part of all files together was held out"
            raise StudioError(what, "Omit --each.")
        if is_each or is_alone:
            return self.texts
        listed = [file for each in self.texts.values() for file in each.files]
        if together:
            places = {digest: number for number, digest in enumerate(together[0])}
            digests = dict(zip(listed, everything, strict=True))
            listed.sort(key=lambda file: places[digests[file]])
        return {"": Listing(tuple(listed))}


def _digests(files: Iterable[RecordedFile]) -> set[str]:
    return {file.sha256 for file in files if file.sha256}


def _is_of_words(path: str) -> bool:
    """Return whether a library that reads text was given words with their counts, as its manifest says."""
    from wordpiece_studio.libraries.library_training import reads_text
    from wordpiece_studio.storage.tokenizer_loading import manifest_of_tokenizer

    manifest = manifest_of_tokenizer(Path(path))
    training = {} if manifest is None or manifest.kind != "peer" else manifest.training or {}
    return reads_text(str(training.get("trainer"))) and training.get("trained_on") == "words"


def origins_of(paths: Sequence[str], texts: Mapping[str, Listing]) -> Origins:
    """Return what tokenizers were trained on; the files of the texts are hashed if a manifest names any."""
    from wordpiece_studio.storage.tokenizer_loading import manifest_of_tokenizer

    manifests = {path: manifest_of_tokenizer(Path(path)) for path in paths}
    corpora = {
        path: manifest.corpus for path, manifest in manifests.items() if manifest is not None and manifest.corpus
    }
    if not any(corpus.files for corpus in corpora.values()):
        return Origins(corpora, texts, {})
    return Origins(corpora, texts, {name: recorded_files(noted_files(listed.files)) for name, listed in texts.items()})


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
    return "\n".join(lines)
