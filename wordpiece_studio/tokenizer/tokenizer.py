"""Text to tokens and back with a given vocabulary: greedy longest match, and a trace of how it went.

The algorithm is that of BERT's WordpieceTokenizer: at each position of a word take the longest token that matches;
if at some position none does, the whole word is unknown.
"""

from __future__ import annotations

import itertools
import threading
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from wordpiece_studio import tokenizer as room
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import shortened
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.patterns import PatternPreTokenizer, Split
from wordpiece_studio.text.pipeline import Normalizer, Pipeline, PreTokenizer, Word
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer, text_of_letters
from wordpiece_studio.tokenizer.encoding import (
    Encoder,
    Encoding,
    UnknownReason,
    UnknownToken,
    checked_ids,
    checked_text,
    whole_number,
)
from wordpiece_studio.tokenizer.shaping import Columns, Library, Template
from wordpiece_studio.tokenizer.vocabulary import (
    FOUND,
    AddedTokenFinder,
    AddedTokensFirst,
    TextReading,
    Vocabulary,
    found_token,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from wordpiece_studio.tokenizer.encoding import WordCut
    from wordpiece_studio.tokenizer.shaping import Form, Texts
    from wordpiece_studio.tokenizer.vocabulary import AddedToken, Section

_T = TypeVar("_T")
_FEW_TOKENS = 16
MODEL_MAX_LENGTH = 512  # of BERT
_MOST_KEPT = 1 << 18  # characters of texts about which something is kept
_LONG = 100  # a longer text hardly occurs again
_FEW_CHARACTERS = 10_000  # are encoded in the time it takes to load the library, and a vocabulary with it
_LOADING = threading.Lock()  # of libraries, one at a time
NO_ID = -1  # the id of the unknown token if the vocabulary has none


@dataclass(frozen=True, slots=True)
class Piece:
    """A token of a word: its text, id, and (start, end) in the original text in code points.

    `covered` is what an added token covers where that is not spelled as the token is.
    """

    token: str
    id: int
    start: int
    end: int
    covered: str = ""


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
        from wordpiece_studio.notebook import trace_html

        positions = [
            (each.start, [(trial.candidate, trial.matched) for trial in each.tried]) for each in self.positions
        ]
        return trace_html(self.word, positions, self.tokens, self.unknown)


class WordMatch(NamedTuple):
    """Tokens of a word, with (start, end) in its characters; on failure one unknown token over the whole word."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]
    unknown: UnknownReason | None


class _Kept(dict[str, _T]):
    """What is known about texts; all of it is forgotten when the texts become too long together."""

    def __init__(self) -> None:
        super().__init__()
        self._characters = 0

    def keep(self, text: str, value: _T) -> _T:
        if len(text) < _LONG:
            self._characters += len(text) + 1
            if self._characters > _MOST_KEPT:
                self.clear()
                self._characters = len(text) + 1
            self[text] = value
        return value


class WordEncoder(Encoder):
    """What finds added tokens, and words by its pipeline, each of which is cut by itself."""

    pipeline: Pipeline
    _finder: AddedTokenFinder
    _normalized_finder = AddedTokenFinder({})

    def _begin(self) -> None:
        self._matches: _Kept[WordMatch] = _Kept()
        self._ids: _Kept[tuple[int, ...]] = _Kept()
        self._characters = 0  # that were encoded, until the library is loaded
        self._run: Library | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _FOUND_IN_USE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @cached_property
    def is_local(self) -> bool:
        """Whether a text's tokens are those of its stretches between blanks and line ends, one after the other."""
        return self.pipeline.is_local and self._finder.is_local and self._normalized_finder.is_local

    def _columns_of(self, texts: Sequence[str]) -> Iterator[Columns]:
        for text in texts:
            words = list(enumerate(self.tokenize_words(text)))
            pieces = [(piece, number) for number, word in words for piece in word.pieces]
            yield Columns(
                [piece.covered or piece.token for piece, _ in pieces],
                [piece.id for piece, _ in pieces],
                [(piece.start, piece.end) for piece, _ in pieces],
                [number for _, number in pieces],
            )

    def ids(self, text: str) -> list[int]:
        """Return ``encode(text).ids``, faster. For whole corpora use `wordpiece_studio.encode_files`."""
        known = self._ids.get
        parts = checked_text(text).split(" ") if self.is_local else (text,)
        return [*itertools.chain.from_iterable([known(part) or self._ids_of(part) for part in parts])]

    def _ids_of(self, text: str) -> tuple[int, ...]:
        ids: list[int] = []
        for section, _, _, is_added in self._sections(text):
            if is_added:
                ids.append(self._id(section))
            else:
                for word in self.pipeline.words(section):
                    ids += self.match(word).ids
        return self._ids.keep(text, tuple(ids))

    def tokenize_words(self, text: str) -> list[TokenizedWord]:
        """Return the words of `text`, each with its tokens and, if it is unknown, the reason."""
        words: list[TokenizedWord] = []
        for section, start, end, is_added in self._sections(text):
            if is_added:
                piece = Piece(section, self._id(section), start, end, text[start:end])
                words.append(TokenizedWord(None, (piece,), None))
            else:
                words.extend(self._tokenize(word, start) for word in self.pipeline.aligned_words(section))
        return words

    def _cuts(self, words: Iterable[str]) -> Iterator[WordCut]:
        for match in map(self.match, words):
            yield match.tokens, match.ids, match.spans

    @abstractmethod
    def _cut(self, word: str) -> WordMatch: ...

    def match(self, word: str) -> WordMatch:
        found = self._matches.get(word)
        if found is None and word.startswith(FOUND):
            token, _ = found_token(word)
            found = self._matches.keep(word, WordMatch((token,), (self._id(token),), ((0, len(word)),), None))
        return self._matches.keep(word, self._cut(word)) if found is None else found

    def _tokenize(self, word: Word, first: int) -> TokenizedWord:
        match = self.match(word.text)
        # An end-of-word suffix stands where the word ends.
        starts, ends = (*word.starts, word.end), (*word.ends, word.end)
        pieces = tuple(
            Piece(token, number, first + starts[start], first + (ends[end - 1] if end > start else starts[start]))
            for token, number, (start, end) in zip(match.tokens, match.ids, match.spans, strict=True)
        )
        if word.text.startswith(FOUND):
            return TokenizedWord(None, (replace(pieces[0], covered=found_token(word.text)[1]),), None)
        return TokenizedWord(word, pieces, match.unknown)

    def _sections(self, text: str) -> Iterator[Section]:
        return self._finder.sections(checked_text(text))

    def _id(self, token: str) -> int:
        found = self.id_of(token)
        return NO_ID if found is None else found


class Tokenizer(WordEncoder):
    """Tokenizes text with a vocabulary.

    Parameters
    ----------
    vocabulary
        The tokens.
    normalizer, pre_tokenizer
        How text is split into words; names or objects, as for :func:`~wordpiece_studio.count_words`. Steps that prepare
        the corpus only are left out, see `CorpusOnly`.
    max_word_length
        A word of more characters is unknown, as in BERT.
    is_normalizer_guessed
        Whether the normalizer was only guessed from the tokens, because neither the files nor the caller gave one.
    model_max_length
        The most tokens that the model takes; written for `transformers`, which truncates to it.
    kept_parts
        Parts of a ``tokenizer.json`` that are unlike what the Studio writes, by name. A ``post_processor`` determines
        the special tokens around texts; ``truncation`` and ``padding`` are only written again.

    Special tokens and user tokens in a text are found before anything else and never cut, as in Hugging Face.

    >>> from wordpiece_studio.tokenizer.vocabulary import Vocabulary
    >>> words = Vocabulary(["b", "h", "p", "##g", "##n", "##s", "##u", "##gs", "hu", "hug"])
    >>> tokenizer = Tokenizer(words)
    >>> tokenizer.encode("hugs bugs mug").tokens
    ['hug', '##s', 'b', '##u', '##gs', '[UNK]']
    """

    kind = "WordPiece"
    model_max_length: int
    can_explain = True  # whether `explain` says how a word is cut
    is_cut_by_tokens = True  # whether the tokens alone determine how a word is cut
    has_decoder = True  # whether the tokenizer.json that was read has one, if it needs one

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
        if not isinstance(vocabulary, Vocabulary):
            raise StudioError(
                "{value} is not a vocabulary", 'Pass one, such as Vocabulary(["a"]).', value=repr(vocabulary)[:100]
            )
        self.vocabulary = vocabulary
        self.is_normalizer_guessed = is_normalizer_guessed
        self.normalizer = resolve_normalizer(normalizer).kept
        self.pre_tokenizer = resolve_pre_tokenizer(pre_tokenizer)
        self.max_word_length = whole_number("max_word_length", max_word_length, 0)
        self.model_max_length = whole_number("model_max_length", model_max_length, 0)
        self.kept_parts = dict(kept_parts or {})
        if "post_processor" in self.kept_parts:
            processor = self.kept_parts["post_processor"]
            template = Template.of(processor)
            if template is None:
                what = "The post_processor {value} is not supported"
                advice = "Use a TemplateProcessing that has each text once, or None."
                raise StudioError(what, advice, value=repr(processor)[:100])
            self._stated, self._changes_types = (processor,), template.changes_types
        self._finder = AddedTokenFinder.of(vocabulary.added_tokens)
        sought: dict[str, AddedToken] = {}
        for token in vocabulary.added_tokens:
            if token.normalized and (spelling := self.normalizer.normalize(token.content)):
                sought.setdefault(spelling, token)
        self._normalized_finder = AddedTokenFinder(sought)
        first = AddedTokensFirst(self.pre_tokenizer, self._normalized_finder)
        self.pipeline = Pipeline(self.normalizer, first if self._normalized_finder else self.pre_tokenizer)
        found_first = (token for token in vocabulary.added_tokens if not token.normalized)
        self.reading = TextReading(self.pipeline, tuple(found_first))
        self.unk_token = vocabulary.unk_token
        self.roles = vocabulary.roles
        self._begin()

    def __repr__(self) -> str:
        return f"<Tokenizer: {len(self.vocabulary):,} tokens, {self.normalizer.name}, {self.pre_tokenizer.name}>"

    @property
    def tokens(self) -> list[str]:
        return self.vocabulary.tokens

    def __len__(self) -> int:
        return len(self.vocabulary)

    def _definition(self) -> tuple[Any, ...]:
        words = {**vars(self.vocabulary), "_table": self.vocabulary.tokens, "longest": 0}
        return words, self.normalizer, self.pre_tokenizer, self.max_word_length, self.kept_parts

    def id_of(self, token: str) -> int | None:
        return self.vocabulary.id_of(token)

    def _shaped(self, both: Sequence[Texts], form: Form, is_pretokenized: bool) -> list[Encoding]:
        is_worth_it = len(both) > 1 or self._is_shaped(both, form)
        library = self._in_library(both) if is_worth_it else None
        if library is None:
            return super()._shaped(both, form, is_pretokenized)
        try:
            raws = library.encoded(both, form, is_pretokenized=is_pretokenized)
        except (TypeError, UnicodeError):  # the library takes no text with an unpaired surrogate
            if half := len(both) // 2:
                halves = both[:half], both[half:]
                return [each for part in halves for each in self._shaped(part, form, is_pretokenized)]
            return super()._shaped(both, form, is_pretokenized)
        found = (partial(self._tokens_in, texts, {}) for texts in both)
        return [Encoding.of_library(raw, tokens) for raw, tokens in zip(raws, found, strict=True)]

    def _in_library(self, both: Sequence[Texts]) -> Library | None:
        """Return what does the same with the library, if it is worth loading it."""
        if self._run is None and self._may_be_in_library:
            for text in itertools.chain.from_iterable(both):
                self._characters += len(text) if isinstance(text, str) else sum(map(len, text))
                if self._characters > _FEW_CHARACTERS:
                    break
            if self._characters > _FEW_CHARACTERS:
                with _LOADING:
                    if self._run is None and self._may_be_in_library:  # no other thread did so meanwhile
                        with suppress(StudioError):  # no file says what it does
                            self._run = Library.of_json(room.as_json(self))
                        self._may_be_in_library = self._run is not None
        return self._run

    @cached_property
    def _may_be_in_library(self) -> bool:
        """Whether the library may do the same; a user's pattern, with which it might never end, it is not given."""
        steps = getattr(self.pre_tokenizer, "pre_tokenizers", (self.pre_tokenizer,))
        has_patterns = any(isinstance(step, PatternPreTokenizer | Split) for step in steps)
        return type(self) is Tokenizer and not has_patterns and self.unk_token in self.vocabulary

    def _tokens_in(self, texts: Texts, reasons: dict[int, Any], raw: Any) -> list[str]:
        tokens: list[str] = raw.tokens
        unknown = self._id(self.vocabulary.unk_token)
        if unknown in raw.ids:
            places = zip(raw.sequence_ids, raw.word_ids, raw.offsets, raw.ids, strict=True)
            for place, (text, word, offsets, token_id) in enumerate(places):
                if token_id == unknown and text is not None:
                    is_whole = isinstance(given := texts[text], str)
                    if text not in reasons:
                        reasons[text] = self._unknown_in([given] if is_whole else given)
                    tokens[place] = reasons[text].get((0 if is_whole else word, *offsets), tokens[place])
        return tokens

    def _unknown_in(self, texts: Sequence[str]) -> dict[tuple[int, int, int], str]:
        """Return the tokens of unknown words, by the index of their text and where they stand in it."""
        found = ((number, columns) for number, columns in enumerate(self._columns_of(texts)))
        pairs = ((number, *pair) for number, each in found for pair in zip(each.tokens, each.offsets, strict=True))
        return {(number, *span): token for number, token, span in pairs if isinstance(token, UnknownToken)}

    def retokenized(self, words: tuple[TokenizedWord, ...], earlier: Tokenizer) -> tuple[TokenizedWord, ...]:
        """Return words that a tokenizer with the same pipeline and special tokens found, as this one tokenizes them.

        What is the same for both stays the same object. If few tokens differ, only words that contain one are matched.
        """
        parts = self._parts_apart(earlier)
        found = []
        for word in words:
            is_known = parts is not None and not (word.word and any(part in word.word.text for part in parts))
            found.append(word if is_known else self._retokenized(word))
        is_same = all(old is new for old, new in zip(words, found, strict=True))
        return words if is_same else tuple(found)

    def _parts_apart(self, other: Tokenizer) -> list[str] | None:
        """Return the letters of each token that only one of two tokenizers has; None if these may be many."""
        if not self.is_cut_by_tokens or self.max_word_length != other.max_word_length:
            return None
        tokens = self.vocabulary.tokens_apart(other.vocabulary)
        if tokens is None or len(tokens) > _FEW_TOKENS:
            return None
        prefix, suffix = self.vocabulary.continuing_subword_prefix, self.vocabulary.end_of_word_suffix or ""
        return [token.removeprefix(prefix).removesuffix(suffix) for token in tokens]

    def spans(self, word: str) -> tuple[tuple[str, int, int], ...] | None:
        """Return each token of the unchanged `word`, with (start, end) in its characters; None if it is unknown.

        An end-of-word suffix counts as one character after the last.
        """
        match = self.match(checked_text(word))
        if match.unknown is not None:
            return None
        return tuple((token, start, end) for token, (start, end) in zip(match.tokens, match.spans, strict=True))

    def explain(self, word: str) -> WordTrace:
        """Return every piece tried for `word`, which is neither normalized nor split."""
        match = self.match(checked_text(word))
        end_of_word = len(word) + bool(self.vocabulary.end_of_word_suffix)
        positions = []
        starts = [start for start, _ in match.spans]
        if match.unknown is not None:
            starts = [] if match.unknown.kind == "too-long" else self.vocabulary.longest_matches(word)[2]
        for start in starts:
            tried = []
            for end in range(end_of_word, start, -1):
                candidate = self.vocabulary.spelled(word, start, end)
                tried.append(Trial(candidate, self.vocabulary.is_piece(candidate)))
                if tried[-1].matched:
                    break
            last = tried[-1]
            positions.append(PositionTrace(start, tuple(tried), last.candidate if last.matched else None))
        return WordTrace(word, tuple(positions), match.tokens, match.unknown)

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Yield each word of `text` after normalization, and whether it is an added token found in the text."""
        for section, _, _, is_added in self._sections(text):
            if is_added:
                yield section, True
            else:
                for word in self.pipeline.words(section):
                    yield (found_token(word)[0], True) if word.startswith(FOUND) else (word, False)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True, cleanup: bool = True) -> str:
        """Return the text that `ids` stand for, as far as it can be determined, like Hugging Face's WordPiece decoder.

        `cleanup` removes the space before punctuation and English contractions. After `ByteLevel` the tokens are bytes,
        blanks among them, and the text is what these spell.

        Raises
        ------
        StudioError
            If an id is not in the vocabulary.
        """
        tokens = [self.vocabulary[token_id] for token_id in checked_ids(ids)]
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

    def changed(self, **arguments: Any) -> Tokenizer:
        """Return a tokenizer with some other arguments, and everything else of this one."""
        names = ("vocabulary", "normalizer", "pre_tokenizer", "max_word_length")
        further = ("is_normalizer_guessed", "model_max_length", "kept_parts")
        made = Tokenizer(**{name: getattr(self, name) for name in (*names, *further)} | arguments)
        for name in ("padding_side", "truncation_side", "has_decoder"):
            setattr(made, name, getattr(self, name))
        return made

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
        loaded: Tokenizer = room.load(path, normalizer, pre_tokenizer)
        return loaded

    def save(
        self, directory: str | os.PathLike[str], *, only: Literal["vocab.txt", "tokenizer.json"] | None = None
    ) -> None:
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
        room.save(directory, self, only=only)

    def _retokenized(self, old: TokenizedWord) -> TokenizedWord:
        if old.word is None:
            piece = old.pieces[0]
            new = replace(piece, id=self._id(piece.token))
            return old if new == piece else TokenizedWord(None, (new,), None)
        match = self.match(old.word.text)
        tokens = list(zip(match.tokens, match.ids, strict=True))
        if match.unknown == old.unknown and tokens == [(piece.token, piece.id) for piece in old.pieces]:
            return old
        return self._tokenize(old.word, old.pieces[0].start - old.word.starts[0])

    def _cut(self, word: str) -> WordMatch:
        if len(word) > self.max_word_length:
            return self._unknown(word, UnknownReason("too-long", 0, ""))
        tokens, ids, places = self.vocabulary.longest_matches(word)
        matched = places[-1]
        if matched < len(word) + bool(self.vocabulary.end_of_word_suffix):
            symbol = self.vocabulary.spelled(word, matched, matched + 1)
            return self._unknown(word, UnknownReason("symbol", matched, symbol))
        return WordMatch(tuple(tokens), tuple(ids), tuple(itertools.pairwise(places)), None)

    def _unknown(self, word: str, reason: UnknownReason) -> WordMatch:
        token = UnknownToken(self.vocabulary.unk_token, reason)
        return WordMatch((token,), (self._id(token),), ((0, len(word)),), reason)


# Attributes of a tokenizer that are not of its copies, which begin anew.
_FOUND_IN_USE = {"_matches", "_ids", "_characters", "_run", "is_local", "_may_be_in_library"}


_CLEANUP = (" .", " ?", " !", " ,", " n't", " 'm", " 's", " 've", " 're")


def _spaced(token: str, prefix: str, is_first: bool, cleanup: bool) -> str:
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
