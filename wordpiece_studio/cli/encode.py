"""What a vocabulary makes of text, and back: ``tokenize``, ``explain``, ``encode`` and ``decode``."""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
import sys
import threading
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.cli.messages import (
    STDIN,
    guessed_case,
    ladder,
    no_unknown_token,
    number_of,
    print_line,
    print_result,
    progress,
    reading_warnings,
    warn,
)
from wordpiece_studio.cli.options import (
    FILES,
    FORCE,
    JSON,
    VOCAB,
    FileOptions,
    LoadingOptions,
    check_results,
    loaded_tokenizer,
    results,
    stdin,
)
from wordpiece_studio.cli.parameters import CliCommand, argument, flag, option, required_option
from wordpiece_studio.corpus.files import decoded_lines, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.libraries.library_tokenizer import LibraryTokenizer
from wordpiece_studio.storage.manifest import (
    make_ids_manifest,
    read_manifest,
    side_manifest,
    vocabulary_digest,
    with_side_manifest,
)
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.system.printable import display_name, printable, printable_json
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.storage.tokenizer_loading import AnyTokenizer
    from wordpiece_studio.tokenizer.corpus_encoding import IdType
    from wordpiece_studio.tokenizer.encoding import Encoding

_BETWEEN_IDS = re.compile(r"[\s,\[\]]+")
_AT_ONCE, _BEHIND = 1 << 16, 64  # ids decoded at once, and behind how many of those before them
_NO_CHARACTER = "\ufffd"  # what stands for a part of one
_IDS_ADVICE = "Specify whole numbers, or a .npy file that encode wrote."
_IDS = "Writing the token IDs"
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


# ---- encode ----------------------------------------------------------------------------------------------------------


class EncodeCommand(CliCommand, FileOptions, LoadingOptions):
    files: list[str] = argument(f"{FILES} Each line is a text.", "FILES")
    output: str = required_option("The .npy file to write the token IDs to.", "-o", "--output", metavar="FILE")
    vocab: str = VOCAB
    as_json: bool = JSON
    dtype: IdType = option(
        "int32, or uint16 for at most 65,536 tokens.", _IDS, default="int32", values=("int32", "uint16")
    )
    offsets: str | None = option(
        "The .npy file to write the line offsets to: the index of each line's first ID.", _IDS, metavar="FILE"
    )
    add_special_tokens: bool = flag(
        "Add special tokens such as [CLS] and [SEP] around every line, as in the template.", _IDS
    )
    force: bool = FORCE
    word_counts = False

    def run(self) -> None:
        from wordpiece_studio.tokenizer.corpus_encoding import write_ids  # no other command needs it

        started = time.monotonic()
        tokenizer = self.tokenizer(self.vocab)
        outputs = [path for path in (self.output, self.offsets) if path is not None]
        vocabulary = os.path.join(self.vocab, VOCABULARY_FILE) if os.path.isdir(self.vocab) else self.vocab
        if os.path.realpath(vocabulary) in map(os.path.realpath, outputs):
            name = display_name(vocabulary)
            raise StudioError("{path} is the vocabulary itself", "Write to another file.", path=name)
        check_results(outputs, force=self.force)
        sources = self.listed(self.files)
        opened = self.opened(self.files) if sources is None else nullcontext(sources)
        with opened as source, progress(of_bytes=True) as report, results(force=self.force):
            statistics = write_ids(
                tokenizer,
                source,
                self.output,
                offsets_output=self.offsets,
                together=partial(with_side_manifest, make_ids_manifest(tokenizer, [*map(os.path.basename, outputs)])),
                progress=lambda done, total: report("Encoding", done, total),
                dtype=self.dtype,
                add_special_tokens=self.add_special_tokens,
            )
        seconds = time.monotonic() - started
        warn(*guessed_case(tokenizer, self.vocab), *reading_warnings(statistics.corpus))
        unknown = tokenizer.unk_token
        if statistics.unknown and unknown is not None and tokenizer.id_of(unknown) is None:
            warn(no_unknown_token(unknown, "written"))
        tokens, size = statistics.tokens, statistics.corpus.bytes
        figures = f"{number_of(tokens, 'token')} of {number_of(statistics.texts, 'text')} in {seconds:.1f} s"
        share = f"{statistics.unknown / max(tokens, 1):.2%} {unknown or 'unknown'}"
        speed = f"{size / 1e6 / max(seconds, 1e-3):.1f} MB/s"
        words = printable(f"{figures} ({speed}, {share}), written to {display_name(self.output)}")
        numbers = {name: getattr(statistics, name) for name in ("tokens", "texts", "unknown")}
        summary = {"output": self.output, **numbers, "bytes": size, "seconds": round(seconds, 3)}
        print_result(summary, words, as_json=self.as_json)


# ---- decode ----------------------------------------------------------------------------------------------------------


class DecodeCommand(CliCommand):
    ids: list[str] = argument(
        "The token IDs of one text, or a .npy file that encode wrote; - or nothing for stdin, one text per line.",
        "ID|FILE",
        default=None,
    )
    vocab: str = VOCAB
    offsets: str | None = option(
        "The .npy file of line offsets that encode --offsets wrote; found automatically next to FILE. Without it, FILE "
        "is one text.",
        metavar="FILE",
    )
    keep_special_tokens: bool = flag("Keep special tokens such as [CLS] and [SEP] in the text.")
    as_json: bool = JSON

    def run(self) -> None:
        given, offsets = self.ids or ["-"], self.offsets
        is_file = len(given) == 1 and _is_file(given[0])
        if offsets is not None and not is_file:
            raise StudioError(
                "--offsets needs a file of token IDs", "Specify the .npy file that encode wrote, or omit --offsets."
            )
        tokenizer = loaded_tokenizer(self.vocab)
        if is_file:
            offsets = offsets or _offsets_beside(given[0], tokenizer)
        texts = _texts_in_file(given[0], offsets) if is_file else _texts_of_words(given)
        decode = partial(tokenizer.decode, skip_special_tokens=not self.keep_special_tokens)
        is_terminal = sys.stdout.isatty()
        for name, numbers in texts:
            try:
                if self.as_json:
                    plain = np.asarray(numbers).tolist()
                    print_line(printable_json({"ids": plain, "text": decode(plain)}))
                    continue
                for part in decoded_parts(decode, numbers):
                    print_line(printable(part) if is_terminal else part, end="")
                print_line("")
            except StudioError as error:
                if error.values.get("id") == NO_ID:
                    what = "{id} stands for a word that the vocabulary could not spell, and its text is not known"
                    error = StudioError(what, "Encode with a vocabulary that has an unknown token.", id=NO_ID)
                raise _placed(error, name) from None


def decoded_parts(decode: Callable[[list[int]], str], ids: Sequence[int] | NDArray[np.integer]) -> Iterator[str]:
    """Yield what `decode` makes of all ids, in parts, so that there may be any number of them.

    Every part is decoded behind the ids before it, on which spaces depend, and ends with a whole character.
    """
    before: list[int] = []
    known = done = more = 0
    while True:
        part = ids[done : done + _AT_ONCE + more]
        some: list[int] = part.tolist() if isinstance(part, np.ndarray) else [*part]
        text = decode(before + some)
        is_end = done + len(some) == len(ids)
        if text.endswith(_NO_CHARACTER) and not is_end:
            more = 2 * more + 1
            continue
        yield text[known:]
        if is_end:
            return
        done, more = done + len(some), 0
        before = next((last for last in (some[-_BEHIND:], some) if decode(last)), before)  # special tokens have no text
        known = len(decode(before))


def _offsets_beside(path: str, tokenizer: AnyTokenizer) -> str | None:
    """Return the file of offsets that encode wrote with a file of ids; say so if it is not known where lines end."""
    try:
        manifest = read_manifest(side_manifest(path))
    except StudioError:
        return None
    if manifest.kind != "ids":
        return None
    name, (ids, *others) = display_name(path), manifest.files or (Path(path).name,)
    if Path(path).name in others:
        what = "{path} contains the line offsets of {ids}, not token IDs"
        raise StudioError(what, "Specify the file of token IDs instead.", path=name, ids=display_name(ids))
    if manifest.vocabulary_sha256 != vocabulary_digest(tokenizer.tokens):
        warn(f"{name} was encoded with another vocabulary than this.")
    found = next((place for other in others if (place := Path(path).with_name(Path(other).name)).exists()), None)
    if found is None:
        why = f"{display_name(others[0])} is not next to it" if others else "encode was not given --offsets"
        warn(f"Where the lines of {name} end is not known, as {why}: all of it is one text.")
    return None if found is None else str(found)


def _is_file(word: str) -> bool:
    return word != "-" and not word.isdecimal() and (word.lower().endswith(".npy") or Path(word).exists())


def _placed(error: StudioError, place: str) -> StudioError:
    if not place:
        return error
    return StudioError(f"{{place}}: {error.what_template}", error.advice_template, **{**error.values, "place": place})


def _texts_of_words(words: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the ids of each text, and where it is; the words are one text, or ``-`` for the lines of stdin."""
    if "-" not in words:
        yield "", _ids_in(" ".join(words))
        return
    if len(words) > 1:
        raise StudioError("Stdin cannot be combined with IDs", "Use one or the other.")
    for number, line in enumerate(decoded_lines(stdin(), STDIN), start=1):
        place = f"{STDIN}, line {number:,}"
        try:
            numbers = _ids_in(line)
        except StudioError as error:
            raise _placed(error, place) from None
        yield place, numbers


def _ids_in(text: str) -> list[int]:
    words = [word for word in _BETWEEN_IDS.split(text) if word]
    wrong = next((word for word in words if not (word.removeprefix("-").isdecimal() and word.isascii())), None)
    if wrong is not None:
        raise StudioError("{word!r} is neither a token ID nor a file of token IDs", _IDS_ADVICE, word=wrong[:100])
    return [int(word) for word in words]


def _texts_in_file(path: str, offsets: str | None) -> Iterable[tuple[str, NDArray[np.integer]]]:
    """Yield the ids of each text in a file, read when they are needed; without offsets there is one text."""
    name, ids = display_name(path), _integers_in(path)
    if offsets is None:
        return [(name, ids)]
    ends = _integers_in(offsets)
    parts = (ends[start : start + _AT_ONCE + 1] for start in range(0, len(ends), _AT_ONCE))
    if not len(ends) or ends[0] != 0 or ends[-1] != len(ids) or any((part[1:] < part[:-1]).any() for part in parts):
        what = "{offsets} does not belong to {path}"
        raise StudioError(
            what, "Specify the offsets file that encode wrote with these IDs.", offsets=display_name(offsets), path=name
        )
    return (
        (f"{name}, text {number:,}", ids[start:end])
        for number, (start, end) in enumerate(itertools.pairwise(ends), start=1)
    )


def _integers_in(path: str) -> NDArray[np.integer]:
    try:
        numbers = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, EOFError):
        numbers = None
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
        raise StudioError("{path} is not a file of token IDs", _IDS_ADVICE, path=display_name(path))
    return np.asarray(numbers)  # still read when they are needed; slices of it are made faster
