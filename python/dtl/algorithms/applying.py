"""NumPy's functions that call a function of the user's with lines, dimensions or chosen elements of a container."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import stored_number
from .._native.kinds import fingerprint
from .._native.objects import refuse_closed
from ..comm.objects import allgather_object
from ..containers.base import DistributedContainer, check_container, linear_indices
from ..containers.interior import division_of, is_where_divided
from ..containers.layout import REPLICATED, Division
from ..containers.making import new_like
from ..exceptions import InvalidArgumentError
from ..policies import Partition
from ..runtime.scheduler import algorithm
from .array_operands import beside
from .creation import full
from .exchange import share
from .layouts import container_of, laid_out_as, redivided, rows_over_ranks
from .manipulation import dimension, expand_dims, reshape
from .numpy_functions import undivided
from .user_functions import check_function, user_code

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


@algorithm
def apply_along_axis(func1d: Callable[..., Any], axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Return what a function makes of each line along a dimension. Lines are moved to one rank each before."""
    check_container("arr", arr)
    refuse_closed(arr)
    check_function("func1d", func1d)
    dim = dimension(axis, arr.ndim)
    if arr.ndim == 1:
        return apply_along_axis(func1d, 1, reshape(arr, (1, *arr.shape)), *args, **kwargs)[0]
    if 0 in (arr.shape[:dim] + arr.shape[dim + 1 :]):
        raise InvalidArgumentError("Cannot apply_along_axis when any iteration dimensions are 0")
    whole = undivided(arr, dim)
    if not is_where_divided(whole):
        whole = redivided(whole, rows_over_ranks(whole, whole.shape, 0 if dim else 1))
    values = None
    with user_code(arr.context, "apply_along_axis"):
        part = whole.local_view()
        if 0 not in (part.shape[:dim] + part.shape[dim + 1 :]):
            values = np.apply_along_axis(func1d, dim, part, *args, **kwargs)
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
    if values is not None:
        made.local_view()[...] = values
    return made


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
    """Return what functions, or numbers, make of the elements for which conditions are true."""
    x = beside(x, *([condlist] if isinstance(condlist, DistributedContainer) else condlist))
    check_container("x", x)
    refuse_closed(x)
    alone = isinstance(condlist, DistributedContainer) or np.ndim(condlist[0]) == 0
    conditions = [condlist] if alone else list(condlist)
    parts = [_part_of(x, condition) for condition in conditions]
    values = None
    with user_code(x.context, "piecewise"):
        part = x.local_view()
        values = np.piecewise(part, parts, funclist, *args, **kw)
    given = [fingerprint(np.asarray(each)) for each in conditions if not isinstance(each, DistributedContainer)]
    share(x, "piecewise", f"{len(parts)} conditions, arrays {given}")
    made = new_like(x, x.dtype)
    made.local_view()[...] = values
    return made


def _part_of(x: Any, condition: Any) -> Array:
    """Return which of this rank's elements a condition is true for. Collective where it has to move."""
    if np.shape(condition) != x.shape:
        raise InvalidArgumentError(f"a condition of shape {np.shape(condition)} for shape {x.shape}")
    if isinstance(condition, DistributedContainer):
        return np.asarray(laid_out_as(condition, x).local_view(), np.bool_)
    return np.asarray(condition, np.bool_).reshape(-1)[linear_indices(x)]
