"""The size and the shape of the house: `python -m tests.house [--root DIR] [--walk]`.

Prints lines and files by room, the longest files and functions, how much of it all is code, how many files exactly one
other file imports, circles of imports, class names that exist twice; with ``--walk``, also how many files of the
product have a function that is called by ``train`` on a small text, and by *Train* in the window, and how many pairs of
files call each other. Imports for types only and within functions count like all others.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

_PACKAGE = "wordpiece_studio"
_SMALL = 130
_LONGEST = 10
_TEXT = "hug hug hug pug pug pun pun bun hugs\n"

_NOTE = """
import os, sys
files, calls = set(), set()
def note(frame, event, _):
    if event == "call":
        file = frame.f_code.co_filename
        if MARK in file and frame.f_code.co_flags & 1:  # a function: modules and classes are not optimized
            files.add(file)
            caller = frame.f_back
            while caller is not None and MARK not in caller.f_code.co_filename:
                caller = caller.f_back
            if caller is not None and caller.f_code.co_filename != file:
                calls.add((caller.f_code.co_filename, file))
"""
_COMMAND = """
from wordpiece_studio import __main__ as program
sys.argv = ["wordpiece-studio", "train", "corpus.txt", "--vocab-size", "20", "-o", "out"]
def leave(code):
    sys.setprofile(None)
    raise SystemExit
os._exit = leave
sys.setprofile(note)
try:
    program.main()
except SystemExit:
    pass
"""
_WINDOW = """
from pathlib import Path
from PySide6.QtWidgets import QApplication
application = QApplication([])
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.session.settings import SettingsStore
from wordpiece_studio.ui.main_window import MainWindow
from wordpiece_studio.ui.widgets.theme import Theme
window = MainWindow(SettingsStore(Path("settings")), Theme("light"))
window.open_first()
def trained():
    application.processEvents()
    while window.model.state is not TrainerState.FINISHED:
        application.processEvents()
    for _ in range(20):
        application.processEvents()
window.show()
trained()
before = window.model.history
sys.setprofile(note)
window.actions_.train.trigger()
while window.model.history is before:
    application.processEvents()
trained()
"""
_END = """
sys.setprofile(None)
both = sum((there, here) in calls for here, there in calls)
print(len(files), len(calls), both, file=sys.stderr, flush=True)
os.kill(os.getpid(), 9)  # no window has to be closed
"""


def module_of(path: Path, root: Path) -> str:
    """Return the dotted name of a file's module."""
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text("utf-8"), str(path))


def imports(root: Path) -> dict[str, set[str]]:
    """Return for each module of the product the modules of the product that it imports."""
    paths = {module_of(path, root): path for path in sorted((root / _PACKAGE).rglob("*.py"))}
    found: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                inner = {f"{node.module}.{alias.name}" for alias in node.names} & paths.keys()
                found[name] |= inner or ({node.module} & paths.keys())
            elif isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names} & paths.keys()
        found[name].discard(name)
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the sets of modules that reach each other, the largest first."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(start: str, edges: dict[str, set[str]], into: list[str]) -> None:
        stack = [(start, iter(sorted(edges[start])))]
        seen.add(start)
        while stack:
            name, following = stack[-1]
            step = next((each for each in following if each not in seen), None)
            if step is None:
                into.append(name)
                stack.pop()
            else:
                seen.add(step)
                stack.append((step, iter(sorted(edges[step]))))

    for name in graph:
        if name not in seen:
            visit(name, graph, order)
    backward: dict[str, set[str]] = {name: set() for name in graph}
    for name, targets in graph.items():
        for target in targets:
            backward[target].add(name)
    seen.clear()
    groups = []
    for name in reversed(order):
        if name not in seen:
            group: list[str] = []
            visit(name, backward, group)
            groups.append(sorted(group))
    return sorted((group for group in groups if len(group) > 1), key=len, reverse=True)


def walk(root: Path, way: str) -> list[int]:
    """Return what a training of a small text passes through: files, calls, and those there and back.

    Only the thread counts that begins it, and only functions that are called after it was begun.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "corpus.txt").write_text(_TEXT, "utf-8")
        mark = f"{os.sep}{_PACKAGE}{os.sep}"
        done = subprocess.run(
            [sys.executable, "-c", f"MARK = {mark!r}\n{_NOTE}{way}{_END}"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(root), "QT_QPA_PLATFORM": "offscreen", "XDG_STATE_HOME": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    return list(map(int, done.stderr.splitlines()[-1].split()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="another checkout")
    parser.add_argument("--walk", action="store_true", help="follow a training through the files")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    graph = imports(root)
    lines = {name: _lines(root, name) for name in graph}
    rows = [("lines of the product", sum(lines.values())), ("files", len(graph))]
    rows.append(("code: no blank, comment, docstring, import", sum(_code(root, name) for name in graph)))
    importers = Counter(target for targets in graph.values() for target in targets)
    lone = [name for name in graph if importers[name] == 1]
    rows.append(("files that exactly one other file imports", len(lone)))
    rows.append((f"of these with up to {_SMALL} lines", sum(lines[name] <= _SMALL for name in lone)))
    found = circles(graph)
    rows.append(("circles of imports", len(found)))
    rows.append(("files in the largest", len(found[0]) if found else 0))
    classes = Counter(each for name in graph for each in _classes(root, name))
    rows.append(("class names that exist twice", sum(count > 1 for count in classes.values())))
    if arguments.walk:
        for way, begin in (("`train corpus.txt`", _COMMAND), ("the window's Train", _WINDOW)):
            names = (f"files that {way} passes", "calls from file to file", "of these there and back")
            rows += zip(names, walk(root, begin), strict=True)
    for title, value in rows:
        print(f"{title:45} {value:8,}")  # noqa: T201
    print("\nroom                lines  files")  # noqa: T201
    rooms = {name: [*name.split("."), ""][1] for name in graph}
    for room in sorted(
        set(rooms.values()), key=lambda room: -sum(lines[name] for name in graph if rooms[name] == room)
    ):
        inside = [name for name in graph if rooms[name] == room]
        print(f"{room or '(the face)':15} {sum(lines[name] for name in inside):9,} {len(inside):6}")  # noqa: T201
    functions = [(length, f"{name}.{function}") for name in graph for function, length in _functions(root, name)]
    for title, found in (("files", [(length, name) for name, length in lines.items()]), ("functions", functions)):
        print(f"\nthe longest {title}")  # noqa: T201
        for length, name in sorted(found, reverse=True)[:_LONGEST]:
            print(f"{length:9,}  {name}")  # noqa: T201


def _path(root: Path, name: str) -> Path:
    path = root.joinpath(*name.split("."))
    file = path.with_suffix(".py")  # beside it, a folder of a former package may be left
    return file if file.exists() else path / "__init__.py"


def _lines(root: Path, name: str) -> int:
    return len(_path(root, name).read_text("utf-8").splitlines())


def _code(root: Path, name: str) -> int:
    """Return how many lines of a file are neither blank nor part of a comment, a docstring or an import."""
    tree, apart = tree_of(_path(root, name)), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            apart.update(_span(node.body[0]))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            apart.update(_span(node))
    lines = enumerate(_path(root, name).read_text("utf-8").splitlines(), 1)
    return sum(bool(line.strip()) and line.strip()[0] != "#" and number not in apart for number, line in lines)


def _functions(root: Path, name: str) -> list[tuple[str, int]]:
    """Return the functions of a file with their lengths, without their docstrings."""
    found = []
    for node in ast.walk(tree_of(_path(root, name))):
        if isinstance(node, ast.FunctionDef):
            words = 0 if ast.get_docstring(node) is None else len(_span(node.body[0]))
            found.append((node.name, len(_span(node)) - words))
    return found


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _classes(root: Path, name: str) -> list[str]:
    body = tree_of(_path(root, name)).body
    return [node.name for node in body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]


if __name__ == "__main__":
    main()
