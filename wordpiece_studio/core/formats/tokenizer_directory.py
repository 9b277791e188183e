"""A folder that holds a tokenizer: ``vocab.txt`` and, in ``wordpiece-studio.json``, how text is read.

With the second file text is tokenized later in the same way as the corpus was. It also says how the vocabulary was
made. Not here: the formats of other programs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wordpiece_studio.core.corpus.files import display_name
from wordpiece_studio.core.encoder import Tokenizer
from wordpiece_studio.core.formats.atomic_write import atomic_write_all, make_folder
from wordpiece_studio.core.formats.card import (
    CARD_FILE,
    Card,
    card_bytes,
    make_card,
    read_card,
    vocabulary_digest,
)
from wordpiece_studio.core.formats.vocab_txt import read_vocabulary, vocabulary_bytes
from wordpiece_studio.core.text import normalizers, pre_tokenizers
from wordpiece_studio.core.training.config import BERT_SPECIAL_TOKENS
from wordpiece_studio.core.vocabulary import Vocabulary
from wordpiece_studio.errors import StudioError

if TYPE_CHECKING:
    import os

    from wordpiece_studio.core.corpus.counts import WordCounts
    from wordpiece_studio.core.text.normalizers import Normalizer
    from wordpiece_studio.core.text.pre_tokenizers import PreTokenizer
    from wordpiece_studio.core.training.config import TrainingConfig

VOCABULARY_FILE = "vocab.txt"


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
    vocabulary_data = vocabulary_bytes(vocabulary.tokens)
    card = make_card(vocabulary, normalizer, pre_tokenizer, config=config, counts=counts)
    card_data = card_bytes(card)
    target = make_folder(folder)
    atomic_write_all({target / VOCABULARY_FILE: vocabulary_data, target / CARD_FILE: card_data})


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
    beside = (given if is_folder else given.parent) / CARD_FILE
    settings = read_card(beside) if is_folder or beside.is_file() else None
    if settings is not None and settings.vocabulary_sha256 != vocabulary_digest(tokens):
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
    settings: Card | None,
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
