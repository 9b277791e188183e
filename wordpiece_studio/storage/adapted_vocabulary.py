"""A vocabulary that was extended or pruned, as a folder: the tokenizer's files, and what gives a model the same tokens.

Beside the tokenizer stands a script of some thirty lines, ``resize.py`` or ``prune.py``, with the file that it reads:
``new-tokens.json`` has the old ids that spell each new one, ``id-map.tsv`` the old and the new id of what stays.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from wordpiece_studio.corpus.listing import Listing
from wordpiece_studio.evaluation.held_out import divided_corpus
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.corpus_record import places_of
from wordpiece_studio.storage.manifest import MANIFEST_FILE, make_manifest, write_with_manifest
from wordpiece_studio.storage.small_files import checked_path
from wordpiece_studio.storage.tokenizer_directory import check_no_other_files, tokenizer_files
from wordpiece_studio.storage.tokenizer_loading import manifest_of_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.evaluation.extension import Extension, Pruning
    from wordpiece_studio.evaluation.held_out import HeldOutText
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

RESIZE_FILE, NEW_TOKENS_FILE = "resize.py", "new-tokens.json"
PRUNE_FILE, ID_MAP_FILE = "prune.py", "id-map.tsv"


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


def held_out_of_training(path: Path, tokenizer: Tokenizer) -> HeldOutText | None:
    """Return a tenth of what a vocabulary was trained on, if its manifest names the files and they are there."""
    manifest = manifest_of_tokenizer(path)
    corpus = None if manifest is None else manifest.corpus
    if corpus is None or not corpus.files:
        return None
    folder, files = path if path.is_dir() else path.parent, []
    for file in corpus.files:
        there = [place for place in places_of(file, folder) if os.path.isfile(place)]
        place = next((place for place in there if os.path.getsize(place) == file.bytes), None)
        if place is None or file.kind == "word-counts":
            return None
        files.append(file.file(place))
    steps = tokenizer.pipeline.normalizer, tokenizer.pipeline.pre_tokenizer
    added = tokenizer.vocabulary.added_tokens
    return divided_corpus(Listing(tuple(files)), *steps, added_tokens=added, max_word_length=1 << 30).held_out


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
