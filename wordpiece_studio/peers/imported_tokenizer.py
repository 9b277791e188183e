"""A tokenizer that another program made, to compare with: it tokenizes as its own program does, and nothing else.

What the Studio can do more with, a WordPiece vocabulary without peculiarities, becomes a `Tokenizer` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.errors import StudioError
from wordpiece_studio.peers.added_tokens import AddedTokens
from wordpiece_studio.peers.decoding import decoded
from wordpiece_studio.peers.normalizing import byte_characters
from wordpiece_studio.text.character_tables import bert_tables
from wordpiece_studio.tokenizer.tokenizer import Encoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.peers.added_tokens import AddedToken
    from wordpiece_studio.peers.cutting import Cutter
    from wordpiece_studio.peers.decoding import Decoder
    from wordpiece_studio.peers.models import Model, ModelKind, ModelToken
    from wordpiece_studio.text.pipeline import AlignedText, Normalizer

_MOST_KEPT, _LONGEST_KEPT = 50_000, 50  # words, and characters of one


class ImportedTokenizer:
    """Tokenizes text as the `tokenizers` library does, the special tokens that models want around it left out.

    Parameters
    ----------
    model
        Turns words into tokens.
    normalizer, cutters
        What a text goes through before; the cutters one after the other.
    added_tokens
        What is found in a text before anything else.
    trims_offsets
        Whether offsets leave out blanks that a token holds; None if not, else whether a first blank was put there.
    decoders
        How tokens become a text, one after the other; None: with blanks between them.
    """

    def __init__(
        self,
        model: Model,
        normalizer: Normalizer,
        cutters: Sequence[Cutter] = (),
        added_tokens: Sequence[AddedToken] = (),
        *,
        trims_offsets: bool | None = None,
        decoders: Sequence[Decoder] | None = None,
    ) -> None:
        self.model = model
        self.normalizer = normalizer
        self.cutters = tuple(cutters)
        self.added_tokens = tuple(added_tokens)
        self._added = AddedTokens(self.added_tokens, normalizer)
        self._trims_offsets = trims_offsets
        self._decoders = None if decoders is None else tuple(decoders)
        self._tokens_by_id: dict[int, str] = {}
        self._tokens_by_word: dict[str, list[ModelToken]] = {}

    @property
    def kind(self) -> ModelKind:
        """What its model is: ``"WordPiece"``, ``"BPE"`` or ``"Unigram"``."""
        return self.model.kind

    def __len__(self) -> int:
        """Return how many tokens it has, added ones included."""
        return len(self.model.vocab.keys() | {token.content for token in self.added_tokens})

    @property
    def has_holes(self) -> bool:
        """Whether there are numbers between the ids that are no token's."""
        ids = {*self.model.vocab.values(), *(token.id for token in self.added_tokens)}
        return max(ids, default=-1) >= len(ids)

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if there is no such token."""
        added = next((known.id for known in self.added_tokens if known.content == token), None)
        return self.model.vocab.get(token) if added is None else added

    def encode(self, text: str) -> Encoding:
        """Return the tokens of `text`.

        Raises
        ------
        StudioError
            If the model cannot tokenize it.
        """
        encoding = Encoding([], [], [], [])
        words = 0
        for piece, added in self._added.pieces(text):
            if added is not None:
                offset = piece.starts[0], piece.ends[-1]
                _append(encoding, added.id, piece.text, self._trimmed(encoding, piece.text, offset), words)
                words += 1
                continue
            for word in self._words(piece):
                for token, offset in _placed(word, self._tokens_of(word.text)):
                    _append(encoding, token.id, token.token, self._trimmed(encoding, token.token, offset), words)
                words += 1
        return encoding

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``."""
        return self.encode(text).ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text that `ids` stand for, as far as it can be told.

        Raises
        ------
        StudioError
            If an id is no token's, or the tokenizer's way of decoding cannot be repeated here.
        """
        if not self._tokens_by_id:
            added = {token.id: token.content for token in self.added_tokens}
            self._tokens_by_id = {number: token for token, number in self.model.vocab.items()} | added
        special = {token.content for token in self.added_tokens if token.is_special} if skip_special_tokens else set()
        unknown = next((number for number in ids if number not in self._tokens_by_id), None)
        if unknown is not None:
            raise StudioError("No token has the id {id}", "Leave it out.", id=str(unknown)[:30])
        tokens = [self._tokens_by_id[number] for number in ids]
        return decoded([token for token in tokens if token not in special], self._decoders)

    def _words(self, piece: AlignedText) -> list[AlignedText]:
        words = [piece] if piece.text else []
        for cutter in self.cutters:
            words = [part for word in words for part in cutter.parts(word)]
        return words

    def _tokens_of(self, word: str) -> list[ModelToken]:
        """Return the tokens of a word; those of short ones are kept, for most come again."""
        found = self._tokens_by_word.get(word)
        if found is None:
            found = self.model.tokenize(word)
            if len(word) <= _LONGEST_KEPT:
                if len(self._tokens_by_word) >= _MOST_KEPT:
                    self._tokens_by_word.clear()
                self._tokens_by_word[word] = found
        return found

    def _trimmed(self, encoding: Encoding, token: str, offset: tuple[int, int]) -> tuple[int, int]:
        """Return (start, end) of the next token without the blanks that it begins and ends with."""
        if self._trims_offsets is None:
            return offset
        start, end = offset
        leading = _blanks(token)
        if leading:
            is_first = not encoding.tokens or start == 0
            if is_first and self._trims_offsets and leading == 1:
                leading = 0  # that blank is not in the text
            start = min(start + leading, end)
        trailing = _blanks(token[::-1])
        if trailing and end >= trailing:
            end = max(end - trailing, start)
        return start, end


def _append(encoding: Encoding, token_id: int, token: str, offset: tuple[int, int], word: int) -> None:
    encoding.ids.append(token_id)
    encoding.tokens.append(token)
    encoding.offsets.append(offset)
    encoding.words.append(word)


def _placed(word: AlignedText, tokens: list[ModelToken]) -> list[tuple[ModelToken, tuple[int, int]]]:
    """Return the tokens of a word, each with (start, end) in the original text."""
    text = word.text
    if text.isascii():
        return [(token, (word.starts[token.start], word.ends[token.end - 1])) for token in tokens]
    characters = [
        index for index, character in enumerate(text) for _ in range(len(character.encode("utf-8", "surrogatepass")))
    ]
    return [(token, (word.starts[characters[token.start]], word.ends[characters[token.end - 1]])) for token in tokens]


def _blanks(token: str) -> int:
    """Return how many blanks a token begins with, in either writing."""
    whitespace, blank = bert_tables().whitespace, byte_characters()[0x20]
    count = 0
    for character in token:
        if character != blank and ord(character) not in whitespace:
            break
        count += 1
    return count
