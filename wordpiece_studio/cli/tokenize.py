"""``wordpiece-studio tokenize`` and ``wordpiece-studio explain``."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from wordpiece_studio.cli.messages import STDIN, guessed_case, ladder, no_unknown_token
from wordpiece_studio.cli.options import (
    GivenOption,
    JsonOption,
    RemoveOption,
    VocabOption,
    any_loaded_tokenizer,
    loaded_tokenizer,
)
from wordpiece_studio.cli.terminal import print_line, stdin, warn
from wordpiece_studio.corpus.files import decoded_lines
from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import printable, printable_json
from wordpiece_studio.tokenizer.tokenizer import NO_ID, Tokenizer


def tokenize_command(
    text: Annotated[str, typer.Argument(help="The text; - or nothing for stdin, line by line.")] = "-",
    vocab: VocabOption = ".",
    normalizer: GivenOption = None,
    pre_tokenizer: GivenOption = None,
    remove: RemoveOption = "",
    ids: Annotated[bool, typer.Option("--ids", help="Print ids, not tokens.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Tokenize text: a line of tokens for every line."""
    tokenizer = any_loaded_tokenizer(vocab, normalizer, pre_tokenizer, remove)
    for warning in guessed_case(tokenizer, vocab):
        warn(warning)
    is_warned = not (ids or as_json)
    for line in decoded_lines(stdin(), STDIN) if text == "-" else text.split("\n"):
        encoding = tokenizer.encode(line)
        if not is_warned and isinstance(tokenizer, Tokenizer) and NO_ID in encoding.ids:
            is_warned = True
            warn(no_unknown_token(tokenizer.vocabulary.unk_token))
        if as_json:
            offsets = [list(offset) for offset in encoding.offsets]
            print_line(
                printable_json({"text": line, "tokens": encoding.tokens, "ids": encoding.ids, "offsets": offsets})
            )
        else:
            print_line(" ".join(map(str, encoding.ids)) if ids else printable(" ".join(encoding.tokens)))


def explain_command(
    word: Annotated[str, typer.Argument(help="The word; a text is explained word by word.")],
    vocab: VocabOption = ".",
    normalizer: GivenOption = None,
    pre_tokenizer: GivenOption = None,
    remove: RemoveOption = "",
    as_json: JsonOption = False,
) -> None:
    """Show which candidates longest match tries for a word, and why it is unknown if it is."""
    tokenizer = loaded_tokenizer(vocab, normalizer, pre_tokenizer, remove)
    words = tokenizer.pipeline.words(word)
    if not words:
        raise StudioError("There is no word in {text!r}", "Give one.", text=word)
    for warning in guessed_case(tokenizer, vocab):
        warn(warning)
    for trace in map(tokenizer.explain, words):
        print_line(printable_json(dataclasses.asdict(trace)) if as_json else ladder(trace, tokenizer.max_word_length))
