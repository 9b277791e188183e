"""A training by another library in the form of ours: a history without merges, and a tokenizer that the library runs.

The words stand as the library cuts them, so that tokens, their places and their counts are what it makes of them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.tokenizer.encoding import UnknownReason, UnknownToken
from wordpiece_studio.tokenizer.tokenizer import Tokenizer, WordMatch
from wordpiece_studio.training.history import COLUMNS, HistoryTable
from wordpiece_studio.training.segmentation import (
    INSIDE,
    SEPARATOR,
    HistoryPlaces,
    MergePlaces,
    Symbol,
    TrainingInput,
    check_sizes,
)
from wordpiece_studio.training.stored_history import StoredHistory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
    from wordpiece_studio.libraries.library_training import LibraryRun
    from wordpiece_studio.tokenizer.encoding import WordCut
    from wordpiece_studio.training.history import MergeHistory

_log = logging.getLogger(__name__)
_ANY_LENGTH = 1 << 31  # the library has its own limit, if any


class LibraryHistory(StoredHistory):
    """The history of a training whose library does not say how it came to its tokens.

    `library` cuts the words; if it is None, it is loaded when they are first needed, and `symbols` is how many tokens
    they consist of. `explained` turns an error of the library that is loaded later into the one to raise.
    """

    has_steps = False

    def __init__(
        self,
        library_run: LibraryRun,
        counts: WordCounts,
        library: LibraryTokenizer | None = None,
        symbols: int = 0,
        explained: Callable[[StudioError], StudioError] | None = None,
    ) -> None:
        self._library_run = library_run
        places = None if library is None else _places(library_run, counts, library)
        if places is not None:
            symbols = places.input.total_symbols
        columns = {name: np.empty(0, dtype=dtype) for name, dtype in COLUMNS.items()}
        tokens = list(library_run.tokens)
        table = HistoryTable(library_run.config, tokens, len(tokens), columns, symbols, len(counts), counts.total)
        super().__init__(table, lambda: (counts, _NO_PLACES), explained)
        self._places = places
        self.scores = library_run.scores

    def drop_places(self, counts: WordCounts) -> None:
        """Do nothing: there are no merges to make the places of again."""

    def _read_places(self) -> MergePlaces:
        counts, _ = self._load()
        return _places(self._library_run, counts, self._library_run.tokenizer())


_NO_PLACES = HistoryPlaces(*(np.empty(0, dtype=np.int32) for _ in range(3)))


def _places(library_run: LibraryRun, counts: WordCounts, library: LibraryTokenizer) -> MergePlaces:
    input_, inside = _input(library_run, counts, library)
    places = MergePlaces(input_)
    places.boundary_steps[inside] = 0
    return places


def _input(
    library_run: LibraryRun, counts: WordCounts, library: LibraryTokenizer
) -> tuple[TrainingInput, NDArray[np.bool_]]:
    """Return the words as the library cuts them, a cell for each character, and which cells are inside tokens."""
    cuts = [ids for ids, _ in library.cut(counts.words)]
    number = np.fromiter(map(len, cuts), dtype=np.int64, count=len(cuts))
    ids = np.fromiter((each for cut in cuts for each in cut), dtype=np.int64, count=int(number.sum()))
    symbols, symbol_of = np.unique(ids, return_inverse=True)
    if len(symbols) and symbols[-1] >= len(library_run.tokens):
        raise StudioError("{file} is not what the library trained", "Train again.", file=library_run.file_name)
    widths = np.array([len(library_run.tokens[each]) for each in symbols.tolist()], dtype=np.int32)[symbol_of]
    words = np.repeat(np.arange(len(cuts)), number)
    lengths = np.bincount(words, weights=widths, minlength=len(cuts)).astype(np.int64)
    check_sizes(counts.counts, lengths, "")
    starts = np.cumsum(lengths + 1) - lengths
    cells = np.full(int(lengths.sum()) + len(lengths) + 1, INSIDE, dtype=np.int32)
    cells[0] = cells[starts + lengths] = SEPARATOR
    places = np.cumsum(widths) - widths + words + 1  # a symbol comes after the separators of the words up to its own
    inside = cells == INSIDE
    inside[places] = False
    cells[places] = cells[places + widths - 1] = symbol_of
    input_ = TrainingInput(
        config=library_run.config, counts=counts, cells=cells, word_starts=starts, word_lengths=lengths,
        symbol_counts=number, symbol_ids=symbols, vocabulary_tokens=list(library_run.tokens),
        symbols=[Symbol(library_run.tokens[each], continues=False) for each in symbols.tolist()],
    )  # fmt: skip
    return input_, inside


class LibraryRunTokenizer(Tokenizer):
    """Tokenizes with a library; text becomes words as for the words that it was trained on.

    Where the library fails, a word is unknown; all of them are if it is not loaded.
    """

    can_explain = is_cut_by_tokens = False

    def __init__(self, history: MergeHistory, counts: WordCounts, library: LibraryTokenizer | None) -> None:
        vocabulary = history.vocabulary(len(history))
        super().__init__(vocabulary, counts.normalizer, counts.pre_tokenizer, max_word_length=_ANY_LENGTH)
        self._library = library

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True, cleanup: bool = True) -> str:
        if self._library is None:
            return super().decode(ids, skip_special_tokens=skip_special_tokens, cleanup=cleanup)
        return self._library.decode(ids, skip_special_tokens=skip_special_tokens)

    def _cut(self, word: str) -> WordMatch:
        try:
            ((tokens, ids, spans),) = self._cuts([word])
        except StudioError as error:
            if self._library is not None:
                _log.info("%s", error)
            return self._unknown(word, UnknownReason("symbol", 0, ""))
        return WordMatch(tuple(tokens), tuple(ids), tuple(spans), None)

    def _cuts(self, words: Iterable[str]) -> Iterator[WordCut]:
        """Return the tokens of each word; the library is asked for all at once, and its errors are raised."""
        if self._library is None:
            what = "The library that trained this run is not available"
            raise StudioError(what, "See the earlier message for details.")
        words = list(words)
        for word, (ids, spans) in zip(words, self._library.cut(words), strict=True):
            yield self._tokens_of(word, ids, spans), ids, spans

    def _tokens_of(self, word: str, ids: Sequence[int], spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """Return the tokens with these ids; the unknown one says what it stands for."""
        unk_token = self.vocabulary.unk_token
        tokens = [self.vocabulary[each] for each in ids]
        return tuple(
            UnknownToken(token, UnknownReason("symbol", start, word[start:end])) if token == unk_token else token
            for token, (start, end) in zip(tokens, spans, strict=True)
        )

    def _offsets(
        self, match: WordMatch, starts: Sequence[int], ends: Sequence[int], first: int
    ) -> list[tuple[int, int]]:
        """Return where the tokens of a word stand; the mark of a word's beginning alone takes no room."""
        return [
            (first + starts[start], first + ends[end - 1]) if end > start else (first + starts[0], first + starts[0])
            for start, end in match.spans
        ]
