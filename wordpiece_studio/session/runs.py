"""The runs of a session, of which one is shown: a new training replaces the shown one, unless that was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from wordpiece_studio.session.run import Run
    from wordpiece_studio.session.trainer_model import TrainerModel


class Runs(QObject):
    """Follows the model, which trains and shows one run at a time.

    Signals
    -------
    changed()
        A run was added, kept or closed, or another one is shown.
    """

    changed = Signal()

    def __init__(self, model: TrainerModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._all: list[Run] = []
        model.run_reset.connect(self._on_model_run_reset)

    @property
    def all(self) -> tuple[Run, ...]:
        """The runs in the order in which they were trained."""
        return tuple(self._all)

    @property
    def current(self) -> Run | None:
        """The run shown; None if nothing has been trained yet."""
        return self._model.run

    def keep(self, run: Run) -> None:
        """Keep a run when another one is trained."""
        run.is_kept = True
        self.changed.emit()

    def show(self, run: Run, step: int = 0) -> None:
        """Show a run at a step; a training in progress is canceled, and what it has learned is its run."""
        if run is not self.current:
            self._model.open_run(run, step)

    def close(self, run: Run) -> None:
        """Remove a run; if it was shown, its neighbor is shown at its last step, or nothing."""
        place = self._all.index(run)
        self._all.remove(run)
        if run is not self.current:
            self.changed.emit()
        elif self._all:
            neighbor = self._all[min(place, len(self._all) - 1)]
            self._model.open_run(neighbor, len(neighbor.history))
        else:
            self._model.forget()

    def _on_model_run_reset(self) -> None:
        run = self._model.run
        if run is None or run not in self._all:
            self._all = [each for each in self._all if each.is_kept]
        if run is not None and run not in self._all:
            used = {each.number for each in self._all}
            run.number = next(number for number in range(len(used) + 1) if number not in used)
            self._all.append(run)
        self.changed.emit()
