"""Lessons: opens one in place of what is open, goes from page to page, checks what is done, and puts all back."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.lesson_questions import Solution, is_answer, open_lesson, rule_of, solution
from wordpiece_studio.session.plural import filled
from wordpiece_studio.session.task import Task
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.lesson import Lesson, Page, Question, lesson_paths, read_lesson
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.ui.actions import MenuChoice, command, tr
from wordpiece_studio.ui.widgets.plain import menu_text, set_look
from wordpiece_studio.ui.workspace import Controller, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project, Run
    from wordpiece_studio.storage.view import View
    from wordpiece_studio.ui.controllers.view_controller import ViewController

_known = cache(read_lesson)  # those of the program, for their titles


class LessonController(Controller):
    """Shows one lesson at a time; what was open before is put aside, kept, and brought back when it is left."""

    def __init__(self, window: Workspace, view: ViewController) -> None:
        super().__init__(window)
        self._view = view
        self._strip = window.lesson_strip
        self._settings = window.settings
        self.lesson: Lesson | None = None
        self.number = 0  # of the page, from 0
        self._arranged: Any = None  # how the panes were arranged before
        self._searched = ""  # in the vocabulary before
        self._path: Path | None = None
        self._said: dict[
            int, tuple[str, bool, tuple[str, ...]]
        ] = {}  # the answer of each page, and what was said of it
        self.opening = Task(
            open_lesson, "The lesson cannot be opened", self, on_answer=self._begin, on_error=self._messages.show_error
        )
        window.project.brought_back.connect(self._on_project_brought_back)
        for changed in (self._model.step_changed, self._model.selection_changed, self._session.live_text_changed):
            changed.connect(self._check_again)
        self._session.prediction.changed.connect(self._follow_prediction)
        self._actions.bind(self)

    # -- which lesson

    def _lessons(self) -> Iterator[MenuChoice]:
        values = self._settings.values
        lessons = {path: _known(path) for path in lesson_paths(values.language)}
        for path, lesson in sorted(lessons.items(), key=lambda each: (each[1].order, each[1].title)):
            tick = " ✓" if lesson.name in values.finished_lessons else ""
            at, count = values.lessons.get(lesson.name, 0), len(lesson.pages)
            left = filled(self.tr(" (page {number} of {count})"), number=at + 1, count=count) if 0 < at < count else ""
            yield MenuChoice(path, menu_text(lesson.title) + tick + left)

    @command(choices=_lessons)
    def open_lesson(self, path: Path) -> None:
        """Open a lesson where it was left; what is open now comes back afterwards."""
        state = self._model.state
        if self.lesson is None and (state is TrainerState.TRAINING or self._session.opening.is_running):
            error = StudioError("A lesson cannot begin during training or opening", "Stop it first, or wait.")
            self._messages.show_error(error)
        else:
            self.opening.run(path)

    def offer(self) -> None:
        """Offer the first lesson, at the first start."""
        known = self._settings.values.gestures
        if "lesson" not in known:
            self._window.remember(gestures=(*known, "lesson"))
            text = self.tr("Short lessons explain WordPiece, one merge at a time. They are under Help › Lessons.")
            self._window.notices.lesson.show_message(
                text, action=self.tr("Start a lesson"), act=lambda: self.open_lesson(next(self._lessons()).value)
            )

    def _begin(self, found: tuple[Lesson, Project]) -> None:
        lesson, project = found
        (self._path,) = self.opening.forget()
        self._window.player.stop()
        self._window.notices.lesson.clear()
        if self.lesson is None:
            self._arranged, self._searched = self._view.arrangement(), self._window.vocabulary_pane.controls.filter.text
        self._said = {}
        self.lesson, self.number = lesson, self._place_left(lesson)  # before commands ask whether they are possible
        self._window.project.put_aside(project)
        self._window.tokenization_pane.ask_nothing()
        self._show(self.number)

    def _place_left(self, lesson: Lesson) -> int:
        """Return the page that was left, or the first before it of which the run that is trained there is missing."""
        left = self._settings.values.lessons.get(lesson.name, 0) % len(lesson.pages)
        trained = (at for at, page in enumerate(lesson.pages) if page.question and page.question.kind == "trained")
        return min(left, next(trained, left))

    # -- its pages

    @property
    def page(self) -> Page:
        assert self.lesson is not None
        return self.lesson.pages[self.number]

    def _show(self, number: int) -> None:
        self.number = number
        lesson, page = self.lesson, self.page
        assert lesson is not None
        if self._settings.values.layout != page.layout:
            self._view.choose_layout(page.layout)
        self._window.vocabulary_pane.controls.search("")
        answer, is_right, said = self._said.get(number, ("", False, ()))
        self._show_view(page.solved if is_right else page.view)
        self._strip.show_page(lesson, number)
        self._strip.set_answer(answer)
        self._strip.say(*said, is_right=is_right)
        self._point_at(page.pane)
        if page.question is not None and page.question.name == "live_text":
            self._window.tokenization_pane.edit.setFocus()
            self._window.tokenization_pane.edit.selectAll()
        self._window.remember(lessons={**self._settings.values.lessons, lesson.name: number})
        self._actions.refresh()

    def _show_view(self, view: View) -> None:
        for run in self._session.runs.all:
            if run.number == view.current:
                self._session.runs.show(run)
        self._session.show_view(view)

    def _point_at(self, pane: str) -> None:
        """Draw a frame around one pane, and around no other."""
        docks = self._window.docks
        if pane in docks.panels:
            docks.bring(pane)
        for name, part in {**docks.panels, "bar": self._window.bar}.items():
            if (part.property("pointed") or "") != (pointed := "yes" if name == pane else ""):
                set_look(part, pointed=pointed)

    def _has_lesson(self) -> bool:
        return self.lesson is not None

    def _has_question(self) -> bool:
        return self.lesson is not None and self.page.question is not None

    @command(
        tr("&Back"), tr("Go to the previous page of the lesson"),
        when=lambda self: self.lesson is not None and self.number > 0,
    )  # fmt: skip
    def lesson_back(self) -> None:
        self._show(self.number - 1)

    def _look_of_next(self) -> tuple[str, str]:
        is_last = self.lesson is not None and self.number == len(self.lesson.pages) - 1
        return (self.tr("&Finish") if is_last else self.tr("&Next"), "")

    @command(tr("&Next"), tr("Go to the next page of the lesson"), when=_has_lesson, look=_look_of_next)
    def lesson_next(self) -> None:
        lesson, values = self.lesson, self._settings.values
        assert lesson is not None
        if self.number < len(lesson.pages) - 1:
            self._show(self.number + 1)
            return
        answered = values.answered_pages.get(lesson.name, ())
        missing = [at for at, page in enumerate(lesson.pages) if page.question is not None and at not in answered]
        self._window.remember(lessons={**values.lessons, lesson.name: missing[0] if missing else 0})
        if not missing:
            finished = dict.fromkeys((*values.finished_lessons, lesson.name))
            self._window.remember(finished_lessons=tuple(finished))
        self.lesson_leave()
        self._offer_next(lesson, missing)

    def _offer_next(self, lesson: Lesson, missing: Sequence[int]) -> None:
        """Say in one line that a lesson is finished, and offer the next one, or the page that has no answer yet."""
        paths = [choice.value for choice in self._lessons()]
        place = paths.index(self._path) + 1 if self._path in paths else len(paths)
        path = self._path if missing else next(iter(paths[place:]), None)
        said, action = self.tr("You finished “{title}”."), ""
        if missing:
            said, action = self.tr("“{title}” gets its tick when page {number} is answered."), self.tr("Go to the page")
        elif path is not None:
            action = filled(self.tr("Next: {title}"), title=_known(path).title)
        said = filled(said, title=lesson.title, number=missing[0] + 1 if missing else 0)
        act = None if path is None else partial(self.open_lesson, path)
        self._window.notices.lesson.show_message(said, action=action, act=act, needs_answer=False)

    @command(tr("&Leave lesson"), tr("Close the lesson and show again what was open before"), when=_has_lesson)
    def lesson_leave(self) -> None:
        self._window.project.bring_back()

    def _on_project_brought_back(self) -> None:
        self.lesson = None
        self._window.tokenization_pane.ask_nothing()
        self._window.vocabulary_pane.controls.search(self._searched)
        self._strip.hide()
        self._point_at("")
        self._view.arrange(*self._arranged)
        self._actions.refresh()

    # -- what is done and answered

    def _solution(self, asked: Question) -> tuple[Run, Solution]:
        """Return the answer by the run that is asked about."""
        runs = self._session.runs
        run = next((run for run in runs.all if run.number == asked.run), runs.current)
        if run is None:
            raise StudioError("There is no run", "Train one.")
        return run, solution(asked, run)

    @command(tr("&Check"), tr("Check what was answered or done"), when=_has_question)
    def lesson_check(self) -> None:
        asked = self.page.question
        assert asked is not None
        try:
            is_right, said = self._verdict(asked, self._strip.answer)
        except StudioError as error:  # of a run that the student trained
            is_right, said = False, str(error)
        parts = (self.tr("Right."), said, asked.because) if is_right else (said, asked.hint)
        self._say(*parts, is_right=is_right)

    def _say(self, *said: str, is_right: bool) -> None:
        """Say what is right or not, and note it: a lesson is finished when all pages were right, or shown."""
        lesson, answered = self.lesson, self._settings.values.answered_pages
        assert lesson is not None
        self._said[self.number] = self._strip.answer, is_right, said
        if is_right:
            pages = {*answered.get(lesson.name, ()), self.number}
            self._window.remember(answered_pages={**answered, lesson.name: tuple(sorted(pages))})
        self._strip.say(*said, is_right=is_right)

    def _check_again(self) -> None:
        """Let what is said about something to be done be true: it may have been done since."""
        if self.lesson is not None and self.page.question is not None and self.page.question.kind == "view":
            _, is_right, _ = self._said.get(self.number, ("", True, ()))
            if not is_right:
                self.lesson_check()

    def _follow_prediction(self) -> None:
        """Take a right prediction once it is revealed; of a wrong one, what was said before is no longer so."""
        asked, prediction = None if self.lesson is None else self.page.question, self._session.prediction
        if asked is None or asked.kind != "predict" or not prediction.is_revealed:
            return
        answer = prediction.answers.get(self.page.view.step + 1)
        if answer is not None and answer.is_right:
            self.lesson_check()
        elif not self._said.get(self.number, ("", True, ()))[1]:
            del self._said[self.number]
            self._strip.say(is_right=False)

    def _verdict(self, asked: Question, answer: str) -> tuple[bool, str]:
        """Return whether something is right or done, and why or why not."""
        if asked.kind in ("ask", "choose") and not answer:
            return False, self.tr("Type or choose an answer first.")
        if asked.kind == "choose":
            is_right = answer == asked.right
            return is_right, "" if is_right else self.tr("Not this one. Choose again.")
        if asked.kind == "predict":
            return self._prediction_verdict()
        if asked.kind == "ask":
            run, right = self._solution(asked)
            if is_answer(answer, right):
                return True, right.why
            return False, filled(self.tr("Not {answer}. {rule}"), answer=answer, rule=rule_of(asked, run))
        is_done, present = self._done(asked)
        return is_done, "" if is_done else filled(self.tr("Not done yet. {present}"), present=present).strip()

    def _prediction_verdict(self) -> tuple[bool, str]:
        """Return whether the pair of the page was predicted; after a wrong one, or none, it is asked for again."""
        prediction, step = self._session.prediction, self.page.view.step + 1
        answer, is_here = prediction.answers.get(step), prediction.step == step
        if answer is not None and answer.is_right:
            return True, ""
        if is_here and not prediction.is_revealed:
            choose = self.tr("Choose a pair among the candidates, then press Space.")
            press = self.tr("Press Space to see whether the pair is right.")
            return False, filled(self.tr("Not done yet. {present}"), present=press if prediction.chosen else choose)
        said = prediction.sentence() if is_here else ""
        self._predict_again()
        return False, f"{said or self.tr('Not this one.')} {self.tr('Choose again, then press Space.')}"

    def _predict_again(self) -> None:
        self._show_view(self.page.view)
        self._session.prediction.begin()

    def _done(self, asked: Question) -> tuple[bool, str]:
        """Return whether something was done, and what is the case instead."""
        if asked.kind == "trained":
            wanted, config = getattr(TrainingConfig(**asked.settings), asked.name), self._model.config
            present = None if config is None else getattr(config, asked.name)
            text = self.tr("The current run has {name} {value}; train one with {wanted}.")
            said = filled(text, name=asked.name, value=str(present), wanted=str(wanted))
            return present == wanted and self._model.state is TrainerState.FINISHED, said
        wanted, present = asked.settings[asked.name], getattr(self._session.view(), asked.name)
        if asked.name == "step":
            text = self.tr("The current step is {step}; go to step {wanted}.")
            wanted = min(wanted, self._model.merge_count)
            return present == wanted, filled(text, step=present, wanted=wanted)
        if asked.name == "live_text":
            text = self.tr("Type “{text}” in the live tokenization.")
            return present.split() == wanted.split(), filled(text, text=wanted)
        return present == wanted, self.page.text

    @command(tr("&Show me"), tr("Let it be done or answered for you, with the reason"), when=_has_question)
    def lesson_show(self) -> None:
        asked, said, is_right = self.page.question, "", True
        assert asked is not None
        if asked.kind in ("ask", "choose"):
            try:
                answer, said = (asked.right, asked.right) if asked.choices else self._solution(asked)[1][1:]
                self._strip.set_answer(answer)
            except StudioError as error:
                said, is_right = str(error), False
        elif asked.kind == "view":
            self._show_view(self.page.solved)
            said = self.tr("Done for you.")
        elif asked.kind == "trained":
            self._session.settings.choose(**asked.settings)
            self._actions.train.trigger()
            said = self.tr("A run with this setting is trained.")
        else:
            self._predict_again()
            if (merge := self._model.hidden_merge) is not None:
                self._session.prediction.choose((merge.left, merge.right))
                self._session.prediction.reveal()
                said = self._session.prediction.sentence()
        self._say(said, asked.because, is_right=is_right)
