"""Reductions of segments of a dimension: the method ``reduceat`` of ufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.callsite import by_user
from .._native.kinds import fingerprint, kind_of
from .._native.objects import refuse_closed
from ..containers.base import DistributedContainer
from ..containers.interior import check_numbers, division_of, end_write, in_blocks, is_limited
from ..containers.layout import BLOCK
from ..containers.places.place import fill_part
from ..containers.ufunc_operands import refusal
from ..exceptions import BoundsError, InvalidTypeError
from ..policies import Partition
from ..runtime.agreement import local_step
from ..runtime.scheduler import algorithm
from .array_operands import beside, on_every_rank
from .exchange import share
from .layouts import container_of, dimensions, redivided, rows_over_ranks
from .reductions import REDUCTIONS, neutral
from .scattering import combine_sent

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: The reductions whose ufuncs combine parts.
_NAMES: dict[Any, str] = {row.ufunc: name for name, row in REDUCTIONS.items() if row.ufunc}


@algorithm
def reduceat(a: Any, ufunc: np.ufunc, indices: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """Return what a ufunc's method ``reduceat`` makes of a container along a dimension. Collective."""
    name = f"np.{ufunc.__name__}.reduceat"
    a = beside(a, indices)
    indices = on_every_rank(indices, a)
    if not isinstance(a, DistributedContainer):
        raise refusal(name, f"its first operand is of type {type(a).__name__}; it must be a container")
    refuse_closed(a)
    check_numbers(a, name)
    if ufunc not in _NAMES:
        known = ", ".join(each.__name__ for each in _NAMES)
        raise refusal(name, f"parts of segments cannot be combined by it, as by {known}")
    (dim,) = dimensions(axis, a.ndim)
    begins = np.asarray(indices)
    if begins.ndim != 1 or (not kind_of(begins.dtype).is_integer and begins.size):
        raise refusal(
            name, f"indices must be integers in one dimension, not of {begins.dtype} and shape {begins.shape}"
        )
    begins = begins.astype(np.int64)
    bad = begins[(begins < 0) | (begins >= a.shape[dim])]
    if len(bad):
        raise refusal(name, f"index {bad[0]} is out of bounds for axis {dim} with size {a.shape[dim]}", BoundsError)
    kind = _result_dtype(name, ufunc, a.dtype, dtype)
    share(a, name, f"axis {dim}, dtype {kind}, indices with fingerprint {fingerprint(begins)}")
    shape = (*a.shape[:dim], len(begins), *a.shape[dim + 1 :])
    if a.ndim == 1 and not _is_whole(a):
        return _over_ranks(a, ufunc, begins, kind)
    return _of_lines(name, a, ufunc, begins, dim, shape, kind)


def _is_whole(a: Any) -> bool:
    """Say whether each rank has all elements."""
    return a.context.size == 1 or a.partition_policy is Partition.REPLICATED


def _result_dtype(name: str, ufunc: np.ufunc, of: np.dtype[Any], dtype: Any) -> np.dtype[Any]:
    try:
        return np.asarray(ufunc.reduceat(np.ones(1, of), [0], dtype=dtype)).dtype
    except (TypeError, ValueError) as error:  # ValueError where NumPy is older than 1.21
        raise refusal(name, str(error), InvalidTypeError) from None


def _of_lines(
    name: str, a: Any, ufunc: np.ufunc, begins: Array, dim: int, shape: tuple[int, ...], kind: np.dtype[Any]
) -> Any:
    """Reduce segments of a dimension of which each rank has all."""
    if _is_whole(a):
        division, whole = (division_of(a) if a.partition_policy is Partition.REPLICATED else BLOCK), a
    else:
        division = rows_over_ranks(a, a.shape, 0 if dim else 1)
        whole = redivided(a, division)
    made: Any = container_of(a, shape, kind, division)
    with local_step(a.context, name):
        view, out = whole.local_view(), made.local_view()
        if dim or not is_limited(whole):
            for rows in in_blocks(view) if dim else (slice(None),):
                out[rows] = by_user(ufunc.reduceat, (view[rows], begins), {"axis": dim, "dtype": kind})
        else:
            _reduce_rows(ufunc, view, begins, _ends(begins, len(view)), out)
    if whole is not a:
        whole.close()
    end_write(made, name)
    return made


def _ends(begins: Array, extent: int) -> Array:
    """Return where segments end."""
    ends = np.append(begins[1:], extent)
    return np.where(ends > begins, ends, begins + 1)  # of which NumPy takes one element


def _reduce_rows(ufunc: np.ufunc, view: Array, begins: Array, ends: Array, out: Array) -> None:
    """Reduce segments of the rows of an array, none of which is empty: where memory is limited, block by block."""
    begun = np.zeros(len(begins), np.bool_)
    in_order = bool((begins[1:] >= begins[:-1]).all())
    for rows in in_blocks(view) if len(begins) else ():
        start, stop, _ = rows.indices(len(view))
        some = (
            slice(int(np.searchsorted(ends, start, "right")), int(np.searchsorted(begins, stop)))
            if in_order
            else slice(None)
        )
        low, high = (np.clip(each[some] - start, 0, stop - start) for each in (begins, ends))
        here = np.flatnonzero(low < high)
        if not len(here):
            continue
        pairs = np.stack([low[here], high[here]], axis=1).reshape(-1)  # of every other segment the result counts
        block = np.concatenate([view[rows], view[rows][:1]])
        found = by_user(ufunc.reduceat, (block, pairs), {"axis": 0, "dtype": out.dtype})[::2]
        here += some.start or 0
        again, new = begun[here], ~begun[here]
        out[here[new]] = found[new]
        if again.any():
            out[here[again]] = by_user(ufunc, (out[here[again]], found[again]), {})
        begun[here] = True


def _over_ranks(a: Any, ufunc: np.ufunc, begins: Array, kind: np.dtype[Any]) -> Any:
    """Reduce what each rank has of each segment, and combine these in the order of the ranks. Collective."""
    lines = redivided(a, BLOCK)
    view, first = lines.local_view(), lines.local_offset
    low, high = (np.clip(each - first, 0, len(view)) for each in (begins, _ends(begins, a.shape[0])))
    mine = np.flatnonzero(low < high)
    made: Any = container_of(a, begins.shape, kind, BLOCK)
    fill_part(made, np.full(1, neutral(_NAMES[ufunc], kind)).astype(kind))
    parts = np.empty(len(mine), kind)
    _reduce_rows(ufunc, view, low[mine], high[mine], parts)
    combine_sent(ufunc, made, mine, parts)
    lines.close()
    end_write(made, f"np.{ufunc.__name__}.reduceat")
    return made
