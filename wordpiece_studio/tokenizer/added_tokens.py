"""Added tokens: found in a text before anything else and never cut, as the `tokenizers` library finds them.

Most are found in the text as it is. Those that are to be normalized are found later, in each stretch between the others
once it is normalized, but before it is split into words. Of several that begin at one place the longest is taken. In an
encoding such a token is the stretch of text that it covers, as in that library; everywhere else it is itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.character_tables import bert_tables, form_tables
from wordpiece_studio.text.pipeline import Pipeline, PreTokenizer, Span, check_fields, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


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
    """Finds added tokens in texts, by the spelling that is sought."""

    def __init__(self, tokens: Mapping[str, AddedToken]) -> None:
        self._tokens = tokens
        self._pattern = one_of(tuple(tokens))

    @classmethod
    def of(cls, tokens: Iterable[AddedToken]) -> Self:
        """Return a finder of the tokens that are sought in the text as it is."""
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


FOUND = "\udfff"
"""Half a character, with which no word of a text begins, before an added token that was found in normalized text."""


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
                spans += (_moved(span, section.start) for span in self._pre_tokenizer.spans(section.text))
        return spans


def _moved(span: Span, by: int) -> Span:
    positions = None if span.positions is None else tuple(position + by for position in span.positions)
    return Span(span.text, span.start + by, span.end + by, positions)
