"""Mutations of what the Studio remembers, ``settings.json``."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.reliability.mutating import spoiled_bytes, spoiled_json, spoiled_lines
from wordpiece_studio.session.settings import FILE_NAME, SettingsStore

if TYPE_CHECKING:
    import random


@cache
def seeds() -> dict[str, bytes]:
    """Return settings in which most is said."""
    with tempfile.TemporaryDirectory() as name:
        SettingsStore(Path(name)).change(
            demo_scale=150, window_size=(800, 600), history_columns=("step", "token"),
            layouts={"teach": {"version": 1, "closed": ["charts"], "widths": {"corpus": 0.3}}},
            recent_files=[["a.txt"], ["b.txt", "c.txt"]],
        )  # fmt: skip
        return {FILE_NAME: (Path(name) / FILE_NAME).read_bytes()}


def mutate(random: random.Random, seed: bytes) -> bytes:
    """Return settings of which something is not right."""
    return random.choice((spoiled_bytes, spoiled_lines, spoiled_json, spoiled_json))(random, seed)


def read(path: Path) -> None:
    """Read them; damage is not raised by the Studio itself, but told beside the defaults."""
    store = SettingsStore(path.parent)
    if store.damage is not None:
        raise store.damage
