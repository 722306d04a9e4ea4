"""The operators of columns, and NumPy's functions of single values on them."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from ..exceptions import InvalidArgumentError, InvalidTypeError
from .elementwise import computed
from .rows import HasRows, arrow

#: Column, which this module does not import: column.py imports it.
C = TypeVar("C", bound="Operators")

#: Functions of NumPy's on a whole column, as methods and with NumPy's defaults.
_METHODS: dict[Any, tuple[str, dict[str, Any]]] = {
    np.sum: ("sum", {}),
    np.prod: ("prod", {}),
    np.mean: ("mean", {}),
    np.min: ("min", {}),
    np.max: ("max", {}),
    np.any: ("any", {}),
    np.all: ("all", {}),
    np.median: ("median", {}),
    np.quantile: ("quantile", {}),
    np.var: ("var", {"ddof": 0}),
    np.std: ("std", {"ddof": 0}),
}


class Operators(HasRows):
    """What has the operators of a column; a column is made of the results."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _operated(self, f: Any, inputs: tuple[Any, ...], op: str) -> Any:
        """Return a function of NumPy's of columns and other operands, as columns."""
        kind: Any = type(self)
        given = tuple(each.rows if isinstance(each, Operators) else each for each in inputs)
        made = computed(f, given, op)
        return tuple(kind.of(each) for each in made) if isinstance(made, tuple) else kind.of(made)

    def _operator(self: C, f: Any, inputs: tuple[Any, ...], op: str) -> C:
        made: C = self._operated(f, inputs, op)
        return made

    def __array_ufunc__(self, f: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or any(value is not None for value in kwargs.values()):
            what = f"np.{f.__name__}.{method}" if method != "__call__" else f"np.{f.__name__} with {', '.join(kwargs)}"
            raise InvalidTypeError(f"{what} is not for columns: column.to_vector() is for all of NumPy")
        return self._operated(f, inputs, f"np.{f.__name__}")

    def __array_function__(self, f: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if f is np.where and len(args) == 3 and not kwargs:
            return _where(*args)
        if f is np.select:
            return _select(*args, **kwargs)
        if f not in _METHODS or not args or args[0] is not self:
            raise InvalidTypeError(f"np.{f.__name__} is not for columns: column.to_vector() is for all of NumPy")
        name, defaults = _METHODS[f]
        return getattr(self, name)(*args[1:], **{**defaults, **kwargs})

    def __add__(self: C, other: Any) -> C:
        return self._operator(np.add, (self, other), "+")

    def __radd__(self: C, other: Any) -> C:
        return self._operator(np.add, (other, self), "+")

    def __sub__(self: C, other: Any) -> C:
        return self._operator(np.subtract, (self, other), "-")

    def __rsub__(self: C, other: Any) -> C:
        return self._operator(np.subtract, (other, self), "-")

    def __mul__(self: C, other: Any) -> C:
        return self._operator(np.multiply, (self, other), "*")

    def __rmul__(self: C, other: Any) -> C:
        return self._operator(np.multiply, (other, self), "*")

    def __truediv__(self: C, other: Any) -> C:
        return self._operator(np.true_divide, (self, other), "/")

    def __rtruediv__(self: C, other: Any) -> C:
        return self._operator(np.true_divide, (other, self), "/")

    def __floordiv__(self: C, other: Any) -> C:
        return self._operator(np.floor_divide, (self, other), "//")

    def __rfloordiv__(self: C, other: Any) -> C:
        return self._operator(np.floor_divide, (other, self), "//")

    def __mod__(self: C, other: Any) -> C:
        return self._operator(np.remainder, (self, other), "%")

    def __rmod__(self: C, other: Any) -> C:
        return self._operator(np.remainder, (other, self), "%")

    def __pow__(self: C, other: Any) -> C:
        return self._operator(np.power, (self, other), "**")

    def __rpow__(self: C, other: Any) -> C:
        return self._operator(np.power, (other, self), "**")

    def __and__(self: C, other: Any) -> C:
        return self._operator(np.bitwise_and, (self, other), "&")

    def __rand__(self: C, other: Any) -> C:
        return self._operator(np.bitwise_and, (other, self), "&")

    def __or__(self: C, other: Any) -> C:
        return self._operator(np.bitwise_or, (self, other), "|")

    def __ror__(self: C, other: Any) -> C:
        return self._operator(np.bitwise_or, (other, self), "|")

    def __xor__(self: C, other: Any) -> C:
        return self._operator(np.bitwise_xor, (self, other), "^")

    def __rxor__(self: C, other: Any) -> C:
        return self._operator(np.bitwise_xor, (other, self), "^")

    def __eq__(self: C, other: Any) -> C:  # type: ignore[override]
        return self._operator(np.equal, (self, other), "==")

    def __ne__(self: C, other: Any) -> C:  # type: ignore[override]
        return self._operator(np.not_equal, (self, other), "!=")

    def __lt__(self: C, other: Any) -> C:
        return self._operator(np.less, (self, other), "<")

    def __le__(self: C, other: Any) -> C:
        return self._operator(np.less_equal, (self, other), "<=")

    def __gt__(self: C, other: Any) -> C:
        return self._operator(np.greater, (self, other), ">")

    def __ge__(self: C, other: Any) -> C:
        return self._operator(np.greater_equal, (self, other), ">=")

    def __neg__(self: C) -> C:
        return self._operator(np.negative, (self,), "-")

    def __abs__(self: C) -> C:
        return self._operator(np.absolute, (self,), "abs")

    def __invert__(self: C) -> C:
        return self._operator(np.invert, (self,), "~")

    def abs(self: C) -> C:
        """Return the absolute values. Not collective."""
        return self.__abs__()


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Return values of the first choice whose condition is true, and the default where none is. Collective."""
    conditions, choices = list(condlist), list(choicelist)
    if len(conditions) != len(choices) or not conditions:
        raise InvalidArgumentError(f"{len(conditions)} conditions and {len(choices)} choices; both need as many")
    made = default
    for condition, choice in zip(conditions[::-1], choices[::-1]):
        made = _where(condition, choice, made)
    return made


def _where(condition: Any, one: Any, other: Any) -> Any:
    """Return values of one where a condition is true, and of the other where it is false or null. Collective."""
    if not isinstance(condition, Operators):
        raise InvalidTypeError("the condition of np.where for columns is a column of bool, such as table['a'] > 1")
    given: Any = condition
    if isinstance(one, Operators):
        return _beside_floats(one, other).where(given, other)
    if isinstance(other, Operators):
        return _beside_floats(other, one).mask(given.fillna(False), one)
    return given.fillna(False).map({True: one, False: other})


def _beside_floats(one: Any, other: Any) -> Any:
    """Return a column, as float64 if it is of integers beside floats, as NumPy has both then."""
    types = arrow().types
    if isinstance(other, Operators):
        floats = bool(types.is_floating(other.rows.schema.types[0]))
    else:
        floats = isinstance(other, (float, np.floating))
    return one.astype("float64") if floats and types.is_integer(one.dtype) else one
