"""A lesson as a text file: its corpus, settings and runs, and pages, each a `View` with at most one question.

The format is described by ``resources/help/lessons.md``. A lesson may come from anywhere: its texts are plain, nothing
in it is a path, a program or a pattern, and all of it has bounds. What is wrong is told with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

import msgspec

from wordpiece_studio.corpus.count_tables import as_typed_counts
from wordpiece_studio.corpus.counting.counting import count_corpus
from wordpiece_studio.errors import StudioError
from wordpiece_studio.resources import resource_path
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run, RunOrigin, steps_of
from wordpiece_studio.storage.small_files import small_file_bytes, utf8_text
from wordpiece_studio.storage.view import NOBODY, RunTab, Selection, View
from wordpiece_studio.system.printable import display_name, printable
from wordpiece_studio.text.normalizers import resolve_normalizer
from wordpiece_studio.text.pre_tokenizers import resolve_pre_tokenizer
from wordpiece_studio.training.config import BASE, TrainingConfig
from wordpiece_studio.training.segmentation import stop_if_asked
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer

_T = TypeVar("_T")

LARGEST_BYTES = 200_000
MOST_PAGES, MOST_RUNS, MOST_CHOICES = 100, 8, 8
LONGEST_TITLE, LONGEST_TEXT, LONGEST_VALUE = 120, 500, 1000  # characters
LAST_STEP = NOBODY  # which is shown as the last one

PANES = (
    "corpus", "token_details", "scoreboard", "history", "vocabulary", "charts", "comparison", "tokenization",
    "timeline", "bar",
)  # fmt: skip
LessonLayout = Literal["teach", "engineer", "compare"]
_LAYOUTS: tuple[LessonLayout, ...] = get_args(LessonLayout)
# What a question asks for, and what it is asked about: a pair or a symbol, a step, a word, a text, a number.
FUNCTIONS: dict[str, str] = {
    "n": "symbols", "score": "pair", "merge": "step", "ties": "step", "tie_word": "step", "tokens": "text",
    "symbols": "word", "words": "text", "characters": "text", "size": "step", "size_for": "number", "step": "token",
}  # fmt: skip
_FIRST = "lesson"  # the first key, by which a file is known to be a lesson
_FENCE = "---"
_KEY = re.compile(r"([a-z][a-z_]*): *(.*)")
_ASKED = re.compile(r"([a-z_]+)\((.*)\)(?: at step ([0-9]+|last))?(?: in (.+))?")
_HEADING = re.compile(r"#+(?: |$)")  # not the token ##u at the beginning of a line
_MARKUP = re.compile(r"\*\*|`|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)")
_STEPS = {"normalizer": "bert-cased", "pre_tokenizer": "bert"}
_YES_NO = {"yes": True, "no": False}
_SEEN = ("step", "live_text", "selection", "current")  # of a view, beside its switches
_SWITCHES = tuple(each.name for each in msgspec.structs.fields(View) if each.type is bool)
_TASKS = ("check", "ask", "choose", "right", "because")


@dataclass(frozen=True, slots=True)
class LessonRun:
    name: str
    config: TrainingConfig
    normalizer: Normalizer
    pre_tokenizer: PreTokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is to be done or answered on a page.

    ``"view"``: the field `name` of the view has the value it has in `Page.solved`. ``"trained"``: the run shown has the
    `settings`. ``"predict"``: the pair that is merged next was chosen. ``"ask"``: the function `name` of `about`, after
    `step` merges (None: of the page) of the run with the number `run`, see `FUNCTIONS`. ``"choose"``: the text `right`
    of `choices`, the only answer that is stored.
    """

    kind: Literal["view", "trained", "predict", "ask", "choose"]
    line: int
    name: str = ""
    about: str = ""
    step: int | None = None
    run: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    choices: tuple[str, ...] = ()
    right: str = ""
    because: str = ""  # said with the answer, in the teacher's words


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    title: str
    text: str
    view: View
    pane: str  # that it points at; empty for none
    layout: LessonLayout
    question: Question | None

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
    runs: tuple[LessonRun, ...]
    pages: tuple[Page, ...]


def lesson_paths(language: str = "en") -> list[Path]:
    """Return the lessons of WordPiece Studio in a language, each in English where that has none, in any order."""
    found: dict[str, Path] = {}
    for folder in dict.fromkeys(("en", language.partition("_")[0], language)):
        try:
            paths = resource_path(f"lessons/{folder}").glob("*.md")
        except (FileNotFoundError, ValueError):
            continue
        found |= {path.name: path for path in paths}
    return list(found.values())


def is_lesson(path: str | os.PathLike[str]) -> bool:
    """Return whether a file begins as lessons do; a file that cannot be read is none."""
    try:
        with open(path, "rb") as file:
            lines = file.read(200).removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except (OSError, ValueError):
        return False
    return len(lines) > 1 and lines[0].rstrip() == _FENCE.encode() and lines[1].startswith(f"{_FIRST}:".encode())


def read_lesson(path: Path) -> Lesson:
    data = small_file_bytes(path, LARGEST_BYTES, "{path} is {n} MB, too large for a lesson")
    return parse_lesson(utf8_text(data.removeprefix(b"\xef\xbb\xbf"), path), path)


def lesson_project(lesson: Lesson, *, should_stop: Callable[[], bool] | None = None) -> Project:
    """Return a lesson's corpus with its runs, trained, and the view of its first page; no run is one to ask about."""
    corpus = ProjectCorpus(name=lesson.title, text=lesson.corpus)
    runs = []
    for number, each in enumerate(lesson.runs):
        stop_if_asked(should_stop)
        counts = count_corpus(
            lesson.corpus, (), each.normalizer, each.pre_tokenizer, 1000, progress=lambda _: None,
            should_stop=should_stop or (lambda: False),
        )  # fmt: skip
        trained = train(counts, each.config, should_stop=should_stop)
        is_of_corpus = (each.normalizer, each.pre_tokenizer) == (
            lesson.runs[0].normalizer,
            lesson.runs[0].pre_tokenizer,
        )
        origin = RunOrigin(corpus_name=lesson.title, corpus=None if is_of_corpus else corpus)
        run = Run(counts, each.config, trained.history, stop_reason=trained.stop_reason, origin=origin)
        runs.append(replace(run, is_of_corpus=is_of_corpus, number=number))
    tabs = tuple(
        RunTab(number, each.name, number, is_compared=len(runs) > 1, step=len(run.history))
        for number, (each, run) in enumerate(zip(lesson.runs, runs, strict=True))
    )
    first = lesson.runs[0]
    view = msgspec.structs.replace(lesson.pages[0].view, tabs=tabs)
    settings = ProjectSettings(training=first.config.to_dict(), **steps_of(runs[0].counts))
    runs.sort(key=lambda run: run.number != view.current)  # the one that is shown first
    return Project(settings=settings, corpus=corpus, view=view, runs=tuple(runs))


def parse_lesson(text: str, path: str | os.PathLike[str]) -> Lesson:
    """Return the lesson that a text is; raise a `StudioError` that names the line where it is none."""
    return _Reader(text, path).lesson()


@dataclass(slots=True)
class _Line:
    number: int
    text: str


class _Reader:
    def __init__(self, text: str, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._lines = [_Line(number, line.rstrip()) for number, line in enumerate(text.splitlines(), 1)]
        self._runs: tuple[LessonRun, ...] = ()

    def wrong(self, line: int, what: str, advice: str = "", /, **values: object) -> StudioError:
        shown = {name: printable(value)[:300] if isinstance(value, str) else value for name, value in values.items()}
        return StudioError(
            "{path}, line {line}: " + what, advice, path=display_name(self._path), line=line, **shown
        )  # fmt: skip

    def lesson(self) -> Lesson:
        for line in self._lines:
            if len(line.text) > LONGEST_VALUE:
                raise self.wrong(line.number, "the line has over {most:,} characters", "Make it shorter.",
                                 most=LONGEST_VALUE)  # fmt: skip
        head, rest = self._head()
        title = head[0][2]
        if head[0][1] != _FIRST or not title or len(title) > LONGEST_TITLE:
            raise self.wrong(2, "a lesson begins with its title", "Write “lesson: ” and a short title.")
        known: dict[str, tuple[int, str]] = {}
        at_run = next((at for at, (_, key, _) in enumerate(head) if key == "run"), len(head))
        for number, key, value in head[1:at_run]:
            if key in known:
                raise self.wrong(number, "“{key}” is there twice", "Remove one of the two.", key=key)
            known[key] = number, value
        order = self._number(*known.pop("order", (1, "1000")))
        number, sample = known.pop("corpus", (0, ""))
        corpus, rest = (self._sample(number, sample), rest) if sample else self._corpus(rest)
        self._runs = tuple(self._read_runs(known, head[at_run:]))
        pages = tuple(self._pages(rest))
        name = re.sub(r"\.md$", "", str(display_name(self._path)).replace("\\", "/").rpartition("/")[2])
        return Lesson(name=name[:100], title=title, order=order, corpus=corpus, runs=self._runs, pages=pages)

    # -- what it brings

    def _head(self) -> tuple[list[tuple[int, str, str]], list[_Line]]:
        lines = self._lines
        ends = [line.number for line in lines if line.text == _FENCE][:2]
        if len(ends) < 2 or ends[0] != 1:
            what = "a lesson begins with settings between two lines “---”"
            raise self.wrong(1, what, "See the help page on lessons.")
        head = []
        for line in lines[1 : ends[1] - 1]:
            if (found := _KEY.fullmatch(line.text)) is not None:
                head.append((line.number, found[1], found[2]))
            elif line.text and not line.text.startswith("#"):
                raise self.wrong(line.number, "“{text}” is no setting", "Write “name: value”.", text=line.text)
        return head or [(2, "", "")], lines[ends[1] :]

    def _sample(self, number: int, name: str) -> str:
        if re.fullmatch(r"[a-z-]+\.txt", name):
            try:
                return resource_path(f"samples/{name}").read_text(encoding="utf-8")
            except FileNotFoundError:
                pass
        raise self.wrong(number, "there is no sample {name}", "Use hug.txt, or write the text below the settings.",
                         name=name)  # fmt: skip

    def _corpus(self, lines: list[_Line]) -> tuple[str, list[_Line]]:
        """Return the text of the first block of code, and what follows it."""
        fences = [at for at, line in enumerate(lines) if line.text.startswith("```")][:2]
        if len(fences) < 2 or any(line.text for line in lines[: fences[0]]):
            number = lines[0].number if lines else len(self._lines)
            what = "there is no corpus"
            raise self.wrong(number, what, "Write it between two lines “```”, or specify a sample: “corpus: hug.txt”.")
        text = "\n".join(line.text for line in lines[fences[0] + 1 : fences[1]]) + "\n"
        return as_typed_counts(text) or text, lines[fences[1] + 1 :]

    def _read_runs(
        self, shared: dict[str, tuple[int, str]], lines: Iterable[tuple[int, str, str]]
    ) -> Iterator[LessonRun]:
        own: list[tuple[int, str, dict[str, tuple[int, str]]]] = []
        for number, key, value in lines:
            if key == "run":
                own.append((number, value, {}))
            else:
                own[-1][2][key] = number, value
        if len(own) > MOST_RUNS:
            raise self.wrong(own[MOST_RUNS][0], "a lesson has at most {most} runs", "Remove some.", most=MOST_RUNS)
        for number, name, settings in own or [(2, "", {})]:
            given = {**shared, **settings}
            steps = [given.pop(key, (number, usual)) for key, usual in _STEPS.items()]
            normalizer = self._checked_by(steps[0][0], resolve_normalizer, steps[0][1])
            pre_tokenizer = self._checked_by(steps[1][0], resolve_pre_tokenizer, steps[1][1])
            values = {key: self._setting(line, key, value) for key, (line, value) in given.items()}
            try:
                config = TrainingConfig(**values)
            except StudioError:  # the first that does not go with those before it
                for at, line in enumerate([*(line for line, _ in given.values()), number], 1):
                    self._checked_by(line, partial(TrainingConfig, **dict([*values.items()][:at])))
                raise
            yield LessonRun(name, config, normalizer, pre_tokenizer)

    def _checked_by(self, number: int, make: Callable[..., _T], *values: str) -> _T:
        try:
            return make(*values)
        except StudioError as error:
            raise self.wrong(number, "{reason}", "{tip}", reason=error.what, tip=error.advice) from None

    def _setting(self, number: int, name: str, value: str) -> Any:
        kinds = {each.name: str(each.type) for each in fields(TrainingConfig)}
        kind = kinds.get(name)
        if kind is None or name in BASE:
            raise self.wrong(number, "“{key}” is no setting", "See the help page on lessons.", key=name)
        if value == "none":
            return () if kind.startswith("tuple") else None
        if "int" in kind.split(" | ") or kind == "int":
            return self._number(number, value)
        if "tuple[tuple" in kind:
            rows = [row.split() for row in value.split(",")]
            is_numbered = "int" in kind
            return [(self._number(number, row[0]), *row[1:]) if is_numbered and row else tuple(row) for row in rows]
        if kind.startswith("tuple"):
            return value.split()
        return float(value) if "float" in kind and re.fullmatch(r"-?[0-9.]+", value) else value

    def _number(self, number: int, value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", value):
            raise self.wrong(number, "“{value}” is not a whole number", "Write digits only.", value=value)
        return int(value)

    # -- its pages

    def _pages(self, lines: list[_Line]) -> Iterator[Page]:
        starts = [at for at, line in enumerate(lines) if _HEADING.match(line.text)]
        before = lines[: starts[0]] if starts else lines
        stray = next((line.number for line in before if line.text), 0)
        if stray or not starts:
            number = stray or (lines[-1].number if lines else 1)
            raise self.wrong(number, "a page begins with its title", "Write “## ” and what is to be done or answered.")
        if len(starts) > MOST_PAGES:
            raise self.wrong(lines[starts[MOST_PAGES]].number, "a lesson has at most {most} pages", "Remove some.",
                             most=MOST_PAGES)  # fmt: skip
        page = None
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            page = self._page(lines[start], lines[start + 1 : end], page)
            yield page

    def _page(self, heading: _Line, lines: list[_Line], before: Page | None) -> Page:
        title, words = _plain(heading.text.lstrip("#")), []
        tasks: list[tuple[int, str, str]] = []
        shown: dict[str, Any] = {}
        pane, layout = "", _LAYOUTS[0] if before is None else before.layout
        for line in lines:
            found = _KEY.fullmatch(line.text)
            if found is None:
                words.append(line.text)
                continue
            key, value = found.groups()
            if key == "pane":
                pane = self._one_of(line.number, value, PANES)
            elif key == "layout":
                layout = cast("LessonLayout", self._one_of(line.number, value, _LAYOUTS))
            elif key in _TASKS:
                tasks.append((line.number, key, value))
            else:
                shown[key] = self._shown(line.number, key, value)
        text = _plain(" ".join(words))
        for part, most in ((title, LONGEST_TITLE), (text, LONGEST_TEXT)):
            if len(part) > most:
                raise self.wrong(heading.number, "a title or text of over {most} characters does not fit",
                                 "Make it shorter, or two pages of it.", most=most)  # fmt: skip
        if not title:
            raise self.wrong(heading.number, "the page has no title", "Say in it what is to be done or answered.")
        view = msgspec.structs.replace(View() if before is None else before.solved, **shown)
        question = self._question(tasks)
        return Page(title=title, text=text, view=view, pane=pane, layout=layout, question=question)

    def _one_of(self, number: int, value: str, known: tuple[str, ...]) -> str:
        if value not in known:
            raise self.wrong(number, "“{value}” is not known", "Use {known}.", value=value, known=", ".join(known))
        return value

    def _shown(self, number: int, key: str, value: str) -> Any:
        """Return the value of a field of the view."""
        if key in _SWITCHES:
            return _YES_NO[self._one_of(number, value, tuple(_YES_NO))]
        if key == "step":
            return LAST_STEP if value == "last" else self._number(number, value)
        if key == "live_text":
            return value
        if key == "current":
            return self._run_number(number, value)
        if key == "selection":
            kind, *parts = value.split() or [""]
            if kind == "pair" and len(parts) == 2:
                return Selection("pair", *parts)
            if kind in ("token", "word") and len(parts) == 1:
                return Selection(cast("Any", kind), text=parts[0])
            if value != "none":
                raise self.wrong(number, "“{value}” cannot be selected", "Write “pair h ##u”, “token hu”, “word hugs” "
                                 "or “none”.", value=value)  # fmt: skip
            return None
        known = ", ".join(("pane", "layout", *_TASKS, *_SEEN, *_SWITCHES))
        what = "“{key}” is not known"
        raise self.wrong(number, what, "Use {known}; begin a sentence with a capital.", key=key, known=known)

    def _run_number(self, number: int, name: str) -> int:
        names = [run.name for run in self._runs]
        if name not in names:
            raise self.wrong(number, "there is no run “{name}”", "Use a name from the settings.", name=name)
        return names.index(name)

    def _question(self, lines: list[tuple[int, str, str]]) -> Question | None:
        values = {key: value for _, key, value in lines}
        because = _plain(values.pop("because", ""))
        asked = [each for each in lines if each[1] in ("check", "ask")]
        choices = [each for each in lines if each[1] in ("choose", "right")]
        if len(asked) + bool(choices) > 1:
            number = max(number for number, *_ in (*asked, *choices))
            raise self.wrong(number, "a page has one question", "Make two pages of it.")
        if choices:
            texts = tuple(_plain(value) for *_, value in choices)
            if sum(key == "right" for _, key, _ in choices) != 1 or not 2 <= len(set(texts)) == len(texts):
                what = "a choice has lines “choose: …”, all different, and one line “right: …”"
                raise self.wrong(choices[0][0], what, "Add what is missing.")
            if len(texts) > MOST_CHOICES:
                raise self.wrong(choices[-1][0], "a choice has at most {most} texts", "Remove some.", most=MOST_CHOICES)
            right = _plain(values["right"])
            return Question(kind="choose", line=choices[0][0], choices=texts, right=right, because=because)
        if not asked:
            return None
        number, key, value = asked[0]
        made = self._asked(number, value) if key == "ask" else self._checked(number, value)
        return replace(made, because=because)

    def _asked(self, number: int, value: str) -> Question:
        found = _ASKED.fullmatch(value)
        if found is None or found[1] not in FUNCTIONS or not found[2].strip():
            known = ", ".join(f"{name}({about})" for name, about in FUNCTIONS.items())
            raise self.wrong(number, "“{value}” cannot be asked", "Use {known}.", value=value, known=known)
        name, about, step, run = found.groups()
        about, kind = about.strip(), FUNCTIONS[name]
        if kind in ("step", "number"):
            self._number(number, about)
        elif len(about.split()) != (2 if kind == "pair" else 1) and kind not in ("text", "symbols"):
            what, asked = "{name} cannot be asked of “{about}”", {"name": name, "about": about, "kind": kind}
            raise self.wrong(number, what, "Use {name}({kind}).", **asked)
        return Question(
            kind="ask", line=number, name=name, about=about,
            step=None if step is None else LAST_STEP if step == "last" else self._number(number, step),
            run=None if run is None else self._run_number(number, run),
        )  # fmt: skip

    def _checked(self, number: int, value: str) -> Question:
        if value == "predict":
            return Question(kind="predict", line=number)
        name, is_equal, wanted = (part.strip() for part in value.partition("="))
        is_training = name.startswith("trained ")
        if not is_equal or (not is_training and name not in (*_SEEN, *_SWITCHES)):
            raise self.wrong(number, "“{value}” cannot be checked", "Write “step = 2”, “live_text = pugs” or the like, "
                             "“trained objective = score”, or “predict”.", value=value)  # fmt: skip
        if is_training:
            name = name.removeprefix("trained ").strip()
            settings = {name: self._setting(number, name, wanted)}
            self._checked_by(number, partial(TrainingConfig, **settings))
            return Question(kind="trained", line=number, name=name, settings=settings)
        return Question(kind="view", line=number, name=name, settings={name: self._shown(number, name, wanted)})


def _plain(text: str) -> str:
    """Return a text in one line, without the marks of Markdown."""
    return printable(" ".join(_MARKUP.sub("", text).split()))
