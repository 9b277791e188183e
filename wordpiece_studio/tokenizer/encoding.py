"""Encodings, and what models expect of them: pairs, special tokens around the texts, truncation and padding.

Everything means what it means in `tokenizers` and `transformers`. Not here: how a text is tokenized (`tokenizer`,
`bpe_tokenizer`), and whole corpora to arrays of ids (`corpus_encoding`).
"""

from __future__ import annotations

import operator
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, TypedDict, TypeVar, get_args, overload

from wordpiece_studio.corpus.texts import checked_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import shortened
from wordpiece_studio.tokenizer.vocabulary import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Unpack

_T = TypeVar("_T")

Truncation = Literal["longest_first", "only_first", "only_second", "do_not_truncate"]
Padding = Literal["longest", "max_length", "do_not_pad"]

Role = Literal["pad_token", "cls_token", "sep_token"]

NO_ID = -1
"""The id of the unknown token if the vocabulary has none."""
_INTERVAL_SECONDS = 0.05  # between two reports of the progress
_A_TEXT = 'Give a str; bytes must be decoded first, as by .decode("utf-8").'


class EncodingStopped(StudioError):
    """Raised when the caller's `should_stop` returns True; no ids are kept."""

    def __init__(self) -> None:
        super().__init__("Encoding was stopped")


class Stretch(NamedTuple):
    """Adjacent tokens of an encoding that have everything but the text in common.

    `type_id` is 0 for the first text and 1 for the second; `is_special`: added around the texts, or padding.
    """

    length: int
    type_id: int = 0
    is_special: bool = False
    is_padding: bool = False


@dataclass(frozen=True, slots=True)
class UnknownReason:
    """Why a word became the unknown token.

    `kind` is ``"symbol"`` if at character `position` of the word not even `symbol` (prefix included) is in the
    vocabulary, or ``"too-long"`` if the word has more characters than the tokenizer accepts.
    """

    kind: Literal["symbol", "too-long"]
    position: int
    symbol: str


class UnknownToken(str):
    """The unknown token in place of a word: equal to its text, and with the `reason` why the word is unknown."""

    __slots__ = ("reason",)
    reason: UnknownReason

    def __new__(cls, token: str, reason: UnknownReason) -> Self:  # noqa: D102
        unknown = super().__new__(cls, token)
        unknown.reason = reason
        return unknown

    def __getnewargs__(self) -> tuple[str, UnknownReason]:  # type: ignore[override]  # str has no second argument
        return str(self), self.reason


@dataclass(frozen=True, slots=True)
class Encoding:
    """A tokenized text, or a pair of texts; all lists have one entry per token.

    Attributes
    ----------
    tokens, ids
        The tokens and their ids in the vocabulary; an unknown word has NO_ID if the vocabulary has no unknown token.
        The token of an unknown word is an `UnknownToken`, which has the reason.
    offsets
        (start, end) of each token in its original text, in code points, end exclusive; (0, 0) for an added token.
    words
        The index of the word that each token belongs to, in its text; None for an added token.
    overflowing
        What truncation cut off, in encodings of the same form; each repeats the last `stride` tokens of the one before.
    stretches
        What the masks and type ids are made of; empty for a text to which nothing was added.

    >>> encoding = Encoding(["hug", "##s"], [7, 3], [(0, 3), (3, 4)], [0, 0])
    >>> encoding.attention_mask, encoding.special_tokens_mask
    ([1, 1], [0, 0])
    """

    tokens: list[str]
    ids: list[int]
    offsets: list[tuple[int, int]]
    words: Sequence[int | None]
    overflowing: tuple[Encoding, ...] = ()
    stretches: tuple[Stretch, ...] = ()

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<Encoding of {len(self):,} tokens: {shortened(self.tokens)}>"

    def _repr_html_(self) -> str:
        from wordpiece_studio.notebook import encoding_html  # it needs this module

        return encoding_html(self)

    @property
    def type_ids(self) -> list[int]:
        """0 for the first text with its special tokens and for padding, 1 for the second text with its own."""
        return self._spread(lambda stretch: stretch.type_id)

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all other tokens."""
        return self._spread(lambda stretch: int(not stretch.is_padding))

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for added special tokens and padding; 0 for tokens of the texts, even special ones spelled out there."""
        return self._spread(lambda stretch: int(stretch.is_special))

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the first text, 1 for those of the second, None for added ones."""
        return self._spread(lambda stretch: None if stretch.is_special else stretch.type_id)

    def _spread(self, value: Callable[[Stretch], _T]) -> list[_T]:
        values: list[_T] = []
        for stretch in self.stretches or (Stretch(len(self)),):
            values += [value(stretch)] * stretch.length
        return values


class EncodingOptions(TypedDict, total=False):
    """The options of `Encoder.encode`, which explains them."""

    add_special_tokens: bool
    truncation: bool | Truncation | None
    max_length: int | None
    stride: int
    padding: bool | Padding | None
    pad_to_multiple_of: int | None
    progress: Callable[[int, int], None] | None
    should_stop: Callable[[], bool] | None


class Encoder(ABC):
    """What makes encodings of texts in the form that a model expects.

    Attributes
    ----------
    model_max_length
        The most tokens that the model takes, and the length to use where none is given; None if it is unknown.
    """

    model_max_length: int | None = None

    @abstractmethod
    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if there is no such token."""

    @abstractmethod
    def _encoding_of(self, text: str) -> Encoding:
        """Return the tokens of one text, with nothing added."""

    @overload
    def encode(  # type: ignore[overload-overlap]  # a str is a collection of str too, but the first one applies
        self, text: str, pair: str | None = None, **options: Unpack[EncodingOptions]
    ) -> Encoding: ...

    @overload
    def encode(
        self,
        text: Iterable[str] | Iterable[tuple[str, str]],
        pair: Iterable[str] | None = None,
        **options: Unpack[EncodingOptions],
    ) -> list[Encoding]: ...

    def encode(
        self,
        text: str | Iterable[str] | Iterable[tuple[str, str]],
        pair: str | Iterable[str] | None = None,
        **options: Unpack[EncodingOptions],
    ) -> Encoding | list[Encoding]:
        """Return the tokens of a text, or of each of many; the options mean what they mean in `transformers`.

        Parameters
        ----------
        text
            A text, or several: a list, a generator, a column of a table; or a list of tuples of two texts.
        pair
            The second text, or as many second texts as there are texts.
        add_special_tokens : bool, default False
            Whether to add what BERT expects: ``[CLS] A [SEP]``, or ``[CLS] A [SEP] B [SEP]`` for a pair. A vocabulary
            with RoBERTa's names has ``<s>`` for ``[CLS]`` and ``</s>`` for ``[SEP]``.
        truncation : bool or str, optional
            What to shorten if there are more than `max_length` tokens: ``"longest_first"``, or True, the longer text;
            or ``"only_first"``, or ``"only_second"``. What is cut off goes to `Encoding.overflowing`. If it is not
            given, a `max_length` without padding truncates too.
        max_length : int, optional
            The most tokens, special ones included. If it is needed and not given, it is `model_max_length`.
        stride : int, default 0
            How many tokens each overflowing encoding repeats of the one before.
        padding : bool or str, default False
            Whether to add padding tokens: ``"longest"``, or True, until all encodings are as long as the longest; or
            ``"max_length"``.
        pad_to_multiple_of : int, optional
            The length of padded encodings is rounded up to a multiple of this.
        progress : callable, optional
            Called now and then with how many texts are done, and how many there are.
        should_stop : callable, optional
            Called now and then; if it returns True, `EncodingStopped` is raised.

        Raises
        ------
        StudioError
            If something is not a text, an option is out of range or contradicts another, the vocabulary lacks a token
            to add, or a text cannot be truncated as asked.

        >>> from wordpiece_studio import Tokenizer, Vocabulary
        >>> special_tokens = ["[PAD]", "[CLS]", "[SEP]"]
        >>> tokenizer = Tokenizer(Vocabulary([*special_tokens, "hug", "##s"], special_tokens))
        >>> first, second = tokenizer.encode(["hugs", "hug"], add_special_tokens=True, padding=True)
        >>> second.tokens, second.attention_mask
        (['[CLS]', 'hug', '[SEP]', '[PAD]'], [1, 1, 1, 0])
        """
        if pair is None and not options and isinstance(text, str):
            return self._encoding_of(text)
        if options.get("max_length") is None and _needs_length(options):
            options["max_length"] = self.model_max_length
        return _encoded(self._encoding_of, self._special_token, text, pair, **options)

    @abstractmethod
    def _spans_of(self, word: str) -> Sequence[tuple[str, int, int]]:
        """Return each token of a word, with (start, end) in the word's characters."""

    def encode_words(self, words: Iterable[str]) -> list[Encoding]:
        """Return the tokens of each word, which is neither normalized nor split; the offsets are those in the word."""
        encodings = []
        for word in words:
            spans = self._spans_of(word)
            tokens = [token for token, _, _ in spans]
            ids = [NO_ID if (found := self.id_of(token)) is None else found for token in tokens]
            encodings.append(Encoding(tokens, ids, [(start, end) for _, start, end in spans], [0] * len(tokens)))
        return encodings

    def _token_with(self, role: Role) -> str | None:
        """Return the token that has a role, if any has it."""
        return next((name for name in ROLES[role] if self.id_of(name) is not None), None)

    def _special_token(self, role: Role) -> _Special:
        token = self._token_with(role)
        token_id = None if token is None else self.id_of(token)
        if token is None or token_id is None:
            advice = "Encode without padding." if role == "pad_token" else "Encode without adding special tokens."
            raise StudioError("The vocabulary has no {token} to add", advice, token=token or ROLES[role][0])
        return _Special(token, token_id)


class _Special(NamedTuple):
    """A special token and its id."""

    token: str
    id: int

    def times(self, count: int) -> Encoding:
        return Encoding([self.token] * count, [self.id] * count, [(0, 0)] * count, [None] * count)


def watched(
    texts: Iterable[_T],
    progress: Callable[[int, int], None] | None,
    should_stop: Callable[[], bool] | None,
    total: int | None,
) -> Iterator[_T]:
    """Yield texts; now and then report how many of `total`, if that is known, were taken, and ask whether to stop.

    Raises
    ------
    EncodingStopped
        If `should_stop` returned True.
    """
    next_look = 0.0
    for done, text in enumerate(texts):
        if time.monotonic() >= next_look:
            if should_stop is not None and should_stop():
                raise EncodingStopped
            if progress is not None and total is not None:
                progress(done, total)
            next_look = time.monotonic() + _INTERVAL_SECONDS
        yield text
    if progress is not None and total is not None:
        progress(total, total)


def _checked(text: object, number: int) -> str:
    if not isinstance(text, str):
        raise StudioError("Text {number} is not a text but {item}", _A_TEXT, number=number, item=_shown(text))
    return text


def _encoded(
    encoding_of: Callable[[str], Encoding],
    special_token: Callable[[Role], _Special],
    text: object,
    pair: object,
    *,
    add_special_tokens: bool = False,
    truncation: bool | Truncation | None = None,
    max_length: int | None = None,
    stride: int = 0,
    padding: bool | Padding | None = False,
    pad_to_multiple_of: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Encoding | list[Encoding]:
    """Return the result of `Encoder.encode`."""
    most = None if max_length is None else _whole("max_length", max_length, 1)
    pads: Padding = _choice("padding", padding, "longest", "do_not_pad", get_args(Padding))
    if truncation is None and most is not None and pads == "do_not_pad":
        truncation = True
    truncates: Truncation = _choice("truncation", truncation, "longest_first", "do_not_truncate", get_args(Truncation))
    if most is None and (truncates != "do_not_truncate" or pads == "max_length"):
        raise StudioError("Truncation, or padding to a length, needs a length", "Give max_length.")
    around = None
    if add_special_tokens:
        around = special_token("cls_token").times(1), special_token("sep_token").times(1)
    shape = _Shape(around, None if truncates == "do_not_truncate" else most, truncates, _whole("stride", stride, 0))
    multiple = 1 if pad_to_multiple_of is None else _whole("pad_to_multiple_of", pad_to_multiple_of, 1)
    if shape.most is not None and pads != "do_not_pad" and shape.most % multiple:
        raise StudioError(
            "Truncation to {length} tokens contradicts padding to a multiple of {multiple}",
            "Give a max_length that is a multiple of pad_to_multiple_of.",
            length=shape.most,
            multiple=multiple,
        )

    padding_token = None if pads == "do_not_pad" else special_token("pad_token")
    is_one = isinstance(text, str)
    pairs = _pairs([text] if is_one else text, [pair] if is_one and pair is not None else pair)
    encodings = [
        shape.of(encoding_of(first), None if second is None else encoding_of(second))
        for first, second in watched(pairs, progress, should_stop, len(pairs))
    ]
    if padding_token is not None and encodings:
        length = most if pads == "max_length" and most is not None else max(map(len, encodings))
        length += -length % multiple
        encodings = [_padded(encoding, length, padding_token) for encoding in encodings]
    return encodings[0] if is_one else encodings


def _needs_length(options: EncodingOptions) -> bool:
    """Return whether there must be a length to truncate or to pad to."""
    return options.get("padding") == "max_length" or options.get("truncation") not in (None, False, "do_not_truncate")


def _whole(name: str, value: object, least: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # NumPy's integers too
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        raise StudioError(
            "{name} is {value}", "Give a whole number of at least {least}.", name=name, value=_shown(value), least=least
        )
    return number


def _choice(name: str, value: object, if_true: _T, if_false: _T, choices: tuple[_T, ...]) -> _T:
    """Return what an option chooses."""
    if value is None or isinstance(value, bool):
        return if_true if value else if_false
    for choice in choices:
        if value == choice:
            return choice
    listed = ", ".join(map(str, choices))
    raise StudioError(
        "{name} is {value}", "Give {choices}, True or False.", name=name, value=_shown(value), choices=listed
    )


def _pairs(texts: object, seconds: object) -> list[tuple[str, str | None]]:
    """Return texts with their second texts, or None for those without one."""
    if seconds is None and isinstance(texts, list) and any(isinstance(text, tuple) for text in texts):
        texts, seconds = zip(*map(_parts, texts), strict=True)
    firsts = list(checked_texts(texts))
    if seconds is None:
        return [(text, None) for text in firsts]
    others = list(checked_texts(seconds))
    if len(firsts) != len(others):
        raise StudioError(
            "There are {texts:,} texts and {pairs:,} second texts",
            "Give as many of both.",
            texts=len(firsts),
            pairs=len(others),
        )
    return list(zip(firsts, others, strict=True))


def _parts(pair: object) -> tuple[object, object]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise StudioError(
            "{value} is not a pair of texts, as others are", "Give only texts, or only pairs.", value=_shown(pair)
        )
    return pair


def _shown(value: object) -> str:
    return repr(value)[:100]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What encodings of texts become before padding.

    Attributes
    ----------
    around
        The special tokens before the first and after each text; None for none.
    most
        How many tokens truncation leaves; None for all.
    truncation, stride
        As for `Encoder.encode`.
    """

    around: tuple[Encoding, Encoding] | None
    most: int | None
    truncation: Truncation
    stride: int

    def of(self, first: Encoding, second: Encoding | None) -> Encoding:
        """Return one or two texts truncated and between special tokens."""
        firsts: Sequence[Encoding] = [first]
        seconds: Sequence[Encoding | None] = [second]
        if self.most is not None:
            lengths = self._lengths_left(self.most, len(first), None if second is None else len(second))
            firsts = _windows(first, lengths[0], self.stride)
            seconds = [None] if second is None else _windows(second, lengths[1], self.stride)
        whole = self._joined(firsts[0], seconds[0])
        if len(firsts) == len(seconds) == 1:
            return whole
        overflowing = [self._joined(one, other) for one in firsts[1:] for other in seconds]
        overflowing += [self._joined(firsts[0], other) for other in seconds[1:]]
        return replace(whole, overflowing=tuple(overflowing))

    def _lengths_left(self, most: int, first: int, second: int | None) -> tuple[int, int]:
        """Return how many tokens truncation leaves of each text.

        Raises
        ------
        StudioError
            If the special tokens alone are too many, or the text that may be truncated is too short.
        """
        around = 0 if self.around is None else 2 if second is None else 3
        room = most - around
        if room < 0:
            raise StudioError(
                "There is no room for {count} special tokens in {length}",
                "Give a larger max_length.",
                count=around,
                length=most,
            )
        surplus = first + (second or 0) - room
        if surplus <= 0:
            return first, second or 0
        if room == 0:
            return 0, 0
        if self.truncation == "longest_first":
            return (room, 0) if second is None else _longest_first(first, second, room)
        is_first = self.truncation == "only_first"
        left = (first if is_first else second or 0) - surplus
        if left <= 0:
            raise StudioError(
                "No {which} text is long enough to be truncated until everything fits into {length} tokens",
                'Give a larger max_length, or truncation="longest_first".',
                which="first" if is_first else "second",
                length=most,
            )
        return (left, second or 0) if is_first else (first, left)

    def _joined(self, first: Encoding, second: Encoding | None) -> Encoding:
        if self.around is None and second is None:
            return first
        parts, stretches = [first], [Stretch(len(first))]
        if second is not None:
            parts.append(second)
            stretches.append(Stretch(len(second), 1))
        if self.around is not None:
            before, after = self.around
            parts = [before, *chain.from_iterable((part, after) for part in parts)]
            around = (Stretch(1, stretch.type_id, is_special=True) for stretch in stretches)
            stretches = [Stretch(1, is_special=True), *chain.from_iterable(zip(stretches, around, strict=True))]
        return Encoding(
            list(chain.from_iterable(part.tokens for part in parts)),
            list(chain.from_iterable(part.ids for part in parts)),
            list(chain.from_iterable(part.offsets for part in parts)),
            list(chain.from_iterable(part.words for part in parts)),
            stretches=tuple(stretches),
        )


def _longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how many tokens of two texts are left: all of the shorter one if it needs no more than half the room.

    >>> _longest_first(3, 9, 10), _longest_first(9, 3, 10), _longest_first(9, 9, 5)
    ((3, 7), (7, 3), (2, 3))
    """
    shorter = min(first, second, room // 2)
    longer = room - shorter
    return (shorter, longer) if first <= second else (longer, shorter)


def _windows(encoding: Encoding, length: int, stride: int) -> list[Encoding]:
    """Return a text in parts of at most `length` tokens, each beginning with the last `stride` tokens of the previous.

    Raises
    ------
    StudioError
        If they would have no other tokens.
    """
    if length >= len(encoding):
        return [encoding]
    if length == 0:
        return [_part(encoding, 0, 0), encoding]
    if stride >= length:
        raise StudioError(
            "A stride of {stride} is too long where truncation leaves {length} tokens of a text",
            "Give a smaller stride, or a larger max_length.",
            stride=stride,
            length=length,
        )
    step = length - stride
    return [_part(encoding, start, start + length) for start in range(0, len(encoding) - stride, step)]


def _part(encoding: Encoding, start: int, end: int) -> Encoding:
    part = slice(start, end)
    return Encoding(encoding.tokens[part], encoding.ids[part], encoding.offsets[part], encoding.words[part])


def _padded(encoding: Encoding, length: int, special: _Special) -> Encoding:
    padding = special.times(max(0, length - len(encoding)))
    return Encoding(
        encoding.tokens + padding.tokens,
        encoding.ids + padding.ids,
        encoding.offsets + padding.offsets,
        [*encoding.words, *padding.words],
        tuple(_padded(more, length, special) for more in encoding.overflowing),
        (*(encoding.stretches or (Stretch(len(encoding)),)), Stretch(len(padding), 0, True, True)),
    )
