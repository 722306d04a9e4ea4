"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._native.kinds import kind_of
from .._native.objects import refuse_closed
from ..algorithms import folds, statistics
from ..algorithms.folds import REAL_SCALARS, fold
from ..algorithms.layouts import dimensions
from ..algorithms.manipulation import expand_dims, moveaxis
from ..containers.base import check_container
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import local_step
from ..runtime.scheduler import algorithm
from . import stacks
from .orthogonal import svdvals

#: The orders of matrix norms that are names.
_NAMES = ("fro", "nuc")


@algorithm
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, *, reproducible: bool = False) -> Any:
    """Return a norm of a vector, of a matrix, or of the vectors along a dimension. Collective.

    Parameters
    ----------
    a
        A container, divided in any way.
    ord
        Of vectors, and of all elements of a container of any dimensions, None or 2: the root of the sum of the squared
        magnitudes. 1: the sum of the magnitudes. ``np.inf`` and ``-np.inf``: the greatest and the least magnitude. 0:
        how many are not zero. Another number p: the p-th root of the sum of their p-th powers.
        Of matrices, None or ``"fro"``: as of vectors. 2, -2 and ``"nuc"``: the greatest and the least singular value,
        and the sum of all. 1, -1, ``np.inf`` and ``-np.inf``: the greatest and the least sum of magnitudes of a column,
        and of a row.
    axis
        The dimension of the vectors; two dimensions, or None and an order for a container of two dimensions, say that
        it is a matrix. None takes all elements.
    keepdims
        As of :func:`dtl.sum`.
    reproducible
        As of :func:`dot`, for the norm of order 2 of all elements.

    Returns
    -------
    scalar or container
        As of :func:`dtl.sum`, of float64, or of float32 where the elements are of float32 or complex64.

    Raises
    ------
    InvalidTypeError
        If a is no container, ord no number or name, or keepdims neither true nor false. On every rank.
    InvalidArgumentError
        If a matrix has no norm of that order, a container of more dimensions is given an order and no axis, or
        reproducible is asked for with another order than 2, or an axis. On every rank.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3, -4]))
    ...     print(dtl.norm(vec), dtl.norm(vec, 1), np.linalg.norm(vec, np.inf))
    ...     square = dtl.DistributedTensor.from_numpy(ctx, np.array([[1.0, 2.0], [3.0, 4.0]]))
    ...     print(dtl.norm(square, 1), dtl.norm(square, np.inf))
    5.0 7.0 4.0
    6.0 7.0
    """
    check_container("a", a)
    with local_step(a.context, "norm"):
        refuse_closed(a)
        ord = "fro" if isinstance(ord, str) and ord == "f" else ord  # NumPy's short name
        if not (ord is None or isinstance(ord, (int, float, np.integer, np.floating)) or _is_name(ord)):
            raise InvalidTypeError(f"ord must be a number, 'fro' or 'nuc', not {ord!r}")
        keepdims = _truth("keepdims", keepdims)
        pair = _matrix_axes(a, ord, axis)
        order = 2.0 if ord is None or ord in _NAMES else float(ord)
        if reproducible and (order != 2 or ord in _NAMES or axis is not None or keepdims or pair):
            raise InvalidArgumentError("reproducible=True is for the norm of order 2 of all elements")
    if pair:
        return _of_matrices(a, ord, pair, keepdims)
    if axis is not None or keepdims:
        return _norm_along(a, order, axis, keepdims)
    real = REAL_SCALARS[a.dtype.num]
    if order == 2:
        exact = int(bool(reproducible) and kind_of(a.dtype).is_inexact)
        return real(math.sqrt(fold(a, folds.SQUARES, 0, exact)))
    if order == 1:
        return real(fold(a, folds.MAGNITUDES))
    if order == 0:
        return real(fold(a, folds.TRUTHS))
    return _norm_along(a, order, None, False)


def _is_name(ord: Any) -> bool:
    return isinstance(ord, str) and ord in _NAMES


def _truth(name: str, value: Any) -> bool:
    """Return whether a value is true, and refuse what is neither, such as an array of several elements."""
    try:
        return bool(value)
    except (TypeError, ValueError):
        raise InvalidTypeError(f"{name} must be True or False, not {value!r}") from None


def _matrix_axes(a: Any, ord: Any, axis: Any) -> tuple[int, ...]:
    """Return the dimensions of rows and columns; none if a norm is of vectors."""
    if axis is None:
        if ord is None or a.ndim == 1:
            pair: tuple[int, ...] = ()
        elif a.ndim == 2:
            pair = (0, 1)
        else:
            raise InvalidArgumentError("Improper number of dimensions to norm.")
    elif isinstance(axis, (tuple, list)) and len(axis) != 1:
        if len(axis) != 2:
            raise InvalidArgumentError("Improper number of dimensions to norm.")
        dimensions(axis, a.ndim)
        pair = tuple(int(d) % a.ndim for d in axis)
        if ord in (None, "fro"):
            return ()
    else:
        pair = ()
    if pair and ord not in (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise InvalidArgumentError("Invalid norm order for matrices.")
    if pair and ord == -2 and 0 in (a.shape[d] for d in pair):
        raise InvalidArgumentError(f"a matrix without elements, of shape {a.shape}, has no norm of order {ord!r}")
    if not pair and ord in _NAMES:
        raise InvalidArgumentError(f"Invalid norm order '{ord}' for vectors")
    return pair


def _of_matrices(a: Any, ord: Any, pair: tuple[int, ...], keepdims: bool) -> Any:
    """Return norms of matrices. Collective."""
    if ord in (None, "fro"):
        return _norm_along(a, 2.0, None, keepdims)
    if ord in ("nuc", 2, -2):
        return _of_singular_values(a, ord, pair, keepdims)
    rows, columns = pair
    along, across = (rows, columns) if ord in (1, -1) else (columns, rows)
    extreme = statistics.max if ord > 0 else statistics.min
    sums = _norm_along(a, 1.0, along, True)
    least: Any = (
        {"initial": 0} if ord > 0 and 0 in (a.shape[d] for d in pair) else {}
    )  # of no elements, as NumPy has it
    if keepdims:
        return extreme(sums, across, keepdims=True, **least)
    return extreme(sums, None if a.ndim == 2 else pair, **least)


def _of_singular_values(a: Any, ord: Any, pair: tuple[int, ...], keepdims: bool) -> Any:
    """Return the norms of matrices that are the greatest or least singular value, or the sum of all. Collective."""

    def found(s: Any) -> Any:
        return s.sum(axis=-1) if ord == "nuc" else s.max(axis=-1, initial=0) if ord == 2 else s.min(axis=-1)

    if a.ndim == 2:
        with svdvals(a) as values:
            value = found(values.local_view())
        return np.full((1, 1), value) if keepdims else value
    matrices = moveaxis(a, pair, (-2, -1))
    norms = stacks.each("norm", f"order {ord!r}", (matrices,), lambda x: found(np.linalg.svd(x, compute_uv=False)))
    return expand_dims(norms, pair) if keepdims else norms


def _norm_along(a: Any, order: float, axis: Any, keepdims: bool) -> Any:
    magnitudes = np.abs(a if kind_of(a.dtype).is_inexact else a.astype(np.float64))
    if math.isinf(order):
        if order < 0:
            return statistics.min(magnitudes, axis, keepdims=keepdims)
        return statistics.max(magnitudes, axis, keepdims=keepdims, initial=0)  # that of no elements is 0
    if order == 0:
        return statistics.sum(magnitudes != 0, axis, magnitudes.dtype, keepdims=keepdims)
    total = statistics.sum(magnitudes**order, axis, keepdims=keepdims)
    power = 1 / order
    return total ** (
        total.dtype.type(power) if kind_of(total.dtype).is_float else power
    )  # NumPy 1 makes float64 of both


@algorithm
def vector_norm(a: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Return a norm of all elements, or of those along dimensions, as one vector. Collective.

    Parameters
    ----------
    a, keepdims
        As of :func:`norm`.
    axis
        The dimensions that count as one vector; None for all.
    ord
        As of :func:`norm` of vectors.

    Raises
    ------
    InvalidTypeError, BoundsError
        If a is no container, ord no number, keepdims neither true nor false, or there is no such dimension. On every
        rank.
    """
    check_container("a", a)
    with local_step(a.context, "vector_norm"):
        refuse_closed(a)
        if not isinstance(ord, (int, float, np.integer, np.floating)):
            raise InvalidTypeError(f"ord must be a number, not {ord!r}")
        keepdims = _truth("keepdims", keepdims)
        dims = dimensions(axis, a.ndim)
    if len(dims) == a.ndim and not keepdims and ord == 2:
        return norm(a)
    return _norm_along(a, float(ord), axis, keepdims)


@algorithm
def matrix_norm(a: Any, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Return a norm of a matrix: :func:`norm` of the last two dimensions. Collective.

    Parameters and errors are those of :func:`norm`.
    """
    check_container("a", a)
    refuse_closed(a)
    if a.ndim < 2:
        raise InvalidArgumentError(f"a of shape {a.shape} is no matrix")
    return norm(a, ord, (-2, -1), keepdims)
