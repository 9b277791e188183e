"""WordPiece Studio as a library: count words, train a vocabulary, look at its merges, tokenize.

>>> import wordpiece_studio as wps
>>> counts = wps.count_texts(["hug pug hugs", "hug"])
>>> counts.items()
[('hug', 2), ('pug', 1), ('hugs', 1)]

Names are loaded when first used, so importing this package costs nothing. Nothing here needs Qt.
"""

from __future__ import annotations

import importlib

from wordpiece_studio import tokenizer
from wordpiece_studio.version import __version__ as __version__

TYPE_CHECKING = False  # importing typing would delay the handling of Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from wordpiece_studio.corpus.counting.counting import count_texts, count_words
    from wordpiece_studio.corpus.counts import CorpusStatistics, CountingStopped, SkippedWord, WordCounts
    from wordpiece_studio.corpus.files import CorpusFile
    from wordpiece_studio.corpus.linter.finding import Finding
    from wordpiece_studio.corpus.linter.linter import lint
    from wordpiece_studio.corpus.word_counts import read_word_counts, write_word_counts
    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.evaluation.differences import (
        Divergence,
        TokenizerComparison,
        VocabularyOverlap,
        WordDifference,
        WordDifferences,
        compare,
        divergence,
    )
    from wordpiece_studio.evaluation.figures import Evaluation, TokenizerFigures, evaluate
    from wordpiece_studio.evaluation.held_out import (
        DividedCorpus,
        HeldOutFigures,
        HeldOutText,
        divided_corpus,
        held_out_figures,
        held_out_text,
    )
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer, Segmentation
    from wordpiece_studio.libraries.library_training import (
        LibraryProgress,
        LibraryRun,
        LibraryTrainingStopped,
        Repetition,
        train_library,
        train_peer,
    )
    from wordpiece_studio.storage.bpe_files import write_bpe_files
    from wordpiece_studio.storage.tokenizer_directory import save_directory
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
    from wordpiece_studio.storage.vocab_txt import read_vocabulary, write_vocabulary
    from wordpiece_studio.text.normalizers import (
        BertNormalizer,
        CorpusOnly,
        Lowercase,
        RemoveCharacters,
        Sequence,
        StripAccents,
        Unchanged,
        UnicodeForm,
    )
    from wordpiece_studio.text.patterns import PatternPreTokenizer, Split
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.text.pre_tokenizers import (
        BertPreTokenizer,
        ByteLevel,
        Digits,
        PreTokenizerSequence,
        Punctuation,
        UnicodePunctuation,
        Whitespace,
        WhitespaceSplit,
    )
    from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer, LongestFirstTokenizer
    from wordpiece_studio.tokenizer.corpus_encoding import (
        EncodedTexts,
        EncodingStatistics,
        encode_files,
        encode_texts,
        write_ids,
    )
    from wordpiece_studio.tokenizer.encoding import Encoding, EncodingStopped, UnknownReason, UnknownToken
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer, WordTrace
    from wordpiece_studio.tokenizer.vocabulary import AddedToken, Vocabulary
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.engine import Candidate, Merge
    from wordpiece_studio.training.history import MergeHistory
    from wordpiece_studio.training.segmentation import PreparationStopped, minimum_vocab_size
    from wordpiece_studio.training.trainer import Trainer, TrainingRun, train

__all__ = [
    "AddedToken",
    "BertNormalizer",
    "BertPreTokenizer",
    "BpeTokenizer",
    "ByteLevel",
    "Candidate",
    "CorpusFile",
    "CorpusOnly",
    "CorpusStatistics",
    "CountingStopped",
    "Digits",
    "Divergence",
    "DividedCorpus",
    "EncodedTexts",
    "Encoding",
    "EncodingStatistics",
    "EncodingStopped",
    "Evaluation",
    "Finding",
    "HeldOutFigures",
    "HeldOutText",
    "LibraryProgress",
    "LibraryRun",
    "LibraryTokenizer",
    "LibraryTrainingStopped",
    "LongestFirstTokenizer",
    "Lowercase",
    "Merge",
    "MergeHistory",
    "Normalizer",
    "PatternPreTokenizer",
    "PreTokenizer",
    "PreTokenizerSequence",
    "PreparationStopped",
    "Punctuation",
    "RemoveCharacters",
    "Repetition",
    "Segmentation",
    "Sequence",
    "SkippedWord",
    "Split",
    "StripAccents",
    "StudioError",
    "Tokenizer",
    "TokenizerComparison",
    "TokenizerFigures",
    "Trainer",
    "TrainingConfig",
    "TrainingRun",
    "Unchanged",
    "UnicodeForm",
    "UnicodePunctuation",
    "UnknownReason",
    "UnknownToken",
    "Vocabulary",
    "VocabularyOverlap",
    "Whitespace",
    "WhitespaceSplit",
    "WordCounts",
    "WordDifference",
    "WordDifferences",
    "WordTrace",
    "__version__",
    "compare",
    "count_texts",
    "count_words",
    "divergence",
    "divided_corpus",
    "encode_files",
    "encode_texts",
    "evaluate",
    "held_out_figures",
    "held_out_text",
    "lint",
    "load_tokenizer",
    "minimum_vocab_size",
    "read_vocabulary",
    "read_word_counts",
    "save_directory",
    "train",
    "train_library",
    "train_peer",
    "write_bpe_files",
    "write_ids",
    "write_vocabulary",
    "write_word_counts",
]

# Which module defines which names: the same as the imports above, which only type checkers see.
_HOMES = {
    "corpus.files": ("CorpusFile",),
    "corpus.counting.counting": ("count_texts", "count_words"),
    "corpus.counts": ("CorpusStatistics", "CountingStopped", "SkippedWord", "WordCounts"),
    "corpus.linter.finding": ("Finding",),
    "corpus.linter.linter": ("lint",),
    "corpus.word_counts": ("read_word_counts", "write_word_counts"),
    "errors": ("StudioError",),
    "evaluation.differences": (
        "Divergence",
        "TokenizerComparison",
        "VocabularyOverlap",
        "WordDifference",
        "WordDifferences",
        "compare",
        "divergence",
    ),
    "evaluation.figures": ("Evaluation", "TokenizerFigures", "evaluate"),
    "evaluation.held_out": (
        "DividedCorpus",
        "HeldOutFigures",
        "HeldOutText",
        "divided_corpus",
        "held_out_figures",
        "held_out_text",
    ),
    "libraries.library_tokenizer": ("LibraryTokenizer", "Segmentation"),
    "libraries.library_training": (
        "LibraryProgress",
        "LibraryRun",
        "LibraryTrainingStopped",
        "Repetition",
        "train_library",
        "train_peer",
    ),
    "storage.bpe_files": ("write_bpe_files",),
    "storage.tokenizer_directory": ("save_directory",),
    "storage.tokenizer_loading": ("load_tokenizer",),
    "storage.vocab_txt": ("read_vocabulary", "write_vocabulary"),
    "text.normalizers": (
        "BertNormalizer",
        "CorpusOnly",
        "Lowercase",
        "RemoveCharacters",
        "Sequence",
        "StripAccents",
        "Unchanged",
        "UnicodeForm",
    ),
    "text.patterns": ("PatternPreTokenizer", "Split"),
    "text.pipeline": ("Normalizer", "PreTokenizer"),
    "text.pre_tokenizers": (
        "BertPreTokenizer",
        "ByteLevel",
        "Digits",
        "PreTokenizerSequence",
        "Punctuation",
        "UnicodePunctuation",
        "Whitespace",
        "WhitespaceSplit",
    ),
    "tokenizer.bpe_tokenizer": ("BpeTokenizer", "LongestFirstTokenizer"),
    "tokenizer.corpus_encoding": (
        "EncodedTexts",
        "EncodingStatistics",
        "encode_files",
        "encode_texts",
        "write_ids",
    ),
    "tokenizer.encoding": ("Encoding", "EncodingStopped", "UnknownReason", "UnknownToken"),
    "tokenizer.tokenizer": ("Tokenizer", "WordTrace"),
    "tokenizer.vocabulary": ("AddedToken", "Vocabulary"),
    "training.config": ("TrainingConfig",),
    "training.engine": ("Candidate", "Merge"),
    "training.history": ("MergeHistory",),
    "training.segmentation": ("PreparationStopped", "minimum_vocab_size"),
    "training.trainer": ("Trainer", "TrainingRun", "train"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            globals()[name] = value = _found(module, name)  # found directly from now on
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _found(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


# What reads and writes files lies above the tokenizers, whose methods call it.
tokenizer.load = lambda *given: _found("storage.tokenizer_loading", "load_wordpiece_tokenizer")(*given)
tokenizer.save = lambda *given, **options: _found("storage.tokenizer_directory", "save_tokenizer")(*given, **options)


def __dir__() -> list[str]:
    return sorted(__all__)
