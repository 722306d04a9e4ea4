"""Products of floats as numbers of about 1 and powers of two: those of parts overflow nowhere, only the whole may."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: How many numbers between a half and 1 are multiplied before exponents are taken out: no such product underflows.
_ROWS = 512

#: Beyond any exponent.
_FAR = 5000


def apart(x: Array) -> tuple[Array, Array]:
    """Return numbers of about 1 and the exponents of two that they are to be multiplied by."""
    if x.dtype.kind != "c":
        fractions, exponents = np.frexp(x)
        return fractions, exponents.astype(np.int64)
    exponents = np.frexp(np.maximum(np.abs(x.real), np.abs(x.imag)))[1]
    return _scaled(x, -exponents), exponents.astype(np.int64)


def whole(fractions: Array, exponents: Array) -> Array:
    """Return the numbers that others and exponents stand for, with the infinities and zeros of what is out of range."""
    return _scaled(fractions, exponents.clip(-_FAR, _FAR).astype(np.intc))


def _scaled(x: Array, exponents: Array) -> Array:
    if x.dtype.kind != "c":
        return np.asarray(np.ldexp(x, exponents))
    made = np.empty(x.shape, x.dtype)
    made.real, made.imag = np.ldexp(x.real, exponents), np.ldexp(x.imag, exponents)
    return made


def multiplied(a: tuple[Array, ...], b: tuple[Array, ...]) -> tuple[Array, Array]:
    """Return the products of two parts, each of numbers and exponents."""
    fractions, exponents = apart(np.asarray(a[0] * b[0]))
    return fractions, a[1] + b[1] + exponents


def along(view: Array, dims: tuple[int, ...], inner: np.dtype[Any]) -> tuple[Array, Array]:
    """Return the products of an array along dimensions, as numbers and exponents."""
    try:
        with np.errstate(over="raise", under="raise", invalid="ignore"):
            return apart(np.asarray(np.multiply.reduce(view, axis=dims, dtype=inner)))
    except FloatingPointError:
        pass
    rest = tuple(extent for d, extent in enumerate(view.shape) if d not in dims)
    lines = np.moveaxis(view, dims, range(len(dims))).reshape(-1, *rest)
    total = np.ones(rest, inner), np.zeros(rest, np.int64)
    with np.errstate(invalid="ignore"):
        for first in range(0, len(lines), _ROWS):
            fractions, exponents = apart(lines[first : first + _ROWS].astype(inner, copy=False))
            total = multiplied(total, (fractions.prod(axis=0), exponents.sum(axis=0)))
    return total


def of_runs(x: Array, begins: Array) -> tuple[Array, Array]:
    """Return the products of the runs of a vector that begin at some indices, in order, as numbers and exponents."""
    fractions, exponents = apart(x)
    while len(fractions) > len(begins):
        pieces = np.union1d(begins, np.arange(0, len(fractions), _ROWS))
        products, more = apart(np.multiply.reduceat(fractions, pieces))
        exponents = np.add.reduceat(exponents, pieces) + more
        fractions, begins = products, np.searchsorted(pieces, begins)
    return fractions, exponents
