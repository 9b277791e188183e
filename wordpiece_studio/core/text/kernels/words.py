"""Normalizing distinct chunks and cutting them into words, with a table of what becomes of each code point."""

from __future__ import annotations

from typing import Any

from wordpiece_studio.core.kernels import BOOL, BYTES, I8, INT, kernel
from wordpiece_studio.core.text.kernels.chunks import BEGIN, COUNT, SIZE, TABLE, Table, add, has_room, tag_of
from wordpiece_studio.core.text.kernels.lanes import LANE, lane, put_lane

LONGEST_TEXT = 2 * LANE

# What becomes of a code point; with UNKNOWN and HARD `cut` leaves the question to its driver.
UNKNOWN, LETTERS, ALONE, BLANK, NOTHING, HARD = range(6)
# An entry of `actions`: one of these, the length of the text in characters, in bytes, and where it stands in `texts`.
KIND_BITS, CHARACTERS_SHIFT, BYTES_SHIFT, TEXT_SHIFT = 7, 3, 8, 16
_SHORT_BITS = 31

# Entries of `cursor`.
(
    ROW,  # the chunk in hand
    POSITION,  # where in `source` its word in hand begins
    WORDS,  # how many words of the chunk are done
    CODE_POINT,  # the one that is UNKNOWN
    LENGTH,  # of the word that is LONG, in characters
    CURSOR,
) = range(6)
# What `cut` answers, besides UNKNOWN and HARD.
DONE, FULL, LONG = range(6, 9)


@kernel(INT(TABLE, TABLE, INT, I8, BYTES, INT, BOOL, I8))
def cut(t: Table, chunks: Table, last: int, actions: Any, texts: Any, longest: int, is_dry: bool, cursor: Any) -> int:
    """Add the words of `chunks` from the row of `cursor` to before row `last`, each as often as its chunk was seen.

    Answers DONE; FULL if there is no room for the next word; LONG after a word of more than `longest` characters, which
    is not added; UNKNOWN at a code point whose action must be found out; HARD at a chunk whose next words depend on
    more than single characters: they are the driver's affair. If `is_dry` nothing is added, only the answers count.
    """
    source = chunks.store
    row, begin = cursor[ROW], cursor[POSITION]
    while row < last:
        end = chunks.entries[row + 1, BEGIN] - 1
        position = begin
        place = t.entries[t.scalars[SIZE], BEGIN]
        length = characters = 0
        while position <= end:
            code_point, width = source[position], 1
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
            if kind == LETTERS or (kind == ALONE and characters == 0):
                if characters <= longest and not is_dry:
                    is_tight = characters == 0 or place + length + LONGEST_TEXT + LANE >= t.store.size
                    if is_tight and not has_room(t, length + LONGEST_TEXT):
                        cursor[ROW], cursor[POSITION] = row, begin
                        return FULL
                    text = action >> TEXT_SHIFT
                    put_lane(t.store, place + length, lane(texts, text))
                    size = action >> BYTES_SHIFT & _SHORT_BITS
                    if size > LANE:
                        put_lane(t.store, place + length + LANE, lane(texts, text + LANE))
                    length += size
                characters += action >> CHARACTERS_SHIFT & _SHORT_BITS
                position += width
            elif kind == NOTHING:
                position += width
            elif kind == BLANK and characters == 0:
                position += width
                begin = position
            elif kind == UNKNOWN or kind == HARD:
                cursor[ROW], cursor[POSITION], cursor[CODE_POINT] = row, begin, code_point
                return kind
            if (kind == ALONE or kind == BLANK) and characters > 0:
                begin = position
                cursor[WORDS] += 1
                if characters > longest:
                    cursor[ROW], cursor[POSITION], cursor[LENGTH] = row, begin, characters
                    return LONG
                if not is_dry:
                    tag = tag_of(t.key, t.store, place, length)
                    add(t, t.store, place, length, tag, chunks.entries[row, COUNT])
                    place = t.entries[t.scalars[SIZE], BEGIN]
                length = characters = 0
        row += 1
        begin = end + 1
        cursor[WORDS] = 0
    cursor[ROW], cursor[POSITION] = row, begin
    return DONE
