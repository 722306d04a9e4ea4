"""What the columns of a table are reduced to, by their names."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any, Callable, Dict


class ByName(Dict[str, Any]):
    """A mapping of the names of columns to numbers, which has the operators of these: ``t.max() - t.min()``.

    The other operand is a number, or a mapping with the same names.
    """

    __slots__ = ()

    def _operated(self, f: Callable[[Any, Any], Any], other: Any) -> Any:
        if isinstance(other, Mapping):
            if other.keys() != self.keys():
                return NotImplemented
            return ByName({name: _made(f, each, other[name]) for name, each in self.items()})
        return ByName({name: _made(f, each, other) for name, each in self.items()})

    def __add__(self, other: Any) -> Any:
        return self._operated(operator.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._operated(lambda one, each: each + one, other)

    def __sub__(self, other: Any) -> Any:
        return self._operated(operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operated(lambda one, each: each - one, other)

    def __mul__(self, other: Any) -> Any:
        return self._operated(operator.mul, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operated(operator.mul, other)

    def __truediv__(self, other: Any) -> Any:
        return self._operated(operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operated(lambda one, each: each / one, other)


def _made(f: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Return a function of two numbers; None, which stands for null, of None."""
    return None if one is None or other is None else f(one, other)
