"""Reductions of some elements only, with a number to start with, and into a container: NumPy's keywords."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .._native.callsite import warn
from .._native.objects import refuse_closed
from .._native.values import fingerprint
from ..containers.base import DistributedContainer, check_container, own_elements
from ..containers.broadcasting import elementwise
from ..containers.interior import check_numbers, end_write, fill_part, set_part
from ..containers.making import new_like
from ..exceptions import InvalidArgumentError, InvalidTypeError, OverflowError
from ..policies import Placement
from ..runtime.scheduler import algorithm
from .axis_reductions import BITWISE, dimensions, is_by_steps, laid_out_as, neutral, result_dtype
from .date_reductions import has as has_dates
from .exchange import share
from .half_precision import reduced_in_float32
from .located import spread_lines
from .reducing import reduced
from .results import written

#: What combines the result with the value to start with.
_UFUNCS: dict[str, Any] = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, **BITWISE}


def masked(
    name: str,
    a: Any,
    axis: Any,
    dtype: Any,
    keepdims: Any,
    reproducible: Any,
    ddof: float,
    out: Any,
    initial: Any,
    where: Any,
    mean: Any = None,
) -> Any:
    """Return what a reduction makes of the elements where a mask is true. Collective."""
    check_container("a", a)
    refuse_closed(a)
    if a.dtype == np.float16:
        more = (keepdims, reproducible, ddof, None, initial, where, mean)
        value = reduced_in_float32(lambda wider, wanted: masked(name, wider, axis, wanted, *more), a, dtype)
        return value if out is None else written(name, value, out)
    if not has_dates(name, a.dtype):
        check_numbers(a, name)
    if initial is not None and np.ndim(initial):
        raise InvalidArgumentError(f"{name}: initial must be one number, not {initial!r}")
    if where is not None and where is not True and name in ("min", "max") and initial is None:
        raise InvalidArgumentError(
            f"reduction operation '{_UFUNCS[name].__name__}' does not have an identity, so to use a where mask one has "
            "to specify 'initial'"
        )
    words = f"axis {axis!r}, keepdims {bool(keepdims)}, ddof {ddof!r}, initial {initial!r}"
    words += ("" if where is None or where is True else ", where") + ("" if out is None else ", out")
    if name[:3] == "arg" and out is not None and not np.can_cast(getattr(out, "dtype", np.int64), np.int64):
        raise InvalidTypeError(f"{name}: out holds {out.dtype}; the indices are of int64")
    share(a, name, words, anywhere=True)  # what is on a GPU comes here only where that computes it
    if is_by_steps(name, dtype, mean):
        value = _by_steps(name, a, axis, dtype, keepdims, ddof, where, mean)
    elif where is None or where is True:
        value = _started(name, a, axis, dtype, keepdims, reproducible, ddof, initial)
    elif name in ("mean", "var", "std"):
        value = _moment(name, a, axis, dtype, keepdims, ddof, where)
    else:
        chosen = filled(a, where, neutral(name, a.dtype))
        value = _started(name, chosen, axis, dtype, keepdims, reproducible, ddof, initial)
    if isinstance(value, DistributedContainer):
        end_write(value, name)
    return value if out is None else written(name, value, out)


@algorithm
def reduced_bits(
    a: Any,
    ufunc: np.ufunc,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = None,
) -> Any:
    """Return what ``reduce`` of a ufunc of bits makes of a container. Collective."""
    if initial is np._NoValue:
        initial = None
    return masked(ufunc.__name__, a, axis, dtype, keepdims, False, 0, out, initial, where)


def filled(a: Any, where: Any, neutral: Any) -> Any:
    """Return the elements, with a value in the place of those that a mask leaves out. Collective if the mask moves."""
    if not isinstance(where, DistributedContainer):
        where = np.asarray(where)
    if where.dtype != np.bool_:
        raise InvalidTypeError(f"where holds {where.dtype}; it must hold bool")
    fill = np.asarray(neutral).astype(a.dtype)
    if a.placement_policy is Placement.DEVICE:
        return np.where(_beside(a, where), a, fill[()])
    made = elementwise("where", lambda part, mask: np.where(mask, part, fill), (a, where), a.dtype)
    if made.shape != a.shape:
        raise InvalidArgumentError(f"where of shape {where.shape} does not spread to shape {a.shape}")
    return made


def _beside(a: Any, where: Any) -> Any:
    """Return a mask for elements on a GPU, laid out as they are. Collective."""
    if isinstance(where, DistributedContainer):
        return laid_out_as(where, a)
    try:
        whole = np.broadcast_to(where, a.shape)
    except ValueError:
        raise InvalidArgumentError(f"where of shape {where.shape} does not spread to shape {a.shape}") from None
    share(a, "where", f"with fingerprint {fingerprint(where)}", anywhere=True)
    mask = new_like(a, np.dtype(np.bool_))
    set_part(mask, np.ascontiguousarray(own_elements(a, whole)))
    return mask


def _started(
    name: str, a: Any, axis: Any, dtype: Any, keepdims: Any, reproducible: Any, ddof: float, initial: Any
) -> Any:
    if initial is None:
        return reduced(name, a, axis, dtype, keepdims, reproducible, ddof=ddof)
    if name in ("min", "max") and any(a.shape[d] == 0 for d in dimensions(axis, a.ndim)):
        value = reduced("sum", a, axis, None, keepdims).astype(a.dtype)  # zeros, of the shape
        return value + _number(name, initial, a.dtype)
    value = reduced(name, a, axis, dtype, keepdims, reproducible)
    return _UFUNCS[name](value, _number(name, initial, value.dtype))


def _number(name: str, initial: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number to start with as an element of the result's type, which is made of it as if it were stored."""
    made = np.empty((), dtype)
    try:
        made[()] = initial
    except builtins.OverflowError as error:
        raise OverflowError(f"{name}: initial {initial!r} does not fit {dtype}: {error}") from None
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"{name}: initial {initial!r} is no {dtype}: {error}") from None
    return made[()]


def _moment(name: str, a: Any, axis: Any, dtype: Any, keepdims: Any, ddof: float, where: Any) -> Any:
    """Return the mean, variance or standard deviation of the elements where a mask is true."""
    count = reduced("sum", filled(_ones(a), where, False), axis, np.dtype(np.int64), True)
    if a.dtype.kind == "m":
        return _without(reduced("sum", filled(a, where, 0), axis, dtype, True) / count, a, axis, keepdims)
    result = result_dtype(name, None if dtype is None else np.dtype(dtype), a.dtype)
    inner = np.dtype(np.complex128 if a.dtype.kind == "c" else np.float64)
    if name == "mean" and result.kind in "biu":  # as NumPy: added up in it, and cut off
        inner = result
    chosen = filled(a.astype(inner, copy=False), where, 0)
    mean = reduced("sum", chosen, axis, inner, True) / count
    value = mean
    if name != "mean":
        if a.placement_policy is Placement.DEVICE:
            mean = (
                mean.reshape(())[()]
                if isinstance(mean, np.ndarray)
                else spread_lines(mean, a, dimensions(axis, a.ndim))
            )
        apart = filled(chosen - mean, where, 0)
        value = reduced("sum", np.square(np.abs(apart)), axis, np.dtype(np.float64), True)
        rest = np.square(np.abs(reduced("sum", apart, axis, inner, True)))  # what rounding has taken from the mean
        rest = np.where(np.isfinite(rest), rest, 0.0)
        value = np.maximum(value - rest / np.maximum(count, 1), 0) / np.maximum(count - ddof, 0)
        value = np.sqrt(value) if name == "std" else value
    return _without(value.astype(result), a, axis, keepdims)


def _by_steps(name: str, a: Any, axis: Any, dtype: Any, keepdims: Any, ddof: float, where: Any, mean: Any) -> Any:
    """Return a variance or standard deviation by NumPy's own steps, with each in the dtype that is asked for."""
    whole = where is None or where is True
    if dtype is None and a.dtype.kind in "biu":
        dtype = np.dtype(np.float64)

    def total(of: Any, kind: Any) -> Any:
        return reduced("sum", of if whole else filled(of, where, 0), axis, kind, True)

    with np.errstate(all="ignore"):
        count = total(_ones(a), np.dtype(np.int64))
        if mean is None:
            mean = total(a, dtype)
            mean = (mean / count).astype(mean.dtype)
        apart = np.subtract(a, mean)
        squares = np.square(apart) if apart.dtype.kind != "c" else np.real(np.multiply(apart, np.conjugate(apart)))
        value = total(squares, dtype)
        left = np.maximum(count - ddof, 0)
        if not np.all(left):
            warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
        value = _without((value / left).astype(value.dtype), a, axis, keepdims)
    if name == "var":
        return value
    root = np.sqrt(value)
    if np.ndim(value) and not np.can_cast(root.dtype, value.dtype, "same_kind"):
        raise InvalidTypeError(f"std: the roots of {root.dtype} may not be cast to {value.dtype}")
    return np.asarray(root).astype(value.dtype)[()] if isinstance(root, np.generic) else root.astype(value.dtype)


def _without(value: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """Return a result that has the dimensions it was reduced along, without them unless they are to be kept."""
    if keepdims:
        return value
    dims = dimensions(axis, a.ndim)
    if isinstance(value, np.ndarray):
        return value.reshape(())[()]
    return value[tuple(0 if d in dims else slice(None) for d in range(a.ndim))]


def _ones(a: Any) -> Any:
    made = new_like(a, np.dtype(np.bool_))
    fill_part(made, np.ones(1, np.bool_))
    return made
