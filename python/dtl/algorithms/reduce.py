"""Reductions of whole containers: every element, or a function's value for it, combined to one."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import dtype_number, operator_number
from .._native.callsite import by_user
from .._native.kinds import kind_of
from .._native.library import dtype_name
from .._native.objects import handle_of, refuse_closed
from ..containers.base import DistributedContainer, check_container
from ..containers.interior import check_numbers
from ..containers.making import new_like
from ..containers.places.copies import check_placements, computed, to_host
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..ops import BAND, BOR, BXOR, LAND, LOR, MAX, MIN, PROD, SUM, Op, OpLike
from ..policies import Partition
from ..runtime.agreement import local_step
from ..runtime.array_libraries import LibraryLike
from ..runtime.scheduler import algorithm, calls_functions, computed_on_devices
from . import device_functions, statistics
from .exchange import share
from .operator_ufuncs import UFUNCS
from .transform import check_all_alike
from .user_functions import by_blocks, check_function, named, user_code

#: The reductions of the same meaning, which GPUs compute.
_STATISTICS: dict[int, Callable[[Any], Any]] = {
    SUM: statistics.sum,
    PROD: statistics.prod,
    MIN: statistics.min,
    MAX: statistics.max,
    LAND: statistics.all,
    LOR: statistics.any,
}

#: The bytes in which a rank sends its value: two of the numbers of an exchange.
_ROOM = 16


def reduce_container(c: DistributedContainer, op: Any) -> Any:
    """Combine the elements of a container: what ``reduce`` does of one. Collective."""
    return computed("reduce", _combined, (c, op), _combined_there)


def _combined_there(c: DistributedContainer, op: Any) -> Any:
    if not handle_of(c):
        return NotImplemented
    check_numbers(c, "reduce_local")
    chosen = _operator(op)
    _check(chosen, c.dtype)
    share(c, "reduce", f"op {chosen.name}", anywhere=True)
    return _folded("reduce", chosen, c)


def _folded(name: str, op: Op, c: DistributedContainer) -> Any:
    """Return the elements of a container on a GPU combined, by the host if no kernel does. Collective."""
    if op not in _STATISTICS:
        return computed(name, _combined, (c, op))
    if not c.global_size:
        return _of_no_elements(name, op, c.dtype)
    made = _STATISTICS[op](c)
    return c.dtype.type(made) if op in (LAND, LOR) else made


def _combined(c: DistributedContainer, op: Any) -> Any:
    refuse_closed(c)
    check_numbers(c, "reduce_local")
    chosen = _operator(op)
    _check(chosen, c.dtype)
    mine = _combine(chosen, c.local_view())
    return _combine_ranks("reduce", c, chosen, (), c.dtype, mine)


def reduce_local(c: DistributedContainer, op: OpLike = SUM) -> Any:
    """Combine the elements of this rank's part only. Not collective.

    Parameters, result and errors are those of ``reduce(c, op)``, for the local part.
    """
    check_container("c", c)
    refuse_closed(c)
    check_numbers(c, "reduce_local")
    chosen = _operator(op)
    _check(chosen, c.dtype)
    mine = _combine(chosen, to_host("reduce_local", c))
    return _of_no_elements("reduce_local", chosen, c.dtype) if mine is None else mine


@algorithm
@calls_functions
def transform_reduce(
    src: Any, f: Callable[..., Any], op: OpLike = SUM, *, elementwise: bool = False, library: LibraryLike = None
) -> Any:
    """Apply a function to the elements of one or several containers, and combine its values. Collective.

    Each rank stores only the function's values for its own part.

    Parameters
    ----------
    src
        A container; or a tuple of containers, which are the function's arguments, of the same shape and partition.
    f
        A function of as many arrays as there are containers, which returns an array of their shape. It is called once
        on each rank, with the local views, unless the rank has no elements; of what is on disk under a limit of memory,
        it is called with one block of rows after the other, the values of which are combined.
    op
        An operator other than MINLOC and MAXLOC, or its name; ``dtl.ops.Op`` lists them.
    elementwise
        True if f is a function of one element of each container. It is then called for each.
    library
        As for ``transform``.

    Returns
    -------
    scalar
        A NumPy scalar, the same on every rank, of the dtype of NumPy's reduction of the values. If there are no
        elements, the identity of the operator, as float64.

    Raises
    ------
    InvalidTypeError, InvalidArgumentError
        If an argument is not a container, a function or an operator, if the operator is not defined for the values'
        dtype, or if the containers differ in shape or partition. Also if there are no elements and op is MIN, MAX or
        bitwise. Because of library, as for ``transform``.
    CommunicationError
        If f fails on another rank. The message has its traceback. The rank itself raises what f raised.
    CollectiveMismatchError
        If the ranks pass different containers, operators, or ufuncs of NumPy.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     vec = dtl.DistributedVector.from_numpy(ctx, np.array([3.0, -4.0]))
    ...     print(dtl.transform_reduce(vec, np.abs, op=dtl.MAX), dtl.inner_product(vec, vec))
    4.0 25.0
    """
    first = src[0] if isinstance(src, tuple) and src else src
    check_container("src", first)
    sources = src if isinstance(src, tuple) else (src,)
    check_function("f", f, library)
    check_all_alike("src", sources, first)
    chosen = _operator(op)
    return computed("transform_reduce", _transformed, (sources, f, chosen, library, elementwise), _transformed_there)


def _transformed(sources: tuple[Any, ...], f: Any, op: Op, _: Any, elementwise: bool) -> Any:
    first = sources[0]
    with user_code(first.context, "transform_reduce"):
        found = []
        for _, values in by_blocks("transform_reduce", f, sources, elementwise) if first.local_size else ():
            dtype_number(values.dtype)
            _check(op, values.dtype)
            found.append(_combine(op, values))
        _check(op, np.dtype(np.bool_))
        mine = found[0] if len(found) == 1 else _combine(op, np.array(found))
    return _combine_ranks("transform_reduce", first, op, sources[1:], np.dtype(np.float64), mine, named(f))


def _transformed_there(sources: tuple[Any, ...], f: Any, op: Op, library: Any, elementwise: bool) -> Any:
    """Do what ``transform_reduce`` does, on the GPU. Collective."""
    check_placements("transform_reduce", sources)
    first = sources[0]
    with local_step(first.context, "transform_reduce"):
        function = device_functions.DeviceFunction(f, library, elementwise)
    with user_code(first.context, "transform_reduce"):
        made = function.made(sources)
        told = 0
        if made is not None and made.local_size:
            _check(op, made.dtype)
            told = dtype_number(made.dtype)
    rows = share(first, "transform_reduce", f"op {op.name}, {function.words}", (told,), sources[1:], anywhere=True)
    of = _dtype_of_all("transform_reduce", rows)
    if of is None:
        return _of_no_elements("transform_reduce", op, np.dtype(np.float64))
    with new_like(first, of) if made is None else made as values:
        return _folded("transform_reduce", op, values)


@algorithm
@computed_on_devices
def inner_product(a: DistributedContainer, b: DistributedContainer) -> Any:
    """Return the sum of the products of the elements of two containers. Collective.

    Complex elements are not conjugated. Parameters, result and errors are those of
    ``transform_reduce((a, b), np.multiply)``.
    """
    return transform_reduce((a, b), np.multiply)


def _operator(op: Any) -> Op:
    number = operator_number(op)
    if number not in UFUNCS:
        raise InvalidArgumentError(
            f"op {op!r} does not combine elements; min_element and max_element say where they are"
        )
    return Op(number)


def _check(op: Op, dtype: np.dtype[Any]) -> None:
    """Refuse an operator that elements of a type do not have."""
    if (op in (BAND, BOR, BXOR) and kind_of(dtype).is_inexact) or (op in (MIN, MAX) and kind_of(dtype).is_complex):
        raise InvalidTypeError(f"{op.name} is not defined for {dtype}")


def _combine(op: Op, values: Any) -> Any:
    """Return one rank's values combined, or None of none."""
    if not values.size:
        return None
    one = by_user(UFUNCS[op].reduce, (values,), {"axis": None})
    return values.dtype.type(one) if op in (LAND, LOR) else one


def _combine_ranks(
    name: str, c: DistributedContainer, op: Op, also: tuple[Any, ...], dtype: np.dtype[Any], mine: Any, f: str = ""
) -> Any:
    """Return all ranks' values combined in the order of the ranks. Collective."""
    told = (0, 0, 0)
    if mine is not None:
        bits = np.frombuffer(mine.tobytes().ljust(_ROOM, b"\0"), np.int64)
        told = (dtype_number(mine.dtype), *bits.tolist())
    rows = share(c, name, f"op {op.name}{f and ', '}{f}", told, also)
    rows = rows[: 1 if c.partition_policy is Partition.REPLICATED else None]
    of = _dtype_of_all(name, rows)
    if of is None:
        return _of_no_elements(name, op, dtype)
    values = np.array([row[1:3].copy().view(np.uint8)[: of.itemsize].view(of)[0] for row in rows if row[0]])
    return _combine(op, values)


def _dtype_of_all(name: str, rows: Any) -> np.dtype[Any] | None:
    """Return the one dtype of which all ranks told the number first in their rows; None of no elements."""
    numbers = {int(number) for number in rows[:, 0]} - {0}
    if len(numbers) > 1:
        dtypes = ", ".join(sorted(dtype_name(number) for number in numbers))
        raise InvalidTypeError(f"{name}: the function gave values of different types on different ranks: {dtypes}")
    return np.dtype(dtype_name(numbers.pop())) if numbers else None


def _of_no_elements(name: str, op: Op, dtype: np.dtype[Any]) -> Any:
    if op in (SUM, PROD):
        return UFUNCS[op].reduce(np.empty(0, dtype))
    if op in (LAND, LOR):
        return dtype.type(op == LAND)
    raise InvalidArgumentError(f"{name}: a container of no elements has no {op.name}")
