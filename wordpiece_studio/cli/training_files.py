"""What `train` writes besides a WordPiece tokenizer: the words, the table of the merges, byte pair encoding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.bpe_files import check_bpe_symbols, why_no_bpe
from wordpiece_studio.storage.exports import (
    Exported,
    check_tokenizer_is_not_torn,
    counts_name,
    manifest_of,
    write_export,
)
from wordpiece_studio.storage.merge_table import write_merge_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.storage.manifest import Origin
    from wordpiece_studio.training.config import TrainingConfig
    from wordpiece_studio.training.trainer import Trainer

WithCountsOption = Annotated[
    bool, typer.Option("--with-counts", help="Also write the words and their counts to DIR, for verify.")
]
BpeOption = Annotated[
    bool,
    typer.Option(
        "--bpe",
        help="Write byte pair encoding, vocab.json and merges.txt, instead; for --objective count "
        "--continuing-subword-prefix ''.",
    ),
]


def check_bpe(output: str, config: TrainingConfig, only: str | None, symbols: Iterable[str] = ()) -> None:
    """Check before a training what would stand in the way of `write_bpe` after it.

    Raises
    ------
    StudioError
        If something does.
    """
    if only is not None:
        raise StudioError("Either --bpe or --only says what is written", "Leave one of them out.")
    reason = why_no_bpe(config)
    if reason is not None:
        raise StudioError(
            reason.what_template,
            "Train with --objective count --continuing-subword-prefix '' --end-of-word attached; or leave --bpe out.",
            **reason.values,
        )
    check_tokenizer_is_not_torn("bpe", Path(output))
    check_bpe_symbols(symbols)


def write_bpe(output: str, trainer: Trainer, origin: Origin) -> None:
    """Write byte pair encoding into the folder `output`.

    Raises
    ------
    StudioError
        If a symbol cannot stand there, or a file cannot be written.
    """
    exported = Exported(trainer.counts, trainer.config, trainer.history, trainer.current_step, origin)
    write_export("bpe", exported, Path(output))


def write_more(output: str, history: str | None, trainer: Trainer, origin: Origin, *, with_counts: bool) -> None:
    """Write the words into the folder `output`, and all merges to the file `history`, as far as they are wanted.

    Raises
    ------
    StudioError
        If a file cannot be written.
    """
    exported = Exported(trainer.counts, trainer.config, trainer.history, trainer.current_step, origin)
    if with_counts:
        write_export("word-counts", exported, Path(output) / counts_name(trainer.counts))
    if history is not None:
        path = Path(history)
        write_merge_table(
            path, trainer.history, manifest=manifest_of("merges", exported, path.name, folder=path.parent)
        )
