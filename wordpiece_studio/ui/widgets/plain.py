"""Text from outside, shown as it is: a token ``<img src=…>`` must be seen, not obeyed.

Qt's labels and tooltips read a string that looks like HTML as HTML, fetch its images and lose its tags. Every label and
tooltip of this program is made here. Buttons, line edits, combo boxes and item views' cells are plain by themselves;
item views' *tooltips* are not: give them :func:`tooltip_text`.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from wordpiece_studio.ui.widgets.exact_text import whole

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

_LONGEST_TOOLTIP = 2000
_LONGEST_LABEL = 20_000


def plain_label(text: str = "", parent: QWidget | None = None, *, role: str = "", wrap: bool = False) -> QLabel:
    """Return a label that shows `text` as it is.

    Parameters
    ----------
    role
        How the style sheet draws it: ``"title"``, ``"hint"``, ``"caption"``, ``"heading"``, ``"value"``, ``"error"``
        or nothing.
    wrap
        Whether it breaks its lines at the width it is given.
    """
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    if role:
        label.setProperty("role", role)
    set_plain_text(label, text)
    return label


def set_plain_text(label: QLabel, text: str) -> None:
    """Show `text` in `label` as it is, cut after 20,000 characters (a longer one would hold up the window)."""
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(whole(shown(text, _LONGEST_LABEL)))


def set_plain_tooltip(target: QWidget | QAction, text: str) -> None:
    """Give `target` a tooltip that shows `text` as it is."""
    target.setToolTip(tooltip_text(text))


def tooltip_text(text: str) -> str:
    """Return the HTML that a tooltip shows as exactly `text`; for ``ToolTipRole`` and ``setToolTip``.

    >>> tooltip_text("a<b>c")
    '<span style="white-space:pre-wrap">a&lt;b&gt;c</span>'
    """
    if not text:
        return ""
    return f'<span style="white-space:pre-wrap">{escape(shown(text, _LONGEST_TOOLTIP), quote=False)}</span>'


def set_role(widget: QWidget, role: str) -> None:
    """Let the style sheet draw `widget` as a ``"primary"`` button, or as what else it has a role for."""
    widget.setProperty("role", role)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def menu_text(text: str) -> str:
    """Return `text` for a menu, a tab or a button, where a lone ``&`` would mark a shortcut letter."""
    return shown(text, 200).replace("&", "&&")


def shown(text: str, limit: int) -> str:
    """Return `text` as Qt can show it: at most `limit` characters, and no half of a surrogate pair."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return cut.encode("utf-8", "replace").decode("utf-8") if _has_surrogate(cut) else cut


def _has_surrogate(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)
