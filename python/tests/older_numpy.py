"""What NumPy's functions do from 1.25 on, for tests that compare with them where NumPy is as old as 1.20."""

from __future__ import annotations

from typing import Any

import numpy as np

#: NumPy's version, which compares with texts.
VERSION = np.lib.NumpyVersion(np.__version__)

#: The ways of quantiles that NumPy has had before 1.22.
_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")


def has_quantiles(method: str) -> bool:
    """Say whether this NumPy has a method of quantiles."""
    return VERSION >= "1.22.0" or method in _INTERPOLATIONS


def quantile(array: Any, q: Any, method: str, function: Any = np.quantile, **options: Any) -> Any:
    """Return numpy.quantile or numpy.nanquantile; where this NumPy has not the method, of all elements only."""
    skipping, dates = function is np.nanquantile, array.dtype.kind in "mM"
    if not has_quantiles(method):
        found = _quantile(array[~np.isnan(array)], np.asarray(q), method)
        found = found.reshape(found.shape + (1,) * array.ndim) if options.get("keepdims") else found
    else:
        found = function(array, q, **{"method" if VERSION >= "1.22.0" else "interpolation": method}, **options)
        if VERSION < "1.22.0" and array.dtype == np.float16 and method in ("linear", "midpoint"):
            found = np.asarray(found, np.float64)  # as which NaN alone is none
    if skipping or not (dates or not has_quantiles(method)):
        return found
    broken = np.isnan(array).any(axis=options.get("axis"), keepdims=options.get("keepdims", False))
    return np.where(broken, np.array("NaT" if dates else np.nan, np.asarray(found).dtype), found)


def _quantile(array: Any, q: Any, method: str) -> Any:
    """Return quantiles by interpolation between two elements, as Hyndman and Fan number them: 5, 6, 8 and 9."""
    ordered, size = np.sort(array, axis=None), array.size
    shift = {"hazen": 1 / 2, "weibull": 0, "median_unbiased": 1 / 3, "normal_unbiased": 3 / 8}[method]
    at = np.clip(size * q + (shift + q * (1 - shift - shift)) - 1, 0, size - 1)
    low = np.floor(at).astype(int)
    first, last, part = ordered[low], ordered[np.minimum(low + 1, size - 1)], at - low
    return np.where(part < 0.5, first + (last - first) * part, last - (last - first) * (1 - part))


def median(function: Any, array: Any, **options: Any) -> Any:
    """Return numpy.median or numpy.nanmedian, of spans of time NaT where one is."""
    found = function(array, **options)
    if function is np.median and array.dtype.kind == "m":
        return np.where(np.isnat(array).any(**options), found.dtype.type("NaT", np.datetime_data(found.dtype)), found)
    return found


def unique(array: Any, return_counts: bool = False) -> Any:
    """Return numpy.unique, with one NaN for all of them, as NumPy has from 1.21 on."""
    distinct, counts = np.unique(array, return_counts=True)
    if VERSION < "1.21.0" and distinct.dtype.kind in "fcmM":
        nans = np.isnan(distinct)
        if nans.any():
            total = counts[nans].sum()
            distinct = np.concatenate([distinct[~nans], distinct[nans][:1]])
            counts = np.append(counts[~nans], total)
    return (distinct, counts) if return_counts else distinct


def keeping(number: str, array: Any, axis: int) -> Any:
    """Return argmin or argmax with the axis kept, which NumPy has from 1.22 on."""
    return np.expand_dims(getattr(np, number)(array, axis=axis), axis)
