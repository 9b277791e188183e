"""From word counts to merges.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

save: Callable[..., None]
load: Callable[..., Any]
"""What writes and reads the file of a `TrainingRun`: it lies above this room, and the face of the library sets it."""
