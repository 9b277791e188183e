"""Words in cells: their symbols before the first merge, and how they are segmented after any number of merges.

All words are laid out in one array of *cells*, one cell per character, with a separator before, between and after them.
So the order of cells is the order of words and of positions in a word, and one number identifies a place. What was
merged is in `history`.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.arrays import hashes_of, repeated, with_room
from wordpiece_studio.training.continuing import replayed_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from wordpiece_studio.corpus.counts import WordCounts
    from wordpiece_studio.training.config import TrainingConfig

SEPARATOR = -1
INSIDE = -2
MOST_CELLS = (2**31 - 1) // 3  # the engine's arena holds up to three entries per cell, numbered in int32
MOST_SYMBOLS = 2**63 - 1  # N is an int64, and no other count is larger
_CODE_POINTS = 0x110000
_WORDS_AT_ONCE = 1 << 12  # between two calls of `should_stop`
_INSIDE_KEY = 2  # see `_symbol_keys`


class PreparationStopped(StudioError):
    """Raised when the caller's `should_stop` returned true before the trainer was ready."""

    def __init__(self) -> None:
        super().__init__("The training was stopped before it began", "Train again.")


class Symbol(NamedTuple):
    text: str  # without prefix
    continues: bool  # it does not begin a word, so its token has a prefix; always false if that is empty

    def token(self, prefix: str) -> str:
        return prefix + self.text if self.continues else self.text

    def joined(self, right: Symbol) -> Symbol:
        return Symbol(self.text + right.text, self.continues)


@dataclass(frozen=True, slots=True)
class TrainingInput:
    """The state before the first merge; it never changes. Arrays of words have one entry per word, int64.

    The cells are int32, one per character: a symbol (an index into `symbols`) stands at its first and its last cell,
    INSIDE between them, SEPARATOR before and after every word; `inside` are the cells within symbols where none begins,
    if there are any. `vocabulary_tokens` are special tokens, then the alphabet, then required tokens, and `symbol_ids`
    the vocabulary ids of the symbols: int64. An engine may also begin after `step` merges, with the symbols and tokens
    that there are then.
    """

    config: TrainingConfig
    counts: WordCounts
    cells: NDArray[np.int32]
    word_starts: NDArray[np.int64]
    word_lengths: NDArray[np.int64]
    symbol_counts: NDArray[np.int64]
    symbols: list[Symbol]
    vocabulary_tokens: list[str] = dataclasses.field(default_factory=list)  # until they are numbered
    symbol_ids: NDArray[np.int64] = dataclasses.field(default_factory=lambda: np.empty(0, dtype=np.int64))
    step: int = 0
    inside: NDArray[np.int64] | None = None

    @property
    def words(self) -> list[str]:
        return self.counts.words

    @property
    def weights(self) -> NDArray[np.int64]:
        return self.counts.counts

    @property
    def total_symbols(self) -> int:
        return int((self.weights * self.symbol_counts).sum())

    def symbols_between(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield (symbol, its first cell) from cell `start` to cell `end` (exclusive)."""
        while start < end:
            symbol = int(self.cells[start])
            yield symbol, start
            start += len(self.symbols[symbol].text)

    def token_at(self, start: int, end: int) -> str:
        text = "".join(self.symbols[symbol].text for symbol, _ in self.symbols_between(start, end))
        first = self.symbols[self.cells[start]]
        return Symbol(text, first.continues).token(self.config.continuing_subword_prefix)


def prepare(
    counts: WordCounts, config: TrainingConfig, should_stop: Callable[[], bool] | None = None
) -> TrainingInput:  # fmt: skip
    """Split the words into symbols and lay out the initial vocabulary; `should_stop` is called between the parts."""
    if not len(counts):
        raise StudioError("There are no words to train on", "Type or open a text that contains words.")
    joined = counts.joined
    settings = config.for_words_of(counts.pre_tokenizer)
    if joined is not None and settings.alphabet_limit is None and config.end_of_word_suffix is None:
        input_, present = _laid_out_at_once(counts, joined, settings)
    else:
        input_, present = _laid_out(counts, settings, should_stop)
    stop_if_asked(should_stop)
    tokens = _initial_vocabulary(input_, present)
    if config.base_merges:
        input_ = _after_base(input_, should_stop)
    ids = {token: index for index, token in enumerate(tokens)}
    prefix = config.continuing_subword_prefix
    symbol_ids = np.array([ids[symbol.token(prefix)] for symbol in input_.symbols], dtype=np.int64)
    input_ = dataclasses.replace(input_, config=config, vocabulary_tokens=tokens, symbol_ids=symbol_ids)
    smallest = len(input_.vocabulary_tokens)
    if config.vocab_size is not None and config.vocab_size < smallest:
        what = (
            "A vocabulary of {size:,} tokens is too small for this corpus: special tokens and alphabet alone "
            "are {minimum:,}"
        )
        if config.base_tokens:
            what = what.replace("special tokens and alphabet alone", "the tokens to go on from, and its characters,")
        if config.required_tokens:
            what = what.replace(" and alphabet alone", ", alphabet and required tokens alone")
        raise StudioError(what, "Choose a size of {minimum:,} or more.", size=config.vocab_size, minimum=smallest)
    return input_


def _after_base(input_: TrainingInput, should_stop: Callable[[], bool] | None) -> TrainingInput:
    """Return the words with the merges of the training that this one goes on from replayed on them."""
    prefix = input_.config.continuing_subword_prefix
    index_of = {symbol: index for index, symbol in enumerate(input_.symbols)}

    def merge_of(left: str, right: str) -> tuple[tuple[int, int], int]:
        continues = bool(prefix) and left.startswith(prefix) and left != prefix
        first = Symbol(left.removeprefix(prefix) if continues else left, continues)
        second = Symbol(right.removeprefix(prefix), bool(prefix))
        numbers = [index_of.setdefault(symbol, len(index_of)) for symbol in (first, second, first.joined(second))]
        return (numbers[0], numbers[1]), numbers[2]

    def words() -> Iterator[list[int]]:
        for number, (start, length) in enumerate(zip(input_.word_starts, input_.word_lengths, strict=True)):
            if not number % _WORDS_AT_ONCE:
                stop_if_asked(should_stop)
            yield [symbol for symbol, _ in input_.symbols_between(int(start), int(start + length))]

    found = list(replayed_words(words(), [merge_of(*pair) for pair in input_.config.base_merges]))
    symbols, numbers = list(index_of), np.fromiter(map(len, found), np.int64, len(found))
    flat = np.fromiter(itertools.chain.from_iterable(found), np.int32, int(numbers.sum()))
    widths = np.array([len(symbol.text) for symbol in symbols], dtype=np.int32)[flat]
    places = np.cumsum(widths) - widths + np.repeat(np.arange(1, len(found) + 1), numbers)  # behind its separators
    cells = np.full_like(input_.cells, SEPARATOR)
    _write_symbols(cells, places, widths, flat)
    is_inside = cells != SEPARATOR
    is_inside[places] = False
    inside = np.flatnonzero(is_inside)
    return dataclasses.replace(input_, cells=cells, symbol_counts=numbers, symbols=symbols, inside=inside)


def _laid_out_at_once(counts: WordCounts, joined: bytes, config: TrainingConfig) -> tuple[TrainingInput, set[str]]:
    """Return what `_laid_out` does, made by kernels, for symbols that are single characters and all kept."""
    from wordpiece_studio.text.word_table import keys_of, rename

    keys, lengths, occurring = keys_of(joined, len(counts), _INSIDE_KEY * bool(config.continuing_subword_prefix))
    check_sizes(counts.counts, lengths, "")
    symbols, table = _initial_symbols(occurring, "")
    rename(keys, np.append(np.int32(SEPARATOR), table))
    starts = np.cumsum(lengths + 1) - lengths
    input_ = TrainingInput(config, counts, keys, starts, lengths, lengths, symbols)
    return input_, {symbol.text for symbol in symbols}


def _laid_out(
    counts: WordCounts, config: TrainingConfig, should_stop: Callable[[], bool] | None
) -> tuple[TrainingInput, set[str]]:
    """Return the words in cells, with an empty vocabulary, and the characters that the alphabet limit keeps."""
    characters, lengths = counts.characters()
    check_sizes(counts.counts, lengths, config.end_of_word_suffix or "")
    stop_if_asked(should_stop)
    kept = np.ones(int(characters.max()) + 1, dtype=np.bool_)
    if config.alphabet_limit is not None:
        kept = _kept_characters(characters, repeated(counts.counts, lengths), config)
    is_attached = config.end_of_word_suffix is not None and config.end_of_word == "attached"
    keys = _symbol_keys(characters, lengths, bool(config.continuing_subword_prefix), is_attached)
    stop_if_asked(should_stop)
    if not kept.all():
        keys, lengths, trained = _without_dropped(keys, lengths, kept[characters], config)
        counts = counts.chosen(trained)
    input_ = _lay_out(counts, keys, lengths, config)
    stop_if_asked(should_stop)
    present = _occurring(characters)
    return input_, {chr(code) for code in present[kept[present]].tolist()}


def stop_if_asked(should_stop: Callable[[], bool] | None) -> None:
    if should_stop is not None and should_stop():
        raise PreparationStopped


def minimum_vocab_size(counts: WordCounts, config: TrainingConfig) -> int:
    """Return the number of special tokens and alphabet symbols: the size of the smallest possible vocabulary."""
    return len(prepare(counts, dataclasses.replace(config, vocab_size=None)).vocabulary_tokens)


def check_sizes(weights: NDArray[np.int64], lengths: NDArray[np.int64], suffix: str) -> None:
    """Raise if there would be more cells or symbols than their integer types can count."""
    cells = int(lengths.sum()) + len(lengths) * (1 + len(suffix)) + 1
    if cells > MOST_CELLS:
        what = "The distinct words of this corpus have {count:,} characters, more than can be trained on"
        raise StudioError(what, "Leave out the rarest words or a part of the text.", count=cells)
    most = lengths + bool(suffix)
    total: float = float((weights.astype(np.float64) * most).sum())
    if total > MOST_SYMBOLS / 2:  # near the limit, count exactly
        total = sum(map(mul, weights.tolist(), most.tolist()))
    if total > MOST_SYMBOLS:
        raise StudioError(
            "This corpus has more than 2**63 - 1 characters, counting repetitions", "Divide all counts by some number."
        )


def _kept_characters(
    characters: NDArray[np.int32], weights: NDArray[np.int64], config: TrainingConfig
) -> NDArray[np.bool_]:
    """Return which code points are within the alphabet limit: bool, shape (0x110000,).

    As in Hugging Face, the initial alphabet counts first, whether or not it occurs, and a character that is a special
    token is in the vocabulary anyway.
    """
    frequency = np.zeros(_CODE_POINTS, dtype=np.int64)
    np.add.at(frequency, characters, weights)
    first_seen = np.full(_CODE_POINTS, -1, dtype=np.int64)
    first_seen[characters[::-1]] = np.arange(len(characters))[::-1]
    frequency[[ord(character) for character in config.initial_characters]] = np.iinfo(np.int64).max
    present = np.flatnonzero(frequency)
    order = np.lexsort((first_seen[present], -frequency[present]))
    kept = np.ones(_CODE_POINTS, dtype=np.bool_)
    kept[present[order[config.alphabet_limit :]]] = False
    kept[[ord(token) for token in config.reserved_tokens if len(token) == 1]] = True
    return kept


def _symbol_keys(
    characters: NDArray[np.int32], lengths: NDArray[np.int64], continue_words: bool, attach_suffix: bool
) -> NDArray[np.int32]:
    """Return a key for each character: code point · 4, + 2 if it continues a word, + 1 if it carries the suffix."""
    ends = np.cumsum(lengths)
    keys = characters * 4
    if continue_words:
        keys += _INSIDE_KEY
        keys[ends - lengths] -= _INSIDE_KEY
    if attach_suffix:
        keys[ends - 1] += 1
    return keys


def _without_dropped(
    keys: NDArray[np.int32], lengths: NDArray[np.int64], keep: NDArray[np.bool_], config: TrainingConfig
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Remove the characters that are not kept, or all words that contain one.

    Return the remaining keys, the number of them in each word that has any, and the indices of these words.
    """
    starts = np.cumsum(lengths) - lengths
    if config.alphabet_overflow == "unk":
        keep = repeated(np.logical_and.reduceat(keep, starts), lengths)
    per_word = np.add.reduceat(keep.astype(np.int64), starts)
    trained = np.flatnonzero(per_word)
    if not len(trained):
        what = "No word is left to train on: each contains a character beyond the alphabet limit of {limit:,}"
        raise StudioError(what, "Raise the limit, or let such characters be removed.", limit=config.alphabet_limit)
    return keys[keep], per_word[trained], trained


def _lay_out(
    counts: WordCounts, keys: NDArray[np.int32], per_word: NDArray[np.int64], config: TrainingConfig
) -> TrainingInput:
    suffix = config.end_of_word_suffix or ""
    own = bool(suffix) and config.end_of_word == "symbol"
    symbols, symbol_of_key = _initial_symbols(_occurring(keys), suffix)
    sizes = per_word
    if suffix:
        widths = 1 + (keys & 1) * len(suffix)
        sizes = np.add.reduceat(widths.astype(np.int64), np.cumsum(per_word) - per_word) + own * len(suffix)
    starts = np.cumsum(sizes + 1) - sizes
    cells = np.full(int(sizes.sum()) + len(sizes) + 1, SEPARATOR, dtype=np.int32)
    if suffix:
        # A symbol comes after the symbols, the separators and the suffixes (as symbols of their own) before it.
        between = np.arange(len(sizes), dtype=np.int32) * (1 + own * len(suffix)) + 1
        places = np.cumsum(widths) - widths + repeated(between, per_word)
        _write_symbols(cells, places, widths, symbol_of_key[keys])
    else:
        is_symbol = np.ones(len(cells), dtype=np.bool_)
        is_symbol[0] = is_symbol[starts + sizes] = False
        cells[is_symbol] = symbol_of_key[keys]
    if own:
        end = Symbol(suffix, bool(config.continuing_subword_prefix))
        symbols += [] if end in symbols else [end]
        last = np.full(len(starts), symbols.index(end), dtype=np.int32)
        _write_symbols(cells, starts + sizes - len(suffix), np.full(len(starts), len(suffix)), last)
    return TrainingInput(config, counts, cells, starts, sizes, per_word + own, symbols)


def _occurring(numbers: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the distinct numbers, neither negative nor large, in ascending order."""
    occurs = np.zeros(int(numbers.max()) + 1, dtype=np.bool_)
    occurs[numbers] = True
    return np.flatnonzero(occurs)


def _initial_symbols(occurring: NDArray[np.int64], suffix: str) -> tuple[list[Symbol], NDArray[np.int32]]:
    table = np.empty(int(occurring[-1]) + 1, dtype=np.int32)
    table[occurring] = np.arange(len(occurring))
    return [
        Symbol(chr(key // 4) + (suffix if key & 1 else ""), bool(key & _INSIDE_KEY)) for key in occurring.tolist()
    ], table


def _write_symbols(
    cells: NDArray[np.int32], places: NDArray[np.int64], widths: NDArray[np.int32], symbols: NDArray[np.int32]
) -> None:
    cells[places] = symbols
    for offset in range(1, int(widths.max(initial=1)) - 1):
        cells[places[widths > offset + 1] + offset] = INSIDE
    cells[places + widths - 1] = symbols


def _initial_vocabulary(input_: TrainingInput, characters: set[str]) -> list[str]:
    config = input_.config
    prefix = config.continuing_subword_prefix
    tokens = [symbol.token(prefix) for symbol in input_.symbols]
    if config.alphabet == "seen":
        alphabet: Iterable[str] = sorted({*tokens, *config.initial_alphabet})
    else:
        extra = {symbol: len(symbol) > 1 for symbol in config.initial_alphabet}  # whether it has the prefix
        bare = characters | {symbol for symbol, continues in extra.items() if not continues}
        given = [token for token in config.continuing_order or () if token in set(tokens)]
        starts, lengths = input_.word_starts.tolist(), input_.word_lengths.tolist()
        seen = dict.fromkeys(
            symbol
            for index in sorted(range(len(input_.words)), key=input_.words.__getitem__)
            for symbol, _ in input_.symbols_between(starts[index], starts[index] + lengths[index])
        )
        rest = [symbol for symbol, continues in extra.items() if continues]
        alphabet = [*sorted(bare), *given, *(tokens[symbol] for symbol in seen), *rest]
    return list(dict.fromkeys((*config.base_tokens, *config.reserved_tokens, *alphabet, *config.required_tokens)))


# After merges.

NEVER = np.iinfo(np.int32).max  # the step of a boundary that is still there

_BLOCK = 1 << 16  # words processed together, which bounds the memory
_PLACES_AT_ONCE = 1 << 20  # processed together to find the words that merges changed: about 20 MB


@dataclass(frozen=True, slots=True)
class _Block:
    """Where the tokens of some words are after some step, in cells."""

    words: slice
    begins: NDArray[np.int64]  # of each token
    ends: NDArray[np.int64]
    makers: NDArray[np.int32]  # the step that made it, 0 for an initial symbol
    insides: NDArray[np.int64]  # cells where no token begins, separators left out
    symbol_counts: NDArray[np.int64]  # of each word


_BYTES_A_CELL, _BYTES_A_WORD = 12, 64

GROWTH = 1.5  # the factor by which the columns of a history grow when they are full


class HistoryPlaces(NamedTuple):
    position_counts: NDArray[np.integer[Any]]  # of each merge
    left_lengths: NDArray[np.integer[Any]]  # cells of its left symbol
    positions: NDArray[np.int32]  # of all merges, merge after merge: the first cells of the left symbols, ascending


class MergePlaces:
    """The places that the merges changed, first merge to last, and so the segmentations of all words at all steps.

    *Places* are cells, in arrays of shape (n,), integers; that of a merge is the first cell of a left symbol.
    `boundary_steps` says of each cell which step removed the boundary before it, or NEVER: int32. Writing a later step
    changes nothing at earlier steps.
    """

    def __init__(self, input_: TrainingInput) -> None:
        self.input = input_
        self.boundary_steps = initial_boundaries(input_)
        self._offsets = np.zeros(65, dtype=np.int64)
        self._left_lengths = np.empty(64, dtype=np.int32)
        self._places = np.empty(256, dtype=np.int32)

    @property
    def bytes(self) -> int:
        """About how much memory they take, with the words and what is built to look them up."""
        return _BYTES_A_CELL * len(self.input.cells) + _BYTES_A_WORD * len(self.input.weights) + self._places.nbytes

    def extend(self, first: int, added: HistoryPlaces) -> None:
        counts, left_lengths, places = added
        end = first + len(counts)
        self._offsets = with_room(self._offsets, end + 1, GROWTH)
        self._offsets[first + 1 : end + 1] = self._offsets[first] + np.cumsum(counts)
        self._left_lengths = with_room(self._left_lengths, end, GROWTH)
        self._left_lengths[first:end] = left_lengths
        used = int(self._offsets[first])
        self._places = with_room(self._places, used + len(places), GROWTH)
        self._places[used : used + len(places)] = places
        boundaries = places + np.repeat(left_lengths, counts)
        steps = np.arange(first + 1, end + 1, dtype=np.int32)
        self.boundary_steps[boundaries] = np.repeat(steps, counts)

    def of(self, index: int) -> NDArray[np.int32]:
        return self._places[self._offsets[index] : self._offsets[index + 1]]

    def firsts(self, count: int) -> NDArray[np.int32]:
        return self._places[self._offsets[:count]]

    def until(self, end: int) -> HistoryPlaces:
        offsets = self._offsets[: end + 1]
        return HistoryPlaces(np.diff(offsets), self._left_lengths[:end], self._places[: offsets[-1]])

    def words_touched_counts(self, first: int, end: int) -> NDArray[np.int64]:
        """Return how many distinct words each of the merges `first` to `end` (exclusive) changed: int64."""
        offsets = self._offsets[first : end + 1]
        parts = [np.empty(0, dtype=np.int64)]
        while len(offsets) > 1:
            last = max(1, int(np.searchsorted(offsets, offsets[0] + _PLACES_AT_ONCE)) - 1)
            starts = offsets[:last] - offsets[0]
            is_first = np.diff(self._word_of_cell[self._places[offsets[0] : offsets[last]]], prepend=-1) != 0
            is_first[starts] = True
            parts.append(np.add.reduceat(is_first, starts, dtype=np.int64))
            offsets = offsets[last:]
        return np.concatenate(parts)

    # One word.

    def index_of(self, word: str) -> int:
        hashes, order = self._hashes
        for place in itertools.count(int(np.searchsorted(hashes, hash(word)))):
            if place == len(hashes) or hashes[place] != hash(word):
                break
            if self.input.words[order[place]] == word:
                return int(order[place])
        raise StudioError("The word {word!r} is not in the training corpus", "Choose a word of the corpus.", word=word)

    def tokens(self, index: int, step: int) -> list[str]:
        start = int(self.input.word_starts[index])
        end = start + int(self.input.word_lengths[index])
        inner = np.flatnonzero(self.boundary_steps[start + 1 : end] > step) + start + 1
        cuts = [start, *inner.tolist(), end]
        return [self.input.token_at(begin, stop) for begin, stop in itertools.pairwise(cuts)]

    # Places.

    def width(self, place: int, step: int) -> int:
        word = int(self.input.word_starts.searchsorted(place, side="right")) - 1
        end = int(self.input.word_starts[word] + self.input.word_lengths[word])
        return int((self.boundary_steps[place + 1 : end + 1] > step).argmax()) + 1

    def standing(self, places: NDArray[np.int32], width: int, step: int) -> NDArray[np.int32]:
        """Return the places of a token where no later merge up to `step` has made it part of another one."""
        steps = self.boundary_steps
        return places[(steps[places] > step) & (steps[places + width] > step)]

    def places_of_symbol(self, symbol: int, step: int) -> NDArray[np.int64]:
        """Return where an initial symbol still stands alone after `step` merges, ascending."""
        width = len(self.input.symbols[symbol].text)
        cuts = self.boundary_steps > step
        found = (self.input.cells == symbol) & cuts
        found[:-width] &= cuts[width:]
        return np.flatnonzero(found)

    def stands_at(self, places: NDArray[np.integer[Any]], symbol: int, step: int) -> NDArray[np.bool_]:
        """Return at which of the places, boundaries after `step` merges, an initial symbol still stands alone."""
        width = len(self.input.symbols[symbol].text)
        found: NDArray[np.bool_] = self.input.cells[places] == symbol
        found[found] = self.boundary_steps[places[found] + width] > step
        return found

    def blocks_at(self, step: int) -> Iterator[_Block]:
        starts, cells = self.input.word_starts, self.input.cells
        for first in range(0, len(starts), _BLOCK):
            words = slice(first, first + _BLOCK)
            begin = int(starts[first])
            end = int(starts[first + _BLOCK]) if first + _BLOCK < len(starts) else len(cells)
            steps = self.boundary_steps[begin:end]
            is_cut = steps > step
            cuts = np.flatnonzero(is_cut)
            begins_token = cells[begin + cuts] != SEPARATOR
            begins = cuts[begins_token]  # the last cut is a separator
            yield _Block(
                words,
                begin + begins,
                begin + cuts[1:][begins_token[:-1]],
                # The boundary inside a token that was removed last was removed by the merge that made the token.
                np.maximum.reduceat(np.where(is_cut, 0, steps), begins),
                begin + np.flatnonzero(~is_cut),
                np.diff(begins.searchsorted(np.append(starts[words] - begin, end - begin))),
            )

    def tokens_by_block(
        self, step: int, makers: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int32]]]:
        """Yield the vocabulary ids of all tokens after `step` merges, and their words, some words at a time.

        `makers` has the id of the token that each merge made.
        """
        for block in self.blocks_at(step):
            ids = self.input.symbol_ids[self.input.cells[block.begins]]
            merged = block.makers > 0
            ids[merged] = makers[block.makers[merged] - 1]
            yield ids, self._word_of_cell[block.begins]

    # Words.

    def words_at(self, places: NDArray[np.int32]) -> NDArray[np.int64]:
        return self.input.word_starts.searchsorted(places, side="right") - 1

    def count_words_at(self, places: NDArray[np.integer[Any]]) -> int:
        return int(np.count_nonzero(self.holding(places)))

    def distinct_words_at(self, places: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        words = self._word_of_cell[places].astype(np.int64)
        distinct: NDArray[np.int64] = words[np.diff(words, prepend=-1) != 0]
        return distinct

    def prepare(self) -> None:
        """Build what looking up a word or a place takes, in a thread."""
        _ = self._hashes, self._word_of_cell

    def weighted_words_at(
        self, places: NDArray[np.integer[Any]], limit: int | None, *, in_text_order: bool = False
    ) -> list[tuple[str, int]]:
        holding = self.holding(places)
        found = np.flatnonzero(holding if in_text_order else holding[self._by_weight])[:limit]
        found = found if in_text_order else self._by_weight[found]
        words = self.input.words
        return [(words[i], n) for i, n in zip(found.tolist(), self.input.weights[found].tolist(), strict=True)]

    def holding(self, places: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        holding = np.zeros(len(self.input.weights), dtype=np.bool_)
        holding[self._word_of_cell[places]] = True
        return holding

    # Built when first used: a training without a window needs none of them.

    @cached_property
    def _by_weight(self) -> NDArray[np.int64]:
        return np.argsort(-self.input.weights, kind="stable")

    @cached_property
    def _word_of_cell(self) -> NDArray[np.int32]:
        """The word of each cell; a separator belongs to the word after it, the last one to no word."""
        return repeated(np.arange(len(self.input.weights), dtype=np.int32), self.input.word_lengths + 1)

    @cached_property
    def _hashes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The hashes of all words, ascending, and the word of each: a dictionary takes five times as long to build."""
        words = self.input.words
        hashes = hashes_of(words)
        order = np.argsort(hashes)
        return hashes[order], order


def initial_boundaries(input_: TrainingInput) -> NDArray[np.int32]:
    """Return NEVER for every cell, but 0 inside initial symbols, where there never was a boundary."""
    boundaries = np.full(len(input_.cells), NEVER, dtype=np.int32)
    if input_.inside is not None:
        boundaries[input_.inside] = 0
        return boundaries
    widths = np.array([len(symbol.text) for symbol in input_.symbols])
    if widths.max() == 1:
        return boundaries
    ends = input_.word_starts + input_.word_lengths
    last = widths[input_.cells[ends - 1]]
    for offset in range(1, int(last.max())):
        boundaries[ends[last > offset] - offset] = 0
    return boundaries


def places_of_boundaries(boundary_steps: NDArray[np.int32], merges: int) -> HistoryPlaces:
    """Return the places of the first merges, made from nothing but the step that removed each boundary.

    When a boundary is removed, the left symbol reaches back to the nearest boundary that is removed later or never.
    """
    gone = np.flatnonzero(boundary_steps <= merges)  # also those that never were, with step 0
    back = np.arange(-1, len(boundary_steps) - 1, dtype=np.int32)
    waiting = gone[boundary_steps[back[gone]] <= boundary_steps[gone]]
    while len(waiting):
        back[waiting] = back[back[waiting]]  # between the two, all boundaries are removed earlier
        waiting = waiting[boundary_steps[back[waiting]] <= boundary_steps[waiting]]
    steps = boundary_steps[gone]
    in_order = gone[np.argsort(steps, kind="stable")][np.count_nonzero(steps == 0) :]
    counts = np.bincount(steps, minlength=merges + 1)[1:]
    places = back[in_order]
    firsts = np.cumsum(counts) - counts
    return HistoryPlaces(counts, in_order[firsts] - places[firsts], places)
