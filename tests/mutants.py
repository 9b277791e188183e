"""How many small faults the tests notice: `python -m tests.mutants map|run …` (needs pytest-cov).

``map`` runs the tests of `.ci/run` once in the tree of the current folder and notes which of them execute which lines,
and how long each takes. ``run`` then puts one fault after the other into a copy of the tree: an operator, a comparison,
a constant or a return that is another one. For each, the tests that execute its statement run, the quickest first,
until one fails. The places are drawn from statements that the two trees have in common, so that with one seed a tree
and its successor are tried with the same faults::

    python -m tests.mutants map after.json
    python -m tests.mutants run after.json --other ../before --count 200 --seed 1 --workers 2

A tree whose rooms lie elsewhere is told so: ``--rooms training … core/training …`` names those of both.

A fault that no test executes counts as one that is not noticed. Product code that only child processes or threads of
Qt execute is executed by no test here.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGE = "wordpiece_studio"
ROOMS = ("training", "tokenizer", "text", "storage", "session")
_RUNS = (("-m", "not slow and not exhaustive"), ("-m", "slow and not exhaustive"))
_MOST_TESTS = 400  # of those that execute a statement; the quickest
_PATIENCE = 2.0  # times as long as the tests took with coverage, and
_LEAST_PATIENCE_S = 60.0
_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr, ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A statement of a file, and what stands in its place."""

    file: str
    line: int
    last_line: int
    kind: str
    before: str
    after: str


# ---- faults ----------------------------------------------------------------------------------------------------------


def mutants_of(root: Path, rooms: list[str]) -> dict[tuple[str, str], Mutant]:
    """Return the faults that can be put into some rooms of a tree, by statement and what stands in its place.

    A statement that is there twice is left out: it could not be told which one is meant.
    """
    found: dict[tuple[str, str], Mutant] = {}
    seen: Counter[str] = Counter()
    for room in rooms:
        for path in sorted((root / _PACKAGE / room).rglob("*.py")):
            for statement in _statements(ast.parse(path.read_text("utf-8"))):
                before = ast.unparse(statement)
                seen[before] += 1
                for kind, after in _changed(statement):
                    place = path.relative_to(root).as_posix()
                    last = statement.end_lineno or statement.lineno
                    found[before, after] = Mutant(place, statement.lineno, last, kind, before, after)
    return {key: mutant for key, mutant in found.items() if seen[key[0]] == 1}


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the simple statements within functions, and the heads of ``if`` and ``while`` as statements."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.AnnAssign | ast.Assert):
                yield node
            elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
                yield node
            elif isinstance(node, ast.If | ast.While):
                yield _head(node)


def _head(node: ast.If | ast.While) -> ast.stmt:
    """Return the condition alone, as a statement at its place."""
    head = ast.Expr(node.test)
    return ast.copy_location(head, node.test)


def _changed(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield (kind, source) of the statement with one thing changed, for all things that can be."""
    for index, node in enumerate(ast.walk(statement)):
        for kind, change in _changes(node):
            other = copy.deepcopy(statement)
            change(list(ast.walk(other))[index])
            yield kind, ast.unparse(ast.fix_missing_locations(other))
    if isinstance(statement, ast.Return) and statement.value is not None:
        yield "return", "return None"


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _OPERATORS:
        if not _joins_strings(node):
            yield "operator", lambda other: setattr(other, "op", _OPERATORS[type(other.op)]())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _OPERATORS:
        yield "comparison", lambda other: other.ops.__setitem__(0, _OPERATORS[type(other.ops[0])]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "comparison", lambda other: setattr(other, "op", ast.UAdd())  # +True is 1, +False is 0
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "constant", lambda other: setattr(other, "value", not other.value)
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield "constant", lambda other: setattr(other, "value", other.value + 1)


def _joins_strings(node: ast.AST) -> bool:
    return any(isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
               for part in ast.walk(node))  # fmt: skip


def chosen(root: Path, other: Path, rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """Return `count` of the faults that both trees can have, as they are in `root`; the same for the same two."""
    ours = mutants_of(root, rooms)
    both = sorted(ours.keys() & mutants_of(other, rooms).keys())
    # First the statement, then what becomes of it: a long one is not drawn more often.
    statements: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key in both:
        statements[key[0]].append(key)
    draw = random.Random(seed)
    drawn = draw.sample(sorted(statements), min(count, len(statements)))
    return [ours[draw.choice(statements[statement])] for statement in drawn]


# ---- which tests execute what ----------------------------------------------------------------------------------------


def make_map(target: Path, tests: list[str]) -> None:
    """Run the tests of the current folder, or some, and write which tests execute which lines of the rooms."""
    lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    seconds: dict[str, float] = {}
    for number, options in enumerate(_RUNS):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "durations.jsonl")
            environment = {**os.environ, "COVERAGE_FILE": str(Path(folder, "data")), "MUTANTS_DURATIONS": str(report)}
            command = [
                sys.executable, "-m", "pytest", "-q", *options, "-n", "auto", "-p", "tests.mutants", "--cov", _PACKAGE,
                "--cov-context=test", "--cov-report=", *tests,
            ]  # fmt: skip
            code = subprocess.run(command, env=environment, check=False).returncode
            print(f"run {number + 1}: pytest ended with {code}", flush=True)  # noqa: T201
            _read_coverage(Path(folder, "data"), lines)
            for line in report.read_text("utf-8").splitlines() if report.exists() else ():
                test, took = json.loads(line)
                seconds[test] = seconds.get(test, 0.0) + took
    plain = {file: {line: sorted(tests) for line, tests in of.items()} for file, of in lines.items()}
    target.write_text(json.dumps({"lines": plain, "seconds": seconds}), "utf-8")


def _read_coverage(data: Path, into: dict[str, dict[int, set[str]]]) -> None:
    from coverage.numbits import numbits_to_nums

    rows = sqlite3.connect(data).execute(
        "select file.path, context.context, line_bits.numbits from line_bits"
        " join file on file.id = line_bits.file_id join context on context.id = line_bits.context_id"
    )
    root = Path.cwd()
    for path, context, bits in rows:
        file, test = Path(path), context.rpartition("|")[0]
        if test and file.is_relative_to(root / _PACKAGE):
            for line in numbits_to_nums(bits):
                into[file.relative_to(root).as_posix()][line].add(test)


def pytest_runtest_logreport(report: Any) -> None:
    """Note how long a test took; this module is a plugin of the run that `make_map` begins."""
    target = os.environ.get("MUTANTS_DURATIONS")
    if target and not hasattr(report, "node"):  # said in the process that ran the test, not again in the one above
        with open(target, "a", encoding="utf-8") as file:
            file.write(json.dumps([report.nodeid, report.duration]) + "\n")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Keep the tests that are wanted, in their order. Names on the command line would not do: some hold brackets."""
    wanted = os.environ.get("MUTANTS_TESTS")
    if wanted:
        there = {item.nodeid: item for item in items}
        items[:] = [there[test] for test in json.loads(Path(wanted).read_text("utf-8"))]


# ---- trying them -----------------------------------------------------------------------------------------------------


def tests_for(mutant: Mutant, known: dict[str, Any]) -> list[str]:
    """Return the tests that execute the statement, the quickest first."""
    room, kernels, _ = mutant.file.removeprefix(_PACKAGE).partition("/kernels/")
    if kernels:  # compiled code is not seen to be executed
        return sorted((test for test in known["seconds"] if test.startswith(f"tests{room}/")), key=known["seconds"].get)
    lines = known["lines"].get(mutant.file, {})
    tests = {test for line in range(mutant.line, mutant.last_line + 1) for test in lines.get(str(line), ())}
    return sorted(tests, key=lambda test: known["seconds"].get(test, 0.0))[:_MOST_TESTS]


def applied(source: str, mutant: Mutant) -> str:
    """Return a file's source with the fault in it."""
    tree = ast.parse(source)
    place = next(
        statement for statement in _statements(tree)
        if statement.lineno == mutant.line and ast.unparse(statement) == mutant.before
    )  # fmt: skip
    lines = source.encode().splitlines(keepends=True)  # columns of the tree are bytes
    first, last = place.lineno - 1, (place.end_lineno or place.lineno) - 1
    end = lines[last][place.end_col_offset :]
    inside = f"({mutant.after})" if isinstance(place, ast.Expr) else mutant.after
    lines[first : last + 1] = [lines[first][: place.col_offset] + inside.encode() + end]
    return b"".join(lines).decode()


def tried(mutant: Mutant, tree: Path, known: dict[str, Any]) -> str:
    """Return what became of a fault in a copy of the tree: ``caught``, ``slow``, ``survived`` or ``not executed``."""
    tests = tests_for(mutant, known)
    if not tests:
        return "not executed"
    path = tree / mutant.file
    source = path.read_text("utf-8")
    _write(path, applied(source, mutant))
    patience = _LEAST_PATIENCE_S + _PATIENCE * sum(known["seconds"].get(test, 1.0) for test in tests)
    files = sorted({test.partition("::")[0] for test in tests})
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "", "-p", "tests.mutants", *files]
    try:
        with tempfile.TemporaryDirectory() as folder:
            wanted = Path(folder, "tests.json")
            wanted.write_text(json.dumps(tests), "utf-8")
            environment = {
                **os.environ,
                "MUTANTS_TESTS": str(wanted),
                "PYTHONPATH": str(tree),
                "QT_QPA_PLATFORM": "offscreen",
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            with open(os.devnull, "wb") as sink:
                ended = subprocess.run(
                    command, cwd=tree, env=environment, stdout=sink, stderr=sink, timeout=patience, check=False
                )
        return "survived" if ended.returncode == 0 else "caught"
    except subprocess.TimeoutExpired:
        return "slow"
    finally:
        _write(path, source)


def _write(path: Path, source: str) -> None:
    """Write a source so that what was compiled of it before is out of date: that goes by the second and the size."""
    time_before = path.stat().st_mtime
    path.write_text(source, "utf-8")
    os.utime(path, (time_before + 2, time_before + 2))


def run(known: dict[str, Any], mutants: list[Mutant], workers: int) -> None:
    """Try all and print a line for each, and at the end how many were noticed."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(workers):
            tree = Path(folder, str(number))
            shutil.copytree(Path.cwd(), tree, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache"))
            trees.put(tree)

        def one(mutant: Mutant) -> tuple[Mutant, str, float]:
            tree, began = trees.get(), time.monotonic()
            try:
                return mutant, tried(mutant, tree, known), time.monotonic() - began
            finally:
                trees.put(tree)

        for mutant, fate, took in pool.map(one, mutants):
            counts[fate] += 1
            print(f"{fate:12} {took:6.1f} s  {mutant.file}:{mutant.line}  {mutant.kind}", flush=True)  # noqa: T201
            if fate in ("survived", "not executed"):
                print(f"    - {mutant.before}\n    + {mutant.after}", flush=True)  # noqa: T201
    noticed = counts["caught"] + counts["slow"]
    print(f"{noticed} of {len(mutants)} noticed ({noticed / max(1, len(mutants)):.1%}): {dict(counts)}")  # noqa: T201


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    mapping = commands.add_parser("map", help="find out which tests execute which lines")
    mapping.add_argument("map", type=Path)
    mapping.add_argument("tests", nargs="*", help="only these files or folders of tests")
    trying = commands.add_parser("run", help="put faults in and see whether they are noticed")
    trying.add_argument("map", type=Path)
    trying.add_argument("--other", type=Path, default=Path(), help="the tree to have the faults in common with")
    trying.add_argument("--rooms", nargs="+", default=list(ROOMS), help="folders of the package to put faults in")
    trying.add_argument("--count", type=int, default=200)
    trying.add_argument("--skip", type=int, default=0, help="leave out the first ones, of a run that was cut")
    trying.add_argument("--seed", type=int, default=1)
    trying.add_argument("--workers", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.command == "map":
        make_map(arguments.map, arguments.tests)
    else:
        mutants = chosen(Path(), arguments.other, arguments.rooms, arguments.count, arguments.seed)
        run(json.loads(arguments.map.read_text("utf-8")), mutants[arguments.skip :], arguments.workers)


if __name__ == "__main__":
    main()
