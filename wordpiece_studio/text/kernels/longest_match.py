"""From chunks to ids: their words spelled out, greedy longest match over a vocabulary, and the ids of a text assembled.

`words` normalizes and splits chunks in the same way to count their words; here the words are needed as text. Words and
tokens are UTF-8. `tokens` holds the tokens of a vocabulary one after the other, followed by the prefix of continuing
tokens and a blank; `begins` says where each begins, the prefix and the blank too. `slots` is a hash table as in
`chunks`: a tag and a row, which here is an id. The hash of a text grows byte by byte, so hashing all prefixes of a word
costs no more than hashing the word; a match is compared before it is accepted. `beginnings` is a bit set with one bit
for the tag of every prefix of a token: where it is not set, no longer token can follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wordpiece_studio.compiled.kernels import BYTES, I4, I8, I8_2, INT, NONE, U1, U8, UNSIGNED, kernel
from wordpiece_studio.text.kernels.chunks import BLANK as BLANK_BYTE
from wordpiece_studio.text.kernels.chunks import LANE, LINE_END, bytes_before_blank, lane, put_lane
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
    character_at,
)

# Entries of `cursor`.
(
    POSITION,  # where in `source` to continue
    SPELLED,  # bytes of `words` that are done
    CHUNK,  # the current chunk
    CODE_POINT,  # the one that is UNKNOWN
    CURSOR,
) = range(5)

_SEED, _FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x2545F4914F6CDD1D)
_ZERO, _ONE, _SIX, _LOWER_SIX = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
_HALF, _LOWER_HALF = np.uint64(32), np.uint64(0xFFFFFFFF)


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
        if source[position] == BLANK_BYTE:
            words[place] = LINE_END
            place += 1
            chunk += 1
            position += 1
            continue
        character = character_at(source, position)
        code_point, width = character >> 3, character & 7
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


@kernel(UNSIGNED(UNSIGNED))
def tag_of(hashed: Any) -> Any:
    """Return the 32 bits of a hash that the table keeps; the lowest ones select the slot."""
    hashed = (hashed ^ hashed >> _HALF) * _FACTOR
    return hashed >> _HALF


@kernel(NONE(BYTES, I8, U8, U8))
def index_tokens(tokens: Any, begins: Any, slots: Any, beginnings: Any) -> None:
    """Enter the tokens, all different, into `slots` and all their prefixes into `beginnings`; both start empty."""
    mask, bits = np.uint64(slots.size - 1), np.uint64(64 * beginnings.size - 1)
    for token in range(begins.size - 2):
        hashed = _SEED
        for position in range(begins[token], begins[token + 1]):
            hashed = (hashed ^ np.uint64(tokens[position])) * _FACTOR
            if (tokens[position + 1] & 0xC0) != 0x80:  # else it ends inside a character
                bit = tag_of(hashed) & bits
                beginnings[bit >> _SIX] |= _ONE << (bit & _LOWER_SIX)
        tag = tag_of(hashed)
        slot = tag & mask
        while slots[slot] != _ZERO:
            slot = (slot + _ONE) & mask
        slots[slot] = tag << _HALF | np.uint64(token + 1)


@kernel(INT(BYTES, INT, INT, INT, UNSIGNED, BYTES, I8, U8))
def find_token(text: Any, begin: int, end: int, head: int, tag: int, tokens: Any, begins: Any, slots: Any) -> Any:
    """Return the token with this tag that is ``text[begin:end]`` after the first `head` bytes of the prefix, or -1."""
    mask, prefix = np.uint64(slots.size - 1), begins[begins.size - 2]
    slot = tag & mask
    while slots[slot] != _ZERO:
        if slots[slot] >> _HALF == tag:
            token = np.int64(slots[slot] & _LOWER_HALF) - 1
            first, length = begins[token], head + end - begin
            if begins[token + 1] - first == length:
                same = 0
                while same < head and tokens[first + same] == tokens[prefix + same]:
                    same += 1
                while head <= same < length and tokens[first + same] == text[begin + same - head]:
                    same += 1
                if same == length:
                    return token
        slot = (slot + _ONE) & mask
    return -1


@kernel(INT(BYTES, INT, BYTES, I8, U8, U8, INT, INT, I4, I8))
def match_words(  # one function: a call per word with so many arrays would cost more than the match
    text: Any,
    size: int,
    tokens: Any,
    begins: Any,
    slots: Any,
    beginnings: Any,
    longest_word: int,
    unknown: int,
    ids: Any,
    ends: Any,
) -> int:
    """Split the words of the first `size` bytes of `text` into tokens, and return how many there are.

    A blank ends a word, a line end a chunk. `ids` receives the tokens and `ends`, for each chunk, their number up to
    its end. A word that no tokens make up, or that has more than `longest_word` characters, becomes `unknown`. There
    must be room for one id per byte.
    """
    count = chunk = position = 0
    bits, prefix_hash = np.uint64(64 * beginnings.size - 1), _SEED
    prefix, prefix_end = begins[begins.size - 2], begins[begins.size - 1]
    for index in range(prefix, prefix_end):
        prefix_hash = (prefix_hash ^ np.uint64(tokens[index])) * _FACTOR
    while position < size:
        if text[position] == LINE_END:
            ends[chunk] = count
            chunk += 1
        if text[position] == LINE_END or text[position] == BLANK_BYTE:
            position += 1
            continue
        end, characters = position, 0
        while end < size and text[end] != BLANK_BYTE and text[end] != LINE_END:
            characters += (text[end] & 0xC0) != 0x80
            end += 1
        first, head, hashed = count, 0, _SEED
        while position < end and characters <= longest_word:
            found, stop, at = -1, position, position
            while at < end:
                hashed = (hashed ^ np.uint64(text[at])) * _FACTOR
                at += 1
                if at == end or (text[at] & 0xC0) != 0x80:  # else it ends inside a character
                    tag = tag_of(hashed)
                    bit = tag & bits
                    if not beginnings[bit >> _SIX] >> (bit & _LOWER_SIX) & _ONE:
                        break
                    token = find_token(text, position, at, head, tag, tokens, begins, slots)
                    if token >= 0:
                        found, stop = token, at
            if found < 0:
                break
            ids[count] = found
            count += 1
            position, head, hashed = stop, prefix_end - prefix, prefix_hash
        if position < end:
            ids[first] = unknown
            count, position = first + 1, end
    return count


@kernel(NONE(BYTES, I4, I8_2, I4, I4, I8))
def gather(block: Any, record: Any, spans: Any, chunk_ids: Any, ids: Any, line_ends: Any) -> None:
    """Assemble the ids of a block's chunks in the order of the text.

    `record` names the chunk at each place of the block, which is followed by eight blanks. The ids of a chunk are
    ``chunk_ids[begin:end]`` with the two numbers in ``spans[chunk]``. `line_ends` receives, for each line end, the
    number of ids before it.
    """
    count = line = position = 0
    for chunk in record:
        while block[position] == BLANK_BYTE or block[position] == LINE_END:
            if block[position] == LINE_END:
                line_ends[line] = count
                line += 1
            position += 1
        for index in range(spans[chunk, 0], spans[chunk, 1]):
            ids[count] = chunk_ids[index]
            count += 1
        step = LANE
        while step == LANE:
            step = bytes_before_blank(lane(block, position))
            position += step
    while line < line_ends.size:
        line_ends[line] = count
        line += 1
