"""Vectors as solvers compute with them: NumPy arrays with this rank's elements, and sums over all ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._native.kinds import fingerprint
from ...comm.reductions import allreduce
from ...containers.base import DistributedContainer
from ...containers.making import created
from ...containers.sequences import DistributedVector
from ...exceptions import InvalidArgumentError, InvalidTypeError
from ...ops import SUM
from ...runtime.context import Context
from .. import division
from ..making import TYPES
from ..placing import placed

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Parts:
    """How the vectors of a solver are divided: which elements this rank has.

    Parameters
    ----------
    ctx
        The context.
    begins
        Where the elements of each rank begin, and where the last ones end.
    """

    __slots__ = ("begins", "context")

    def __init__(self, ctx: Context, begins: Array) -> None:
        self.context, self.begins = ctx, begins

    @property
    def length(self) -> int:
        """The number of elements on all ranks."""
        return int(self.begins[-1])

    @property
    def size(self) -> int:
        """The number of elements of this rank."""
        return int(self.begins[self.context.rank + 1] - self.begins[self.context.rank])

    def is_like(self, other: Parts) -> bool:
        """Say whether other vectors are divided alike."""
        return self.begins is other.begins or np.array_equal(self.begins, other.begins)

    def zeros(self, dtype: Any) -> Array:
        """Return this rank's part of a vector of zeros."""
        return np.zeros(self.size, dtype)

    def new(self, dtype: Any, words: str) -> DistributedVector:
        """Return a vector of zeros. Collective: the ranks agree on the words."""
        divided = division.division_of(self.begins)
        return created(DistributedVector, self.context, (self.length,), dtype, divided, words=words)

    def part(self, op: str, given: Any, dtype: Any) -> Array:
        """Return a copy of this rank's elements of what ``checked`` has returned. Collective if they move."""
        if isinstance(given, np.ndarray):
            own = given[int(self.begins[self.context.rank]) : int(self.begins[self.context.rank + 1])]
            return own.astype(dtype)
        return np.array(placed(op, given, self.begins).local_view(), dtype)

    def sums(self, *pairs: tuple[Array, Array]) -> Array:
        """Return the inner products of vectors, of which the first one is conjugated. Collective: one meeting."""
        own = np.array([inner(a, b) for a, b in pairs])
        return np.asarray(allreduce(self.context, own, SUM))

    def total(self, own: Array) -> Array:
        """Return the sums of the ranks' arrays. Collective."""
        return np.asarray(allreduce(self.context, np.ascontiguousarray(own), SUM))

    def norm(self, part: Array) -> Any:
        """Return the Euclidean norm of a vector. Collective."""
        return np.sqrt(self.sums((part, part))[0].real)


def checked(name: str, given: Any, length: int, of: str) -> Any:
    """Return a vector as a container or an array, of as many elements as a matrix has rows or columns."""
    if not isinstance(given, DistributedContainer):
        given = np.asarray(given)
        if given.ndim == 2 and given.shape[1] == 1:  # as SciPy takes them
            given = given[:, 0]
    if given.dtype.newbyteorder("=") not in TYPES:
        raise InvalidTypeError(f"{name} of dtype {given.dtype} is no vector of numbers that solvers compute with")
    if given.shape != (length,):
        raise InvalidArgumentError(f"shapes of {of} and {name} {given.shape} are incompatible")
    return given


def columns_given(name: str, given: Any, length: int) -> Any:
    """Return vectors that are columns of a container, or of an array."""
    found = given if isinstance(given, DistributedContainer) else np.asarray(given)
    if found.ndim != 2 or found.shape[0] != length:
        raise InvalidArgumentError(f"{name} of shape {found.shape} must have {length} rows, and few columns")
    if found.dtype.newbyteorder("=") not in TYPES:
        raise InvalidTypeError(f"{name} of dtype {found.dtype} is no matrix of numbers that is computed with")
    return found


def rows_of_columns(op: str, parts: Parts, given: Any, dtype: Any) -> Array:
    """Return this rank's elements of columns that ``columns_given`` returns, one a row. Collective if they move."""
    if isinstance(given, np.ndarray):
        block = given[int(parts.begins[parts.context.rank]) : int(parts.begins[parts.context.rank + 1])]
    else:
        block = placed(op, given, parts.begins).local_view()
    return np.array(block.T, dtype)


def said(given: Any) -> str:
    """Return what the ranks compare of a vector that ``checked`` has returned."""
    return f"array {fingerprint(given)}" if isinstance(given, np.ndarray) else f"container {given.shape} {given.dtype}"


def floating(*dtypes: Any) -> np.dtype[Any]:
    """Return the type of elements that a solver computes with: float64, unless all are of another floating type."""
    kinds = [np.dtype(each) if np.dtype(each).char in "fdFD" else np.dtype(np.float64) for each in dtypes]
    return np.result_type(*kinds)


def inner(a: Array, b: Array) -> Any:
    """Return the inner product of this rank's parts, of which the first one is conjugated."""
    total = a.dtype.type(0)
    for begin in range(0, a.size, _CHUNK):
        total += np.vdot(a[begin : begin + _CHUNK], b[begin : begin + _CHUNK])
    return total


def add(to: Array, factor: Any, vector: Array) -> None:
    """Add a multiple of a vector to another one, in place and without memory for the multiple."""
    axpy = _axpy(to.dtype)
    for begin in range(0, to.size, _CHUNK):
        axpy(vector[begin : begin + _CHUNK], to[begin : begin + _CHUNK], a=factor)


def advance(x: Array, r: Array, alpha: Any, p: Array, q: Array) -> Any:
    """Add alpha times p to x, and subtract alpha times q from r. Return the square of this rank's part of r."""
    axpy, total = _axpy(x.dtype), x.dtype.type(0)
    for begin in range(0, x.size, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        axpy(p[part], x[part], a=alpha)
        left = r[part]
        axpy(q[part], left, a=-alpha)
        total += np.vdot(left, left)
    return total


def scale_and_add(to: Array, factor: Any, vector: Array) -> None:
    """Multiply a vector by a number and add another one, in place."""
    for begin in range(0, to.size, _CHUNK):
        chunk = to[begin : begin + _CHUNK]
        chunk *= factor
        chunk += vector[begin : begin + _CHUNK]


#: So many elements stay in a cache from one step to the next, and are too few for the threads of BLAS, which
#: would wait for each other longer than they compute.
_CHUNK = 8192

_found: dict[str, Any] = {}


def _axpy(dtype: np.dtype[Any]) -> Any:
    if dtype.char not in _found:
        from scipy.linalg import blas

        _found[dtype.char] = getattr(blas, {"f": "saxpy", "d": "daxpy", "F": "caxpy", "D": "zaxpy"}[dtype.char])
    return _found[dtype.char]
