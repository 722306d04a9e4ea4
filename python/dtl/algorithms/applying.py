"""NumPy's functions that call a function of the user's with lines, dimensions or chosen elements of a container."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import stored_number
from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from ..comm.objects import allgather_object
from ..containers.base import DistributedContainer, check_container, linear_indices
from ..containers.interior import division_of, in_blocks, is_limited, is_where_divided
from ..containers.layout import REPLICATED, Division
from ..containers.making import new_like
from ..exceptions import InvalidArgumentError
from ..policies import Partition
from ..runtime.agreement import agree
from ..runtime.scheduler import algorithm
from .array_operands import beside
from .creation import full
from .exchange import share
from .layouts import container_of, laid_out_as, redivided, rows_over_ranks
from .manipulation import dimension, expand_dims, moveaxis, reshape
from .numpy_functions import undivided
from .user_functions import check_function, user_code

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@algorithm
def apply_along_axis(func1d: Callable[..., Any], axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function makes of each line along a dimension. Lines are moved to one rank each before.

    With a limit of memory, those on disk are read once, 4 MiB at a time, and what is made of them is written once.
    Along dimension 0, they are copied to where they are rows before, and so is what is made of them after.
    """
    check_container("arr", arr)
    refuse_closed(arr)
    check_function("func1d", func1d)
    dim = dimension(axis, arr.ndim)
    if arr.ndim == 1:
        return apply_along_axis(func1d, 1, reshape(arr, (1, *arr.shape)), *args, **kwargs)[0]
    if 0 in (arr.shape[:dim] + arr.shape[dim + 1 :]):
        raise InvalidArgumentError("Cannot apply_along_axis when any iteration dimensions are 0")
    if dim == 0 and is_limited(arr):
        return _along_first(func1d, arr, args, kwargs)
    whole = undivided(arr, dim)
    if not is_where_divided(whole):
        whole = redivided(whole, rows_over_ranks(whole, whole.shape, 0 if dim else 1))
    part = whole.local_view()
    limited = is_limited(whole)
    blocks = in_blocks(part) if limited else iter((slice(None),))
    values, rows = None, next(blocks)
    with user_code(arr.context, "apply_along_axis"):
        if 0 not in (part.shape[:dim] + part.shape[dim + 1 :]):
            values = np.apply_along_axis(func1d, dim, part[rows], *args, **kwargs)
            stored_number(values.dtype)
    share(arr, "apply_along_axis", f"axis {dim}")
    after = len(part.shape) - dim - 1
    mine = None if values is None else (values.shape[dim : values.ndim - after], values.dtype)
    found = [each for each in allgather_object(arr.context, mine) if each is not None]
    inner, dtype = found[0]
    if any(shape != inner for shape, _ in found):
        raise InvalidArgumentError(f"the function gave shapes {sorted({shape for shape, _ in found})}")
    shape = (*arr.shape[:dim], *inner, *arr.shape[dim + 1 :])
    made = container_of(arr, shape, dtype, _division(whole, dim, len(inner)))
    out = made.local_view()
    if values is not None:
        out[rows] = values
    if not limited:
        return made
    kind = dtype if values is None else values.dtype

    def as_first(*given: Any, **named: Any) -> Array:
        """Return what the function makes of a line, as NumPy keeps it beside what it made of the first one."""
        kept = np.empty(inner, kind)
        kept[...] = func1d(*given, **named)
        return kept

    with user_code(arr.context, "apply_along_axis"):
        for rows in blocks:
            out[rows] = np.apply_along_axis(as_first, dim, part[rows], *args, **kwargs)
    agree(arr.context, "apply_along_axis", "elements were written")
    return made


def _along_first(func1d: Callable[..., Any], arr: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function makes of each line along dimension 0, from a copy that has it last. Collective."""
    with moveaxis(arr, 0, -1) as turned:
        made = apply_along_axis(func1d, -1, turned, *args, **kwargs)
    number = made.ndim - arr.ndim + 1
    if 0 < number < made.ndim:
        with made:
            made = moveaxis(made, range(-number, 0), range(number))
    return redivided(made, REPLICATED) if arr.partition_policy is Partition.REPLICATED else made


def _division(whole: Any, dim: int, inner: int) -> Division:
    """Return how a result is divided that has some dimensions in place of one that is not divided."""
    if whole.partition_policy is Partition.REPLICATED:
        return REPLICATED
    if whole.partition_policy is not Partition.BLOCK:
        divided: Division = division_of(whole)
        return divided
    return Division(Partition.BLOCK, grid=(*whole.grid[:dim], *[1] * inner, *whole.grid[dim + 1 :]))


@algorithm
def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """Return what a function of a container and a dimension makes of it, called for one dimension after the other."""
    check_container("a", a)
    check_function("func", func)
    value = a
    for axis in np.atleast_1d(axes).tolist():
        dim = dimension(axis, a.ndim)
        result = func(value, dim)
        if np.ndim(result) == 0:
            result = full(a.context, (1,) * value.ndim, result)
        elif result.ndim != value.ndim:
            result = expand_dims(result, dim)
        if result.ndim != value.ndim:
            raise InvalidArgumentError("function is not returning an array of the correct shape")
        value = result
    return value


@algorithm
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Return what functions, or numbers, make of the elements for which conditions are true.

    With a limit of memory, a function gets those on disk 4 MiB at a time. They are read once, and the result written.
    """
    x = beside(x, *([condlist] if isinstance(condlist, DistributedContainer) else condlist))
    check_container("x", x)
    refuse_closed(x)
    alone = isinstance(condlist, DistributedContainer) or np.ndim(condlist[0]) == 0
    conditions = [condlist] if alone else list(condlist)
    truths = [_truths_of(x, condition) for condition in conditions]
    part = x.local_view()
    limited = is_limited(x)
    blocks = in_blocks(part) if limited else iter((slice(None),))
    rows = next(blocks)
    with user_code(x.context, "piecewise"):
        values = np.piecewise(part[rows], [true(rows) for true in truths], funclist, *args, **kw)
    given = [fingerprint(np.asarray(each)) for each in conditions if not isinstance(each, DistributedContainer)]
    share(x, "piecewise", f"{len(truths)} conditions, arrays {given}")
    made = new_like(x, x.dtype)
    out = made.local_view()
    out[rows] = values
    if limited:
        with user_code(x.context, "piecewise"):
            for rows in blocks:
                out[rows] = np.piecewise(part[rows], [true(rows) for true in truths], funclist, *args, **kw)
        agree(x.context, "piecewise", "elements were written")
    return made


def _truths_of(x: Any, condition: Any) -> Callable[[slice], Array]:
    """Return what says for which elements of some of this rank's rows a condition holds. Collective where it moves."""
    if np.shape(condition) != x.shape:
        raise InvalidArgumentError(f"a condition of shape {np.shape(condition)} for shape {x.shape}")
    if isinstance(condition, DistributedContainer):
        own = laid_out_as(condition, x).local_view()
        return lambda rows: np.asarray(own[rows], np.bool_)
    line = np.asarray(condition, np.bool_).reshape(-1)
    return lambda rows: line[linear_indices(x, rows=rows)]
