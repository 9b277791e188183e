"""The colours: readable in light and in dark, and a token's colour the same in every run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wordpiece_studio.ui.look.colors import DARK, LIGHT, contrast, token_color, token_text_color

_TOKENS = ["[UNK]", "##a", "cha", "안녕", "字", "<img src=x>", "", "\ud800", *(f"##{number}" for number in range(300))]
_PAIRS = [
    ("text", "surface"), ("text", "window"), ("muted", "surface"), ("muted", "window"), ("accent_text", "accent"),
    ("accent_ink", "surface"), ("text", "accent_soft"), ("tie_text", "tie_soft"), ("error", "error_soft"),
    ("success", "surface"), ("text", "hover"), ("accent_text", "accent_hover"),
]  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_text_on_every_token_colour_is_readable(dark: bool) -> None:
    assert min(contrast(token_color(token, dark), token_text_color(dark)) for token in _TOKENS) >= 4.5


@pytest.mark.parametrize("colors", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ink_and_ground", _PAIRS, ids="-on-".join)
def test_text_is_readable(colors: object, ink_and_ground: tuple[str, str]) -> None:
    ink, ground = ink_and_ground
    assert contrast(getattr(colors, ink), getattr(colors, ground)) >= 4.5


def test_tokens_use_all_colours() -> None:
    assert len({token_color(token, False).name() for token in _TOKENS}) == 12


def test_a_token_has_the_same_colour_in_another_run() -> None:
    code = "from wordpiece_studio.ui.look.colors import token_color; print(token_color('##hug', True).name())"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == token_color("##hug", True).name()
