"""The thread that the engine lives in, seen from the window: commands go in, the worker's signals come out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal

from wordpiece_studio.session.training_job import TrainingWorker
from wordpiece_studio.session.training_messages import CandidatesRequest, Wishes

if TYPE_CHECKING:
    from wordpiece_studio.session.training_job import TrainerFactory
    from wordpiece_studio.session.training_messages import (
        ContinueRequest,
        OpenRequest,
        ReplaceRequest,
        StartRequest,
        StepRequest,
    )
    from wordpiece_studio.training.history import MergeHistory


class TrainingThread(QObject):
    """Sends requests to a `TrainingWorker` in a thread of its own, in the order in which they are made.

    Connect only bound methods of QObjects that live in the window's thread to the signals of `worker`: anything else
    would run in the worker's thread.
    """

    _start_requested = Signal(object)
    _open_requested = Signal(object)
    _replace_requested = Signal(object)
    _continue_requested = Signal(object)
    _step_requested = Signal(object)
    _candidates_requested = Signal(object)

    def __init__(self, trainer_factory: TrainerFactory, parent: QObject) -> None:
        super().__init__(parent)
        self._wishes = Wishes()
        self._thread: QThread | None = QThread()
        self._thread.setObjectName("training")
        self.worker = TrainingWorker(trainer_factory, self._wishes)
        self.worker.moveToThread(self._thread)
        self._start_requested.connect(self.worker.start)
        self._open_requested.connect(self.worker.open)
        self._replace_requested.connect(self.worker.replace)
        self._continue_requested.connect(self.worker.carry_on)
        self._step_requested.connect(self.worker.step)
        self._candidates_requested.connect(self.worker.find_candidates)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether there is no thread any more."""
        return self._thread is None

    @property
    def newest_serial(self) -> int:
        """The number of the latest request for candidates that is still wanted."""
        return self._wishes.candidates

    def start(self, request: StartRequest) -> None:
        """Have a new trainer built."""
        self.drop_candidates()
        self._start_requested.emit(request)

    def open(self, request: OpenRequest) -> None:
        """Have a run taken that was learned before."""
        self.drop_candidates()
        self._open_requested.emit(request)

    def replace(self, request: ReplaceRequest) -> None:
        """Have a run trained beside the one that is shown."""
        self._replace_requested.emit(request)

    def carry_on(self, request: ContinueRequest) -> None:
        """Have the training go on."""
        self.drop_candidates()
        self._continue_requested.emit(request)

    def step(self, request: StepRequest) -> None:
        """Have one more merge learned."""
        self.drop_candidates()
        self._step_requested.emit(request)

    def find_candidates(self, run: int, history: MergeHistory, step: int, limit: int) -> None:
        """Have the best pairs named; the requests before are void."""
        self.drop_candidates()
        self._candidates_requested.emit(CandidatesRequest(run, history, self._wishes.candidates, step, limit))

    def drop_candidates(self) -> None:
        """Have no one wait for candidates any more; the worker comes away from them at once."""
        self._wishes.candidates += 1

    def close(self) -> None:
        """End the thread and wait for it; what runs must have been told to stop."""
        self.drop_candidates()
        self._wishes.is_closed = True
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.quit()
            thread.wait()
