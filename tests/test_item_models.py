"""Every item model is checked by Qt's own model tester, and none is forgotten."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QAbstractItemModel

import wordpiece_studio

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).parent


def item_models() -> Iterator[type[QAbstractItemModel]]:
    """Yield the item models of the package, whatever they inherit from, but none that others inherit from."""
    for module in pkgutil.walk_packages(wordpiece_studio.__path__, "wordpiece_studio."):
        if module.name.startswith(("wordpiece_studio.session.", "wordpiece_studio.ui.")):
            for each in vars(importlib.import_module(module.name)).values():
                if isinstance(each, type) and issubclass(each, QAbstractItemModel) and each.__module__ == module.name:
                    yield from () if each.__subclasses__() else (each,)


def checked_names() -> set[str]:
    """Return all names in those test files in which models are handed to Qt's tester."""
    found = set()
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if "qtmodeltester.check(" in text:
            found |= {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return found


@pytest.mark.parametrize("model", list(item_models()), ids=lambda model: model.__name__)
def test_a_model_is_handed_to_qts_tester(model: type[QAbstractItemModel]) -> None:
    assert model.__name__ in checked_names(), f"no test calls qtmodeltester.check with a {model.__name__}"
