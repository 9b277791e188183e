"""The colours: readable in every look, distinguishable for the colour-blind, and a token's the same in every run."""

from __future__ import annotations

import doctest
import itertools
import subprocess
import sys

import numpy as np
import pytest

from tests.ui.color_vision import VISIONS, contrast, difference, seen
from wordpiece_studio.resources import resource_path
from wordpiece_studio.ui.widgets import theme
from wordpiece_studio.ui.widgets.theme import INKS, LOOKS, SHADES, Look, Theme, TokenStyles

_TOKENS = ["[UNK]", "##a", "cha", "안녕", "字", "<img src=x>", "", "\ud800", *(f"##{number}" for number in range(300))]
_PAIRS = [
    ("text", "surface"), ("text", "window"), ("muted", "surface"), ("muted", "window"), ("accent_text", "accent"),
    ("accent_ink", "surface"), ("text", "accent_soft"), ("tie_text", "tie_soft"), ("error", "error_soft"),
    ("success", "surface"), ("text", "hover"), ("accent_text", "accent_hover"),
]  # fmt: skip
_LEAST_CONTRAST = {"light": 4.5, "dark": 4.5, "contrast": 7.0}
_LEAST_DIFFERENCE = 10.0
"""CIEDE2000; what the module's docstring promises."""

looks = pytest.mark.parametrize("look", LOOKS)


@looks
def test_text_on_every_token_colour_is_readable(look: Look) -> None:
    assert min(contrast(color, INKS[look]) for color in SHADES[look]) >= _LEAST_CONTRAST[look]


@looks
@pytest.mark.parametrize("vision", VISIONS)
def test_any_two_token_colours_can_be_distinguished(look: Look, vision: str) -> None:
    colors = [seen(color, vision) for color in SHADES[look]]
    assert min(difference(*pair) for pair in itertools.combinations(colors, 2)) >= _LEAST_DIFFERENCE


@looks
@pytest.mark.parametrize("ink_and_ground", _PAIRS, ids="-on-".join)
def test_text_is_readable(look: Look, ink_and_ground: tuple[str, str]) -> None:
    ink, ground = ink_and_ground
    assert contrast(getattr(LOOKS[look], ink), getattr(LOOKS[look], ground)) >= _LEAST_CONTRAST[look]


@looks
def test_edges_that_carry_meaning_are_visible_in_every_look(look: Look) -> None:
    colors = LOOKS[look]
    assert contrast(colors.accent, colors.surface) >= 3
    if look == "contrast":
        assert contrast(colors.border, colors.surface) >= 7
        assert contrast(colors.faint, colors.surface) >= 7


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
    assert min(contrast(color, LOOKS[look].surface) for color in shades) >= _LEAST_CONTRAST[look]
    assert Theme(look).run_color(8) == shades[0]


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
def test_a_longer_token_has_none_of_the_colours_of_its_symbols(token: str, symbols: list[str]) -> None:
    styles = TokenStyles(["hug", "pug", "pun", "bun", "hugs"], "##")
    assert styles.of(token).shade not in {styles.of(symbol).shade for symbol in symbols}


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
