from __future__ import annotations

import pytest

from wordpiece_studio.system.printable import printable


@pytest.mark.parametrize("text", ["hug", "##한", "中文。", "é ñ", "🙂", ""])
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert printable(text) == text


def test_what_a_terminal_acts_on_is_escaped() -> None:
    assert printable("\x1b]0;x\x07\u202eab\n\udc80\u200b") == r"\x1b]0;x\x07\u202eab\n\udc80\u200b"
    assert printable("a\tb\n\x9b", keep="\n\t") == "a\tb\n\\x9b"
