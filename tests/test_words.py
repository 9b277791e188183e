"""Everything that a user reads speaks one language: the words and the voice that were agreed on, no others.

`python -m tests.test_words` prints the strings that break a rule; with a table (file, old string, new string; the
strings as in JSON, with tabs between them) it prints which old strings still stand.
"""

from __future__ import annotations

import ast
import gc
import json
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.house import tree_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "wordpiece_studio"
PAGES = [ROOT / "README.md", *sorted((ROOT / "resources" / "help").glob("*.md"))]
_CODE = re.compile(r"^```.*?^```|`[^`]+`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
"""What is not prose on a page: code, and the targets of links."""

RULES = {
    r"\bthe Studio\b|\b[Tt]his program\b|\b[Oo]urs?\b": "WordPiece Studio",
    r"\b(tokens?|bits|bytes|characters|counts?|times) an? (word|character|token|line|second)\b": "per",
    r"[\d}] %": "% stands right after its number",
    r"\b[Ww]hite space|\b([Ll]ower|[Uu]pper) case\b|\bblanks?\b": "whitespace, lowercase, uppercase, space",
    r"\bids?\b|\bIds\b": "ID, IDs",
    r"\b[Cc]uts?\b|\b[Cc]utting\b": "split",
    r"\b[Bb]orn\b|\b[Bb]irths?\b|\bc[ao]me (to be|about)\b|\bcame to its\b": "created",
    r"\b[Ss]coreboard\b": "Merge candidates",
    r"\b[Dd]ead\b|\b[Nn]ever used\b": "unused",
    r"\b[Pp]eers?\b|\b[Ff]oreign\b": "library",
    r"\b[Hh]alts?\b": "stop",
    r"\b[Hh]alf a character\b": "unpaired surrogate",
    r"\bGive\b|\bgive\b(?= (a|an|the|it|its|their|another)\b)": "choose, pass, use, specify",
    r"\b[Nn]ame (a|an|at|every|another|it|one|two|files|others|that|the one|the corpus|the file)\b": "specify",
    r"\b[Tt]rainings\b|\b([Aa]|[Tt]his|[Ee]very|[Ee]ach|[Aa]nother|[Oo]ne) training\b(?! (corpus|text|run))": "run",
    r"\b[Tt]rain(ed|s|ing)? by\b": "with",
    r"\b([Bb]ad|[Ff]aulty) (bytes?|lines?|rows?)\b|\bplaces? replaced\b|\bundecodable places?\b": "invalid",
    r"\b[Mm]in\. pairs\b|\b[Ff]loors?\b": "min. frequency",
    r"\b[Oo]rders? of (the )?ties\b|\border of (its|their) ties\b": "tie-breaking order",
    r"\b[Jj]udg(e[ds]?|ing)\b|\b[Ff]igures\b": "measure, metrics",
    r"\b([Pp]arts?|parting) (from|at|ways)\b|\bwhere (they|the runs|runs) part\b": "diverge",
    r"\b(step|run|one|chart|picture) shown\b": "current",
    r"\b[Pp]ictures?\b|\b[Dd]rawings?\b": "image",
    r"\b[Ll]icence\b": "license",
    r"\b[Mm]utual information of the pair\b|\bWordPiece score\b": "Score",
    r"\b[Ff]ind or do anything\b": "Command palette",
    r"\bnonsense\b|\b[Bb]eside (it|them|this|other|the)\b": "invalid; next to, with",
    r"\(from 0\)": "positions in words count from 1",
    r"(?<![\w.*/:-])(csv|jsonl|parquet)\b(?=[ ,.:]* (file|for|or|and|:))": "CSV, JSONL, Parquet",
}
"""What is not said, as a regular expression -> what is said instead."""
EXCEPTIONS = {
    "Cu&t": "the clipboard's",
    "Cut the selected text": "the clipboard's",
    "Break ties by first (in the corpus) or ids (the lowest).": "ids is what to type",
}
"""Strings that may break a rule, and why."""
QUESTIONS = {
    "Which pair is merged next?",
    "How is “{word}” split?",
    "Read files outside the project’s folder?",
    "Replace files in “{name}”?",
    "Replace “{name}”?",
    "Replace “{name}” with the text that could be read?",
    "“{name}” has changed on disk. Replace it?",
    "Save your work as a project?",
    "Save the changes to the project “{name}”?",
    "WordPiece Studio closed before this work was saved. Restore it?",
}
"""Questions of message boxes, which verbs answer."""
_SQL = re.compile(r"(SELECT|CREATE|INSERT|UPDATE|DELETE|PRAGMA) ")
_FIELD = re.compile(r"\{[^{}]*\}")
_TRANSLATING = {"tr", "_tr", "translate", "QT_TRANSLATE_NOOP", "plural", "counted"}
_LABELS = {"setToolTip", "setStatusTip", "setWindowTitle", "setAccessibleName"}
_UNSEEN = {"compile", "getLogger", "debug"}


@dataclass(frozen=True)
class Said:
    """A string that a user reads, and how the code says it: a call, or "" if it is a plain string."""

    file: str
    line: int
    text: str
    call: str

    @property
    def bare(self) -> str:
        """The text without names of fields, mnemonics, commands and options."""
        return re.sub(r"--[\w-]+|&(?=\w)", "", _FIELD.sub("{}", self.text))


def text_of(node: ast.AST) -> str | None:
    """Return the text of a string, with fields for the values in it; None of anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}" for part in node.values
        )
    return None


def said_in(tree: ast.Module, file: str) -> Iterator[Said]:
    """Yield the strings of a module that may be read: not those that describe the code, nor keys and names."""
    hidden: set[ast.AST] = set()
    calls: dict[ast.AST, str] = {}
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, ast.Expr):
            hidden.add(node.value)  # a docstring, of a constant too
        elif isinstance(node, ast.JoinedStr):
            hidden.update(node.values)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in _UNSEEN:
                hidden.update(node.args)
            elif name == "translate" and node.args:
                hidden.add(node.args[0])  # the context
            elif name in ("Menu", "give_menu"):
                for group in node.args[1:]:  # names of commands
                    hidden.update(group.elts if isinstance(group, ast.List) else [group])
            if name in _LABELS or name in _TRANSLATING:
                for inner in (inner for argument in node.args for inner in ast.walk(argument)):
                    calls[inner] = calls[inner] if calls.get(inner) in _LABELS else name
    for node in nodes:
        text = None if node in hidden else text_of(node)
        if text is not None and (calls.get(node) or " " in text.strip()) and not _SQL.match(text):
            yield Said(file, node.lineno, text, calls.get(node, ""))


@cache
def everything_said() -> tuple[Said, ...]:
    """Return all that the window and the commands may say, with the help of every command."""
    found: list[Said] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree, file = tree_of(path), path.relative_to(ROOT).as_posix()
        found += said_in(tree, file)
        found += help_in(tree, file)
    for page in PAGES:
        found += prose_of(page)
    return tuple(found)


def help_in(tree: ast.Module, file: str) -> Iterator[Said]:
    """Yield the docstrings of a module that are the help of a command."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Command"):
            yield Said(file, node.lineno, ast.get_docstring(node) or "", "")


def prose_of(page: Path) -> Iterator[Said]:
    """Yield the paragraphs of a page, without code."""
    text, line = page.read_text("utf-8"), 1
    text = _CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for paragraph in re.split(r"(\n{2,})", text):
        if paragraph.strip():
            yield Said(page.relative_to(ROOT).as_posix(), line, " ".join(paragraph.split()), "")
        line += paragraph.count("\n")


def broken_rules(said: Said) -> Iterator[str]:
    """Yield what should be said instead."""
    bare = said.bare
    for rule, instead in RULES.items():
        if match := re.search(rule, bare):
            yield f"“{match[0]}”: {instead}"
    if said.call:
        if re.search(r"\w'\w|\"", bare) and "\\" not in said.text:
            yield "“ ” and ’ in the window"
        if bare.endswith("?") and said.text not in QUESTIONS:
            yield "no questions as labels"
        one_sentence = not re.search(r"[.!?] |\n", bare.rstrip())
        if said.call in _LABELS and one_sentence and bare.endswith("."):
            yield "no full stop after a label of one clause"


def english_in(value: ast.AST, *, is_choice: bool = False) -> Iterator[str]:
    """Yield the English words that a value of an error may consist of: they belong into a template of their own."""
    if isinstance(value, ast.IfExp):
        yield from english_in(value.body, is_choice=True)
        yield from english_in(value.orelse, is_choice=True)
    elif isinstance(value, ast.BoolOp):
        for each in value.values:
            yield from english_in(each, is_choice=True)
    elif isinstance(value, ast.BinOp):
        yield from english_in(value.left, is_choice=True)
        yield from english_in(value.right, is_choice=True)
    elif isinstance(value, ast.JoinedStr):
        for part in value.values:
            yield from english_in(part, is_choice=True)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        if re.search(r"[A-Za-z]{2}", value.value) and (is_choice or " " in value.value):
            yield value.value


def errors_with_words() -> Iterator[str]:
    """Yield the errors that are filled in with English words, which no translation of their templates reaches."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("StudioError", "file_error"):
                words = [word for each in node.keywords for word in english_in(each.value)]
                if words:
                    yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}: {', '.join(words)}"


def complaints() -> list[str]:
    """Return a line for each rule that a string breaks."""
    return [
        f"{said.file}:{said.line}: {broken}: {said.text!r}"
        for said in everything_said()
        if said.text not in EXCEPTIONS
        for broken in broken_rules(said)
    ]


def main() -> None:
    """Print what breaks a rule; or of a table, which old strings still stand."""
    if len(sys.argv) == 1:
        sys.stdout.write("".join(f"{line}\n" for line in complaints()))
        return
    said = everything_said()
    for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
        file, old = line.split("\t")[0], " ".join(json.loads(line.split("\t")[1]).split())
        files = {each.file for each in said if " ".join(each.text.split()) == old and (each.call or " " in old)}
        if file in files or (files and not (ROOT / file).exists()):
            sys.stdout.write(f"{file if file in files else min(files)}: {old!r}\n")


@pytest.fixture(autouse=True, scope="module")
def _syntax_trees_are_no_garbage() -> Iterator[None]:
    gc.disable()  # half a million nodes, which stay
    yield
    gc.enable()


def test_what_is_said_follows_the_rules() -> None:
    assert not complaints()


def test_names_of_commands_in_menus_are_not_read_but_titles_are() -> None:
    tree = ast.parse('Menu(tr("&Edit it"), "cut copy", ["figures of", Menu(tr("A &cut"), "cut it")])')
    assert [said.text for said in said_in(tree, "a.py")] == ["&Edit it", "A &cut"]


def test_the_help_of_commands_and_pages_is_read() -> None:
    tree = ast.parse('class TrainCommand:\n    """Turn ids into text."""\nclass Other:\n    """Ids."""\n')
    assert [said.text for said in help_in(tree, "a.py")] == ["Turn ids into text."]
    said = {each.file for each in everything_said()}
    assert {"README.md", "resources/help/window.md", "wordpiece_studio/cli/train.py"} <= said
    assert not any("import wordpiece_studio" in each.text for each in prose_of(PAGES[0]))


def test_errors_are_filled_in_with_names_and_numbers_only() -> None:
    assert not list(errors_with_words())


def test_words_in_the_values_of_errors_are_found() -> None:
    (line,) = ast.parse('f(kind="row" if a else "line", n=b or 2, c="vocab_size", d=f"{a}")').body
    call = next(node for node in ast.walk(line) if isinstance(node, ast.Call))
    assert [word for each in call.keywords for word in english_in(each.value)] == ["row", "line"]


def test_every_exception_is_needed() -> None:
    breaking = {said.text for said in everything_said() if said.text in EXCEPTIONS and any(broken_rules(said))}
    assert breaking == EXCEPTIONS.keys()
    assert {said.text for said in everything_said()} >= QUESTIONS


def test_the_rules_find_what_they_are_for() -> None:
    old = Said("a.py", 1, "{rate} tokens a word on held-out text, 45 % of the ids that the Studio cuts", "tr")
    assert len(list(broken_rules(old))) == 5
    assert list(broken_rules(Said("a.py", 1, "Where is this file now?", "tr"))) == ["no questions as labels"]
    assert list(broken_rules(Said("a.py", 1, "Go to the step.", "setToolTip")))
    assert not list(broken_rules(Said("a.py", 1, "Held-out: {rate} tokens per word", "tr")))


if __name__ == "__main__":
    main()
