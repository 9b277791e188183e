"""Byte pair encoding as the Studio trains it: the merges of a training by counts, applied to the words of a text.

Beside it, another way to cut words with the same tokens: the longest one first, wherever it stands; and, for the
window, the tokenizer of any step of a training.

Not here: byte pair encodings from elsewhere, run by their own library (`libraries`), and files (`storage.bpe_files`).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer, text_of_letters
from wordpiece_studio.tokenizer.encoding import UnknownReason, UnknownToken, checked_ids, checked_text
from wordpiece_studio.tokenizer.tokenizer import PositionTrace, Tokenizer, Trial, WordEncoder, WordMatch, WordTrace
from wordpiece_studio.tokenizer.vocabulary import AddedToken, AddedTokenFinder, TextReading, Vocabulary, roles_of

if TYPE_CHECKING:
    EndOfWord = Literal["symbol", "attached"]


class _Symbol(NamedTuple):
    token: str
    start: int
    end: int


class BpeTokenizer(WordEncoder):
    """Tokenizes text by merges: in each word always the pair that comes first in their list, from the left.

    Parameters
    ----------
    vocab
        The id of each token; contains every symbol that is merged and every result of a merge.
    merges
        Pairs of symbols, in the order in which they are merged.
    normalizer, pre_tokenizer
        How text is split into words; names or objects.
    special_tokens, user_tokens
        Tokens that are found in a text before anything else. Decoding leaves out the special ones.
    unk_token
        Stands for an unknown symbol; if None, the symbol is left out, and its neighbours may merge.
    end_of_word_suffix, end_of_word
        Appended to the last character of each word, or if it is a ``"symbol"``, put after that as a symbol of its own.
    roles
        The special token that has each role, such as ``"pad_token"``. None: those with well-known names.

    Raises
    ------
    StudioError
        If a token or the result of a merge is not in the vocabulary, or something else is wrong.

    >>> vocab = {"h": 0, "u": 1, "g": 2, "ug": 3, "hug": 4}
    >>> BpeTokenizer(vocab, [("u", "g"), ("h", "ug")], "none", "whitespace").encode("hugu gu").tokens
    ['hug', 'u', 'g', 'u']
    """

    kind = "BPE"

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Iterable[tuple[str, str]],
        normalizer: str | Normalizer | None,
        pre_tokenizer: str | PreTokenizer,
        *,
        special_tokens: Sequence[str] = (),
        user_tokens: Sequence[str] = (),
        unk_token: str | None = None,
        end_of_word_suffix: str = "",
        end_of_word: EndOfWord = "attached",
        roles: Mapping[str, str] | None = None,
    ) -> None:
        if not isinstance(vocab, Mapping):
            raise StudioError(
                "{value} is not a vocabulary", "Pass a mapping of tokens to IDs.", value=repr(vocab)[:100]
            )
        if end_of_word not in ("symbol", "attached"):
            advice = "Choose symbol or attached."
            raise StudioError("Invalid end of word: {value}", advice, value=repr(end_of_word)[:100])
        self.vocab = self._id_by_token = dict(vocab)
        self.special_tokens = tuple(special_tokens)
        self.user_tokens = tuple(user_tokens)
        self.unk_token = unk_token
        self.end_of_word_suffix = end_of_word_suffix
        self.end_of_word = end_of_word
        self.pipeline = Pipeline(resolve_normalizer(normalizer).kept, resolve_pre_tokenizer(pre_tokenizer))
        self._ranks = _ranks_of(merges)
        suffixes = [end_of_word_suffix] if end_of_word_suffix and end_of_word == "symbol" else []
        named = [*self.special_tokens, *self.user_tokens, *([] if unk_token is None else [unk_token]), *suffixes]
        self._check_known([*named, *map("".join, self._ranks)])
        self._tokens = {token_id: token for token, token_id in self.vocab.items()}
        self.roles = roles_of(self.vocab, {}) if roles is None else dict(roles)
        added = [AddedToken(token, special=True) for token in self.special_tokens]
        self.reading = TextReading(self.pipeline, (*added, *map(AddedToken, self.user_tokens)))
        self._finder = AddedTokenFinder.of(self.reading.added_tokens)
        self._begin()

    def _check_known(self, tokens: Iterable[str]) -> None:
        missing = next((token for token in tokens if token not in self.vocab), None)
        if missing is not None:
            advice = "Add it, or leave out what needs it."
            raise StudioError("The token {token} is not in the vocabulary", advice, token=repr(missing)[:100])

    def __repr__(self) -> str:
        return f"<BpeTokenizer: {len(self.vocab):,} tokens, {len(self._ranks):,} merges>"

    def _definition(self) -> tuple[Any, ...]:
        return self.vocab, self._ranks, self.unk_token, self.end_of_word_suffix, self.end_of_word, self.reading

    @property
    def merges(self) -> list[tuple[str, str]]:
        """The pairs, in the order in which they are merged."""
        return list(self._ranks)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text that `ids` stand for, as far as it can be determined: without a suffix word ends are unknown.

        Raises
        ------
        StudioError
            If no token has one of the ids.
        """
        ids = checked_ids(ids)
        unknown = next((number for number in ids if number not in self._tokens), None)
        if unknown is not None:
            raise StudioError("No token has the ID {id}", "Leave it out.", id=str(unknown)[:30])
        tokens = [self._tokens[number] for number in ids]
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in self.special_tokens]
        suffix = self.end_of_word_suffix
        if self.pipeline.pre_tokenizer.is_byte_level:
            return text_of_letters(token.removesuffix(suffix) for token in tokens)
        return "".join(tokens).replace(suffix, " ").rstrip(" ") if suffix else " ".join(tokens)

    def _cut(self, word: str) -> WordMatch:
        symbols = self._symbols_in(word)
        tokens = tuple(symbol.token for symbol in symbols)
        spans = tuple((start, end) for _, start, end in symbols)
        return WordMatch(tokens, tuple(self.vocab[token] for token in tokens), spans, None)

    def _symbols_in(self, word: str) -> list[_Symbol]:
        symbols = _symbols(word, self.vocab, self.unk_token, self.end_of_word_suffix, self.end_of_word)
        return _after_merges(symbols, self._ranks)[0]


def _ranks_of(merges: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    wrong = StudioError("Merges must be pairs of tokens", "Pass a list of pairs.")
    try:
        ranks = {(left, right): rank for rank, (left, right) in enumerate(merges)}
    except (TypeError, ValueError):
        raise wrong from None
    if not all(isinstance(token, str) for pair in ranks for token in pair):
        raise wrong
    return ranks


def _symbols(
    word: str, known: Container[str], unk_token: str | None, suffix: str, end_of_word: EndOfWord
) -> list[_Symbol]:
    is_attached = end_of_word == "attached"
    symbols = []
    for start, character in enumerate(word):
        symbol = character + suffix if is_attached and start == len(word) - 1 else character
        if symbol in known:
            symbols.append(_Symbol(symbol, start, start + 1))
        elif unk_token is not None:
            reason = UnknownReason("symbol", start, symbol)
            symbols.append(_Symbol(UnknownToken(unk_token, reason), start, start + 1))
    if suffix and not is_attached:
        symbols.append(_Symbol(suffix, len(word), len(word)))
    return symbols


def _after_merges(
    symbols: list[_Symbol], ranks: Mapping[tuple[str, str], int], last: float = math.inf
) -> tuple[list[_Symbol], list[int]]:
    """Return symbols after all merges up to rank `last`, always the lowest one next, from the left; and their ranks."""
    merged: list[_Symbol | None] = [*symbols]  # None where a symbol was merged into the one before it
    done: list[int] = []
    after = [*range(1, len(symbols) + 1)]
    before = [*range(-1, len(symbols))]
    queue: list[tuple[int, int, str, str]] = []  # rank, position of the left symbol, both symbols

    def offer(left: int) -> None:
        right = after[left] if left >= 0 else len(merged)
        if right < len(merged) and (first := merged[left]) and (second := merged[right]):
            rank = ranks.get((first.token, second.token))
            if rank is not None and rank <= last:
                heapq.heappush(queue, (rank, left, first.token, second.token))

    for left in range(len(symbols)):
        offer(left)
    while queue:
        rank, left, *pair = heapq.heappop(queue)
        right = after[left]
        first, second = merged[left], merged[right] if right < len(merged) else None
        if first is None or second is None or [first.token, second.token] != pair:
            continue  # one of the two has been merged in the meantime
        merged[left] = _Symbol(first.token + second.token, first.start, second.end)
        merged[right] = None
        done.append(rank)
        after[left] = after[right]
        before[after[left]] = left
        offer(before[left])
        offer(left)
    return [symbol for symbol in merged if symbol is not None], done


class TokenizerByMerges(Tokenizer):
    """Finds words as any `Tokenizer` does, but cuts them by the merges that a training has done up to `step`.

    `steps` are those at which each pair was merged first, see `MergeHistory.pair_steps`; they may go on after `step`.
    """

    is_cut_by_tokens = False

    def __init__(
        self,
        vocabulary: Vocabulary,
        normalizer: Normalizer,
        pre_tokenizer: PreTokenizer,
        *,
        steps: Mapping[tuple[str, str], int],
        step: int,
        end_of_word: EndOfWord,
    ) -> None:
        super().__init__(vocabulary, normalizer, pre_tokenizer)
        self._steps = steps
        self._step = step
        self._end_of_word = end_of_word

    def _definition(self) -> tuple[Any, ...]:
        return *super()._definition(), self._steps, self._step, self._end_of_word

    def changing_steps(self, word: str, last: int) -> tuple[int, list[int]]:
        """Return how many symbols a word has at first, and the steps up to `last` that merge two of them."""
        symbols = self._symbols_of(word)
        # A pair may come about, by a later merge, only after others of its kind were merged.
        steps = list(accumulate(_after_merges(symbols, self._steps, last)[1], max))
        earlier = sum(step < 1 for step in steps)  # of a training that this one went on from
        return len(symbols) - earlier, steps[earlier:]

    def explain(self, word: str) -> WordTrace:
        """Return each token of `word`, after the longer one that it and the next token would be."""
        match = self.match(checked_text(word))
        positions = []
        for place, (token, (start, _)) in enumerate(zip(match.tokens, match.spans, strict=True)):
            following = match.tokens[place + 1 : place + 2]
            both = token + "".join(each for each in following if not isinstance(each, UnknownToken))
            if isinstance(token, UnknownToken):
                positions.append(PositionTrace(start, (Trial(token.reason.symbol, False),), None))
                continue
            longer = [] if both == token or both in self.vocabulary else [Trial(both, False)]
            positions.append(PositionTrace(start, (*longer, Trial(token, True)), token))
        return WordTrace(word, tuple(positions), match.tokens, match.unknown)

    def _symbols_of(self, word: str) -> list[_Symbol]:
        vocabulary = self.vocabulary
        unknown = vocabulary.unk_token if vocabulary.unk_token in vocabulary else None
        return _symbols(word, vocabulary, unknown, vocabulary.end_of_word_suffix or "", self._end_of_word)

    def _cut(self, word: str) -> WordMatch:
        symbols, _ = _after_merges(self._symbols_of(word), self._steps, self._step)
        if not symbols:
            return self._unknown(word, UnknownReason("symbol", 0, word[:1]))
        tokens, starts, ends = (list(column) for column in zip(*symbols, strict=True))
        starts[0] = 0  # also if a symbol before it is left out
        if ends[-1] == len(word) and self.vocabulary.end_of_word_suffix:
            ends[-1] += 1  # the suffix counts as one character
        spans = zip(starts, ends, strict=True)
        return WordMatch(tuple(tokens), tuple(map(self._id, tokens)), tuple(spans), None)


class LongestFirstTokenizer(BpeTokenizer):
    """Tokenizes with the tokens of a byte pair encoding, but without its merges: the longest token first.

    This is the encoder of an article, "BPE, WordPiece, Unigram and SentencePiece". A word that was trained on is cut as
    the training left it. In any other, the longest token is sought, wherever it stands, of equally long ones the most
    frequent; then, in what is left and right of it, the tokens that come after it. What remains is unknown. As
    published, the mark at the end of a word counts as one character of a token, but may be cut like any other text, and
    a token with a full stop is hardly ever found, because it is sought as ``[.]``.

    Parameters
    ----------
    vocab, normalizer, pre_tokenizer, special_tokens, unk_token, end_of_word_suffix
        As for `BpeTokenizer`.
    frequencies
        How often each token occurs in the corpus, in order of first occurrence; only these are sought.
    stored
        Returns the tokens of a word that was trained on, and None for any other; None if there are no such words.

    >>> vocab = {"</u>": 0, "low</w>": 1, "e": 2, "r": 3}
    >>> tokenizer = LongestFirstTokenizer(
    ...     vocab, {"e": 2, "r": 1, "low</w>": 1}, "none", "whitespace", unk_token="</u>", end_of_word_suffix="</w>"
    ... )
    >>> tokenizer.encode("slow").tokens
    ['</u>', 'low</w>']
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        frequencies: Mapping[str, int],
        normalizer: str | Normalizer | None,
        pre_tokenizer: str | PreTokenizer,
        *,
        special_tokens: Sequence[str] = (),
        unk_token: str | None = None,
        end_of_word_suffix: str = "",
        stored: Callable[[str], Sequence[str] | None] | None = None,
    ) -> None:
        suffix = end_of_word_suffix
        others: Any = {"special_tokens": special_tokens, "unk_token": unk_token, "end_of_word_suffix": suffix}
        super().__init__(vocab, (), normalizer, pre_tokenizer, **others)
        self._check_known(frequencies)
        self._stored = stored
        lengths = {token: len(token.removesuffix(suffix)) + bool(suffix and token.endswith(suffix)) for token in vocab}
        self.tokens_sought = sorted(frequencies, key=lambda token: (-lengths[token], -frequencies[token]))
        self._sought = {token.replace(".", "[.]"): place for place, token in enumerate(self.tokens_sought)}
        self._longest = max(map(len, self._sought), default=0)

    def __repr__(self) -> str:
        return f"<LongestFirstTokenizer: {len(self.tokens_sought):,} tokens>"

    def _definition(self) -> tuple[Any, ...]:
        return *super()._definition(), self.tokens_sought, self._stored

    def tokens_of_unknown(self, word: str) -> list[str]:
        """Return the tokens of a word as if it had not been trained on; its end need not be marked."""
        return [symbol.token for symbol in self._found_in(word)]

    def order_found(self, word: str) -> list[str] | None:
        """Return the tokens found in a word, the first one first; None for a word that was trained on."""
        if self._stored is not None and self._stored(word) is not None:
            return None
        found = set(self.tokens_of_unknown(word))
        return [token for token in self.tokens_sought if token in found]

    def _symbols_in(self, word: str) -> list[_Symbol]:
        stored = None if self._stored is None else self._stored(word)
        return self._found_in(word) if stored is None else _laid_out(stored, len(word))

    def _found_in(self, word: str) -> list[_Symbol]:
        """Return the tokens that are found in a word and the stretches between them, which are unknown."""
        text = word + self.end_of_word_suffix
        stretches = (
            text[start:end] for start in range(len(text)) for end in range(start + 1, start + self._longest + 1)
        )
        places = sorted({self._sought[stretch] for stretch in stretches if stretch in self._sought})
        parts = [_Symbol("", 0, len(text))]  # without a token as long as none is found in it
        for token in map(self.tokens_sought.__getitem__, places):
            parts = [piece for part in parts for piece in ([part] if part.token else _cut_out(token, part, text))]
        symbols = []
        for part, start, end in parts:
            token = part
            if not part and self.unk_token is not None:
                token = UnknownToken(self.unk_token, UnknownReason("symbol", start, text[start:end]))
            if token:
                symbols.append(_Symbol(token, min(start, len(word)), min(end, len(word))))
        return symbols


class TokenizerInWindow(Tokenizer):
    """Finds words as any `Tokenizer` does, but has them cut by a `BpeTokenizer`, of whatever kind: its `encoder`."""

    can_explain = is_cut_by_tokens = False

    def __init__(self, vocabulary: Vocabulary, encoder: BpeTokenizer) -> None:
        super().__init__(vocabulary, encoder.pipeline.normalizer, encoder.pipeline.pre_tokenizer)
        self.encoder = encoder

    def _definition(self) -> tuple[Any, ...]:
        return *super()._definition(), self.encoder

    def _cut(self, word: str) -> WordMatch:
        return self.encoder.match(word)


def _cut_out(token: str, part: _Symbol, text: str) -> Iterator[_Symbol]:
    sought, start = token.replace(".", "[.]"), part.start
    place = text.find(sought, start, part.end)
    while place >= 0:
        if place > start:
            yield _Symbol("", start, place)
        start = place + len(token)
        yield _Symbol(token, place, start)
        place = text.find(sought, place + len(sought), part.end)
    if start < part.end:
        yield _Symbol("", start, part.end)


def _laid_out(tokens: Sequence[str], length: int) -> list[_Symbol]:
    places = pairwise(min(end, length) for end in accumulate(map(len, tokens), initial=0))
    return [_Symbol(token, *place) for token, place in zip(tokens, places, strict=True)]
