"""Projects to save, and project files forged so that their hashes are right and their content is not."""

from __future__ import annotations

import gzip
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.libraries.library_training import LibraryHistory, LibraryRun, Repetition
from wordpiece_studio.libraries.training_child import Learned
from wordpiece_studio.storage.project.container import (
    CODEC,
    ROOT,
    TRAILER_BYTES,
    Part,
    SourceRow,
    chunk_hash,
    damaged,
    part_hash,
    root_hash,
    trailer,
)
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run, RunOrigin
from wordpiece_studio.storage.project.project_file import open_project
from wordpiece_studio.storage.view import Bookmark, Selection, View
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence


VERSIONS = tuple(f"1.{minor}" for minor in range(1, 6))


def project_of_its_time(version: str, folder: Path) -> Path:
    """Write the project that a program with this format saved, see `projects/README.md`, and return its path."""
    path = folder / f"{version}.wpstudio"
    path.write_bytes(gzip.decompress((Path(__file__).parent / "projects" / f"{path.name}.gz").read_bytes()))
    return path


def open_whole(path: str | os.PathLike[str]) -> Project:
    """Return a project; raise what is said of the first part of it that is damaged, if any is."""
    project = open_project(path)
    project.check_whole()
    return project


def check_project(path: str | os.PathLike[str]) -> None:
    """Check a whole project: every byte, every record and part, and their consistency."""
    project = open_whole(path)  # more specific about what is wrong than the bytes
    if project.counts is not None:
        _ = project.counts.words
    for run in project.runs:
        _ = run.counts.words
        if run.history.has_steps:  # else its library would have to cut the words again
            _ = run.history.places
    check_every_byte(path)


def check_every_byte(path: str | os.PathLike[str]) -> None:
    """Check a project against the hash at its end."""
    data = Path(path).read_bytes()
    if data[-TRAILER_BYTES:] != trailer(data[:-TRAILER_BYTES]):
        raise damaged(path, "{path} is damaged: its bytes differ from those that were saved")


COURSE = [("hug", 10), ("pug", 5), ("pun", 12), ("bun", 4), ("hugs", 5)]


def settings_of(config: TrainingConfig | None = None, **others: Any) -> ProjectSettings:
    counts = WordCounts.from_pairs(COURSE)
    return ProjectSettings(
        training=(config or TrainingConfig(objective="score")).to_dict(),
        normalizer=normalizers.to_spec(counts.normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(counts.pre_tokenizer),
        **others,
    )


def run_of(pairs: Sequence[tuple[str, int]] = COURSE, **settings: Any) -> Run:
    config = TrainingConfig(**{"objective": "score", **settings})
    run = train(WordCounts.from_pairs(pairs), config, engine="plain")
    return Run(run.counts, run.config, run.history, stop_reason=run.stop_reason, origin=origin_of())


def origin_of(name: str = "", text: str | None = None) -> RunOrigin:
    """Return that of a run that the user asked for; the corpus is a text, or not known any more."""
    return RunOrigin(True, name, corpus=None if text is None else ProjectCorpus(name=name, text=text))


def library_run_of(number: int = 1, **others: Any) -> Run:
    """Return a run like one that a library has trained on the words of the course."""
    tokens = ("[UNK]", *"hugpnbs", "hug", "un")
    learned = Learned("0.22", tokens, tuple(0.25 * number - 5 for number in range(len(tokens))))
    unknown = {"id": 0, "content": "[UNK]", "special": True} | dict.fromkeys(
        ("single_word", "lstrip", "rstrip", "normalized"), False
    )
    model = {"type": "Unigram", "unk_id": 0, "vocab": list(zip(tokens, learned.scores or (), strict=True))}
    content = json.dumps({"version": "1.0", "added_tokens": [unknown], "model": model}).encode()
    config = TrainingConfig(vocab_size=10, special_tokens=["[UNK]"], objective="count", continuing_subword_prefix="")
    counts = WordCounts.from_pairs(COURSE)
    library_run = LibraryRun("tokenizers-unigram", config, counts, learned, content, Repetition(2, 1, 0))
    history = LibraryHistory(library_run, counts, symbols=67)
    others = {"origin": origin_of(), **others}
    return Run(counts, config, history, stop_reason="peer", number=number, library_run=library_run, **others)


def course_project(text: str = "hug pug pun bun hugs\n", **fields: Any) -> Project:
    """Return a project; `run`: the one that is shown, None for no run, in place of `run_of()`; `others`: the others."""
    run, others = fields.pop("run", run_of()), fields.pop("others", ())
    view = View(
        step=3,
        selection=Selection("token", text="##gs"),
        live_text="hugs bugs",
        notes=(Bookmark(1, "the first", "##gs", 0, owner=0),),
    )
    return Project(
        settings=settings_of(),
        corpus=ProjectCorpus(name="course", text=text),
        view=view,
        runs=() if run is None else (run, *others),
        **fields,
    )


def forged(data: bytes, change: Callable[[sqlite3.Connection], object], *, is_sealed: bool = True) -> bytes:
    """Return a project file with its database changed, and the hash at its end made right.

    `is_sealed`: whether the hashes within are made right too.
    """
    database = sqlite3.connect(":memory:", isolation_level=None)
    try:
        database.deserialize(data[:-TRAILER_BYTES])
        change(database)
        if is_sealed:
            seal(database)
        image = database.serialize()
    finally:
        database.close()
    return image + trailer(image)


def seal(database: sqlite3.Connection) -> None:
    """Make the hashes in a database right."""
    execute = database.execute
    for name, kind, n, first, chunks in execute("SELECT name, kind, n, first, chunks FROM part").fetchall():
        hashes = []
        rows = execute("SELECT id, n, data FROM chunk WHERE id >= ? AND id < ? ORDER BY id", (first, first + chunks))
        for number, (chunk, entries, data) in enumerate(rows.fetchall()):
            hashes.append(chunk_hash(name, kind, number, entries, data))
            execute("UPDATE chunk SET hash = ? WHERE id = ?", (hashes[-1], chunk))
        execute("UPDATE part SET hash = ? WHERE name = ?", (part_hash(name, kind, n, hashes), name))
    meta = dict(execute("SELECT k, v FROM meta").fetchall())
    sources = [SourceRow(*row) for row in execute("SELECT path, absolute, relative, about FROM source ORDER BY id")]
    parts = [Part(*row) for row in execute("SELECT name, kind, n, first, chunks, hash FROM part")]
    version = execute("PRAGMA user_version").fetchone()[0]
    execute("UPDATE meta SET v = ? WHERE k = ?", (root_hash(version, meta, sources, parts), ROOT))


def put_part(database: sqlite3.Connection, name: str, raw: bytes, n: int, kind: str | None = None) -> None:
    """Replace the content of a part of one chunk, or of a new part."""
    found = database.execute("SELECT first, kind FROM part WHERE name = ?", (name,)).fetchone()
    if found is None:
        first = 1 + database.execute("SELECT count(*) FROM chunk").fetchone()[0]
        database.execute("INSERT INTO part VALUES (?, ?, ?, ?, 1, x'')", (name, kind, n, first))
    else:
        first = found[0]
        database.execute("UPDATE part SET n = ?, kind = ? WHERE name = ?", (n, kind or found[1], name))
    row = (first, n, CODEC, b"", zstandard.ZstdCompressor().compress(raw))
    database.execute("INSERT OR REPLACE INTO chunk VALUES (?, ?, ?, ?, ?)", row)
