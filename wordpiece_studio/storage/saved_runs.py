"""Trainings in project files, for the library: saved, loaded, and what to go on from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wordpiece_studio.libraries.library_training import LibraryHistory
from wordpiece_studio.storage.manifest import MANIFEST_FILE, check_together, read_manifest, side_manifest
from wordpiece_studio.storage.merge_table import KINDS, read_merge_table
from wordpiece_studio.storage.project.contents import Project, ProjectCorpus, ProjectSettings, Run, RunOrigin
from wordpiece_studio.storage.project.project_file import is_project, open_project, save_project
from wordpiece_studio.storage.tokenizer_loading import load_wordpiece_tokenizer
from wordpiece_studio.storage.view import View
from wordpiece_studio.system.printable import file_error
from wordpiece_studio.text import normalizers, pre_tokenizers
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import TrainingRun

if TYPE_CHECKING:
    import os

    from wordpiece_studio.errors import StudioError
    from wordpiece_studio.text.pipeline import Normalizer, PreTokenizer
    from wordpiece_studio.training.engine import StopReason

    Place = str | os.PathLike[str]

_NO_MERGES = "Train with --history DIR/merges.csv, or specify a project."


def save_run(path: Place, run: TrainingRun) -> None:
    counts = run.counts
    settings = ProjectSettings(
        training=run.config.to_dict(), normalizer=normalizers.to_spec(counts.normalizer),
        pre_tokenizer=pre_tokenizers.to_spec(counts.pre_tokenizer),
    )  # fmt: skip
    stored = Run(counts, run.config, run.history, stop_reason=run.stop_reason, origin=RunOrigin(is_wanted=True))
    view = View(step=len(run.history))
    save_project(path, Project(settings=settings, corpus=ProjectCorpus(), view=view, runs=(stored,)))


def load_project(path: Place) -> dict[str, TrainingRun]:
    """Return the trainings of a project, by the letters of their runs, that of the run shown first.

    Parameters
    ----------
    path
        A file that the window saved, or `TrainingRun.save`. Runs of other libraries are left out.

    Raises
    ------
    StudioError
        If the file is missing, is damaged or was written by a newer version.
    """
    project = open_project(path)
    project.check_whole()
    return {
        run.letter: TrainingRun(run.counts, run.config, run.history, cast("StopReason | None", run.stop_reason))
        for run in project.runs if not isinstance(run.history, LibraryHistory)
    }  # fmt: skip


def load_run(path: Place) -> TrainingRun:
    found = next(iter(load_project(path).values()), None)
    if found is None:
        raise file_error(path, "There is no training in {path}", "Choose another project.")
    return found


def settings_to_continue(path: Place, **changes: Any) -> tuple[TrainingConfig, Normalizer, PreTokenizer]:
    """Return the settings of a training that goes on from a project, or from a folder with its merges."""
    if not Path(path).is_dir() and is_project(path):
        run = load_run(path)
        return run.continued_config(**changes), run.counts.normalizer, run.counts.pre_tokenizer
    tokenizer = load_wordpiece_tokenizer(path)
    folder = Path(path) if Path(path).is_dir() else Path(path).parent
    manifest = read_manifest(folder / MANIFEST_FILE) if (folder / MANIFEST_FILE).is_file() else None
    if manifest is None or manifest.training is None or manifest.kind != "tokenizer":
        raise _unknown(folder, "It is not known how the vocabulary in {path} was trained")
    table = next((table for kind in KINDS if (table := folder / f"merges.{kind}").is_file()), None)
    if table is None:
        raise _unknown(folder, "There are no merges in {path}")
    beside = side_manifest(table)
    if not beside.is_file() or read_manifest(beside).vocabulary_sha256 != manifest.vocabulary_sha256:
        raise _unknown(folder, "The merges in {path} are not known to be those of its vocabulary")
    check_together(beside, read_manifest(beside), [table.name])
    columns = read_merge_table(table)
    merges = list(zip(cast("list[str]", columns["left"]), cast("list[str]", columns["right"]), strict=True))
    if manifest.merges != len(merges):
        raise _unknown(folder, "The merges in {path} are not all of those that made its vocabulary")
    normalizer, pre_tokenizer = manifest.steps
    config = TrainingConfig.from_dict(manifest.training, pre_tokenizer)
    return config.continued(tokenizer.tokens, merges, **changes), normalizer, pre_tokenizer


def _unknown(folder: Path, what: str) -> StudioError:
    return file_error(folder, what, _NO_MERGES)
