"""Blocks of text to ids without numba: for small inputs, and for tokenizers that are not local.

Not here: the compiled kernels (`compiled_encoder`), and where the blocks come from.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wordpiece_studio.tokenizer.encoding import LibraryEncoder
from wordpiece_studio.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from wordpiece_studio.tokenizer.encoding import Encoder


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
        Whether the last text continues in the next block.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    is_open: bool


class PlainEncoder:
    """Encodes without numba."""

    def __init__(self, tokenizer: Encoder) -> None:
        self._is_local = isinstance(tokenizer, Tokenizer) and tokenizer.is_local
        self._ids = lru_cache(_MOST_CHUNKS)(tokenizer.ids) if self._is_local else tokenizer.ids
        self._library = tokenizer if isinstance(tokenizer, LibraryEncoder) else None

    def encode_lines(self, block: bytes) -> EncodedBlock:
        lines = block.decode("utf-8", "surrogatepass").split("\n")
        is_open = lines[-1] != ""
        encoded = self.encode(lines if is_open else lines[:-1])
        return EncodedBlock(encoded.ids, encoded.ends[:-1] if is_open else encoded.ends, is_open)

    def encode(self, texts: Sequence[str]) -> EncodedBlock:
        """Return the ids of some texts."""
        ids: list[int] = []
        ends: list[int] = []
        if self._library is not None:  # which is asked for many texts at once
            for encoding in self._library.encode(texts):
                ids += encoding.ids
                ends.append(len(ids))
            texts = ()
        for text in texts:
            for chunk in text.split(" ") if self._is_local else (text,):
                ids += self._ids(chunk)
            ends.append(len(ids))
        return EncodedBlock(np.array(ids, np.int32), np.array(ends, np.int64), False)
