"""WordPiece Studio as a library: count words, train a vocabulary, look at its merges, tokenize.

>>> import wordpiece_studio as wps
>>> counts = wps.count_texts(["hug pug hugs", "hug"])
>>> counts.items()
[('hug', 2), ('pug', 1), ('hugs', 1)]

The names are loaded when they are first used, so that importing this package costs nothing. There is no Qt in here.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # typing would be loaded before the program can say what Ctrl-C does
if TYPE_CHECKING:
    from typing import Any

    from wordpiece_studio.core.corpus.corpus_file import CorpusFile
    from wordpiece_studio.core.corpus.counting.counting import CountingStopped, count_texts, count_words
    from wordpiece_studio.core.corpus.counts import CorpusStatistics, SkippedWord, WordCounts
    from wordpiece_studio.core.corpus.linter.finding import Finding
    from wordpiece_studio.core.corpus.linter.linter import lint
    from wordpiece_studio.core.encoder import Encoding, Tokenizer, UnknownReason, WordTrace
    from wordpiece_studio.core.encoding.corpus_encoding import (
        EncodedTexts,
        EncodingStatistics,
        EncodingStopped,
        encode_files,
        encode_texts,
        write_ids,
    )
    from wordpiece_studio.core.formats.bpe_files import write_bpe_files
    from wordpiece_studio.core.formats.tokenizer_directory import save_directory
    from wordpiece_studio.core.formats.tokenizer_loading import load_tokenizer
    from wordpiece_studio.core.formats.vocab_txt import read_vocabulary, write_vocabulary
    from wordpiece_studio.core.formats.word_counts import read_word_counts, write_word_counts
    from wordpiece_studio.core.imported.imported_tokenizer import ImportedTokenizer
    from wordpiece_studio.core.text.normalizers import (
        BertNormalizer,
        Lowercase,
        Normalizer,
        RemoveCharacters,
        Sequence,
        StripAccents,
        Unchanged,
        UnicodeForm,
    )
    from wordpiece_studio.core.text.pre_tokenizers import (
        BertPreTokenizer,
        PatternPreTokenizer,
        PreTokenizer,
        PreTokenizerSequence,
        Punctuation,
        UnicodePunctuation,
        Whitespace,
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
    "CorpusFile",
    "CorpusStatistics",
    "CountingStopped",
    "EncodedTexts",
    "Encoding",
    "EncodingStatistics",
    "EncodingStopped",
    "Finding",
    "ImportedTokenizer",
    "Lowercase",
    "Merge",
    "MergeHistory",
    "Normalizer",
    "PatternPreTokenizer",
    "PreTokenizer",
    "PreTokenizerSequence",
    "Punctuation",
    "RemoveCharacters",
    "Sequence",
    "SkippedWord",
    "StripAccents",
    "StudioError",
    "Tokenizer",
    "Trainer",
    "TrainingConfig",
    "TrainingRun",
    "Unchanged",
    "UnicodeForm",
    "UnicodePunctuation",
    "UnknownReason",
    "Vocabulary",
    "Whitespace",
    "WhitespaceSplit",
    "WordCounts",
    "WordTrace",
    "__version__",
    "count_texts",
    "count_words",
    "encode_files",
    "encode_texts",
    "lint",
    "load_tokenizer",
    "minimum_vocab_size",
    "read_vocabulary",
    "read_word_counts",
    "save_directory",
    "train",
    "write_bpe_files",
    "write_ids",
    "write_vocabulary",
    "write_word_counts",
]

# Which module of the package holds which names; the same as the imports above, which only type checkers see.
_HOMES = {
    "core.corpus.corpus_file": ("CorpusFile",),
    "core.corpus.counting.counting": ("CountingStopped", "count_texts", "count_words"),
    "core.corpus.counts": ("CorpusStatistics", "SkippedWord", "WordCounts"),
    "core.corpus.linter.finding": ("Finding",),
    "core.corpus.linter.linter": ("lint",),
    "core.encoding.corpus_encoding": (
        "EncodedTexts",
        "EncodingStatistics",
        "EncodingStopped",
        "encode_files",
        "encode_texts",
        "write_ids",
    ),
    "core.encoder": ("Encoding", "Tokenizer", "UnknownReason", "WordTrace"),
    "core.formats.tokenizer_directory": ("save_directory",),
    "core.formats.bpe_files": ("write_bpe_files",),
    "core.formats.tokenizer_loading": ("load_tokenizer",),
    "core.imported.imported_tokenizer": ("ImportedTokenizer",),
    "core.formats.vocab_txt": ("read_vocabulary", "write_vocabulary"),
    "core.formats.word_counts": ("read_word_counts", "write_word_counts"),
    "core.text.normalizers": (
        "BertNormalizer",
        "Lowercase",
        "Normalizer",
        "RemoveCharacters",
        "Sequence",
        "StripAccents",
        "Unchanged",
        "UnicodeForm",
    ),
    "core.text.pre_tokenizers": (
        "BertPreTokenizer",
        "PatternPreTokenizer",
        "PreTokenizer",
        "PreTokenizerSequence",
        "Punctuation",
        "UnicodePunctuation",
        "Whitespace",
        "WhitespaceSplit",
    ),
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
