"""Compiling kernels with numba to machine code that can be loaded without it.

All kernels of a package become one module, so that each is optimized once, together with what it calls. Numba is
imported here and nowhere else, but for what the kernels in `text.kernels.chunks` generate.

Numba has no public way to an object file. What this uses of its inner parts: the target and its contexts
(`cpu_target`), `compile_extra` with `Flags.no_compile`, `insert_user_function`, `make_concrete_template`, the code
library with `_final_module` and `_get_compiled_object`, the calling convention, and the fields of its arrays. It is
tested with numba 0.60 to 0.68; `pyproject.toml` allows no other.
"""

# Hardly any function of numba says what it takes.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import types as python_types
from typing import TYPE_CHECKING, Any

# For its colored messages, many of which no one ever sees, numba would wrap and restore sys.stdout, which another
# thread may have replaced in the meantime. Numba reads this variable when it is imported.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

from llvmlite import ir
from numba.core import cgutils, compiler, registry, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import make_concrete_template, signature
from numba.extending import intrinsic

from wordpiece_studio.compiled.kernels import ArraysType, Intrinsic, Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_OPTIONS: dict[str, Any] = {
    "nopython": True,
    "nogil": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    # Otherwise numba counts references to every array at every call, atomically; that took four fifths of the time.
    "_nrt": False,
    # A bound may divide by a lower bound of 0, for which infinity is the right answer.
    "error_model": "numpy",
}
_WORD, _ADDRESS = ir.IntType(64), ir.IntType(8).as_pointer()


def machine_code(kernels: Iterable[Kernel], on_ready: Callable[[], object]) -> bytes:
    """Return an object file with the kernels that Python calls; call `on_ready` after each kernel."""
    target = registry.cpu_target
    typing, context = target.typing_context, target.target_context
    typing.refresh()
    context.refresh()
    with global_compiler_lock:
        library = context.codegen().create_library("kernels")
        library.enable_object_caching()
        entries = library.create_ir_module("entries")
        _define_frexp(entries)
        names = set()
        for kernel in kernels:
            result = _compiled(kernel, library)
            if kernel.is_called:
                names.add(_add_entry(entries, kernel, context, result.fndesc))
            on_ready()
        library.add_ir_module(entries)
        module = library._final_module  # noqa: SLF001
        for function in module.functions:
            if not function.is_declaration and function.name not in names:
                function.linkage = "internal"
        library.finalize()
        missing = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
        if missing:  # without numba, LLVM would look for them in vain, and end the process
            raise LookupError(missing)
        return bytes(library._get_compiled_object())  # noqa: SLF001


def _compiled(kernel: Kernel, library: Any) -> Any:
    target = registry.cpu_target
    flags: Any = compiler.Flags()
    target.options.parse_as_flags(flags, {**_OPTIONS, "forceinline": kernel.is_inline})
    flags.no_compile = True
    arguments, result = tuple(map(_numba_type, kernel.signature.arguments)), _numba_type(kernel.signature.result)
    compiled = compiler.compile_extra(
        target.typing_context,
        target.target_context,
        _with_intrinsics(kernel.function),
        arguments,
        result,
        flags,
        {},
        library=library,
    )
    template = make_concrete_template(kernel.symbol, kernel, [signature(result, *arguments)])
    target.typing_context.insert_user_function(kernel, template)
    target.target_context.insert_user_function(kernel, compiled.fndesc)
    return compiled


def _with_intrinsics(function: Callable[..., Any]) -> Any:
    names = function.__code__.co_names
    found = {name: function.__globals__.get(name) for name in names}
    made = {name: intrinsic(value.function) for name, value in found.items() if isinstance(value, Intrinsic)}
    return python_types.FunctionType(function.__code__, {**function.__globals__, **made}, function.__name__)


def _numba_type(type_: Any) -> Any:
    if isinstance(type_, ArraysType):
        return types.NamedTuple([_numba_type(array) for array in type_.of], type_.made)
    if type_.axes:
        return types.Array(getattr(types, type_.name), type_.axes, "C", readonly=type_.is_read_only)
    return getattr(types, {"bool": "boolean"}.get(type_.name, type_.name))


def _add_entry(module: Any, kernel: Kernel, context: Any, descriptor: Any) -> str:
    """Add the function that Python calls: it takes the words of `Kernel.words`, and calls the kernel."""
    result, arguments = kernel.signature
    kinds: list[Any] = []
    for argument in arguments:
        kinds += _kinds(argument)
    number = {"float64": ir.DoubleType(), "none": ir.VoidType(), "bool": ir.IntType(8)}.get(result.name, _WORD)
    entry = ir.Function(module, ir.FunctionType(number, kinds), kernel.symbol)
    builder = ir.IRBuilder(entry.append_basic_block())
    words, values = iter(entry.args), []
    for argument, type_ in zip(arguments, descriptor.argtypes, strict=True):
        if isinstance(argument, ArraysType):
            values.append(_arrays(context, builder, argument, type_, next(words)))
        elif argument.axes:
            values.append(_array(context, builder, type_, next(words), [next(words) for _ in range(argument.axes)]))
        elif argument.name == "bool":
            values.append(builder.trunc(next(words), ir.IntType(1)))
        else:
            values.append(next(words))
    callee = context.declare_function(module, descriptor)
    _, found = context.call_conv.call_function(builder, callee, descriptor.restype, descriptor.argtypes, values)
    if result.name == "none":
        builder.ret_void()
    else:
        builder.ret(builder.zext(found, number) if result.name == "bool" else found)
    return kernel.symbol


def _kinds(argument: Any) -> list[Any]:
    if isinstance(argument, ArraysType):
        return [_WORD.as_pointer()]
    if argument.axes:
        return [_ADDRESS, *[_WORD] * argument.axes]
    return [{"float64": ir.DoubleType(), "bool": ir.IntType(8)}.get(argument.name, _WORD)]


def _arrays(context: Any, builder: Any, arrays: ArraysType, type_: Any, words: Any) -> Any:
    made, place = [], 0
    for array in type_.types:
        address, *shape = [builder.load(builder.gep(words, [_WORD(place + n)])) for n in range(1 + array.ndim)]
        made.append(_array(context, builder, array, builder.inttoptr(address, _ADDRESS), shape))
        place += 1 + array.ndim
    return context.make_tuple(builder, type_, made)


def _array(context: Any, builder: Any, type_: Any, address: Any, shape: list[Any]) -> Any:
    array = context.make_array(type_)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(type_.dtype))
    strides: list[Any] = []
    bytes_ = _WORD(size)
    for length in reversed(shape):
        strides.insert(0, bytes_)
        bytes_ = builder.mul(bytes_, length)
    count = shape[0]
    for length in shape[1:]:
        count = builder.mul(count, length)
    array.data = builder.bitcast(address, array.data.type)
    array.shape, array.strides = (cgutils.pack_array(builder, each, _WORD) for each in (shape, strides))
    array.nitems, array.itemsize = count, _WORD(size)
    array.meminfo, array.parent = (cgutils.get_null_value(each.type) for each in (array.meminfo, array.parent))
    return array._getvalue()  # noqa: SLF001  # numba names its fields without, its methods with an underscore


def _define_frexp(module: Any) -> None:
    """Define the function that numba calls for `math.frexp`, for positive numbers that are finite and not subnormal."""
    number, exponent = ir.DoubleType(), ir.IntType(32)
    function = ir.Function(module, ir.FunctionType(number, [number, exponent.as_pointer()]), "numba_frexp")
    builder = ir.IRBuilder(function.append_basic_block())
    bits = builder.bitcast(function.args[0], _WORD)
    builder.store(builder.sub(builder.trunc(builder.lshr(bits, _WORD(52)), exponent), exponent(1022)), function.args[1])
    mantissa = builder.and_(bits, _WORD((1 << 52) - 1))
    builder.ret(builder.bitcast(builder.or_(mantissa, _WORD(1022 << 52)), number))
