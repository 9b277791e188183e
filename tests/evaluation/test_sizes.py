"""What three rules advise, told by hand; and the page."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from xml.etree import ElementTree

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.evaluation.figures import TokenizerFigures
from wordpiece_studio.evaluation.sizes import SizeFigures, Sweep, checked_sizes, spaced_sizes
from wordpiece_studio.evaluation.sweep_page import sweep_html

SIZES = (1000, 2000, 4000, 8000)


def fold(
    tokens: tuple[int, ...], bits: tuple[int, ...], frequent: tuple[int, ...] = (100, 96, 95, 94), add: int = 0
) -> tuple[SizeFigures, ...]:
    rows = zip(SIZES, tokens, bits, frequent, strict=True)
    return tuple(SizeFigures(figures(size, made + add, coded + add), often / 100) for size, made, coded, often in rows)


def figures(size: int, tokens: int, bits: int) -> TokenizerFigures:
    return TokenizerFigures(
        "", "WordPiece", size, words=100, own_words=100, whole_words=0, characters=1000, bytes=1000, tokens=tokens,
        unknown=0, used=1, renyi_efficiency=1.0, code_length=bits, vocabulary_bits=size * 8.0, share=0.5,
    )  # fmt: skip


A = fold((200, 150, 144, 140), (90_000, 50_000, 45_000, 44_000))
B = fold((200, 150, 144, 140), (90_000, 50_000, 45_000, 44_000), add=4)
SWEEP = Sweep(SIZES, {"one": (A, B), "two": (B, A), "<b>": (A, A)}, ("bert-cased", "bert"))


def test_the_rules() -> None:
    assert SWEEP.saved_by_doubling("<b>")[:3].tolist() == pytest.approx([0.25, 0.04, 1 - 140 / 144])
    # 90 + 8, 50 + 16, 45 + 32 and 44 + 64 thousand bits, the text twice as it is twice as long as a fold
    assert SWEEP.mean("<b>", "description_length").tolist() == [188_000, 116_000, 122_000, 152_000]
    assert {(each.rule, each.size, each.is_at_edge) for each in SWEEP.advice} == {
        ("description", 2000, False), ("frequency", 4000, False), ("doubling", 2000, False),
    }  # fmt: skip
    assert SWEEP.conclusions()[0].startswith("The rules disagree on one: shortest description, 2,000 tokens; 95% occur")


def test_rules_that_hold_for_no_size_or_at_an_end() -> None:
    rows = fold((200, 100, 50, 25), (90_000, 80_000, 70_000, 10_000), frequent=(94, 90, 80, 70))
    found = Sweep(SIZES, {"one": (rows,)}, ("none", "bert"))
    assert [(each.size, each.is_at_edge) for each in found.advice] == [(8000, True), (None, False), (None, False)]
    said = " ".join(found.conclusions())
    assert "95% occur 100 times, none of these sizes (smaller sizes or more text needed)" in said
    assert "Only one rule holds on one: " in said
    assert "8,000 tokens is the largest size measured: one beyond it may be better" in said
    ended = dataclasses.replace(found, largest=8000, left_out=(16_000,))
    assert not ended.advice[0].is_at_edge
    assert "may be better" not in " ".join(ended.conclusions())
    assert "Doubling saves under 5%, none of these sizes (more text".lower() in ended.conclusions()[2]
    assert ended.conclusions()[0] == "Sizes not reached: 16,000."
    assert ended.conclusions()[1] == "The largest vocabulary that this corpus gives has 8,000 tokens."
    alone = Sweep((1000,), {"one": (rows[:1],)}, ("none", "bert"))
    assert "1,000 tokens is the only size measured: another may be better" in " ".join(alone.conclusions())
    ends = dataclasses.replace(found, smallest=1000, sizes=(1000, 2000), methods={"one": (A[:2],)})
    assert ends.edges == {2000: "largest"}
    assert ends.agreement("one") == "some"
    assert SWEEP.agreement("one") == "disagree"
    frequent = fold((200, 150, 144, 140), (90_000, 50_000, 45_000, 44_000), frequent=(100, 96, 90, 80))
    assert Sweep(SIZES, {"one": (frequent,)}, ("none", "bert")).agreement("one") == "agree"
    assert found.best("frequency") is None
    assert found.as_good() == {}  # of one fold
    assert "±" not in " ".join(found.rows("one")[1])


def test_what_is_not_in_a_sweep_is_named() -> None:
    for call in (SWEEP.values, SWEEP.mean, SWEEP.deviation):
        with pytest.raises(StudioError, match="no metric cost"):
            call("one", "cost")
        with pytest.raises(StudioError, match=r"no method three\. Use one of one, two"):
            call("three", "tokens")
    for ask in (SWEEP.best, SWEEP.as_good, lambda rule: SWEEP.advised(rule, "one")):
        with pytest.raises(StudioError, match="no rule zz"):
            ask("zz")  # type: ignore[arg-type]


def test_the_best_method_stands_with_those_that_may_be_as_good() -> None:
    assert SWEEP.best() == ("<b>", 2000)
    differences = SWEEP.as_good()
    assert {name: each.may_be_zero for name, each in differences.items()} == {"one": True, "two": True}
    assert "the difference may be 0" in SWEEP.conclusions()[-1]
    row = SWEEP.rows("one")[2]
    assert row[:2] == ["2,000", "1.520 ± 0.028"]
    assert row[-1] == "shortest description, doubling saves under 5%"


def test_what_is_not_a_number_is_none_in_plain_data() -> None:
    measured = dataclasses.replace(A[0], figures=dataclasses.replace(A[0].figures, renyi_efficiency=math.nan))
    data = Sweep((1000,), {"one": ((measured,),)}, ("none", "bert")).to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == json.loads(json.dumps(data))
    assert data["methods"]["one"]["folds"][0][0]["figures"]["renyi_efficiency"] is None


@pytest.mark.parametrize(
    "given",
    ["", "a", "1000..", "..5", "9..3", "0..3", "5..5", "5..9:1", "5..9:a", "1..2..3", [], [0], [2.5], "1,,2", None],
)
def test_invalid_sizes_are_refused(given: object) -> None:
    with pytest.raises(StudioError, match="Invalid sizes"):
        checked_sizes(given)  # type: ignore[arg-type]


def test_sizes_are_evenly_spaced() -> None:
    assert checked_sizes(" 1000 .. 64000 : 7 ") == ((1000, 64000), 7)
    assert spaced_sizes(1000, 64000, 10)[::3] == (1000, 4000, 16000, 64000)
    assert spaced_sizes(1214, 1216, 10) == (1214, 1215, 1216)
    assert spaced_sizes(1, 3, 10) == (1, 2, 3)
    narrow = spaced_sizes(1214, 2000, 24)
    assert len(narrow) == 24
    assert narrow[:4] == (1214, 1240, 1270, 1300)


def test_the_page_is_one_file_with_all_text_escaped() -> None:
    page = sweep_html(SWEEP, "<script>alert('\x1b')</script>&")
    ElementTree.fromstring(page.removeprefix("<!doctype html>\n").replace("&emsp;", " "))  # well formed
    assert not re.search(r"<script|<b>|\x1b|https?://|url\(|src=|@import", page)
    assert page.count("<svg viewBox") == 5
    assert "unknown tokens: 0.00% throughout" in page
    assert page.count("<polygon") >= 2
    assert "The rules disagree on &lt;b&gt;" in page
