"""What a GPU computes of each element: ufuncs, conversions, and choices.

A function here returns None where a GPU has no kernel for what it is asked; then the host computes it (copies.py).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Sequence

import numpy as np

from ..._native import library
from ..._native.arguments import stored_number
from ..._native.callsite import by_user
from ..._native.kinds import carrier
from ..._native.library import bridge
from ..._native.named_tuples import replaced
from ..._native.objects import Owner, handle_of, refuse_closed
from ..._numbers import STATUS
from ...exceptions import InvalidArgumentError
from ...policies import Placement
from ..base import DistributedContainer
from ..broadcasting import Placed, checked_shape, cut, own_indices, owns, place
from ..interior import carrier_of
from ..making import new_like
from ..ufunc_operands import LEAST_MAXIMUM, WEAK, are_alike, refusal, result_dtypes
from .copies import to_host
from .device import true_places

_DEVICE = Placement.DEVICE

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Kernels of ufuncs that have another name.
_OPERATORS = {"true_divide": "divide", "float_power": "power", "rad2deg": "degrees", "deg2rad": "radians"}

#: Those of ufuncs with two results.
_PAIRS = {
    "divmod": ("floor_divide", "remainder"),
    "modf": ("modf_fraction", "modf_whole"),
    "frexp": ("frexp_mantissa", "frexp_exponent"),
}

#: Ufuncs that change nothing of elements of a kind, where these do not become others.
_UNCHANGED = {
    **dict.fromkeys("biu", ("floor", "ceil", "trunc", "rint", "positive", "conjugate")),
    "f": ("positive", "conjugate"),
    "c": ("positive",),
}

#: What ufuncs of floats are of integers: an operator with a number, or with the integers themselves.
_OF_INTEGERS: dict[str, tuple[str, Any]] = {
    "isfinite": ("equal", None),
    "isinf": ("not_equal", None),
    "isnan": ("not_equal", None),
    "signbit": ("less", 0),
}

#: Operators of two elements that are others of integers, by the kind of these.
_OF_WHOLE = {
    **{("fmax", kind): "maximum" for kind in "biu"},
    **{("fmin", kind): "minimum" for kind in "biu"},
    ("fmod", "u"): "remainder",
}

#: Half precision: GPUs compute with it in float32, as NumPy does, but for these, and for what only moves elements.
_HALF = np.dtype(np.float16)
_OF_ITS_BITS = ("nextafter", "spacing")
_BY_SIZE = ("where", "positive", "from_float16")

#: Ufuncs whose results are of another type than they compute with.
_KEEP_OPERANDS = ("absolute", "bitwise_count")

#: How many dimensions kernels take operands in that lie otherwise than the result.
_MOST_DIMENSIONS = 6

#: Since this version, the sign of a complex number is its direction, and NumPy says which loop a ufunc takes.
_SIGNS_ARE_DIRECTIONS = _RESOLVES = np.lib.NumpyVersion(np.__version__) >= "2.0.0"

#: What NumPy is told of a number of Python, where that is not its own class.
_KINDS: dict[Any, Any] = {bool: np.dtype(np.bool_)}


class _Loop(NamedTuple):
    """What computes a ufunc: of operands of a type, an operator for each result."""

    dtype: np.dtype[Any]
    operators: tuple[str, ...]
    operands: tuple[Any, ...]


class _Cut(NamedTuple):
    """Some of the elements that a rank has: along each dimension the first, and how far it is to the next."""

    of: Any
    steps: list[tuple[int, int]]


class _Whole(Owner):
    """An array on a GPU that each rank has for itself."""

    def __init__(self, beside: Any, array: Array) -> None:
        elements = np.ascontiguousarray(array)
        carried = carrier(elements.dtype)
        elements = elements if carried is None else elements.view(carried)
        self._handle = bridge.whole_part(beside, elements, array.shape)

    def _release(self, handle: int) -> None:
        library.container_close(handle)


def ufunc_by_kernel(
    name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Have the GPU compute a ufunc. Collective where an operand has to move."""
    masks = () if where is True else (where,)
    outs = [out for out in outputs if out is not None]
    shape = checked_shape(name, (*inputs, *masks), outs)
    if not _are_together((*inputs, *masks, *outs)) or any(isinstance(mask, (bool, np.bool_)) for mask in masks):
        return None
    count = int(0 not in shape)
    results = result_dtypes(name, ufunc, inputs, outputs, options, count)
    if options:
        loop, computed = _named_loop(ufunc, inputs, outs, options)
    else:
        computed = result_dtypes(name, ufunc, inputs, (None,) * ufunc.nout, {}, count)
        loop = _loop(ufunc, computed, inputs)
    if loop is None:
        return None
    placed = bring(name, (*loop.operands, *masks), shape, results[0], outs)
    made = None if placed is None else _results(name, loop, placed, outputs, results, computed)
    if made is not None and not masks and not options:
        _remember(ufunc, loop, inputs, outs, computed)
    return made


#: How kernels have computed ufuncs, by what :func:`_form` returns: an operator's name, its type and the number of that,
#: and the type of the result. And how many of these are kept.
_known: dict[Any, tuple[Array, np.dtype[Any], int, np.dtype[Any]]] = {}
_MOST_KNOWN = 1000

_NO_NUMBERS = np.zeros(6, np.int64)


def ufunc_at_once(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any) -> Any:
    """Have the GPU compute a ufunc as it did before; None where it has not. Not collective, as containers lie alike."""
    form = _form(ufunc, inputs, out)
    known = None if form is None else _known.get(form)
    if known is None:
        return None
    name, dtype, number, result = known
    handles, words, first = [0, 0, 0], _NO_NUMBERS, out
    for n, value in enumerate(inputs):
        if isinstance(value, DistributedContainer):
            handles[n] = handle_of(value)
            first = value if first is None else first
        else:
            words = np.zeros(6, np.int64)
            words[2 * n : 2 * n + 2].view(dtype)[0] = value
    target = new_like(first, result, blank=True) if out is None else out
    bridge.elementwise(target, name, number, target.ndim, tuple(handles), words)
    return target


def _form(ufunc: np.ufunc, inputs: tuple[Any, ...], out: Any) -> Any:
    """Return all that the kernel of a ufunc depends on; None if that is more than types, or one may have to move."""
    first: Any = None
    key: list[Any] = [ufunc]
    for value in (*inputs, out):
        if isinstance(value, DistributedContainer):
            first = value if first is None else first
            if not (handle_of(value) and are_alike(first, value) and value.placement_policy is _DEVICE and owns(value)):
                return None
            key.append(value.dtype)
        elif value is None or value.__class__ in WEAK or (value.__class__ is int and 0 <= value <= LEAST_MAXIMUM):
            key.append(value.__class__)
        else:
            return None
    return tuple(key)


def _remember(
    ufunc: np.ufunc, loop: _Loop, inputs: tuple[Any, ...], outs: Sequence[Any], computed: Sequence[np.dtype[Any]]
) -> None:
    """Keep how a ufunc has been computed, if that was one kernel, with operands of its type."""
    is_checked = loop.operators == ("power",) and loop.dtype.kind == "i"
    if len(loop.operators) > 1 or loop.operands is not inputs or loop.dtype == _HALF or is_checked:
        return
    kinds = [value.dtype for value in (*inputs, *outs) if isinstance(value, DistributedContainer)]
    if any(kind != loop.dtype for kind in kinds[: len(kinds) - len(outs)]) or any(
        out.dtype != computed[0] for out in outs
    ):
        return
    form = _form(ufunc, inputs, outs[0] if outs else None)
    if form is not None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        name = np.frombuffer(loop.operators[0].encode(), np.uint8)
        _known[form] = name, loop.dtype, stored_number(loop.dtype), computed[0]


def _results(
    name: str,
    loop: _Loop,
    placed: Placed,
    outputs: tuple[Any, ...],
    results: Sequence[np.dtype[Any]],
    computed: Sequence[np.dtype[Any]],
) -> Any:
    """Return what kernels compute of operands in their places, and of a mask, if one more is placed."""
    outs = [out for out in outputs if out is not None]
    count = len(loop.operands)
    parts = [_unshared(part, outs) for part in placed.parts]
    given, mask = parts[:count], parts[count] if len(parts) > count else None
    if loop.operators == ("power",) and loop.dtype.kind == "i":
        _refuse_negative(name, loop.dtype, given[1], mask, placed.target)
    values: list[Any] = []
    for operator, out, result, dtype in zip(loop.operators, outputs, results, computed):
        if out is not None and result == dtype and mask is None and len(outputs) == 1:
            return compute(operator, loop.dtype, given, out)
        new = placed.target if placed.made and not values else new_like(placed.target, dtype, blank=True)
        values.append(compute(operator, loop.dtype, given, new))
    if all(value is not None for value in values):
        values = [_written(*each, mask) for each in zip(values, outputs, results)]
    if any(value is None for value in values):
        return None
    return values[0] if len(values) == 1 else tuple(values)


def _written(value: Any, out: Any, dtype: np.dtype[Any], mask: Any) -> Any:
    """Return values where the caller wants them, of a type: those that a mask leaves out are what they were, or 0."""
    if mask is not None:
        target = new_like(value, dtype, blank=True) if out is None else out
        return compute("where", dtype, (value, 0 if out is None else out, mask), target)
    if out is None:
        return value
    return compute("positive", dtype, (value,), out) if dtype == value.dtype else convert(value, out)


def _refuse_negative(name: str, dtype: np.dtype[Any], exponents: Any, mask: Any, target: Any) -> None:
    """Raise where an exponent of integers is negative, of those that a mask chooses, as NumPy does."""
    of = exponents.of if isinstance(exponents, _Cut) else exponents
    if not getattr(of, "ndim", 0) or np.can_cast(of.dtype, f"u{dtype.itemsize}"):
        return  # a number has been looked at
    signs = compute("less", dtype, (exponents, 0), new_like(target, np.bool_, blank=True))
    if mask is not None:
        signs = compute("logical_and", np.dtype(np.bool_), (signs, mask), signs)
    if true_places(signs).shape[0] > 0:
        raise refusal(name, "Integers to negative integer powers are not allowed.", InvalidArgumentError)


# ---- Which kernels compute a ufunc ----


def _named_loop(
    ufunc: np.ufunc, inputs: tuple[Any, ...], outs: Sequence[Any], options: dict[str, Any]
) -> tuple[_Loop | None, Sequence[np.dtype[Any]]]:
    """Return what computes a ufunc whose caller says in which type, and the types of its results; or None for it."""
    if not _RESOLVES or not options.keys() <= {"dtype", "casting"}:
        return None, ()
    named = None if options.get("dtype") is None else np.dtype(options["dtype"])
    given = [value.dtype if hasattr(value, "dtype") else _KINDS.get(type(value), type(value)) for value in inputs]
    types = ufunc.resolve_dtypes(
        (*given, *(outs[0].dtype if outs else None for _ in range(ufunc.nout))),
        signature=(*[None] * ufunc.nin, *[named] * ufunc.nout),
        casting="unsafe",  # what is allowed has been looked at
    )
    taken, computed = types[: ufunc.nin], types[ufunc.nin :]
    for value, dtype in zip(inputs, taken):
        if np.iscomplexobj(value) and not getattr(value, "ndim", 0) and dtype.kind != "c":
            return None, ()  # NumPy warns of what is lost
    return _loop(ufunc, computed, inputs, taken), computed


def _loop(
    ufunc: np.ufunc, computed: Sequence[np.dtype[Any]], inputs: tuple[Any, ...], taken: Sequence[Any] = ()
) -> _Loop | None:
    """Return what computes a ufunc whose results have given types, or None where nothing does.

    Operands are converted to the types that are to be taken, if there are any.
    """
    name, result = ufunc.__name__, computed[0]
    operators: tuple[str, ...] = _PAIRS.get(name, (_OPERATORS.get(name, name),))
    if len(inputs) == 1:
        own = np.dtype(taken[0] if taken else inputs[0].dtype)
        if own.kind == "b" and result.kind != "b" and not any(loop.startswith("?") for loop in ufunc.types):
            own = np.dtype(np.int8)  # the first type that there is a loop of
        if own.kind in "biu" and name in _OF_INTEGERS:
            operator, other = _OF_INTEGERS[name]
            return _Loop(own, (operator,), (*inputs, inputs[0] if other is None else other))
        if name in _UNCHANGED.get(own.kind, ()) and result == own:
            operators = ("positive",)
        becomes = result.kind in "fc" and own.kind not in "fc" and name not in _KEEP_OPERANDS
        dtype: np.dtype[Any] | None = result if becomes else own
        if name == "sign" and own.kind == "c" and not _SIGNS_ARE_DIRECTIONS:
            return None
    elif len(inputs) == 2:
        dtype = result
        if result.kind == "b":
            dtype = _compared_in(inputs) if not taken else taken[0] if taken[0] == taken[1] else None
        if result.kind in "biu":
            operators = tuple([_OF_WHOLE.get((operator, result.kind), operator) for operator in operators])
    else:
        return None
    if dtype is None or (dtype == _HALF and name in _OF_ITS_BITS):
        return None
    return _Loop(dtype, operators, inputs)


def _compared_in(inputs: Sequence[Any]) -> np.dtype[Any] | None:
    """Return the type that operands are converted to whose results are truth values; None where NumPy has no such."""
    spread = [value for value in inputs if getattr(value, "ndim", 0)]
    try:
        common = np.result_type(*[np.ones(1, v.dtype) if getattr(v, "ndim", 0) else v for v in inputs])
    except OverflowError:
        return None  # a number that the type does not hold is compared all the same
    kinds = [value.dtype.kind for value in spread]
    if common.kind == "f" and "u" in kinds and "i" in kinds:
        return None  # which are compared exactly
    return common if all(_holds(common, value) for value in inputs) else None


def _holds(dtype: np.dtype[Any], value: Any) -> bool:
    """Say whether a type of integers holds a number of Python."""
    return type(value) is not int or dtype.kind not in "iu" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


# ---- Conversions and choices ----


def converted(a: Any, dtype: np.dtype[Any]) -> Any:
    """Have the GPU convert elements to another type, or return None where it does not know one."""
    if any(carrier(each) is not None and each != _HALF for each in (a.dtype, dtype)):
        return None
    return convert(a, new_like(a, dtype, blank=True))


def convert(value: Any, target: Any) -> Any:
    """Write elements to a target of another type, with NumPy's warning where imaginary parts are lost.

    Return the target, or None where there is no such kernel.
    """
    if value.dtype.kind == "c" and target.dtype.kind not in "bc":
        by_user(np.zeros(1, value.dtype).astype, (target.dtype,), {})
    if value.dtype == _HALF:
        if target.dtype == np.float32:
            return compute("from_float16", _HALF, (value,), target)
        return convert(converted(value, np.dtype(np.float32)), target)
    if target.dtype == _HALF and value.dtype.char not in "fd":
        wide = np.dtype(np.float64 if value.dtype == np.complex128 else np.float32)
        return convert(compute(f"as_{wide}", value.dtype, (value,), new_like(value, wide, blank=True)), target)
    return compute(f"as_{target.dtype}", value.dtype, (value,), target)


def chosen(condition: Any, x: Any, y: Any) -> Any:
    """Have the GPU choose elements of x where a condition is true, else of y. Collective if one has to move."""
    operands = (condition, x, y)
    if not getattr(condition, "ndim", 0) or not _are_together(operands, moved=True):
        return None
    shape = checked_shape("np.where", operands, [])
    with np.errstate(all="ignore"):
        samples = [np.ones(1, v.dtype) if getattr(v, "ndim", 0) else v for v in (x, y)]
        dtype = np.where(np.ones(1, bool), *samples).dtype
    if _is_moved(dtype) and not _are_of(dtype, (x, y)):
        return None
    if isinstance(condition, np.ndarray):
        truth: Any = condition.astype(np.bool_)
    else:
        truth = condition if condition.dtype == np.bool_ else converted(condition, np.dtype(np.bool_))
    if truth is None:
        return None
    placed = bring("np.where", (x, y, truth), shape, dtype, [])
    if placed is None:
        return None
    target = placed.target if placed.made else new_like(placed.target, dtype, blank=True)
    return compute("where", dtype, placed.parts, target)


# ---- Where operands are ----


def _are_together(values: Sequence[Any], moved: bool = False) -> bool:
    """Say whether containers lie on GPUs, all of them, and hold numbers, if they have to."""
    containers = [value for value in values if isinstance(value, DistributedContainer)]
    return all(
        (moved or not _is_moved(c.dtype)) and c.placement_policy is containers[0].placement_policy for c in containers
    )


def _are_of(dtype: np.dtype[Any], values: Sequence[Any]) -> bool:
    """Say whether kernels copy elements that are no numbers, and containers have no others."""
    carried = carrier(dtype)
    known = carried is not None and carried.kind != "S"
    return known and all(value.dtype == dtype for value in values if isinstance(value, DistributedContainer))


def _is_moved(dtype: np.dtype[Any]) -> bool:
    """Say whether elements are no numbers, such as dates and text."""
    return carrier(dtype) is not None and dtype != _HALF


def bring(
    name: str, operands: Sequence[Any], shape: tuple[int, ...], dtype: np.dtype[Any], outs: Sequence[Any]
) -> Placed | None:
    """Bring operands to where the result is; None for more dimensions than kernels take. Collective if any moves."""
    containers = [*outs, *(value for value in operands if isinstance(value, DistributedContainer))]
    first = containers[0]
    alike = all(other is first or are_alike(first, other) for other in containers[1:])
    if alike and not any(isinstance(value, np.ndarray) and value.ndim for value in operands):
        return Placed(first, False, list(operands))
    if len(shape) > _MOST_DIMENSIONS:
        return None
    return place(name, operands, shape, dtype, outs[0] if outs else None, part=partial(_part, name))


def _unshared(part: Any, outs: Sequence[Any]) -> Any:
    """Return a part that a kernel does not change that writes to outs: a copy, where a span may share their memory."""
    if isinstance(part, _Cut):
        return replaced(part, of=_unshared(part.of, outs))
    if not isinstance(part, DistributedContainer):
        return part
    shares = any(out is not part and not (owns(out) and owns(part)) for out in outs)
    return part.copy() if shares else part


def _part(name: str, value: Any, some: bool, target: Any) -> Any:
    """Return the elements of an operand that go with this rank's part of the target, as kernels take them."""
    if not some:
        return value
    if isinstance(value, np.ndarray):
        return cut(value, target)
    steps = []
    for own in own_indices(value.shape, target):
        indices = range(own.start, own.stop) if isinstance(own, slice) else own
        every = int(indices[1] - indices[0]) if len(indices) > 1 else 1
        if not isinstance(own, slice) and (np.diff(own) != every).any():
            return cut(to_host(name, value), target)
        steps.append((int(indices[0]) if len(indices) else 0, every))
    return _Cut(value, steps)


def compute(operator: str, dtype: np.dtype[Any], operands: Sequence[Any], target: Any) -> Any:
    """Have the GPU write to a target what an operator of one type makes of operands, which are converted to the type.

    A third operand is a condition. Elements that are no numbers, such as dates, are taken as the type that they move
    as. The target is returned, or None where there is no such kernel.
    """
    if dtype == _HALF and operator not in _BY_SIZE:
        return _by_float32(operator, operands, target)
    handles, words = np.zeros(3, np.int64), np.zeros(6, np.int64)
    cuts = np.zeros((3, 2, target.ndim), np.int64)
    cuts[:, 1] = 1
    held = []  # until the call is made
    try:
        for n, value in enumerate(operands):
            there = value.of if isinstance(value, _Cut) else value
            if isinstance(value, _Cut):
                cuts[n, :, target.ndim - there.ndim :] = np.transpose(value.steps)
            if isinstance(value, np.ndarray) and value.ndim:
                there = _Whole(target, value if n == 2 else value.astype(dtype))
            elif not isinstance(there, DistributedContainer):
                bits = np.array(value, dtype).tobytes().ljust(16, b"\0")
                words[2 * n : 2 * n + 2] = np.frombuffer(bits, np.int64)
                continue
            elif n < 2 and there.dtype != dtype and not (_is_moved(there.dtype) and carrier_of(there) == dtype):
                there = converted(there, dtype)
                if there is None:
                    return None
            if isinstance(there, DistributedContainer):
                refuse_closed(there)  # the handle of a closed one would stand for a number
            held.append(there)
            handles[n] = handle_of(there)
        name = np.frombuffer(operator.encode(), np.uint8)
        if any(isinstance(value, _Cut) for value in operands):
            words = np.concatenate([words, cuts.ravel()])
        bridge.elementwise(target, name, stored_number(dtype), target.ndim, handles, words)
        return target
    except InvalidArgumentError as error:
        if error.code != STATUS.UNSUPPORTED:
            raise
        return None  # there is no such kernel


def _by_float32(operator: str, operands: Sequence[Any], target: Any) -> Any:
    """Have the GPU compute of half precision in float32, as NumPy does: what is not half precision is made so first."""
    single = np.dtype(np.float32)
    with np.errstate(over="ignore"):
        given = [_as_half(value) for value in operands]
    if any(value is None for value in given):
        return None
    if target.dtype != _HALF:
        return compute(operator, single, given, target)
    made = compute(operator, single, given, new_like(target, single, blank=True))
    return None if made is None else convert(made, target)


def _as_half(value: Any) -> Any:
    """Return an operand that has no digits that half precision has not."""
    if isinstance(value, _Cut):
        return replaced(value, of=_as_half(value.of))
    if isinstance(value, DistributedContainer):
        return value if np.can_cast(value.dtype, _HALF) else converted(value, _HALF)
    return np.asarray(value).astype(_HALF).astype(np.float32)[()]
