"""Writing a tokenizer to a folder, in all the files that other programs use.

``vocab.txt``; ``tokenizer.json`` with what `transformers` needs beside it, the tokenizer's class and the roles of its
special tokens; and ``wordpiece-studio.json``, the manifest, which says how text is read and how the vocabulary was
made. `tokenizer_loading` reads them.

Version 5's ``BertTokenizer`` does not follow ``tokenizer.json``: it rebuilds BERT's steps from the flags in
``tokenizer_config.json``. So that class is named only if its steps equal the tokenizer's own; otherwise it is
``PreTrainedTokenizerFast``, with which versions 4 and 5 follow ``tokenizer.json``. The flags are always written.
"""

from __future__ import annotations

import io
import json
import os
import unicodedata
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_training import LibraryRun, file_of
from wordpiece_studio.storage.huggingface.tokenizer_json import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    SPECIAL_TOKENS_FILE,
    SentencePieceModel,
    pretty_json,
    tokenizer_json_bytes,
    why_not_expressible,
)
from wordpiece_studio.storage.manifest import MANIFEST_FILE, TOKENIZER_FILE, make_manifest, write_with_manifest
from wordpiece_studio.storage.small_files import checked_path
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE, vocabulary_bytes
from wordpiece_studio.system.printable import file_error
from wordpiece_studio.text.huggingface_steps import normalizer_value
from wordpiece_studio.text.normalizers import BertNormalizer
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, Normalizer, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer
from wordpiece_studio.tokenizer.tokenizer import MODEL_MAX_LENGTH, Tokenizer
from wordpiece_studio.tokenizer.vocabulary import ROLES, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig


_BERT_LONGEST_WORD = 100  # characters; built into version 5
_BERT_ROLES = ("unk_token", "pad_token", "cls_token", "sep_token", "mask_token")
_FLAGS = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
_INPUTS = ["input_ids", "token_type_ids", "attention_mask"]


def configuration_files(tokenizer: Tokenizer, *, is_bert: bool | None = None) -> dict[str, bytes]:
    """Return the contents of ``tokenizer_config.json`` and ``special_tokens_map.json``, by name.

    `is_bert`: whether the class is BERT's; None: if it does the same, see `is_berts`.
    """
    vocabulary = tokenizer.vocabulary
    # The reader would add one that is not in the vocabulary.
    roles = {role: token for role, token in vocabulary.roles.items() if token in vocabulary.special_tokens}
    added = {token.content: asdict(token) for token in vocabulary.added_tokens}
    names = ("content", "lstrip", "normalized", "rstrip", "single_word")  # as version 4 writes them
    described = {role: {name: added[token][name] for name in names} for role, token in roles.items()}
    config = _config(tokenizer, roles, is_bert=is_bert)
    return {CONFIG_FILE: _sorted_json(config), SPECIAL_TOKENS_FILE: _sorted_json(described)}


def is_berts(tokenizer: Tokenizer) -> bool:
    """Return whether the tokenizer is what `transformers` calls ``BertTokenizer``, apart from its flags."""
    normalizer, vocabulary = tokenizer.normalizer, tokenizer.vocabulary
    return (
        type(normalizer) is BertNormalizer
        and normalizer.clean_text
        and type(tokenizer.pre_tokenizer) is BertPreTokenizer
        and tokenizer.max_word_length == _BERT_LONGEST_WORD
        and vocabulary.continuing_subword_prefix == "##"
        # The class would add any that are missing.
        and vocabulary.roles == {role: ROLES[role][0] for role in _BERT_ROLES}
        and {token.content for token in vocabulary.added_tokens} == set(BERT_SPECIAL_TOKENS)
        and all(token.is_plain for token in vocabulary.added_tokens)
        and not tokenizer.kept_parts
    )


def library_names(trainer: str, config: TrainingConfig) -> tuple[str, ...]:
    own, beside = file_of(trainer), (CONFIG_FILE, SPECIAL_TOKENS_FILE)
    if own == TOKENIZER_FILE:
        return own, *beside
    return (own,) if why_not_in_transformers(trainer, config) else (own, TOKENIZER_FILE, *beside)


def why_not_in_transformers(trainer: str, config: TrainingConfig) -> str | None:
    if file_of(trainer) != TOKENIZER_FILE and config.user_tokens:
        return "The library transformers cannot treat the whitespace around user tokens as SentencePiece does"
    return None


def library_files(run: LibraryRun, counts: WordCounts) -> dict[str, bytes]:
    """Return the file of what another library trained, and those with which `transformers` loads it, if it can."""
    files, config = {run.file_name: run.content}, run.config
    if len(library_names(run.trainer, config)) == 1:
        return files
    if run.file_name != TOKENIZER_FILE:
        model = SentencePieceModel(run.content)
        files[TOKENIZER_FILE] = model.tokenizer_json()
        config = replace(config, special_tokens=tuple(model.special_tokens))
    tokenizer = Tokenizer(config.vocabulary(list(run.tokens)), counts.normalizer.kept, counts.pre_tokenizer)
    return files | configuration_files(tokenizer, is_bert=False)  # whose class would not follow the file


def _config(tokenizer: Tokenizer, roles: dict[str, str], *, is_bert: bool | None) -> dict[str, Any]:
    lengths = {
        "model_max_length": tokenizer.model_max_length,
        "max_input_chars_per_word": max(0, tokenizer.max_word_length),
    }
    # A part of tokenizer.json has a side of its own, over which this one prevails.
    sides = {
        f"{part}_side": side
        for part, side in (("padding", tokenizer.padding_side), ("truncation", tokenizer.truncation_side))
        if side != "right" or part in tokenizer.kept_parts
    }
    flags = _berts_flags(tokenizer.normalizer) | lengths | sides
    if is_berts(tokenizer) if is_bert is None else is_bert:
        return {**roles, **flags, "tokenizer_class": "BertTokenizer"}
    others = [token for token in tokenizer.vocabulary.special_tokens if token not in roles.values()]
    further: dict[str, Any] = {"additional_special_tokens": others} if others else {}
    if tokenizer.pre_tokenizer.is_byte_level:
        further["clean_up_tokenization_spaces"] = False  # version 4 would remove blanks that the tokens spell
    return {**roles, **further, **flags, "model_input_names": _INPUTS, "tokenizer_class": "PreTrainedTokenizerFast"}


def _berts_flags(normalizer: Normalizer) -> dict[str, bool | None]:
    """Return BERT's flags: the normalizer's own, or the closest equivalents.

    Users often call ``BertTokenizerFast`` whatever class the file names. Version 5 then uses these flags alone, and
    without them lower-cases and decomposes syllables.
    """
    value = normalizer_value(normalizer) or {}
    if value.get("type") == "BertNormalizer":
        return {flag: value[name] for flag, name in _FLAGS.items()}
    return {
        "do_lower_case": normalizer.normalize("A") == "a",
        "strip_accents": "\u0301" not in unicodedata.normalize("NFD", normalizer.normalize("\xe9")),
        "tokenize_chinese_chars": " 中" in normalizer.normalize("a中"),
    }


def _sorted_json(value: dict[str, Any]) -> bytes:
    return pretty_json({name: value[name] for name in sorted(value)}) + b"\n"


# The files of a tokenizer except the manifest; readers use them together.
TOKENIZER_FILES = (VOCABULARY_FILE, TOKENIZER_FILE, CONFIG_FILE, SPECIAL_TOKENS_FILE)
Only = Literal["vocab.txt", "tokenizer.json"]

_READ_TOGETHER = {*TOKENIZER_FILES, ADDED_TOKENS_FILE}  # files that a reader would combine with those written


def save_directory(
    folder: str | os.PathLike[str],
    vocabulary: Vocabulary,
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    *,
    max_word_length: int = 100,
    model_max_length: int = MODEL_MAX_LENGTH,
    config: TrainingConfig | None = None,
    counts: WordCounts | None = None,
    only: Only | None = None,
) -> None:
    """Write a tokenizer to a folder, which is created if it does not exist: all files or none.

    Parameters
    ----------
    folder
        The target folder; files with other names in it are left alone.
    vocabulary, normalizer, pre_tokenizer, max_word_length, model_max_length
        The tokenizer, see `Tokenizer`.
    config, counts
        How the vocabulary was trained and on what, for the manifest.
    only
        Leave out files that cannot be written: ``"vocab.txt"`` omits ``tokenizer.json`` and what belongs to it;
        ``"tokenizer.json"`` omits ``vocab.txt``. The manifest is always written.

    Raises
    ------
    StudioError
        If a file cannot express the tokenizer exactly, with the reason and an alternative; if the output would not read
        back as the same; if a foreign file would remain in the folder and be read with these; or if a file cannot be
        written. The folder is then unchanged.
    """
    lengths: dict[str, Any] = {"max_word_length": max_word_length, "model_max_length": model_max_length}
    tokenizer = Tokenizer(vocabulary, normalizer, pre_tokenizer, **lengths)
    save_tokenizer(folder, tokenizer, config=config, counts=counts, only=only)


def save_tokenizer(
    folder: str | os.PathLike[str], tokenizer: Tokenizer, *, only: Only | None = None, **training: Any
) -> None:
    """Write a tokenizer to a folder; takes and raises the same as `save_directory` otherwise."""
    folder = checked_path(folder)
    files = tokenizer_files(tokenizer, checked_only(only))
    manifest = make_manifest(tokenizer, **training, folder=folder)
    check_no_other_files(folder, files)
    write_with_manifest(manifest, folder / MANIFEST_FILE, files)


def checked_only(name: str | None) -> Only | None:
    if name not in (None, *get_args(Only)):
        raise StudioError("{name} cannot be written alone", "Write vocab.txt or tokenizer.json.", name=name)
    return cast("Only | None", name)


def tokenizer_files(tokenizer: Tokenizer, only: Only | None = None) -> dict[str, bytes]:
    """Return the contents of a tokenizer's files by name, except the manifest; each was read back and compared."""
    files = {}
    if only != TOKENIZER_FILE:
        files[VOCABULARY_FILE] = vocabulary_bytes(tokenizer.vocabulary.tokens)
    if only != VOCABULARY_FILE:
        files[TOKENIZER_FILE] = tokenizer_json_bytes(tokenizer)
        files |= configuration_files(tokenizer)
    _check_read_back(files, tokenizer.vocabulary)
    return files


def check_saving(tokenizer: Tokenizer, folder: str | os.PathLike[str], only: Only | None = None) -> None:
    """Check before a training, perhaps by its initial vocabulary, whether `save_directory` will be possible after it.

    A token that cannot appear in a ``vocab.txt`` ends in, or contains, a symbol that cannot either.
    """
    if only != VOCABULARY_FILE and (reason := why_not_expressible(tokenizer)) is not None:
        raise reason
    if only != TOKENIZER_FILE and len(tokenizer.vocabulary):
        vocabulary_bytes(tokenizer.vocabulary.tokens)
    check_no_other_files(folder, written_names(only))


def written_names(only: Only | None) -> tuple[str, ...]:
    if only == VOCABULARY_FILE:
        return (VOCABULARY_FILE,)
    return TOKENIZER_FILES if only is None else TOKENIZER_FILES[1:]


def check_no_other_files(folder: str | os.PathLike[str], written: Iterable[str]) -> None:
    """Check that no file in a folder will remain that a reader would take for a part of this tokenizer."""
    for name in sorted(_READ_TOGETHER.difference(written)):
        path = Path(folder) / name
        if os.path.lexists(path):
            what = "{path} already exists and does not belong to the new files"
            raise file_error(path, what, "Choose another folder, or move that file away.")


def check_no_mixture(folder: Path, written: Sequence[str], others: Iterable[str]) -> None:
    if found := next((name for name in others if name not in written and (folder / name).exists()), None):
        what = "{path} contains a tokenizer with a {name} that would not match the new files"
        raise file_error(folder, what, "Choose another folder.", name=found)


def _check_read_back(files: Mapping[str, bytes], vocabulary: Vocabulary) -> None:
    """Check that readers other than this program's find the same tokens under the same ids."""
    wrong = None
    if VOCABULARY_FILE in files:
        with io.TextIOWrapper(io.BytesIO(files[VOCABULARY_FILE]), encoding="utf-8") as lines:
            if [line.rstrip("\n") for line in lines] != vocabulary.tokens:
                wrong = VOCABULARY_FILE
    if TOKENIZER_FILE in files:
        read = json.loads(files[TOKENIZER_FILE])["model"].get("vocab")
        if read != {token: number for number, token in enumerate(vocabulary.pieces)}:
            wrong = TOKENIZER_FILE
    if wrong is not None:
        raise StudioError(
            "The new {name} would not read back as the same vocabulary",
            "Nothing was written, and existing files are unchanged. This is a bug in WordPiece Studio; please report "
            "it.",
            name=wrong,
        )
