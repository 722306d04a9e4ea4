"""What NumPy's functions do from 1.24 on, for tests that compare with them where NumPy is as old as 1.20."""

from __future__ import annotations

from typing import Any

import numpy as np

#: NumPy's version, which compares with texts.
VERSION = np.lib.NumpyVersion(np.__version__)

#: The ways of quantiles that NumPy has had before 1.22.
_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")


def quantile(array: Any, q: Any, method: str) -> Any:
    """Return numpy.quantile; None where this NumPy does not have the method."""
    numpys: Any = np.quantile
    if VERSION >= "1.22.0":
        return numpys(array, q, method=method)
    return numpys(array, q, interpolation=method) if method in _INTERPOLATIONS else None


def unique(array: Any, return_counts: bool = False) -> Any:
    """Return numpy.unique, with one NaN for all of them, as NumPy has from 1.21 on."""
    distinct, counts = np.unique(array, return_counts=True)
    if VERSION < "1.21.0" and distinct.dtype.kind in "fc":
        nans = np.isnan(distinct)
        if nans.any():
            total = counts[nans].sum()
            distinct = np.concatenate([distinct[~nans], distinct[nans][:1]])
            counts = np.append(counts[~nans], total)
    return (distinct, counts) if return_counts else distinct


def keeping(number: str, array: Any, axis: int) -> Any:
    """Return argmin or argmax with the axis kept, which NumPy has from 1.22 on."""
    return np.expand_dims(getattr(np, number)(array, axis=axis), axis)
