"""What all tables that sort and filter have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.session.table_model import stable_order


@given(st.lists(st.integers(-(2**62), 2**62) | st.integers(-3, 3), max_size=30), st.sampled_from([np.int64, np.int8]))
def test_the_order_of_whole_numbers_is_stable(numbers: list[int], dtype: type[np.signedinteger[Any]]) -> None:
    values = np.array(numbers, dtype=np.int64).astype(dtype)
    assert stable_order(values).tolist() == np.argsort(values, kind="stable").tolist()
