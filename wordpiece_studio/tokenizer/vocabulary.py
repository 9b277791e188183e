"""A vocabulary: tokens in id order, and what is needed to look them up; and tokens that are added to it.

Added tokens are found in a text before anything else and never cut, as the `tokenizers` library finds them. Most are
found in the text as it is. Those that are to be normalized are found later, in each stretch between the others once it
is normalized, but before it is split into words. Of several that begin at one place the longest is taken. In an
encoding such a token is the stretch of text that it covers, as in that library; everywhere else it is itself.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from wordpiece_studio.corpus.decoding import checked_texts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import bert_tables, form_tables
from wordpiece_studio.text.pipeline import Pipeline, PreTokenizer, Span, check_fields, one_of
from wordpiece_studio.text.pre_tokenizers import within

UNKNOWN_TOKEN = "[UNK]"
# The roles of special tokens, as `transformers` calls and orders them, and the well-known names of such tokens.
ROLES: Mapping[str, tuple[str, ...]] = {
    "bos_token": ("[BOS]", "<bos>", "<s>"),
    "eos_token": ("[EOS]", "<eos>", "</s>"),
    "unk_token": (UNKNOWN_TOKEN, "<unk>"),
    "sep_token": ("[SEP]", "<sep>", "</s>"),
    "pad_token": ("[PAD]", "<pad>"),
    "cls_token": ("[CLS]", "<cls>", "<s>"),
    "mask_token": ("[MASK]", "<mask>"),
}
_AT_ONCE = 20_000  # between turns of other threads


def roles_of(special_tokens: Collection[str], given: Mapping[str, str | None]) -> dict[str, str]:
    """Return the special token that has each role: the given one, or the one with a well-known name.

    An empty text stands for none, but for the unknown token, which every vocabulary has, it stands for its name.

    >>> roles_of(["<unk>", "<s>", "</s>"], {"cls_token": ""})
    {'bos_token': '<s>', 'eos_token': '</s>', 'unk_token': '<unk>', 'sep_token': '</s>'}
    """
    roles = {}
    for role, names in ROLES.items():
        token = given.get(role)
        if token is None or (token == "" and role == "unk_token"):
            token = next((name for name in names if name in special_tokens), "")
        if not isinstance(token, str):
            raise StudioError(
                "Invalid {role}: {token!r}", "Use a string such as [UNK], or None.", role=role, token=token
            )
        if token:
            roles[role] = token
    return roles


class TokenList:
    """Tokens in id order that may grow at the end. The vocabularies of all steps of a training share one."""

    def __init__(self, tokens: Iterable[str] = ()) -> None:
        self.tokens = list(tokens)
        self.longest = max(map(len, self.tokens), default=0)  # characters, prefix included
        self.ids: dict[str, int] = {}
        for start in range(0, len(self.tokens), _AT_ONCE):  # so that other threads get their turn
            part = self.tokens[start : start + _AT_ONCE]
            self.ids.update(zip(part, range(start, start + len(part)), strict=True))
        if len(self.ids) < len(self.tokens):
            raise _twice(next(token for number, token in enumerate(self.tokens) if self.ids[token] != number))

    def __reduce__(self) -> tuple[type[TokenList], tuple[list[str]]]:
        return TokenList, (self.tokens.copy(),)

    def append(self, token: str) -> None:
        if token in self.ids:
            raise _twice(token)
        self.longest = max(self.longest, len(token))
        self.tokens.append(token)
        self.ids[token] = len(self.tokens) - 1


def _twice(token: str) -> StudioError:
    return StudioError("The vocabulary holds {token!r} twice", "Every token must occur only once.", token=token)


class Vocabulary:
    """Tokens in id order.

    Parameters
    ----------
    tokens
        One string per id, all different; or a table, of which the vocabulary is a view.
    special_tokens
        Those that are not pieces of words, such as ``[CLS]``.
    continuing_subword_prefix
        Written before every token that does not begin a word.
    end_of_word_suffix
        The mark that closes every word, if the vocabulary was trained with one.
    unk_token
        Stands for a word that no tokens make up. None: ``[UNK]`` or ``<unk>``, whichever is a special token.
    size
        How many tokens of the table belong to the vocabulary; None for all it has now.
    pad_token, cls_token, sep_token, mask_token, bos_token, eos_token
        The special tokens with these roles. None: those with well-known names, such as ``[PAD]`` or ``<pad>``,
        ``[CLS]`` or ``<s>``; an empty text: no token has the role.
    added_tokens
        The user's own tokens, which are never cut; and special tokens that are not found simply as they are spelled.
    pieces
        How many of the first tokens words are made of; the others are only found as added tokens. None for all.

    Attributes
    ----------
    special_tokens : tuple[str, ...]
        The special tokens, with those that have a role or are among the added tokens.
    user_tokens : tuple[str, ...]
        The added tokens that are not special.
    added_tokens : tuple[AddedToken, ...]
        What is found in a text before it is split into words: special tokens and user tokens.
    roles : dict[str, str]
        The special token that has each role, by the name of the role.
    unk_token : str
        Stands for a word that no tokens make up; it need not be in the vocabulary.
    pad_token, cls_token, sep_token, mask_token, bos_token, eos_token : str or None
        Makes texts equally long; stands before a text, for its class, or after each text of a pair; hides a token that
        a model is to guess; begins and ends a text.

    Raises
    ------
    StudioError
        If two tokens are the same, naming the token; or an argument is of the wrong type.

    >>> vocabulary = Vocabulary(["<s>", "</s>", "<unk>", "<url>", "a"], ["<s>", "</s>", "<unk>"])
    >>> vocabulary.unk_token, vocabulary.sep_token, vocabulary.mask_token
    ('<unk>', '</s>', None)
    """

    def __init__(
        self,
        tokens: Sequence[str] | TokenList,
        special_tokens: Sequence[str] = (),
        continuing_subword_prefix: str = "##",
        end_of_word_suffix: str | None = None,
        unk_token: str | None = None,
        *,
        size: int | None = None,
        pad_token: str | None = None,
        cls_token: str | None = None,
        sep_token: str | None = None,
        mask_token: str | None = None,
        bos_token: str | None = None,
        eos_token: str | None = None,
        added_tokens: Iterable[str | AddedToken] = (),
        pieces: int | None = None,
    ) -> None:
        affixes = {
            "continuing_subword_prefix": continuing_subword_prefix,
            "end_of_word_suffix": end_of_word_suffix or "",
        }
        for name, text in affixes.items():
            if not isinstance(text, str):
                raise StudioError("Invalid {name}: {value}", "Use a string.", name=name, value=repr(text)[:100])
        self._table = tokens if isinstance(tokens, TokenList) else TokenList(checked_texts(tokens))
        self._size = len(self._table.tokens) if size is None else operator.index(size)
        self._pieces = None if pieces is None else operator.index(pieces)
        self.continuing_subword_prefix = continuing_subword_prefix
        self.end_of_word_suffix = end_of_word_suffix
        self.longest = self._table.longest
        if isinstance(added_tokens, str) or not isinstance(added_tokens, Iterable):
            what = "Invalid added tokens: {value}"
            raise StudioError(what, "Pass a list of strings or AddedTokens.", value=repr(added_tokens)[:100])
        described = {token.content: token for token in map(AddedToken.of, added_tokens)}
        special = [*checked_texts(special_tokens), *(token.content for token in described.values() if token.special)]
        others = {"pad_token": pad_token, "cls_token": cls_token, "sep_token": sep_token, "mask_token": mask_token}
        others |= {"bos_token": bos_token, "eos_token": eos_token}
        self.roles = roles_of(special, {"unk_token": unk_token, **others})
        self.unk_token = self.roles.get("unk_token", UNKNOWN_TOKEN)
        self.pad_token, self.cls_token = self.roles.get("pad_token"), self.roles.get("cls_token")
        self.sep_token, self.mask_token = self.roles.get("sep_token"), self.roles.get("mask_token")
        self.bos_token, self.eos_token = self.roles.get("bos_token"), self.roles.get("eos_token")
        special += (token for token in others.values() if token)
        self.special_tokens = tuple(dict.fromkeys(special))
        self.added_tokens = tuple(
            ({token: AddedToken(token, special=True) for token in self.special_tokens} | described).values()
        )
        self.user_tokens = tuple(token.content for token in self.added_tokens if not token.special)
        if both := set(self.user_tokens).intersection(self.special_tokens):
            raise StudioError(
                "{token!r} is both a special token and a user token", "List it as only one of them.", token=min(both)
            )

    def first(self, size: int) -> Vocabulary:
        """Return the vocabulary of the first `size` tokens. It shares the tokens, so this costs nothing."""
        return self.with_size(min(size, self._size))

    def with_size(self, size: int) -> Vocabulary:
        """Return the vocabulary of the first `size` tokens of the table, which may have grown."""
        view = object.__new__(Vocabulary)
        vars(view).update(vars(self), _size=operator.index(size), longest=self._table.longest)
        return view

    @property
    def pieces(self) -> list[str]:
        """The tokens that words are made of, in id order."""
        return self._table.tokens[: self._size if self._pieces is None else min(self._pieces, self._size)]

    def is_piece(self, token: str) -> bool:
        """Return whether words may be made of a token."""
        found = self.id_of(token)
        return found is not None and (self._pieces is None or found < self._pieces)

    @property
    def tokens(self) -> list[str]:
        """All tokens in id order."""
        return self._table.tokens[: self._size]

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if it is not in the vocabulary."""
        found = self._table.ids.get(token)
        return found if found is not None and found < self._size else None

    def spelled(self, word: str, start: int, end: int) -> str:
        """Return how a token of a word is spelled; an end-of-word suffix counts as one character after the last."""
        prefix = self.continuing_subword_prefix if start else ""
        return prefix + word[start:end] + ((self.end_of_word_suffix or "") if end > len(word) else "")

    def longest_matches(self, word: str) -> tuple[list[str], list[int], list[int]]:
        """Return the longest tokens that stand one after the other in `word`, their ids, and 0 and where each ends.

        They stop where no token stands. An end-of-word suffix counts as one character after the last.
        """
        find, spelled, longest = self._table.ids.get, self._table.tokens, self.longest
        size = self._size if self._pieces is None else min(self._pieces, self._size)
        suffix = self.end_of_word_suffix or ""
        length = len(word) + bool(suffix)
        tokens: list[str] = []
        ids: list[int] = []
        places = [0]
        prefix, start = "", 0
        while start < length:
            for end in range(min(length, start + longest), start, -1):
                found = find(prefix + word[start:end] + (suffix if end > len(word) else ""))
                if found is not None and found < size:
                    break
            else:
                break
            tokens.append(spelled[found])
            ids.append(found)
            places.append(end)
            prefix, start = self.continuing_subword_prefix, end
        return tokens, ids, places

    def tokens_apart(self, other: Vocabulary) -> list[str] | None:
        """Return the tokens that only one of two vocabularies of one history has; None if they are of two."""
        if self._table is not other._table or self.added_tokens != other.added_tokens:
            return None
        return self._table.tokens[min(self._size, other._size) : max(self._size, other._size)]

    def __getitem__(self, token_id: int) -> str:
        try:
            if 0 <= token_id < self._size:
                return self._table.tokens[token_id]
        except TypeError:
            raise StudioError("{id} is not an ID", "Use a whole number.", id=repr(token_id)[:50]) from None
        raise StudioError(
            "There is no token with the ID {id}", "IDs run from 0 to {last}.", id=token_id, last=self._size - 1
        )

    def __contains__(self, token: object) -> bool:
        return isinstance(token, str) and self.id_of(token) is not None

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        return iter(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(tuple(self.tokens))

    def __repr__(self) -> str:
        return f"<Vocabulary of {self._size:,} tokens>"


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in a text before the text is split into words, and is never cut.

    Parameters
    ----------
    content
        How it is spelled.
    single_word
        Whether it is found only where no letter, digit or the like stands beside it.
    lstrip, rstrip
        Whether it takes the white space before or after it.
    normalized
        Whether it is sought in the normalized text, as its spelling is normalized.
    special
        Whether decoding leaves it out. A token of the user's own, such as ``<url>``, is not special.

    Raises
    ------
    StudioError
        If a value is of the wrong type, or the content is empty.

    >>> AddedToken("<url>").is_plain
    True
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = False
    special: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.content, str) or not self.content:
            raise StudioError(
                "The added token {token!r} is empty or not a string", "Pass a string such as <url>.", token=self.content
            )
        check_fields(self)

    @classmethod
    def of(cls, token: str | AddedToken) -> AddedToken:
        """Return a token, or that of a text, which is found as it is spelled and is not special."""
        return token if isinstance(token, AddedToken) else cls(token)

    @property
    def is_plain(self) -> bool:
        """Whether it is found wherever it is spelled out, and takes nothing else."""
        return not (self.single_word or self.lstrip or self.rstrip or self.normalized)


class Section(NamedTuple):
    """A stretch of a text: from `start` to `end` (exclusive); `text` is what stands there, or the added token."""

    text: str
    start: int
    end: int
    is_added: bool


class AddedTokenFinder:
    def __init__(self, tokens: Mapping[str, AddedToken]) -> None:
        self._tokens = tokens
        self._pattern = one_of(tuple(tokens))

    @classmethod
    def of(cls, tokens: Iterable[AddedToken]) -> Self:
        return cls({token.content: token for token in tokens if not token.normalized})

    def __bool__(self) -> bool:
        return bool(self._tokens)

    @property
    def is_local(self) -> bool:
        """Whether what is found in a stretch between blanks and line ends depends on that stretch alone."""
        texts = "".join(self._tokens)
        strips = any(token.lstrip or token.rstrip for token in self._tokens.values())
        return not (strips or " " in texts or "\n" in texts)

    def sections(self, text: str) -> Iterator[Section]:
        done = 0
        for match in self._pattern.finditer(text) if self._tokens else ():
            token = self._tokens[match[0]]
            start, end = match.span()
            if token.single_word and (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])):
                continue
            if token.lstrip:
                start = max(_space_start(text, start), done)
            if token.rstrip:
                end = _space_end(text, end)
            if done < start:
                yield Section(text[done:start], done, start, False)
            yield Section(token.content, start, end, True)
            done = end
        if done < len(text):
            yield Section(text[done:], done, len(text), False)


@dataclass(frozen=True, slots=True)
class TextReading:
    """How a tokenizer finds the words of a text, line by line: added tokens first, and words between them."""

    pipeline: Pipeline
    added_tokens: tuple[AddedToken, ...] = ()


def _is_word(character: str) -> bool:
    return bool(character) and ord(character) in form_tables().word


def _space_start(text: str, end: int) -> int:
    while end and ord(text[end - 1]) in bert_tables().whitespace:
        end -= 1
    return end


def _space_end(text: str, start: int) -> int:
    while start < len(text) and ord(text[start]) in bert_tables().whitespace:
        start += 1
    return start


# Half a character, with which no word of a text begins, before an added token that was found in normalized text.
FOUND = "\udfff"


def found_token(word: str) -> tuple[str, str]:
    """Return the added token of a word that begins with `FOUND`, and the normalized text that it covers."""
    token, _, covered = word.removeprefix(FOUND).partition(FOUND)
    return token, covered or token


class AddedTokensFirst(PreTokenizer):
    """A pre-tokenizer that finds added tokens before it splits: each becomes a word of its own, see `found_token`."""

    __slots__ = ("_finder", "_pre_tokenizer")

    def __init__(self, pre_tokenizer: PreTokenizer, finder: AddedTokenFinder) -> None:
        self._pre_tokenizer = pre_tokenizer
        self._finder = finder

    @property
    def name(self) -> str:
        return self._pre_tokenizer.name

    @property
    def is_local(self) -> bool:
        """Whether the pre-tokenizer is; else each line would be read by itself, and some tokens take line ends."""
        return self._pre_tokenizer.is_local

    def spans(self, text: str) -> list[Span]:
        spans: list[Span] = []
        for section in self._finder.sections(text):
            if section.is_added:
                word, covered = FOUND + section.text, text[section.start : section.end]
                if covered != section.text:
                    word += FOUND + covered
                positions = (section.start,) * (len(word) - 1) + (section.end - 1,)
                spans.append(Span(word, section.start, section.end, positions))
            else:
                outer = Span(section.text, section.start, section.end)
                spans += (within(outer, span) for span in self._pre_tokenizer.spans(section.text))
        return spans
