"""Which tokens of a WordPiece vocabulary no text can produce, and why.

Longest match itself hides no token. A token that begins words is the first one of the word spelled like it. A token w
inside words is found as follows. Take a token t that begins words and may stand before w. If longest match begins the
word tw with a longer token, take that one for t, and so on: tokens do not grow for ever, so in the end longest match
takes t, and then w, which is all that is left. (Looking w up as a word of its own, as is often done, is no proof.)

So what remains is whether the normalizer can leave these characters, the pre-tokenizer leaves them in one word, and
some token begins a word before them. What the built-in steps do is found out from these themselves. Where it is not
known exactly (patterns, letters of bytes, custom steps), more is allowed than is possible, so that a token is only
called unreachable if it is. Each of the others is produced here from a text; where that fails, such as where a user
token or an end-of-word suffix takes its place, or where the words would be too long, it is `undecided`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Literal

from wordpiece_studio.corpus.counts import stop_check
from wordpiece_studio.text.normalizers import UnicodeForm
from wordpiece_studio.text.patterns import PatternPreTokenizer, Split
from wordpiece_studio.text.pre_tokenizers import (
    BertPreTokenizer,
    ByteLevel,
    Digits,
    Punctuation,
    UnicodePunctuation,
    Whitespace,
    WhitespaceSplit,
    text_of_letters,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.text.pipeline import Normalizer
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer

Obstacle = Literal["normalizer", "pre-tokenizer", "beginning", "word length"]

# These leave characters in one word if and only if all of them are of one class, whatever stands around them.
_BY_CLASS = BertPreTokenizer, Whitespace, WhitespaceSplit, Punctuation, Digits, UnicodePunctuation
_IN_NO_WORD = 0
_MOST_TRIALS = 64
# Where normalizers change characters; beyond, the only ones that change are Chinese, which get blanks around them.
_CHANGING = range(0x20000), range(0x2F800, 0x2FA20), range(0xE0000, 0xE0200)


@dataclass(frozen=True, slots=True)
class Reachability:
    """Which tokens texts can produce, of those that words are made of, without special, user and unknown tokens.

    Attributes
    ----------
    unreachable
        The tokens that no text can produce, in order of their ids, each with what prevents it: the normalizer leaves no
        such characters; the pre-tokenizer leaves them in no word, or not at this place; no token can begin the word; or
        the word would be too long.
    undecided
        Tokens for which neither a text nor a proof was found.
    tokens
        How many were examined.
    """

    unreachable: dict[str, Obstacle]
    undecided: tuple[str, ...]
    tokens: int


def reachability(tokenizer: Tokenizer, should_stop: Callable[[], bool] | None = None) -> Reachability:
    """Return which tokens of a tokenizer that uses longest match some text can produce.

    >>> from wordpiece_studio import Tokenizer, Vocabulary
    >>> tokens = ["[UNK]", "a", "A", "b", "##a", "##,", "aa", "aaa", "ba", "##中"]
    >>> reachability(Tokenizer(Vocabulary(tokens, ["[UNK]"]), "bert-uncased")).unreachable
    {'A': 'normalizer', '##,': 'pre-tokenizer', '##中': 'pre-tokenizer'}
    """
    check_stop = stop_check(should_stop)
    vocabulary = tokenizer.vocabulary
    pieces = vocabulary.pieces
    added = {*(token.content for token in vocabulary.added_tokens), vocabulary.unk_token}
    examined = [token for token in pieces if token not in added]
    search = _Search(tokenizer, pieces)
    unreachable: dict[str, Obstacle] = {}
    undecided = []
    for number, token in enumerate(examined):
        if not number % 256:
            check_stop()
        obstacle = search.obstacle(token)
        if obstacle is not None:
            unreachable[token] = obstacle
        elif not search.can_produce(token):
            undecided.append(token)
    return Reachability(unreachable, tuple(undecided), len(examined))


class _Search:
    def __init__(self, tokenizer: Tokenizer, pieces: list[str]) -> None:
        self._tokenizer = tokenizer
        vocabulary = tokenizer.vocabulary
        self._prefix, self._suffix = vocabulary.continuing_subword_prefix, vocabulary.end_of_word_suffix or ""
        self._characters = _Characters(tokenizer, set(chain.from_iterable(pieces)))
        self._beginnings: dict[int, list[str]] = {}  # the characters of tokens that begin words, by their class
        for letters in sorted(filter(None, pieces), key=len):
            if self._characters.obstacle(letters) is None:
                self._beginnings.setdefault(self._characters.classes[letters[0]], []).append(letters)

    def obstacle(self, token: str) -> Obstacle | None:
        found = [self._obstacle(letters, inside=inside) for letters, inside in self._roles(token)]
        if not found:  # an empty token
            return "pre-tokenizer"
        return None if None in found else found[-1]

    def _roles(self, token: str) -> list[tuple[str, bool]]:
        """Return the characters that a token stands for, and whether these are inside a word, the usual ones last."""
        spelled = [token, token.removesuffix(self._suffix)] if self._suffix else [token]
        inside = [each.removeprefix(self._prefix) for each in spelled if each.startswith(self._prefix)]
        roles = [(each, False) for each in spelled] + [(each, True) for each in inside if self._prefix]
        return [(letters, is_inside) for letters, is_inside in roles if letters or self._suffix]

    def _obstacle(self, letters: str, *, inside: bool) -> Obstacle | None:
        characters = self._characters
        if not letters:  # an end-of-word suffix alone
            return None
        if (obstacle := characters.obstacle(letters)) is not None:
            return obstacle
        if inside and characters.classes[letters[0]] < 0:
            return "pre-tokenizer"
        if inside and characters.classes[letters[0]] not in self._beginnings:
            return "beginning"
        return "word length" if len(letters) + inside > self._tokenizer.max_word_length else None

    def can_produce(self, token: str) -> bool:
        return any(
            not is_added and token in self._tokenizer.match(found).tokens
            for word in self._words_with(token)
            for text in self._characters.texts_of(word)
            for found, is_added in self._tokenizer.split(text)
        )

    def _words_with(self, token: str) -> Iterator[str]:
        """Yield words in which longest match should find a token, see above."""
        for letters, inside in self._roles(token):
            if self._obstacle(letters, inside=inside) is not None:
                continue
            if not inside:
                yield letters
                continue
            beginnings = self._beginnings.get(self._characters.classes[letters[0]]) if letters else None
            for beginning in (beginnings or next(iter(self._beginnings.values()), []))[:_MOST_TRIALS]:
                start, end = 0, len(beginning)
                while end > start:  # longer tokens
                    word, start = beginning + letters, len(beginning)
                    end = self._tokenizer.vocabulary.longest_matches(word)[2][1]
                    beginning = word[: max(start, end)]
                yield word


class _Characters:
    """Which characters the normalizer and the pre-tokenizer of a tokenizer leave in words, and beside each other."""

    def __init__(self, tokenizer: Tokenizer, characters: set[str]) -> None:
        self._normalizer, self._pre_tokenizer = tokenizer.normalizer, tokenizer.pre_tokenizer
        steps = getattr(self._normalizer, "normalizers", (self._normalizer,))
        kinds = [type(each) for each in getattr(self._pre_tokenizer, "pre_tokenizers", (self._pre_tokenizer,))]
        self._is_by_class = all(kind in _BY_CLASS for kind in kinds)
        self._is_known = all(kind in (*_BY_CLASS, Split, PatternPreTokenizer) for kind in kinds)
        # In the end all text is of this form, and so is every part of it, where nothing inside words is dropped.
        is_of_form = self._is_by_class and UnicodePunctuation not in kinds and isinstance(steps[-1], UnicodeForm)
        self._form = steps[-1] if is_of_form else None
        removed = "".join(getattr(step, "characters", "") for step in steps)
        self._between = [each for each in (*removed, "\0") if not self._normalizer.normalize(each)][-1:]
        self._left: set[str] = set()
        self._examples: list[str] = []  # a character of each class
        self.classes = {character: self._class(character) for character in sorted(characters)}

    def _class(self, character: str) -> int:
        """Return the class of a character; it is negative for one that is alone in a word."""
        split = self._pre_tokenizer.split
        if not self._is_known:
            self._left.add(character)
            return _IN_NO_WORD if type(self._pre_tokenizer) is ByteLevel and not split(character) else 1
        is_alone = _is_alone(self._normalizer, character)
        if is_alone is None:
            return _IN_NO_WORD
        self._left.add(character)
        if not self._is_by_class:
            return 1
        if split(character) != [character] or character == "\n":
            return _IN_NO_WORD
        if is_alone or split(character * 2) != [character * 2]:
            return -ord(character) - 1
        for number, other in enumerate(self._examples, start=1):
            if split(other + character) == [other + character]:
                return number
        self._examples.append(character)
        return len(self._examples)

    def obstacle(self, letters: str) -> Obstacle | None:
        """Return what prevents that characters stand in a word one after the other."""
        if not self._left.issuperset(letters) or (self._form and self._form.normalize(letters) != letters):
            return "normalizer"
        classes = {self.classes[letter] for letter in letters}
        is_alone = len(letters) > 1 and min(classes) < 0
        return "pre-tokenizer" if len(classes) > 1 or is_alone or _IN_NO_WORD in classes else None

    def texts_of(self, word: str) -> Iterator[str]:
        """Yield texts that may become a word; what the normalizer removes keeps characters from being combined."""
        if self._pre_tokenizer.is_byte_level:
            yield from (text_of_letters([word]), "." + text_of_letters([word]))
            return
        yield word
        yield from (between.join(word) for between in self._between)
        stays = self._normalizer.normalize
        if any(character not in stays(character) for character in word):
            others = _sources(self._normalizer)
            yield "".join(c if c in stays(c) else min(others.get(c, c), key=lambda x: stays(x) != c) for c in word)


def _is_alone(normalizer: Normalizer, character: str) -> bool | None:
    """Return whether the normalizer puts blanks around a character wherever it leaves it; None if it never does."""
    normalize = normalizer.normalize
    if not normalizer.is_by_character or normalize(character) == character:
        return False
    images = {normalize(character), normalize(unicodedata.normalize("NFD", character))}
    images.update(map(normalize, _sources(normalizer).get(character, "")))
    found = [image for image in images if character in image]
    return all(f" {character} " in image for image in found) if found else None


@cache
def _sources(normalizer: Normalizer) -> dict[str, str]:
    """Return, for each character that others become, or a part of them, these others."""
    sources: dict[str, list[str]] = {}
    for code_point in chain.from_iterable(_CHANGING):
        character = chr(code_point)
        for each in normalizer.normalize(character):
            if each != character:
                sources.setdefault(each, []).append(character)
    return {character: "".join(found) for character, found in sources.items()}
