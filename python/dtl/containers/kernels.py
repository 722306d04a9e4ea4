"""What a GPU computes of each element: ufuncs, conversions, and choices.

A function here returns None where a GPU has no kernel for what it is asked; then the host computes it (host_copies.py).
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._native.arguments import dtype_number
from .._native.library import bridge
from ..exceptions import InvalidArgumentError
from .ufuncs import Elementwise, are_alike, result_dtypes

#: Kernels by names that NumPy has for them besides.
_OPERATORS = {"true_divide": "divide"}

#: Ufuncs whose results are of another type than they compute with.
_KEEP_OPERANDS = ("absolute",)


def ufunc_by_kernel(name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any) -> Any:
    """Have the GPU compute a ufunc, of operands that it converts to the type of the computation first."""
    operands = [value for value in inputs if isinstance(value, Elementwise)]
    if not operands or not _go_together(inputs, operands if out is None else [*operands, out]):
        return None
    count = int(0 not in operands[0].shape)
    (result,) = result_dtypes(name, ufunc, inputs, (out,), {}, count)
    (computed,) = result_dtypes(name, ufunc, inputs, (None,), {}, count)
    dtype = _computed_in(ufunc, computed, inputs)
    if result != computed or dtype is None:
        return None
    return _computed(_OPERATORS.get(ufunc.__name__, ufunc.__name__), dtype, inputs, out, result)


def _go_together(values: Sequence[Any], containers: Sequence[Any]) -> bool:
    """Say whether containers are on one GPU and laid out alike, and the other values are numbers."""
    if any([value.__class__ is np.ndarray and value.ndim for value in values]):
        return False
    first = containers[0]
    for other in containers:
        if other._carrier is not None or other._placement is not first._placement:
            return False
        if other is not first and not are_alike(first, other):
            return False
    return True


def _computed_in(ufunc: np.ufunc, computed: np.dtype[Any], inputs: Sequence[Any]) -> np.dtype[Any] | None:
    """Return the type that operands are converted to; None where NumPy does something else."""
    if len(inputs) == 1:
        own = np.dtype(inputs[0].dtype)
        converted = computed.kind in "fc" and own.kind not in "fc" and ufunc.__name__ not in _KEEP_OPERANDS
        return computed if converted else own
    if computed.kind != "b":
        return computed
    try:
        common = np.result_type(*[np.ones(1, v.dtype) if isinstance(v, Elementwise) else v for v in inputs])
    except OverflowError:
        return None  # a number that the type does not hold is compared all the same
    kinds = [v.dtype.kind for v in inputs if isinstance(v, Elementwise)]
    return None if common.kind == "f" and "u" in kinds and "i" in kinds else common  # which are compared exactly


def converted(a: Any, dtype: np.dtype[Any]) -> Any:
    """Have the GPU convert elements to another type."""
    if a._carrier is not None or (a.dtype.kind == "c" and dtype.kind not in "bc"):
        return None  # NumPy warns that imaginary parts are lost
    return _computed(f"as_{dtype}", a.dtype, (a,), None, dtype)


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """Have the GPU choose elements of x where a condition is true, and of y elsewhere."""
    containers = [value for value in (condition, x, y) if isinstance(value, Elementwise)]
    if not isinstance(condition, Elementwise) or not _go_together((x, y), containers):
        return None
    with np.errstate(all="ignore"):
        samples = [np.ones(1, v.dtype) if isinstance(v, Elementwise) else v for v in (x, y)]
        dtype = np.where(np.ones(1, bool), *samples).dtype
    truth: Any = condition if condition.dtype == np.bool_ else converted(condition, np.dtype(np.bool_))
    try:
        return None if truth is None else _computed("where", dtype, (x, y, truth), None, dtype)
    finally:
        if truth is not None and truth is not condition:
            truth.close()


def _computed(operator: str, dtype: np.dtype[Any], inputs: Sequence[Any], out: Any, result: np.dtype[Any]) -> Any:
    """Have the GPU compute an operator of elements of one type, to which the first two operands are converted."""
    handles, words, temporary = np.zeros(3, np.int64), np.zeros(6, np.int64), []
    made = None
    try:
        for n, value in enumerate(inputs):
            if not isinstance(value, Elementwise):
                bits = np.array(value, dtype).tobytes().ljust(16, b"\0")
                words[2 * n : 2 * n + 2] = np.frombuffer(bits, np.int64)
                continue
            operand: Any = value
            if n < 2 and value.dtype != dtype:
                operand = converted(value, dtype)
                if operand is None:
                    return None
                temporary.append(operand)
            handles[n] = operand._handle
        first: Any = next(value for value in inputs if isinstance(value, Elementwise))
        target = out
        if out is None:
            target = made = first._like(result)
        name = np.frombuffer(operator.encode(), np.uint8)
        bridge.call(bridge.ELEMENTWISE, target, name, None, dtype_number(dtype), 0, 0, 0, handles, words)
        made = None
        return target
    except InvalidArgumentError:
        return None  # there is no such kernel
    finally:
        for container in (*temporary, *(() if made is None else (made,))):
            container.close()
