"""What comes from outside is data: it runs no code, names no path, and is shown through the helpers that show it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.test_architecture import FILES, PACKAGE, ROOT, name_of, tree_of
from wordpiece_studio.resources import resource_path

pytestmark = pytest.mark.slow

# What may read HTML is made in these files only, which make sure that it does not.
MAKERS = {
    "QLabel": {"ui/widgets/plain.py", "ui/panes/corpus/lint_view.py"},  # there a picture and no text
    "QMessageBox": {"ui/messages.py"},
    "QToolTip": {"ui/widgets/plain.py"},
    "QProgressDialog": set[str](),
    "QInputDialog": set[str](),
    "QErrorMessage": set[str](),
    "QTextBrowser": {"ui/dialogs/help_window.py"},  # our own pages
    "QTextEdit": set[str](),
    "QSplashScreen": set[str](),
    "QWhatsThis": set[str](),
    "QDesktopServices": set[str](),
    "QPluginLoader": set[str](),
    "QUiLoader": set[str](),
    "QNetworkAccessManager": set[str](),
}
RUNS_CODE = {"eval", "exec", "compile", "__import__", "system", "popen", "execv", "startfile"}
# Modules that a hostile folder may bring, in the place of those that a new process imports first.
HOSTILE = (
    "json", "queue", "select", "selectors", "numpy", "numba", "llvmlite", "regex", "msgspec", "encodings", "random",
    "struct", "multiprocessing", "pyarrow", "PySide6", "hashlib", "tempfile", "typing",
)  # fmt: skip


@cache
def calls() -> list[tuple[str, int, str]]:
    """Return the file, the line and the name of every call of a name or an attribute."""
    found = []
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
                found.append((name_of(path), node.lineno, str(name)))
    return found


def test_what_may_read_markup_is_made_in_one_place() -> None:
    made = [(file, line, name) for file, line, name in calls() if name in MAKERS]
    assert {name for _, _, name in made} >= {"QLabel", "QMessageBox"}
    assert not [f"{file}:{line} {name}" for file, line, name in made if file not in MAKERS[name]]


def _may_read_markup(base: str, file: str) -> bool:
    return base in MAKERS and (base == "QLabel" or file not in MAKERS[base])


def test_classes_that_show_text_are_labels_made_plain() -> None:
    """A class of ours that is a label says itself that its text is plain."""
    wrong = [
        f"{name_of(path)}: {node.name}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
        and any(_may_read_markup(ast.unparse(base), name_of(path)) for base in node.bases)
        and not re.search("PlainText|set_plain_text", ast.unparse(node))
    ]
    assert not wrong


def test_no_text_is_run_as_code() -> None:
    # QLocale.system() is the language of the system.
    others = {(name_of(path), node.lineno) for path in FILES for node in ast.walk(tree_of(path)) if is_locale(node)}
    wrong = [
        f"{file}:{line} {name}" for file, line, name in calls() if name in RUNS_CODE and (file, line) not in others
    ]
    assert not [one for one in wrong if not one.endswith((" compile", " exec"))]
    compiled = [path for path in FILES for node in ast.walk(tree_of(path)) if is_built_in(node, {"compile", "exec"})]
    assert not list(map(name_of, compiled))


def is_locale(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "QLocale.system"


def is_built_in(node: ast.AST, names: set[str]) -> bool:
    """Tell whether a node calls a function by its bare name: `dialog.exec` and `regex.compile` are others."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def test_no_process_is_started_by_a_shell() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.keyword) and node.arg == "shell"
    ]
    assert not wrong


def test_arrays_are_read_without_objects_in_them() -> None:
    wrong = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.keyword)
        and node.arg == "allow_pickle"
        and getattr(node.value, "value", None) is not False
    ]
    assert not wrong


@pytest.mark.parametrize(
    "name", ["../pyproject.toml", "../wordpiece_studio/errors.py", "samples/../../README.md", "/etc/hostname"]
)
def test_a_resource_lies_among_the_resources(name: str) -> None:
    with pytest.raises(FileNotFoundError):
        resource_path(name)


def test_resources_are_those_of_the_package_whatever_the_folder_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("resources/samples", "samples", "icons"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "course-en.txt").write_text("not this one")
    monkeypatch.chdir(tmp_path)
    assert resource_path("samples/course-en.txt").is_relative_to(PACKAGE.parent)
    assert "Hugging Face" in resource_path("samples/course-en.txt").read_text(encoding="utf-8")


def test_no_module_is_taken_from_the_folder_of_the_texts(tmp_path: Path) -> None:
    """As the installed command is started, in a folder that someone else filled, with a second process to count."""
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text(f"open('RAN-{name}', 'w').close()\nraise SystemExit(3)\n")
    (tmp_path / "text.txt").write_text("some words and some more words\n" * 150_000)
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from wordpiece_studio.cli import main; main()"
    arguments = ["count", "text.txt", "--processes", "2"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments],
        cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert not [path.name for path in tmp_path.glob("RAN-*")]


def test_processes_of_the_window_import_nothing_from_the_folder_of_the_texts(tmp_path: Path) -> None:
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text(f"open('RAN-{name}', 'w').close()\nraise SystemExit(3)\n")
    program = tmp_path / "program" / "wordpiece-studio"
    program.parent.mkdir()
    program.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from math import factorial\n"
        "from wordpiece_studio.system.child import Child\n"
        "with Child('The child failed') as child:\n"
        "    print(child.call(factorial, 5))\n"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60
    )
    assert not [path.name for path in tmp_path.glob("RAN-*")]
    assert (done.returncode, done.stdout.split()) == (0, [b"120"]), done.stderr


def test_the_sources_are_there() -> None:
    assert Path(ROOT, "wordpiece_studio").is_dir()
    assert len(calls()) > 1000
