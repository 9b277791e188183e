"""What is shown: runs and the step, the selection, the live text, and what the user marked on the steps.

A `View` is one value: the window takes it and shows it again, a project and unsaved work keep it, a sample begins with
one. It is stored as it is.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal, get_args

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import decodable
from wordpiece_studio.text.patterns import SearchPattern

_Text = Annotated[str, msgspec.Meta(max_length=1_000_000)]
_Step = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
NOBODY = 2**31  # in place of the number of a run that is gone, where another run has that number now

BreakpointKind = Literal["token", "pattern", "word", "value", "tie", "size"]
KINDS: tuple[BreakpointKind, ...] = get_args(BreakpointKind)
TEXT_KINDS = ("token", "pattern", "word")


@decodable
class Selection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The one thing that all panes look at: a pair (`left`, `right`), a token or a word (`text`)."""

    kind: Literal["pair", "token", "word"]
    left: _Text = ""
    right: _Text = ""
    text: _Text = ""


@decodable
class Bookmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A bookmarked step, with a line of text and the token that the step's merge made; empty before the first merge."""

    step: _Step
    text: _Text
    token: _Text = ""
    run: _Step | None = None  # the number of the run whose step is compared
    owner: _Step | None = None  # that of the run at which it was made, or `NOBODY`; None in files of older programs


@decodable
class Breakpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A condition that may be met at a step.

    ``"token"``: the token `text` is born. ``"pattern"``: a token is born in which the expression `text` is found.
    ``"word"``: the word `text` becomes one token. ``"value"``: the value falls below `number`. ``"tie"``: at least
    `number` pairs are equally good. ``"size"``: the vocabulary has `number` tokens.
    """

    kind: BreakpointKind
    text: _Text = ""
    number: float = 0.0
    is_enabled: bool = True  # playing and training halt there

    def __post_init__(self) -> None:
        if self.kind == "pattern":
            SearchPattern(self.text)
        elif self.kind in TEXT_KINDS and not self.text:
            raise StudioError("The condition is empty", "Type the whole token or word.")
        elif not math.isfinite(self.number):
            raise StudioError("The number must be finite", "Type a finite number.")
        elif self.kind == "tie" and self.number < 2:
            raise StudioError("A tie has at least two pairs", "Type 2 or more.")
        elif self.kind == "size" and self.number < 1:
            raise StudioError("A vocabulary cannot have {size:g} tokens", "Type 1 or more.", size=self.number)


def run_letter(number: int) -> str:
    """Return what a run with this number is called: A to Z, then AA, AB and so on.

    >>> [run_letter(number) for number in (0, 25, 26, 27)]
    ['A', 'Z', 'AA', 'AB']
    """
    rest, last = divmod(number, 26)
    return (chr(64 + rest) if rest else "") + chr(65 + last)


@decodable
class RunTab(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tab of a run, whose fields are those of the `Run` of the session."""

    number: _Step
    name: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    color: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0
    is_kept: bool = True
    is_compared: bool = False
    step: _Step = 0


@decodable
class View(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    step: _Step = 0
    selection: Selection | None = None
    live_text: Annotated[str, msgspec.Meta(max_length=20_000_000)] = ""  # that is tokenized live
    notes: tuple[Bookmark, ...] = ()  # in order of step
    breakpoints: tuple[Breakpoint, ...] = ()
    tabs: Annotated[tuple[RunTab, ...], msgspec.Meta(max_length=10_000)] = ()
    current: _Step = 0  # the number of the run that is shown
    is_longest_first: bool = False  # texts are also cut by the longest token first
    is_predicting: bool = False  # what comes after the step is hidden, and asked for
    in_text_order: bool | None = None  # words, not the most frequent first; None goes by how many there are
    is_after: bool = False  # words and candidates are those that the step's merge left, not those it was chosen from
