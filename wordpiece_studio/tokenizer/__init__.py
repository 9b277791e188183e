"""Text to tokens and ids with a given vocabulary: longest match, its trace, and whole corpora.

What is wrong with a user's input, a file or the machine is raised as a `StudioError`, which says what to do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What reads and writes the files of a `Tokenizer`, and of any other: it lies above this room, and the face of the
# library sets it.
load: Callable[..., Any]
load_any: Callable[..., Any]
save: Callable[..., Any]
as_json: Callable[..., bytes]
