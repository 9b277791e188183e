"""Work that must not hold up the window: a plain function, called in a thread, or in a child process.

The function is one of the library's own wherever possible. What it works on are its arguments; if it has the parameters
`progress` and `should_stop`, it is given them, and may call both as often as it likes. The latest request wins, and the
last answer stays until there is a better one.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from PySide6.QtCore import QCoreApplication, QObject, QTimer, Signal, SignalInstance

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.child import CannotSend, Child, Control, Stopped, takes

if TYPE_CHECKING:
    from wordpiece_studio.corpus.counts import WordCounts

    Slot: TypeAlias = Callable[..., object] | SignalInstance


def single_shot(owner: QObject, slot: Callable[[], object], interval_ms: int = 0) -> QTimer:
    """Return a timer that calls `slot` once each time it is started, after `interval_ms` unless told otherwise then."""
    timer = QTimer(owner)
    timer.setSingleShot(True)
    timer.setInterval(interval_ms)
    timer.timeout.connect(slot)
    return timer


def later(owner: QObject, delay_ms: int, slot: Callable[[], None]) -> None:
    """Call `slot`, a method of `owner` or of a child of it, in `delay_ms` milliseconds; never after `owner` is deleted.

    ``QTimer.singleShot`` does not watch the owner of a Python method: it calls it even after its window is gone.
    """
    timer = single_shot(owner, slot, delay_ms)
    timer.timeout.connect(timer.deleteLater)
    timer.start()


_log = logging.getLogger(__name__)

_REPORT_MS = 60  # between two reports of progress in the window, which may lay out much for each
_MOST_PARTS = 8  # how many parts may wait for the window before the work waits for it


class _Mail(NamedTuple):
    control: Control
    kind: Literal["progress", "part", "answer", "error"]
    content: Any


class _Mailbox(QObject):
    rung = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Condition()
        self._mails: list[_Mail] = []
        self._is_rung = False

    def put(self, mail: _Mail) -> None:
        """Add a mail; progress replaces progress that no one has seen yet, and parts wait until there is room."""
        with self._lock:
            while mail.kind == "part" and len(self._mails) >= _MOST_PARTS and not mail.control.is_canceled:
                self._lock.wait(_REPORT_MS / 1000)
            if mail.kind == "progress" and self._mails and self._mails[-1].kind == "progress":
                self._mails[-1] = mail
                return
            self._mails.append(mail)
            if self._is_rung:
                return
            self._is_rung = True
        self.rung.emit()

    def take(self, *, even_progress: bool) -> list[_Mail]:
        """Return all mails; none if there is only progress and that can wait."""
        with self._lock:
            self._is_rung = False
            if not even_progress and all(mail.kind == "progress" for mail in self._mails):
                return []
            mails, self._mails = self._mails, []
            self._lock.notify()
            return mails


class Task(QObject):
    """Answers one kind of request: `work` is called with it in the thread; a generator yields parts of the answer.

    `failure` is said if it fails with anything but a `StudioError`. With `in_child`, which may depend on the request,
    it is called in a child process: pure Python that takes more than a few milliseconds, or other people's libraries;
    what cannot be sent there is called here. Several tasks may share one `thread`.
    """

    changed = Signal()  # any of the attributes
    progressed = Signal(object)  # the newest progress, never many in a short time
    part_ready = Signal(object)  # each part of an answer, none left out
    finished = Signal(object)  # the answer to the latest request
    failed = Signal(object)

    def __init__(
        self, work: Callable[..., Any], failure: str, parent: QObject | None = None, *,
        in_child: bool | Callable[..., bool] = False, keeps_child: bool = False, debounce_ms: int = 0,
        thread: ThreadPoolExecutor | None = None, on_part: Slot | None = None, on_answer: Slot | None = None,
        on_error: Slot | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        for signal, slot in ((self.part_ready, on_part), (self.finished, on_answer), (self.failed, on_error)):
            if slot is not None:
                signal.connect(slot)
        self._work, self._failure = work, failure
        self._in_child, self._keeps_child = in_child, keeps_child
        self.child: Child | None = None  # used only in the thread
        self._thread = thread or ThreadPoolExecutor(1, getattr(work, "__qualname__", type(work).__qualname__))
        self._is_closed = False
        self._control = Control()
        self._mailbox = _Mailbox()
        self._mailbox.rung.connect(self._take_mails)
        self._report_timer = single_shot(self, self._take_mails, _REPORT_MS)
        self._debounce_ms = debounce_ms
        self._debounce_timer = single_shot(self, self._begin)
        self.request: tuple[Any, ...] | None = None  # the latest
        self.is_running = False
        self.answer: Any = None  # the last one, and its request
        self.answered: tuple[Any, ...] | None = None
        self.progress: Any = None  # of the latest request
        self.error: StudioError | None = None
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.close)

    def ask(self, *request: Any, at_once: bool = False) -> None:
        """Find the answer to a request, unless it was the last one, or its answer is still there.

        Not before a moment has passed without another request, except `at_once`.
        """
        if _same(request, self.request):
            return
        self._cancel()
        self.request = request
        if not _same(request, self.answered):
            self.is_running = True
            self._debounce_timer.start(0 if at_once else self._debounce_ms)
        self.changed.emit()

    def run(self, *request: Any) -> None:
        """Find the answer to a request at once, even if there is one."""
        self._cancel()
        self.request, self.is_running = request, True
        self._begin()
        self.changed.emit()

    def stop(self) -> None:
        """Forget the latest request; nothing more is reported of it."""
        self._cancel()
        if self.request is not None:  # else nothing changes: who is told of it may stop it again
            self.request = None
            self.changed.emit()

    def forget(self) -> tuple[Any, ...]:
        """Stop, and keep neither the answer nor the request in memory; return the latter."""
        self._cancel()
        request, self.request, self.answer, self.answered = self.request, None, None, None
        return request or ()

    def pause(self) -> None:
        self._control.set("paused")

    def resume(self) -> None:
        self._control.set("running")

    def finish(self) -> None:
        """Let work that has begun, and has `should_stop`, end now, and answer with what there is."""
        self._control.set("stopped")

    def close(self) -> None:
        self._is_closed = True
        self._cancel()
        self._report_timer.stop()
        self._thread.shutdown()
        self._end_child()

    def _cancel(self) -> None:
        self._debounce_timer.stop()
        self._control.set("canceled")
        self.is_running, self.progress, self.error = False, None, None

    def _begin(self) -> None:
        if self._is_closed or self.request is None:
            self.is_running = False
            return
        self._control = Control()
        self._thread.submit(self._do, self.request, self._control)

    def _do(self, request: tuple[Any, ...], control: Control) -> None:
        if control.is_canceled:
            return
        put = self._mailbox.put
        try:
            parts = self._parts(request, control)
            while True:
                put(_Mail(control, "part", next(parts)))
        except StopIteration as end:
            put(_Mail(control, "answer", end.value))
        except Stopped:
            pass
        except Exception as error:
            if not control.is_canceled:
                put(_Mail(control, "error", as_studio_error(error, self._failure)))

    def _parts(self, request: tuple[Any, ...], control: Control) -> Generator[Any, None, Any]:
        def report(*progress: Any) -> None:
            content = progress[0] if len(progress) == 1 else progress
            self._mailbox.put(_Mail(control, "progress", content))

        if self._in_child(*request) if callable(self._in_child) else self._in_child:
            if self.child is None or self.child.is_dead:
                self._end_child()
                self.child = Child(self._failure, low_priority=True)
            try:
                return (yield from self.child.parts(self._work, *request, progress=report, should_stop=control))
            except CannotSend as error:
                _log.info("%s: called here, since it cannot be sent: %s", self._failure, error)
            finally:
                if self.child.is_dead or not self._keeps_child:
                    self._end_child()
        own = {"progress": report, "should_stop": control}
        found = self._work(*request, **{name: value for name, value in own.items() if takes(self._work, name)})
        return (yield from found) if isinstance(found, Generator) else found

    def _end_child(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            child.end()

    def _take_mails(self) -> None:
        for control, kind, content in self._mailbox.take(even_progress=not self._report_timer.isActive()):
            if control is not self._control or control.is_canceled:
                continue
            if kind == "part":
                self.part_ready.emit(content)
            elif kind == "progress":
                self._report_timer.start()  # until it ends, no other progress is delivered, unless the work ends
                self.progress = content
                self.progressed.emit(content)
                self.changed.emit()
            else:
                self._end(kind, content)

    def _end(self, kind: str, content: Any) -> None:
        self.is_running, self.progress = False, None
        if kind == "answer":
            self.answer, self.answered = content, self.request
            self.finished.emit(content)
        else:
            self.error = content
            self.failed.emit(content)
        self.changed.emit()


def _same(one: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> bool:
    if one is None or other is None or len(one) != len(other):
        return False
    return all(mine is its or mine == its for mine, its in zip(one, other, strict=True))


def as_studio_error(error: Exception, failure: str) -> StudioError:
    """Return an error that says that something failed, and why; anything but a `StudioError` is also logged."""
    if isinstance(error, StudioError):
        return error
    _log.error("%s", failure, exc_info=error)
    if isinstance(error, MemoryError):
        return StudioError(failure, "There is not enough memory. Close other programs, or use a smaller corpus.")
    advice = "This is a bug in WordPiece Studio ({kind}: {message}); the log has the details."
    return StudioError(failure, advice, kind=type(error).__name__, message=error)


_TURN_SECONDS = 0.001
_PAUSE_SECONDS = 0.0001


class Turn:
    """Gives the window its turn from a thread that runs Python code.

    Otherwise each of Qt's hundred calls to a model per repaint would wait 5 ms for the interpreter lock.
    """

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def give(self) -> None:
        """Sleep briefly if a millisecond has passed since the last time; calling it often is cheap."""
        if time.perf_counter() - self._last > _TURN_SECONDS:
            time.sleep(_PAUSE_SECONDS)
            self._last = time.perf_counter()


_FREED_AT_ONCE, _FREED_SLICE, _FREEING_PAUSE_SECONDS = 300_000, 20_000, 0.002


def free_words_slowly(counts: WordCounts) -> None:
    """Have the words freed little by little once no one needs the counts: all at once would stall the window."""
    if len(counts) > _FREED_AT_ONCE:
        weakref.finalize(counts, _start_freeing, counts.words).atexit = False


def _start_freeing(words: list[str]) -> None:
    # A copy, since the list itself may still be in use; it costs a hundredth of freeing the words.
    threading.Thread(target=_free, args=(words.copy(),), daemon=True).start()


def _free(words: list[str]) -> None:
    while words:
        del words[-_FREED_SLICE:]
        time.sleep(_FREEING_PAUSE_SECONDS)
