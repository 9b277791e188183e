"""A folder that holds a tokenizer: ``vocab.txt`` and, in ``wordpiece-studio.json``, how text is read.

With the second file text is tokenized later in the same way as the corpus was. It also says how the vocabulary was
made. Not here: the formats of other programs.
"""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from wordpiece_studio import __version__
from wordpiece_studio.core.corpus.files import display_name, regular_file_status, unreadable
from wordpiece_studio.core.encoder import Tokenizer
from wordpiece_studio.core.formats.atomic_write import atomic_write_all, make_folder
from wordpiece_studio.core.formats.vocab_txt import read_vocabulary, vocabulary_bytes
from wordpiece_studio.core.text import normalizers, pre_tokenizers
from wordpiece_studio.core.training.config import BERT_SPECIAL_TOKENS
from wordpiece_studio.core.vocabulary import Vocabulary
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer
    from wordpiece_studio.core.training.config import TrainingConfig

VOCABULARY_FILE = "vocab.txt"
SETTINGS_FILE = "wordpiece-studio.json"
FORMAT = 1
_LARGEST_SETTINGS_BYTES = 16 << 20


class _Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of ``wordpiece-studio.json``."""

    format: int
    program: str
    normalizer: dict[str, Any]
    pre_tokenizer: dict[str, Any]
    special_tokens: list[str]
    continuing_subword_prefix: str
    end_of_word_suffix: str | None
    unk_token: str
    vocabulary_size: int
    vocabulary_sha256: str
    # How it was made; not needed to tokenize.
    training: dict[str, Any] | None = None
    corpus: dict[str, Any] | None = None
    versions: dict[str, str] = {}


def save_directory(
    folder: str | os.PathLike[str],
    vocabulary: Vocabulary,
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    *,
    config: TrainingConfig | None = None,
    counts: WordCounts | None = None,
) -> None:
    """Write a tokenizer into a folder, which is made if it is not there: both files or none.

    Parameters
    ----------
    folder
        Where to; files of other names in it are left alone.
    vocabulary, normalizer, pre_tokenizer
        The tokenizer.
    config, counts
        How the vocabulary was trained and on what, to be noted.

    Raises
    ------
    StudioError
        If a token cannot stand in a ``vocab.txt``, a normalizer is not built in, or a file cannot be written. The
        folder then holds what it did before.
    """
    tokens = vocabulary.tokens
    vocabulary_data = vocabulary_bytes(tokens)
    settings = _Settings(
        format=FORMAT,
        program=f"wordpiece-studio {__version__}",
        normalizer=normalizers.to_spec(normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(pre_tokenizer),
        special_tokens=list(vocabulary.special_tokens),
        continuing_subword_prefix=vocabulary.continuing_subword_prefix,
        end_of_word_suffix=vocabulary.end_of_word_suffix,
        unk_token=vocabulary.unk_token,
        vocabulary_size=len(tokens),
        vocabulary_sha256=_digest(tokens),
        training=None if config is None else config.to_dict(),
        corpus=None if counts is None else _corpus(counts),
        versions={"python": platform.python_version(), "numpy": np.__version__, "platform": platform.platform()},
    )
    settings_data = _encoded(settings)
    target = make_folder(folder)
    atomic_write_all({target / VOCABULARY_FILE: vocabulary_data, target / SETTINGS_FILE: settings_data})


def load_tokenizer(
    path: str | os.PathLike[str],
    normalizer: str | Normalizer | None = None,
    pre_tokenizer: str | PreTokenizer | None = None,
) -> Tokenizer:
    """Return the tokenizer of a folder, or of a ``vocab.txt``.

    Parameters
    ----------
    path
        A folder that `save_directory` wrote, or a file with one token a line. Beside a file that stands in such a
        folder its settings are found too; without them text is read as cased BERT reads it.
    normalizer, pre_tokenizer
        What to use instead of the settings'; None means the settings'. ``"none"`` is the normalizer that changes
        nothing.

    Raises
    ------
    StudioError
        If a file is missing or damaged, or the settings belong to another vocabulary.
    """
    given = Path(path)
    is_folder = given.is_dir()
    tokens = read_vocabulary(given / VOCABULARY_FILE if is_folder else given)
    beside = (given if is_folder else given.parent) / SETTINGS_FILE
    settings = _read_settings(beside) if is_folder or beside.is_file() else None
    if settings is not None and settings.vocabulary_sha256 != _digest(tokens):
        if is_folder:
            raise StudioError(
                "{path} belongs to another vocabulary than the vocab.txt beside it",
                "Train again; or name vocab.txt itself, and the normalizer and pre-tokenizer to use with it.",
                path=display_name(beside),
            )
        settings = None
    return _tokenizer(tokens, settings, normalizer, pre_tokenizer)


def _tokenizer(
    tokens: list[str],
    settings: _Settings | None,
    normalizer: str | Normalizer | None,
    pre_tokenizer: str | PreTokenizer | None,
) -> Tokenizer:
    if settings is None:
        special = [token for token in BERT_SPECIAL_TOKENS if token in tokens]
        return Tokenizer(Vocabulary(tokens, special), normalizer or "bert-cased", pre_tokenizer or "bert")
    vocabulary = Vocabulary(
        tokens,
        settings.special_tokens,
        settings.continuing_subword_prefix,
        settings.end_of_word_suffix,
        settings.unk_token,
    )
    return Tokenizer(
        vocabulary,
        normalizer or normalizers.from_spec(settings.normalizer),
        pre_tokenizer or pre_tokenizers.from_spec(settings.pre_tokenizer),
    )


def _read_settings(path: Path) -> _Settings:
    name = display_name(path)
    if regular_file_status(path).st_size > _LARGEST_SETTINGS_BYTES:
        raise StudioError("{path} is too large", "Train again to write a new one.", path=name)
    try:
        settings = msgspec.json.decode(path.read_bytes(), type=_Settings)
    except OSError as error:
        raise unreadable(path, error) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError(
            "{path} is damaged: {reason}",
            "Train again to write a new one, or name vocab.txt in another folder.",
            path=name,
            reason=str(error),
        ) from error
    if settings.format != FORMAT:
        raise StudioError(
            "{path} was written by {program}, in a format that this version does not know",
            "Install a newer version.",
            path=name,
            program=settings.program,
        )
    return settings


def _corpus(counts: WordCounts) -> dict[str, Any]:
    return {
        "distinct_words": len(counts),
        "words": counts.total,
        "word_counts_sha256": counts.digest(),
        "statistics": msgspec.to_builtins(counts.statistics),
    }


def _encoded(settings: _Settings) -> bytes:
    try:
        return msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n"
    except UnicodeEncodeError as error:
        raise StudioError(
            "The settings hold half a character (U+{code:04X}), which cannot be written",
            "Remove it from the special tokens, the prefix, the suffix and what is removed from the text.",
            code=ord(error.object[error.start]),
        ) from None


def _digest(tokens: Sequence[str]) -> str:
    return hashlib.sha256("".join(f"{token}\n" for token in tokens).encode("utf-8")).hexdigest()
