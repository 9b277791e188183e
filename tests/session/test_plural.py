"""A number of things is said in the form that the language has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from wordpiece_studio.session.plural import CONTEXT, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot


class Polish(QTranslator):
    """Has the three forms of a sentence."""

    def translate(self, context: str, text: str, disambiguation: str = "", n: int = -1) -> str:
        if (context, text) != (CONTEXT, "{count} words"):
            return ""
        is_few = n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14)
        return "1 słowo" if n == 1 else "{count} słowa" if is_few else "{count} słów"

    def isEmpty(self) -> bool:
        return False


@pytest.fixture
def polish(qtbot: QtBot) -> Iterator[None]:
    translator = Polish()
    QCoreApplication.installTranslator(translator)
    yield
    QCoreApplication.removeTranslator(translator)


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 words"), (1, "1 word"), (2, "2 words"), (11, "11 words"), (2**40, f"{2**40} words")]
)
def test_english_has_two_forms(qtbot: QtBot, number: int, said: str) -> None:
    assert plural(number, "1 word", "{count} words").format(count=number) == said


@pytest.mark.usefixtures("polish")
@pytest.mark.parametrize(
    ("number", "said"),
    [(1, "1 słowo"), (3, "3 słowa"), (5, "5 słów"), (22, "22 słowa"), (10**12 + 3, "1000000000003 słowa")],
)
def test_a_translation_has_the_forms_of_its_language(number: int, said: str) -> None:
    assert plural(number, "1 word", "{count} words").format(count=number) == said
