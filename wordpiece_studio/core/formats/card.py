"""The card of a vocabulary, ``wordpiece-studio.json``: how text is read, and all that is needed to make it again.

Not here: the vocabulary itself (`vocab_txt`), the files of other programs (`huggingface`).
"""

from __future__ import annotations

import hashlib
import platform
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from wordpiece_studio import __version__
from wordpiece_studio.core.corpus.files import display_name, regular_file_status, unreadable
from wordpiece_studio.core.text import normalizers, pre_tokenizers
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer
    from wordpiece_studio.core.training.config import TrainingConfig
    from wordpiece_studio.core.vocabulary import Vocabulary

CARD_FILE = "wordpiece-studio.json"
FORMAT = 1
_LARGEST_BYTES = 16 << 20


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is known about a vocabulary besides its tokens."""

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


def make_card(
    vocabulary: Vocabulary,
    normalizer: Normalizer,
    pre_tokenizer: PreTokenizer,
    *,
    config: TrainingConfig | None = None,
    counts: WordCounts | None = None,
) -> Card:
    """Return the card of a vocabulary.

    Parameters
    ----------
    vocabulary, normalizer, pre_tokenizer
        The tokenizer.
    config, counts
        How the vocabulary was trained and on what, if that is known.

    Raises
    ------
    StudioError
        If a normalizer or pre-tokenizer is not built in.
    """
    return Card(
        format=FORMAT,
        program=f"wordpiece-studio {__version__}",
        normalizer=normalizers.to_spec(normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(pre_tokenizer),
        special_tokens=list(vocabulary.special_tokens),
        continuing_subword_prefix=vocabulary.continuing_subword_prefix,
        end_of_word_suffix=vocabulary.end_of_word_suffix,
        unk_token=vocabulary.unk_token,
        vocabulary_size=len(vocabulary),
        vocabulary_sha256=vocabulary_digest(vocabulary.tokens),
        training=None if config is None else config.to_dict(),
        corpus=None if counts is None else _corpus(counts),
        versions={"python": platform.python_version(), "numpy": np.__version__, "platform": platform.platform()},
    )


def read_card(path: Path) -> Card:
    """Return the card in a file.

    Raises
    ------
    StudioError
        If it cannot be read, is damaged, or a newer version wrote it.
    """
    name = display_name(path)
    if regular_file_status(path).st_size > _LARGEST_BYTES:
        raise StudioError("{path} is too large", "Train again to write a new one.", path=name)
    try:
        card = msgspec.json.decode(path.read_bytes(), type=Card)
    except OSError as error:
        raise unreadable(path, error) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError(
            "{path} is damaged: {reason}",
            "Train again to write a new one, or name vocab.txt in another folder.",
            path=name,
            reason=str(error),
        ) from error
    if card.format != FORMAT:
        raise StudioError(
            "{path} was written by {program}, in a format that this version does not know",
            "Install a newer version.",
            path=name,
            program=card.program,
        )
    return card


def card_bytes(card: Card) -> bytes:
    """Return the content of the file of a card.

    Raises
    ------
    StudioError
        If it holds half a character.
    """
    try:
        return msgspec.json.format(msgspec.json.encode(card), indent=2) + b"\n"
    except UnicodeEncodeError as error:
        raise StudioError(
            "The settings hold half a character (U+{code:04X}), which cannot be written",
            "Remove it from the special tokens, the prefix, the suffix and what is removed from the text.",
            code=ord(error.object[error.start]),
        ) from None


def vocabulary_digest(tokens: Sequence[str]) -> str:
    """Return the SHA-256, in hexadecimal, of the tokens as lines of a ``vocab.txt``."""
    return hashlib.sha256("".join(f"{token}\n" for token in tokens).encode("utf-8")).hexdigest()


def _corpus(counts: WordCounts) -> dict[str, Any]:
    return {
        "distinct_words": len(counts),
        "words": counts.total,
        "word_counts_sha256": counts.digest(),
        "statistics": msgspec.to_builtins(counts.statistics),
    }
