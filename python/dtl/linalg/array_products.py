"""Products of this rank's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.callsite import by_user

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def multiplied(x: Array, y: Array, **out: Array) -> Any:
    """Return NumPy's product of matrices and vectors. What it warns of names the line where the user called DTL.

    OpenBLAS marks numbers as invalid that it has found on the stack where float32 matrices have five columns
    (findings/openblas-five-columns-warn.sh). A piece of a matrix may have five where the whole has not.
    """
    if 5 in (x.shape[-1], y.shape[0]) and x.dtype == y.dtype == np.float32:
        with np.errstate(invalid="ignore"):
            made = np.matmul(x, y, **out)
        if not np.isnan(made).any():
            return made
    return by_user(np.matmul, (x, y), out)
