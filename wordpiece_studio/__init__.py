"""WordPiece Studio as a library: count words, train a vocabulary, look at its merges, tokenize.

>>> import wordpiece_studio as wps
>>> counts = wps.count_texts(["hug pug hugs", "hug"])
>>> counts.items()
[('hug', 2), ('pug', 1), ('hugs', 1)]

The names are loaded when they are first used, so that importing this package costs nothing. There is no Qt in here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wordpiece_studio.core.corpus.counting import CountingStopped, count_texts, count_words
    from wordpiece_studio.core.corpus.counts import CorpusStatistics, SkippedWord, WordCounts
    from wordpiece_studio.core.encoder import Encoding, Tokenizer, UnknownReason, WordTrace
    from wordpiece_studio.core.encoding.corpus_encoding import (
        EncodedTexts,
        EncodingStatistics,
        EncodingStopped,
        encode_files,
        encode_texts,
        write_ids,
    )
    from wordpiece_studio.core.formats.tokenizer_directory import load_tokenizer, save_directory
    from wordpiece_studio.core.formats.vocab_txt import read_vocabulary, write_vocabulary
    from wordpiece_studio.core.text.normalizers import (
        BertNormalizer,
        Lowercase,
        Normalizer,
        RemoveCharacters,
        Sequence,
        Unchanged,
    )
    from wordpiece_studio.core.text.pre_tokenizers import (
        BertPreTokenizer,
        PreTokenizer,
        UnicodePunctuation,
        WhitespaceSplit,
    )
    from wordpiece_studio.core.training.config import TrainingConfig
    from wordpiece_studio.core.training.history import MergeHistory
    from wordpiece_studio.core.training.preparation import minimum_vocab_size
    from wordpiece_studio.core.training.records import Candidate, Merge
    from wordpiece_studio.core.training.trainer import Trainer, TrainingRun, train
    from wordpiece_studio.core.vocabulary import Vocabulary
    from wordpiece_studio.errors import StudioError

__version__ = "0.1.0"

__all__ = [
    "BertNormalizer",
    "BertPreTokenizer",
    "Candidate",
    "CorpusStatistics",
    "CountingStopped",
    "EncodedTexts",
    "Encoding",
    "EncodingStatistics",
    "EncodingStopped",
    "Lowercase",
    "Merge",
    "MergeHistory",
    "Normalizer",
    "PreTokenizer",
    "RemoveCharacters",
    "Sequence",
    "SkippedWord",
    "StudioError",
    "Tokenizer",
    "Trainer",
    "TrainingConfig",
    "TrainingRun",
    "Unchanged",
    "UnicodePunctuation",
    "UnknownReason",
    "Vocabulary",
    "WhitespaceSplit",
    "WordCounts",
    "WordTrace",
    "__version__",
    "count_texts",
    "count_words",
    "encode_files",
    "encode_texts",
    "load_tokenizer",
    "minimum_vocab_size",
    "read_vocabulary",
    "save_directory",
    "train",
    "write_ids",
    "write_vocabulary",
]

# Which module of the package holds which names; the same as the imports above, which only type checkers see.
_HOMES = {
    "core.corpus.counting": ("CountingStopped", "count_texts", "count_words"),
    "core.corpus.counts": ("CorpusStatistics", "SkippedWord", "WordCounts"),
    "core.encoding.corpus_encoding": (
        "EncodedTexts",
        "EncodingStatistics",
        "EncodingStopped",
        "encode_files",
        "encode_texts",
        "write_ids",
    ),
    "core.encoder": ("Encoding", "Tokenizer", "UnknownReason", "WordTrace"),
    "core.formats.tokenizer_directory": ("load_tokenizer", "save_directory"),
    "core.formats.vocab_txt": ("read_vocabulary", "write_vocabulary"),
    "core.text.normalizers": (
        "BertNormalizer",
        "Lowercase",
        "Normalizer",
        "RemoveCharacters",
        "Sequence",
        "Unchanged",
    ),
    "core.text.pre_tokenizers": ("BertPreTokenizer", "PreTokenizer", "UnicodePunctuation", "WhitespaceSplit"),
    "core.training.config": ("TrainingConfig",),
    "core.training.history": ("MergeHistory",),
    "core.training.preparation": ("minimum_vocab_size",),
    "core.training.records": ("Candidate", "Merge"),
    "core.training.trainer": ("Trainer", "TrainingRun", "train"),
    "core.vocabulary": ("Vocabulary",),
    "errors": ("StudioError",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module(f"{__name__}.{module}"), name)
            globals()[name] = value  # found at once from now on
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
