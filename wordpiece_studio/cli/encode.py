"""``wordpiece-studio encode``."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from wordpiece_studio.cli.messages import (
    encoding_summary,
    guessed_case,
    no_unknown_token,
    print_line,
    progress,
    reading_warnings,
    warn,
)
from wordpiece_studio.cli.options import (
    FILES,
    ColumnOption,
    EncodingOption,
    ErrorsOption,
    ForceOption,
    GivenOption,
    JsonOption,
    KindOption,
    RemoveOption,
    VocabOption,
    any_loaded_tokenizer,
    check_results,
    listed_sources,
    opened_stdin,
    option,
    results,
)
from wordpiece_studio.cli.parameters import Argument, Option
from wordpiece_studio.errors import StudioError
from wordpiece_studio.storage.manifest import make_ids_manifest, with_side_manifest
from wordpiece_studio.storage.vocab_txt import VOCABULARY_FILE
from wordpiece_studio.system.printable import display_name, printable_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wordpiece_studio.tokenizer.corpus_encoding import EncodingStatistics

_IDS = "Writing the token IDs"


def encode_command(
    options: dict[str, Any],
    files: Annotated[list[str], Argument(help=f"{FILES} Each line is a text.", metavar="FILES")],
    output: Annotated[str, Option("-o", "--output", metavar="FILE", help="The .npy file to write the token IDs to.")],
    vocab: VocabOption = ".",
    as_json: JsonOption = False,
    dtype: Annotated[str, option("int32, or uint16 for at most 65,536 tokens.", _IDS, ("int32", "uint16"))] = "int32",
    offsets: Annotated[
        str | None,
        option("The .npy file to write the line offsets to: the index of each line's first ID.", _IDS, metavar="FILE"),
    ] = None,
    add_special_tokens: Annotated[
        bool,
        Option(
            "--add-special-tokens",
            help="Add special tokens such as [CLS] and [SEP] around every line, as in the template.",
            rich_help_panel=_IDS,
        ),
    ] = False,
    normalizer: GivenOption = None,
    pre_tokenizer: GivenOption = None,
    remove: RemoveOption = "",
    kind: KindOption = None,
    column: ColumnOption = None,
    encoding: EncodingOption = None,
    errors: ErrorsOption = "strict",
    force: ForceOption = False,
) -> None:
    """Write the token IDs of whole files, line by line, as one array for numpy.load."""
    from wordpiece_studio.tokenizer.corpus_encoding import write_ids  # no other command needs it

    started = time.monotonic()
    tokenizer = any_loaded_tokenizer(vocab, normalizer, pre_tokenizer, remove)
    outputs = [path for path in (output, offsets) if path is not None]
    _check_outputs(outputs, vocab)
    check_results(outputs, force=force)
    sources = listed_sources(options)
    opened = opened_stdin(options) if sources is None else nullcontext(sources)
    with opened as source, progress(of_bytes=True) as report, results(force=force):
        statistics = write_ids(
            tokenizer,
            source,
            output,
            offsets_output=offsets,
            together=partial(with_side_manifest, make_ids_manifest(tokenizer, [*map(os.path.basename, outputs)])),
            progress=lambda done, total: report("Encoding", done, total),
            **{name: options[name] for name in ("dtype", "add_special_tokens")},
        )
    seconds = time.monotonic() - started
    for warning in (*guessed_case(tokenizer, vocab), *reading_warnings(statistics.corpus)):
        warn(warning)
    unknown = tokenizer.unk_token
    if statistics.unknown and unknown is not None and tokenizer.id_of(unknown) is None:
        warn(no_unknown_token(unknown, "written"))
    if as_json:
        print_line(printable_json(_summary(statistics, output, seconds)))
    else:
        print_line(encoding_summary(statistics, unknown or "unknown", output, seconds))


def _check_outputs(outputs: Sequence[str], vocab: str) -> None:
    vocabulary = os.path.join(vocab, VOCABULARY_FILE) if os.path.isdir(vocab) else vocab
    if os.path.realpath(vocabulary) in map(os.path.realpath, outputs):
        raise StudioError("{path} is the vocabulary itself", "Write to another file.", path=display_name(vocabulary))


def _summary(statistics: EncodingStatistics, output: str, seconds: float) -> dict[str, object]:
    return {
        "output": output,
        "tokens": statistics.tokens,
        "texts": statistics.texts,
        "unknown": statistics.unknown,
        "bytes": statistics.corpus.bytes,
        "seconds": round(seconds, 3),
    }
