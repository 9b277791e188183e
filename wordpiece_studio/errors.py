"""The only exceptions that a user ever sees.

A :class:`StudioError` says what happened and what to do about it. Both sentences are kept as templates beside their
values, so that the window can translate the template and the command line can print it unchanged.
"""

from __future__ import annotations


class StudioError(Exception):
    """A problem explained to the user: what happened, and what to do.

    Parameters
    ----------
    what
        One clause without a full stop, with ``{named}`` fields: ``"{path} holds no words"``.
    advice
        One sentence with a full stop that says what to do; may be empty.
    values
        The values of the named fields.

    >>> str(StudioError("{path} holds no words", "Choose another file.", path="a.txt"))
    'a.txt holds no words. Choose another file.'
    """

    def __init__(self, what: str, advice: str = "", **values: object) -> None:
        super().__init__(what, advice)
        self.what_template = what
        self.advice_template = advice
        self.values = values

    def __reduce__(self) -> tuple[object, ...]:
        """Without the constructor, whose parameters are others in subclasses."""
        return Exception.__new__, (type(self), *self.args), self.__dict__

    @property
    def what(self) -> str:
        """What happened, with the values filled in."""
        return self.what_template.format(**self.values)

    @property
    def advice(self) -> str:
        """What to do, with the values filled in; empty if there is nothing to do."""
        return self.advice_template.format(**self.values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        return f"{self.what}. {self.advice}" if self.advice else f"{self.what}."
