"""Makes the pictures of the README from the real window: ``python -m tests.end_to_end.pictures``."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication

from tests.event_loop import wait
from wordpiece_studio.model.records import TrainerState
from wordpiece_studio.model.settings import SettingsStore
from wordpiece_studio.ui.look.theme import Theme
from wordpiece_studio.ui.main_window import MainWindow

FOLDER = Path(__file__).parents[2] / "resources" / "pictures"


def picture(name: str, sample: str, moment: int, *, dark: bool) -> None:
    """Train a sample, go to a moment and save what the window shows."""
    with tempfile.TemporaryDirectory() as folder:
        theme = Theme("dark" if dark else "light")
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        theme.apply_to(application)
        window = MainWindow(SettingsStore(Path(folder)), theme)
        window.open_first()
        window.resize(1440, 900)
        window.show()
        wait(lambda: window.model.state is TrainerState.FINISHED)
        if sample:
            window.sample_flow.open_sample(sample)
            wait(lambda: window.model.state is TrainerState.FINISHED and window.counting.counts is not None)
        window.model.seek(moment)
        settled = time.monotonic() + 1.0  # the panes follow at their own pace
        wait(lambda: time.monotonic() > settled)
        FOLDER.mkdir(exist_ok=True)
        window.grab().save(str(FOLDER / f"{name}.png"))
        window.leave_at_once()
        window.deleteLater()
        wait(lambda: True)


def main() -> None:
    """Make them all."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    picture("window-light", "", 12, dark=False)
    picture("window-dark", "korean.txt", 20, dark=True)
    application.quit()


if __name__ == "__main__":
    main()
