"""The colours: readable in every look, distinguishable for the colour-blind, and a token's the same in every run."""

from __future__ import annotations

import doctest
import itertools
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtGui import QColor

import wordpiece_studio as wps
from tests.ui.color_vision import VISIONS, contrast, difference, seen
from wordpiece_studio.resources import resource_path
from wordpiece_studio.ui.widgets import theme
from wordpiece_studio.ui.widgets.chips import edge_pen
from wordpiece_studio.ui.widgets.theme import INKS, LOOKS, SHADES, Border, Look, Theme, TokenStyles

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

_TOKENS = ["[UNK]", "##a", "cha", "안녕", "字", "<img src=x>", "", "\ud800", *(f"##{number}" for number in range(300))]
_GROUNDS = ("surface", "window", "raised", "hover", "accent_soft", "tie_soft", "error_soft")
_PAIRS = [
    *itertools.product(("text", "muted", "faint", "accent_ink", "tie_text", "error", "success"), _GROUNDS),
    ("accent_text", "accent"), ("accent_text", "accent_hover"),
]  # fmt: skip
_PARTS = [
    *itertools.product(("border", "accent", "tie", "bar", "bookmark"), ("surface", "window", "raised")),
    ("tie", "tie_soft"), ("tie", "hover"), ("border", "tie_soft"), ("error_line", "surface"),
    ("error_line", "error_soft"), ("bookmark", "hover"),
]  # fmt: skip
_LEAST_CONTRAST = {"light": 4.5, "dark": 4.5, "contrast": 7.0}
_LEAST_DIFFERENCE = 10.0
"""CIEDE2000; what the module's docstring promises."""

pytestmark = pytest.mark.usefixtures("qapp")
looks = pytest.mark.parametrize("look", LOOKS)


@looks
def test_text_on_every_token_colour_is_readable(look: Look) -> None:
    assert min(contrast(color, INKS[look]) for color in SHADES[look]) >= _LEAST_CONTRAST[look]


@looks
@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_token_colours_can_be_distinguished(look: Look, vision: str) -> None:
    colors = [seen(color, vision) for color in SHADES[look]]
    assert min(difference(*pair) for pair in itertools.combinations(colors, 2)) >= _LEAST_DIFFERENCE


def contrasts(look: Look, pairs: list[tuple[str, str]]) -> dict[tuple[str, str], float]:
    return {pair: contrast(*(getattr(LOOKS[look], color) for color in pair)) for pair in pairs}


@looks
def test_text_is_readable(look: Look) -> None:
    found = contrasts(look, _PAIRS)
    assert not {pair: value for pair, value in found.items() if value < _LEAST_CONTRAST[look]}


@looks
def test_borders_marks_and_bars_are_visible(look: Look) -> None:
    found = contrasts(look, _PARTS)
    least = {pair: 7 if look == "contrast" and pair[0] == "border" else 3 for pair in _PARTS}
    assert not {pair: value for pair, value in found.items() if value < least[pair]}


@looks
@pytest.mark.parametrize("border", ["thick", "double"])
def test_a_border_that_tells_tokens_apart_is_visible_on_every_token_colour(look: Look, border: Border) -> None:
    pens = [(edge_pen(color, look, border).color(), color) for color in SHADES[look]]
    assert min(contrast(*each) for each in pens) >= 3


@looks
@pytest.mark.parametrize("name", ["arrow-up", "arrow-down", "arrow-left", "arrow-right"])
def test_arrows_are_visible(look: Look, name: str) -> None:
    drawn = re.search(r'stroke="(#\w+)"', resource_path(f"icons/{name}.svg").read_text(encoding="utf-8"))
    assert drawn is not None
    assert contrast(QColor(drawn[1]), LOOKS[look].raised) >= 3


@looks
def test_ticks_are_visible(look: Look, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets: list[str] = []
    for name in ("setStyle", "setPalette"):
        monkeypatch.setattr(qapp, name, lambda _: None)
    monkeypatch.setattr(qapp, "setStyleSheet", sheets.append)
    Theme(look).apply_to(qapp)
    found = re.search(r'url\("([^"]*/check[^"/]*)"\)', sheets[-1])
    assert found is not None
    color = QColor(re.findall(r'stroke="(#\w+)"', Path(found[1]).read_text(encoding="utf-8"))[0])
    assert contrast(color, LOOKS[look].accent) >= 3


@looks
def test_tokens_use_all_colours(look: Look) -> None:
    used = {SHADES[look][TokenStyles().of(token).shade].name() for token in _TOKENS}
    assert used == {color.name() for color in SHADES[look]}
    assert len(used) == 8


@looks
@pytest.mark.parametrize("vision", VISIONS)
def test_the_colours_of_runs_can_be_distinguished_and_none_is_the_accent(look: Look, vision: str) -> None:
    shades = [Theme(look).run_color(number) for number in range(8)]
    pairs = itertools.combinations([seen(color, vision) for color in shades], 2)
    assert min(difference(*pair) for pair in pairs) >= _LEAST_DIFFERENCE
    accent = seen(LOOKS[look].accent, vision)
    assert min(difference(seen(color, vision), accent) for color in shades) >= 9
    assert Theme(look).run_color(8) == shades[0]


@looks
def test_a_run_is_visible_and_its_letter_readable(look: Look) -> None:
    chosen = Theme(look)
    for number in range(8):
        color = chosen.run_color(number)
        assert min(contrast(color, ground) for ground in (chosen.surface, chosen.window)) >= 3
        assert contrast(color, chosen.run_ink(number)) >= _LEAST_CONTRAST["light"]


def test_a_run_has_one_colour_in_light_and_dark() -> None:
    light, dark = Theme("light"), Theme("dark")
    assert [light.run_color(number) for number in range(8)] == [dark.run_color(number) for number in range(8)]


@pytest.mark.slow
def test_a_token_has_the_same_colour_in_another_run() -> None:
    code = "from wordpiece_studio.ui.widgets.theme import TokenStyles; print(TokenStyles().of('##hug').shade)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert int(output) == TokenStyles().of("##hug").shade


def test_the_examples_hold() -> None:
    assert not doctest.testmod(theme).failed


def test_the_symbols_of_the_smallest_sample_all_differ_in_colour() -> None:
    symbols = ["##g", "##n", "##s", "##u", "b", "h", "p"]
    styles = TokenStyles(["hug", "pug", "pun", "bun", "hugs"], "##")
    assert len({styles.of(symbol).shade for symbol in symbols}) == len(symbols)
    assert {styles.of(symbol).border for symbol in symbols} == {"thin"}
    other = TokenStyles(["bun", "hugs", "pun", "hug", "pug"], "##")
    assert [other.of(symbol) for symbol in symbols] == [styles.of(symbol) for symbol in symbols]


@pytest.mark.parametrize(
    ("token", "symbols"),
    [
        ("##gs", ["##g", "##s"]),
        ("hu", ["h", "##u"]),
        ("hugs", ["h", "##u", "##g", "##s"]),
        ("pun", ["p", "##u", "##n"]),
    ],
)
def test_a_longer_token_keeps_the_colour_of_its_first_symbol(token: str, symbols: list[str]) -> None:
    styles = TokenStyles(["hug", "pug", "pun", "bun", "hugs"], "##")
    assert styles.of(token).shade == styles.of(symbols[0]).shade
    assert styles.of(token).border != styles.of(symbols[0]).border


@pytest.mark.parametrize("objective", ["score", "likelihood", "count"])
def test_no_merge_changes_a_colour_or_makes_more_than_two_symbols_alike(objective: str) -> None:
    counts = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    styles = TokenStyles(counts, "##")
    history = wps.train(counts, wps.TrainingConfig(objective=objective)).history
    for step, merge in enumerate(history, start=1):
        assert styles.of(merge.token).shade == styles.of(merge.left).shade
        shown = {token for word in counts for token in history.segmentation(word, step)}
        assert max(Counter(styles.of(token).shade for token in shown).values()) <= 2
        for word in counts:
            split = history.segmentation(word, step)
            assert len({styles.of(token).shade for token in split}) == len(split)


@pytest.mark.parametrize("name", ["course-en", "hug", "spanish", "chinese", "korean"])
def test_no_two_symbols_side_by_side_in_a_word_of_a_sample_look_alike(name: str) -> None:
    words = resource_path(f"samples/{name}.txt").read_text(encoding="utf-8").split()
    styles = TokenStyles(words, "##")
    for word in words:
        symbols = [word[0], *(f"##{character}" for character in word[1:])]
        for left, right in itertools.pairwise(symbols):
            assert left == right or styles.of(left) != styles.of(right), (word, left, right)


def test_more_symbols_beside_each_other_than_there_are_colours_differ_in_their_borders() -> None:
    words = ["".join(pair) for pair in itertools.permutations("abcdefghijkl", 2)]
    styles = TokenStyles(words)
    found = {styles.of(symbol) for symbol in "abcdefghijkl"}
    assert len(found) == 12
    assert len({style.shade for style in found}) == 8


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0),
        ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_that_of_the_published_examples(
    one: tuple[float, ...], other: tuple[float, ...], expected: float
) -> None:
    assert difference(np.array(one), np.array(other)) == pytest.approx(expected, abs=5e-5)
