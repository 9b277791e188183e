"""Encodings, and what models expect of them: pairs, special tokens around the texts, truncation and padding.

`Encoder.encode` means what it means in `tokenizers`, a call what it means in `transformers`. Not here: how a
text is tokenized (`tokenizer`, `bpe_tokenizer`), how the library `tokenizers` is used (`shaping`), and whole corpora
to arrays of ids (`corpus_encoding`).
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypedDict, TypeVar, Unpack, cast, get_args, overload

from wordpiece_studio.corpus.decoding import checked_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import shortened
from wordpiece_studio.tokenizer.shaping import Columns, Cut, Form, Pad, Side, Truncation, around, shaper, watched
from wordpiece_studio.tokenizer.vocabulary import ROLES, TextReading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.shaping import Texts

    WordCut = tuple[Sequence[str], Sequence[int], Sequence[tuple[int, int]]]
    """Tokens of a word, their ids, and (start, end) in its characters."""

_T = TypeVar("_T")

Padding = Literal["longest", "max_length", "do_not_pad"]
Role = Literal["pad_token", "cls_token", "sep_token"]

_A_TEXT = 'Pass a str; bytes must be decoded first, as by .decode("utf-8").'


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


_COLUMNS = (
    *("ids", "tokens", "offsets", "words", "type_ids", "attention_mask", "special_tokens_mask", "sequence_ids"),
    "overflowing",
)


class Encoding:
    """A tokenized text, or a pair of texts; each list has one entry per token, ``len(encoding)`` in all.

    Encodings are equal if all that they have is equal. Most lists are made when they are first asked for; a list that
    the caller changes stays changed. *Put around* means special tokens from the template, and padding.

    Attributes
    ----------
    tokens : list[str]
        The tokens. That of an unknown word is an `UnknownToken`, which has the reason, if a tokenizer of the Studio
        made it. A token that was added to the vocabulary is the text that it covers, as in `transformers`; this is not
        its own spelling if it takes white space or is normalized.
    ids : list[int]
        Their ids in the vocabulary; an unknown word has NO_ID, -1, if the vocabulary has no unknown token.
    offsets : list[tuple[int, int]]
        (start, end) of each token in its original text, in code points, end exclusive; (0, 0) for tokens put around. In
        a text that is given as words, they are those in the word.
    words : list[int | None]
        The index of the word that each token belongs to, in its text, from 0; None for tokens put around.
    type_ids : list[int]
        0 for the first text with its special tokens and for padding, 1 for the second, unless a template differs.
    attention_mask : list[int]
        0 for padding, 1 for all other tokens.
    special_tokens_mask : list[int]
        1 for tokens put around; 0 for those of the texts, even special ones spelled out there.
    sequence_ids : list[int | None]
        0 for tokens of the first text, 1 for those of the second, None for tokens put around.
    overflowing : tuple[Encoding, ...]
        What truncation cut off, in encodings of the same form, which have none themselves; each repeats `stride` tokens
        of the one before.

    >>> encoding = Encoding(["hug", "##s"], [7, 3], [(0, 3), (3, 4)], [0, 0])
    >>> encoding.attention_mask, encoding.special_tokens_mask
    ([1, 1], [0, 0])
    """

    __slots__ = (*_COLUMNS, "_made")

    ids: list[int]
    tokens: list[str]
    offsets: list[tuple[int, int]]
    words: list[int | None]
    type_ids: list[int]
    attention_mask: list[int]
    special_tokens_mask: list[int]
    sequence_ids: list[int | None]
    overflowing: tuple[Encoding, ...]
    _made: tuple[Any, Any]

    def __init__(
        self, tokens: list[str], ids: list[int], offsets: list[tuple[int, int]], words: Sequence[int | None]
    ) -> None:
        self.tokens, self.ids, self.offsets, self.words = tokens, ids, offsets, list(words)
        self.type_ids, self.special_tokens_mask = [0] * len(ids), [0] * len(ids)
        self.sequence_ids, self.attention_mask, self.overflowing = [0] * len(ids), [1] * len(ids), ()

    @classmethod
    def of_library(cls, raw: Any, found: Any, **known: Any) -> Self:
        """Return an encoding of the library; `found`: what returns its tokens, or columns with its words as places.

        Until something is asked for it may still be padded. Without the library, `found` returns the columns.
        """
        made = object.__new__(cls)
        made._made = raw, found
        for name, value in known.items():
            setattr(made, name, value)
        return made

    def __getattr__(self, name: str) -> Any:
        if name not in _COLUMNS:
            raise AttributeError(name)
        raw, found = self._made
        if raw is None:
            ((tokens, _, offsets, words),) = found()
            self.__init__(tokens, self.ids, offsets, words)  # type: ignore[misc]
            return getattr(self, name)
        value: Any = getattr(raw, "word_ids" if name == "words" else name)
        if name == "overflowing":
            # The library repeats what overflows within what overflows.
            value = tuple(Encoding.of_library(more, found, overflowing=()) for more in value)
        elif name == "sequence_ids":  # the library has some for the padding of an empty text
            value = [None if added else number for number, added in zip(value, raw.special_tokens_mask, strict=True)]
        elif isinstance(found, tuple):
            if name in Columns._fields:
                columns = [getattr(each, name) for each in found]
                places = zip(value, raw.special_tokens_mask, raw.sequence_ids, raw.word_ids, strict=True)
                value = [each if added else columns[text][place] for each, added, text, place in places]
        elif name == "tokens":
            value = found(raw)
        setattr(self, name, value)
        return value

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _COLUMNS}

    def __setstate__(self, columns: Mapping[str, Any]) -> None:
        for name, value in columns.items():
            setattr(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoding) and self.__getstate__() == other.__getstate__()

    __hash__ = None  # type: ignore[assignment]  # it consists of lists

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Encoding of {len(self):,} tokens: {shortened(self.tokens)}>"

    def _repr_html_(self) -> str:
        from wordpiece_studio.notebook import encoding_html

        places = list(zip(self.sequence_ids, self.words, strict=True))  # both texts of a pair have a word 0
        return encoding_html(self.tokens, self.ids, self.offsets, places)


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
    roles: Mapping[str, str]
    _stated: tuple[Any] | None = None  # what a file says of special tokens around texts; None: none does
    _changes_types = False  # whether this gives even one text alone another type
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
    def _columns_of(self, texts: Sequence[str]) -> Iterator[Columns]: ...

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``."""
        (columns,) = self._columns_of([checked_text(text)])
        return columns.ids

    @overload
    def encode(  # type: ignore[overload-overlap]  # a str is a collection of str too, but the first one applies
        self, text: str, pair: str | None = None, *, is_pretokenized: Literal[False] = False,
        **options: Unpack[EncodingOptions],
    ) -> Encoding: ...  # fmt: skip

    @overload
    def encode(
        self, text: Iterable[str] | Iterable[tuple[str, str]], pair: Iterable[str] | None = None, *,
        is_pretokenized: Literal[False] = False, **options: Unpack[EncodingOptions],
    ) -> list[Encoding]: ...  # fmt: skip

    @overload
    def encode(
        self, text: Any, pair: Any = None, *, is_pretokenized: bool, **options: Unpack[EncodingOptions]
    ) -> Any: ...

    def encode(
        self, text: Any, pair: Any = None, *, is_pretokenized: bool = False, **options: Unpack[EncodingOptions]
    ) -> Encoding | list[Encoding]:
        """Return the tokens of a text, or of each of many, as `tokenizers` does, which takes all of a list at once.

        Parameters
        ----------
        text
            A text, or several: a list, a generator, a column of a table; or a list of tuples of two texts.
        pair
            The second text, or as many second texts as there are texts.
        is_pretokenized : bool, default False
            Whether each text is given as the list of its words, which are still normalized and may be split further.
        add_special_tokens : bool, default False
            Whether to add what the model expects. If the tokenizer was read from a file, that is what its
            ``post_processor`` says; else it is ``[CLS] A [SEP]``, or ``[CLS] A [SEP] B [SEP]`` for a pair, with the
            tokens that have these roles, whatever they are called.
        truncation : bool or str, optional
            What to shorten if there are more than `max_length` tokens: ``"longest_first"``, or True, the longer text;
            ``"only_first"`` or ``"only_second"``; ``"do_not_truncate"``, or False, nothing. If it is not given, the
            longer text, if there is a `max_length`.
        max_length : int, optional
            The most tokens, special ones included. If it is needed and not given, it is `model_max_length`.
        stride : int, default 0
            How many tokens each overflowing encoding repeats of the one before; at most `max_length` less the special
            tokens around one text, even where none are added, as in `tokenizers`.
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
        form = _form(self, is_call=False, **options) if options else Form()
        return self._encoded(text, pair, form, checked_flag("is_pretokenized", is_pretokenized), options)

    def __call__(
        self,
        text: Any,
        text_pair: Any = None,
        *,
        is_split_into_words: bool = False,
        return_token_type_ids: bool = True,
        return_attention_mask: bool = True,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        **options: Unpack[EncodingOptions],
    ) -> dict[str, Any]:
        """Return what a model takes, as a tokenizer of `transformers` does.

        Parameters
        ----------
        text, text_pair, is_split_into_words
            As `text`, `pair` and `is_pretokenized` of `encode`, but an empty second text of one text is none.
        return_token_type_ids, return_attention_mask, return_special_tokens_mask, return_offsets_mapping
            Whether the result has the lists of this name.
        return_overflowing_tokens
            Whether the result has what truncation cuts off too, after what is left of the same text.
        options
            As for `encode`, but special tokens are added unless ``add_special_tokens=False`` is given, and `max_length`
            alone truncates only where nothing is padded.

        Returns
        -------
        dict
            Lists with an entry for each token: ``"input_ids"``, ``"token_type_ids"``, ``"attention_mask"`` and
            ``"special_tokens_mask"`` of int, ``"offset_mapping"`` of (start, end); they are the columns of `Encoding`.
            For several texts, and with `return_overflowing_tokens`, each is a list of such lists, which are equally
            long only if they are padded. ``"overflow_to_sample_mapping"`` is then a list of int: the index of the text
            that each of these lists is of.

        Raises
        ------
        StudioError
            As `encode` does, and if a length to truncate to is no multiple of `pad_to_multiple_of` where both are done.

        >>> from wordpiece_studio import Tokenizer, Vocabulary
        >>> Tokenizer(Vocabulary(["[CLS]", "[SEP]", "hug"], ["[CLS]", "[SEP]"]))("hug")
        {'input_ids': [0, 2, 1], 'token_type_ids': [0, 0, 0], 'attention_mask': [1, 1, 1]}
        """
        given: Any = {"add_special_tokens": True, **options}
        form = _form(self, is_call=True, **given)
        is_split = checked_flag("is_split_into_words", is_split_into_words)
        if _is_one(text, is_split) and not text_pair:
            text_pair = None
        found = self._encoded(text, text_pair, form, is_split, options)
        encodings = [found] if isinstance(found, Encoding) else found
        parts = [(encoding, number) for number, encoding in enumerate(encodings)]
        if return_overflowing_tokens:
            parts = [(part, number) for whole, number in parts for part in (whole, *whole.overflowing)]
        wanted = [("input_ids", "ids")]
        wanted += [("token_type_ids", "type_ids")] * return_token_type_ids
        wanted += [("attention_mask", "attention_mask")] * return_attention_mask
        wanted += [("special_tokens_mask", "special_tokens_mask")] * return_special_tokens_mask
        wanted += [("offset_mapping", "offsets")] * return_offsets_mapping
        lists: dict[str, Any] = {name: [getattr(part, column) for part, _ in parts] for name, column in wanted}
        if return_overflowing_tokens:
            lists["overflow_to_sample_mapping"] = [number for _, number in parts]
        elif isinstance(found, Encoding):
            lists = {name: values[0] for name, values in lists.items()}
        return lists

    def _encoded(
        self, text: Any, pair: Any, form: Form, is_pretokenized: bool, options: EncodingOptions
    ) -> Encoding | list[Encoding]:
        progress, should_stop = options.get("progress"), options.get("should_stop")
        is_one = _is_one(text, is_pretokenized)
        if is_one:
            text, pair = [text], None if pair is None else [pair]
        both = _pairs(text, pair, is_pretokenized)
        is_watched = progress is not None or should_stop is not None
        portions = watched(both, progress, should_stop, len(both)) if is_watched else [both] * bool(both)
        made = [each for portion in portions for each in self._shaped(portion, form, is_pretokenized)]
        if (pad := form.pad) is not None and pad.length is None:
            raws = [each._made[0] for each in made]  # noqa: SLF001  # its own module
            lengths = {*map(len, raws)}
            for raw in raws if len(lengths) > 1 else ():  # they were padded in several parts
                raw.pad(max(lengths), direction=pad.direction, pad_id=pad.pad_id, pad_token=pad.pad_token)
        return made[0] if is_one else made

    def _shaped(self, both: Sequence[Texts], form: Form, is_pretokenized: bool) -> list[Encoding]:
        """Return what becomes of texts, or of pairs of them; each part of these may be padded to another length."""
        is_shaped = self._is_shaped(both, form)
        texts = list(chain.from_iterable(both))
        if not (is_shaped or is_pretokenized):
            plain = cast("list[str]", texts)
            return [Encoding.of_library(None, partial(self._columns_of, [text]), ids=self.ids(text)) for text in plain]
        found = self._columns_of([*chain.from_iterable(texts)] if is_pretokenized else cast("list[str]", texts))
        if is_pretokenized:
            found = iter([_of_words(islice(found, len(words))) for words in texts])
        columns = [tuple(islice(found, len(each))) for each in both]
        if not is_shaped:
            return [Encoding(*each) for (each,) in columns]
        processor = None
        with suppress(StudioError):  # which was raised before, if special tokens are to be added
            processor = self.post_processor()
        counted = [tuple(["x"] * len(text.ids) for text in each) for each in columns]
        raws = shaper(processor).encoded(counted, form, is_pretokenized=True)
        return [Encoding.of_library(raw, each) for raw, each in zip(raws, columns, strict=True)]

    def _is_shaped(self, both: Sequence[Texts], form: Form) -> bool:
        return form != Form() or len(both[0]) > 1 or self._changes_types

    def post_processor(self) -> Any:
        """Return what adds special tokens, as a value of ``"post_processor"`` in a ``tokenizer.json``.

        It is that of the file from which the tokenizer was read, where None adds nothing; else a dict that does what
        BERT does, with the class token and the separator of the vocabulary.

        Raises
        ------
        StudioError
            If no file says what adds them, and the vocabulary has no token with one of these two roles, or one that
            cannot be written to such a file.
        """
        if self._stated is not None:
            return self._stated[0]
        return around(self.special("cls_token"), self.special("sep_token"))

    @abstractmethod
    def _cuts(self, words: Iterable[str]) -> Iterable[WordCut]: ...

    def encode_words(self, words: Iterable[str]) -> list[Encoding]:
        """Return the tokens of each word, which is neither normalized nor split; the offsets are those in the word."""
        return [Encoding([*tokens], [*ids], [*spans], [0] * len(tokens)) for tokens, ids, spans in self._cuts(words)]

    def special(self, role: Role) -> tuple[str, int]:
        """Return the token with a role, and its id; an error is raised if no token in the vocabulary has it."""
        token = self.roles.get(role)
        token_id = None if token is None else self.id_of(token)
        if token is None or token_id is None:
            advice = "Encode without padding." if role == "pad_token" else "Encode without adding special tokens."
            raise StudioError("The vocabulary has no {token} to add", advice, token=token or ROLES[role][0])
        if any("\ud800" <= character <= "\udfff" for character in token):
            what, advice = "The special token {token} contains an unpaired surrogate", "Use another one for its role."
            raise StudioError(what, advice, token=ascii(token)[:100])
        return token, token_id

    def _definition(self) -> tuple[Any, ...]:
        """Return all that determines what this encoder does."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Encoder) or type(self) is not type(other):
            return self is other
        names = ("roles", "_stated", "model_max_length", "padding_side", "truncation_side")
        alike = all(getattr(self, name) == getattr(other, name) for name in names)
        return alike and self._definition() == other._definition()

    def __hash__(self) -> int:
        return hash((type(self), len(self)))


class LibraryEncoder(Encoder):
    @abstractmethod
    def count_words(self, texts: Iterable[str]) -> Iterator[tuple[str, tuple[int, ...], int]]:
        """Yield the words of texts as the library finds them, with their ids and counts; some words several times."""


def checked_text(text: object) -> str:
    if not isinstance(text, str):
        raise StudioError("{value} is not a string", _A_TEXT, value=_shown(text))
    return text


def _of_words(words: Iterable[Columns]) -> Columns:
    numbered = [each._replace(words=[number] * len(each.ids)) for number, each in enumerate(words)]
    return Columns(
        *(list(chain.from_iterable(column)) for column in zip(Columns([], [], [], []), *numbered, strict=True))
    )


def _form(
    encoder: Encoder,
    is_call: bool,
    *,
    add_special_tokens: bool = False,
    truncation: bool | Truncation | None = None,
    max_length: int | None = None,
    stride: int = 0,
    padding: bool | Padding | None = False,
    padding_side: Side | None = None,
    pad_to_multiple_of: int | None = None,
    progress: object = None,  # this and the next determine no form
    should_stop: object = None,
) -> Form:
    most = None if max_length is None else whole_number("max_length", max_length, 1)
    pads: Padding = _choice("padding", padding, "longest", "do_not_pad", get_args(Padding))
    if truncation is None:
        truncation = most is not None and not (is_call and padding)
    truncates: Truncation = _choice("truncation", truncation, "longest_first", "do_not_truncate", get_args(Truncation))
    if most is None and (truncates != "do_not_truncate" or pads == "max_length"):
        if encoder.model_max_length is None:
            raise StudioError("Truncation and padding to a length need max_length", "Set max_length.")
        most = whole_number("max_length", encoder.model_max_length, 1)
    adds = checked_flag("add_special_tokens", add_special_tokens)
    repeated, side = whole_number("stride", stride, 0), _side("truncation_side", encoder.truncation_side)
    cut = None if most is None or truncates == "do_not_truncate" else Cut(most, repeated, truncates, side)
    multiple = 1 if pad_to_multiple_of is None else whole_number("pad_to_multiple_of", pad_to_multiple_of, 1)
    if is_call and cut is not None and pads != "do_not_pad" and cut.max_length % multiple:
        what = "Truncation to {length} tokens contradicts padding to a multiple of {multiple}"
        advice = "Set max_length to a multiple of pad_to_multiple_of."
        raise StudioError(what, advice, length=cut.max_length, multiple=multiple)
    if adds:
        encoder.post_processor()  # named before anything is encoded, if a token is missing
    side = _side("padding_side", encoder.padding_side if padding_side is None else padding_side)
    length = most if pads == "max_length" else None
    pad = None if pads == "do_not_pad" else Pad(*encoder.special("pad_token"), length, side, multiple)
    return Form(adds, cut, pad)


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


def _is_one(text: object, is_pretokenized: bool) -> bool:
    if not is_pretokenized:
        return isinstance(text, str)
    return isinstance(text, list | tuple) and (not text or isinstance(text[0], str))


def _pairs(texts: Any, seconds: Any, is_pretokenized: bool) -> list[Texts]:
    def listed(given: Any) -> list[Any]:
        checked = checked_texts(given)
        return [[*checked_texts(words)] for words in given] if is_pretokenized else [*checked]

    if seconds is None and not is_pretokenized and isinstance(texts, list):
        if any(isinstance(text, tuple) for text in texts):
            texts, seconds = zip(*map(_parts, texts), strict=True)
    firsts = listed(texts)
    if seconds is None:
        return [(text,) for text in firsts]
    others = listed(seconds)
    if len(firsts) != len(others):
        what, advice = "There are {texts:,} texts and {pairs:,} second texts", "Pass the same number of both."
        raise StudioError(what, advice, texts=len(firsts), pairs=len(others))
    return [*zip(firsts, others, strict=True)]


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
