"""NumPy's functions of diagonals and triangles of matrices. Each rank writes, or names, what lies in its own part."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer
from .._native.kinds import fingerprint, fitting
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer, check_container, linear_indices
from ..containers.interior import elements_at, in_blocks
from ..containers.layout import BLOCK, REPLICATED
from ..containers.making import result_placement
from ..exceptions import InvalidArgumentError
from ..policies import Partition, Placement
from ..runtime.scheduler import algorithm, writes
from .creation import arange, ones, tril, triu
from .elementwise import nonzero
from .exchange import share
from .layouts import container_of, redivided
from .manipulation import ravel


@algorithm
def diag(v: Any, k: int = 0) -> Any:
    """Return a diagonal of a matrix, or a matrix of zeros with a vector on a diagonal, divided by rows."""
    check_container("v", v)
    refuse_closed(v)
    number = integer("k", k)
    if v.ndim == 2:
        return np.diagonal(v, number)
    if v.ndim != 1:
        raise InvalidArgumentError("Input must be 1- or 2-d.")
    share(v, "diag", f"k {number}")
    n = v.shape[0] + abs(number)
    everywhere = v.partition_policy is Partition.REPLICATED
    made = container_of(v, (n, n), v.dtype, REPLICATED if everywhere else BLOCK)
    rows = made.local_indices(0)
    places = rows + min(number, 0)
    on = (places >= 0) & (places < v.shape[0])
    wanted = np.ascontiguousarray(places[on], np.int64)
    got, at, columns = elements_at(v, wanted), np.flatnonzero(on), rows[on] + number
    view = made.local_view()
    for some in in_blocks(view):
        begin, end, _ = some.indices(len(view))
        own = slice(*np.searchsorted(at, (begin, end)))
        view[at[own], columns[own]] = got[own]
    return made


@algorithm
def diagflat(v: Any, k: int = 0) -> Any:
    """Return a matrix of zeros with the elements in C order on a diagonal, divided by rows."""
    return diag(ravel(v), k)


@algorithm
@writes("a")
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write to the main diagonal: a number, or the elements of a vector, again and again if it is shorter."""
    check_container("a", a)
    refuse_closed(a)
    if a.ndim < 2:
        raise InvalidArgumentError("array must be at least 2-d")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise InvalidArgumentError("All dimensions of input must be of equal length")
    if isinstance(val, DistributedContainer):
        check_container("val", val)
        share(a, "fill_diagonal", f"wrap {bool(wrap)}", also=(val,))
        values = redivided(ravel(val), REPLICATED).local_view()
        values = fitting("val", values, a.dtype)
    else:
        values = np.atleast_1d(fitting("val", val, a.dtype)).reshape(-1)
        share(a, "fill_diagonal", f"wrap {bool(wrap)}, values with fingerprint {fingerprint(values)}")
    if not values.size:
        return
    step = 1 + a.shape[1] if a.ndim == 2 else 1 + int(np.cumprod(a.shape[:-1]).sum())
    part = a.local_view()
    for rows in in_blocks(part):
        places = linear_indices(a, rows=rows)
        on = places % step == 0
        if a.ndim == 2 and not wrap:
            on &= places < a.shape[1] * a.shape[1]
        part[rows][on] = values[places[on] // step % len(values)]


@algorithm
def diag_indices_from(arr: Any) -> Any:
    """Return the indices of the main diagonal: a vector for each dimension."""
    check_container("arr", arr)
    if arr.ndim < 2:
        raise InvalidArgumentError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise InvalidArgumentError("All dimensions of input must be of equal length")
    return (arange(arr.context, arr.shape[0]),) * arr.ndim


@algorithm
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """Return the indices of the lower triangle of a matrix: two vectors."""
    return nonzero(tril(_all(arr), k))


@algorithm
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """Return the indices of the upper triangle of a matrix: two vectors."""
    return nonzero(triu(_all(arr), k))


def _all(arr: Any) -> Any:
    """Return a matrix of the same shape that is true everywhere, on disk if the other one is. Collective."""
    check_container("arr", arr)
    if arr.ndim != 2:
        raise InvalidArgumentError("input array must be 2-d")
    where = result_placement(arr, arr.shape, np.dtype(np.bool_))
    return ones(arr.context, arr.shape, np.bool_, placement=where if where is Placement.DISK else Placement.HOST)
