"""Forged projects: every hash is right, and something in them is not what a program of ours would have saved.

A valid project is taken apart into records and parts, one to three things are changed, and it is put together again.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.storage.project.making import course_project, library_run_of, origin_of, run_of, settings_of
from wordpiece_studio.storage.project.container import (
    PROGRAM,
    ROOT,
    TEXT,
    Container,
    Image,
    array_part,
    text_part,
    trailer,
)
from wordpiece_studio.storage.project.project_file import save_project
from wordpiece_studio.storage.view import Bookmark, Breakpoint, Selection, View
from wordpiece_studio.training.config import TrainingConfig

if TYPE_CHECKING:
    import random

    from numpy.typing import NDArray

    from wordpiece_studio.storage.project.contents import Project

_FLOATS = (float("inf"), float("-inf"), float("nan"), 1e308, -1e308, 0.0, -1.0, 1e-320)
_INTS = (0, 1, -1, 2, 127, 255, 65_536, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, -(2**63))
_TEXTS = (
    "", "#", "##", "###", " ", "\n", "\t", "\0", "\ud800", "\ufeff", "\u2028", "\u202e", "\u0301", "🤗", "한국어",
    "<img src=x>", "&amp;", "{0} {name} %s", "(((", "(x+x+)+y", ".*", "hugs", "##gs", "[UNK]", "x" * 300,
    "x" * 100_000, "hug " * 20_000, "\u0301" * 5_000, "a\n" * 20_000,
)  # fmt: skip
_VALUES: tuple[Any, ...] = (None, True, False, [], {}, [1], {"a": 1}, "null", 10**30, -(10**30), 10**400)
_HUGE = (4_000_000, 18_000_000)  # characters
_LIVE = "view/watched_text"


@dataclass
class Parts:
    """A project taken apart: records as JSON values, texts, and arrays, by name."""

    records: dict[str, Any]
    texts: dict[str, str]
    arrays: dict[str, NDArray[Any]]

    def sealed(self) -> bytes:
        """Return the file."""
        with closing(Image()) as image:
            for name, text in self.texts.items():
                image.add(text_part(name, text))
            for name, values in self.arrays.items():
                image.add(array_part(name, values))
            meta = {name: json.dumps(value) for name, value in self.records.items()}
            database = image.finished({**meta, PROGRAM: "a forger"}, [])
        return database + trailer(database)


@cache
def _seeds() -> tuple[bytes, ...]:
    words = [("".join(word), 1 + number % 7) for number, word in enumerate((a, b, c) for a in "abcd" for b in "xyz"
                                                                          for c in ("ab", "y", "zz"))]  # fmt: skip
    selections = (Selection("word", text="hugs"), Selection("pair", left="##u", right="##g"), None)
    views = [
        View(
            step=2,
            selection=selection,
            live_text="hugs bugs",
            notes=(Bookmark(1, "the first", "##gs", 0),),
            breakpoints=(Breakpoint("word", "hugs"), Breakpoint("value", number=0.1)),
        )
        for selection in selections
    ]
    byte_pairs = TrainingConfig(objective="count", continuing_subword_prefix="", end_of_word_suffix="</w>")
    projects: list[Project] = [
        course_project(),
        course_project(run=None, counts=run_of().counts),
        *(replace(course_project(), view=view) for view in views),
        replace(course_project("text\r\n" * 300, run=run_of(words, objective="likelihood")), view=views[0]),
        replace(course_project(run=run_of(words, **byte_pairs.to_dict())), settings=settings_of(byte_pairs)),
        replace(course_project(run=library_run_of(is_of_corpus=True)), view=views[0]),
        course_project(run=library_run_of(origin=origin_of(text="hug pug")), others=(run_of(),)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        path, found = Path(folder) / "p.wpstudio", []
        for project in projects:
            save_project(path, project)
            found.append(path.read_bytes())
    return tuple(found)


@cache
def _containers() -> tuple[Container, ...]:
    from wordpiece_studio.storage.project.container import TRAILER_BYTES

    return tuple(Container("seed.wpstudio", seed[:-TRAILER_BYTES]) for seed in _seeds())


def _taken_apart(container: Container) -> Parts:
    kinds = {name: part.kind for name, part in container.parts.items()}
    return Parts(
        {name: json.loads(text) for name, text in container.meta.items() if name not in (ROOT, PROGRAM)},
        {name: container.text(name) for name, kind in kinds.items() if kind == TEXT},
        {name: container.array(name, "ifb") for name, kind in kinds.items() if kind != TEXT},
    )


def forged(random: random.Random, *, huge: bool = False) -> tuple[bytes, list[str]]:
    """Return a forged project, and what was changed; `huge`: its live text is."""
    parts = _taken_apart(random.choice(_containers()))
    if huge:
        piece = random.choice(("a", "a ", "a\n", "hug ", "\u0301", "\ufeff", "#"))
        size = random.choice(_HUGE)
        parts.texts[_LIVE] = piece * (size // len(piece))
        return parts.sealed(), [f"{_LIVE}: {size:,} characters of {piece!r}"]
    changes = [
        random.choice((_array, _array, _list, _record, _record, _view, _text))
        for _ in range(random.choice((1, 1, 2, 3)))
    ]
    done = [change(random, parts) for change in changes]
    return parts.sealed(), done


# Each changes something and says what.


def _array(random: random.Random, parts: Parts) -> str:
    if not parts.arrays:
        return _text(random, parts)
    name = random.choice(sorted(parts.arrays))
    values = parts.arrays[name]
    how = random.choice(
        ("value", "value", "value", "nudge", "nudge", "shuffle", "cut", "double", "more", "other", "same")
    )
    if how in ("value", "nudge", "same") and not len(values):
        how = "more"
    index = random.randrange(max(1, len(values)))
    if how == "value":
        values = _with(values, index, random.choice(_FLOATS if values.dtype.kind == "f" else _INTS))
    elif how == "nudge":
        values = _with(values, index, values[index] + random.choice((-1, 1)))
    elif how == "shuffle":
        values = values[random.sample(range(len(values)), len(values))]
    elif how == "cut":
        values = values[: random.randrange(len(values) + 1)]
    elif how == "double":
        values = np.concatenate((values, values))
    elif how == "more":
        values = np.append(values, np.array([random.choice((0, 1, 5))], dtype=values.dtype))
    elif how == "same":
        values = np.full_like(values, values[index])
    else:
        values = parts.arrays[random.choice(sorted(parts.arrays))]
    parts.arrays[name] = values
    return f"{name}: {how} at {index}"


def _with(values: NDArray[Any], index: int, value: Any) -> NDArray[Any]:
    values = values.astype(np.int64) if values.dtype.kind == "i" else values.copy()
    values[index] = bool(value) if values.dtype.kind == "b" else value
    return values


def _list(random: random.Random, parts: Parts) -> str:
    """Change the tokens or the words."""
    names = [name for name in parts.texts if name.endswith(("tokens/text", "words/text"))]
    if not names:
        return _record(random, parts)
    name = random.choice(names)
    strings = parts.texts[name].split("\n")[:-1] or [""]
    index, other = random.randrange(len(strings)), random.randrange(len(strings))
    how = random.choice(("text", "text", "swap", "drop", "double", "bare", "prefix", "letter", "shuffle"))
    if how == "text":
        strings[index] = random.choice(_TEXTS)
    elif how == "swap":
        strings[index], strings[other] = strings[other], strings[index]
    elif how == "drop":
        del strings[index]
    elif how == "double":
        strings[index] = strings[other]
    elif how == "bare":
        strings[index] = strings[index].removeprefix("##")
    elif how == "prefix":
        strings[index] = strings[index][: random.randrange(4)]
    elif how == "letter":
        strings[index] += random.choice(("a", "##", "\u0301", "\0"))
    else:
        random.shuffle(strings)
    parts.texts[name] = "".join(f"{text}\n" for text in strings)
    return f"{name}: {how} at {index}"


def _record(random: random.Random, parts: Parts) -> str:
    """Change a value anywhere in a record, or in a part that holds JSON."""
    texts = [name for name in parts.texts if name.endswith("/statistics") and _is_json(parts.texts[name])]
    name = random.choice([*sorted(parts.records), *texts])
    record = {name: json.loads(parts.texts[name]) if name in texts else parts.records[name]}
    holder, key = random.choice([place for place in _places(record) if place[0] is not record] or [(record, name)])
    old = holder[key]
    how = random.choice(("value", "value", "number", "number", "text", "drop", "more"))
    if how == "number" and isinstance(old, (int, float)):
        holder[key] = random.choice((old + 1, old - 1, -old, *_INTS, *_FLOATS))
    elif how == "text" and isinstance(old, str):
        holder[key] = random.choice(_TEXTS)
    elif how == "drop":
        del holder[key]
    elif how == "more" and isinstance(old, list):
        holder[key] = old * random.choice((2, 300)) if old else [random.choice(_TEXTS)] * 3
    else:
        holder[key] = random.choice((*_VALUES, *_INTS, *_FLOATS, *_TEXTS))
    if name not in record:  # it is dropped itself
        del (parts.texts if name in texts else parts.records)[name]
    elif name in texts:
        parts.texts[name] = json.dumps(record[name])
    else:
        parts.records[name] = record[name]
    return f"{name}: {how} at {key!r}"


def _is_json(text: str) -> bool:
    """Tell whether a text is still JSON, after what was done to it."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return all places in a JSON value: what holds them, and the key or index."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    found: list[tuple[Any, Any]] = []
    for key in keys:
        found += [(value, key), *_places(value[key])]
    return found


def _view(random: random.Random, parts: Parts) -> str:
    """Select and mark things that may not be there."""
    view, steps = parts.records["view"], (0, 1, 3, 8, 9, 10, 100, 2**31 - 1, 2**31)
    what = random.choice(("step", "selection", "selection", "breakpoints", "notes"))
    if what == "step":
        view["step"] = random.choice(steps)
    elif what == "selection":
        texts = {key: random.choice(_TEXTS) for key in ("left", "right", "text")}
        view["selection"] = {"kind": random.choice(("pair", "token", "word")), **texts}
    elif what == "breakpoints":
        kinds = ("token", "pattern", "word", "value", "tie", "size")
        view["breakpoints"] = [
            {"kind": random.choice(kinds), "text": random.choice(_TEXTS), "number": random.choice((*_FLOATS, *_INTS))}
            for _ in range(random.choice((1, 3, 200)))
        ]
    else:
        notes = [{"step": random.choice(steps), "text": random.choice(_TEXTS), "token": random.choice(_TEXTS),
                  "run": random.choice((None, *steps))}]  # fmt: skip
        view["notes"] = notes * random.choice((1, 300))
    return f"view: {what}"


def _text(random: random.Random, parts: Parts) -> str:
    """Change the live text, the corpus or any other text."""
    name = random.choice([*parts.texts, _LIVE, "corpus/text"])
    text = parts.texts.get(name, "")
    start = random.randrange(len(text) + 1)
    parts.texts[name] = random.choice((
        random.choice(_TEXTS), text[:start], text * 3, text[:start] + random.choice(_TEXTS) + text[start:],
    ))  # fmt: skip
    return f"{name}: other text"
