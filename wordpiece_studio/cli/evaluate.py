"""``wordpiece-studio evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from wordpiece_studio.cli.messages import aligned, guessed_case, print_line, progress, warn
from wordpiece_studio.cli.options import (
    FILES,
    ColumnOption,
    EncodingOption,
    ErrorsOption,
    JsonOption,
    KindOption,
    WordCountsOption,
    listed_sources,
)
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.corpus_record import noted_files, recorded_files
from wordpiece_studio.storage.manifest import MANIFEST_FILE, read_manifest, side_manifest
from wordpiece_studio.system.printable import display_name, printable, printable_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wordpiece_studio.corpus.listing import Listing
    from wordpiece_studio.evaluation.figures import Evaluation
    from wordpiece_studio.storage.manifest import Manifest
    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer

TOKENIZER = "a folder that train wrote, a vocab.txt, tokenizer.json, vocab.json or SentencePiece .model"


def evaluate_command(
    options: dict[str, Any],
    tokenizers: Annotated[list[str], Argument(help=f"Each {TOKENIZER}.", metavar="TOKENIZERS")],
    on: Annotated[list[str], Option("--on", help=FILES.removesuffix("; or - for stdin, or a pipe."), metavar="FILES")],
    each: Annotated[bool, Option("--each", help="Also print the figures on each of FILES, such as languages.")] = False,
    parallel: Annotated[
        bool,
        Option(
            "--parallel",
            help="FILES say the same in different languages: also print parity, tokens for one of the first file's.",
        ),
    ] = False,
    held_out: Annotated[
        bool, Option("--held-out", help="Measure only on the part of each of FILES that train --held-out holds out.")
    ] = False,
    as_json: JsonOption = False,
    kind: KindOption = None,
    word_counts: WordCountsOption = False,
    column: ColumnOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = "strict",
) -> None:
    """Compare tokenizers by what they make of a text: tokens a word, unknown ones, words kept whole and more."""
    from wordpiece_studio.evaluation.figures import evaluate  # with it comes the trainer

    named, texts = loaded(tokenizers), texts_of(options)
    if held_out:
        _warn_of_known_text(tokenizers, texts)
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
    """Return tokenizers by name; print a warning about each whose case is a guess.

    Raises
    ------
    StudioError
        If one cannot be loaded.
    """
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer

    named = {name: load_tokenizer(path) for name, path in _by_name(paths).items()}
    for path, tokenizer in zip(paths, named.values(), strict=True):
        for warning in guessed_case(tokenizer, path):
            warn(warning)
    return named


def texts_of(options: Mapping[str, Any]) -> dict[str, Listing]:
    """Return the texts of ``--on`` by name.

    Raises
    ------
    StudioError
        If one cannot be read, or can be read only once.
    """
    listed = {}
    for name, path in _by_name(options["on"]).items():
        sources = listed_sources({**options, "files": [path]})
        if sources is None:
            raise StudioError("--on needs a text that can be read twice", "Write it to a file.")
        listed[name] = sources
    return listed


def _warn_of_known_text(paths: Sequence[str], texts: Mapping[str, Listing]) -> None:
    """Warn of each tokenizer whose manifest says that it was trained on all of a text, of which a part is held out."""
    manifests = [_manifest(Path(path)) for path in paths]
    if not any(manifests):
        return
    files = recorded_files(noted_files([file for listed in texts.values() for file in listed.files]))
    for path, manifest in zip(paths, manifests, strict=True):
        trained_on = [] if manifest is None or manifest.corpus is None else manifest.corpus.files
        digests = {file.sha256 for file in trained_on} - {None}
        if known := next((file for file in files if file.sha256 in digests), None):
            warn(
                f"{display_name(path)} was trained on all of {display_name(known.path)}, also on what is held out of "
                "it: give the tokenizer that train --held-out-model writes."
            )


def _manifest(path: Path) -> Manifest | None:
    """Return the manifest of the tokenizer in a folder or file, if it has one."""
    from wordpiece_studio.storage.tokenizer_loading import KNOWN_FILES

    places = [side_manifest(path), path.parent / MANIFEST_FILE]
    if path.is_dir():
        places = [path / MANIFEST_FILE, *(side_manifest(path / name) for name in KNOWN_FILES)]
    found = next((place for place in places if place.is_file()), None)
    return None if found is None else read_manifest(found)


def _by_name(paths: Sequence[str]) -> dict[str, str]:
    """Return paths by their last part, or if several have the same, as they are.

    Raises
    ------
    StudioError
        If one is named twice.
    """
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise StudioError("{path} is named twice", "Name it once.", path=display_name(twice))
    names = [Path(path).name or path for path in paths]
    are_clear = len(set(names)) == len(names)
    return {display_name(name if are_clear else path): path for name, path in zip(names, paths, strict=True)}


def _printed(found: Evaluation, *, each: bool) -> str:
    lines: list[str] = []
    for name, rows in found.tables():
        if not name or each:
            lines += [f"\n{printable(name)}"] if name else []
            lines += aligned([[printable(cell) for cell in row] for row in rows])
    lines.append(f"\n{found.figures[0].words:,} words, as {' and '.join(found.words_of)} find them")
    return "\n".join(lines)
