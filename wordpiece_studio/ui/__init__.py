"""The window: shows the model and gives it commands; holds no algorithm."""

import sys

import PySide6.QtCore  # noqa: F401  # before all else of the window

if support := sys.modules.get("shibokensupport.feature"):
    # PySide would read the source of every module, whether it may use its "features": a tenth of the start.
    vars(support).update(_mod_uses_pyside=lambda _module: True)
