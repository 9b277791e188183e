"""The settings of a training: the objective, when to stop, and how the vocabulary begins."""

from __future__ import annotations

import dataclasses
import math
import sys
import typing
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from operator import index
from typing import TYPE_CHECKING, Any, Literal, Self, SupportsFloat, SupportsIndex, cast

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.pipeline import BERT_SPECIAL_TOKENS, PreTokenizer
from wordpiece_studio.text.pre_tokenizers import ByteLevel
from wordpiece_studio.tokenizer.vocabulary import ROLES, TokenList, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


Objective = Literal["likelihood", "score", "count"]
Tie = Literal["first", "ids"]
AlphabetLayout = Literal["seen", "huggingface"]
AlphabetOverflow = Literal["unk", "remove"]
ByteAlphabet = Literal["all", "seen"]
EndOfWord = Literal["symbol", "attached"]

LARGEST_VOCAB_SIZE = 100_000_000
# The settings that may be raised to continue a training: a longer training begins with the same merges.
LIMITS = ("vocab_size", "max_merges", "max_seconds", "min_value")
_LARGEST_NUMBER = 2**63 - 1  # the engines count in int64

# The settings that say what if; in files only those that say something, which older versions then read too.
RULES = ("required_tokens", "forbidden_tokens", "forbidden_pairs", "chosen_merges")
LONGEST_RULED = 100  # characters without prefix of a token: longest match takes longer words for unknown
MOST_RULES = 10_000  # of each kind: a forbidden token is as many pairs as it has characters, and every pair is known
BASE = ("base_tokens", "base_merges")  # what a training goes on from; in files only if it does

_TEXT_LISTS = (
    "special_tokens", "user_tokens", "initial_alphabet", "continuing_order", "required_tokens", "forbidden_tokens",
    "base_tokens",
)  # fmt: skip
_LEAST = {"vocab_size": 1, "max_merges": 0, "max_token_length": 1, "alphabet_limit": 1, "min_frequency": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """The settings of a training. Equal word counts and equal settings give equal vocabularies.

    Parameters
    ----------
    objective
        Which pair is best: ``"likelihood"``, n · ln(n · N / (f(a) · f(b))), the rule that Schuster & Nakajima give in
        words in "Japanese and Korean voice search" (2012); ``"score"``, n / (f(a) · f(b)), the WordPiece of the Hugging
        Face course; ``"count"``, n, which is byte pair encoding.
    vocab_size
        Stop at this many tokens, special tokens and alphabet included. None: no limit.
    max_merges, max_seconds
        Stop after this many merges or seconds. A limit in seconds makes the result depend on the machine.
    min_frequency
        A pair that occurs fewer times is not a candidate. Without this floor, the score favors pairs seen once.
    min_value
        Stop when the best value falls below this floor.
    max_token_length
        In characters, without the prefix but with a suffix. A pair that would make a longer token is not a candidate.
    tie
        Among equal values, ``"first"`` takes the pair that occurs first in the corpus, ``"ids"`` the pair with the
        smallest vocabulary ids, left before right, as Hugging Face does.
    alphabet
        ``"seen"``: the sorted symbols that occur. ``"huggingface"``: all characters by code point, then the
        symbols with the prefix, in order of first occurrence in the sorted words, or in `continuing_order`.
    continuing_order
        For ``"huggingface"``: the order of the symbols with the prefix. Those not named follow in the usual order.
    initial_alphabet
        Symbols, one character each with or without the prefix, that are in the vocabulary even if they do not occur.
    alphabet_limit
        Keep at most this many characters: the rarest go first, among equals those seen later. The initial alphabet
        stays.
    byte_alphabet
        After a pre-tokenizer that turns bytes into letters, see `ByteLevel`: ``"all"`` puts all 256 of them into the
        initial alphabet, so that no text is unknown, and the alphabet has no limit; ``"seen"`` only has those that
        occur. Where symbols have a prefix or a suffix, each letter is in the alphabet in every form; except with the
        layout ``"huggingface"``, where it is as if the letters were given to the trainer there.
    alphabet_overflow
        What happens to a word with a character beyond the limit: with ``"unk"`` it is left out of the training; with
        ``"remove"`` the character is removed and its neighbors become adjacent, as in Hugging Face.
    special_tokens
        The tokens with the first ids, in this order.
    user_tokens
        Tokens of one's own, such as ``<url>``, with the next ids: a tokenizer finds them before anything else and never
        cuts them. `count_words` takes them out of the text, if they are given there too.
    unk_token, pad_token, cls_token, sep_token, mask_token, bos_token, eos_token
        The special tokens with these roles. None: those with well-known names, such as ``[PAD]`` or ``<pad>``; an empty
        text: no token has the role. One that is not among the special tokens takes the place of BERT's there, or
        follows them.
    continuing_subword_prefix
        Written before every symbol that does not begin a word. Empty for plain byte pair encoding.
    end_of_word_suffix, end_of_word
        For byte pair encoding: a mark at the end of every word, as a ``"symbol"`` of its own or ``"attached"`` to the
        last character.
    required_tokens
        Tokens that are in the vocabulary directly after the alphabet, in this order, as the vocabulary writes them.
        Longest match uses them; the training does not know them, and a merge that makes one adds no token.
    forbidden_tokens
        No pair that would become one of these tokens is a candidate.
    forbidden_pairs
        These pairs, each a left and a right token, are not candidates.
    chosen_merges
        Each a step, counted from 1, and the left and right token of the pair that is merged at it instead of the best
        one. If it is not a candidate there, the training raises a `StudioError` before this step.
    base_tokens, base_merges
        The vocabulary and the merges, each a left and a right token, of a training that this one goes on from, see
        `continued`: the merges are replayed on the words, and all tokens keep their ids.

    Raises
    ------
    StudioError
        If a value is outside its range, naming the setting.
    """

    objective: Objective = "likelihood"
    vocab_size: int | None = None
    max_merges: int | None = None
    max_seconds: float | None = None
    min_frequency: int = 0
    min_value: float | None = None
    max_token_length: int | None = None
    tie: Tie = "first"
    alphabet: AlphabetLayout = "seen"
    continuing_order: tuple[str, ...] | None = None
    initial_alphabet: tuple[str, ...] = ()
    alphabet_limit: int | None = None
    byte_alphabet: ByteAlphabet = "all"
    alphabet_overflow: AlphabetOverflow = "unk"
    special_tokens: tuple[str, ...] = BERT_SPECIAL_TOKENS
    user_tokens: tuple[str, ...] = ()
    unk_token: str | None = None
    pad_token: str | None = None
    cls_token: str | None = None
    sep_token: str | None = None
    mask_token: str | None = None
    bos_token: str | None = None
    eos_token: str | None = None
    continuing_subword_prefix: str = "##"
    end_of_word_suffix: str | None = None
    end_of_word: EndOfWord = "symbol"
    required_tokens: tuple[str, ...] = ()
    forbidden_tokens: tuple[str, ...] = ()
    forbidden_pairs: tuple[tuple[str, str], ...] = ()
    chosen_merges: tuple[tuple[int, str, str], ...] = ()
    base_tokens: tuple[str, ...] = ()
    base_merges: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for name in _TEXT_LISTS:
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _text_tuple(name, value))
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                what = "The setting {name} must be one of {choices}, not {value!r}"
                raise _setting_error(what, name, getattr(self, name), choices=", ".join(choices))
        for name, smallest in _LEAST.items():
            object.__setattr__(self, name, _whole_number(name, getattr(self, name), smallest))
        for name in ("max_seconds", "min_value"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        self._name_roles()
        self._check_texts()
        self._check_rules()
        object.__setattr__(
            self, "base_merges", tuple(_items("base_merges", pair) for pair in _items("base_merges", self.base_merges))
        )
        _check_base(self.base_tokens, self.base_merges, self.reserved_tokens, self.continuing_subword_prefix)

    def _name_roles(self) -> None:
        special = list(self.special_tokens)
        for role, (berts, *_) in ROLES.items():
            token = getattr(self, role)
            if token is not None and not isinstance(token, str):
                raise _setting_error("The setting {name} must be a text or None, not {value!r}", role, token)
            if token and token not in special:
                place = special.index(berts) if berts in special else len(special)
                special[place : place + 1] = [token]
        object.__setattr__(self, "special_tokens", tuple(special))

    def _check_texts(self) -> None:
        prefix, suffix = self.continuing_subword_prefix, self.end_of_word_suffix
        if not isinstance(prefix, str) or not _is_plain(prefix):
            what = "The setting {name} must be a text without control characters, not {value!r}"
            raise _setting_error(what, "continuing_subword_prefix", prefix)
        if suffix is not None and (not isinstance(suffix, str) or not suffix or not _is_plain(suffix)):
            what = "The setting {name} must be a non-empty text without control characters, not {value!r}"
            raise _setting_error(what, "end_of_word_suffix", suffix)
        seen: set[str] = set()
        for tokens, kind, such_as, twice, only_once in (
            (self.special_tokens, "special", "Special tokens are single words such as [UNK]", "", "special token"),
            (self.user_tokens, "user", "User tokens are strings such as <url>", ", or is a special token", "token"),
        ):
            for token in tokens:
                what = f"The {kind} token {{token!r}} "
                if not token or token != token.strip() or not _is_plain(token):
                    what += "is empty, or has whitespace at its ends, line breaks or control characters"
                    raise StudioError(what, f"{such_as}.", token=token)
                if token in seen:
                    raise StudioError(f"{what}is listed twice{twice}", f"List every {only_once} once.", token=token)
                seen.add(token)
        for symbol in self.initial_alphabet:
            if len(self._character_of(symbol)) != 1:
                what = "The setting {name} must be single characters, with or without the prefix, not {value!r}"
                raise _setting_error(what, "initial_alphabet", symbol)

    def _check_rules(self) -> None:
        prefix = self.continuing_subword_prefix
        pairs = tuple(_text_tuple("forbidden_pairs", pair) for pair in _items("forbidden_pairs", self.forbidden_pairs))
        chosen: list[tuple[Any, tuple[str, ...]]] = []
        for merge in _items("chosen_merges", self.chosen_merges):
            step, *pair = _items("chosen_merges", merge) or (-1,)
            step = _whole_number("chosen_merges", -1 if step is None else step, 1)
            chosen.append((step, _text_tuple("chosen_merges", pair)))
        self._check_rule_texts(pairs, [pair for _, pair in chosen])
        rules = self.required_tokens, self.forbidden_tokens, pairs, [step for step, _ in chosen]
        for name, items in zip(RULES, rules, strict=True):
            if len(items) > MOST_RULES:
                raise _setting_error("The setting {name} must have at most {value:,} rules", name, MOST_RULES)
            if (twice := _repeated(items)) is not None:
                raise _setting_error("The setting {name} has {value!r} twice", name, twice)
        forbidden = {*self.forbidden_tokens, *pairs}
        for step, (left, right) in chosen:
            if not forbidden.isdisjoint([(left, right), left + right.removeprefix(prefix)]):
                what = "The merge of {left} and {right} is both forbidden and chosen for step {step}"
                raise StudioError(what, "Omit one of the two.", left=left, right=right, step=step)
        object.__setattr__(self, "forbidden_pairs", pairs)
        object.__setattr__(self, "chosen_merges", tuple((step, *pair) for step, pair in sorted(chosen)))

    def _check_rule_texts(self, forbidden: Sequence[tuple[str, ...]], chosen: Sequence[tuple[str, ...]]) -> None:
        prefix = self.continuing_subword_prefix
        for name in ("required_tokens", "forbidden_tokens"):
            for token in getattr(self, name):
                if len(token.removeprefix(prefix)) < 2 or token != token.strip() or not _is_plain(token):
                    what = "The setting {name} must be tokens of two or more characters, not {value!r}"
                    raise _setting_error(what, name, token)
                if len(token.removeprefix(prefix)) > LONGEST_RULED:
                    what = "The setting {name} must be tokens of at most {most} characters, not {value!r}"
                    raise _setting_error(what, name, token, most=LONGEST_RULED)
        for name, pairs in (("forbidden_pairs", forbidden), ("chosen_merges", chosen)):
            for pair in pairs:
                if len(pair) != 2 or not pair[0] or not pair[1].startswith(prefix) or pair[1] == prefix:
                    what = "The setting {name} must have pairs of two tokens, the right one with the prefix, not "
                    raise _setting_error(what + "{value!r}", name, pair)
        if reserved := {*self.reserved_tokens}.intersection(self.required_tokens):
            what = "The setting {name} must not have the special or user token {value!r}"
            raise _setting_error(what, "required_tokens", min(reserved))
        if self.required_tokens and self.end_of_word_suffix and not prefix:
            raise StudioError(
                "The token {token!r} cannot be required: with an end-of-word suffix and no prefix, tokens are for byte "
                "pair encoding, which applies merges",
                "Require no tokens, or use a prefix.", token=self.required_tokens[0],
            )  # fmt: skip

    def continued(self, tokens: Sequence[str], merges: Iterable[tuple[str, str]], **changes: Any) -> TrainingConfig:
        """Return the settings of a training that goes on where one with these settings ended.

        Parameters
        ----------
        tokens, merges
            The vocabulary that it learned, in order of id, and the left and right token of each merge, in their order.
        changes
            Settings that are to be others, such as ``vocab_size``. What was required or chosen is not any more.

        Raises
        ------
        StudioError
            If tokens and merges do not belong together, or a setting is out of range.
        """
        pairs = (*self.base_merges, *merges)
        fresh: dict[str, Any] = {"required_tokens": (), "chosen_merges": ()}
        return dataclasses.replace(self, **fresh | {"base_tokens": tuple(tokens), "base_merges": pairs} | changes)

    @property
    def has_rules(self) -> bool:
        """Whether tokens are required or forbidden, pairs forbidden, or merges chosen."""
        return any(getattr(self, name) for name in RULES)

    @property
    def choices(self) -> dict[int, tuple[str, str]]:
        """The left and right token of each chosen merge, by its step."""
        return {step: (left, right) for step, left, right in self.chosen_merges}

    @property
    def reserved_tokens(self) -> tuple[str, ...]:
        """The tokens that are not learned, in the order of their ids, which are the first."""
        return self.special_tokens + self.user_tokens

    @property
    def initial_characters(self) -> set[str]:
        """The characters of the initial alphabet, without prefix and suffix."""
        return {*map(self._character_of, self.initial_alphabet)}

    def _character_of(self, symbol: str) -> str:
        suffix = (self.end_of_word_suffix if self.end_of_word == "attached" else None) or ""
        bare = symbol.removeprefix(self.continuing_subword_prefix)
        forms = (symbol, bare, symbol.removesuffix(suffix), bare.removesuffix(suffix))
        return next((form for form in forms if len(form) == 1), forms[-1])  # a prefix may be a character, too

    @property
    def is_byte_pair_encoding(self) -> bool:
        """Whether text is tokenized by the merges, in their order: learned by counts, with the ends of words marked."""
        return bool(self.objective == "count" and self.end_of_word_suffix and not self.continuing_subword_prefix)

    def for_words_of(self, pre_tokenizer: PreTokenizer) -> TrainingConfig:
        """Return these settings with the letters of all bytes in the initial alphabet, if words are made of them.

        >>> from wordpiece_studio.text.pre_tokenizers import ByteLevel
        >>> len(TrainingConfig().for_words_of(ByteLevel()).initial_alphabet)
        512
        """
        if self.byte_alphabet != "all" or not pre_tokenizer.is_byte_level:
            return self
        prefixes, suffixes = [""], [""]
        if self.alphabet == "seen":
            prefixes += filter(None, [self.continuing_subword_prefix])
            suffixes += filter(None, [self.end_of_word_suffix if self.end_of_word == "attached" else None])
        symbols = (prefix + each + end for prefix in prefixes for end in suffixes for each in ByteLevel.alphabet())
        alphabet = tuple(dict.fromkeys((*self.initial_alphabet, *symbols)))
        return dataclasses.replace(self, initial_alphabet=alphabet, alphabet_limit=None)

    def replaying(self, tokens: Sequence[str]) -> TrainingConfig:
        """Return these settings with the rules of Hugging Face's trainers, and the order of ties of one training there.

        Their ``WordPieceTrainer`` and ``BpeTrainer`` merge the most frequent pair, and number the symbols with the
        prefix, by which they break ties, in a random order: two trainings differ. From `tokens`, the vocabulary of one
        of them in order of id, that order is read off; the same words then give the same vocabulary here.

        Raises
        ------
        StudioError
            If `tokens` is not a list of texts.

        >>> config = TrainingConfig(special_tokens=("[UNK]",)).replaying(["[UNK]", "g", "h", "u", "##u", "##g", "hu"])
        >>> config.objective, config.continuing_order
        ('count', ('##u', '##g'))
        """
        prefix, suffix = self.continuing_subword_prefix, self.end_of_word_suffix or ""
        known = (token for token in _text_tuple("tokens", tokens) if len(token) > 1)
        order = tuple(token for token in known if len(token.removeprefix(prefix).removesuffix(suffix)) == 1)
        rules: dict[str, Any] = {"objective": "count", "tie": "ids", "alphabet": "huggingface"}
        rules |= {"alphabet_overflow": "remove", "end_of_word": "attached"}
        return dataclasses.replace(self, **rules, continuing_order=order)

    def vocabulary(self, tokens: Sequence[str] | TokenList, size: int | None = None) -> Vocabulary:
        """Return the vocabulary of tokens that a training with these settings makes; the arguments are `Vocabulary`'s.

        >>> TrainingConfig(unk_token="<unk>").vocabulary(["[PAD]", "<unk>", "[CLS]", "[SEP]", "[MASK]"]).unk_token
        '<unk>'
        """
        affixes = self.continuing_subword_prefix, self.end_of_word_suffix
        roles = {role: getattr(self, role) for role in ROLES}
        return Vocabulary(tokens, self.special_tokens, *affixes, size=size, added_tokens=self.user_tokens, **roles)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""
        values = dataclasses.asdict(self).items()
        said = {name: value for name, value in values if name not in (*RULES, *BASE) or value}
        return {name: _lists(value) if isinstance(value, tuple) else value for name, value in said.items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any], pre_tokenizer: PreTokenizer | None = None) -> Self:
        """Read what :meth:`to_dict` wrote.

        `pre_tokenizer` is that of a training in the past: before `byte_alphabet` was a setting, bytes that did not
        occur were not in the alphabet.

        Raises
        ------
        StudioError
            If a setting is unknown or out of range.
        """
        unknown = sorted(set(values) - {field.name for field in dataclasses.fields(cls)})
        if unknown:
            what = "There is no training setting {name!r}"
            raise StudioError(what, "The file may have been written by a newer version.", name=unknown[0])
        if pre_tokenizer is not None and pre_tokenizer.is_byte_level:
            values = {"byte_alphabet": "seen", **values}
        return cls(**values)


_HINTS = typing.get_type_hints(TrainingConfig)
_CHOICES = {name: typing.get_args(kind) for name, kind in _HINTS.items() if typing.get_origin(kind) is Literal}


@lru_cache(maxsize=4)  # settings are made again at every change of any of them
def _check_base(tokens: tuple[str, ...], merges: tuple[Any, ...], reserved: tuple[str, ...], prefix: str) -> None:
    known = set(tokens)
    if len(known) < len(tokens) or tokens[: len(reserved)] not in (reserved, ()):
        what = "The setting {name} must be different tokens, the special tokens first"
        raise StudioError(what, name="base_tokens")
    for pair in merges:
        is_pair = len(pair) == 2 and all(isinstance(token, str) for token in pair)
        if not is_pair or not known.issuperset((*pair, pair[0] + pair[1].removeprefix(prefix))):
            what = "The setting {name} must have pairs of base tokens that become one, not {value!r}"
            raise _setting_error(what, "base_merges", pair)


def _lists(value: tuple[Any, ...]) -> list[Any]:
    return [list(each) if isinstance(each, tuple) else each for each in value]


def _items(name: str, value: object) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise _setting_error("The setting {name} must be a list, not {value!r}", name, value)
    return tuple(value)


def _repeated(items: Iterable[Any]) -> Any:
    seen: set[Any] = set()
    return next((each for each in items if each in seen or seen.add(each)), None)  # type: ignore[func-returns-value]


def _text_tuple(name: str, value: object) -> tuple[str, ...]:
    """Accept any list of texts, but not a single text, a common slip, which would be read letter by letter."""
    items = tuple(cast("Any", value)) if isinstance(value, (list, tuple)) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise _setting_error("The setting {name} must be a list of texts, not {value!r}", name, value)
    return items


def _is_plain(text: str) -> bool:
    """Return whether a text fits on a line of UTF-8: no control characters, line separators or lone surrogates."""
    return not any(unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} for character in text)


def _whole_number(name: str, value: object, smallest: int) -> int | None:
    if value is None and name != "min_frequency":
        return None
    number = -1 if isinstance(value, bool) or not isinstance(value, SupportsIndex) else index(value)
    if number < smallest:
        what = "The setting {name} must be a whole number from {least}, not {value!r}"
        raise _setting_error(what, name, value, least=smallest)
    largest = LARGEST_VOCAB_SIZE if name == "vocab_size" else _LARGEST_NUMBER
    if number > largest:
        raise _setting_error("The setting {name} must be at most {most:,}, not {value!r}", name, value, most=largest)
    return number


def _number(name: str, value: object) -> float | None:
    if value is None:
        return None
    number = math.nan
    if isinstance(value, SupportsFloat) and not isinstance(value, bool):
        with suppress(TypeError, ValueError, OverflowError):
            number = value if isinstance(value, int) else float(value)
    if not abs(number) <= sys.float_info.max:
        raise _setting_error("The setting {name} must be a number, not {value!r}", name, value)
    if name == "max_seconds" and number < 0:
        raise _setting_error("The setting {name} must be a number from 0, not {value!r}", name, value)
    return number


def _setting_error(what: str, name: str, value: object, **values: object) -> StudioError:
    if isinstance(value, int) and value.bit_length() > 200:  # Python does not print a number of thousands of digits
        value = math.inf if value > 0 else -math.inf
    return StudioError(what, "", name=name, value=value, **values)
