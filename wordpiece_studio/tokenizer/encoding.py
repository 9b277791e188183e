"""Encodings, and what models expect of them: pairs, special tokens around the texts, truncation and padding.

Everything means what it means in `tokenizers` and `transformers`. Not here: how a text is tokenized (`tokenizer`,
`bpe_tokenizer`), and whole corpora to arrays of ids (`corpus_encoding`).
"""

from __future__ import annotations

import operator
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypedDict, TypeVar, cast, get_args, overload

from wordpiece_studio.corpus.decoding import checked_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import shortened
from wordpiece_studio.tokenizer.vocabulary import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.vocabulary import TextReading

    WordCut = tuple[Sequence[str], Sequence[int], Sequence[tuple[int, int]]]
    """Tokens of a word, their ids, and (start, end) in its characters."""

_T = TypeVar("_T")

Truncation = Literal["longest_first", "only_first", "only_second", "do_not_truncate"]
Padding = Literal["longest", "max_length", "do_not_pad"]

Side = Literal["right", "left"]
Role = Literal["pad_token", "cls_token", "sep_token"]

_INTERVAL_SECONDS = 0.05  # between two reports of the progress
_A_TEXT = 'Pass a str; bytes must be decoded first, as by .decode("utf-8").'


class EncodingStopped(StudioError):
    """Raised when the caller's `should_stop` returns True; no ids are kept."""

    def __init__(self) -> None:
        super().__init__("Encoding was stopped")


class Special(NamedTuple):
    tokens: tuple[str, ...]
    ids: tuple[int, ...]


class TemplatePart(NamedTuple):
    """A part of a template.

    `sequence` is 0 where the first text stands and 1 for the second; None for special tokens. What overflows of a text
    may have another type, as it does in the library.
    """

    sequence: int | None
    type_id: int = 0
    overflowing_type_id: int = 0
    special: Special = Special((), ())


class Template(NamedTuple):
    """What becomes of a text, and of two, in order: each stands there once.

    >>> Template.around(Special(("[CLS]",), (2,)), Special(("[SEP]",), (3,))).without_special() == Template()
    True
    """

    single: tuple[TemplatePart, ...] = (TemplatePart(0),)
    pair: tuple[TemplatePart, ...] = (TemplatePart(0), TemplatePart(1, 1, 1))

    @classmethod
    def around(cls, first: Special, last: Special, between: int = 1, second_type: int = 1) -> Template:
        """Return that of BERT: a class token, and a separator after each text; others have two `between` the texts."""
        single = (TemplatePart(None, special=first), TemplatePart(0), TemplatePart(None, special=last))
        separator = TemplatePart(None, second_type, special=last)
        second = TemplatePart(1, second_type, second_type)
        return cls(single, (*single, *[separator] * (between - 1), second, separator))

    @classmethod
    def of(cls, value: Any) -> Template | None:
        """Return the template that a ``post_processor`` describes; None if there is none that does the same.

        >>> Template.of({"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}).single[0].special
        Special(tokens=('[CLS]',), ids=(2,))
        """
        match value:
            case None | {"type": "ByteLevel"}:  # the second only moves offsets
                return cls()
            case {"type": "Sequence", "processors": [*steps]}:
                others = [step for step in steps if not (isinstance(step, dict) and step.get("type") == "ByteLevel")]
                return cls() if not others else cls.of(others[0]) if len(others) == 1 else None
            case {
                "type": "BertProcessing" | "RobertaProcessing" as kind,
                "cls": [str(first), first_id],
                "sep": [str(last), last_id],
            } if _are_numbers([first_id, last_id]):
                around = Special((first,), (first_id,)), Special((last,), (last_id,))
                return cls.around(*around) if kind == "BertProcessing" else cls.around(*around, 2, 0)
            case {"type": "TemplateProcessing", "single": [*single], "pair": [*pair], "special_tokens": dict(special)}:
                found = cls(_template_parts(single, special), _template_parts(pair, special))
                return found if [*map(_texts, found)] == [[0], [0, 1]] else None
        return None

    def without_special(self) -> Template:
        parts = (
            tuple(part._replace(overflowing_type_id=part.sequence) for part in parts if part.sequence is not None)
            for parts in self
        )
        return Template(*parts)

    @property
    def special_tokens(self) -> list[tuple[str, int]]:
        return [pair for parts in self for part in parts for pair in zip(*part.special, strict=True)]


def _template_parts(steps: Iterable[Any], special: Mapping[str, Any]) -> tuple[TemplatePart, ...]:
    parts = []
    for step in steps:
        match step:
            case {"Sequence": {"id": "A" | "B" as name, "type_id": type_id}} if _are_numbers([type_id]):
                parts.append(TemplatePart("AB".index(name), type_id, "AB".index(name)))
            case {"SpecialToken": {"id": str(name), "type_id": type_id}} if _are_numbers([type_id]) and (
                found := _special_tokens(special.get(name))
            ):
                parts.append(TemplatePart(None, type_id, special=found))
            case _:
                return ()
    return tuple(parts)


def _special_tokens(value: Any) -> Special | None:
    match value:
        case {"ids": [*ids], "tokens": [*tokens]} if len(ids) == len(tokens) and _are_numbers(ids):
            return Special(tuple(tokens), tuple(ids)) if all(isinstance(token, str) for token in tokens) else None
    return None


def _texts(parts: Iterable[TemplatePart]) -> list[int]:
    return sorted(part.sequence for part in parts if part.sequence is not None)


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(type(value) is int and 0 <= value < 1 << 32 for value in values)


class Stretch(NamedTuple):
    """Adjacent tokens of an encoding that have everything but the text in common.

    `sequence` is 0 for the first text and 1 for the second; None for what was added around them, and for padding.
    """

    length: int
    type_id: int = 0
    sequence: int | None = 0
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

    def __new__(cls, token: str, reason: UnknownReason) -> Self:
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
        The token of an unknown word is an `UnknownToken`, which has the reason. An added token is the text that it
        covers, as in `transformers`; only if it takes white space or is normalized, this is not its own spelling.
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
        from wordpiece_studio.notebook import encoding_html

        places = list(zip(self.sequence_ids, self.words, strict=True))  # both texts of a pair have a word 0
        return encoding_html(self.tokens, self.ids, self.offsets, places)

    @property
    def type_ids(self) -> list[int]:
        """0 for the first text with its special tokens and for padding, 1 for the second, unless a template differs."""
        return self._spread(lambda stretch: stretch.type_id)

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all other tokens."""
        return self._spread(lambda stretch: int(not stretch.is_padding))

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for added special tokens and padding; 0 for tokens of the texts, even special ones spelled out there."""
        return self._spread(lambda stretch: int(stretch.sequence is None))

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the first text, 1 for those of the second, None for added ones."""
        return self._spread(lambda stretch: stretch.sequence)

    def _spread(self, value: Callable[[Stretch], _T]) -> list[_T]:
        values: list[_T] = []
        for stretch in self.stretches or (Stretch(len(self)),):
            values += [value(stretch)] * stretch.length
        return values


class EncodedBlock(NamedTuple):
    """The ids of a block of text; `ends`: how many come before the end of each text that ends in it.

    `is_open`: the last text continues in the next block.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    is_open: bool


class EncodingOptions(TypedDict, total=False):
    add_special_tokens: bool
    truncation: bool | Truncation | None
    max_length: int | None
    stride: int
    padding: bool | Padding | None
    padding_side: Side | None
    pad_to_multiple_of: int | None
    progress: Callable[[int, int], None] | None
    should_stop: Callable[[], bool] | None


class Encoder(ABC):
    """What makes encodings of texts in the form that a model expects.

    Attributes
    ----------
    kind
        The type of its model: ``"WordPiece"``, ``"BPE"``, ``"Unigram"``, ``"WordLevel"`` or ``"SentencePiece"``.
    reading
        How it finds words, line by line; None if only its library knows: `words_of` then is what to count per.
    unk_token
        Stands for what the model does not know; None if it has no such token.
    roles
        The special token that has each role, by the name of the role, such as ``"pad_token"``.
    model_max_length
        The most tokens that the model takes, and the length to use where none is given; None if it is unknown.
    padding_side, truncation_side
        ``"right"`` or ``"left"``: where a text is padded unless an option says otherwise, and where it is cut off.
    """

    kind: str
    reading: TextReading | None
    words_of: TextReading | None = None
    unk_token: str | None
    model_max_length: int | None = None
    padding_side: Side = "right"
    truncation_side: Side = "right"
    _template: Template | None = None  # None: that of BERT
    roles: Mapping[str, str]
    _id_by_token: Mapping[str, int]

    @property
    def tokens(self) -> Sequence[str]:
        """All tokens in id order."""
        return sorted(self._id_by_token, key=self._id_by_token.__getitem__)

    def __len__(self) -> int:
        return len(self._id_by_token)

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if there is no such token."""
        return self._id_by_token.get(token)

    @abstractmethod
    def _encoding_of(self, text: str) -> Encoding: ...

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``."""
        return self.encode(text).ids

    def _encodings_of(self, texts: Sequence[str]) -> Iterator[Encoding]:
        return map(self._encoding_of, texts)

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
            The second text, or as many second texts as there are texts. One text has no empty second text, a list has.
        add_special_tokens : bool, default False
            Whether to add what the model expects. If the tokenizer was read from a file, that is what its
            ``post_processor`` says; else it is ``[CLS] A [SEP]``, or ``[CLS] A [SEP] B [SEP]`` for a pair, with the
            tokens that have these roles, whatever they are called.
        truncation : bool or str, optional
            What to shorten if there are more than `max_length` tokens: ``"longest_first"``, or True, the longer text;
            or ``"only_first"``, or ``"only_second"``. What is cut off, on the `truncation_side`, goes to
            `Encoding.overflowing`. If neither this nor `padding` is given, a `max_length` truncates too.
        max_length : int, optional
            The most tokens, special ones included. If it is needed and not given, it is `model_max_length`.
        stride : int, default 0
            How many tokens each overflowing encoding repeats of the one before.
        padding : bool or str, default False
            Whether to add padding tokens: ``"longest"``, or True, until all encodings are as long as the longest; or
            ``"max_length"``.
        padding_side : str, optional
            ``"right"`` or ``"left"``: where padding is added; `self.padding_side` if it is not given.
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
        if pair is None and not options and self._template is None and isinstance(text, str):
            return self._encoding_of(text)
        return _encoded(self, text, pair, **options)

    @abstractmethod
    def _cuts(self, words: Iterable[str]) -> Iterable[WordCut]: ...

    def encode_words(self, words: Iterable[str]) -> list[Encoding]:
        """Return the tokens of each word, which is neither normalized nor split; the offsets are those in the word."""
        return [Encoding([*tokens], [*ids], [*spans], [0] * len(tokens)) for tokens, ids, spans in self._cuts(words)]

    def template(self, add_special_tokens: bool = True) -> Template:
        """Return what becomes of a text, and of two: that of the file, or BERT's with the tokens of these roles.

        Raises
        ------
        StudioError
            If the vocabulary lacks one of them.
        """
        if self._template is not None:
            return self._template if add_special_tokens else self._template.without_special()
        if not add_special_tokens:
            return Template()
        return Template.around(self.special("cls_token"), self.special("sep_token"))

    def special(self, role: Role) -> Special:
        """Return the token with a role.

        Raises
        ------
        StudioError
            If no token in the vocabulary has it.
        """
        token = self.roles.get(role)
        token_id = None if token is None else self.id_of(token)
        if token is None or token_id is None:
            advice = "Encode without padding." if role == "pad_token" else "Encode without adding special tokens."
            raise StudioError("The vocabulary has no {token} to add", advice, token=token or ROLES[role][0])
        return Special((token,), (token_id,))


class LibraryEncoder(Encoder):
    @abstractmethod
    def count_words(self, texts: Iterable[str]) -> Iterator[tuple[str, tuple[int, ...], int]]:
        """Yield the words of texts as the library finds them, with their ids and counts; some words several times."""


def watched(
    texts: Iterable[_T],
    progress: Callable[[int, int], None] | None,
    should_stop: Callable[[], bool] | None,
    total: int | None,
) -> Iterator[_T]:
    """Yield texts; now and then report how many of `total`, if that is known, were taken, and ask whether to stop."""
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


def checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise StudioError("{value} is not a string", _A_TEXT, value=_shown(text))
    return text


def _encoded(
    encoder: Encoder,
    text: object,
    pair: object,
    *,
    add_special_tokens: bool = False,
    truncation: bool | Truncation | None = None,
    max_length: int | None = None,
    stride: int = 0,
    padding: bool | Padding | None = False,
    padding_side: Side | None = None,
    pad_to_multiple_of: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Encoding | list[Encoding]:
    most = None if max_length is None else whole_number("max_length", max_length, 1)
    pads: Padding = _choice("padding", padding, "longest", "do_not_pad", get_args(Padding))
    truncation = truncation or (truncation is None and most is not None and not padding)  # as in transformers
    truncates: Truncation = _choice("truncation", truncation, "longest_first", "do_not_truncate", get_args(Truncation))
    if most is None and (truncates != "do_not_truncate" or pads == "max_length"):
        if encoder.model_max_length is None:
            raise StudioError("Truncation and padding to a length need max_length", "Set max_length.")
        most = whole_number("max_length", encoder.model_max_length, 1)
    shape = _Shape(
        encoder.template(checked_flag("add_special_tokens", add_special_tokens)),
        None if truncates == "do_not_truncate" else most,
        truncates,
        whole_number("stride", stride, 0),
        _side("truncation_side", encoder.truncation_side),
    )
    multiple = 1 if pad_to_multiple_of is None else whole_number("pad_to_multiple_of", pad_to_multiple_of, 1)
    if shape.most is not None and pads != "do_not_pad" and shape.most % multiple:
        raise StudioError(
            "Truncation to {length} tokens contradicts padding to a multiple of {multiple}",
            "Set max_length to a multiple of pad_to_multiple_of.", length=shape.most, multiple=multiple,
        )  # fmt: skip

    padding_token = None if pads == "do_not_pad" else encoder.special("pad_token")
    side = _side("padding_side", encoder.padding_side if padding_side is None else padding_side)
    is_one = isinstance(text, str)
    if is_one:  # as in transformers, an empty second text is none here, but not in a list
        text, pair = [text], None if pair is None or (isinstance(pair, str) and not pair) else [pair]
    firsts, seconds = _pairs(text, pair)
    others = repeat(None) if seconds is None else encoder._encodings_of(seconds)  # noqa: SLF001
    pairs = zip(encoder._encodings_of(firsts), others, strict=False)  # noqa: SLF001
    encodings = [shape.of(first, second) for first, second in watched(pairs, progress, should_stop, len(firsts))]
    if padding_token is not None and encodings:
        length = most if pads == "max_length" and most is not None else max(map(len, encodings))
        length += -length % multiple
        encodings = [_padded(encoding, length, padding_token, side) for encoding in encodings]
    return encodings[0] if is_one else encodings


def whole_number(name: str, value: object, least: int) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # NumPy's integers too
    except TypeError:
        number = least - 1
    if number < least or isinstance(value, bool):
        advice = "Use a whole number of at least {least}."
        raise StudioError("Invalid {name}: {value}", advice, name=name, value=_shown(value), least=least)
    return number


def checked_flag(name: str, value: object) -> bool:
    if value not in (True, False):
        raise StudioError("Invalid {name}: {value}", "Use True or False.", name=name, value=_shown(value))
    return bool(value)


def checked_ids(ids: object) -> list[int]:
    try:
        return [operator.index(number) for number in ids]  # type: ignore[attr-defined]
    except TypeError:
        raise StudioError("IDs are expected, not {value}", "Pass a list of whole numbers.", value=_shown(ids)) from None


def _choice(name: str, value: object, if_true: _T, if_false: _T, choices: tuple[_T, ...]) -> _T:
    if value is None or isinstance(value, bool):
        return if_true if value else if_false
    for choice in choices:
        if value == choice:
            return choice
    listed = ", ".join(map(str, choices))
    raise StudioError(
        "Invalid {name}: {value}", "Use {choices}, True or False.", name=name, value=_shown(value), choices=listed
    )


def _pairs(texts: object, seconds: object) -> tuple[list[str], list[str] | None]:
    if seconds is None and isinstance(texts, list) and any(isinstance(text, tuple) for text in texts):
        texts, seconds = zip(*map(_parts, texts), strict=True)
    firsts = list(checked_texts(texts))
    others = None if seconds is None else list(checked_texts(seconds))
    if others is not None and len(firsts) != len(others):
        raise StudioError(
            "There are {texts:,} texts and {pairs:,} second texts",
            "Pass the same number of both.",
            texts=len(firsts),
            pairs=len(others),
        )
    return firsts, others


def _parts(pair: object) -> tuple[object, object]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise StudioError(
            "{value} is not a pair of texts, but other items are", "Pass only texts or only pairs.", value=_shown(pair)
        )
    return pair


def _side(name: str, value: object) -> Side:
    if value not in get_args(Side):
        raise StudioError("Invalid {name}: {value}", "Use right or left.", name=name, value=_shown(value))
    return cast("Side", value)


def _shown(value: object) -> str:
    return repr(value)[:100]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What encodings of texts become before padding; `most` tokens are left, or all."""

    template: Template
    most: int | None
    truncation: Truncation
    stride: int
    side: Side

    def of(self, first: Encoding, second: Encoding | None) -> Encoding:
        parts = self.template.single if second is None else self.template.pair
        texts = [first] if second is None else [first, second]
        windows = [[text] for text in texts]
        if self.most is not None:
            around = sum(len(part.special.tokens) for part in parts)
            lengths = self._lengths_left(self.most, around, *map(len, texts))
            windows = [self._windows(text, length) for text, length in zip(texts, lengths, strict=False)]
        joined: list[tuple[Encoding, ...]] = [()]
        for part in parts:
            if part.sequence is None:
                found = [_added(part.special, part.type_id)]
            elif parts == (TemplatePart(0),):
                found = windows[0]
            else:
                types = chain([part.type_id], repeat(part.overflowing_type_id))
                found = [
                    replace(window, stretches=(Stretch(len(window), type_id, part.sequence),))
                    for window, type_id in zip(windows[part.sequence], types, strict=False)
                ]
            joined = _combined(joined, found)
        whole, *overflowing = map(_joined, joined)
        return replace(whole, overflowing=tuple(overflowing)) if overflowing else whole

    def _lengths_left(self, most: int, around: int, first: int, second: int | None = None) -> tuple[int, int]:
        room = most - around
        if room < 0:
            raise StudioError(
                "A length of {length} leaves no room for {count} special tokens",
                "Use a larger max_length.",
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
            what = "Truncating the second text alone cannot make everything fit into {length} tokens"
            if is_first:
                what = "Truncating the first text alone cannot make everything fit into {length} tokens"
            raise StudioError(what, 'Use a larger max_length, or truncation="longest_first".', length=most)
        return (left, second or 0) if is_first else (first, left)

    def _windows(self, encoding: Encoding, length: int) -> list[Encoding]:
        """Return a text in parts of at most `length` tokens, each repeating `stride` tokens of the previous."""
        if length >= len(encoding):
            return [encoding]
        if length == 0:
            return [_part(encoding, 0, 0), encoding]
        if self.stride >= length:
            raise StudioError(
                "A stride of {stride} is too long where truncation leaves {length} tokens of a text",
                "Use a smaller stride, or a larger max_length.",
                stride=self.stride,
                length=length,
            )
        starts = range(0, len(encoding) - self.stride, length - self.stride)
        if self.side == "right":
            return [_part(encoding, start, start + length) for start in starts]
        ends = (len(encoding) - start for start in starts)
        return [_part(encoding, max(0, end - length), end) for end in ends]


def _joined(encodings: Sequence[Encoding]) -> Encoding:
    if len(encodings) == 1:
        return encodings[0]
    return Encoding(
        list(chain.from_iterable(encoding.tokens for encoding in encodings)),
        list(chain.from_iterable(encoding.ids for encoding in encodings)),
        list(chain.from_iterable(encoding.offsets for encoding in encodings)),
        list(chain.from_iterable(encoding.words for encoding in encodings)),
        stretches=tuple(chain.from_iterable(encoding.stretches or (Stretch(len(encoding)),) for encoding in encodings)),
    )


def _combined(rows: list[tuple[_T, ...]], added: list[_T]) -> list[tuple[_T, ...]]:
    """Return each row with each of the added values, in the order of the libraries: the first of both comes first.

    >>> _combined([("a",), ("b",)], ["x", "y"])
    [('a', 'x'), ('b', 'x'), ('b', 'y'), ('a', 'y')]
    """
    first, *others = rows
    rest = [(*row, value) for row in others for value in added]
    return [(*first, added[0]), *rest, *((*first, value) for value in added[1:])]


def _longest_first(first: int, second: int, room: int) -> tuple[int, int]:
    """Return how many tokens of two texts are left: all of the shorter one if it needs no more than half the room.

    >>> _longest_first(3, 9, 10), _longest_first(9, 3, 10), _longest_first(9, 9, 5)
    ((3, 7), (7, 3), (2, 3))
    """
    shorter = min(first, second, room // 2)
    longer = room - shorter
    return (shorter, longer) if first <= second else (longer, shorter)


def _part(encoding: Encoding, start: int, end: int) -> Encoding:
    part = slice(start, end)
    return Encoding(encoding.tokens[part], encoding.ids[part], encoding.offsets[part], encoding.words[part])


def _added(special: Special, type_id: int = 0, times: int = 1, *, is_padding: bool = False) -> Encoding:
    tokens, ids = [*special.tokens] * times, [*special.ids] * times
    stretch = Stretch(len(ids), type_id, None, is_padding)
    return Encoding(tokens, ids, [(0, 0)] * len(ids), [None] * len(ids), stretches=(stretch,))


def _padded(encoding: Encoding, length: int, special: Special, side: Side) -> Encoding:
    padding = _added(special, times=max(0, length - len(encoding)), is_padding=True)
    padded = _joined((padding, encoding) if side == "left" else (encoding, padding))
    return replace(padded, overflowing=tuple(_padded(more, length, special, side) for more in encoding.overflowing))
