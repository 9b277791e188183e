"""``wordpiece-studio tokenize`` and ``wordpiece-studio explain``."""

from __future__ import annotations

import dataclasses
import threading
from queue import Queue
from typing import TYPE_CHECKING

from wordpiece_studio.cli.messages import STDIN, guessed_case, ladder, no_unknown_token, print_line, warn
from wordpiece_studio.cli.options import JSON, VOCAB, LoadingOptions, stdin
from wordpiece_studio.cli.parameters import CliCommand, argument, flag
from wordpiece_studio.corpus.files import decoded_lines
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.system.printable import printable, printable_json
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer
    from wordpiece_studio.tokenizer.encoding import Encoding

_MOST_AHEAD = 1024  # lines read and not processed yet


class TokenizeCommand(CliCommand, LoadingOptions):
    text: str = argument("The text; - or nothing for stdin, line by line.", "TEXT", default="-")
    vocab: str = VOCAB
    ids: bool = flag("Print token IDs instead of tokens.")
    as_json: bool = JSON

    def run(self) -> None:
        tokenizer = self.tokenizer(self.vocab)
        warn(*guessed_case(tokenizer, self.vocab))
        is_warned = not (self.ids or self.as_json)
        lines = decoded_lines(stdin(), STDIN) if self.text == "-" else self.text.split("\n")
        for line, encoding in _encoded(tokenizer, lines):
            if not is_warned and isinstance(tokenizer, Tokenizer) and NO_ID in encoding.ids:
                is_warned = True
                warn(no_unknown_token(tokenizer.vocabulary.unk_token))
            if self.as_json:
                offsets = [list(offset) for offset in encoding.offsets]
                found = {"text": line, "tokens": encoding.tokens, "ids": encoding.ids, "offsets": offsets}
                print_line(printable_json(found))
            else:
                print_line(" ".join(map(str, encoding.ids)) if self.ids else printable(" ".join(encoding.tokens)))


def _encoded(tokenizer: AnyTokenizer, lines: Iterable[str]) -> Iterator[tuple[str, Encoding]]:
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


class ExplainCommand(CliCommand, LoadingOptions):
    word: str = argument("The word; a text is explained word by word.", "WORD")
    vocab: str = VOCAB
    as_json: bool = JSON

    def run(self) -> None:
        tokenizer = self.wordpiece_tokenizer(self.vocab)
        words = tokenizer.pipeline.words(self.word)
        if not words:
            raise StudioError("There is no word in {text!r}", "Specify a word.", text=self.word)
        warn(*guessed_case(tokenizer, self.vocab))
        for trace in map(tokenizer.explain, words):
            found = printable_json(dataclasses.asdict(trace)) if self.as_json else None
            print_line(found or ladder(trace, tokenizer.max_word_length))


def _portions_as_they_come(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield lists of the lines that arrived while the last list was processed, so that no line waits for others.

    They are read in a thread. If reading fails, the error is raised after the preceding lines have been yielded.
    """
    arriving: Queue[str | BaseException | None] = Queue(_MOST_AHEAD)

    def read() -> None:
        try:
            for line in lines:
                arriving.put(line)
            arriving.put(None)
        except BaseException as error:
            arriving.put(error)

    threading.Thread(target=read, daemon=True, name="reading lines").start()
    last: str | BaseException | None = ""
    while isinstance(last, str):
        arrived = [arriving.get(), *(arriving.get() for _ in range(arriving.qsize()))]  # no one else takes from it
        last = arrived[-1]
        if portion := [line for line in arrived if isinstance(line, str)]:
            yield portion
    if last is not None:
        raise last
