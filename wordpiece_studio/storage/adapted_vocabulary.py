"""A vocabulary that was extended or pruned, as a folder: the tokenizer's files, and what gives a model the same tokens.

Beside the tokenizer stands a script of some thirty lines, ``resize.py`` or ``prune.py``, with the file that it reads:
``new-tokens.json`` has the old ids that spell each new one, ``id-map.tsv`` the old and the new id of what stays.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from wordpiece_studio.evaluation.extension import Extension, Pruning, extend, prune
from wordpiece_studio.evaluation.held_out import Watch, divided_corpus, held_out_text
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.corpus_record import places_of
from wordpiece_studio.storage.manifest import MANIFEST_FILE, make_manifest, write_with_manifest
from wordpiece_studio.storage.small_files import checked_path
from wordpiece_studio.storage.tokenizer_directory import TOKENIZER_FILES, check_no_other_files, tokenizer_files
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
_ANY_LENGTH = 1 << 30  # of words: the tokenizer has a limit of its own

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
    texts, watch = [] if domain.files else [domain.text], Watch(progress, should_stop)
    held_out = None if general is None else _counted(tokenizer, general, watch)
    options: dict[str, Any] = {"texts": texts, "general": held_out, "progress": progress, "should_stop": should_stop}
    if kind == "prune":
        return prune(tokenizer, domain.files, min_count=number, protected=rejected, **options)
    found = extend(tokenizer, domain.files, budget=number, exclude=rejected, **options)
    lists = {name: getattr(found, name)[:_MOST_LISTED] for name in ("costly_words", "unknown_words")}
    return replace(found, **lists)


def _counted(tokenizer: Tokenizer, text: TextToAdapt, watch: Watch) -> HeldOutText:
    steps = tokenizer.pipeline.normalizer, tokenizer.pipeline.pre_tokenizer
    options: dict[str, Any] = {
        "texts": [] if text.files else [text.text],
        "added_tokens": tokenizer.vocabulary.added_tokens,
        "max_word_length": _ANY_LENGTH,
        "progress": lambda done: watch.note("Reading the general text", done.bytes_done, done.bytes_total),
        "should_stop": watch.is_stopped,
    }
    if text.is_tenth:
        return divided_corpus(text.files, *steps, **options).held_out
    return held_out_text(text.files, *steps, **options)


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
    plan = {
        "old_size": len(old),
        "new_size": len(extended),
        "pieces": {str(token_id): _spelling(old, token) for token, token_id in ids.items()},
    }
    _save(folder, extended, RESIZE_FILE, NEW_TOKENS_FILE, plan)


def save_pruning(folder: str | os.PathLike[str], pruning: Pruning) -> None:
    """Write a pruned tokenizer to a folder, as `save_extension` does."""
    rows = "".join(f"{old}\t{new}\n" for new, old in enumerate(pruning.kept.tolist()))
    _save(folder, pruning.pruned(), PRUNE_FILE, ID_MAP_FILE, f"old\tnew\n{rows}")


def adapted_names(kind: Adapting) -> tuple[str, ...]:
    """Return the names of the files that are written."""
    others = (NEW_TOKENS_FILE, RESIZE_FILE) if kind == "extend" else (ID_MAP_FILE, PRUNE_FILE)
    return *TOKENIZER_FILES, *others, MANIFEST_FILE


def export_adapted(
    folder: Path, found: Extension | Pruning, in_unused: bool = False, may_replace: bool = False
) -> tuple[str, ...]:
    """Write what was found to a folder; if files are there that may not be replaced, return their names instead."""
    is_pruned = isinstance(found, Pruning)
    there = tuple(name for name in adapted_names("prune" if is_pruned else "extend") if os.path.lexists(folder / name))
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
    return _counted(tokenizer, TextToAdapt(files, is_tenth=True), Watch(None, None)) if files else None


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
    folder = checked_path(folder)
    files = tokenizer_files(tokenizer)
    check_no_other_files(folder, files)
    if isinstance(content, dict):
        content = json.dumps(content | {"files": sorted(files)}) + "\n"
    files[name] = content.encode("utf-8")
    files[script] = resource_path(f"scripts/{script}").read_bytes()
    write_with_manifest(make_manifest(tokenizer, folder=folder), folder / MANIFEST_FILE, files)


def _spelling(vocabulary: Vocabulary, token: str) -> list[int]:
    """Return the ids of the tokens that spell a token by longest match; that of the unknown token if none do."""
    prefix = vocabulary.continuing_subword_prefix
    ids: list[int] = []
    rest = token
    while rest not in ("", prefix):
        ends = range(len(rest), len(prefix) if ids or token.startswith(prefix) else 0, -1)
        found = next((token_id for end in ends if (token_id := vocabulary.id_of(rest[:end])) is not None), None)
        if found is None:
            ids = []
            break
        ids.append(found)
        rest = prefix + rest[len(vocabulary[found]) :]
    return ids or [vocabulary.tokens.index(vocabulary.unk_token)]
