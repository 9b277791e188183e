"""The code of the child process in which another library trains. Nothing is written to disk.

The parent is `library_training`.
"""

from __future__ import annotations

import io
import json
import os
import re
import threading
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.corpus.decoding import TextPiece, size_of_text, text_pieces
from wordpiece_studio.corpus.files import CorpusFile
from wordpiece_studio.corpus.listing import opened
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_child import reason_of
from wordpiece_studio.system.memory import limit_memory
from wordpiece_studio.system.printable import decodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from wordpiece_studio.evaluation.held_out import Fold

    Heard = Callable[[str], tuple[int, int] | None]
    """Returns how far the library is and how far it has to go, if the text that it printed says so."""

_TOKENIZERS_KINDS = {"wordpiece": "WordPiece", "bpe": "BPE", "unigram": "Unigram"}
_CHARACTERS_AT_ONCE = 1 << 16
_RESERVED = "\u2585"  # stands for what is unknown in the texts of SentencePiece
_SEPARATORS = (0x20, 0x0A, *range(0xE000, 0xF900))


@decodable
class Learned(msgspec.Struct, frozen=True):
    """What a library has learned: tokens by id, their scores and the merges in order, if it tells them.

    `left_out`: how many words, or lines, it did not train on; `is_of_lines`: it was given lines, not words with counts.
    """

    version: str
    tokens: tuple[str, ...]
    scores: tuple[float, ...] | None = None
    merges: tuple[tuple[str, str], ...] | None = None
    left_out: int = 0
    is_of_lines: bool = False

    def __post_init__(self) -> None:
        if self.scores is not None and len(self.scores) != len(self.tokens):
            raise ValueError(f"{len(self.scores)} scores of {len(self.tokens)} tokens")


def train_in_child(
    trainer: str,
    settings: Mapping[str, Any],
    corpus: WordCounts | Sequence[str | CorpusFile],
    fold: Fold | None,
    most_memory: int,
    progress: Callable[[int, int], None],
) -> tuple[bytes, Learned]:
    limit_memory(most_memory)
    library, kind = trainer.split("-")
    try:
        if isinstance(corpus, WordCounts) and library == "tokenizers":
            _report_printed(progress, _TokenizersProgress(settings, corpus))
            return _by_tokenizers(_TOKENIZERS_KINDS[kind], settings, corpus)
        _report_printed(progress, _SentencePieceProgress(settings))
        return _by_sentencepiece(kind, settings, corpus if isinstance(corpus, WordCounts) else _texts(corpus, fold))
    except (StudioError, MemoryError):
        raise
    except ImportError as error:
        what, advice = "The library {library} is missing: {reason}", "Install it: pip install {library}"
        raise StudioError(what, advice, library=library, reason=reason_of(error)) from None
    except BaseException as error:  # a Rust panic is no Exception
        raise _refusal(library, error) from None


def _refusal(library: str, error: BaseException) -> StudioError:
    said = str(error)
    if found := _TOO_SMALL.search(said):
        return vocabulary_too_small(*map(int, found.groups()))
    if "not large enough to contain all chars" in said:
        what = "The vocabulary is too small for all characters of the corpus, which the library {library} needs"
        return StudioError(what, "Choose a larger vocabulary.", library=library)
    if "!sentences_.empty()" in said:
        return StudioError("There are no words that the library {library} can train on", _OTHER_TEXT, library=library)
    what, advice = "The library {library} could not train: {reason}", "Change the settings, or the corpus."
    return StudioError(what, advice, library=library, reason=reason_of(error))


_TOO_SMALL = re.compile(r"smaller than required_chars\. (\d+) vs (\d+)")
_OTHER_TEXT = "Choose another text."


def vocabulary_too_small(size: int, least: int) -> StudioError:
    what = "A vocabulary of {size:,} tokens is too small: special tokens and alphabet alone are {least:,} or more"
    return StudioError(what, "Choose a larger size.", size=size, least=least)


def no_words() -> StudioError:
    return StudioError("There are no words to train on", _OTHER_TEXT)


def _texts(corpus: Sequence[str | CorpusFile], fold: Fold | None) -> Iterable[str]:
    pieces: Iterator[TextPiece] = chain.from_iterable(_pieces(each, number) for number, each in enumerate(corpus, 1))
    if fold is not None:
        from wordpiece_studio.evaluation.held_out import divided_pieces  # with it comes the trainer

        pieces = (piece for is_held_out, piece in divided_pieces(pieces, fold) if not is_held_out)
    texts = (piece.text for piece in pieces)
    if isinstance(corpus[0] if corpus else "", CorpusFile):
        return texts
    found = list(texts)
    if not any(map(str.strip, found)):
        raise no_words()
    return found


def _pieces(given: str | CorpusFile, number: int) -> Iterator[TextPiece]:
    if isinstance(given, CorpusFile):
        return iter(opened(given).pieces())
    size_of_text(given, number)
    return text_pieces(given, "")


def _report_printed(progress: Callable[[int, int], None], hears: Heard) -> None:
    """Receive, in a thread, all that this process will print, and report how far the library says it is."""
    reader, writer = os.pipe()
    for number in (1, 2):
        os.dup2(writer, number)
    os.close(writer)

    def listen() -> None:
        rest = b""
        while printed := os.read(reader, 1 << 16):
            lines, end, rest = (rest + printed).rpartition(b"\n")
            rest = rest[-_CHARACTERS_AT_ONCE:]  # whatever prints no line ends does not tell how far it is
            far = hears((lines + end).decode("utf-8", "replace"))
            if far is not None:
                progress(*far)

    threading.Thread(target=listen, daemon=True, name="what the library prints").start()


_MERGES = re.compile(r'"Compute merges","current":(\d+),"total":(\d+)')
_FIGURE = re.compile(r"(Alphabet size=|merges=|Initialized |EM sub_iter=\d+ size=)(\d+)")


class _TokenizersProgress:
    """Understands the library `tokenizers`, of which only byte pair encoding says how far it is, in merges."""

    def __init__(self, settings: Mapping[str, Any], counts: WordCounts) -> None:
        characters: set[str] = set().union(*counts.words)
        trainer = settings["trainer"]
        self._first = len(characters.union(trainer["special_tokens"], trainer.get("initial_alphabet", ())))

    def __call__(self, text: str) -> tuple[int, int] | None:
        found = _MERGES.findall(text)
        if not found:
            return None
        done, size = map(int, found[-1])
        return done, max(done, size - self._first)  # it takes the size of the vocabulary for the number of merges


class _SentencePieceProgress:
    """Understands SentencePiece: byte pair encoding counts its merges, Unigram the pieces left of its seeds."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._size = int(settings["vocab_size"])
        self.alphabet = self._seeds = 0

    def __call__(self, text: str) -> tuple[int, int] | None:
        far = None
        for what, figure in _FIGURE.findall(text):
            number = int(figure)
            if what.startswith("Alphabet"):
                self.alphabet = number
            elif what.startswith("Init"):
                self._seeds = number
            elif what.startswith("merges"):
                far = self.alphabet + number, self._size
            else:
                far = self._seeds - number, self._seeds - self._size
        return far if far is not None and 0 <= far[0] <= far[1] else None


def _by_tokenizers(kind: str, settings: Mapping[str, Any], counts: WordCounts) -> tuple[bytes, Learned]:
    """Train with Hugging Face's library, which is given each word as often as it occurs and splits nothing."""
    import tokenizers
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    separator = _separator(counts.words)
    made = Tokenizer(getattr(models, kind)(**settings["model"]))
    made.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(separator)
    trainer = getattr(trainers, f"{'Bpe' if kind == 'BPE' else kind}Trainer")(**settings["trainer"])
    made.train_from_iterator(_repeated(counts, separator), trainer)
    value = json.loads(made.to_str()) | settings["parts"]
    for token in value["added_tokens"]:
        token["special"] = token["content"] not in settings["user_tokens"]
    model = value["model"]
    if kind == "Unigram":
        model["vocab"] = _without_repeated(model["vocab"])
        ids = {token: number for number, (token, _) in enumerate(model["vocab"])}
        for token in value["added_tokens"]:
            token["id"] = ids[token["content"]]
    else:
        _put_in(model["vocab"], settings)
    made = Tokenizer.from_str(json.dumps(value))
    ids = made.get_vocab()
    scores = [score for _, score in model["vocab"]] if kind == "Unigram" else None
    merges = [tuple(pair) for pair in model["merges"]] if kind == "BPE" else None
    tokens = sorted(ids, key=ids.__getitem__)
    learned = {"version": tokenizers.__version__, "tokens": tokens, "scores": scores, "merges": merges}
    return made.to_str(pretty=True).encode(), msgspec.convert(learned, Learned)


def _without_repeated(pieces: list[list[Any]]) -> list[list[Any]]:
    """Return the pieces of a Unigram model without those that are special tokens again.

    The library learns them where words spell them out. No text is tokenized with them, as special tokens are found
    first, but the special token would have their id.
    """
    first: dict[str, list[Any]] = {}
    for piece in pieces:
        first.setdefault(piece[0], piece)
    return list(first.values())


def _put_in(vocab: dict[str, int], settings: Mapping[str, Any]) -> None:
    """Put symbols that do not occur behind those that do, as the library only takes them without prefix and suffix."""
    absent = [symbol for symbol in settings["absent_symbols"] if symbol not in vocab]
    if not absent:
        return
    prefix, suffix = (settings["trainer"].get(name, "") for name in ("continuing_subword_prefix", "end_of_word_suffix"))
    tokens = sorted(vocab, key=vocab.__getitem__)
    place = len(settings["trainer"]["special_tokens"])
    while place < len(tokens) and len(tokens[place].removeprefix(prefix).removesuffix(suffix) or prefix) == 1:
        place += 1
    tokens[place:place] = absent
    vocab.update((token, number) for number, token in enumerate(tokens))


def _by_sentencepiece(
    kind: str, settings: Mapping[str, Any], corpus: WordCounts | Iterable[str]
) -> tuple[bytes, Learned]:
    import sentencepiece
    from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

    sentences: Iterator[str]
    if not isinstance(corpus, WordCounts):
        sentences = chain.from_iterable(text.split("\n") for text in corpus)
    else:
        spaced = (" ".join(word.split()) for word in corpus.words)  # a tab would end the word
        sentences = (f"{word}\t{count}" for word, count in zip(spaced, corpus.counts.tolist(), strict=True) if word)
        settings = {**settings, "input_format": "tsv"}
    left_out = 0

    def usable() -> Iterator[str]:
        """Yield what the library does not leave out by itself, which it does not report."""
        nonlocal left_out
        for sentence in sentences:
            longest = settings["max_sentence_length"]
            if _RESERVED in sentence or (len(sentence) > longest // 4 and len(sentence.encode()) > longest):
                left_out += 1
            else:
                yield sentence

    written = io.BytesIO()
    SentencePieceTrainer.train(sentence_iterator=usable(), model_writer=written, model_type=kind, **settings)
    model = SentencePieceProcessor(model_proto=written.getvalue())
    numbers = range(len(model))
    tokens, scores = list(map(model.id_to_piece, numbers)), list(map(model.get_score, numbers))
    learned = {
        "version": sentencepiece.__version__, "tokens": tokens, "scores": scores, "left_out": left_out,
        "is_of_lines": not isinstance(corpus, WordCounts),
    }  # fmt: skip
    return written.getvalue(), msgspec.convert(learned, Learned)


def _separator(words: list[str]) -> str:
    return next(separator for separator in map(chr, _SEPARATORS) if not any(separator in word for word in words))


def _repeated(counts: WordCounts, separator: str) -> Iterator[str]:
    texts: list[str] = []
    size = 0
    for word, count in zip(counts.words, counts.counts.tolist(), strict=True):
        at_once = max(1, _CHARACTERS_AT_ONCE // (len(word) + 1))
        for done in range(0, count, at_once):
            texts.append((word + separator) * min(at_once, count - done))
            size += len(texts[-1])
            if size >= _CHARACTERS_AT_ONCE:
                yield "".join(texts)
                texts, size = [], 0
    yield "".join(texts)
