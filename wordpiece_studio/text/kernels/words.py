"""Normalizing distinct chunks and splitting them into words, with a table of what happens to each code point."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordpiece_studio.compiled.kernels import BOOL, BYTES, I4, I8, INT, NONE, U1, kernel
from wordpiece_studio.text.kernels.chunks import BLANK as BLANK_BYTE
from wordpiece_studio.text.kernels.chunks import (
    COUNT,
    ENTRY_COLUMNS,
    LANE,
    LENGTH_BITS,
    SHAPE,
    TABLE,
    TOUCHED,
    Table,
    lane,
    prefetch,
    put_lane,
)

LONGEST_TEXT = 2 * LANE

# What happens to a code point; UNKNOWN and HARD are left to the driver of `cut`.
UNKNOWN, LETTERS, ALONE, BLANK, NOTHING, HARD = range(6)
# An entry of `actions`: one of these, the length of the text in characters, in bytes, and its place in `texts`.
KIND_BITS, CHARACTERS_SHIFT, BYTES_SHIFT, TEXT_SHIFT = 7, 3, 8, 16
_SHORT_BITS = 31
_AHEAD = 8  # chunks

# Entries of `cursor`.
(
    ROW,  # the current chunk
    POSITION,  # where in the chunks' store its current word begins
    WORDS,  # how many words of the chunk are done
    SPELLED,  # how many words are in `spelled`
    BASE,  # how many words there were before these
    CODE_POINT,  # the one that is UNKNOWN
    LENGTH,  # of the word that is LONG, in characters
    CURSOR,
) = range(8)
# What `cut` returns, besides UNKNOWN and HARD.
DONE, FULL, LONG = range(6, 9)


@kernel(INT(BYTES, INT), inline=True)
def character_at(text: Any, position: int) -> Any:
    """Return the code point of a character in UTF-8, times 8, plus the number of its bytes."""
    first = np.int64(text[position])
    if first < 0x80:
        return first << 3 | 1
    code_point, width = (first & 31) << 6 | text[position + 1] & 63, 2
    if first >= 0xE0:
        code_point, width = (code_point & 1023) << 6 | text[position + 2] & 63, 3
    if first >= 0xF0:
        code_point, width = code_point << 6 | text[position + 3] & 63, 4
    return code_point << 3 | width


@kernel(INT(TABLE, INT, I8, BYTES, INT, U1, I8, I8, I8, BOOL))
def cut(
    chunks: Table,
    last: int,
    actions: Any,
    texts: Any,
    longest: int,
    spelled: Any,
    ends: Any,
    cursor: Any,
    chunk_ends: Any,
    is_dry: bool,
) -> int:
    """Spell out the words of `chunks` from the row of `cursor` to before row `last`, one after the other.

    `ends` receives where each ends in `spelled`, and ``chunk_ends[row + 1]`` how many words there are up to the end of
    the chunk, including the BASE ones before these. Returns DONE; FULL if there is no room for the next word; LONG
    after a word of more than `longest` characters, which is left out; UNKNOWN at a code point whose action must be
    found out; HARD at a chunk whose next words depend on more than single characters, which is left to the driver. If
    `is_dry` nothing is spelled out, only the return values matter.
    """
    source = chunks.store
    row, begin, count = cursor[ROW], cursor[POSITION], cursor[SPELLED]
    place = ends[count - 1] if count > 0 else 0
    while row < last:
        end = (chunks.entries[row + 1, SHAPE] >> LENGTH_BITS) - 1
        position = begin
        length = characters = 0
        while position <= end:
            character = character_at(source, position)
            code_point, width = character >> 3, character & 7
            action = actions[code_point]
            kind = action & KIND_BITS
            if kind == LETTERS or (kind == ALONE and characters == 0):
                if characters <= longest and not is_dry:
                    if count >= ends.size or place + length + LONGEST_TEXT > spelled.size:
                        cursor[ROW], cursor[POSITION], cursor[SPELLED] = row, begin, count
                        return FULL
                    text = action >> TEXT_SHIFT
                    put_lane(spelled, place + length, lane(texts, text))
                    size = action >> BYTES_SHIFT & _SHORT_BITS
                    if size > LANE:
                        put_lane(spelled, place + length + LANE, lane(texts, text + LANE))
                    length += size
                characters += action >> CHARACTERS_SHIFT & _SHORT_BITS
                position += width
            elif kind == NOTHING:
                position += width
            elif kind == BLANK and characters == 0:
                position += width
                begin = position
            elif kind == UNKNOWN or kind == HARD:
                cursor[ROW], cursor[POSITION], cursor[CODE_POINT], cursor[SPELLED] = row, begin, code_point, count
                return kind
            if (kind == ALONE or kind == BLANK) and characters > 0:
                begin = position
                cursor[WORDS] += 1
                if characters > longest:
                    cursor[ROW], cursor[POSITION], cursor[LENGTH], cursor[SPELLED] = row, begin, characters, count
                    return LONG
                if not is_dry:
                    place += length
                    ends[count] = place
                    count += 1
                length = characters = 0
        row += 1
        chunk_ends[row] = cursor[BASE] + count
        begin = end + 1
        cursor[WORDS] = 0
    cursor[ROW], cursor[POSITION], cursor[SPELLED] = row, begin, count
    return DONE


@kernel(INT(TABLE, I4, I8, I4, I4, I8, INT))
def tally(chunks: Table, words: Any, chunk_ends: Any, places: Any, rows: Any, counts: Any, size: int) -> int:
    """Add the counts of the touched chunks to those of their words, and reset the former to 0.

    The words of chunk i are ``words[chunk_ends[i]:chunk_ends[i + 1]]``. `rows` and `counts` hold the first `size` words
    that have a count, in order of first appearance, and ``places[word]`` the place of a word among them, from 1.
    Returns how many there are now.
    """
    count_touched = chunks.scalars[TOUCHED]
    for index in range(count_touched):
        # Chunks come back in any order: what the next ones need is fetched into the processor's cache meanwhile.
        if index + 2 * _AHEAD < count_touched:
            row = chunks.touched[index + 2 * _AHEAD]
            prefetch(chunks.entries, row * ENTRY_COLUMNS)
            prefetch(chunk_ends, row)
            prefetch(words, chunk_ends[chunks.touched[index + _AHEAD]])
        row = chunks.touched[index]
        count = chunks.entries[row, COUNT]
        chunks.entries[row, COUNT] = 0
        for position in range(chunk_ends[row], chunk_ends[row + 1]):
            word = words[position]
            if places[word] == 0:
                rows[size], counts[size] = word, count
                size += 1
                places[word] = size
            else:
                counts[places[word] - 1] += count
    chunks.scalars[TOUCHED] = 0
    return size


@kernel(NONE(BYTES, INT, I4, I8, U1))
def spell_out(joined: Any, continues: int, keys: Any, lengths: Any, occurs: Any) -> None:
    """Write a key for each character of words in UTF-8, each followed by a blank; `occurs` marks those written.

    A key is the code point times 4, plus `continues` unless it begins a word. -1 stands before, between and after the
    words; there must be room for it and for all characters. `lengths` receives the number of characters of each word.
    """
    keys[0] = -1
    position, place, begin, word, added = 0, 1, 1, 0, 0
    while position < joined.size:
        width = 1
        if joined[position] == BLANK_BYTE:
            keys[place] = -1
            lengths[word] = place - begin
            begin, added = place + 1, 0
            word += 1
        else:
            character = character_at(joined, position)
            code_point, width = character >> 3, character & 7
            key = code_point << 2 | added
            keys[place] = key
            occurs[key] = 1
            added = continues
        place += 1
        position += width


@kernel(NONE(I4, I4))
def rename(numbers: Any, table: Any) -> None:
    for index in range(numbers.size):
        numbers[index] = table[numbers[index] + 1]
