"""NumPy's ufuncs and operators on containers: each rank computes on its own part.

Where all containers are laid out alike, nothing is communicated. Else broadcasting.py brings the operands together.
"""

from __future__ import annotations

import operator
import warnings
from typing import TYPE_CHECKING, Any, Iterable, NoReturn, overload

import numpy as np

from .._lazy import late
from .._native import element_loops
from .._native.arguments import stored_number
from .._native.callsite import by_user
from .._native.keywords import memory_order
from .._native.kinds import kind_of
from .._native.library import bridge, state
from .._native.named_types import native_of
from .._native.no_value import NO_VALUE
from .._native.threads import threads
from ..comm.objects import allgather_object
from ..containers import broadcasting, expressions, one_rank
from ..containers.base import DistributedContainer
from ..containers.interior import in_blocks
from ..containers.making import new_like
from ..containers.operators import Operators
from ..containers.places.copies import computed, on_device
from ..containers.ufunc_operands import (
    LEAST_MAXIMUM,
    WEAK,
    are_alike,
    check_classes,
    known_results,
    moves,
    operand,
    refusal,
    result_dtypes,
)
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..policies import Partition, Placement
from ..runtime import scheduler
from ..runtime.agreement import agree, local_step

if TYPE_CHECKING:
    from ..containers.types import Owned


class Elementwise(Operators):
    """NumPy's protocol for containers: ufuncs, operators, conversions and copies.

    None of this is collective, except for ufuncs and operators on containers with different partitions.
    """

    if TYPE_CHECKING:  # what containers have
        _handle: int
        _placement: Placement
        _meaning: Any
        _like: Any
        context: Any
        dtype: Any
        local_view: Any
        partition_policy: Any

    def _array_ufunc(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Return what a ufunc makes of containers, where ``bridge.Container`` does not do it at once."""
        if ufunc is np.matmul and not options and method == "__call__":
            made = one_rank.matmul(*inputs)
            if made is not None:
                return made
        if (
            scheduler.with_device_copies is not None
            and method == "__call__"
            and options.keys() <= _OUT
            and not state.under_way
        ):
            made = _ufunc_at_once(ufunc, inputs, options.get("out", _NEW)[0])
            if made is not None:
                return made
        if any(_has_own_ufuncs(value) for value in (*inputs, *options.get("out", ()))):
            return _by_another(ufunc, method, inputs, options)
        outputs = options.pop("out", (None,) * ufunc.nout)
        where = options.pop("where", True)
        if state.under_way:
            scheduler.wait_for(inputs, outputs, where)
        name = f"np.{ufunc.__name__}"
        check_classes(name, map(type, inputs))
        if method != "__call__":
            return _by_method(ufunc, method, inputs, outputs, where, options)
        if ufunc in _PRODUCTS and where is True:
            made = _product(ufunc.__name__, _PRODUCTS[ufunc], inputs, options)
            return made if outputs[0] is None else _written(name, made, outputs[0])
        if ufunc.signature is not None:
            raise refusal(name, "no containers, because it does not work element by element")
        return _apply(name, ufunc, inputs, outputs, where, options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.partition_policy is not Partition.REPLICATED or self._meaning is not None:
            raise InvalidTypeError(
                "a container does not become an array by itself, on any number of ranks: take this rank's part with "
                "local_view(), or with to_numpy() as a copy, or the whole on one rank with gather_to(root); a "
                "replicated container, of which every rank has the whole, does become one"
            )
        whole = self.local_view()
        return np.array(whole, dtype) if copy else np.asarray(whole, dtype)

    def __arrow_array__(self, type: Any = None) -> Any:
        import pyarrow

        return pyarrow.array(self.__array__(), type)

    def __bool__(self) -> NoReturn:
        raise InvalidArgumentError(
            "a container is neither true nor false: take c.any() or c.all() of its elements, & and | in place of and "
            "and or, and len(c) for its size"
        )

    @overload
    def astype(  # type: ignore[misc]  # a mixin of it
        self: Owned, dtype: Any, order: Any = ..., casting: Any = ..., subok: bool = ..., copy: bool = ...
    ) -> Owned: ...
    @overload
    def astype(self, dtype: Any, order: Any = ..., casting: Any = ..., subok: bool = ..., copy: bool = ...) -> Any: ...
    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """Return a container of another dtype, with the shape and partition of this one.

        Not collective, except from text to dates and numbers: there all ranks hear if an element of one is none.

        Parameters
        ----------
        dtype
            The dtype of the result. Text without a length, such as str, gets one that suffices for any element, and
            dates without a unit get that which the text needs.
        order, subok
            Accepted as NumPy's arrays accept them, with no effect: the elements of a container are in C order.
        casting
            Which conversions are allowed, as in NumPy: ``"no"``, ``"equiv"``, ``"safe"``, ``"same_kind"`` or
            ``"unsafe"``.
        copy
            False returns the container itself if it has that dtype already.

        Raises
        ------
        InvalidArgumentError
            If containers cannot hold dtype.
        InvalidTypeError
            If casting forbids the conversion.
        ValueError
            If a text is no number or date.
        """
        wanted = _cast_dtype(self.dtype, dtype)
        memory_order(order)
        if kind_of(self.dtype).is_text and wanted == _DATES:
            wanted = _unit_of_dates(self)
        if not _may_cast(self.dtype, wanted, casting):
            raise InvalidTypeError(f"elements of {self.dtype} do not become {wanted} with casting {casting!r}")
        if wanted == self.dtype and not copy:
            return self
        if state.under_way:
            scheduler.wait_for(self)
        return computed("astype", _cast, (self, wanted), _cast_there, written=())

    @overload
    def copy(self: Owned, order: Any = ...) -> Owned: ...  # type: ignore[misc]  # a mixin of it
    @overload
    def copy(self, order: Any = ...) -> Any: ...
    def copy(self, order: Any = "C") -> Any:
        """Return a copy of the container, with its shape and partition. Not collective.

        Any order is accepted as NumPy's arrays accept it, with no effect: the elements of a container are in C order.
        """
        return self.astype(self.dtype, order)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.copy()


_DEVICE = Placement.DEVICE
#: Dates of no unit: of text, that which the text needs.
_DATES = np.dtype("M8")
_OUT = {"out"}
_NEW = (None,)

#: The ufuncs of vectors and matrices, and the functions that they call. NumPy before 2.2 has fewer.
_PRODUCTS: Any = {
    np.matmul: late(".linalg.products", "matmul"),
    **{
        getattr(np, name): late(home, name)
        for home, name in (
            (".linalg.contractions", "vecdot"),
            (".linalg.numpy_functions", "matvec"),
            (".linalg.numpy_functions", "vecmat"),
        )
        if hasattr(np, name)
    },
}

_ufunc_at_once = late(".containers.places.kernels", "ufunc_at_once")
_ufunc_by_kernel = late(".containers.places.kernels", "ufunc_by_kernel")
_converted = late(".containers.places.kernels", "converted")
_copy_there = late(".containers.places.device", "copy")
_dates_by_kernel = late(".containers.places.date_kernels", "dates_by_kernel")

_product = late(".linalg.ufunc_forms", "called")

#: The ufuncs whose method accumulate works on containers, and the function that does it.
_SCANS = (np.add, np.multiply, np.minimum, np.maximum)
_accumulated = late(".algorithms.scan", "accumulated")

_combine_at = late(".algorithms.scattering", "combine_at")

_reduceat = late(".algorithms.segments", "reduceat")

_beside = late(".algorithms.array_operands", "beside")

_written = late(".algorithms.output", "written")

#: The ufuncs of bits, whose method reduce is a function of its own.
_OF_BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
_reduced_bits = late(".algorithms.reducing", "reduced_bits")

#: The ufuncs whose method reduce works on containers, and the function that it calls.
_REDUCTIONS: Any = {
    np.add: "sum",
    np.multiply: "prod",
    np.minimum: "min",
    np.maximum: "max",
    np.fmin: "min",
    np.fmax: "max",
    np.logical_and: "all",
    np.logical_or: "any",
}

#: Those that pass over NaN, and the functions that do.
_WITHOUT_NANS: Any = {
    np.fmin: late(".algorithms.statistics", "nanmin"),
    np.fmax: late(".algorithms.statistics", "nanmax"),
}


def _by_method(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Return what a method of a ufunc does with containers. Collective."""
    name = f"np.{ufunc.__name__}"
    given = dict(options)
    if where is not True:
        given["where"] = where
    if method == "reduce" and ufunc in _REDUCTIONS:
        return _reduce(ufunc, *inputs, **{**given, **_into(outputs)})
    if method == "reduce" and ufunc in _OF_BITS:
        return _reduced_bits(inputs[0], ufunc, *inputs[1:], **given, **_into(outputs))
    if method == "accumulate" and ufunc in _SCANS and where is True:
        return _accumulated(ufunc, *inputs, **options, **_into(outputs))
    if method == "reduceat" and outputs[0] is None and where is True:
        return _reduceat(inputs[0], ufunc, *inputs[1:], **options)
    if method == "at":
        return _combine_at(inputs[0], ufunc, *inputs[1:])
    if method == "outer" and ufunc.nin == 2 and ufunc.signature is None:
        return ufunc(*_crossed(name, *inputs), **given, **_into(outputs))
    text = "no containers; use it on local_view(), and combine the ranks' results, as with dtl.allreduce"
    raise refusal(f"{name}.{method}", text)


def _into(outputs: tuple[Any, ...]) -> dict[str, Any]:
    return {} if outputs[0] is None else {"out": outputs[0]}


def _reduce(ufunc: np.ufunc, a: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
    """Return what a ufunc's method reduce does, which by default works along the first dimension. Collective."""
    kind, name = _REDUCTIONS[ufunc], f"np.{ufunc.__name__}.reduce"
    a = _beside(a, options.get("where"), options.get("out"))
    if not isinstance(a, DistributedContainer):
        raise refusal(name, f"its operand is of type {type(a).__name__}; it must be an array")
    if kind in ("sum", "prod") and dtype is not None:
        options["dtype"] = dtype
    elif kind in ("min", "max") and dtype is not None:
        a = a.astype(dtype, copy=False)
    elif dtype is not None and np.dtype(dtype) != np.bool_:
        raise refusal(f"np.{kind}", f"the result is of bool, not of {np.dtype(dtype)}")
    if options.get("initial", NO_VALUE) is NO_VALUE:
        options.pop("initial", None)
    elif kind in ("all", "any") and bool(options.pop("initial")) is not (kind == "all"):
        raise refusal(name, f"initial must be {kind == 'all'}, with which nothing changes")
    if ufunc not in _WITHOUT_NANS:
        return getattr(a, kind)(axis, **options)
    out = options.pop("out", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of no other elements, which the ufunc does not warn of
        made = _WITHOUT_NANS[ufunc](a, axis, **options)
    return made if out is None else _written(name, made, out)


def _crossed(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return two operands of which the first has further dimensions, as many as the second has. Collective."""
    first, second = operand(name, a, moves((a, b))), operand(name, b, moves((a, b)))
    added = getattr(second, "ndim", 0)
    return (first[(..., *[None] * added)] if added and getattr(first, "ndim", 0) else first), second


def _by_another(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what another library's operand makes of a ufunc; refuse it by name where none of them does."""
    others = [value for value in (*inputs, *options.get("out", ())) if _has_own_ufuncs(value)]
    for other in others:
        made = other.__array_ufunc__(ufunc, method, *inputs, **options)
        if made is not NotImplemented:
            return made
    raise refusal(
        f"np.{ufunc.__name__}",
        f"an operand is of type {type(others[0]).__name__}, which does not compute with containers; give the container "
        "its elements as an array, such as x.value of a quantity of astropy, and keep the rest beside it",
    )


def _has_own_ufuncs(value: Any) -> bool:
    """Say whether a value is of another library whose types say themselves what ufuncs do with them."""
    known = (None, np.ndarray.__array_ufunc__, bridge.Container.__array_ufunc__)
    return getattr(type(value), "__array_ufunc__", None) not in known


#: The ufunc of numpy.strings.slice, which takes no out.
_WITHOUT_OUT = "_slice"

#: Operators of NumPy that compare records, and text before NumPy 1.23, for which there are no loops of ufuncs.
_COMPARED: dict[np.ufunc, Any] = {np.equal: operator.eq, np.not_equal: operator.ne}


def _function_of(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the function that computes what a ufunc has no loop with out for, and the dtype of its result."""
    if ufunc.__name__ == _WITHOUT_OUT:
        return ufunc, inputs[0].dtype
    return (_COMPARED[ufunc], np.bool_) if ufunc in _COMPARED else None


def _apply(
    name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Call a ufunc on the local parts. All is checked before anything is written."""
    moved = moves(inputs)
    plain = moved and where is True and not options and outputs[0] is None and not _are_halves(inputs)
    by_function = _function_of(ufunc, inputs) if plain else None
    if by_function is not None:
        found = _dates_by_kernel(name, ufunc, inputs, outputs) if scheduler.with_device_copies else None
        return broadcasting.elementwise(name, by_function[0], inputs, by_function[1]) if found is None else found
    inputs = tuple([operand(name, value, moved) for value in inputs])
    for value in outputs:
        if value is not None and not isinstance(value, DistributedContainer):
            raise refusal(name, f"out is of type {type(value).__name__}; it must be a container")
    if where is not True:
        where = _mask(name, where)
    containers = [value for value in (*inputs, *outputs, where) if isinstance(value, DistributedContainer)]
    if scheduler.with_device_copies and on_device(containers):
        given = (name, ufunc, inputs, outputs, where, options)
        return computed(name, _apply, given, _apply_there, written=outputs)
    first = containers[0]
    for value in (*inputs, where):
        if value.__class__ is np.ndarray and value.ndim:
            return broadcasting.apply(name, ufunc, inputs, outputs, where, options)
    for other in containers[1:]:
        if other is not first and not are_alike(first, other):
            return broadcasting.apply(name, ufunc, inputs, outputs, where, options)
    dtypes = result_dtypes(name, ufunc, inputs, outputs, options, int(0 not in first.shape))
    whole = where is True
    if whole and not options and first.local_size * dtypes[0].itemsize >= state.least_queued:
        queued = expressions.call(ufunc, inputs, first, outputs[0], dtypes[0], depth=3)
        if queued is not None:
            return queued
    views: dict[int, Any] = {}
    _see(containers, views)
    results = [new_like(first, dtype, blank=whole) if out is None else out for out, dtype in zip(outputs, dtypes)]
    _see(results, views)
    if where is not True:
        options["where"] = views.get(id(where), where)
    options["out"] = tuple([views[id(result)] for result in results])
    broadcasting.call_in_blocks(ufunc, [views.get(id(value), value) for value in inputs], options)
    return results[0] if len(results) == 1 else tuple(results)


def _apply_there(
    name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Have the GPU compute a ufunc on this rank's parts."""
    made = _ufunc_by_kernel(name, ufunc, inputs, outputs, where, options)
    if made is None and where is True and not options:
        made = _dates_by_kernel(name, ufunc, inputs, outputs)
    return NotImplemented if made is None else made


def _see(containers: Iterable[DistributedContainer], views: dict[int, Any]) -> None:
    """Add the local views of the containers that are not there yet, by identity: containers have no hash."""
    for container in containers:
        if id(container) not in views:
            views[id(container)] = container.local_view()


def _cast(c: Any, wanted: np.dtype[Any]) -> Any:
    """Return a container of elements of another dtype. Collective where elements may have no value of it."""
    elements: Any = c.local_view()
    result = new_like(c, wanted, blank=True)
    copied = (result.local_view(), elements)
    if kind_of(c.dtype).is_text and not kind_of(wanted).is_closed:  # an element may be no number: the ranks agree on it
        with local_step(c.context, "astype"):
            _convert(*copied)
        agree(c.context, "astype")
        return result
    if not element_loops.assign(*copied, threads(c.execution_policy)):
        _convert(*copied)
    return result


def _convert(made: np.ndarray[Any, Any], elements: np.ndarray[Any, Any]) -> None:
    for rows in in_blocks(max(made, elements, key=lambda each: each.nbytes)):
        by_user(np.copyto, (made[rows], elements[rows]), {"casting": "unsafe"}, depth=5)


def _cast_there(c: Any, wanted: np.dtype[Any]) -> Any:
    if wanted != c.dtype:
        made = _converted(c, wanted)
        return NotImplemented if made is None else made
    result = new_like(c, wanted, blank=True)
    _copy_there(c, result)
    return result


def _cast_dtype(of: np.dtype[Any], dtype: Any) -> np.dtype[Any]:
    """Return the dtype that elements are cast to, in this machine's order of bytes: text has room for any of them."""
    try:
        wanted = native_of(np.dtype(dtype))
    except (TypeError, ValueError, SyntaxError):
        wanted = dtype  # which is refused by name
    else:
        if kind_of(wanted).is_text and not wanted.itemsize:
            wanted = np.zeros(1, of).astype(wanted).dtype
    stored_number(wanted)
    found: np.dtype[Any] = np.dtype(wanted)
    return found


def _unit_of_dates(text: Any) -> np.dtype[Any]:
    """Return the dtype of the dates that text has, in the finest unit that one of any rank needs. Collective."""
    with local_step(text.context, "astype"):
        mine = by_user(text.local_view().astype, (_DATES,), {}).dtype
    agree(text.context, "astype")
    found: np.dtype[Any] = np.result_type(*allgather_object(text.context, mine))
    return found


def _may_cast(of: np.dtype[Any], dtype: np.dtype[Any], casting: Any) -> bool:
    """Say whether NumPy's rule allows a conversion. "same_value", which depends on the values, is not taken."""
    rules = ("no", "equiv", "safe", "same_kind", "unsafe")
    if not isinstance(casting, str):
        raise InvalidTypeError(f"casting must be str, not {type(casting).__name__}")
    if casting not in rules:
        raise InvalidArgumentError(f"casting must be one of {', '.join(map(repr, rules))} (got {casting!r})")
    return bool(np.can_cast(of, dtype, casting))  # type: ignore[arg-type]  # one of the rules


def _are_halves(operands: Iterable[Any]) -> bool:
    """Say whether the elements of containers that are no numbers to the core are so to NumPy: half precision."""
    containers = [value for value in operands if isinstance(value, DistributedContainer)]
    return all([kind_of(c.dtype).is_number for c in containers])


def _mask(name: str, where: Any) -> Any:
    """Return what says which elements a ufunc computes."""
    if isinstance(where, (bool, np.bool_)):
        return where
    if isinstance(where, (list, tuple)):
        where = np.asarray(where)
    if not isinstance(where, (DistributedContainer, np.ndarray)):
        raise refusal(name, f"where is of type {type(where).__name__}; it must be a container or an array of bool")
    if where.dtype != np.bool_:
        raise refusal(name, f"where holds {where.dtype}; it must hold bool")
    return np.asarray(where) if isinstance(where, np.ndarray) else where


bridge.learn_ufuncs(np, known_results, WEAK, LEAST_MAXIMUM, by_user)
