"""A namespace of the array API whose arrays are divided in every way, one after the other, for array-api-tests.

``make test-array-api`` runs the tests with it on two ranks.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import dtl

#: The functions of which the tests make their arrays.
_MAKING = [
    "arange",
    "asarray",
    "empty",
    "eye",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "reshape",
    "zeros",
    "zeros_like",
]


class Divided:
    """The namespace of a context, of which each new array is divided in another way than the one before."""

    def __init__(self, ctx: dtl.Context) -> None:
        self._namespace = dtl.array_api(ctx)
        self._ways = itertools.cycle(("block", "cyclic", "block_cyclic", "replicated", "columns"))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._namespace, name)
        if name not in _MAKING:
            return found

        @functools.wraps(found)
        def make(*args: Any, **kwargs: Any) -> Any:
            return self._divided(found(*args, **kwargs))

        return make

    def _divided(self, made: Any) -> Any:
        if not isinstance(made, dtl.DistributedContainer):
            return made
        way = next(self._ways)  # every rank makes the same arrays, in the same order
        if way != "columns":
            made.redistribute(way)
        elif made.ndim > 1:
            made.redistribute(grid=(*[1] * (made.ndim - 1), made.context.size))
        return made


xp = Divided(dtl.Context())
