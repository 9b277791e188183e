"""Which parts of the window listen to which panes: each connection between rooms has a reason, and there are few.

What a pane shows is the session's, and panes follow that; they know nothing of each other. What is left is what a user
does in a pane and a controller carries out.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.house import tree_of
from tests.test_architecture import FILES, PACKAGE
from wordpiece_studio.ui.workspace import PANES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PARTS = {f"{name}_pane" for name in PANES} | {"bar", "run_strip", "corpus_marks"}
"""The attributes of the window that are rooms of their own."""

CROSSING = {
    "corpus_controller: corpus_pane.editor.drops.files_dropped": "files dropped there are opened",
    "corpus_controller: corpus_pane.files_view.drops.files_dropped": "files dropped there are added",
    "corpus_controller: corpus_pane.files_view.preview.text_shown": "a live text is offered that suits the files",
    "corpus_controller: corpus_pane.refused": "errors are shown by the window alone",
    "corpus_controller: tokenization_pane.edit.text_changed": "the live text is the session's",
    "export_controller: charts_pane.save_requested": "dialogs about files are the window's",
    "export_controller: history_pane.export_button.clicked": "dialogs about files are the window's",
    "runs_controller: comparison_pane.divergences.went": "it brings another pane to the front",
    "runs_controller: comparison_pane.summary.files_requested": "dialogs about files are the window's",
    "runs_controller: comparison_pane.summary.tokenizers_requested": "dialogs about files are the window's",
    "runs_controller: tokenization_pane.comparison_requested": "it is another layout",
    "runs_controller: run_strip.tabs.rename_wanted": "a command asks for the name too",
    "training_controller: bar.ready_timer.timeout": "the bar does not know what else there is to say",
    "view_controller: history_pane.columns_chosen": "they are remembered for the next start",
    "view_controller: timeline_pane.plot.valueChanged": "who has dragged there needs no hint any more",
    "view_controller: tokenization_pane.chips.chosen": "who has clicked a token needs no hint any more",
    "view_controller: tokenization_pane.chips.word_chosen": "who has opened a word needs no hint any more",
    "workspace: run_strip.owner_changed": "whose text it is takes long to find out, and is known there",
}
"""Who connects which signal, and why the pane or the session cannot do it alone."""


def crossings(path: Path) -> Iterator[str]:
    """Yield the signals of other rooms that a file connects, as ``timeline_pane.plot.step_chosen``."""
    for scope in ast.walk(tree_of(path)):
        if isinstance(scope, ast.ClassDef):
            of_class = _aliases(scope, ast.Attribute)
            for function in scope.body:
                names = of_class | _aliases(function, ast.Name)
                yield from filter(None, (_within_part(signal, names) for signal in _signals(function)))


def _signals(scope: ast.AST) -> Iterator[ast.expr]:
    """Yield what is connected, or followed by a pane."""
    loops = {
        ast.unparse(loop.target): loop.iter.elts
        for loop in ast.walk(scope)
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Tuple | ast.List)
    }
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "connect":
                yield from loops.get(ast.unparse(node.func.value), [node.func.value])
            elif node.func.attr == "follow":
                yield from node.args


def _aliases(scope: ast.AST, kind: type[ast.expr]) -> dict[str, ast.expr]:
    """Return what names of one kind, within a scope, stand for."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                found |= {ast.unparse(one): other for one, other in pairs if isinstance(one, kind)}
    return found


def _within_part(node: ast.expr, names: dict[str, ast.expr]) -> str:
    """Return an attribute of a part of the window from that part on; empty if it is something else."""
    tail: list[str] = []
    while isinstance(node, ast.Attribute | ast.Name):
        if isinstance(node, ast.Attribute) and node.attr in PARTS and tail:
            return ".".join([node.attr, *tail])
        name = ast.unparse(node)
        if name in names:
            known = ast.parse(".".join([ast.unparse(names[name]), *tail]), mode="eval").body
            return _within_part(known, {other: value for other, value in names.items() if other != name})
        if isinstance(node, ast.Name):
            return ""
        tail.insert(0, node.attr)
        node = node.value
    return ""


def test_every_connection_to_another_room_has_a_reason() -> None:
    found = {f"{path.stem}: {signal}" for path in FILES if PACKAGE / "ui" in path.parents for signal in crossings(path)}
    assert found == CROSSING.keys()
