"""What is installed, and whether what the README says of it holds."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from wordpiece_studio import cli

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_nobody_is_told_to_install_a_name_that_no_index_holds() -> None:
    """Whoever took the name would have their code run here."""
    files = [ROOT / "README.md", *(ROOT / "wordpiece_studio").rglob("*.py")]
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


def test_what_the_readme_points_at_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_readmes_library_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # it saves a tokenizer
    example = re.search(r"```python\n(import .*?)```", README, flags=re.DOTALL)
    assert example
    exec(compile(example.group(1), "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "hugs" in printed
    assert "##u" in printed
    assert (tmp_path / "my-vocab" / "tokenizer.json").exists()


def test_the_readmes_command_lines_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text("affable people are unable to be unaffable\n", encoding="utf-8")
    lines = re.findall(r"^wordpiece-studio (\S.*?)(?:  .*)?$", README, flags=re.MULTILINE)
    commands = [line for line in lines if line.split()[0] in {"train", "tokenize", "explain"}]
    assert len(commands) == 4
    for command in commands:
        assert cli.run(shlex.split(command)) == 0
    assert (tmp_path / "my-vocab" / "tokenizer.json").exists()
    assert (tmp_path / "merges.csv").exists()


def test_the_package_is_typed() -> None:
    assert (ROOT / "wordpiece_studio" / "py.typed").exists()


def test_the_wheel_takes_the_resources_along() -> None:
    wheel = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"resources": "wordpiece_studio/resources"}
