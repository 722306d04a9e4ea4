"""Inner products, and products of matrices."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from .._native.arguments import input_array
from .._native.kinds import fingerprint, kind_of
from .._native.library import bridge
from .._native.objects import handle_of, refuse_closed
from ..algorithms.array_operands import together
from ..algorithms.exchange import share
from ..algorithms.folds import ELEMENT_SCALARS
from ..algorithms.manipulation import ravel
from ..algorithms.wider_types import is_widened, multiplied_in_wider
from ..containers import one_rank
from ..containers.base import DistributedContainer, check_container
from ..containers.indexing.regions import moved_to
from ..containers.interior import check_numbers, is_laid_out_as
from ..containers.places.copies import computed
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime.agreement import local_step
from ..runtime.scheduler import algorithm, computed_on_devices
from . import summa
from .contractions import contracted, tensordot

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

_WORD = 2**64 - 1


@algorithm
@computed_on_devices
def dot(a: Any, b: Any, *, reproducible: bool = False) -> Any:
    """Return the inner product of two vectors, or the product of matrices. Collective.

    Parameters
    ----------
    a, b
        Containers of one dimension; one may be an array that is the same on every rank. If they are divided
        differently, b is moved to where a is. Of more dimensions, the sums are those of ``np.dot``: of products along
        the last dimension of a and the last but one of b, which of matrices is :func:`matmul`. A number multiplies
        each element.
    reproducible
        Whether the sum of floats is to be the exact one, rounded once: the same bits for any number of ranks, any
        partition and any order.

    Returns
    -------
    scalar or container
        Of vectors, a NumPy scalar of the dtype that NumPy gives their product; the same bits on every rank.

    Raises
    ------
    InvalidTypeError
        If neither is a container, or one is no array.
    InvalidArgumentError
        If their shapes do not fit.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    Products of float32 are added up in float64. Exact sums are those of :func:`dtl.sum`, of products and what rounding
    took from them; where that is too small for a float, the sum is as reproducible, but not exact.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.arange(4.0))
    ...     print(vec.dot(vec), np.dot(vec, vec))
    14.0 14.0
    """
    return _inner("dot", a, b, 0, reproducible)


@algorithm
@computed_on_devices
def vdot(a: Any, b: Any, *, reproducible: bool = False) -> Any:
    """Return the inner product of all elements of two containers, the first's conjugated. Collective.

    Parameters, result and errors are those of :func:`dot`, but for the shapes, which are any of as many elements.
    """
    a, b = together(*(np.atleast_1d(c) if _is_number(c) else c for c in (a, b)))
    if isinstance(a, DistributedContainer) and isinstance(b, DistributedContainer) and a.shape != b.shape:
        a, b = ravel(a), ravel(b)
    return _inner("vdot", a, b, 1, reproducible)


def _inner(name: str, a: Any, b: Any, conjugate: int, reproducible: Any) -> Any:
    if not conjugate and (_is_number(a) or _is_number(b)):
        number, known = (a, b) if _is_number(a) else (b, a)
        check_container("a", known)
        share(known, name, f"the number {number!r}")
        factor = np.asarray(number)
        if not kind_of(factor.dtype).is_number:
            return np.multiply(a, b)
        dtype = np.result_type(factor.dtype, known.dtype)  # a Python number is a float64 or int64 here, as in NumPy
        return known.astype(dtype, copy=False) * factor.astype(dtype)[()]
    if reproducible:
        return computed(name, _product, (name, a, b, conjugate, reproducible))
    return _product(name, a, b, conjugate, reproducible)


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and kind_of(value.dtype).is_number
    return isinstance(value, (numbers.Number, np.bool_))


def _product(name: str, a: Any, b: Any, conjugate: int, reproducible: Any) -> Any:
    a, b = together(a, b)
    known = a if isinstance(a, DistributedContainer) else b
    check_container("a", known)
    if is_widened(a) or is_widened(b):
        return multiplied_in_wider(lambda one, other: _product(name, one, other, conjugate, reproducible), a, b)
    with local_step(known.context, name):
        for argument, value in (("a", a), ("b", b)):
            check_container(argument, value)
            refuse_closed(value)
            check_numbers(value, name)
        if not conjugate and max(a.ndim, b.ndim) > 1:
            one = None
        elif a.shape != b.shape:
            raise InvalidArgumentError(
                f"shapes {a.shape} and {b.shape} not aligned: {a.shape[-1]} (dim 0) != {b.shape[0]} (dim 0)"
            )
        else:
            one = np.result_type(a.dtype, b.dtype)
    if one is None:
        return matmul(a, b) if b.ndim < 3 else tensordot(a, b, (-1, -2))
    if not is_laid_out_as(a, b):
        share(a, name, also=(b,), anywhere=True)
        b = moved_to(name, b, a)
    a, b = (c if c.dtype == one else c.astype(one) for c in (a, b))
    exact = int(bool(reproducible) and kind_of(one).is_inexact)
    value = bridge.dot(a, handle_of(b), conjugate, exact)
    if kind_of(one).is_integer:
        return np.array(value & _WORD, np.uint64).astype(one)[()]
    return ELEMENT_SCALARS[one.num](value)


@algorithm
def matmul(a: Any, b: Any) -> Any:
    """Return the product of two matrices, of a matrix and a vector, or of two vectors: ``a @ b``. Collective.

    Parameters
    ----------
    a, b
        Containers of at least one dimension, divided in any way; one of them may be a NumPy array that is the same on
        every rank, as the weights of a model are. A vector is a row on the left, a column on the right.
        Of more than two dimensions, those before the last two number matrices, and spread as in NumPy.

    Returns
    -------
    container or scalar
        Of matrices, a tensor that is divided as a is: over a's grid, by blocks; or as a's first dimension, where that
        is divided otherwise. Of a matrix and a vector, a vector: divided as the matrix's dimension where its other one
        is not divided, else by blocks. Of two vectors, a NumPy scalar. Of more dimensions, and with an array, see
        :func:`dtl.einsum`.

    Raises
    ------
    InvalidTypeError
        If a or b is no container.
    InvalidArgumentError
        If the shapes do not fit.
    CollectiveMismatchError
        If ranks pass different containers.

    Notes
    -----
    The rows of the grid gather panels of a, and its columns panels of b, and NumPy's BLAS multiplies them (after van de
    Geijn and Watts 1997, "SUMMA: scalable universal matrix multiplication algorithm"), with at most 64 MiB of panels on
    a rank: matrices that are smaller meet once. b is moved to a's grid before, if it is on another. A vector is copied
    to every rank.
    Where each rank has the columns of a whose rows it has of b, and the product is small beside them, as in X.T @ X of
    a tall X that is divided by rows, the ranks multiply what they have, and add up the products.
    With a limit of memory, matrices on disk are multiplied by square tiles of a 32nd of it, of which four are there:
    a is read once for each column of tiles of the product, b once for each row of them, and the product is written
    once. Those of which each rank has one tile at most are multiplied where they lie.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     t = dtl.DistributedTensor.from_numpy(ctx, np.array([[1.0, 2.0], [3.0, 4.0]]))
    ...     print((t @ t)[...].gather_to().tolist())
    [[7.0, 10.0], [15.0, 22.0]]
    """
    made = one_rank.with_vector(a, b)
    made = summa.rows_with_vector(a, b) if made is None else made
    return _matmul(a, b) if made is None else made


def _matmul(a: Any, b: Any) -> Any:
    known = a if isinstance(a, DistributedContainer) else b
    check_container("a", known)
    a, b = (input_array(name, c) if isinstance(c, (list, tuple)) else c for name, c in (("a", a), ("b", b)))
    if is_widened(a) or is_widened(b):
        return multiplied_in_wider(matmul, a, b)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return _with_array(known, a, b)
    with local_step(known.context, "matmul"):
        for name, value in (("a", a), ("b", b)):
            check_container(name, value)
            refuse_closed(value)
            check_numbers(value, "matmul")
        _check_inner(a, b)
        dtype = np.result_type(a.dtype, b.dtype)
    share(a, "matmul", also=(b,))
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, moved_to("matmul", b, a))
    if max(a.ndim, b.ndim) > 2:
        return contracted(_formula(a, b), (a, b))
    if a.ndim == 2 and b.ndim == 2:
        return summa.product(summa.owned(a), b, dtype)
    matrix, line, side = (a, b, 1) if b.ndim == 1 else (b, a, 0)
    return summa.with_vector(summa.owned(matrix), line, side, dtype)


def _check_inner(a: Any, b: Any) -> None:
    """Refuse operands whose extents differ along the dimension that is summed over: none of these spreads."""
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise InvalidArgumentError(
            f"matmul: shapes {a.shape} and {b.shape} not aligned: {a.shape[-1]} elements of each row, and {inner} of "
            "each column"
        )


def _formula(a: Any, b: Any) -> str:
    """Return in Einstein's notation what matmul does."""
    left, right = "i" if a.ndim == 1 else "...ji", "i" if b.ndim == 1 else "...ik"
    return f"{left},{right}->...{left[3:4]}{right[4:]}"


def _with_array(known: DistributedContainer, a: Any, b: Any) -> Any:
    """Return the product of a container and an array that every rank has. Collective."""
    with local_step(known.context, "matmul"):
        refuse_closed(known)
        array = b if known is a else a
        if not kind_of(array.dtype).is_number or not array.ndim:
            raise InvalidTypeError(f"matmul: an operand must be a container or an array of numbers, not {array!r}")
        _check_inner(a, b)
    share(known, "matmul", f"an array with fingerprint {fingerprint(array)} of shape {array.shape}")
    return contracted(_formula(a, b), (a, b))
