"""``wordpiece-studio decode``."""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from wordpiece_studio.cli.messages import STDIN, print_line
from wordpiece_studio.cli.options import JsonOption, VocabOption, any_loaded_tokenizer, stdin
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.corpus.files import decoded_lines, unreadable
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import display_name, printable, printable_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

_BETWEEN_IDS = re.compile(r"[\s,\[\]]+")
_IDS_ADVICE = "Give whole numbers, or a .npy file that encode wrote."


def decode_command(
    ids: Annotated[
        list[str] | None,
        Argument(
            metavar="ID|FILE",
            help="The ids of one text; or a .npy file that encode wrote; - or nothing for stdin, one text per line.",
            show_default=False,
        ),
    ] = None,
    vocab: VocabOption = ".",
    offsets: Annotated[
        str | None,
        Option(
            help="The .npy file that encode --offsets wrote, for one text per line. Without it, FILE is one text.",
            metavar="FILE",
        ),
    ] = None,
    keep_special_tokens: Annotated[
        bool, Option("--keep-special-tokens", help="Keep [CLS], [SEP] and the others in the text.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Turn ids back into text, as far as it can be determined: one line per text."""
    given = ids or ["-"]
    is_file = len(given) == 1 and _is_file(given[0])
    if offsets is not None and not is_file:
        raise StudioError("--offsets needs a file of ids", "Name the .npy file that encode wrote; or omit --offsets.")
    tokenizer = any_loaded_tokenizer(vocab, None, None, "")
    texts = _texts_in_file(given[0], offsets) if is_file else _texts_of_words(given)
    is_terminal = sys.stdout.isatty()
    for name, numbers in texts:
        try:
            text = tokenizer.decode(numbers, skip_special_tokens=not keep_special_tokens)
        except StudioError as error:
            raise _placed(error, name) from None
        if as_json:
            print_line(printable_json({"ids": numbers, "text": text}))
        else:
            print_line(printable(text) if is_terminal else text)


def _is_file(word: str) -> bool:
    return word != "-" and not word.isdecimal() and (word.lower().endswith(".npy") or Path(word).exists())


def _placed(error: StudioError, place: str) -> StudioError:
    """Return an error that begins with a place, unless that is empty."""
    if not place:
        return error
    return StudioError(f"{{place}}: {error.what_template}", error.advice_template, **{**error.values, "place": place})


def _texts_of_words(words: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Yield the ids of each text, and where it is; the words are one text, or ``-`` for the lines of stdin."""
    if "-" not in words:
        yield "", _ids_in(" ".join(words))
        return
    if len(words) > 1:
        raise StudioError("Stdin cannot be combined with ids", "Give one or the other.")
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
        raise StudioError("{word!r} is neither an id nor a file of ids", _IDS_ADVICE, word=wrong[:100])
    return [int(word) for word in words]


def _texts_in_file(path: str, offsets: str | None) -> Iterable[tuple[str, list[int]]]:
    """Yield the ids of each text in a file; without offsets there is one text."""
    name, ids = display_name(path), _integers_in(path)
    if offsets is None:
        return [(name, ids.tolist())]
    ends = _integers_in(offsets)
    if not len(ends) or ends[0] != 0 or ends[-1] != len(ids) or bool((np.diff(ends) < 0).any()):
        raise StudioError(
            "{offsets} does not belong to {path}",
            "Name the file that encode wrote together with the ids.",
            offsets=display_name(offsets),
            path=name,
        )
    return (
        (f"{name}, text {number:,}", ids[start:end].tolist())
        for number, (start, end) in enumerate(itertools.pairwise(ends), start=1)
    )


def _integers_in(path: str) -> NDArray[np.integer]:
    """Return the numbers in a file, read when they are needed.

    Raises
    ------
    StudioError
        If the file cannot be read, or is none of whole numbers in a row.
    """
    try:
        numbers = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, EOFError):
        numbers = None
    if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
        raise StudioError("{path} is not a file of ids", _IDS_ADVICE, path=display_name(path))
    return numbers
