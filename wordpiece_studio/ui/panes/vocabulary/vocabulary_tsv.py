"""Tokens of a vocabulary as tab-separated text, for spreadsheets and scripts: exact, the same in every language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordpiece_studio.evaluation.dead_tokens import DeadReason
from wordpiece_studio.session.vocabulary_rows import SPECIAL_BIRTH, VocabularyColumn
from wordpiece_studio.session.vocabulary_table import BY_USAGE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordpiece_studio.session.vocabulary_table import VocabularyTableModel

TITLES = ("token", "id", "born", "frequency", "words", "length", "dead")
_ESCAPES = {ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r", ord("\\"): "\\\\"}


def vocabulary_tsv(table: VocabularyTableModel, ids: NDArray[np.int64]) -> str:
    """Return a line of titles and a line for each token; what is not known is empty, a special token's birth too."""
    lines = ["\t".join(TITLES)]
    unknown = () if table.is_counted else BY_USAGE
    for token_id in ids.tolist():
        values = (None if column in unknown else table.value(token_id, column) for column in VocabularyColumn)
        lines.append("\t".join(map(_field, values, VocabularyColumn)))
    return "\n".join(lines) + "\n"


def _field(value: object, column: VocabularyColumn) -> str:
    if value is None or (column is VocabularyColumn.BORN and value == SPECIAL_BIRTH):
        return ""
    if isinstance(value, DeadReason):
        return value.kind
    return value.translate(_ESCAPES) if isinstance(value, str) else str(value)
