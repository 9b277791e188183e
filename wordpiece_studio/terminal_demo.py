"""The substitute for the window where none can be opened: trains the sample corpus and shows it in the terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from wordpiece_studio.corpus.counting.counting import count_words
from wordpiece_studio.resources import resource_path
from wordpiece_studio.system.printable import printable
from wordpiece_studio.training.config import TrainingConfig
from wordpiece_studio.training.trainer import train

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wordpiece_studio.training.engine import Merge

SAMPLE = "samples/course-en.txt"
VOCAB_SIZE = 70
SENTENCE = "This is the Hugging Face course!"


def terminal_demo(reason: str) -> int:
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    run = train(count_words(resource_path(SAMPLE)), TrainingConfig(objective="score", vocab_size=VOCAB_SIZE))
    tokens = run.tokenizer().encode(SENTENCE).tokens
    # Rich would end the program when no one reads on, as with "| head".
    with console.capture() as output:
        console.print(Text(printable(" ".join(reason.split()))))
        console.print(Text(f"The sample corpus, trained to {VOCAB_SIZE} tokens by n(ab) / (n(a) × n(b)):"))
        console.print(merge_table(run.history))
        console.print(Text(f"{SENTENCE}\n→ {' '.join(tokens)}"))
        console.print(Text("Your own text: wordpiece-studio train FILES --vocab-size N -o FOLDER"))
    sys.stdout.write(output.get())
    sys.stdout.flush()
    return 0


def merge_table(merges: Iterable[Merge]) -> Table:
    table = Table()
    for heading in ("step", "left", "right", "token", "n(ab)", "n(a)", "n(b)", "value", "tied"):
        table.add_column(heading, justify="left" if heading in ("left", "right", "token") else "right", no_wrap=True)
    for merge in merges:
        counts = (merge.pair_frequency, merge.left_frequency, merge.right_frequency)
        # Text, not str: rich would take a token such as [UNK] for markup.
        texts = [Text(printable(token)) for token in (merge.left, merge.right, merge.token)]
        ties = str(merge.ties) if merge.ties > 1 else ""
        table.add_row(str(merge.step), *texts, *(f"{n:,}" for n in counts), f"{merge.value:.4g}", ties)
    return table
