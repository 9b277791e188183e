"""Blocks of text to ids, as `encoder` gives them: the plain way, or for large corpora by compiled kernels.

Not here: that compiled way (`compiled_encoder`), and where the blocks come from.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wordpiece_studio.compiled.kernel_cache import kernels_are_cached

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.tokenizer import Tokenizer

# So much text is encoded before the kernels would be loaded; and before they would be compiled.
_FEW_BYTES, _FEW_BYTES_UNCOMPILED = 1 << 17, 16 << 20
_MOST_CHUNKS = 1 << 18


class EncodedBlock(NamedTuple):
    """The ids of a block of text.

    Attributes
    ----------
    ids
        Shape ``(n_tokens,)``.
    ends
        For each text that ends in the block, how many ids come before its end.
    is_open
        Whether a text goes on in the next block.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    is_open: bool


def encoded_blocks(tokenizer: Tokenizer, blocks: Iterable[bytes]) -> Iterator[EncodedBlock]:
    """Yield the ids of blocks of UTF-8, each of whose lines, without its LF, is a text."""
    encode, is_plain, seen = PlainEncoder(tokenizer).encode_lines, True, 0
    for block in blocks:
        seen += len(block)
        if is_plain and tokenizer.is_local and _is_much(seen):
            from wordpiece_studio.tokenizer.compiled_encoder import CompiledEncoder

            encode, is_plain = CompiledEncoder(tokenizer).encode_lines, False
        yield encode(block)


def _is_much(size: int) -> bool:
    return size > _FEW_BYTES and (size > _FEW_BYTES_UNCOMPILED or kernels_are_cached("text"))


class PlainEncoder:
    """Encodes without numba: what is small, and with a tokenizer that is not local."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._is_local = tokenizer.is_local
        self._ids = lru_cache(_MOST_CHUNKS)(tokenizer.ids) if self._is_local else tokenizer.ids

    def encode_lines(self, block: bytes) -> EncodedBlock:
        """Return the ids of a block of UTF-8."""
        lines = block.decode("utf-8", "surrogatepass").split("\n")
        is_open = lines[-1] != ""
        encoded = self.encode(lines if is_open else lines[:-1])
        return EncodedBlock(encoded.ids, encoded.ends[:-1] if is_open else encoded.ends, is_open)

    def encode(self, texts: Sequence[str]) -> EncodedBlock:
        """Return the ids of some texts."""
        ids: list[int] = []
        ends: list[int] = []
        for text in texts:
            for chunk in text.split(" ") if self._is_local else (text,):
                ids += self._ids(chunk)
            ends.append(len(ids))
        return EncodedBlock(np.array(ids, np.int32), np.array(ends, np.int64), False)
