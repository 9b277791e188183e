"""Which other pipelines to try against a finding: by name, those that change the present one least first.

Whether one mends anything is not known here: whoever found something tries them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from wordpiece_studio.text.bert_normalizer import BertNormalizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wordpiece_studio.text.pipeline import Pipeline

FRIENDLY, FRIENDLY_TOGETHER = "language-friendly", "language-friendly:keep-chinese"

_COMPOSED = {"nfd": "nfc", "nfkd": "nfkc"}


def keeping_marks(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines that leave letters whole, with their accents."""
    present = pipeline.normalizer.name
    kept = _with_steps(present, _keeping_marks)
    friendly = FRIENDLY_TOGETHER if _keeps_chinese(present) else FRIENDLY
    for name in (kept, f"{kept}+nfc", friendly):
        yield name, pipeline.pre_tokenizer.name


def composed(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines in which the two normal forms of a word become one."""
    present = pipeline.normalizer.name
    steps = _with_steps(present, lambda step: _COMPOSED.get(step, step))
    for name in ("nfc" if present == "none" else f"nfc+{present}", steps, f"{steps}+nfc"):
        yield name, pipeline.pre_tokenizer.name


def keeping_together(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines that do not make a word of each character."""
    present, cut = pipeline.normalizer.name, pipeline.pre_tokenizer.name
    kept = _with_steps(present, _keeping_chinese)
    yield from ((kept, cut), (present, "bert"), (kept, "bert"))


def cleaned(pipeline: Pipeline, characters: str) -> Iterator[tuple[str, str]]:
    """Yield pipelines that remove invisible characters."""
    present = pipeline.normalizer.name
    removing = f"remove:{characters}"
    for name in (_with_steps(present, _cleaning), removing if present == "none" else f"{removing}+{present}"):
        yield name, pipeline.pre_tokenizer.name


def cut_shorter(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """Yield pipelines that cut a text at more places."""
    yield pipeline.normalizer.name, "bert"


def _with_steps(name: str, change: Callable[[str], str]) -> str:
    """Return the name of a normalizer with each step changed; an empty one is left out."""
    steps = [change(step) for step in name.split("+")]
    return "+".join(step for step in steps if step) or "none"


def _keeping_marks(step: str) -> str:
    if step == "strip-accents":
        return ""
    bert = _bert(step)
    if bert is None:
        return _COMPOSED.get(step, step)
    strips = bert.lowercase if bert.strip_accents is None else bert.strip_accents
    return replace(bert, strip_accents=False).name if strips else step


def _keeping_chinese(step: str) -> str:
    if step == FRIENDLY:
        return FRIENDLY_TOGETHER
    bert = _bert(step)
    return step if bert is None else replace(bert, handle_chinese_chars=False).name


def _cleaning(step: str) -> str:
    bert = _bert(step)
    return step if bert is None else replace(bert, clean_text=True).name


def _keeps_chinese(name: str) -> bool:
    steps = name.split("+")
    return FRIENDLY not in steps and all(bert is None or not bert.handle_chinese_chars for bert in map(_bert, steps))


def _bert(step: str) -> BertNormalizer | None:
    try:
        return BertNormalizer.from_name(step)
    except ValueError:
        return None
