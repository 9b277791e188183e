"""What a case of the list of bad input and bad days has: its number, and the message that the user is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

TOLD = "told"


@pytest.fixture
def told(request: pytest.FixtureRequest) -> Callable[[object], str]:
    """Return a function that notes what the user is told, for the table of `python -m tests.cases`, and returns it."""

    def note(message: object) -> str:
        request.node.user_properties.append((TOLD, str(message)))
        return str(message)

    return note
