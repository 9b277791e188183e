"""WordPiece Studio as a library: count words, train a vocabulary, look at its merges, tokenize.

>>> import wordpiece_studio as wps
>>> counts = wps.count_texts(["hug pug hugs", "hug"])
>>> counts.items()
[('hug', 2), ('pug', 1), ('hugs', 1)]

Names are loaded when first used, so importing this package costs nothing. Nothing here needs Qt.
"""

from __future__ import annotations

import importlib

from wordpiece_studio import tokenizer, training
from wordpiece_studio.version import __version__ as __version__

TYPE_CHECKING = False  # importing typing would delay the handling of Ctrl-C
if TYPE_CHECKING:
    from typing import Any

    from wordpiece_studio.corpus.count_tables import write_word_counts as write_word_counts
    from wordpiece_studio.corpus.counting.counting import count_texts as count_texts
    from wordpiece_studio.corpus.counting.counting import count_words as count_words
    from wordpiece_studio.corpus.counting.counting import read_word_counts as read_word_counts
    from wordpiece_studio.corpus.counts import CorpusStatistics as CorpusStatistics
    from wordpiece_studio.corpus.counts import CountingStopped as CountingStopped
    from wordpiece_studio.corpus.counts import SkippedWord as SkippedWord
    from wordpiece_studio.corpus.counts import WordCounts as WordCounts
    from wordpiece_studio.corpus.files import CorpusFile as CorpusFile
    from wordpiece_studio.corpus.linter.finding import Finding as Finding
    from wordpiece_studio.corpus.linter.linter import lint as lint
    from wordpiece_studio.errors import StudioError as StudioError
    from wordpiece_studio.evaluation.boundaries import Boundaries as Boundaries
    from wordpiece_studio.evaluation.boundaries import morpheme_boundaries as morpheme_boundaries
    from wordpiece_studio.evaluation.check import CheckReport as CheckReport
    from wordpiece_studio.evaluation.check import TokenizerCheck as TokenizerCheck
    from wordpiece_studio.evaluation.check import check as check
    from wordpiece_studio.evaluation.cross_validation import cross_validate as cross_validate
    from wordpiece_studio.evaluation.differences import Divergence as Divergence
    from wordpiece_studio.evaluation.differences import TokenizerComparison as TokenizerComparison
    from wordpiece_studio.evaluation.differences import VocabularyOverlap as VocabularyOverlap
    from wordpiece_studio.evaluation.differences import WordDifference as WordDifference
    from wordpiece_studio.evaluation.differences import WordDifferences as WordDifferences
    from wordpiece_studio.evaluation.differences import compare as compare
    from wordpiece_studio.evaluation.differences import divergence as divergence
    from wordpiece_studio.evaluation.evaluating import evaluate as evaluate
    from wordpiece_studio.evaluation.extension import Effect as Effect
    from wordpiece_studio.evaluation.extension import Extension as Extension
    from wordpiece_studio.evaluation.extension import Proposal as Proposal
    from wordpiece_studio.evaluation.extension import Pruning as Pruning
    from wordpiece_studio.evaluation.extension import extend as extend
    from wordpiece_studio.evaluation.extension import prune as prune
    from wordpiece_studio.evaluation.figures import Difference as Difference
    from wordpiece_studio.evaluation.figures import Evaluation as Evaluation
    from wordpiece_studio.evaluation.figures import TokenizerFigures as TokenizerFigures
    from wordpiece_studio.evaluation.held_out import DividedCorpus as DividedCorpus
    from wordpiece_studio.evaluation.held_out import Fold as Fold
    from wordpiece_studio.evaluation.held_out import HeldOutFigures as HeldOutFigures
    from wordpiece_studio.evaluation.held_out import HeldOutText as HeldOutText
    from wordpiece_studio.evaluation.held_out import divided_corpus as divided_corpus
    from wordpiece_studio.evaluation.held_out import held_out_figures as held_out_figures
    from wordpiece_studio.evaluation.held_out import held_out_text as held_out_text
    from wordpiece_studio.evaluation.sizes import SizeAdvice as SizeAdvice
    from wordpiece_studio.evaluation.sizes import SizeFigures as SizeFigures
    from wordpiece_studio.evaluation.sizes import SizeRule as SizeRule
    from wordpiece_studio.evaluation.sizes import Sweep as Sweep
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer as LibraryTokenizer
    from wordpiece_studio.libraries.library_tokenizer import Segmentation as Segmentation
    from wordpiece_studio.libraries.library_training import LibraryProgress as LibraryProgress
    from wordpiece_studio.libraries.library_training import LibraryRun as LibraryRun
    from wordpiece_studio.libraries.library_training import LibraryTrainingStopped as LibraryTrainingStopped
    from wordpiece_studio.libraries.library_training import Repetition as Repetition
    from wordpiece_studio.libraries.library_training import train_library as train_library
    from wordpiece_studio.libraries.library_training import train_peer as train_peer
    from wordpiece_studio.libraries.sweep import sweep as sweep
    from wordpiece_studio.storage.adapted_vocabulary import save_extension as save_extension
    from wordpiece_studio.storage.adapted_vocabulary import save_pruning as save_pruning
    from wordpiece_studio.storage.bpe_files import write_bpe_files as write_bpe_files
    from wordpiece_studio.storage.saved_runs import load_project as load_project
    from wordpiece_studio.storage.tokenizer_directory import save_directory as save_directory
    from wordpiece_studio.storage.tokenizer_loading import load_tokenizer as load_tokenizer
    from wordpiece_studio.storage.vocab_txt import read_vocabulary as read_vocabulary
    from wordpiece_studio.storage.vocab_txt import write_vocabulary as write_vocabulary
    from wordpiece_studio.text.normalizers import BertNormalizer as BertNormalizer
    from wordpiece_studio.text.normalizers import CorpusOnly as CorpusOnly
    from wordpiece_studio.text.normalizers import Lowercase as Lowercase
    from wordpiece_studio.text.normalizers import RemoveCharacters as RemoveCharacters
    from wordpiece_studio.text.normalizers import Sequence as Sequence
    from wordpiece_studio.text.normalizers import StripAccents as StripAccents
    from wordpiece_studio.text.normalizers import Unchanged as Unchanged
    from wordpiece_studio.text.normalizers import UnicodeForm as UnicodeForm
    from wordpiece_studio.text.patterns import PatternPreTokenizer as PatternPreTokenizer
    from wordpiece_studio.text.patterns import Split as Split
    from wordpiece_studio.text.pipeline import Normalizer as Normalizer
    from wordpiece_studio.text.pipeline import PreTokenizer as PreTokenizer
    from wordpiece_studio.text.pre_tokenizers import BertPreTokenizer as BertPreTokenizer
    from wordpiece_studio.text.pre_tokenizers import ByteLevel as ByteLevel
    from wordpiece_studio.text.pre_tokenizers import Digits as Digits
    from wordpiece_studio.text.pre_tokenizers import PreTokenizerSequence as PreTokenizerSequence
    from wordpiece_studio.text.pre_tokenizers import Punctuation as Punctuation
    from wordpiece_studio.text.pre_tokenizers import UnicodePunctuation as UnicodePunctuation
    from wordpiece_studio.text.pre_tokenizers import Whitespace as Whitespace
    from wordpiece_studio.text.pre_tokenizers import WhitespaceSplit as WhitespaceSplit
    from wordpiece_studio.tokenizer.bpe_tokenizer import BpeTokenizer as BpeTokenizer
    from wordpiece_studio.tokenizer.bpe_tokenizer import LongestFirstTokenizer as LongestFirstTokenizer
    from wordpiece_studio.tokenizer.corpus_encoding import EncodedTexts as EncodedTexts
    from wordpiece_studio.tokenizer.corpus_encoding import EncodingStatistics as EncodingStatistics
    from wordpiece_studio.tokenizer.corpus_encoding import encode_files as encode_files
    from wordpiece_studio.tokenizer.corpus_encoding import encode_texts as encode_texts
    from wordpiece_studio.tokenizer.corpus_encoding import write_ids as write_ids
    from wordpiece_studio.tokenizer.encoding import Encoding as Encoding
    from wordpiece_studio.tokenizer.encoding import UnknownReason as UnknownReason
    from wordpiece_studio.tokenizer.encoding import UnknownToken as UnknownToken
    from wordpiece_studio.tokenizer.shaping import EncodingStopped as EncodingStopped
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer as Tokenizer
    from wordpiece_studio.tokenizer.tokenizer import WordTrace as WordTrace
    from wordpiece_studio.tokenizer.vocabulary import AddedToken as AddedToken
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary as Vocabulary
    from wordpiece_studio.training.config import TrainingConfig as TrainingConfig
    from wordpiece_studio.training.engine import Candidate as Candidate
    from wordpiece_studio.training.engine import Merge as Merge
    from wordpiece_studio.training.history import MergeHistory as MergeHistory
    from wordpiece_studio.training.segmentation import PreparationStopped as PreparationStopped
    from wordpiece_studio.training.segmentation import minimum_vocab_size as minimum_vocab_size
    from wordpiece_studio.training.trainer import Trainer as Trainer
    from wordpiece_studio.training.trainer import TrainingRun as TrainingRun
    from wordpiece_studio.training.trainer import train as train

# Which module defines which names: the same as the imports above, which only type checkers see.
_HOMES = {
    "corpus.count_tables": "write_word_counts",
    "corpus.counting.counting": "count_texts count_words read_word_counts",
    "corpus.counts": "CorpusStatistics CountingStopped SkippedWord WordCounts",
    "corpus.files": "CorpusFile",
    "corpus.linter.finding": "Finding",
    "corpus.linter.linter": "lint",
    "errors": "StudioError",
    "evaluation.boundaries": "Boundaries morpheme_boundaries",
    "evaluation.check": "CheckReport TokenizerCheck check",
    "evaluation.cross_validation": "cross_validate",
    "evaluation.differences": (
        "Divergence TokenizerComparison VocabularyOverlap WordDifference WordDifferences compare divergence"
    ),
    "evaluation.evaluating": "evaluate",
    "evaluation.extension": "Effect Extension Proposal Pruning extend prune",
    "evaluation.figures": "Difference Evaluation TokenizerFigures",
    "evaluation.held_out": (
        "DividedCorpus Fold HeldOutFigures HeldOutText divided_corpus held_out_figures held_out_text"
    ),
    "evaluation.sizes": "SizeAdvice SizeFigures SizeRule Sweep",
    "libraries.library_tokenizer": "LibraryTokenizer Segmentation",
    "libraries.library_training": (
        "LibraryProgress LibraryRun LibraryTrainingStopped Repetition train_library train_peer"
    ),
    "libraries.sweep": "sweep",
    "storage.adapted_vocabulary": "save_extension save_pruning",
    "storage.bpe_files": "write_bpe_files",
    "storage.saved_runs": "load_project",
    "storage.tokenizer_directory": "save_directory",
    "storage.tokenizer_loading": "load_tokenizer",
    "storage.vocab_txt": "read_vocabulary write_vocabulary",
    "text.normalizers": (
        "BertNormalizer CorpusOnly Lowercase RemoveCharacters Sequence StripAccents Unchanged UnicodeForm"
    ),
    "text.patterns": "PatternPreTokenizer Split",
    "text.pipeline": "Normalizer PreTokenizer",
    "text.pre_tokenizers": (
        "BertPreTokenizer ByteLevel Digits PreTokenizerSequence Punctuation UnicodePunctuation Whitespace "
        "WhitespaceSplit"
    ),
    "tokenizer.bpe_tokenizer": "BpeTokenizer LongestFirstTokenizer",
    "tokenizer.corpus_encoding": "EncodedTexts EncodingStatistics encode_files encode_texts write_ids",
    "tokenizer.encoding": "Encoding UnknownReason UnknownToken",
    "tokenizer.shaping": "EncodingStopped",
    "tokenizer.tokenizer": "Tokenizer WordTrace",
    "tokenizer.vocabulary": "AddedToken Vocabulary",
    "training.config": "TrainingConfig",
    "training.engine": "Candidate Merge",
    "training.history": "MergeHistory",
    "training.segmentation": "PreparationStopped minimum_vocab_size",
    "training.trainer": "Trainer TrainingRun train",
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(["__version__", *_MODULES])


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = _found(_MODULES[name], name)  # found directly from now on
    return value


def _found(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)


# What reads and writes files lies above the tokenizers, whose methods call it.
tokenizer.load = lambda *given: _found("storage.tokenizer_loading", "load_wordpiece_tokenizer")(*given)
tokenizer.load_any = lambda path: _found("storage.tokenizer_loading", "load_tokenizer")(path)
tokenizer.save = lambda *given, **options: _found("storage.tokenizer_directory", "save_tokenizer")(*given, **options)
training.load = lambda *given: _found("storage.saved_runs", "load_run")(*given)
training.save = lambda *given: _found("storage.saved_runs", "save_run")(*given)
tokenizer.as_json = lambda *given: _found("storage.huggingface.tokenizer_json", "tokenizer_json_bytes")(*given)


def __dir__() -> list[str]:
    return sorted(__all__)
