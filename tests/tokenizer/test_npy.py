from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest

from wordpiece_studio.tokenizer.corpus_encoding import write_npy


@pytest.mark.parametrize("dtype", [np.int32, np.uint16, np.int64])
@pytest.mark.parametrize("sizes", [[], [0], [1], [3, 0, 100_000]])
def test_numpy_reads_what_was_written_in_pieces(dtype: type, sizes: list[int]) -> None:
    file = BytesIO()
    write_npy(file, (np.arange(size, dtype=np.int64) % 60_000 for size in sizes), dtype)
    assert len(file.getvalue()) == 128 + sum(sizes) * np.dtype(dtype).itemsize  # data at a multiple of 64, as NumPy's
    file.seek(0)
    array = np.load(file, allow_pickle=False)
    assert (array.dtype, array.shape) == (dtype, (sum(sizes),))
    assert array.tolist() == [number % 60_000 for size in sizes for number in range(size)]
