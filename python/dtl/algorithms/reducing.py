"""How reductions are made: along dimensions or of all elements, of those of a mask, and with a number to start with.

``reductions.py`` says what is made of parts. Here each rank makes it of its own, on a GPU or on the host, and the ranks
merge what they have in a container. The core makes numbers of all elements (``folds.py``).
"""

from __future__ import annotations

import builtins
import math
from typing import Any, NamedTuple

import numpy as np

from .._native.arguments import dtype_number
from .._native.callsite import by_user, warn
from .._native.kinds import computed_in, fingerprint, kind_of
from .._native.no_value import NO_VALUE
from .._native.objects import handle_of, raw_handle_of, refuse_closed, size_of
from .._native.threads import threads
from ..containers import one_rank
from ..containers.base import DistributedContainer, check_container, own_elements
from ..containers.broadcasting import elementwise
from ..containers.expressions import handle_to_read
from ..containers.interior import (
    check_numbers,
    context_of,
    division_of,
    end_write,
    is_plain,
    is_where_divided,
)
from ..containers.layout import BLOCK, REPLICATED, Division
from ..containers.making import new_like
from ..containers.owning import OwningContainer, is_as_made, likeness
from ..containers.places.copies import computed
from ..containers.places.place import fill_part, place_of, set_part
from ..exceptions import DTLError, InvalidArgumentError, InvalidTypeError, OverflowError
from ..policies import Partition, Placement
from ..runtime.agreement import agree
from ..runtime.scheduler import algorithm
from .device_indexing import spread_lines
from .exchange import share
from .folds import exact, of_all, truths_of
from .layouts import container_of, dimensions, kind_of_result, laid_out_as, rows_over_ranks
from .output import written
from .partial_results import combine, merge_few
from .reduced_parts import PARTS, Part
from .reductions import REDUCTIONS, Reduction, accumulator_dtype, has, neutral, reduction, result_dtype
from .wider_types import as_widened, is_widened, reduced_in_wider

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript
Arrays = Any  # tuple[Array, ...]

_DEVICE = Placement.DEVICE

#: How many bytes of results every rank is told, which needs some of them: so none asks who needs which.
_FEW = 1 << 18

_INT64 = np.dtype(np.int64)


class Call(NamedTuple):
    """What is to be made of a container."""

    name: str
    axis: Any = None
    dtype: Any = None
    keepdims: Any = False
    reproducible: Any = False
    ddof: float = 0
    initial: Any = None
    where: Any = None
    mean: Any = None

    def changed(self, **others: Any) -> Call:
        """Return the call with others of its arguments."""
        return self._replace(**others)

    def is_by_steps(self) -> bool:
        """Say whether it is made by NumPy's own steps.

        These are variances of a mean that is given, of a type that the squares are rounded to, and of complex numbers.
        """
        if self.mean is not None:
            return True
        if self.name not in ("var", "std") or self.dtype is None:
            return False
        kind = kind_of(np.dtype(self.dtype))
        return kind.is_number and not kind.is_float


class _Plan:
    """What is made along dimensions of a container of a layout, whatever its elements are."""

    def __init__(self, dims: tuple[int, ...], by: Reduction, words: str, shape: tuple[int, ...], count: int) -> None:
        self.dims = dims
        self.by = by
        #: The arguments of the call, on which the ranks agree.
        self.words = words
        self.said = f"{by.name} {words}".encode()
        #: The shape of the result, and how many elements go into each.
        self.shape = shape
        self.count = count
        #: What is warned of; "" if there is nothing.
        self.warning = ""
        #: Whether each rank has all that its results are made of.
        self.is_whole = False
        #: Whether all ranks have a part of each result, and results are few, so that each is told all parts.
        self.is_few = False
        #: The dimensions of the container that the result has, how it is divided, and along which of its own.
        self.left: list[int] = []
        self.divided = BLOCK
        self.dim = 0
        #: What is made on the host where the ranks agree by the way; None of what the core does not compute with.
        self.like: Any = None
        #: Which of few results are this rank's; None until it has made some.
        self.mine: Any = None
        #: Whether nothing is computed of which the processor tells, and no sum may be too large.
        self.is_of_truths = False


#: The plans of the last calls.
_plans: dict[Any, _Plan] = {}
_MOST_PLANS = 1 << 10


def reduced(
    name: str,
    a: Any,
    axis: Any,
    dtype: Any = None,
    keepdims: Any = False,
    reproducible: Any = False,
    *,
    ddof: float = 0,
    out: Any = None,
    initial: Any = None,
    where: Any = None,
    mean: Any = None,
) -> Any:
    """Return what a reduction makes of a container, whatever the arguments. Collective."""
    if dtype is out is initial is where is mean is None and not (keepdims or reproducible):
        if axis is None and REDUCTIONS[name].fold >= 0:  # which the core makes
            return _number_of(a, name, ddof)
        if isinstance(a, OwningContainer) and size_of(context_of(a)) > 1:
            plan = _plans.get(_key(name, a, axis, False, ddof))
            if plan is not None:
                return _planned(a, plan, True)
        else:
            made = one_rank.folded(name, a, axis)
            if made is not None:
                return made
    call = Call(name, axis, dtype, keepdims, reproducible, ddof, initial, None if where is True else where, mean)
    return computed(name, _reduced, (a, call, out), can=_all_on_gpu)


def _reduced(a: Any, call: Call, out: Any) -> Any:
    if out is call.initial is call.where is None and not call.is_by_steps():
        return _of(a, call)
    check_container("a", a)
    refuse_closed(a)
    if is_widened(a):
        value = reduced_in_wider(lambda wider, dtype: _reduced(wider, call.changed(dtype=dtype), None), a, call.dtype)
        return value if out is None else written(call.name, value, out)
    name = call.name
    _check_keywords(a, call, out)
    if call.is_by_steps():
        value = _by_steps(a, call)
    elif call.where is None:
        value = _started(a, call)
    elif name in ("mean", "var", "std"):
        value = _moment(a, call)
    else:
        value = _started(filled(a, call.where, neutral(name, a.dtype)), call)
    if isinstance(value, DistributedContainer):
        end_write(value, name)
    return value if out is None else written(name, value, out)


def _check_keywords(a: Any, call: Call, out: Any) -> None:
    """Refuse keywords that a reduction has not, and ranks that pass others. Collective."""
    name, initial, where = call.name, call.initial, call.where
    if not has(name, a.dtype):
        check_numbers(a, name)
    if initial is not None and np.ndim(initial):
        raise InvalidArgumentError(f"{name}: initial must be one number, not {initial!r}")
    if where is not None and name in ("min", "max") and initial is None:
        raise InvalidArgumentError(
            f"reduction operation '{REDUCTIONS[name].ufunc.__name__}' does not have an identity, so to use a where "
            "mask one has to specify 'initial'"
        )
    words = f"axis {call.axis!r}, keepdims {bool(call.keepdims)}, ddof {call.ddof!r}, initial {initial!r}"
    words += ("" if where is None else ", where") + ("" if out is None else ", out")
    if name[:3] == "arg" and out is not None and not np.can_cast(getattr(out, "dtype", np.int64), np.int64):
        raise InvalidTypeError(f"{name}: out holds {out.dtype}; the indices are of int64")
    share(a, name, words, anywhere=True)  # what is on a GPU comes here only where that computes it


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
    call = Call(ufunc.__name__, axis, dtype, keepdims, initial=None if initial is NO_VALUE else initial)
    return _reduced(a, call.changed(where=None if where is True else where), out)


# ---- Without keywords ----


def _of(a: Any, call: Call) -> Any:
    """Return what a reduction makes of all elements of a container, or of lines of it. Collective."""
    check_container("a", a)
    by_axis = call.dtype is None and not (call.keepdims or call.reproducible)
    made = one_rank.folded(call.name, a, call.axis) if by_axis and a.context.size == 1 else None
    if made is not None:
        return made
    refuse_closed(a)
    key = None
    if call.dtype is None and not call.reproducible and isinstance(a, OwningContainer):
        key = _key(call.name, a, call.axis, bool(call.keepdims), call.ddof)
    plan = _plans.get(key)
    return _of_first(a, call, key) if plan is None else _planned(a, plan, True)


def _of_first(a: Any, call: Call, key: Any) -> Any:
    """Return what a reduction makes of a container, and keep the plan of it if that has a key. Collective."""
    name, axis, dtype = call.name, call.axis, call.dtype
    if name in ("all", "any") and kind_of(a.dtype).is_moved:
        return _of(truths_of(name, a), call)
    narrow = as_widened(a, dtype)
    if narrow is not None:
        return reduced_in_wider(lambda wider, wanted: _of(wider, call.changed(dtype=wanted)), narrow, dtype)
    if dtype is not None and not has(name, a.dtype):
        check_numbers(a, name)
        dtype_number(dtype)
        dtype = np.dtype(dtype)
        call = call.changed(dtype=dtype)
    dims, by = _dimensions_and_reduction(a, call)
    if len(dims) == a.ndim and (axis is None or len(dims) > 0):
        return _of_all(a, call)
    plan = _plan(a, call, dims, by)
    known = is_plain(a) and a.context.size > 1 and is_where_divided(a)
    if key is not None:
        _remember(key, plan)
    elif not known:
        there = _on_gpu(a, call)
        share(a, name, plan.words, anywhere=there)
        if there and dtype is not None:
            return _in_another(a, call)
    return _planned(a, plan, known)


def _key(name: str, a: Any, axis: Any, keepdims: bool, ddof: Any) -> Any:
    """Return what the plan of a call is known by; None where the ranks tell each other more than that call.

    They do so where they do not know who has what of numbers on the host, and where the arguments are unusual ones.
    """
    if not is_plain(a) or not is_where_divided(a) or not raw_handle_of(a):
        return None
    if axis.__class__ is not int and not (axis.__class__ is tuple and all([d.__class__ is int for d in axis])):
        return None
    if ddof.__class__ is not int and ddof.__class__ is not float:
        return None
    ctx = context_of(a)
    if size_of(ctx) == 1:
        return None
    return name, axis, keepdims, ddof, ddof.__class__, a.dtype, a.shape, division_of(a), size_of(ctx), ctx.rank


def _remember(key: Any, plan: _Plan) -> None:
    if len(_plans) >= _MOST_PLANS:
        _plans.clear()
    _plans[key] = plan


def _dimensions_and_reduction(a: Any, call: Call) -> tuple[tuple[int, ...], Reduction]:
    """Return the dimensions and the reduction, if it has a result."""
    name, axis, dtype, row = call.name, call.axis, call.dtype, REDUCTIONS[call.name]
    if not has(name, a.dtype):
        check_numbers(a, name)
    elif dtype is not None or call.reproducible:
        raise InvalidTypeError(f"{name} of {a.dtype} takes no dtype, and is exact")
    if name[:3] == "arg" and isinstance(axis, (tuple, list)):
        raise InvalidTypeError(f"axis {axis!r} must be one dimension, or None")
    dims = dimensions(axis, a.ndim)
    if call.reproducible and (len(dims) < a.ndim or call.keepdims):
        raise InvalidArgumentError("reproducible=True is for all elements: axis None, without keepdims")
    wanted = a.dtype if dtype is None else dtype
    if row.fold < 0 and row.ufunc is not None and not kind_of(wanted).is_whole:
        raise InvalidTypeError(f"np.{name}.reduce is not defined for {wanted}")
    if row.empty and any(a.shape[d] == 0 for d in dims):  # as NumPy: also if the result has no elements
        raise InvalidArgumentError(row.empty)
    if dtype is not None and kind_of(a.dtype).is_complex and not kind_of(dtype).is_complex:
        raise InvalidTypeError(f"{name} of {a.dtype} would not stay what it is as {dtype}; take the real part first")
    if not isinstance(call.ddof, (int, float, np.integer, np.floating)):
        raise InvalidTypeError(f"ddof must be a number, not {call.ddof!r}")
    return dims, reduction(name, dtype, a.dtype, float(call.ddof))


def _of_all(a: Any, call: Call) -> Any:
    name, dtype, keepdims = call.name, call.dtype, call.keepdims
    if name == "mean" and dtype is not None and kind_of(dtype).is_integer:  # as NumPy: added up in it, and cut off
        with np.errstate(all="ignore"):
            value = np.asarray(np.true_divide(_of_all(a, call.changed(name="sum")), a.global_size))
            return value.astype(dtype) if keepdims else value.astype(dtype)[()]
    if dtype is not None and dtype != a.dtype:
        safe = kind_of(dtype).is_integer and kind_of(a.dtype).is_whole and name in ("sum", "prod")
        a = a if safe else a.astype(dtype)
    if REDUCTIONS[name].fold < 0:
        by = reduction(name, None, a.dtype, float(call.ddof))
        by.threads = threads(a.execution_policy)
        with np.errstate(all="ignore"):  # of no elements
            value = of_all(a, by, f"ddof {call.ddof}" if call.ddof else "")
    elif call.reproducible:
        value = exact(name, a)
    else:
        value = _number_of(a, name, call.ddof)
    if dtype is not None:
        value = np.asarray(value).astype(_dtype_of(name, dtype))[()]
    return np.full((1,) * a.ndim, value) if keepdims else value


def _number_of(a: Any, name: str, ddof: float) -> Any:
    """Return what the core makes of all elements. Collective."""
    return getattr(a, name)(**({"ddof": ddof} if name in ("var", "std") else {}))


def _dtype_of(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    if name in ("sum", "prod") or kind_of(dtype).is_float:
        return dtype
    if kind_of(dtype).is_complex:
        return dtype if name == "mean" else np.dtype(f"f{dtype.itemsize // 2}")
    return np.dtype(np.float64) if name in ("mean", "var", "std") else dtype


def _in_another(a: Any, call: Call) -> Any:
    """Return a reduction along axes of elements that are converted to another type first, as the host adds up in it."""
    name = call.name
    result = result_dtype(name, call.dtype, a.dtype)
    if name == "mean" and kind_of(result).is_integer:  # as NumPy: added up in it, and cut off
        with _of(a, call.changed(name="sum")) as sums:
            return _cut_off(sums, math.prod(a.shape[d] for d in dimensions(call.axis, a.ndim)))
    with a.astype(accumulator_dtype(result)) as wide:
        made = _of(wide, call.changed(dtype=None))
    if made.dtype == result:
        return made
    with made:
        given = made.astype(result)
    end_write(given, name)
    return given


def _cut_off(sums: Any, count: int) -> Any:
    """Return means of as many integers as count, in the type of their sums."""
    if not count:
        warn("Mean of empty slice.", RuntimeWarning)
    with np.errstate(all="ignore"):
        means = np.true_divide(sums, count)
    with means:
        made = means.astype(sums.dtype)
    end_write(made, "mean")
    return made


# ---- Along dimensions ----


def _plan(a: DistributedContainer, call: Call, dims: tuple[int, ...], by: Reduction) -> _Plan:
    """Return the plan of a reduction along dimensions."""
    axis, dtype, ddof, keepdims = call.axis, call.dtype, call.ddof, bool(call.keepdims)
    words = f"axis {axis!r}" + (f", dtype {dtype}" if dtype else "") + (f", ddof {ddof}" if ddof else "")
    words += ", keepdims" if keepdims else ""
    count = math.prod(a.shape[d] for d in dims)
    warning = ""
    if call.name == "mean" and not count:
        warning = "Mean of empty slice."
    elif call.name in ("var", "std") and count <= ddof:
        warning = "Degrees of freedom <= 0 for slice"
    left = [d for d in range(a.ndim) if keepdims or d not in dims]
    shape = tuple(1 if d in dims else a.shape[d] for d in left)
    plan = _Plan(dims, by, words, shape, count)
    plan.warning = warning
    plan.is_of_truths = by.name in ("all", "any") and np.can_cast(a.dtype, np.int64)  # a signalling NaN is told of
    plan.left = left
    grid = a.grid
    # A span's elements lie where its container has them, which is no division of the span's own shape.
    whole = a.context.size == 1 or (all(grid[d] == 1 for d in dims) and is_where_divided(a))
    plan.is_whole = whole or a.partition_policy is Partition.REPLICATED
    if plan.is_whole:
        plan.divided = _divided(a, dims, left) if whole else REPLICATED
        plan.like = likeness(kind_of_result(shape), by.dtype, shape, plan.divided)
        return plan
    plan.dim = next(k for k, d in enumerate(left) if d not in dims)
    plan.divided = rows_over_ranks(a, shape, plan.dim)
    plan.like = likeness(kind_of_result(shape), by.dtype, shape, plan.divided)
    size = math.prod(shape) * by.dtype.itemsize * a.context.size
    plan.is_few = bool(count) and size <= _FEW and all(ranks == 1 or d in dims for d, ranks in enumerate(grid))
    return plan


def _planned(a: DistributedContainer, plan: _Plan, known: bool) -> Any:
    """Reduce each rank's part, and bring the parts together. Collective.

    Known is whether the ranks have not agreed on the call yet, and each knows who has what of numbers on the host.
    """
    if plan.is_of_truths:
        return _reduced_along(a, plan, known)
    if plan.warning:
        warn(plan.warning, RuntimeWarning)
    with np.errstate(all="ignore"):  # a part may overflow, or divide by zero, where the whole does not
        made = _reduced_along(a, plan, known)
        if kind_of(a.dtype).is_span:
            agree(a.context, plan.by.name)  # a sum that does not fit is an error on every rank
        return made


def _reduced_along(a: DistributedContainer, plan: _Plan, known: bool) -> Any:
    dims, by, count = plan.dims, plan.by, plan.count
    if plan.is_whole:
        made = _result(a, plan, known)
        PARTS[place_of(a)](a, dims, by).write(made, count)
        end_write(made, by.name)
        return made
    if known:
        if plan.is_few:
            made = _result(a, plan, known)
            merge_few(made, plan, Part(a, dims, by))
            return made
        share(a, by.name, plan.words)
    part = PARTS[place_of(a)](a, dims, by)
    part = part.without_overflow()
    made = container_of(a, plan.shape, by.dtype, plan.divided, part.merged_at)
    indices = [a.local_indices(d) for d in plan.left]
    kept = [np.zeros(1, np.int64) if d in dims else each for d, each in zip(plan.left, indices)]
    box = tuple(len(each) for each in kept)
    combine(made, plan.dim, tuple(each.reshape(box) for each in part.parts()), kept, part.by, count)
    return part.beside(made)


def _result(a: DistributedContainer, plan: _Plan, known: bool) -> Any:
    """Return a container for results. Collective: the ranks agree on the call by the way unless they have done so."""
    if not known:
        return container_of(a, plan.shape, plan.by.dtype, plan.divided)
    pieces = (1, handle_to_read(a))
    if plan.like is not None and is_as_made(a):
        return plan.like.joined(context_of(a), plan.said, pieces)
    return container_of(a, plan.shape, plan.by.dtype, plan.divided, blank=True, words=plan.said.decode(), pieces=pieces)


def _divided(a: DistributedContainer, dims: tuple[int, ...], left: list[int]) -> Division:
    """Return how a result is divided that every rank has its own part of."""
    if not is_where_divided(a):
        return BLOCK
    if a.partition_policy is not Partition.BLOCK:
        return division_of(a) if 0 not in dims else BLOCK
    grid = tuple(1 if d in dims else a.grid[d] for d in left)
    return Division(Partition.BLOCK, grid=grid)


def _all_on_gpu(a: Any, call: Call, out: Any) -> bool:
    """Say whether a GPU computes a reduction with a mask, and into what is given."""
    return not call.is_by_steps() and _on_gpu(a, call) and _masked_on_gpu(a, call, out)


def _on_gpu(a: Any, call: Call) -> bool:
    """Say whether a GPU computes a reduction, or whether its arguments are wrong, which it finds out."""
    if not isinstance(a, OwningContainer) or a.placement_policy is not _DEVICE or not handle_of(a):
        return False
    if not kind_of(a.dtype).is_real:
        return False
    if call.reproducible or REDUCTIONS[call.name].fold < 0 or not _adds_up_in(call.dtype):
        return False
    try:
        dims = dimensions(call.axis, a.ndim)
    except DTLError:
        return True
    groups = 1  # of dimensions that follow each other and stay or go by turns; the first one stays
    for d in range(a.ndim):
        groups += (d in dims) is (groups % 2 == 1)
    return len(dims) > 0 and groups <= 4


def _adds_up_in(dtype: Any) -> bool:
    """Say whether a GPU adds up in a type, or whether it is none."""
    try:
        wanted = np.dtype(dtype)
    except TypeError:
        return True
    kind = kind_of(wanted)
    return dtype is None or (kind.is_real and not kind.is_boolean and computed_in(wanted) == wanted)


def _masked_on_gpu(a: Any, call: Call, out: Any) -> bool:
    """Say whether a GPU that computes a reduction does so of what a mask chooses, and into what is given."""
    where = call.where
    if not all(place_of(c) is place_of(a) for c in (out, where) if isinstance(c, DistributedContainer)):
        return False
    if isinstance(where, DistributedContainer) and where.shape != a.shape:
        return False
    return where is None or call.name not in ("var", "std") or call.axis is None or place_of(a).takes(a)


# ---- Some elements only, and a number to start with ----


def filled(a: Any, where: Any, neutral: Any) -> Any:
    """Return the elements, with a value in the place of those that a mask leaves out. Collective if the mask moves."""
    if not isinstance(where, DistributedContainer):
        where = np.asarray(where)
    if where.dtype != np.bool_:
        raise InvalidTypeError(f"where holds {where.dtype}; it must hold bool")
    fill = np.asarray(neutral).astype(a.dtype)
    return computed("where", _filled, (a, where, fill), _filled_there, written=())


def _filled(a: Any, where: Any, fill: Array) -> Any:
    made = elementwise("where", lambda part, mask: np.where(mask, part, fill), (a, where), a.dtype)
    if made.shape != a.shape:
        raise InvalidArgumentError(f"where of shape {where.shape} does not spread to shape {a.shape}")
    return made


def _filled_there(a: Any, where: Any, fill: Array) -> Any:
    return np.where(_mask_on_gpu(a, where), a, fill[()])


def _mask_on_gpu(a: Any, where: Any) -> Any:
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


def _started(a: Any, call: Call) -> Any:
    """Return a reduction of all elements, combined with a number to start with."""
    name, initial = call.name, call.initial
    if initial is None:
        return _of(a, call)
    if name in ("min", "max") and any(a.shape[d] == 0 for d in dimensions(call.axis, a.ndim)):
        value = _of(a, Call("sum", call.axis, None, call.keepdims)).astype(a.dtype)  # zeros, of the shape
        return value + _number(name, initial, a.dtype)
    value = _of(a, call)
    return REDUCTIONS[name].ufunc(value, _number(name, initial, value.dtype))


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


def _total(of: Any, axis: Any, dtype: Any, where: Any = None) -> Any:
    """Return sums that keep their dimensions, of the elements where a mask is true. Collective."""
    return _of(of if where is None else filled(of, where, 0), Call("sum", axis, dtype, True))


def _moment(a: Any, call: Call) -> Any:
    """Return the mean, variance or standard deviation of the elements where a mask is true."""
    name, axis, where = call.name, call.axis, call.where
    count = _total(_ones(a), axis, _INT64, where)
    if kind_of(a.dtype).is_span:
        return _without(_total(a, axis, call.dtype, where) / count, a, call)
    result = result_dtype(name, None if call.dtype is None else np.dtype(call.dtype), a.dtype)
    inner = kind_of(a.dtype).in_doubles(a.dtype)
    if name == "mean" and kind_of(result).is_whole:  # as NumPy: added up in it, and cut off
        inner = result
    chosen = filled(a.astype(inner, copy=False), where, 0)
    mean = _total(chosen, axis, inner) / count
    if name == "mean":
        return _without(mean.astype(result), a, call)
    apart = filled(chosen - computed(name, _mean_of_lines, (mean, a, axis), _spread_mean, written=()), where, 0)
    value = _total(np.square(np.abs(apart)), axis, np.dtype(np.float64))
    rest = np.square(np.abs(_total(apart, axis, inner)))  # what rounding has taken from the mean
    rest = np.where(np.isfinite(rest), rest, 0.0)
    value = np.maximum(value - rest / np.maximum(count, 1), 0) / np.maximum(count - call.ddof, 0)
    value = np.sqrt(value) if name == "std" else value
    return _without(by_user(value.astype, (result,), {}), a, call)


def _mean_of_lines(mean: Any, a: Any, axis: Any) -> Any:
    return mean


def _spread_mean(mean: Any, a: Any, axis: Any) -> Any:
    """Return means of lines spread over the elements, as kernels subtract them. Collective."""
    if isinstance(mean, np.ndarray):
        return mean.reshape(())[()]
    return spread_lines(mean, a, dimensions(axis, a.ndim))


def _by_steps(a: Any, call: Call) -> Any:
    """Return a variance or standard deviation by NumPy's own steps, with each in the dtype that is asked for."""
    dtype, axis, where, mean = call.dtype, call.axis, call.where, call.mean
    if dtype is None and kind_of(a.dtype).is_whole:
        dtype = np.dtype(np.float64)
    with np.errstate(all="ignore"):
        count = _total(_ones(a), axis, _INT64, where)
        if mean is None:
            mean = _total(a, axis, dtype, where)
            mean = (mean / count).astype(mean.dtype)
        apart = np.subtract(a, mean)
        squares = (
            np.square(apart)
            if not kind_of(apart.dtype).is_complex
            else np.real(np.multiply(apart, np.conjugate(apart)))
        )
        value = _total(squares, axis, dtype, where)
        left = np.maximum(count - call.ddof, 0)
        if not np.all(left):
            warn("Degrees of freedom <= 0 for slice", RuntimeWarning)
        value = _without((value / left).astype(value.dtype), a, call)
    if call.name == "var":
        return value
    root = np.sqrt(value)
    if np.ndim(value) and not np.can_cast(root.dtype, value.dtype, "same_kind"):
        raise InvalidTypeError(f"std: the roots of {root.dtype} may not be cast to {value.dtype}")
    return np.asarray(root).astype(value.dtype)[()] if isinstance(root, np.generic) else root.astype(value.dtype)


def reduced_numbers(name: str, a: Any, axis: Any, keepdims: Any = False, **options: Any) -> Any:
    """Return what a reduction makes of the elements that are not NaN, and where a mask is true. Collective."""
    check_container("a", a)
    where, initial, ddof = options.get("where"), options.get("initial"), options.get("ddof", 0)
    if not kind_of(a.dtype).is_inexact and not (kind_of(a.dtype).is_date and name in ("min", "max")):
        return reduced(name, a, axis, keepdims=keepdims, **options)
    dtype = options.get("dtype")
    if name in ("mean", "var", "std") and dtype is not None and not kind_of(np.dtype(dtype)).is_inexact:
        raise InvalidTypeError("If a is inexact, then dtype must be inexact")
    if f"nan{name}" in REDUCTIONS and where is initial is dtype is options.get("mean") is None and _are_plain_floats(a):
        value = reduced(f"nan{name}", a, axis, keepdims=keepdims, ddof=ddof)
        if not _overflows_alone(name, value):
            return _checked_numbers(name, a, axis, keepdims, ddof, value)
    return _of_chosen(name, a, axis, keepdims, options)


def _of_chosen(name: str, a: Any, axis: Any, keepdims: Any, options: Any) -> Any:
    """Return what a reduction makes of elements, those that are left out being replaced. Collective."""
    where, initial, ddof = options.get("where"), options.get("initial"), options.get("ddof", 0)
    numbers = ~np.isnan(a)
    if where is not None:
        numbers = np.logical_and(numbers, where)
    if name not in ("min", "max", "argmin", "argmax"):
        with np.errstate(divide="ignore", invalid="ignore"):  # of no numbers, as NumPy
            value = reduced(name, a, axis, keepdims=keepdims, **{**options, "where": numbers})
        if not ddof > 0:
            return value
        left = reduced("sum", numbers, axis, keepdims=keepdims) > ddof
        return _where_some(value, left, "Degrees of freedom <= 0 for slice.")
    if where is not None and initial is None:
        raise InvalidArgumentError(f"nan{name}: where needs initial, the result where nothing is chosen")
    absent = neutral(name, a.dtype)
    started = initial is not None
    if initial is not None and np.isnan(initial):  # is left out, as the elements that are
        started, initial = False, absent
    value = reduced(name, filled(a, numbers, absent), axis, keepdims=keepdims, initial=initial)
    if started:
        return value
    left = reduced("any", numbers, axis, keepdims=keepdims)
    if name[:3] != "arg":
        return _where_some(value, left, "All-NaN slice encountered")
    if not _all(left):
        raise InvalidArgumentError("All-NaN slice encountered")
    return value


def _are_plain_floats(a: Any) -> bool:
    """Say whether floats are folded without those that are NaN."""
    kind = kind_of(a.dtype)
    return kind.is_float and not kind.is_moved and bool(PARTS[place_of(a)].leaves_nan_out)


def _overflows_alone(name: str, value: Any) -> bool:
    """Say whether a sum of all elements is infinite, which that of smaller numbers may not be."""
    return name in ("sum", "mean") and np.ndim(value) == 0 and bool(np.isinf(value))


def _checked_numbers(name: str, a: Any, axis: Any, keepdims: Any, ddof: float, value: Any) -> Any:
    """Return results, with a warning where nothing is left to make them of. Collective."""
    if name in ("min", "max"):
        if not _all(~np.isnan(value)):
            warn("All-NaN slice encountered", RuntimeWarning)
    elif name in ("var", "std") and ddof > 0 and not _all(np.isfinite(value)):
        left = reduced("sum", ~np.isnan(a), axis, keepdims=keepdims) > ddof
        return _where_some(value, left, "Degrees of freedom <= 0 for slice.")
    return value


def _all(true: Any) -> bool:
    return bool(true.all() if isinstance(true, DistributedContainer) else np.all(true))


def _where_some(value: Any, left: Any, text: str) -> Any:
    """Return results, NaN where nothing is left to make them of, with a warning. Collective."""
    if _all(left):
        return value
    warn(text, RuntimeWarning)
    if isinstance(value, DistributedContainer):
        return filled(value, left, kind_of(value.dtype).nothing((), value.dtype))
    return kind_of(value.dtype).nothing(np.shape(value), value.dtype)[()]


def _without(value: Any, a: Any, call: Call) -> Any:
    """Return a result that has the dimensions it was reduced along, without them unless they are to be kept."""
    if call.keepdims:
        return value
    dims = dimensions(call.axis, a.ndim)
    if isinstance(value, np.ndarray):
        return value.reshape(())[()]
    return value[tuple(0 if d in dims else slice(None) for d in range(a.ndim))]


def _ones(a: Any) -> Any:
    made = new_like(a, np.dtype(np.bool_))
    fill_part(made, np.ones(1, np.bool_))
    return made
