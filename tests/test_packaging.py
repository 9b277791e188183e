"""What is installed, and whether what the README and the pages of the help say of it holds."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from pathlib import Path

import pytest

import wordpiece_studio as wps
from tests.test_architecture import LAYERS
from wordpiece_studio import cli

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "wordpiece_studio"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
HELP = sorted((ROOT / "resources" / "help").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "tests" / "README.md", *HELP]
TEXT_COLUMN = 27
"""Where the texts of the README's drawing begin."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_nobody_is_told_to_install_a_name_that_no_index_holds() -> None:
    """Whoever took the name would have their code run here."""
    files = [*PAGES, *PACKAGE.rglob("*.py")]
    advice = [line for path in files for line in re.findall("pip install.*", path.read_text(encoding="utf-8"))]
    assert any("pyarrow" in line for line in advice)
    assert not [
        line for line in advice if re.search(r"install [\"']?wordpiece[-_]studio|wordpiece[-_]studio(\[|==)", line)
    ]


def test_a_pair_of_pyside_and_python_that_crashes_is_not_installed() -> None:
    lines = [line for line in PYPROJECT["project"]["dependencies"] if line.startswith("PySide6")]
    assert lines == [
        "PySide6-Essentials>=6.8,<6.12; python_version < '3.12'",
        "PySide6-Essentials>=6.8; python_version >= '3.12'",
    ]


def test_the_readme_has_two_set_up_commands_of_one_line() -> None:
    commands = re.findall(r"^python3 -m venv .*$", README, flags=re.MULTILINE)
    assert [command.rsplit("/", 1)[-1] for command in commands] == ["wordpiece-studio", "python -m pytest -n auto"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        assert (page.parent / target).is_file(), target
        if page in HELP:  # the window shows no other files
            assert page.parent / target in HELP


def test_the_readme_links_to_every_page_by_its_title() -> None:
    titles = {path.read_text("utf-8").splitlines()[0].removeprefix("# "): path for path in HELP}
    links = re.findall(r"\[([^]]+)\]\((resources/help/[^)]+)\)", README)
    assert set(titles.items()) <= {(title, ROOT / target) for title, target in links}


def examples_of(page: Path) -> list[str]:
    return re.findall(r"```python\n(import .*?)```", page.read_text("utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", [each for each in PAGES if examples_of(each)], ids=name_of)
def test_the_library_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the README's saves a tokenizer
    for example in examples_of(page):
        exec(compile(example, page.name, "exec"), {})


def test_the_readmes_library_example_shows_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    test_the_library_examples_run(ROOT / "README.md", tmp_path, monkeypatch)
    printed = capsys.readouterr().out
    assert "hugs" in printed
    assert "##u" in printed
    assert (tmp_path / "my-vocab" / "tokenizer.json").exists()


QUOTES = [
    quote
    for page in PAGES
    for quote in re.findall(r"`((?:wps|run|trainer|tokenizer|history)\.(?!json)[^`]+)`", page.read_text("utf-8"))
]


def test_what_the_pages_quote_of_the_library_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["the hug and the pug", "the bun", "they hug the pugs"] * 10
    for name in ("texts/a.txt", "a.txt", "other.txt", "corpus.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "words.tsv").write_text("hugs\thug|s\npugs\tpug|s\n", encoding="utf-8")
    counts, config = wps.count_texts(lines), wps.TrainingConfig(vocab_size=60)
    run, corpus = wps.train(counts, config), wps.divided_corpus(texts=lines)
    names = {
        "wps": wps,
        "Path": Path,
        "trainer": wps.Trainer(counts),
        "tokenizer": run.tokenizer(),
        "corpus": corpus,
        "runs": {"new": run, "old": wps.train(counts, wps.TrainingConfig(vocab_size=60, objective="count"))},
        "tokenizers": {"new": run, "old": run.tokenizer()},
        **locals(),
    }
    assert len(QUOTES) >= 20
    for quote in QUOTES:
        assert eval(quote, names) is not False, quote


def commands_of(page: Path) -> list[list[str]]:
    """Return the command lines of a page that can run here: neither the window nor a cluster."""
    lines = re.findall(r"^wordpiece-studio ([a-z].*?)(?:   .*)?$", page.read_text("utf-8"), flags=re.MULTILINE)
    return [shlex.split(line) for line in lines if "--cluster" not in line]


@pytest.mark.parametrize("page", [each for each in PAGES if commands_of(each)], ids=name_of)
def test_the_command_lines_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path / "corpus.txt", tmp_path / "texts" / "a.txt"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("affable people are unable to be unaffable\n" * 20, encoding="utf-8")
    for command in commands_of(page):
        assert cli.run(command) == 0, (command, capsys.readouterr().err)
        written = [
            command[command.index(option) + 1] for option in ("-o", "--history", "--offsets") if option in command
        ]
        assert all((tmp_path / name).exists() for name in written), command


def test_the_command_lines_are_found() -> None:
    found = {page: [command[0] for command in commands_of(page)] for page in PAGES}
    pages = {page.name: found[page] for page in HELP}
    commands = ["prepare", "lint", "count", "train", "train", "encode", "decode", "tokenize", "explain"]
    commands += ["evaluate", "evaluate", "compare", "sweep", "check", "extend", "prune", "verify"]
    assert found[ROOT / "README.md"] == commands
    assert set(pages["command-line.md"]) == set(commands)
    assert pages["reproducing.md"] == ["train", "verify", "verify"]
    assert pages["large-corpora.md"] == []


def test_the_options_that_the_pages_name_exist() -> None:
    others = {"--quiet", "--editable", "--help", "--install-completion", "--show-completion"}  # pip's and the program's
    others |= {"--table"}  # of a benchmark
    known = {
        spelling
        for command in cli._COMMANDS
        for each in cli._command(command).declared().values()
        for spelling in each.names
    }
    text = README + "".join(page.read_text("utf-8") for page in HELP)
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert "--user-tokens" in named
    assert named - others <= known


# ---- what the README says of the code


def drawn_rooms() -> dict[str, str]:
    """Return what the README's drawing says of each room and file, by its path in the package."""
    drawing = re.search(r"```\nwordpiece_studio/\n(.*?)```", README, flags=re.DOTALL)
    assert drawing
    said: dict[str, str] = {}
    room, shown = "", []
    for line in drawing.group(1).splitlines():
        names, text = line[:TEXT_COLUMN].split(), line[TEXT_COLUMN:]
        if names:  # else the line before goes on
            is_inner = line.startswith(" " * 8)
            room = room if is_inner else names[0]
            shown = [room + name for name in names] if is_inner else names
        said |= {name: f"{said.get(name, '')} {text}" for name in shown}
    return said


def defined_in(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    found = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return found | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def test_the_readme_draws_every_room_and_what_is_in_it() -> None:
    said = drawn_rooms()
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert {name.rstrip("/") for name in said if name.count("/") == 1 and name.endswith("/")} == rooms
    for name, text in said.items():
        assert (PACKAGE / name).exists(), name
        room = PACKAGE / name.partition("/")[0]
        for part in re.findall(r"\b\w+(?:/|\.py)", text):
            assert any(room.rglob(part.rstrip("/"))), f"{name}: {part}"


def test_the_readme_names_the_rooms_from_top_to_bottom() -> None:
    order = re.search(r"Imports only go down: (.*?)\.", README, flags=re.DOTALL)
    assert order
    rooms = re.findall(r"`(\w+)`", order.group(1))
    levels = [LAYERS[room] for room in rooms]
    assert levels == sorted(set(levels), reverse=True)
    assert {room for room in LAYERS if (PACKAGE / room).is_dir()} == set(rooms)


def test_what_the_page_about_the_tests_starts_is_there() -> None:
    text = (ROOT / "tests" / "README.md").read_text("utf-8").partition("## Measuring")[2]
    names = set(re.findall(r"`((?:\w+\.)?[a-z_]+)(?: [^`]*)?`", text)) - {"python", "tokenizers", "transformers"}
    assert len(names) >= 20
    for name in names:
        path = ROOT / "tests" / name.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), name


def test_what_the_walks_open_is_there() -> None:
    walks = README.partition("## Three walks")[2].partition("## ")[0]
    steps = re.findall(r"^\d\. .*$", walks, flags=re.MULTILINE)
    assert len(steps) >= 9
    for step in steps:
        quoted = re.findall(r"`([^`]+)`", step)
        files = [PACKAGE / each for each in quoted if each.endswith(".py")]
        assert files, step
        assert set(quoted) - {path.relative_to(PACKAGE).as_posix() for path in files} <= set().union(
            *map(defined_in, files)
        ), step


def test_the_package_is_typed() -> None:
    assert (ROOT / "wordpiece_studio" / "py.typed").exists()


def test_the_wheel_takes_the_resources_along() -> None:
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"resources": "wordpiece_studio/resources"}
