"""A lesson as a text file: its corpus and runs, and pages, each a `View` with at most one question.

The format is described by ``resources/help/lessons.md``. A lesson may come from anywhere: its texts are plain, nothing
in it is a path or a program, and all of it has bounds. What is wrong is told with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_type_hints

import msgspec

from wordpiece_studio.corpus.count_tables import as_typed_counts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.small_files import small_file_bytes, utf8_text
from wordpiece_studio.storage.view import NOBODY, Selection, View
from wordpiece_studio.system.printable import display_name, printable
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.training.config import BASE, TrainingConfig

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

LARGEST_BYTES = 100_000
MOST_PAGES, MOST_RUNS, MOST_CHOICES = 100, 8, 8
LONGEST_TITLE, LONGEST_TEXT, LONGEST_LINE = 120, 500, 1000  # characters
LAST_STEP = NOBODY  # which is shown as the last one

PANES = (
    "corpus", "token_details", "scoreboard", "history", "code", "vocabulary", "charts", "comparison", "tokenization",
    "timeline", "bar",
)  # fmt: skip
LessonLayout = Literal["teach", "engineer", "compare"]
_AROUND = {"pane": PANES, "layout": get_args(LessonLayout)}
# What a question asks for, and what it is asked about: a pair or a symbol, a step, a word, a text, a number.
FUNCTIONS = {
    "n": "symbols", "score": "pair", "merge": "step", "ties": "step", "tie_word": "step", "tokens": "text",
    "symbols": "word", "words": "text", "characters": "text", "size": "step", "size_for": "number", "step": "token",
}  # fmt: skip
_ABOUT = {"symbols": r"\S+( \S+)?", "pair": r"\S+ \S+", "step": "[0-9]{1,9}", "number": "[0-9]{1,9}", "text": ".+"}
SWITCHES = tuple(each.name for each in msgspec.structs.fields(View) if each.type is bool)
_SEEN = ("step", "live_text", "selection", "current", *SWITCHES)  # of a view
_TASKS = ("check", "ask", "choose", "right", "because", "hint")
_SETTINGS = get_type_hints(TrainingConfig)
_STEPS = {"normalizer": "bert-cased", "pre_tokenizer": "bert"}
_WORDS: dict[str, Any] = {"yes": True, "no": False, "last": LAST_STEP}
_FENCE, _BLOCK = "---", "```"
_BEGINNING = re.compile(rb"(\xef\xbb\xbf)?---\s*\nlesson:")
_KEY = re.compile(r"([a-z][a-z_]*): *(.*)")
_HEADING = re.compile(r"#+(?: |$)")  # not the token ##u at the beginning of a line
_ASKED = re.compile(r"([a-z_]+)\((.*)\)(?: at step ([0-9]{1,9}|last))?(?: in (.+))?")
_MARKUP = re.compile(r"\*\*|`|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)")
_SEE = "See the help page on lessons."


class RunPlan(NamedTuple):
    name: str
    config: TrainingConfig
    normalizer: str | Normalizer = "bert-cased"
    pre_tokenizer: str | PreTokenizer = "bert"
    text: str = ""  # where it is not the corpus
    is_compared: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be done or answered on a page.

    ``"view"``: the field `name` of the view has the value in `settings`. ``"trained"``: the current run has these.
    ``"predict"``: the pair that is merged next was chosen. ``"ask"``: the function `name` of `about`, see `FUNCTIONS`,
    after `step` merges of the run with the number `run`. ``"choose"``: the text `right` of `choices`, the only answer
    that is stored.
    """

    kind: Literal["view", "trained", "predict", "ask", "choose"]
    line: int
    name: str = ""
    about: str = ""
    step: int = 0
    run: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    right: str = ""
    because: str = ""  # said with the answer, in the teacher's words
    hint: str = ""  # said with a wrong one


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    title: str = ""
    text: str = ""
    view: View = field(default_factory=View)
    pane: str = ""  # that it points at; empty for none
    layout: LessonLayout = "teach"
    question: Question | None = None

    @property
    def solved(self) -> View:
        """The view when it is done, with which the next page begins unless it says otherwise."""
        question = self.question
        if question is None or question.kind not in ("view", "trained"):
            return self.view
        is_view = question.kind == "view"  # else the student's own run stays, which has no number yet
        changed = question.settings if is_view else {"current": NOBODY, "step": LAST_STEP}
        return msgspec.structs.replace(self.view, **changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    name: str  # of its file, without the ending: by it the progress is kept
    title: str
    order: int
    corpus: str
    runs: tuple[RunPlan, ...]
    pages: tuple[Page, ...]


def lesson_paths(language: str = "en") -> list[Path]:
    """Return the lessons of WordPiece Studio in a language, each in English where that has none, in any order."""
    found: dict[str, Path] = {}
    for folder in dict.fromkeys(("en", language.partition("_")[0], language)):
        if re.fullmatch(r"\w+", folder) and (path := resource_path("lessons") / folder).is_dir():
            found |= {each.name: each for each in path.glob("*.md")}
    return list(found.values())


def is_lesson(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as lessons do; a file that cannot be read is none."""
    try:
        with open(path, "rb") as file:
            return _BEGINNING.match(file.read(200)) is not None
    except (OSError, ValueError):
        return False


def read_lesson(path: Path) -> Lesson:
    data = small_file_bytes(path, LARGEST_BYTES, "{path} has over 100 kB, too much for a lesson")
    return parse_lesson(utf8_text(data.removeprefix(b"\xef\xbb\xbf"), path), path)


def parse_lesson(text: str, path: str | os.PathLike[str]) -> Lesson:
    """Return the lesson that a text is; raise a `StudioError` that names the line where it is none."""
    return _Reader(text, path).lesson()


_Lines = list[tuple[int, str]]  # with their numbers
_Given = dict[str, tuple[int, str]]  # the values of keys, likewise


class _Reader:
    def __init__(self, text: str, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._lines = [(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]
        self._runs: tuple[RunPlan, ...] = ()

    def wrong(self, line: int, what: str, advice: str = _SEE, /, **values: object) -> StudioError:
        shown = {name: printable(str(value))[:300] for name, value in values.items()}
        return StudioError("{path}, line {line}: " + what, advice, path=display_name(self._path), line=line, **shown)

    def lesson(self) -> Lesson:
        lines = self._lines
        if long := [number for number, text in lines if len(text) > LONGEST_LINE]:
            what = "the line has over {most} characters"
            raise self.wrong(long[0], what, "Make it shorter.", most=LONGEST_LINE)
        fences = [number for number, text in lines if text == _FENCE]
        if len(fences) < 2 or fences[0] != 1:
            raise self.wrong(1, "a lesson begins with settings between two lines “---”")
        shared, *runs = self._head(lines[1 : fences[1] - 1])
        _, title = shared.pop("lesson", (2, ""))
        if not title or len(title) > LONGEST_TITLE:
            raise self.wrong(2, "a lesson begins with its title", "Write “lesson: ” and a short title.")
        place, order = shared.pop("order", (1, "1000"))
        number, sample = shared.pop("corpus", (1, ""))
        rest = lines[fences[1] :]
        corpus, rest = (self._sample(number, sample), rest) if sample else self._corpus(rest)
        if len(runs) > MOST_RUNS:
            number, _ = runs[MOST_RUNS]["run"]
            raise self.wrong(number, "a lesson has at most {most} runs", "Remove some.", most=MOST_RUNS)
        self._runs = tuple(self._run({**shared, **own}, is_compared=len(runs) > 1) for own in runs or [{}])
        return Lesson(
            name=Path(self._path).stem[:100], title=printable(title), order=self._value(place, "order", int, order),
            corpus=corpus, runs=self._runs, pages=tuple(self._pages(rest)),
        )  # fmt: skip

    # -- what it brings

    def _head(self, lines: _Lines) -> list[_Given]:
        """Return the settings of all, and those of each run."""
        parts: list[_Given] = [{}]
        for number, text in lines:
            found = _KEY.fullmatch(text)
            if found is None and text:
                raise self.wrong(number, "“{text}” is no setting", "Write “name: value”.", text=text)
            if found is not None and found[1] == "run":
                parts.append({})
            if found is not None and parts[-1].setdefault(found[1], (number, found[2]))[0] != number:
                raise self.wrong(number, "“{key}” is there twice", "Remove one of the two.", key=found[1])
        return parts

    def _sample(self, number: int, name: str) -> str:
        found = [path for path in resource_path("samples").glob("*.txt") if path.name == name]
        if not found:
            what, tip = "there is no sample {name}", "Use hug.txt, or write the text below the settings."
            raise self.wrong(number, what, tip, name=name)
        return found[0].read_text(encoding="utf-8")

    def _corpus(self, lines: _Lines) -> tuple[str, _Lines]:
        """Return the text of the block that comes first, and what follows it."""
        fences = [at for at, (_, text) in enumerate(lines) if text.startswith(_BLOCK)][:2]
        if len(fences) < 2 or any(text for _, text in lines[: fences[0]]):
            tip = "Write it between two lines “```”, or specify a sample: “corpus: hug.txt”."
            raise self.wrong(lines[0][0] if lines else len(self._lines), "there is no corpus", tip)
        text = "\n".join(text for _, text in lines[fences[0] + 1 : fences[1]]) + "\n"
        return as_typed_counts(text) or text, lines[fences[1] + 1 :]

    def _run(self, given: _Given, *, is_compared: bool) -> RunPlan:
        at, name = given.pop("run", (2, ""))
        (first, normalizer), (second, pre_tokenizer) = (given.pop(key, (at, usual)) for key, usual in _STEPS.items())
        values = {key: self._setting(number, key, value) for key, (number, value) in given.items()}
        return RunPlan(
            name, self._made(at, partial(TrainingConfig, **values), given),
            self._made(first, partial(resolve_normalizer, normalizer)),
            self._made(second, partial(resolve_pre_tokenizer, pre_tokenizer)), is_compared=is_compared,
        )  # fmt: skip

    def _made(self, number: int, make: Callable[[], Any], given: _Given | None = None) -> Any:
        """Make something; what is wrong with a setting that is `given` is told with its line."""
        try:
            return make()
        except StudioError as error:
            number, _ = (given or {}).get(str(error.values.get("name")), (number, ""))
            raise self.wrong(number, "{reason}", "{tip}", reason=error.what, tip=error.advice) from None

    def _setting(self, number: int, key: str, value: str) -> Any:
        if key not in _SETTINGS or key in BASE:
            raise self.wrong(number, "“{key}” is no setting", key=key)
        is_list, is_of_lists = "tuple" in str(_SETTINGS[key]), "tuple[tuple" in str(_SETTINGS[key])
        if value == "none":
            return () if is_list else None
        items = [row.split() for row in value.split(",")] if is_of_lists else value.split() if is_list else value
        return self._value(number, key, _SETTINGS[key], items)

    def _value(self, number: int, key: str, kind: Any, value: Any) -> Any:
        try:
            return msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError:
            raise self.wrong(number, "“{value}” does not fit “{key}”", value=value, key=key) from None

    # -- its pages

    def _pages(self, lines: _Lines) -> Iterator[Page]:
        parts: list[_Lines] = [[]]
        for number, text in lines:
            if _HEADING.match(text):
                parts.append([])
            parts[-1].append((number, text))
        before, *pages = parts
        stray = next((number for number, text in before if text), 0)
        if stray or not pages:
            tip = "Write “## ” and what is to be done or answered."
            raise self.wrong(stray or len(self._lines), "a page begins with its title", tip)
        if len(pages) > MOST_PAGES:
            number, _ = pages[MOST_PAGES][0]
            raise self.wrong(number, "a lesson has at most {most} pages", "Remove some.", most=MOST_PAGES)
        page = Page()
        for (number, heading), *rest in pages:
            page = self._page(number, heading, rest, page)
            yield page

    def _page(self, number: int, heading: str, lines: _Lines, before: Page) -> Page:
        words: list[str] = []
        tasks: list[tuple[int, str, str]] = []
        shown: dict[str, Any] = {"pane": "", "layout": before.layout}
        for at, text in lines:
            found = _KEY.fullmatch(text)
            if found is None:
                words.append(text)
            elif found[1] in _TASKS:
                tasks.append((at, found[1], found[2]))
            else:
                shown[found[1]] = self._shown(at, found[1], found[2])
        title, body = _plain(heading.lstrip("#")), _plain(" ".join(words))
        if not title or len(title) > LONGEST_TITLE or len(body) > LONGEST_TEXT:
            what = "a page has a title of up to {title} characters and a text of up to {text}"
            raise self.wrong(number, what, "Write less, or two pages.", title=LONGEST_TITLE, text=LONGEST_TEXT)
        around = {name: shown.pop(name) for name in _AROUND}
        view = msgspec.structs.replace(before.solved, **shown)
        return Page(title=title, text=body, view=view, question=self._question(tasks, view), **around)

    def _one_of(self, number: int, value: str, known: Sequence[str]) -> Any:
        if value not in known:
            raise self.wrong(number, "“{value}” is not known", "Use {known}.", value=value, known=", ".join(known))
        return value

    def _shown(self, number: int, key: str, value: str) -> Any:
        """Return the value of a field of the view, or of what is around it."""
        if key in _AROUND:
            return self._one_of(number, value, _AROUND[key])
        if key not in _SEEN:
            known, tip = (*_AROUND, *_TASKS, *_SEEN), "Use {known}; begin a sentence with a capital."
            raise self.wrong(number, "“{key}” is not known", tip, key=key, known=", ".join(known))
        if key == "selection":
            match value.split():
                case ["none"]:
                    return None
                case ["pair", left, right]:
                    return Selection("pair", left, right)
                case ["token" | "word" as kind, text]:
                    return Selection(kind, text=text)
            tip = "Write “pair h ##u”, “token hu”, “word hugs” or “none”."
            raise self.wrong(number, "“{value}” cannot be selected", tip, value=value)
        if key == "current":
            return self._number_of(number, value)
        if key == "live_text":
            return value
        return self._value(number, key, bool if key in SWITCHES else int, _WORDS.get(value, value))

    def _number_of(self, number: int, name: str) -> int:
        names = [run.name for run in self._runs]
        return names.index(self._one_of(number, name, names))

    def _question(self, lines: list[tuple[int, str, str]], view: View) -> Question | None:
        because, hint = (" ".join(_plain(value) for _, key, value in lines if key == of) for of in ("because", "hint"))
        tasks = [each for each in lines if each[1] not in ("because", "hint")]
        if not tasks:
            return None
        number, key, value = tasks[0]
        choices = tuple(_plain(value) for _, key, value in tasks if key in ("choose", "right"))
        if choices:
            right = [_plain(value) for _, key, value in tasks if key == "right"]
            is_whole = len(right) == 1 and len({*choices}) == len(tasks)
            if not is_whole or not 2 <= len(choices) <= MOST_CHOICES:
                what = "a choice has up to {most} lines “choose: …” and “right: …”, one of these, all different"
                raise self.wrong(number, what, most=MOST_CHOICES)
            return Question(kind="choose", line=number, choices=choices, right=right[0], because=because, hint=hint)
        if len(tasks) > 1:
            raise self.wrong(tasks[1][0], "a page has one question", "Make two pages of it.")
        made = self._asked(number, value, view) if key == "ask" else self._checked(number, value)
        return replace(made, because=because, hint=hint)

    def _asked(self, number: int, value: str, view: View) -> Question:
        found = _ASKED.fullmatch(value)
        name, about, step, run = found.groups() if found is not None else ("", "", None, None)
        if name not in FUNCTIONS or not re.fullmatch(_ABOUT.get(FUNCTIONS[name], r"\S+"), about):
            known = ", ".join(f"{name}({about})" for name, about in FUNCTIONS.items())
            raise self.wrong(number, "“{value}” cannot be asked", "Use {known}.", value=value, known=known)
        at = view.step if step is None else self._shown(number, "step", step)
        of = view.current if run is None else self._number_of(number, run)
        return Question(kind="ask", line=number, name=name, about=about, step=at, run=of)

    def _checked(self, number: int, value: str) -> Question:
        if value == "predict":
            return Question(kind="predict", line=number)
        name, is_equal, wanted = (part.strip() for part in value.partition("="))
        if name.startswith("trained ") and is_equal:
            name = name.removeprefix("trained ").strip()
            settings = {name: self._setting(number, name, wanted)}
            self._made(number, partial(TrainingConfig, **settings))
            return Question(kind="trained", line=number, name=name, settings=settings)
        if name not in _SEEN or not is_equal:
            tip = "Write “step = 2”, “live_text = pugs” or the like, “trained objective = score”, or “predict”."
            raise self.wrong(number, "“{value}” cannot be checked", tip, value=value)
        return Question(kind="view", line=number, name=name, settings={name: self._shown(number, name, wanted)})


def _plain(text: str) -> str:
    """Return a text in one line, without the marks of Markdown."""
    return printable(" ".join(_MARKUP.sub("", text).split()))
