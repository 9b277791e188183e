"""Panes that show token usage, with everything they need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.session.task import Task
from wordpiece_studio.session.token_usage import TokenUsage

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tests.ui.panes.conftest import Bench


class Looking:
    """The usage figures of a bench's model, for its panes."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.usage = TokenUsage(bench.model)

    def show(self, pane_class: Callable[..., Any], width: int = 560, height: int = 500) -> Any:
        """Show a pane and wait until the figures are known, if any are expected."""
        pane = self.bench.show(lambda model, theme: pane_class(model, self.usage, theme), width=width, height=height)
        self.settle()
        return pane

    def settle(self) -> None:
        """Wait for figures and words, and let the panes refresh."""
        self.bench.wait(self._is_at_rest)

    def _is_at_rest(self) -> bool:
        is_known = self.bench.model.history is None or self.usage.is_current
        is_refreshed = not any(pane.refresh_timer.isActive() for pane in self.bench.panes)
        are_searching = any(task.is_running for pane in self.bench.panes for task in pane.findChildren(Task))
        return is_known and is_refreshed and not are_searching

    def close(self) -> None:
        """Stop running jobs."""
        self.usage.task.close()
        for pane in self.bench.panes:
            if hasattr(pane, "close_jobs"):
                pane.close_jobs()
