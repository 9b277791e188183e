"""What all compiled kernels share: the types of their arguments, the decorator that declares them, and calling them.

A kernel is a function for numba. It is called through its machine code, which `kernel_cache` loads without numba.
Not here: the kernels (`training.kernels`, `text.kernels`), compiling (`kernel_compiler`), and where the machine code
is stored (`kernel_cache`).
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

_MACHINE_TYPES = {
    "bool": ctypes.c_bool,
    "float64": ctypes.c_double,
    "int64": ctypes.c_int64,
    "none": None,
    "uint64": ctypes.c_uint64,
}


class Type(NamedTuple):
    """The type of a number, or of an array in C order if it has `axes`; called with types, a function's type."""

    name: str
    axes: int = 0
    is_read_only: bool = False

    def __call__(self, *arguments: AnyType) -> Signature:
        return Signature(self, arguments)

    def words(self, argument: Any) -> Iterable[Any]:
        """Return what a kernel's machine code gets for an argument: a number, or an array's address and shape."""
        if not self.axes:
            return (argument if self.name == "float64" else int(argument),)
        flags = argument.flags
        if argument.dtype != self.name or argument.ndim != self.axes or not flags.c_contiguous:
            raise TypeError(f"not an array of {self.axes} axes of {self.name}: {argument.dtype}, {argument.shape}")
        if not (self.is_read_only or flags.writeable):
            raise TypeError("the array is read-only")
        return argument.ctypes.data, *argument.shape


class Arrays:
    """What a named tuple of arrays inherits from to be an argument of kernels.

    `words` are the addresses and shapes of its arrays, which stay the same; not for its copies.
    """

    words: NDArray[np.int64] | None = None

    def __getstate__(self) -> None:
        return None


class ArraysType(NamedTuple):
    of: tuple[Type, ...]
    made: Callable[..., Any]

    def words(self, argument: Any) -> Iterable[Any]:
        if argument.words is None:
            words = [word for type_, array in zip(self.of, argument, strict=True) for word in type_.words(array)]
            argument.words = np.array(words, np.int64)
        return (argument.words.ctypes.data,)


AnyType = Type | ArraysType


class Signature(NamedTuple):
    result: Type
    arguments: tuple[Any, ...]


U1, I4, I8, U8, F8 = (Type(name, 1) for name in ("uint8", "int32", "int64", "uint64", "float64"))
I4_2, I8_2 = Type("int32", 2), Type("int64", 2)
BYTES = Type("uint8", 1, is_read_only=True)
INT, UNSIGNED, FLOAT, NONE, BOOL = map(Type, ("int64", "uint64", "float64", "none", "bool"))


class Kernel:
    """A function for numba; called through its machine code once that is loaded.

    If Python does not call it, only other kernels do.
    """

    def __init__(self, function: Callable[..., Any], signature: Signature, *, is_inline: bool) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = signature
        self.is_inline = is_inline
        self.is_called = not (is_inline or function.__name__.startswith("_"))
        self.symbol = f"{function.__module__}.{function.__name__}"  # among the machine code of its package
        self._machine_code: Callable[..., Any] | None = None

    def load(self, address: int) -> None:
        result, arguments = self.signature
        kinds: list[Any] = []
        for argument in arguments:
            if isinstance(argument, ArraysType):
                kinds.append(ctypes.c_void_p)
            elif argument.axes:
                kinds += [ctypes.c_void_p, *[ctypes.c_int64] * argument.axes]
            else:
                kinds.append(_MACHINE_TYPES[argument.name])
        self._machine_code = ctypes.CFUNCTYPE(_MACHINE_TYPES[result.name], *kinds)(address)

    def __call__(self, *arguments: Any) -> Any:
        """Run the machine code; other threads go on in the meantime."""
        assert self._machine_code is not None
        words: list[Any] = []
        for type_, argument in zip(self.signature.arguments, arguments, strict=True):
            words += type_.words(argument)
        return self._machine_code(*words)


class Intrinsic:
    """A function that generates a few instructions for kernels that call it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def kernel(signature: Signature, *, inline: bool = False) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function to be a kernel for one signature. It must not allocate anything.

    With `inline` it becomes part of the kernels that call it: for small functions that are called very often.
    """
    return lambda function: Kernel(function, signature, is_inline=inline)
