"""What of a project is another than it was when it was kept last, as records of the journal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from wordpiece_studio.session.recovery.about import to_json
from wordpiece_studio.session.recovery.journal import LIVE_TEXT, SETTINGS, VIEW

if TYPE_CHECKING:
    from wordpiece_studio.session.recovery.journal import Record
    from wordpiece_studio.storage.project.contents import Project, ProjectCorpus


def changed_parts(before: Project, now: Project) -> tuple[Record, ...]:
    """Return what is another but text and training."""
    parts = []
    if now.settings != before.settings:
        parts.append((SETTINGS, to_json(now.settings)))
    if now.view.live_text != before.view.live_text:
        parts.append((LIVE_TEXT, now.view.live_text.encode("utf-8", "surrogatepass")))
    seen, seen_before = (msgspec.structs.replace(project.view, live_text="") for project in (now, before))
    if seen != seen_before:
        parts.append((VIEW, to_json(seen)))
    return tuple(parts)


def follows(before: ProjectCorpus, now: ProjectCorpus, text: str | None) -> bool:
    """Tell whether nothing of the corpus is another but its text, and that is `text`."""
    return now.text == text and _without_text(before) == _without_text(now)


def _without_text(corpus: ProjectCorpus) -> ProjectCorpus:
    return replace(corpus, text=None, is_edited=False)
