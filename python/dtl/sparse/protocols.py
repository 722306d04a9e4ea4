"""What functions of NumPy make of sparse matrices: what the operators and methods of the same meaning make."""

from __future__ import annotations

import operator
from typing import Any, Callable

import numpy as np

from ..exceptions import InvalidTypeError

#: Functions that are operators of Python.
_OPERATORS: dict[np.ufunc, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.true_divide: operator.truediv,
    np.power: operator.pow,
    np.matmul: operator.matmul,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.negative: operator.neg,
    np.absolute: abs,
    np.square: lambda a: a * a,
}

#: The operator of the second operand, where it is a matrix, and the first one leaves it to that.
_REFLECTED = {
    np.add: "__radd__",
    np.subtract: "__rsub__",
    np.multiply: "__rmul__",
    np.matmul: "__rmatmul__",
    np.less: "__gt__",
    np.less_equal: "__ge__",
    np.greater: "__lt__",
    np.greater_equal: "__le__",
    np.equal: "__eq__",
    np.not_equal: "__ne__",
}

#: Functions of elements that make zero of zero, each a method of the same name.
METHODS = (
    *("sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "sqrt", "expm1", "log1p", "sign"),
    *("rint", "floor", "ceil", "trunc", "deg2rad", "rad2deg", "conjugate"),
)

#: Those that take another matrix, or a number, and are symmetric.
_EXTREMES = ("maximum", "minimum")

#: Functions of arrays that call the method of the same name.
_BY_METHOD = (
    *("amax", "amin", "argmax", "argmin", "max", "mean", "min", "nonzero", "sum", "transpose"),
    *("imag", "iscomplexobj", "isrealobj", "ndim", "real", "shape", "size"),
)

#: Those of which a method is called here, because NumPy calls it of an array.
_CALLED_HERE = ("copy", "count_nonzero", "diagonal", "trace")


def computed(kind: type, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a ufunc makes of operands of which one is a matrix of a kind."""
    name = ufunc.__name__
    if method != "__call__" or options:
        asked = "".join(f" {each}=" for each in options) or f" .{method}"
        raise InvalidTypeError(f"np.{name} of a sparse matrix takes no{asked}")
    first, second = inputs[0], inputs[-1]
    if len(inputs) == 1 and name in METHODS:
        return getattr(first, name)()
    if len(inputs) == 2 and name in _EXTREMES:
        return getattr(first, name)(second) if isinstance(first, kind) else getattr(second, name)(first)
    if ufunc in _OPERATORS and isinstance(first, kind):
        return _OPERATORS[ufunc](*inputs)
    if ufunc in _REFLECTED:
        return getattr(second, _REFLECTED[ufunc])(first)
    raise InvalidTypeError(f"np.{name} does not make a sparse matrix; compute with matrix.toarray()")


def called(kind: Any, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what a function of arrays makes of arguments among which there is a matrix of a kind."""
    name = function.__name__
    first: Any = args[0] if args else None
    is_first = isinstance(first, kind)
    if name == "dot" and len(args) == 2 and not options:
        return first.dot(args[1]) if is_first else first @ args[1]
    if is_first and name in _CALLED_HERE:
        return getattr(first, name)(*args[1:], **options)
    if is_first and name in _BY_METHOD:
        return function.__wrapped__(*args, **options)  # type: ignore[attr-defined]
    raise InvalidTypeError(
        f"np.{name} takes no sparse matrix; dtl.sparse and dtl.sparse.linalg have functions of matrices, and "
        "matrix.toarray() is a container"
    )
