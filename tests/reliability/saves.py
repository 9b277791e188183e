"""The saves of every format, each over a good older file: what the kill and the fault harness try to break.

Each writes one of two contents, and can tell from the files alone, by the real reader, which of them is there. Core
formats only need the core; what needs pyarrow, or Qt, is left out where it is missing.
"""

from __future__ import annotations

import importlib.util
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from wordpiece_studio.corpus.count_tables import write_word_counts
from wordpiece_studio.corpus.counting.counting import read_word_counts
from wordpiece_studio.corpus.counts import WordCounts
from wordpiece_studio.errors import StudioError
from wordpiece_studio.session.settings import FILE_NAME, SettingsStore
from wordpiece_studio.storage.merge_table import read_merge_table, write_merge_table
from wordpiece_studio.storage.project.contents import RunOrigin
from wordpiece_studio.storage.tokenizer_directory import save_directory
from wordpiece_studio.storage.tokenizer_loading import load_tokenizer
from wordpiece_studio.storage.vocab_txt import read_vocabulary, write_vocabulary
from wordpiece_studio.system.atomic_write import atomic_write
from wordpiece_studio.tokenizer.corpus_encoding import write_ids
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import Trainer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from wordpiece_studio.storage.project.contents import Project

OLD, NEW = 0, 1
_THEMES = ("dark", "light")
_HAS_PYARROW, _HAS_QT = (importlib.util.find_spec(name) is not None for name in ("pyarrow", "PySide6"))


@dataclass(frozen=True, slots=True)
class Save:
    """One format.

    Attributes
    ----------
    name
        Of the format.
    write
        Writes the content `OLD` or `NEW` into a folder, over what is there; raises `StudioError` if that fails.
    which
        Reads it back and returns which of the two it is; raises `StudioError` if it finds a fault, and
        `AssertionError` if it is neither, which nothing has noticed.
    in_c
        Whether it writes from C, where faults cannot be planted from Python.
    """

    name: str
    write: Callable[[Path, int], None]
    which: Callable[[Path], int]
    in_c: bool = False


@cache
def trained(which: int, size: int) -> Trainer:
    """Return a finished training: of `OLD` or of `NEW`, with about `size` distinct words."""
    rng = random.Random(which)
    words = {"".join(rng.choices("abcdefgh", k=rng.randint(2, 9))): rng.randint(1, 99) for _ in range(size)}
    trainer = Trainer(WordCounts.from_pairs(list(words.items())), TrainingConfig(max_merges=size // 2))
    trainer.run()
    return trainer


def saves(size: int = 2000) -> list[Save]:
    """Return the saves of all formats, with contents of about `size` words."""
    found = [
        _vocabulary(size),
        _directory(size),
        *(_history(kind, size) for kind in ("csv", "jsonl", "parquet") if kind != "parquet" or _HAS_PYARROW),
        *(_counts(kind, size) for kind in ("tsv", "csv", "parquet") if kind != "parquet" or _HAS_PYARROW),
        *([_text(size)] if _HAS_QT else ()),
        _settings(),
        _ids(size),
    ]
    return found + [save for save in (_tokenizer_json(size), _project(size)) if save is not None]


def of_two(found: object, wanted: Iterable[object]) -> int:
    """Return whether `found` is the first or the second of what is wanted."""
    for which, each in enumerate(wanted):
        if found == each:
            return which
    raise AssertionError("neither the old content nor the new one, and nothing was noticed")


def _vocabulary(size: int) -> Save:
    tokens = [trained(which, size).vocabulary.tokens for which in (OLD, NEW)]

    def write(folder: Path, which: int) -> None:
        write_vocabulary(folder / "vocab.txt", tokens[which])

    return Save("vocab.txt", write, lambda folder: of_two(read_vocabulary(folder / "vocab.txt"), map(list, tokens)))


def _directory(size: int) -> Save:
    def write(folder: Path, which: int) -> None:
        run = trained(which, size)
        save_directory(
            folder, run.vocabulary, run.counts.normalizer, run.counts.pre_tokenizer, config=run.config,
            counts=run.counts,
        )  # fmt: skip

    def which(folder: Path) -> int:
        found = load_tokenizer(folder).vocabulary.tokens
        return of_two(tuple(found), [tuple(trained(each, size).vocabulary.tokens) for each in (OLD, NEW)])

    return Save("tokenizer directory", write, which)


def _tokenizer_json(size: int) -> Save | None:
    try:
        from wordpiece_studio.storage.huggingface.tokenizer_json import tokenizer_json_bytes
    except ImportError:
        return None
    runs = [trained(which, size) for which in (OLD, NEW)]
    data = [tokenizer_json_bytes(_tokenizer_of(run)) for run in runs]

    def write(folder: Path, which: int) -> None:
        atomic_write(folder / "tokenizer.json", data[which])

    def which(folder: Path) -> int:
        found = load_tokenizer(folder / "tokenizer.json").vocabulary.tokens
        return of_two(tuple(found), [tuple(run.vocabulary.tokens) for run in runs])

    return Save("tokenizer.json", write, which)


def _tokenizer_of(run: Trainer) -> object:
    from wordpiece_studio.tokenizer.tokenizer import Tokenizer

    return Tokenizer(run.vocabulary, run.counts.normalizer, run.counts.pre_tokenizer)


def _history(kind: str, size: int) -> Save:
    def write(folder: Path, which: int) -> None:
        write_merge_table(folder / f"history.{kind}", trained(which, size).history)

    def which(folder: Path) -> int:
        table = read_merge_table(folder / f"history.{kind}")
        wanted = [[merge.token for merge in trained(each, size).history] for each in (OLD, NEW)]
        return of_two(list(table["token"]), wanted)

    return Save(f"history {kind}", write, which)


def _counts(kind: str, size: int) -> Save:
    def write(folder: Path, which: int) -> None:
        write_word_counts(folder / f"counts.{kind}", trained(which, size).counts)

    def which(folder: Path) -> int:
        found = read_word_counts(folder / f"counts.{kind}").items()
        return of_two(found, [trained(each, size).counts.items() for each in (OLD, NEW)])

    return Save(f"word counts {kind}", write, which)


def _text(size: int) -> Save:
    from wordpiece_studio.session.document import TextFile, read_text_file, write_text_file

    texts = [" ".join(trained(which, size).counts.words) + "\r\n" for which in (OLD, NEW)]

    def write(folder: Path, which: int) -> None:
        write_text_file(folder / "text.txt", texts[which], TextFile("", "utf-8", b""))

    return Save("corpus text", write, lambda folder: of_two(read_text_file(folder / "text.txt").text, texts))


def _settings() -> Save:
    def write(folder: Path, which: int) -> None:
        SettingsStore(folder).change(theme=_THEMES[which], recent_files=[["x" * 5000]])

    def which(folder: Path) -> int:
        store = SettingsStore(folder)
        if store.damage is not None:
            raise store.damage
        return of_two(store.values.theme, _THEMES)

    return Save(FILE_NAME, write, which)


def _ids(size: int) -> Save:
    def write(folder: Path, which: int) -> None:
        text = folder.parent / f"{folder.name} {which}.txt"
        if not text.exists():
            text.write_text(" ".join(trained(which, size).counts.words[:300]), encoding="utf-8")
        tokenizer = _tokenizer_of(trained(OLD, size))
        write_ids(tokenizer, text, folder / "ids.npy", offsets_output=folder / "ends.npy")  # type: ignore[arg-type]

    def which(folder: Path) -> int:
        ids, ends = np.load(folder / "ids.npy"), np.load(folder / "ends.npy")
        if ends[-1] != len(ids):  # all that a reader of two plain arrays can see
            raise StudioError("The ends are not those of these ids")
        return of_two((ids.tobytes(), ends.tobytes()), [_ids_of(each, size) for each in (OLD, NEW)])

    return Save("token ids npy", write, which)


@cache
def _ids_of(which: int, size: int) -> tuple[bytes, bytes]:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "clean"
        folder.mkdir()
        _ids(size).write(folder, which)
        return np.load(folder / "ids.npy").tobytes(), np.load(folder / "ends.npy").tobytes()


def _project(size: int) -> Save | None:
    try:
        from tests.storage.project.making import check_project
        from wordpiece_studio.storage.project.container import SUFFIX
        from wordpiece_studio.storage.project.project_file import open_project, save_project
    except ImportError:
        return None

    def write(folder: Path, which: int) -> None:
        save_project(folder / f"work{SUFFIX}", project_of(which, size))

    def which(folder: Path) -> int:
        path = folder / f"work{SUFFIX}"
        check_project(path)
        found = open_project(path)
        assert found.run is not None
        tokens = [merge.token for merge in found.run.history]
        wanted = [(f"text {each}", [merge.token for merge in trained(each, size).history]) for each in (OLD, NEW)]
        return of_two((found.corpus.text, tokens), wanted)

    return Save("project", write, which, in_c=True)


def project_of(which: int, size: int) -> Project:
    """Return the project of a training: of `OLD` or of `NEW`."""
    from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run
    from wordpiece_studio.storage.view import View
    from wordpiece_studio.text import normalizers, pre_tokenizers

    run = trained(which, size)
    return Project(
        settings=ProjectSettings(
            training=run.config.to_dict(),
            normalizer=normalizers.to_spec(run.counts.normalizer),
            pre_tokenizer=pre_tokenizers.to_spec(run.counts.pre_tokenizer),
        ),
        corpus=ProjectCorpus(name="words", text=f"text {which}"),
        view=View(step=3),
        runs=(Run(run.counts, run.config, run.history, stop_reason="merges", origin=RunOrigin(is_wanted=True)),),
    )
