"""What the tables of calls have in common.

A call is a function of ``make``, which makes an array of the library that is tried from one of NumPy's. It returns what
it has computed: arrays, numbers, labelled arrays, or several of these.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

Make = Callable[[Any], Any]
Call = Callable[[Make], Any]


def flat(result: Any) -> list[Any]:
    """Return the arrays and numbers of a result."""
    if hasattr(result, "dims") and hasattr(result, "data"):
        return [result.data]
    if isinstance(result, (list, tuple)):
        return [each for value in result for each in flat(value)]
    return [result]


def same(got: Any, want: Any) -> bool:
    """Say whether two results agree: shape, kind of the dtype, and values but for rounding."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape or got.dtype.kind != want.dtype.kind:
        return False
    if want.dtype.kind in "fc":
        loose = 1e-4 if min(got.dtype.itemsize, want.dtype.itemsize) <= 4 else 1e-7
        return bool(np.allclose(got, want, rtol=loose, atol=loose * 1e-3, equal_nan=True))
    return bool(np.array_equal(got, want))
