"""A user's expression that is looked for in tokens."""

from __future__ import annotations

import pytest

from wordpiece_studio.errors import StudioError
from wordpiece_studio.text.search_pattern import SearchPattern


@pytest.mark.parametrize(
    ("pattern", "text", "is_in"),
    [("ing", "##ting", True), ("^ing", "##ing", False), (r"^##\p{Han}$", "##中", True), ("(?i)ING", "ing", True)],
)
def test_it_is_found_anywhere(pattern: str, text: str, is_in: bool) -> None:
    assert SearchPattern(pattern).is_in(text) is is_in


@pytest.mark.parametrize(("pattern", "told"), [("", "empty"), ("a(", "character"), ("(((a{900}){900}){900}", "often")])
def test_what_is_invalid_is_told(pattern: str, told: str) -> None:
    with pytest.raises(StudioError, match=told):
        SearchPattern(pattern)


def test_a_search_without_end_is_given_up() -> None:
    with pytest.raises(StudioError, match="takes too long"):
        SearchPattern("(a|aa)+[^a]").is_in("a" * 90)
