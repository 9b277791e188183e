"""Unsaved work: kept while the window is open, and offered at the start after a crash, a kill or a power cut."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import platformdirs
from PySide6.QtCore import QObject, Signal

from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.background_job import BackgroundJob
from wordpiece_studio.session.recovery import recoverable_work
from wordpiece_studio.session.recovery.recovery_keeper import RecoveryKeeper
from wordpiece_studio.session.recovery.store import RecoveryStore
from wordpiece_studio.system.printable import display_name
from wordpiece_studio.ui.dialogs.recovery_dialog import RecoveryDialog
from wordpiece_studio.ui.widgets.later import later

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from wordpiece_studio.session.document import Document
    from wordpiece_studio.session.project_state import ProjectState
    from wordpiece_studio.ui.messages import Messages
    from wordpiece_studio.ui.widgets.banner import Banner

_PATIENCE_MS = 50


def recovery_folder() -> Path:
    """Return the folder in which this user's unsaved work is kept; never beside a file of the user's."""
    return platformdirs.user_state_path("wordpiece-studio", appauthor=False) / "recovery"


class RecoveryController(QObject):
    """Asks what to do with unsaved work that was found, restores it, and has new unsaved work kept from then on.

    Parameters
    ----------
    folder
        The recovery folder of the user, see `recovery_folder`.
    """

    restored = Signal()
    """The recovered work is in the window now, still unsaved."""

    def __init__(
        self, window: QWidget, document: Document, state: ProjectState, messages: Messages, banner: Banner, folder: Path
    ) -> None:
        super().__init__(window)
        self._window = window
        self._state = state
        self._messages = messages
        self._banner = banner
        self._folder = folder
        self.keeper = RecoveryKeeper(state, document, RecoveryStore(folder), self)
        self.keeper.failed.connect(self._on_keeper_failed)
        self._found: list[recoverable_work.Recoverable] = []
        self._wanted: recoverable_work.Recoverable | None = None
        self._then: Callable[[], None] | None = None
        self._dialog: RecoveryDialog | None = None
        self._job = BackgroundJob(_recover, self.tr("Restoring unsaved work"), self)
        self._job.finished.connect(self._on_job_finished)
        self._job.failed.connect(self._on_job_failed)
        self._is_closed = False

    def offer(self, then: Callable[[], None]) -> None:
        """Ask what to do with unsaved work, if any was found; call `then` unless some was restored."""
        self._then = then
        self._found = recoverable_work.find_recoverable(self._folder)
        self._ask_or_go_on()

    def close(self) -> None:
        """Stop. Whatever is still kept by then is offered at the next start."""
        if self._is_closed:
            return
        self._is_closed = True
        self._job.close()
        self.keeper.close()
        self._put_off()

    def _ask_or_go_on(self) -> None:
        if self._is_closed:
            return
        if not self._found:
            then, self._then = self._then, None
            if then is not None:
                then()
        elif not self._window.isVisible():
            later(self, _PATIENCE_MS, self._ask_or_go_on)
        else:
            self._dialog = dialog = RecoveryDialog([one.about for one in self._found], self._window)
            dialog.restore_wanted.connect(self._on_dialog_restore_wanted)
            dialog.refused.connect(self._on_dialog_refused)
            dialog.postponed.connect(self._on_dialog_postponed)
            dialog.open()

    def _put_off(self) -> None:
        """Leave everything that was found for the next start."""
        for one in [*self._found, *([self._wanted] if self._wanted is not None else [])]:
            recoverable_work.keep_for_later(one)
        self._found, self._wanted = [], None

    def _on_dialog_restore_wanted(self, number: int) -> None:
        self._wanted = self._found.pop(number)
        self._job.begin(self._wanted)

    def _on_dialog_refused(self, number: int) -> None:
        recoverable_work.remove(self._found.pop(number))
        self._ask_or_go_on()

    def _on_dialog_postponed(self) -> None:
        self._put_off()
        self._ask_or_go_on()

    def _on_job_finished(self, result: object) -> None:
        recovered = cast("recoverable_work.Recovered", result)
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        about = recovered.about
        try:
            self._state.restore(recovered.project)
        except StudioError as error:
            recoverable_work.keep_for_later(wanted)
            self._messages.show_error(error)
            self._ask_or_go_on()
            return
        is_of_file = bool(about.project_path) and not recovered.is_project_another
        self._state.set_path(Path(about.project_path) if is_of_file else None)
        self.keeper.adopt(wanted, recovered)
        self._then = None
        self._put_off()
        name = about.name or self.tr("Unnamed text")
        self._banner.show_message(self.tr("“{name}” was restored. It is still unsaved.").format(name=name))
        if recovered.is_project_another:
            words = self.tr("“{name}” was restored, but its file {path} has been changed since. That file stays as it "
                            "is: save this as another project.")  # fmt: skip
            self._banner.show_message(words.format(name=name, path=display_name(about.project_path)), "warning")
        for lost in _losses(recovered):
            self._messages.show_error(lost)
        self.restored.emit()

    def _on_job_failed(self, error: StudioError) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        aside = recoverable_work.set_aside(wanted)
        self._messages.show_error(
            StudioError(
                "The unsaved work “{name}” cannot be restored: {reason}",
                "It was set aside as {path}.",
                name=wanted.about.name,
                reason=error.what,
                path=display_name(aside),
            )
        )
        self._ask_or_go_on()

    def _on_keeper_failed(self, error: StudioError) -> None:
        self._banner.show_message(str(error), "warning")


def _losses(recovered: recoverable_work.Recovered) -> list[StudioError]:
    """Return an error for each part that could not be read."""
    losses = []
    if recovered.lost_edits is not None:
        losses.append(
            StudioError(
                "The work was restored, but the latest changes are missing: {reason}",
                "Check the last things you did.",
                reason=recovered.lost_edits.what,
            )
        )
    if recovered.lost_run is not None:
        losses.append(
            StudioError(
                "The text was restored, but not its merges: {reason}",
                "Train again.",
                reason=recovered.lost_run.what,
            )
        )
    return losses


def _recover(order: object, _stop: threading.Event, _report: Callable[[object], None]) -> object:
    return recoverable_work.recover(cast("recoverable_work.Recoverable", order))
