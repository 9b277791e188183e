"""A vocabulary that was extended or pruned, as a folder: the tokenizer's files, and what gives a model the same tokens.

Beside the tokenizer stands a script of some thirty lines, ``resize.py`` or ``prune.py``, with the file that it reads:
``new-tokens.json`` has the old ids that spell each new one, ``id-map.tsv`` the old and the new id of what stays.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from wordpiece_studio.evaluation.extension import Extension, Pruning, extend, prune, reading
from wordpiece_studio.evaluation.held_out import Watch, divided_corpus
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.corpus_record import places_of
from wordpiece_studio.storage.manifest import MANIFEST_FILE, make_manifest, write_with_manifest
from wordpiece_studio.storage.small_files import checked_path
from wordpiece_studio.storage.tokenizer_directory import (
    TOKENIZER_FILES,
    check_no_mixture,
    check_no_other_files,
    tokenizer_files,
)
from wordpiece_studio.storage.tokenizer_loading import manifest_of_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.evaluation.held_out import HeldOutText, Report
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

RESIZE_FILE, NEW_TOKENS_FILE = "resize.py", "new-tokens.json"
PRUNE_FILE, ID_MAP_FILE = "prune.py", "id-map.tsv"
_MOST_LISTED = 2000

Adapting = Literal["extend", "prune"]


@dataclass(frozen=True, slots=True)
class TextToAdapt:
    """A text to adapt a vocabulary to, or to see the effect on: files, or `text` without any; all of it, or a tenth."""

    files: tuple[str | CorpusFile, ...] = ()
    text: str = ""
    is_tenth: bool = False


def adapted(
    kind: Adapting, tokenizer: Tokenizer, domain: TextToAdapt, general: TextToAdapt | None, number: int,
    rejected: tuple[str, ...] = (), *, progress: Report, should_stop: Callable[[], bool],
) -> Extension | Pruning:  # fmt: skip
    """Return what `extend` or `prune` finds, with no more words than anyone reads.

    `number`: how many tokens to add at most, or how often one must occur to stay; `rejected`: tokens not to add, or not
    to remove.
    """
    options: dict[str, Any] = {"texts": [] if domain.files else [domain.text]}
    options |= {"progress": progress, "should_stop": should_stop}
    if general is not None:
        is_tenth = general.is_tenth  # files, or else a tenth of what the vocabulary was trained on
        watch = Watch(progress, should_stop)
        options["general"] = _tenth(tokenizer, general, watch) if is_tenth else general.files
    if kind == "prune":
        return prune(tokenizer, domain.files, min_count=number, protected=rejected, **options)
    found = extend(tokenizer, domain.files, budget=number, exclude=rejected, **options)
    costly, unknown = found.costly_words[:_MOST_LISTED], found.unknown_words[:_MOST_LISTED]
    return replace(found, costly_words=costly, unknown_words=unknown)


def _tenth(tokenizer: Tokenizer, text: TextToAdapt, watch: Watch) -> HeldOutText:
    pipeline, texts = tokenizer.pipeline, [] if text.files else [text.text]
    options = reading(tokenizer, "Reading the general text", watch)
    return divided_corpus(text.files, pipeline.normalizer, pipeline.pre_tokenizer, texts=texts, **options).held_out


def save_extension(folder: str | os.PathLike[str], extension: Extension, *, in_unused: bool = False) -> None:
    """Write an extended tokenizer to a folder, which is created if it does not exist: all files or none.

    Parameters
    ----------
    folder
        The target folder; files with other names in it are left alone.
    extension
        The tokens, which are appended, so that every old id is unchanged.
    in_unused
        Put them in place of ``[unused0]`` and so on instead, which are no special tokens any more: the vocabulary keeps
        its size.

    Raises
    ------
    StudioError
        If there are fewer unused tokens than new ones, or a file cannot be written. The folder is then unchanged.
    """
    old, extended = extension.tokenizer.vocabulary, extension.extended(in_unused=in_unused)
    ids = {token: extended.id_of(token) for token in extension.tokens}
    pieces = {str(token_id): _spelling(old, token) for token, token_id in ids.items()}
    plan = {"old_size": len(old), "new_size": len(extended), "pieces": pieces}
    _save(folder, extended, RESIZE_FILE, NEW_TOKENS_FILE, plan)


def save_pruning(folder: str | os.PathLike[str], pruning: Pruning) -> None:
    """Write a pruned tokenizer to a folder, as `save_extension` does."""
    rows = "".join(f"{old}\t{new}\n" for new, old in enumerate(pruning.kept.tolist()))
    _save(folder, pruning.pruned(), PRUNE_FILE, ID_MAP_FILE, f"old\tnew\n{rows}")


def adapted_names(kind: Adapting) -> tuple[str, ...]:
    others = (NEW_TOKENS_FILE, RESIZE_FILE) if kind == "extend" else (ID_MAP_FILE, PRUNE_FILE)
    return *TOKENIZER_FILES, *others, MANIFEST_FILE


def export_adapted(
    folder: Path, found: Extension | Pruning, in_unused: bool = False, may_replace: bool = False
) -> tuple[str, ...]:
    names = adapted_names("prune" if isinstance(found, Pruning) else "extend")
    there = tuple(name for name in names if os.path.lexists(folder / name))
    if there and not may_replace:
        return there
    if isinstance(found, Pruning):
        save_pruning(folder, found)
    else:
        save_extension(folder, found, in_unused=in_unused)
    return ()


def held_out_of_training(path: Path, tokenizer: Tokenizer) -> HeldOutText | None:
    """Return a tenth of what a vocabulary was trained on, if its manifest names the files and they are there."""
    files = training_files(path)
    return _tenth(tokenizer, TextToAdapt(files, is_tenth=True), Watch(None, None)) if files else None


def training_files(path: Path) -> tuple[CorpusFile, ...]:
    """Return what a vocabulary was trained on; empty unless its manifest names the files and they are there."""
    manifest = manifest_of_tokenizer(path)
    corpus = None if manifest is None else manifest.corpus
    if corpus is None:
        return ()
    folder, files = path if path.is_dir() else path.parent, []
    for file in corpus.files:
        there = [place for place in places_of(file, folder) if os.path.isfile(place)]
        place = next((place for place in there if os.path.getsize(place) == file.bytes), None)
        if place is None or file.kind == "word-counts":
            return ()
        files.append(file.file(place))
    return tuple(files)


def _save(
    folder: str | os.PathLike[str], tokenizer: Tokenizer, script: str, name: str, content: str | dict[str, object]
) -> None:
    folder, files = checked_path(folder), tokenizer_files(tokenizer)
    check_no_other_files(folder, files)
    check_no_mixture(folder, [name, script], (RESIZE_FILE, NEW_TOKENS_FILE, PRUNE_FILE, ID_MAP_FILE))
    if isinstance(content, dict):
        content = json.dumps(content | {"files": sorted(files)}) + "\n"
    files[name] = content.encode("utf-8")
    files[script] = resource_path(f"scripts/{script}").read_bytes()
    write_with_manifest(make_manifest(tokenizer, folder=folder), folder / MANIFEST_FILE, files)


def _spelling(vocabulary: Vocabulary, token: str) -> list[int]:
    """Return the ids of the tokens that spell a token by longest match; that of the unknown token if none do."""
    prefix = vocabulary.continuing_subword_prefix
    ids, rest = list[int](), token
    while rest not in ("", prefix):
        ends = range(len(rest), len(prefix) if ids or token.startswith(prefix) else 0, -1)
        found = next((token_id for end in ends if (token_id := vocabulary.id_of(rest[:end])) is not None), None)
        if found is None:
            return [vocabulary.tokens.index(vocabulary.unk_token)]
        ids.append(found)
        rest = prefix + rest[len(vocabulary[found]) :]
    return ids
