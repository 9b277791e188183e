"""What is shown: runs and the step, the selection, the live text, and what the user marked on the steps.

A `View` is one value: the window takes it and shows it again, a project and unsaved work keep it, a sample begins with
one. It is stored as it is, with names that older programs know.
"""

from __future__ import annotations

import math
from itertools import chain, repeat
from typing import Annotated, Literal, get_args

import msgspec

from wordpiece_studio.errors import StudioError
from wordpiece_studio.system.printable import decodable
from wordpiece_studio.text.patterns import SearchPattern

_Text = Annotated[str, msgspec.Meta(max_length=1_000_000)]
_Step = Annotated[int, msgspec.Meta(ge=0, le=2**31)]
NOBODY = 2**31
"""In place of the number of a run that is gone, where another run has that number now."""

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

    Attributes
    ----------
    kind
        ``"token"``: the token `text` is born. ``"pattern"``: a token is born in which the expression `text` is found.
        ``"word"``: the word `text` becomes one token. ``"value"``: the value falls below `number`. ``"tie"``: at least
        `number` pairs are equally good. ``"size"``: the vocabulary has `number` tokens.
    is_enabled
        Whether playing and training halt there.
    """

    kind: BreakpointKind
    text: _Text = ""
    number: float = 0.0
    is_enabled: bool = True

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
    """What is shown of a project, in any layout.

    Attributes
    ----------
    step, selection, live_text
        The step, the selection, and the text that is tokenized live.
    notes, breakpoints
        The bookmarks in order of step, and the breakpoints.
    note_runs, note_owners
        The run of each bookmark, and its owner, apart from them, as in files.
    markers
        What programs before format 1.3 marked; it is left out.
    tabs, current
        The runs from left to right, and the number of the one that is shown.
    is_longest_first
        Whether texts are also cut by the longest token first.
    """

    step: _Step = msgspec.field(default=0, name="moment")
    selection: Selection | None = msgspec.field(default=None, name="focus")
    live_text: Annotated[str, msgspec.Meta(max_length=20_000_000)] = msgspec.field(default="", name="watched_text")
    notes: tuple[Bookmark, ...] = ()
    note_runs: tuple[_Step | None, ...] = ()
    note_owners: tuple[_Step | None, ...] = ()
    markers: dict[Literal["A", "B"], _Step] | msgspec.UnsetType = msgspec.UNSET
    breakpoints: tuple[Breakpoint, ...] = ()
    tabs: Annotated[tuple[RunTab, ...], msgspec.Meta(max_length=10_000)] = ()
    current: _Step = 0
    is_longest_first: bool = False

    def without_texts(self) -> View:
        """Return the view without what a file holds elsewhere: the live text, and the bookmarks except their runs."""
        runs, owners = (tuple(getattr(note, name) for note in self.notes) for name in ("run", "owner"))
        return msgspec.structs.replace(self, live_text="", notes=(), note_runs=runs, note_owners=owners)

    def with_texts(self, live_text: str, notes: tuple[Bookmark, ...]) -> View:
        """Return the view with its live text and bookmarks, as `without_texts` took them out."""
        runs, owners = (chain(each, repeat(None)) for each in (self.note_runs, self.note_owners))
        notes = tuple(
            msgspec.structs.replace(note, run=run, owner=owner)
            for note, run, owner in zip(notes, runs, owners, strict=False)
        )
        return msgspec.structs.replace(self, live_text=live_text, notes=notes, note_runs=(), note_owners=())
