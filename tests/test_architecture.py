"""The rules of the house, read off the sources: who imports whom, what is banned, what says what it is."""

from __future__ import annotations

import ast
import gc
import inspect
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import pytest

import wordpiece_studio as wps
from tests.house import circles, imports, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "wordpiece_studio"
FILES = sorted(PACKAGE.rglob("*.py"))

TOP_LEVEL = {"LICENSE", "README.md", "pyproject.toml", "resources", "tests", "wordpiece_studio"}
MADE_BY_TOOLS = {"build", "dist"}
IN_PACKAGE = {
    "__init__.py", "__main__.py", "cli", "compiled", "corpus", "errors.py", "evaluation", "notebook.py", "libraries",
    "platform_check.py", "py.typed", "resources.py", "session", "stopping.py", "storage", "system",
    "text", "tokenizer", "training", "ui", "version.py",
}  # fmt: skip

# A module may import from its own room and from those below it.
LAYERS = {
    "errors": 0, "resources": 0, "platform_check": 0, "stopping": 0, "version": 0, "system": 1, "compiled": 2,
    "notebook": 2, "text": 3, "corpus": 4, "tokenizer": 5, "training": 6, "evaluation": 7, "libraries": 8, "storage": 9,
    "session": 11, "ui": 12,
}  # fmt: skip
QT = {"PySide6", "shiboken6", "pyqtgraph", "PyQt6", "PyQt5", "qtpy"}
BANNED_MODULES = {
    "pickle": "runs code from a file; only a process of our own is sent some",
    "cPickle": "as pickle", "marshal": "as pickle", "shelve": "as pickle",
    "dill": "as pickle", "cloudpickle": "as pickle", "PyQt6": "one binding is enough", "PyQt5": "as PyQt6",
}  # fmt: skip
BANNED_NAMES = {
    "QSettings": "unpickles what it reads; settings are JSON",
    "QSaveFile": "replaces a good file by a truncated one on a full disk; see system/atomic_write.py",
    "QSortFilterProxyModel": "takes seconds over a Python model; sort and filter by index arrays",
    "toPlainText": "changes the text; Document.text is the truth",
    "singleShot": "calls a method of what is deleted by then; see session/task.py",
    "setHtml": "shows text from outside as markup",
    "RichText": "shows text from outside as markup",
    "AutoText": "shows text from outside as markup",
    "MarkdownText": "shows text from outside as markup",
    "setMarkdown": "shows text from outside as markup",
    "QTextBrowser": "shows text from outside as markup",
}
MAY_USE = {
    # It shows our own pages.
    ("QTextBrowser", "ui/dialogs/help_window.py"),
    # Between us and a process that we started, which runs our code.
    ("pickle", "system/child.py"),
}
# Where plain text is made sure of for every label, message and tooltip.
MAY_SET_TOOLTIPS = {"ui/widgets/plain.py"}
# Where it is made sure that a megabyte from the clipboard is no line.
MAY_MAKE_FIELDS = {"ui/widgets/fields.py"}
# Where it is made sure that a painter is given back as it was.
MAY_SAVE_PAINTERS = {"ui/widgets/theme.py"}
# The names a distribution is imported by, where they are not its own.
LIBRARY_AS = {"pyside6_essentials": {"PySide6", "shiboken6"}}


@pytest.fixture(autouse=True, scope="module")
def _syntax_trees_are_no_garbage() -> Iterator[None]:
    gc.disable()  # half a million nodes, which stay
    yield
    gc.enable()


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def layer_of(module: str) -> int | None:
    """Return the layer of ``wordpiece_studio.<part>…``; None for the library's face and the command line."""
    return LAYERS.get(module.partition(".")[2].partition(".")[0])


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


@cache
def imports_of(path: Path) -> list[tuple[int, str]]:
    """Return (line, dotted name) of every import of a file, those within functions and TYPE_CHECKING too."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def uses_of(names: set[str], path: Path) -> list[tuple[int, str]]:
    """Return (line, name) wherever one of the names is used as a name, an attribute or an import."""
    found = []
    for node in nodes_of(path):
        name = getattr(node, "id", None) or getattr(node, "attr", None)
        if isinstance(node, ast.alias):
            name = node.name
        if name in names:
            found.append((getattr(node, "lineno", 0), name))
    return found


def run_python(code: str) -> str:
    """Run a program in an interpreter of its own and return what it printed."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_sources_are_found() -> None:
    assert len(FILES) > 20


def test_top_level() -> None:
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".") and path.suffix != ".egg-info"}
    assert names - MADE_BY_TOOLS == TOP_LEVEL


def test_package_top_level() -> None:
    names = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    assert names == IN_PACKAGE


def test_imports_go_down_only() -> None:
    wrong = []
    for path in FILES:
        own = layer_of(module_of(path))  # None: the library's face and the command line, which stand on top of all
        for line, name in imports_of(path):
            if own is None or not name.startswith("wordpiece_studio."):
                continue
            other = layer_of(name)
            if other is None or other > own:
                wrong.append(f"{name_of(path)}:{line} imports {name}")
    assert not wrong


def test_no_modules_import_each_other() -> None:
    """Imports for types only and within functions count like all others."""
    assert circles(imports(ROOT)) == []


def test_only_the_upper_layers_import_qt() -> None:
    wrong = []
    for path in FILES:
        if (layer_of(module_of(path)) or 0) < LAYERS["session"]:
            wrong += [f"{name_of(path)}:{n} {name}" for n, name in imports_of(path) if name.split(".")[0] in QT]
    assert not wrong


def test_the_session_knows_no_widgets() -> None:
    allowed = ("PySide6.QtCore", "PySide6.QtGui.QUndo")
    wrong = [
        f"{name_of(path)}:{line} {name}"
        for path in (PACKAGE / "session").rglob("*.py")
        for line, name in imports_of(path)
        if name.startswith("PySide6") and not name.startswith(allowed)
    ]
    assert not wrong


PANES = sorted(
    path.parent.name if path.parent.name != "panes" else path.stem for path in PACKAGE.glob("ui/panes/**/*_pane.py")
)
"""Folders, and files where a pane is one file."""


@pytest.mark.parametrize("pane", PANES)
def test_panes_never_import_each_other(pane: str) -> None:
    others = tuple(f"wordpiece_studio.ui.panes.{other}." for other in PANES if other != pane)
    files = [*(PACKAGE / "ui" / "panes" / pane).glob("*.py"), *PACKAGE.glob(f"ui/panes/{pane}.py")]
    wrong = [f"{name_of(path)}:{line} {name}" for path in files for line, name in imports_of(path)]
    assert not [one for one in wrong if one.split()[1].startswith(others)]


def test_no_class_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name_of(path))
    assert not {name: found for name, found in places.items() if len(found) > 1}


@pytest.mark.slow
def test_pyqtgraph_is_imported_in_one_place_when_charts_are_first_shown() -> None:
    """It takes a fifth of a second."""
    found = {name_of(path) for path in FILES for _, name in imports_of(path) if name.split(".")[0] == "pyqtgraph"}
    assert found == {"ui/panes/charts/plot.py"}
    loaded = run_python("import wordpiece_studio.ui.main_window, sys; print(*sys.modules)").split()
    assert not {"pyqtgraph", "wordpiece_studio.ui.panes.charts.plot"} & set(loaded)


def test_imports_are_absolute() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not wrong


def test_all_but_session_and_window_runs_without_qt() -> None:
    modules = [module_of(path) for path in FILES if (layer_of(module_of(path)) or 0) < LAYERS["session"]]
    modules = [name for name in modules if name != "wordpiece_studio.__main__"]  # that one runs the program
    run_python(f"""
import importlib, sys
class NoQt:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {QT!r}:
            raise ImportError(f"{{name}} is blocked")
sys.meta_path.insert(0, NoQt())
for name in {modules!r}:
    importlib.import_module(name)
""")


@pytest.mark.parametrize("module", ["wordpiece_studio", "wordpiece_studio.platform_check"])
def test_the_import_is_light(module: str) -> None:
    loaded = set(run_python(f"import {module}, sys; print(*sys.modules)").split())
    assert not loaded & {*QT, "numba", "numpy", "llvmlite"}


def test_what_is_required_is_imported_and_the_other_way_round() -> None:
    optional = {"dask", "distributed", "fsspec", "pandas", "pyarrow"}  # these are extras
    known = {module: name for name in required() for module in LIBRARY_AS.get(name, {name})}
    imported = {name.split(".")[0] for path in FILES for _, name in imports_of(path)}
    others = imported - set(sys.stdlib_module_names) - {"wordpiece_studio"}
    assert {known.get(module, module) for module in others} - optional == required()


def required() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = (re.split(r"[ <>=!~;\[]", line)[0] for line in project["dependencies"])
    return {name.lower().replace("-", "_") for name in names}


def test_banned_modules() -> None:
    wrong = [
        f"{name_of(path)}:{line} {name}: {BANNED_MODULES[name.split('.')[0]]}"
        for path in FILES
        for line, name in imports_of(path)
        if name.split(".")[0] in BANNED_MODULES and (name.split(".")[0], name_of(path)) not in MAY_USE
    ]
    assert not wrong


def test_banned_names() -> None:
    wrong = [
        f"{name_of(path)}:{line} {name}: {BANNED_NAMES[name]}"
        for path in FILES
        for line, name in uses_of(set(BANNED_NAMES), path)
        if (name, name_of(path)) not in MAY_USE
    ]
    assert not wrong


def test_tooltips_go_through_the_helper_that_escapes() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in (PACKAGE / "ui").rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", "") in {"setToolTip", "showText"}
        and name_of(path) not in MAY_SET_TOOLTIPS
        and not all(is_own_text(argument) for argument in node.args)
    ]
    assert not wrong


def is_own_text(node: ast.expr) -> bool:
    """Tell whether an argument is our own words (``self.tr("…")``, a literal) or made by a helper."""
    if isinstance(node, ast.Constant):
        return True
    called = node.func if isinstance(node, ast.Call) else None
    name = getattr(called, "attr", None) or getattr(called, "id", None)
    return name in {"tr", "translate", "tooltip_text", "globalPos", "mapToGlobal", "toPoint"}


def test_fields_are_made_where_they_get_a_limit() -> None:
    """Qt's own lets in 32,767 characters, which what looks at them at each key takes seconds for."""
    calls = [(path, node) for path in FILES for node in nodes_of(path) if isinstance(node, ast.Call)]
    made = {name_of(path) for path, node in calls if getattr(node.func, "id", None) == "QLineEdit"}
    assert made <= MAY_MAKE_FIELDS


def test_numbers_are_never_written_as_the_system_writes_them() -> None:
    """All words are English, in errors and in the help too: 0,1667 beside 3.43 would be read as two numbers."""
    made = [
        f"{name_of(path)}:{node.lineno} {ast.unparse(node)}"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.Call)
        and (getattr(node.func, "id", None) == "QLocale" or ast.unparse(node.func) == "QLocale.system")
    ]
    allowed = {"ui/widgets/fields.py", "ui/dialogs/file_questions.py"}  # and dates
    assert {each.partition(":")[0] for each in made} <= allowed, made


def test_painters_are_given_back_whatever_happens() -> None:
    """An exception with a painter open ends the process when Qt paints the next time."""
    found = []
    for path in FILES:
        opened = {item.context_expr for node in nodes_of(path) if isinstance(node, ast.With) for item in node.items}
        for node in nodes_of(path):
            if not isinstance(node, ast.Call):
                continue
            is_painter = isinstance(node.func, ast.Name) and node.func.id == "QPainter"
            is_save = isinstance(node.func, ast.Attribute) and node.func.attr == "save"
            is_saved = is_save and ast.unparse(node.func) == "painter.save"
            if (is_painter and node not in opened) or (is_saved and name_of(path) not in MAY_SAVE_PAINTERS):
                found.append(f"{name_of(path)}:{node.lineno} {ast.unparse(node)}")
    assert found == []


def test_structs_are_decodable() -> None:
    """One that is not prepared ends the process when two threads decode it for the first time."""
    found = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
        and "msgspec.Struct" in map(ast.unparse, node.bases)
        and "decodable" not in map(ast.unparse, node.decorator_list)
    ]
    assert found == []


def test_signals_carry_objects() -> None:
    """Signal(int) has 32 bits, Signal(dict) and Signal(list) copy and lose keys."""
    wrong = [
        f"{name_of(path)}:{node.lineno} Signal({argument.id})"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Signal"
        for argument in node.args
        if isinstance(argument, ast.Name) and argument.id in {"int", "dict", "list"}
    ]
    assert not wrong


def test_no_qt_thread_is_terminated() -> None:
    """QThread.terminate() leaves the interpreter lock taken: the whole process hangs. Processes may be terminated."""
    wrong = [
        f"{name_of(path)}:{line}"
        for path in FILES
        for line, _ in uses_of({"terminate"}, path)
        if uses_of({"QThread"}, path)
    ]
    assert not wrong


def test_every_file_says_what_it_is() -> None:
    wrong = [name_of(path) for path in FILES if path.stat().st_size and not ast.get_docstring(tree_of(path))]
    assert not wrong


def test_the_library_says_what_it_does() -> None:
    """All that `import wordpiece_studio` offers, with the public methods of its classes."""
    offered = [(name, getattr(wps, name)) for name in wps.__all__]
    members = [
        (f"{name}.{member}", value)
        for name, kind in offered
        if isinstance(kind, type)
        for member, value in vars(kind).items()
        if not member.startswith("_") and isinstance(value, FunctionType | classmethod | staticmethod | property)
    ]
    callables = [(name, value) for name, value in offered if isinstance(value, type | FunctionType)]
    assert len(members) > 100
    assert not [name for name, value in callables + members if not inspect.getdoc(value)]
