"""Text to tokens and back with a given vocabulary: greedy longest match, and a trace of how it went.

The algorithm is that of BERT's WordpieceTokenizer: at each position of a word take the longest token that matches;
if at some position none does, the whole word is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordpiece_studio.system.printable import shortened
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer, Word
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer, text_of_letters
from wordpiece_studio.tokenizer.added_tokens import FOUND, AddedTokenFinder, AddedTokensFirst, TextReading
from wordpiece_studio.tokenizer.encoding import NO_ID as NO_ID
from wordpiece_studio.tokenizer.encoding import Encoder, Encoding, UnknownReason, UnknownToken

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from wordpiece_studio.storage.tokenizer_directory import Only
    from wordpiece_studio.tokenizer.added_tokens import AddedToken, Section
    from wordpiece_studio.tokenizer.encoding import Role
    from wordpiece_studio.tokenizer.vocabulary import Vocabulary

_FEW_TOKENS = 16
MODEL_MAX_LENGTH = 512  # of BERT


@dataclass(frozen=True, slots=True)
class Piece:
    """A token of a word: its text, id, and (start, end) in the original text in code points."""

    token: str
    id: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TokenizedWord:
    """A word of a text with its tokens; `word` is None for an added token, such as a special token spelled out."""

    word: Word | None
    pieces: tuple[Piece, ...]
    unknown: UnknownReason | None


@dataclass(frozen=True, slots=True)
class Trial:
    """A piece of a word that was looked up, and whether it is in the vocabulary."""

    candidate: str
    matched: bool


@dataclass(frozen=True, slots=True)
class PositionTrace:
    """The pieces tried at character `start` of a word, longest first, and the token that matched, if any."""

    start: int
    tried: tuple[Trial, ...]
    token: str | None


@dataclass(frozen=True, slots=True)
class WordTrace:
    """How longest match processed a word."""

    word: str
    positions: tuple[PositionTrace, ...]
    tokens: tuple[str, ...]
    unknown: UnknownReason | None

    def __repr__(self) -> str:
        reason = "" if self.unknown is None else f", {self.unknown!r}"
        return f"<WordTrace of {self.word[:50]!r}: {shortened(self.tokens)}{reason}>"

    def _repr_html_(self) -> str:
        from wordpiece_studio.notebook import trace_html  # it needs this module

        return trace_html(self)


@dataclass(frozen=True, slots=True)
class _Match:
    """Tokens of a word with (start, end) in its characters; on failure one unknown token over the whole word."""

    tokens: tuple[tuple[str, int, int], ...]
    unknown: UnknownReason | None


class Tokenizer(Encoder):
    """Tokenizes text with a vocabulary.

    Parameters
    ----------
    vocabulary
        The tokens.
    normalizer, pre_tokenizer
        How text is split into words; names or objects, as for :func:`~wordpiece_studio.count_words`.
    max_word_length
        A word of more characters is unknown, as in BERT.
    is_normalizer_guessed
        Whether the normalizer was only guessed from the tokens, because neither the files nor the caller gave one.
    model_max_length
        The most tokens that the model takes; written for `transformers`, which truncates to it.
    kept_parts
        Parts of a ``tokenizer.json`` that are only read and written again: truncation, padding, a post-processor.

    Special tokens and user tokens in a text are found before anything else and never cut, as in Hugging Face.

    >>> from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    >>> words = Vocabulary(["b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu", "hug"])
    >>> tokenizer = Tokenizer(words)
    >>> tokenizer.encode("hugs bugs mug").tokens
    ['hug', '##s', 'b', '##u', '##gs', '[UNK]']
    """

    kind = "WordPiece"
    """The kind of its model, as in `ImportedTokenizer.kind`."""
    model_max_length: int

    def __init__(
        self,
        vocabulary: Vocabulary,
        normalizer: str | Normalizer | None = "bert-cased",
        pre_tokenizer: str | PreTokenizer = "bert",
        *,
        max_word_length: int = 100,
        is_normalizer_guessed: bool = False,
        model_max_length: int = MODEL_MAX_LENGTH,
        kept_parts: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.is_normalizer_guessed = is_normalizer_guessed
        self.normalizer = resolve_normalizer(normalizer)
        self.pre_tokenizer = resolve_pre_tokenizer(pre_tokenizer)
        self.max_word_length = max_word_length
        self.model_max_length = model_max_length
        self.kept_parts = dict(kept_parts or {})
        self._finder = AddedTokenFinder.of(vocabulary.added_tokens)
        self._normalized_finder = self._finder_in_normalized_text()
        first = AddedTokensFirst(self.pre_tokenizer, self._normalized_finder)
        self.pipeline = Pipeline(self.normalizer, first if self._normalized_finder else self.pre_tokenizer)
        self._matches: dict[str, _Match] = {}

    def __repr__(self) -> str:
        return f"<Tokenizer: {len(self.vocabulary):,} tokens, {self.normalizer.name}, {self.pre_tokenizer.name}>"

    @property
    def is_local(self) -> bool:
        """Whether a text's tokens are those of its stretches between blanks and line ends, one after the other."""
        return self.pipeline.is_local and self._finder.is_local and self._normalized_finder.is_local

    @property
    def reading(self) -> TextReading:
        """How it finds the words of a text."""
        found_first = (token for token in self.vocabulary.added_tokens if not token.normalized)
        return TextReading(self.pipeline, tuple(found_first))

    @property
    def unk_token(self) -> str:
        """Stands for a word that no tokens make up."""
        return self.vocabulary.unk_token

    @property
    def tokens(self) -> list[str]:
        """All tokens in id order."""
        return self.vocabulary.tokens

    def __len__(self) -> int:
        """Return how many tokens it has."""
        return len(self.vocabulary)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_matches": type(self._matches)()}  # copies begin with an empty cache

    def id_of(self, token: str) -> int | None:
        """Return the id of `token`, or None if it is not in the vocabulary."""
        return self.vocabulary.id_of(token)

    def _token_with(self, role: Role) -> str | None:
        token: str | None = getattr(self.vocabulary, role)
        return token

    def _encoding_of(self, text: str) -> Encoding:
        words: list[int] = []
        encoding = Encoding([], [], [], words)
        for index, word in enumerate(self.tokenize_words(text)):
            for piece in word.pieces:
                encoding.tokens.append(piece.token)
                encoding.ids.append(piece.id)
                encoding.offsets.append((piece.start, piece.end))
                words.append(index)
        return encoding

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``, faster. For whole corpora use `wordpiece_studio.encode_files`."""
        ids: list[int] = []
        for section, _, _, is_added in self._sections(text):
            if is_added:
                ids.append(self._id(section))
            else:
                for word in self.pipeline.words(section):
                    ids += [self._id(token) for token, _, _ in self._match(word).tokens]
        return ids

    def tokenize_words(self, text: str) -> list[TokenizedWord]:
        """Return the words of `text`, each with its tokens and, if it is unknown, the reason."""
        words: list[TokenizedWord] = []
        for section, start, end, is_added in self._sections(text):
            if is_added:
                piece = Piece(section, self._id(section), start, end)
                words.append(TokenizedWord(None, (piece,), None))
            else:
                words.extend(self._tokenize(word, start) for word in self.pipeline.aligned_words(section))
        return words

    def retokenized(self, words: tuple[TokenizedWord, ...], earlier: Tokenizer) -> tuple[TokenizedWord, ...]:
        """Return words that a tokenizer with the same pipeline and special tokens found, as this one tokenizes them.

        What is the same for both stays the same object. If few tokens differ, only words that contain one are matched.
        """
        parts = self._parts_apart(earlier)
        found = [self._retokenized(word) if _has_part(word, parts) else word for word in words]
        is_same = all(old is new for old, new in zip(words, found, strict=True))
        return words if is_same else tuple(found)

    def _parts_apart(self, other: Tokenizer) -> list[str] | None:
        """Return the letters of each token that only one of two tokenizers has; None if these may be many."""
        tokens = self.vocabulary.tokens_apart(other.vocabulary)
        if tokens is None or len(tokens) > _FEW_TOKENS or self.max_word_length != other.max_word_length:
            return None
        prefix, suffix = self.vocabulary.continuing_subword_prefix, self.vocabulary.end_of_word_suffix or ""
        return [token.removeprefix(prefix).removesuffix(suffix) for token in tokens]

    def spans(self, word: str) -> tuple[tuple[str, int, int], ...] | None:
        """Return each token of the unchanged `word`, with (start, end) in its characters; None if it is unknown.

        An end-of-word suffix counts as one character after the last.
        """
        match = self._match(word)
        return match.tokens if match.unknown is None else None

    def _spans_of(self, word: str) -> tuple[tuple[str, int, int], ...]:
        return self._match(word).tokens

    def explain(self, word: str) -> WordTrace:
        """Return every piece tried for `word`, which is neither normalized nor split."""
        units = self._units(word)
        match = self._match(word)
        positions = []
        starts = [start for _, start, _ in match.tokens]
        if match.unknown is not None:
            starts = [] if match.unknown.kind == "too-long" else self._starts_until(units, match.unknown.position)
        for start in starts:
            tried = []
            for end in range(len(units), start, -1):
                candidate = self._candidate(units, start, end)
                tried.append(Trial(candidate, self.vocabulary.is_piece(candidate)))
                if tried[-1].matched:
                    break
            last = tried[-1]
            positions.append(PositionTrace(start, tuple(tried), last.candidate if last.matched else None))
        tokens = tuple(token for token, _, _ in match.tokens)
        return WordTrace(word, tuple(positions), tokens, match.unknown)

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield each word of `text` after normalization, and whether it is an added token found in the text."""
        for section, _, _, is_added in self._sections(text):
            if is_added:
                yield section, True
            else:
                for word in self.pipeline.words(section):
                    yield word.removeprefix(FOUND), word.startswith(FOUND)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True, cleanup: bool = True) -> str:
        """Return the text that `ids` stand for, as far as it can be determined, like Hugging Face's WordPiece decoder.

        `cleanup` removes the space before punctuation and English contractions. After `ByteLevel` the tokens are bytes,
        blanks among them, and the text is what these spell.

        Raises
        ------
        StudioError
            If an id is not in the vocabulary.
        """
        tokens = [self.vocabulary[token_id] for token_id in ids]
        if skip_special_tokens:
            tokens = [token for token in tokens if token not in self.vocabulary.special_tokens]
        suffix = self.vocabulary.end_of_word_suffix
        prefix = self.vocabulary.continuing_subword_prefix
        bare = [token.removeprefix(prefix) for token in tokens]
        if self.pre_tokenizer.is_byte_level:
            return text_of_letters(token.removesuffix(suffix or "") for token in bare)
        if suffix:
            return "".join(bare).replace(suffix, " ").rstrip(" ")
        return "".join(_spaced(token, prefix, index == 0, cleanup) for index, token in enumerate(tokens))

    def with_steps(self, normalizer: Normalizer, pre_tokenizer: PreTokenizer) -> Tokenizer:
        """Return a tokenizer with another normalizer and pre-tokenizer, and everything else of this one."""
        return Tokenizer(
            self.vocabulary,
            normalizer,
            pre_tokenizer,
            max_word_length=self.max_word_length,
            is_normalizer_guessed=self.is_normalizer_guessed,
            model_max_length=self.model_max_length,
            kept_parts=self.kept_parts,
        )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        normalizer: str | Normalizer | None = None,
        pre_tokenizer: str | PreTokenizer | None = None,
    ) -> Tokenizer:
        """Return the tokenizer of a folder or a file.

        Parameters
        ----------
        path
            A folder written by the Studio or `transformers`, a ``tokenizer.json``, or a ``vocab.txt``.
        normalizer, pre_tokenizer
            Overrides what the files say; None keeps it.

        Raises
        ------
        StudioError
            If a file is missing or damaged, requires something that cannot be done exactly here, contradicts another,
            or holds no WordPiece vocabulary; only :func:`~wordpiece_studio.load_tokenizer` accepts those.
        """
        from wordpiece_studio.storage.tokenizer_loading import load_wordpiece_tokenizer  # it needs this module

        return load_wordpiece_tokenizer(path, normalizer, pre_tokenizer)

    def save(self, directory: str | os.PathLike[str], *, only: Only | None = None) -> None:
        """Write the tokenizer to a folder in the form that `tokenizers`, `transformers` and others read.

        Parameters
        ----------
        directory
            Created if it does not exist. Only :func:`~wordpiece_studio.save_directory` records how the vocabulary was
            trained.
        only
            Write only ``"vocab.txt"`` or ``"tokenizer.json"``, if the other cannot be written.

        Raises
        ------
        StudioError
            If a file cannot represent the tokenizer exactly, with the reason and what can be written instead; or cannot
            be written. The folder is then unchanged.
        """
        from wordpiece_studio.storage.tokenizer_directory import save_directory  # it needs this module

        save_directory(
            directory,
            self.vocabulary,
            self.normalizer,
            self.pre_tokenizer,
            max_word_length=self.max_word_length,
            model_max_length=self.model_max_length,
            kept_parts=self.kept_parts,
            only=only,
        )

    def _sections(self, text: str) -> Iterator[Section]:
        """Yield the added tokens in a text, before it is normalized, and the stretches between them."""
        return self._finder.sections(text)

    def _finder_in_normalized_text(self) -> AddedTokenFinder:
        sought: dict[str, AddedToken] = {}
        for token in self.vocabulary.added_tokens:
            if token.normalized and (spelling := self.normalizer.normalize(token.content)):
                sought.setdefault(spelling, token)
        return AddedTokenFinder(sought)

    def _tokenize(self, word: Word, offset: int) -> TokenizedWord:
        match = self._match(word.text)
        starts = (*word.starts, word.ends[-1])  # an end-of-word suffix begins where the word ends
        ends = (*word.ends, word.ends[-1])
        pieces = tuple(
            Piece(token, self._id(token), offset + starts[start], offset + ends[end - 1])
            for token, start, end in match.tokens
        )
        return TokenizedWord(None if word.text.startswith(FOUND) else word, pieces, match.unknown)

    def _retokenized(self, old: TokenizedWord) -> TokenizedWord:
        if old.word is None:
            piece = old.pieces[0]
            new = Piece(piece.token, self._id(piece.token), piece.start, piece.end)
            return old if new == piece else TokenizedWord(None, (new,), None)
        match = self._match(old.word.text)
        tokens = [(token, self._id(token)) for token, _, _ in match.tokens]
        if match.unknown == old.unknown and tokens == [(piece.token, piece.id) for piece in old.pieces]:
            return old
        return self._tokenize(old.word, old.pieces[0].start - old.word.starts[0])

    def _match(self, word: str) -> _Match:
        """Return the tokens of a word; each distinct word is matched once."""
        found = self._matches.get(word)
        if found is None:
            found = self._matches[word] = self._longest_match(word)
        return found

    def _longest_match(self, word: str) -> _Match:
        if word.startswith(FOUND):
            return _Match(((word.removeprefix(FOUND), 0, len(word)),), None)
        if len(word) > self.max_word_length:
            return self._unknown(word, UnknownReason("too-long", 0, ""))
        units = self._units(word)
        tokens: list[tuple[str, int, int]] = []
        start = 0
        while start < len(units):
            for end in range(min(len(units), start + self.vocabulary.longest), start, -1):
                candidate = self._candidate(units, start, end)
                if self.vocabulary.is_piece(candidate):
                    tokens.append((candidate, start, end))
                    start = end
                    break
            else:
                symbol = self._candidate(units, start, start + 1)
                return self._unknown(word, UnknownReason("symbol", start, symbol))
        return _Match(tuple(tokens), None)

    def _unknown(self, word: str, reason: UnknownReason) -> _Match:
        return _Match(((UnknownToken(self.vocabulary.unk_token, reason), 0, len(word)),), reason)

    def _units(self, word: str) -> list[str]:
        """Return the characters of a word, and the end-of-word suffix if the vocabulary has one."""
        suffix = self.vocabulary.end_of_word_suffix
        return [*word, suffix] if suffix else list(word)

    def _candidate(self, units: Sequence[str], start: int, end: int) -> str:
        prefix = self.vocabulary.continuing_subword_prefix if start else ""
        return prefix + "".join(units[start:end])

    def _starts_until(self, units: Sequence[str], last: int) -> list[int]:
        """Return where the matching tokens before `last` begin, and `last` itself."""
        starts = [0]
        while starts[-1] < last:
            start = starts[-1]
            candidates = ((end, self._candidate(units, start, end)) for end in range(last, start, -1))
            starts.append(next(end for end, candidate in candidates if self.vocabulary.is_piece(candidate)))
        return starts

    def _id(self, token: str) -> int:
        found = self.vocabulary.id_of(token)
        return NO_ID if found is None else found


def _has_part(word: TokenizedWord, parts: list[str] | None) -> bool:
    return parts is None or (word.word is not None and any(part in word.word.text for part in parts))


_CLEANUP = (" .", " ?", " !", " ,", " n't", " 'm", " 's", " 've", " 're")


def _spaced(token: str, prefix: str, is_first: bool, cleanup: bool) -> str:
    """Return a token as it appears in decoded text, with the space before it if there is one."""
    if is_first:
        return token
    if prefix and token.startswith(prefix):
        return token.removeprefix(prefix)
    spaced = " " + token
    if cleanup:
        # Hugging Face cleans up token by token, so its rules for " ' " and " do not" never apply.
        for pattern in _CLEANUP:
            spaced = spaced.replace(pattern, pattern[1:])
    return spaced
