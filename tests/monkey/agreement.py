"""Whether the panes agree with each other and with the model, once nothing is under way any more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.corpus.inspection import preview
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.corpus_files import FileState
from wordpiece_studio.session.tokenizer_figures import FiguresFound, measured
from wordpiece_studio.session.training_job import TrainerState
from wordpiece_studio.storage.project.container import is_replaced
from wordpiece_studio.ui.widgets.pane import Pane
from wordpiece_studio.ui.widgets.token_text import number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from wordpiece_studio.session.tokenizer_figures import FiguresRequest
    from wordpiece_studio.ui.main_window import MainWindow

_LONG = 200_000  # characters: of a longer text not all tokens are compared


def is_settled(window: MainWindow) -> bool:
    """Whether nothing is learned, counted, measured, read or waiting to be shown."""
    model = window.model
    if model.state is TrainerState.TRAINING or model.is_busy or model.is_replacing:
        return False
    if window.session.counting.is_under_way or window.session.opening.is_running or window.session.usage.is_counting:
        return False
    if window.session.library_job.is_running or window.session.figures.is_running:
        return False
    tables = (window.history_pane.rows, window.vocabulary_pane.table)
    if any(table.task.is_running or table.is_behind for table in tables) or window.player.is_playing:
        return False
    return not any(pane.is_stale for pane in window.findChildren(Pane) if pane.isVisible())


def disagreements(window: MainWindow) -> Iterator[str]:
    """Yield what two places say differently, in words. Only of a window that is settled."""
    yield from _texts(window)
    yield from _steps(window)
    yield from _tokens(window)
    yield from _counts(window)


def files_read(window: MainWindow) -> list[Path]:
    """Return the files whose content is shown: of the corpus, of the figures, of the project."""
    session = window.session
    figures = session.figures._files.stamps
    found = (*session.watch.stamps, *figures, *filter(None, (session.document.path, window.project.path)))
    return sorted({Path(path).resolve() for path in found if Path(path).is_file()})


def outdated(window: MainWindow) -> str:
    """Return what is shown of files that are not like that any more, in words; nothing if all is well.

    Only of a window that is settled; it may take a while until it notices.
    """
    return next(_outdated(window), "")


def _outdated(window: MainWindow) -> Iterator[str]:
    document, disk = window.session.document, window.corpus_controller.disk
    for path in window.session.watch.stamps:
        if not path.exists() and str(path) not in disk.gone:
            yield f"{path.name} of the corpus is missing, and nothing says so"
    states = {row.shown_state for row in document.files.rows} if document.is_files else set()
    if states & {FileState.CHANGED, FileState.FAULT} and window.corpus_pane.lint_view.findings:
        yield "warnings are about older files"
    view = window.corpus_pane.files_view.preview
    request = view.task.request
    if request is not None and Path(request[0].path) in window.session.watch.stamps and not view.task.is_running:
        try:
            now = preview(*request).text
        except StudioError:
            now = ""
        if view.text != now:
            yield f"the preview is of an older {Path(request[0].path).name}"
    project, controller = window.project, window.project_controller
    path = project.path
    if path is not None and not controller.saving.is_running and not controller._file.is_pending:
        is_another = not path.exists() or is_replaced(path, project.stamp)
        if is_another and not project.is_file_another:
            yield f"the project's file {path.name} is another, and nothing says so"


class FiguresCheck:
    """Whether figures of files are those of the files as they are now; they are computed afresh when those change.

    Parameters
    ----------
    run_loop
        Runs the window's event loop for so many seconds, while the figures are computed.
    """

    def __init__(self, run_loop: Callable[[float], None]) -> None:
        self._run_loop = run_loop
        self._known: tuple[object, ...] | None = None

    def disagreement(self, window: MainWindow) -> str:
        """Return what is shown of older files, in words; nothing if all is well. Only of a window that is settled."""
        figures = window.session.figures
        request, face = figures._request, window.comparison_pane.summary
        is_done = request is not None and figures.task.answered == (request,)
        if request is None or not face.isVisible() or figures.is_running or not is_done:
            return ""
        contents = _contents(request.files())
        state = (request, figures._found, contents)
        if not contents or (self._known is not None and self._known[:2] == state[:2] and self._known[2] == contents):
            return ""
        try:
            fresh = self._measured(request)
        except StudioError:
            fresh = FiguresFound()
        if contents != _contents(request.files()) or figures._request is not request or figures.is_running:
            return ""
        if repr(fresh.figures) == repr(figures._found.figures) and fresh.errors.keys() == figures._found.errors.keys():
            self._known = state
            return ""
        return f"figures are of older files than {', '.join(path.name for path in contents)}"

    def _measured(self, request: FiguresRequest) -> FiguresFound:
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(measured, request, progress=lambda *_progress: None, should_stop=lambda: False)
            while not work.done():
                self._run_loop(0.02)
            return work.result()


def _contents(paths: Iterable[Path]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in paths if path.is_file()}


def _texts(window: MainWindow) -> Iterator[str]:
    document, editor = window.session.document, window.corpus_pane.editor
    if document.is_editable and not editor.is_stale:
        shown = editor.view_part(0, editor.document().characterCount() - 1)
        if shown != document.view_text:
            yield _first_difference("the editor and the document", shown, document.view_text)
    field = window.tokenization_pane
    if field.live.text != field.text and field.isVisible():
        yield _first_difference("live tokenization and its field", field.live.text, field.text)


def _steps(window: MainWindow) -> Iterator[str]:
    model = window.model
    step, count = model.step, model.merge_count
    if not 0 <= step <= count:
        yield f"step {step} of {count}"
    if window.timeline_pane.isVisible():
        plot = window.timeline_pane.plot
        if (plot.value(), plot.maximum(), len(plot.values)) != (step, count, count):
            yield f"the timeline is at {plot.value()} of {plot.maximum()}, the model at {step} of {count}"
    if window.history_pane.isVisible() and window.history_pane.rows.is_plain:
        rows = window.history_pane.rows.rowCount()
        if rows != count:
            yield f"the history has {rows} rows for {count} merges"
    if window.tokenization_pane.isVisible() and model.history is not None and model.history.has_steps:
        hint = window.tokenization_pane.hints[0]
        if hint and number_text(step) not in hint.split():  # a narrow title has no room for it
            yield f"live tokenization says {hint!r} at step {step}"
    if window.scoreboard_pane.isVisible() and step:
        pane, is_asked = window.scoreboard_pane, window.session.prediction.is_on
        title = pane.hints[0] if is_asked else pane.title
        if number_text(step + is_asked) not in title.split():
            yield f"the scoreboard says {title!r} at step {step}"
    selection = model.selection
    if selection is not None and model.history is None:
        yield f"{selection} is selected, and nothing is trained"


def _tokens(window: MainWindow) -> Iterator[str]:
    model, pane = window.model, window.tokenization_pane
    tokenizer = model.tokenizer_at(model.step)
    if tokenizer is not None and pane.isVisible() and len(pane.text) < _LONG:
        wanted = [piece.token for word in tokenizer.tokenize_words(pane.text) for piece in word.pieces]
        if pane.tokens != wanted:
            yield f"live tokenization shows {pane.tokens[:20]}, longest match finds {wanted[:20]}"
    table = window.vocabulary_pane.table
    if window.vocabulary_pane.isVisible() and model.history is not None:
        size = model.history.vocabulary_size(model.step)
        if table.filter.kind == "all" and not window.vocabulary_pane.controls.filter.text and table.rowCount() != size:
            yield f"the vocabulary has {table.rowCount()} rows for {size} tokens"
        ids = table.shown_items()
        if len(np.unique(ids)) != len(ids) or (len(ids) and int(ids.max()) >= size):
            yield f"the rows of the vocabulary are no tokens of step {model.step}"


def _counts(window: MainWindow) -> Iterator[str]:
    counts = window.session.counting.counts
    if counts is not None and window.corpus_pane.isVisible():
        shown = window.corpus_pane.figures.values["distinct"]
        if shown != number_text(len(counts)):
            yield f"the corpus pane shows {shown} distinct words of {len(counts)}"
    model = window.model
    if model.history is not None:
        progress = model.progress
        if progress.vocabulary_size != model.history.vocabulary_size(model.merge_count):
            yield f"progress tells of {progress.vocabulary_size} tokens"


def _first_difference(what: str, one: str, other: str) -> str:
    place = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    near = slice(max(0, place - 10), place + 10)
    return f"{what} differ at {place} ({len(one)}, {len(other)}): {one[near]!r}, {other[near]!r}"
