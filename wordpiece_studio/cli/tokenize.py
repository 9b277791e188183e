"""``wordpiece-studio tokenize`` and ``wordpiece-studio explain``."""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Annotated

from wordpiece_studio.cli import options as shared
from wordpiece_studio.cli.messages import STDIN, guessed_case, ladder, no_unknown_token, print_line, warn
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.corpus.files import decoded_lines
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.system.printable import printable, printable_json
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer
    from wordpiece_studio.tokenizer.encoding import Encoding

_MOST_CHARACTERS = 1 << 18


def tokenize_command(
    text: Annotated[str, Argument(help="The text; - or nothing for stdin, line by line.", metavar="TEXT")] = "-",
    vocab: shared.VocabOption = ".",
    normalizer: shared.GivenOption = None,
    pre_tokenizer: shared.GivenOption = None,
    remove: shared.RemoveOption = "",
    ids: Annotated[bool, Option("--ids", help="Print token IDs instead of tokens.")] = False,
    as_json: shared.JsonOption = False,
) -> None:
    """Tokenize text: one line of tokens per line."""
    tokenizer = shared.any_loaded_tokenizer(vocab, normalizer, pre_tokenizer, remove)
    warn(*guessed_case(tokenizer, vocab))
    is_warned = not (ids or as_json)
    for line, encoding in _encoded(
        tokenizer, decoded_lines(shared.stdin(), STDIN) if text == "-" else text.split("\n")
    ):
        if not is_warned and isinstance(tokenizer, Tokenizer) and NO_ID in encoding.ids:
            is_warned = True
            warn(no_unknown_token(tokenizer.vocabulary.unk_token))
        if as_json:
            offsets = [list(offset) for offset in encoding.offsets]
            print_line(
                printable_json({"text": line, "tokens": encoding.tokens, "ids": encoding.ids, "offsets": offsets})
            )
        else:
            print_line(" ".join(map(str, encoding.ids)) if ids else printable(" ".join(encoding.tokens)))


def _encoded(tokenizer: AnyTokenizer, lines: Iterable[str]) -> Iterator[tuple[str, Encoding]]:
    """Yield each line with its tokens."""
    if not isinstance(tokenizer, LibraryTokenizer):
        yield from ((line, tokenizer.encode(line)) for line in lines)
        return
    for portion in _portions_as_they_come(lines):
        encodings: Iterable[Encoding]
        try:
            encodings = tokenizer.encode(portion)
        except StudioError:
            encodings = map(tokenizer.encode, portion)  # so that lines before the faulty one are printed
        yield from zip(portion, encodings, strict=True)


def explain_command(
    word: Annotated[str, Argument(help="The word; a text is explained word by word.", metavar="WORD")],
    vocab: shared.VocabOption = ".",
    normalizer: shared.GivenOption = None,
    pre_tokenizer: shared.GivenOption = None,
    remove: shared.RemoveOption = "",
    as_json: shared.JsonOption = False,
) -> None:
    """Show which pieces longest match tries for a word, and if the word is unknown, why."""
    tokenizer = shared.loaded_tokenizer(vocab, normalizer, pre_tokenizer, remove)
    words = tokenizer.pipeline.words(word)
    if not words:
        raise StudioError("There is no word in {text!r}", "Specify a word.", text=word)
    warn(*guessed_case(tokenizer, vocab))
    for trace in map(tokenizer.explain, words):
        print_line(printable_json(dataclasses.asdict(trace)) if as_json else ladder(trace, tokenizer.max_word_length))


def _portions_as_they_come(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield lists of the lines that arrived while the last list was processed, so that no line waits for others.

    They are read in a thread. If reading fails, the error is raised after the preceding lines have been yielded.
    """
    arriving = _Arriving()
    threading.Thread(target=arriving.read, args=(lines,), daemon=True, name="reading lines").start()
    try:
        while portion := arriving.take():
            yield portion
    finally:
        arriving.stop()


class _Arriving:
    """Lines that have been read but not taken yet."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._characters = 0
        self._is_over = False
        self._failure: BaseException | None = None
        self._changed = threading.Condition()

    def read(self, lines: Iterable[str]) -> None:
        """Read all lines, no faster than they are taken; runs in the thread."""
        try:
            for line in lines:
                with self._changed:
                    self._changed.wait_for(lambda: self._characters < _MOST_CHARACTERS or self._is_over)
                    if self._is_over:
                        return
                    self._lines.append(line)
                    self._characters += len(line) + 1
                    self._changed.notify()
        except BaseException as error:
            self._failure = error
        finally:
            self.stop()

    def take(self) -> list[str]:
        """Return all available lines, at least one; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._is_over)
            portion, self._lines, self._characters = self._lines, [], 0
            self._changed.notify()
        if not portion and self._failure is not None:
            raise self._failure
        return portion

    def stop(self) -> None:
        """Stop the reading."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
