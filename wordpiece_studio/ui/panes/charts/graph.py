"""pyqtgraph, brought in when the first chart is shown: that takes a fifth of a second, which is no part of the start.

It is the only place that imports it, so that no other module of the program brings it in by accident.
"""

from __future__ import annotations

from typing import Any

import pyqtgraph

graph: Any = pyqtgraph
"""The module; it brings no types with it."""
