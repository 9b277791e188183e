"""The definition of training as text: the code of a step with its values, and a program that makes a run's merges.

Both are `reference.py` read as it is, without its examples, so that what is shown is what the engines must equal.
"""

from __future__ import annotations

import ast
import pkgutil
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from wordpiece_studio.errors import StudioError
from wordpiece_studio.version import __version__

if TYPE_CHECKING:
    from wordpiece_studio.training.config import Objective, Tie, TrainingConfig
    from wordpiece_studio.training.engine import Merge
    from wordpiece_studio.training.history import MergeHistory

MOST_WORDS = 5_000  # of a program, which counts all of them again at every merge
# How the line that does each phase of a merge begins: count pairs and symbols, the objective, the best pair, the merge.
_PHASES = ("counts[pair] += times", "counts[symbol] += times", "return float(n)", "return max(", "merged[-1] = new")
PHASES = len(_PHASES)
_BY_IDS = """\
        places = {token: place for place, token in enumerate(vocabulary)}
        values = {pair: values[pair] for pair in sorted(values, key=lambda pair: [places[token] for token in pair])}
"""
_NOT_DEFINED = {
    "base_merges": "merges of an earlier training", "end_of_word_suffix": "an end-of-word suffix",
    "max_token_length": "a maximum token length", "forbidden_tokens": "forbidden tokens",
    "forbidden_pairs": "forbidden pairs", "chosen_merges": "chosen merges",
}  # fmt: skip


class Code(NamedTuple):
    """The functions of a step, and the line, from 0, of each phase."""

    text: str
    lines: tuple[int, ...]


def beyond_definition(config: TrainingConfig) -> str:
    """Return what these settings have that the definition has not, empty if nothing."""
    return next((words for name, words in _NOT_DEFINED.items() if getattr(config, name)), "")


@cache
def code_of(objective: Objective, tie: Tie) -> Code:
    """Return the definition with this objective and rule of ties, without docstrings.

    >>> code = code_of("score", "first")
    >>> code.text.splitlines()[code.lines[2]].strip()
    'return float(n) / (float(left) * float(right))'
    """
    blocks = _definition(tie).split("\n\n\n")
    functions = {block.partition("(")[0].removeprefix("def "): block for block in blocks}
    names = ("count_pairs", "count_symbols", objective, "pair_values", "best_pair", "join", "merge", "train")
    text = "\n\n".join(functions[name] for name in names)
    lines = [line.strip() for line in text.splitlines()]
    places = (next(at for at, line in enumerate(lines) if line.startswith(begin)) for begin in _PHASES)
    return Code(text, tuple(places))


def values_of(merge: Merge, *, is_chosen: bool = False) -> tuple[str, ...]:
    """Return what each phase of a merge finds, as the program computes it.

    >>> from wordpiece_studio.training.engine import Merge
    >>> values_of(Merge(2, "h", "##u", "hu", 15, 15, 36, 108, 1 / 36, 6, True, "score"))[2:]
    ('n=15, left=15, right=36 → 0.027777777777777776', 'h ##u, the first of 6 equals', 'hu')
    """
    n, left, right = merge.pair_frequency, merge.left_frequency, merge.right_frequency
    counts = {"count": f"n={n}", "score": f"n={n}, left={left}, right={right}"}
    counts["likelihood"] = f"{counts['score']}, total={merge.symbols_before}"
    first = f", the first of {merge.ties} equals" if merge.ties > 1 else ""
    first = ", chosen for this step" if is_chosen else first
    symbols = f"{merge.left} → {left}" + (f", {merge.right} → {right}" if merge.right != merge.left else "")
    pair = f"{merge.left} {merge.right}"
    return (
        f"{pair} → {n}", symbols, f"{counts[merge.objective]} → {merge.value!r}", pair + first, merge.token,
    )  # fmt: skip


def program_of(history: MergeHistory, end: int) -> str:
    """Return a Python program, which needs nothing else, that learns and prints the first `end` merges.

    Raises
    ------
    StudioError
        If the definition alone does not make these merges, or there are more than `MOST_WORDS` words.
    """
    if (error := why_no_program(history)) is not None:
        raise error
    config, prefix, found = history.config, history.config.continuing_subword_prefix, history.input
    words: dict[str, int] = {}
    rows = (found.word_starts, found.word_lengths, found.weights)
    for start, length, times in zip(*(row.tolist() for row in rows), strict=True):
        symbols = [found.symbols[symbol] for symbol, _ in found.symbols_between(start, start + length)]
        word = "".join(symbol.text for symbol in symbols)
        # The definition tells symbols that begin a word from those inside by the prefix alone.
        if symbols[0].continues or (prefix and word != prefix and word.startswith(prefix)):
            what = "The program cannot be written: {word!r} looks like the inside of a word"
            raise StudioError(what, "Choose another prefix and train again.", word=word)
        words[word] = words.get(word, 0) + times
    size = history.vocabulary_size(end) + (end > 0 and not history[end - 1].is_new)
    vocabulary = history.vocabulary(0).tokens
    data = (
        f"WORDS = {{\n{''.join(f'    {word!r}: {times},{chr(10)}' for word, times in words.items())}}}\n"
        "# Special tokens, alphabet, and required tokens.\n"
        f"VOCABULARY = [\n{''.join(f'    {token!r},{chr(10)}' for token in vocabulary)}]"
    )
    _, _, text = _definition(config.tie, has_summaries=True).partition('"""\n\n')
    for line, new in (
        ("import math", "import math\nimport sys"),
        ('PREFIX = "##"', f"PREFIX = {prefix!r}"),
        ("WORDS = {.*}", data),
        (r"    vocabulary = sorted\(.*", "    vocabulary = list(VOCABULARY)"),
    ):
        text = re.sub(f"^{line}$", new.replace("\\", r"\\"), text, flags=re.MULTILINE)
    return f'''"""Training in full, as WordPiece Studio {__version__} defines it, for Python 3.10 or newer."""

{text}


sys.stdout.reconfigure(encoding="utf-8")
vocabulary, merges = train(WORDS, {config.objective}, min_frequency={config.min_frequency}, size={size})
for step, (left, right) in enumerate(merges[:{end}], start=1):
    print(step, left, right, join(left, right), sep="\\t")
'''


def why_no_program(history: MergeHistory) -> StudioError | None:
    """Return why no program can be written, if that is plain without a look at the words."""
    if not history.has_steps:
        return StudioError("This run has no record of merges")
    if beyond := beyond_definition(history.config):
        what = "The program cannot be written: this run has {beyond}, which the plain definition has not"
        return StudioError(what, beyond=beyond)
    if history.word_count > MOST_WORDS:
        what = "The program cannot be written: it would have {count:,} distinct words, more than {most:,}"
        return StudioError(what, "Use a part of the corpus.", count=history.word_count, most=MOST_WORDS)
    return None


@cache
def _definition(tie: Tie, *, has_summaries: bool = False) -> str:
    """Return its text with this rule of ties, without the docstrings of functions, or with their first lines."""
    text = (pkgutil.get_data("wordpiece_studio.training", "reference.py") or b"").decode()
    lines = text.splitlines()
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.FunctionDef):
            said = node.body[0]
            lines[said.lineno - 1 : said.end_lineno] = [lines[said.lineno - 1] + '"""'] if has_summaries else []
    best = "        left, right = best_pair(values)"
    return "\n".join(lines).replace(best, _BY_IDS + best if tie == "ids" else best)
