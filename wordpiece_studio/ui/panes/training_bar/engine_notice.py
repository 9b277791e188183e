"""What the training bar says of the fast engine: that it is being prepared, once on a machine, and that it is ready."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

_READY_MS = 4000


class EngineNotice(QObject):
    """Turns the status of the warm-up into words; where the engine was there already it says nothing."""

    changed = Signal()
    """There is something else to say."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._forms: tuple[str, ...] = ()
        self._is_preparing = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_READY_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def take_status(self, status: str) -> None:
        """Note the status of the warm-up: "compiling", "loading", "ready" or "failed"."""
        if status == "compiling":
            self._is_preparing = True
            whole = self.tr("Preparing the fast engine (only at the first start)…")
            self._say(whole, self.tr("Preparing the fast engine…"))
        elif self._is_preparing and status != "loading":
            self._is_preparing = False
            if status == "ready":
                self._say(self.tr("The fast engine is ready"))
                self._timer.start()
            else:
                self._say()

    @property
    def waiting_words(self) -> str:
        """What is said of a training that has not begun yet."""
        return self._forms[-1] if self._is_preparing else self.tr("Getting ready…")

    def beside(self, *forms: str) -> tuple[str, ...]:
        """Return a text, given whole and then in shorter forms, with what there is to say of the engine before it."""
        if not self._forms:
            return forms
        both = (" · ".join(filter(None, (said, form))) for said in self._forms for form in forms)
        return tuple(dict.fromkeys((*both, *self._forms)))

    def _say(self, *forms: str) -> None:
        self._timer.stop()
        self._forms = forms
        self.changed.emit()

    def _on_timer_timeout(self) -> None:
        self._say()
