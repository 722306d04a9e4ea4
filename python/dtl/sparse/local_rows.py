"""The rows of one rank of a sparse matrix, as two matrices of SciPy's: of its own columns and of others'.

After Balay et al., "PETSc users manual", MPIAIJ: the product with the first needs no other rank.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._native.library import bridge
from ..exceptions import BackendUnavailableError
from ..runtime.threaded import over

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Matrix = Any  # a csr_array of scipy.sparse, which need not be there

_LARGEST = 2**31 - 1

#: Of so many times as many columns as elements, those that there are are found by sorting.
_SPARSE = 16


def scipy_sparse() -> Any:
    """Return scipy.sparse, or say that it is missing."""
    try:
        import scipy.sparse

        return scipy.sparse if hasattr(scipy.sparse, "csr_array") else _too_old(scipy.__version__)
    except ImportError as error:
        raise BackendUnavailableError(f"dtl.sparse needs SciPy: pip install 'pydtl[sparse]' ({error})") from None


def is_scipys(value: Any) -> bool:
    """Say whether a thing is a sparse matrix of SciPy's."""
    return bool(scipy_sparse().issparse(value))


def _too_old(version: str) -> Any:
    raise BackendUnavailableError(f"dtl.sparse needs SciPy 1.8 or later, not {version}: pip install 'pydtl[sparse]'")


class LocalRows(NamedTuple):
    """The rows of this rank, without what they have in the columns of others and with that alone."""

    #: Its columns are those whose elements of a vector this rank has, counted from the first of them.
    own: Matrix
    #: Its columns are the ghosts.
    other: Matrix
    #: The columns of others in which the rows have elements, in ascending order, as int64.
    ghosts: Array
    #: The first column whose element of a vector this rank has.
    first: int
    #: The rows that have elements in columns of others, in ascending order; None if half of them have, or more.
    crossing: Array | None

    @property
    def nnz(self) -> int:
        """How many elements the rows store."""
        return int(self.own.nnz + self.other.nnz)


def index_type(largest: int) -> Any:
    """Return the type of indices up to a number: of 32 bits where they suffice."""
    return np.int64 if largest > _LARGEST else np.int32


def matrix(data: Array, indices: Array, indptr: Array, shape: tuple[int, int]) -> Matrix:
    """Return a matrix of SciPy's of these arrays, with 32 bits an index where they suffice."""
    index = index_type(max(shape[1], int(indptr[-1])))
    arrays = (data, indices.astype(index, copy=False), indptr.astype(index, copy=False))
    return scipy_sparse().csr_array(arrays, shape=shape)


def split(rows: Matrix, first: int, end: int) -> LocalRows:
    """Return rows whose columns are those of the whole matrix, without duplicates, by who has the columns' elements.

    Columns from the first to the end are this rank's. The rows may be kept: nobody else may write to them.
    """
    if first == 0 and end == rows.shape[1]:
        empty = matrix(rows.data[:0], rows.indices[:0], np.zeros(rows.shape[0] + 1, np.int32), (rows.shape[0], 0))
        return LocalRows(rows, empty, np.zeros(0, np.int64), 0, None)
    rows = rows if rows.has_sorted_indices else rows.sorted_indices()
    index, (height, columns) = rows.indices.dtype, rows.shape
    arrays = (rows.indptr.astype(index, copy=False), rows.indices, index.itemsize)
    counts, ends = np.empty(height, index), np.zeros(height + 1, index)
    bridge.count_within(*arrays, height, first, end, counts)
    np.cumsum(counts, out=ends[1:])
    parts = [(np.empty(n, index), np.empty(n, rows.dtype)) for n in (int(ends[-1]), rows.nnz - int(ends[-1]))]
    there = np.zeros(columns, np.uint8) if columns <= _SPARSE * len(parts[1][0]) else None
    given = (*arrays, _bytes(rows.data), rows.dtype.itemsize)
    near, far = [(numbers, _bytes(data)) for numbers, data in parts]
    over(height, lambda begin, behind: bridge.split_rows(given, first, end, ends, near, (*far, there), begin, behind))
    ghosts, numbers = _distinct(parts[1][0], there)
    own = matrix(parts[0][1], parts[0][0], ends, (rows.shape[0], end - first))
    other = matrix(parts[1][1], numbers, rows.indptr - ends, (rows.shape[0], len(ghosts)))
    crossing = np.flatnonzero(np.diff(other.indptr))
    is_most = 2 * len(crossing) >= rows.shape[0]
    return LocalRows(own, other, ghosts.astype(np.int64), first, None if is_most else crossing)


def _distinct(columns: Array, there: Array | None) -> tuple[Array, Array]:
    """Return the columns that there are in ascending order, and the place of each among them.

    If it is known which there are, which is faster than a sort, the array of columns is overwritten.
    """
    if there is None:
        found, numbers = np.unique(columns, return_inverse=True)
        return found, numbers.reshape(-1)
    found = np.flatnonzero(there)
    places: Array = np.empty(len(there), columns.dtype)
    places[found] = np.arange(len(found))
    over(len(columns), lambda begin, end: bridge.renumber(columns, columns.itemsize, begin, end, places))
    return found, columns


def _bytes(values: Array) -> Array:
    """Return the memory of values, of which buffers do not know all types."""
    return np.ascontiguousarray(values).view(np.uint8)


def joined(local: LocalRows, columns: int) -> Matrix:
    """Return the rows as one matrix with the columns of the whole one, in ascending order in each row."""
    own, other = local.own, local.other
    if own.shape[1] == columns:
        return own
    rows = np.concatenate([np.repeat(np.arange(own.shape[0]), np.diff(each.indptr)) for each in (own, other)])
    numbers = np.concatenate([own.indices.astype(np.int64) + local.first, local.ghosts[other.indices]])
    data = np.concatenate([own.data, other.data])
    return canonical(scipy_sparse().coo_array((data, (rows, numbers)), shape=(own.shape[0], columns)))


def renumbered(rows: Matrix, places: Array, width: int) -> Matrix:
    """Return rows with other numbers of columns, of so many, without the elements of columns that have none: -1."""
    numbers = places[rows.indices]
    there = numbers >= 0
    before = np.zeros(len(there) + 1, np.int64)
    np.cumsum(there, out=before[1:])
    return matrix(rows.data[there], numbers[there], before[rows.indptr], (rows.shape[0], width))


def canonical(given: Matrix) -> Matrix:
    """Return a matrix of SciPy's by rows, with ascending columns in each, duplicates added up."""
    made = scipy_sparse().csr_array(given)
    made.sum_duplicates()
    return matrix(made.data, made.indices, made.indptr, made.shape)
