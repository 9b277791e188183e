from __future__ import annotations

import csv
import io
import re
import time

from hypothesis import given
from hypothesis import strategies as st

from wordpiece_studio.corpus.count_tables import guarded, unguarded

TEXTS = st.text() | st.builds("".join, st.lists(st.sampled_from("=+-@'\t\r\n\0\uff1da;,\" \xa0")))
FORMULA = re.compile(r"[=+\-@\t\r\n\0\uff1d\uff0b\uff0d\uff20]")


@given(st.text() | st.builds("".join, st.lists(st.sampled_from("=+-@'\t\r\n\0＝a"))))
def test_every_text_comes_back_and_none_begins_a_formula(text: str) -> None:
    cell = guarded(text)
    assert unguarded(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠"))


@given(TEXTS, TEXTS)
def test_no_piece_begins_a_formula_where_a_semicolon_or_a_tab_parts_the_cells(text: str, other: str) -> None:
    assert unguarded(guarded(text)) == text
    line = io.StringIO(newline="")
    csv.writer(line).writerow([7, guarded(text), guarded(other), 0.5])
    cells = re.split(r"[;\t\r\n]", line.getvalue().removesuffix("\r\n"))  # as if no quote were one: the most cells
    assert not [cell for cell in cells if FORMULA.match(cell.lstrip().lstrip('"').lstrip())]


def test_semicolons() -> None:
    assert guarded("a;=HYPERLINK(1)") == "a;'=HYPERLINK(1)"
    assert guarded('x;"=1') == "x;'\"=1"
    assert guarded("a;b-c=d") == "a;b-c=d"


def test_long_texts_take_no_time() -> None:
    started = time.process_time()
    for piece in (" ", "\u2003\n", " ;", '"\t', ";'"):
        text = piece * 100_000
        assert unguarded(guarded(text)) == text
    assert time.process_time() - started < 5
