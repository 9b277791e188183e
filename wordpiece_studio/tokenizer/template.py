"""What stands around texts: the special tokens that a model expects before, between and after them.

It means what it means in `tokenizers`, whose ``post_processor`` describes it. Not here: how texts are joined with it,
and truncation before that (`encoding`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Special(NamedTuple):
    """Special tokens that stand together, and their ids."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]


class TemplatePart(NamedTuple):
    """A part of a template.

    `sequence` is 0 where the first text stands and 1 for the second; None for special tokens. What overflows of a text
    may have another type, as it does in the library.
    """

    sequence: int | None
    type_id: int = 0
    overflowing_type_id: int = 0
    special: Special = Special((), ())


class Template(NamedTuple):
    """What becomes of a text, and of two, in order: each stands there once.

    >>> Template.around(Special(("[CLS]",), (2,)), Special(("[SEP]",), (3,))).without_special() == Template()
    True
    """

    single: tuple[TemplatePart, ...] = (TemplatePart(0),)
    pair: tuple[TemplatePart, ...] = (TemplatePart(0), TemplatePart(1, 1, 1))

    @classmethod
    def around(cls, first: Special, last: Special, between: int = 1, second_type: int = 1) -> Template:
        """Return that of BERT: a class token, and a separator after each text; others have two `between` the texts."""
        single = (TemplatePart(None, special=first), TemplatePart(0), TemplatePart(None, special=last))
        separator = TemplatePart(None, second_type, special=last)
        second = TemplatePart(1, second_type, second_type)
        return cls(single, (*single, *[separator] * (between - 1), second, separator))

    @classmethod
    def of(cls, value: Any) -> Template | None:
        """Return the template that a ``post_processor`` describes; None if there is none that does the same.

        >>> Template.of({"type": "BertProcessing", "cls": ["[CLS]", 2], "sep": ["[SEP]", 3]}).single[0].special
        Special(tokens=('[CLS]',), ids=(2,))
        """
        match value:
            case None | {"type": "ByteLevel"}:  # the second only moves offsets
                return cls()
            case {"type": "Sequence", "processors": [*steps]}:
                others = [step for step in steps if not (isinstance(step, dict) and step.get("type") == "ByteLevel")]
                return cls() if not others else cls.of(others[0]) if len(others) == 1 else None
            case {
                "type": "BertProcessing" | "RobertaProcessing" as kind,
                "cls": [str(first), first_id],
                "sep": [str(last), last_id],
            } if _are_numbers([first_id, last_id]):
                around = Special((first,), (first_id,)), Special((last,), (last_id,))
                return cls.around(*around) if kind == "BertProcessing" else cls.around(*around, 2, 0)
            case {"type": "TemplateProcessing", "single": [*single], "pair": [*pair], "special_tokens": dict(special)}:
                found = cls(_parts(single, special), _parts(pair, special))
                return found if [*map(_texts, found)] == [[0], [0, 1]] else None
        return None

    def without_special(self) -> Template:
        """Return the template with its texts alone, whose types stay, except in what overflows."""
        parts = (
            tuple(part._replace(overflowing_type_id=part.sequence) for part in parts if part.sequence is not None)
            for parts in self
        )
        return Template(*parts)

    @property
    def special_tokens(self) -> list[tuple[str, int]]:
        """The special tokens in it, with their ids."""
        return [pair for parts in self for part in parts for pair in zip(*part.special, strict=True)]


def _parts(steps: Iterable[Any], special: Mapping[str, Any]) -> tuple[TemplatePart, ...]:
    """Return the parts that are listed; none at all if one of them is unlike others."""
    parts = []
    for step in steps:
        match step:
            case {"Sequence": {"id": "A" | "B" as name, "type_id": type_id}} if _are_numbers([type_id]):
                parts.append(TemplatePart("AB".index(name), type_id, "AB".index(name)))
            case {"SpecialToken": {"id": str(name), "type_id": type_id}} if _are_numbers([type_id]):
                match special.get(name):
                    case {"ids": [*ids], "tokens": [*tokens]} if (
                        len(ids) == len(tokens)
                        and _are_numbers(ids)
                        and all(isinstance(token, str) for token in tokens)
                    ):
                        parts.append(TemplatePart(None, type_id, special=Special(tuple(tokens), tuple(ids))))
                    case _:
                        return ()
            case _:
                return ()
    return tuple(parts)


def _texts(parts: Iterable[TemplatePart]) -> list[int]:
    return sorted(part.sequence for part in parts if part.sequence is not None)


def _are_special(tokens: list[Any], ids: list[Any]) -> bool:
    return len(ids) == len(tokens) and _are_numbers(ids) and all(isinstance(token, str) for token in tokens)


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(type(value) is int and 0 <= value < 1 << 32 for value in values)
