"""How an export is used: lines of Python to copy, with the place in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.peers.library_child import VOCAB_JSON_FILE

if TYPE_CHECKING:
    from pathlib import Path

    from wordpiece_studio.storage.exports import ExportKind


def usage_lines(kind: ExportKind, place: Path) -> str:
    """Return two lines of Python that load what is exported to `place`.

    >>> from pathlib import PurePosixPath
    >>> print(usage_lines("folder", PurePosixPath("/texts/tokenizer")))
    from transformers import AutoTokenizer
    tokenizer = AutoTokenizer.from_pretrained('/texts/tokenizer')
    """
    if kind == "folder":
        return f"from transformers import AutoTokenizer\ntokenizer = AutoTokenizer.from_pretrained({_quoted(place)})"
    if kind == "word-counts":
        return f"import wordpiece_studio as wps\ncounts = wps.read_word_counts({_quoted(place)})"
    loaded = place / VOCAB_JSON_FILE if kind == "bpe" else place
    return f"import wordpiece_studio as wps\ntokenizer = wps.load_tokenizer({_quoted(loaded)})"


def _quoted(place: Path) -> str:
    return repr(str(place))  # whatever the name holds, Python reads it back
