"""Normalizing distinct chunks and splitting them into words, as text; `words` does the same to count the words."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordpiece_studio.compiled.kernels import BYTES, I8, INT, U1, kernel
from wordpiece_studio.text.kernels.chunks import BLANK as BLANK_BYTE
from wordpiece_studio.text.kernels.chunks import LINE_END
from wordpiece_studio.text.kernels.lanes import LANE, lane, put_lane
from wordpiece_studio.text.kernels.words import (
    ALONE,
    BLANK,
    BYTES_SHIFT,
    DONE,
    FULL,
    HARD,
    KIND_BITS,
    LETTERS,
    LONGEST_TEXT,
    TEXT_SHIFT,
    UNKNOWN,
)

# Entries of `cursor`.
(
    POSITION,  # where in `source` to continue
    SPELLED,  # bytes of `words` that are done
    CHUNK,  # the current chunk
    CODE_POINT,  # the one that is UNKNOWN
    CURSOR,
) = range(5)


@kernel(INT(BYTES, INT, I8, BYTES, U1, U1, I8))
def spell(source: Any, size: int, actions: Any, texts: Any, words: Any, is_hard: Any, cursor: Any) -> int:
    """Write the words of the chunks in the first `size` bytes of `source`, each chunk followed by a blank.

    In `words`, blanks separate words and a line end follows each chunk. Returns DONE; FULL if `words` is full; UNKNOWN
    at a code point whose action must be found out. The words of a chunk that `is_hard` depend on more than single
    characters, and what is written for them is wrong.
    """
    position, place, chunk = cursor[POSITION], cursor[SPELLED], cursor[CHUNK]
    answer = DONE
    while position < size:
        if place + LONGEST_TEXT + 2 > words.size:
            answer = FULL
            break
        code_point, width = np.int64(source[position]), 1
        if code_point == BLANK_BYTE:
            words[place] = LINE_END
            place += 1
            chunk += 1
            position += 1
            continue
        if code_point >= 0xF0:
            high = (code_point & 7) << 18 | (source[position + 1] & 63) << 12
            code_point, width = high | (source[position + 2] & 63) << 6 | source[position + 3] & 63, 4
        elif code_point >= 0xE0:
            high = (code_point & 15) << 12 | (source[position + 1] & 63) << 6
            code_point, width = high | source[position + 2] & 63, 3
        elif code_point >= 0x80:
            code_point, width = (code_point & 31) << 6 | source[position + 1] & 63, 2
        action = actions[code_point]
        kind = action & KIND_BITS
        if kind == UNKNOWN:
            cursor[CODE_POINT] = code_point
            answer = UNKNOWN
            break
        if kind == HARD:
            is_hard[chunk] = 1
        if kind == ALONE or kind == BLANK:
            words[place] = BLANK_BYTE
            place += 1
        if kind == LETTERS or kind == ALONE:
            text = action >> TEXT_SHIFT
            put_lane(words, place, lane(texts, text))
            put_lane(words, place + LANE, lane(texts, text + LANE))
            place += action >> BYTES_SHIFT & 31
        if kind == ALONE:
            words[place] = BLANK_BYTE
            place += 1
        position += width
    cursor[POSITION], cursor[SPELLED], cursor[CHUNK] = position, place, chunk
    return answer
