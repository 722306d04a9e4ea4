"""NumPy's ufuncs and operators on containers: each rank computes on its own part.

Where all containers are laid out alike, nothing is communicated. Else broadcasting.py brings the operands together.
"""

from __future__ import annotations

import builtins
import datetime
import operator
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Iterable, NoReturn, Sequence, overload

import numpy as np

from .._lazy import (
    broadcast,
    by_host,
    converted,
    dates_by_kernel,
    elementwise,
    late,
    matmul,
    ufunc_at_once,
    ufunc_by_kernel,
)
from .._native.arguments import carrier, stored_number
from .._native.callsite import by_user
from .._native.keywords import memory_order
from .._native.library import bridge, state
from .._native.named_types import native_of
from ..exceptions import DTLError, InvalidArgumentError, InvalidTypeError, OverflowError
from ..policies import Partition, Placement
from ..runtime import scheduler
from ..runtime.agreement import agree, local_step
from ..runtime.context import Context
from ..runtime.device_array import DeviceArray
from . import expressions
from .operators import Operators

if TYPE_CHECKING:
    from .types import Owned


class Elementwise(Operators):
    """NumPy's protocol for containers: ufuncs, operators, conversions and copies.

    None of this is collective, except for ufuncs and operators on containers with different partitions. A container
    class has this as a base class, and implements what is declared here.
    """

    _handle: int
    _placement: Placement
    _carrier: np.dtype[Any] | None

    #: Whether the elements are numbers in the memory of this process.
    _is_plain = False

    #: What the elements stand for, where that is something else.
    _meaning: Any = None

    #: The same object in containers of one context that are known to be laid out alike.
    _layout: Any = None

    @abstractmethod
    def device_view(self) -> DeviceArray:
        """Return this rank's elements, on their GPU."""

    @property
    @abstractmethod
    def context(self) -> Context:
        """The context."""

    @property
    @abstractmethod
    def partition_policy(self) -> Partition:
        """Which rank holds which element."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The extent of the whole container along each dimension."""

    @property
    @abstractmethod
    def local_size(self) -> int:
        """The number of elements on this rank."""

    @abstractmethod
    def local_view(self) -> np.ndarray[Any, Any]:
        """Return this rank's elements, in their own memory."""

    @abstractmethod
    def _like(self, dtype: Any, blank: bool = False) -> Any:
        """Return a container that is laid out as this one, of zeros, or of anything for a caller that writes all."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        made: Any = None
        if method == "__call__" and options.keys() <= _OUT and not state.under_way:
            given = options.get("out", _NEW)
            made = _made_shortly(ufunc, inputs, given)
            if made is None and scheduler.placed:
                made = ufunc_at_once(ufunc, inputs, given[0])
        if made is not None:
            return made
        outputs = options.pop("out", (None,) * ufunc.nout)
        where = options.pop("where", True)
        if any(_has_own_ufuncs(value) for value in (*inputs, *outputs)):
            return NotImplemented
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
            The dtype of the result. Text without a length, such as str, gets one that suffices for any element.
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
        if not _may_cast(self.dtype, wanted, casting):
            raise InvalidTypeError(f"elements of {self.dtype} do not become {wanted} with casting {casting!r}")
        if wanted == self.dtype and not copy:
            return self
        if state.under_way:
            scheduler.wait_for(self)
        if self._placement is _DEVICE and wanted != self.dtype:
            made = converted(self, wanted)
            return by_host("astype", Elementwise.astype, (self, wanted), {}) if made is None else made
        elements: Any = self.local_view()
        result = self._like(wanted, blank=True)
        if self._placement is _DEVICE:
            bridge.copy_part(result, np.array([self._handle]))
            return result
        copied = (result.local_view(), elements)
        if self.dtype.kind in "SU" and wanted.kind not in "SUV":  # an element may be no number: the ranks agree on that
            with local_step(self.context, "astype"):
                by_user(np.copyto, copied, {"casting": "unsafe"})
            agree(self.context, "astype")
            return result
        by_user(np.copyto, copied, {"casting": "unsafe"})
        return result

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
_OUT = {"out"}
_NEW = (None,)

#: The ufuncs of vectors and matrices, and the functions that they call. NumPy before 2.2 has fewer.
_PRODUCTS: Any = {
    np.matmul: matmul,
    **{
        getattr(np, name): late(home, name)
        for home, name in (
            (".linalg.contractions", "vecdot"),
            (".linalg.numpy_forms", "matvec"),
            (".linalg.numpy_forms", "vecmat"),
        )
        if hasattr(np, name)
    },
}

_product = late(".linalg.ufunc_forms", "called")

#: The ufuncs whose method accumulate works on containers, and the function that does it.
_SCANS = (np.add, np.multiply, np.minimum, np.maximum)
_accumulated = late(".algorithms.scan", "accumulated")

_combine_at = late(".algorithms.scattering", "combine_at")

_reduceat = late(".algorithms.segments", "reduceat")

_written = late(".algorithms.results", "written")

#: The ufuncs of bits, whose method reduce is a function of its own.
_OF_BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
_reduced_bits = late(".algorithms.masked_reductions", "reduced_bits")

#: The ufuncs whose method reduce works on containers, and the function that it calls.
_REDUCTIONS: Any = {
    np.add: "sum",
    np.multiply: "prod",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "all",
    np.logical_or: "any",
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
        if outputs[0] is not None:
            given["out"] = outputs[0]
        return _reduce(_REDUCTIONS[ufunc], *inputs, **given)
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


def _reduce(name: str, a: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
    """Return what a ufunc's method reduce does, which by default works along the first dimension. Collective."""
    if name in ("sum", "prod") and dtype is not None:
        options["dtype"] = dtype
    elif name in ("min", "max") and dtype is not None:
        a = a.astype(dtype, copy=False)
    elif dtype is not None and np.dtype(dtype) != np.bool_:
        raise refusal(f"np.{name}", f"the result is of bool, not of {np.dtype(dtype)}")
    if options.get("initial", np._NoValue) is np._NoValue:
        options.pop("initial", None)
    return getattr(a, name)(axis, **options)


def _crossed(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return two operands of which the first has further dimensions, as many as the second has. Collective."""
    first, second = operand(name, a, moves((a, b))), operand(name, b, moves((a, b)))
    added = getattr(second, "ndim", 0)
    return (first[(..., *[None] * added)] if added and getattr(first, "ndim", 0) else first), second


def refusal(name: str, text: str, kind: type[DTLError] = InvalidTypeError) -> DTLError:
    """Return the error of a function of NumPy that does not take what it is given."""
    error = kind(f"{name}: {text}")
    error.op = name
    return error


def _has_own_ufuncs(value: Any) -> bool:
    """Say whether a value is of another library whose types say themselves what ufuncs do with them."""
    known = (None, np.ndarray.__array_ufunc__, Elementwise.__array_ufunc__)
    return getattr(type(value), "__array_ufunc__", None) not in known


def check_classes(name: str, kinds: Iterable[type]) -> None:
    """Refuse arrays of classes in which operators or functions mean something else, such as matrices.

    By NumPy's protocol, these are subclasses that have a priority, or that say themselves what functions do with them.
    """
    for kind in kinds:
        if kind is not np.ndarray and issubclass(kind, np.ndarray) and _redefines(kind):
            raise refusal(
                name,
                f"an operand is of type {kind.__name__}, of which operators and functions do something else than of "
                "arrays and containers; np.asarray(x) has its elements, and np.ma.filled(x) those of a masked array",
            )


def _redefines(kind: Any) -> bool:
    """Say whether a subclass of arrays changes what operators or functions do."""
    priority = kind.__array_priority__  # that of arrays themselves is 0, and a property
    if priority is not np.ndarray.__array_priority__ and priority > 0:
        return True
    same = kind.__array_ufunc__ is np.ndarray.__array_ufunc__
    return not (same and kind.__array_function__ is np.ndarray.__array_function__)


#: The ufunc of numpy.strings.slice, which takes no out.
_WITHOUT_OUT = "_slice"

#: Operators of NumPy that compare records, and text before NumPy 1.23, for which there are no loops of ufuncs.
_COMPARED: dict[np.ufunc, Any] = {np.equal: operator.eq, np.not_equal: operator.ne}


def _function_of(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the function that computes what a ufunc has no loop with out for, and the dtype of its result."""
    if ufunc.__name__ == _WITHOUT_OUT:
        return ufunc, inputs[0].dtype
    return (_COMPARED[ufunc], np.bool_) if ufunc in _COMPARED else None


def _made_shortly(ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> Any:
    """Return what a ufunc makes of small containers that are laid out alike; None if it takes longer."""
    first = out = outputs[0]
    if len(outputs) > 1 or not (out is None or (isinstance(out, Elementwise) and out._is_plain)):
        return None
    key: list[Any] = [ufunc]
    for value in inputs:
        kind = value.__class__
        if kind in _WEAK or (kind is int and 0 <= value <= _LEAST_MAXIMUM):
            key.append(kind)
        elif isinstance(value, Elementwise) and value._is_plain and (first is None or are_alike(first, value)):
            first = value if first is None else first
            key.append(value.dtype)
        else:
            return None
    if out is not None:
        key.append(out.dtype)
    known = _known_results.get(tuple(key))
    if known is None or len(known) > 1 or not 0 < first.local_size * known[0].itemsize < expressions.least:
        return None
    made = first._like(known[0], blank=True) if out is None else out
    if not made._is_plain:
        return None
    views = [_view(value) if isinstance(value, Elementwise) else value for value in inputs]
    by_user(ufunc, tuple(views), {"out": _view(made)}, depth=3)
    return made


def _view(c: Any) -> np.ndarray[Any, Any]:
    """Return what local_view does of numbers in the memory of this process."""
    return np.asarray(bridge.view(c))


def _apply(
    name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Call a ufunc on the local parts. All is checked before anything is written."""
    moved = moves(inputs)
    plain = moved and where is True and not options and outputs[0] is None and not _are_halves(inputs)
    by_function = _function_of(ufunc, inputs) if plain else None
    if by_function is not None:
        found = dates_by_kernel(name, ufunc, inputs, outputs) if scheduler.placed else None
        return elementwise(name, by_function[0], inputs, by_function[1]) if found is None else found
    inputs = tuple([operand(name, value, moved) for value in inputs])
    for value in outputs:
        if value is not None and not isinstance(value, Elementwise):
            raise refusal(name, f"out is of type {type(value).__name__}; it must be a container")
    if where is not True:
        where = _mask(name, where)
    containers = [value for value in (*inputs, *outputs, where) if isinstance(value, Elementwise)]
    if scheduler.placed and any([container._placement is _DEVICE for container in containers]):
        return _on_device(name, ufunc, inputs, outputs, where, options)
    first = containers[0]
    for value in (*inputs, where):
        if value.__class__ is np.ndarray and value.ndim:
            return broadcast(name, ufunc, inputs, outputs, where, options)
    for other in containers[1:]:
        if other is not first and not are_alike(first, other):
            return broadcast(name, ufunc, inputs, outputs, where, options)
    dtypes = result_dtypes(name, ufunc, inputs, outputs, options, int(0 not in first.shape))
    whole = where is True
    if whole and not options and first.local_size * dtypes[0].itemsize >= expressions.least:
        queued = expressions.call(ufunc, inputs, first, outputs[0], dtypes[0], depth=3)
        if queued is not None:
            return queued
    views: dict[int, Any] = {}
    _see(containers, views)
    results = [first._like(dtype, blank=whole) if out is None else out for out, dtype in zip(outputs, dtypes)]
    _see(results, views)
    if where is not True:
        options["where"] = views.get(id(where), where)
    options["out"] = tuple([views[id(result)] for result in results])
    by_user(ufunc, tuple([views.get(id(value), value) for value in inputs]), options, depth=3)
    return results[0] if len(results) == 1 else tuple(results)


def _on_device(
    name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Have the GPU compute a ufunc on this rank's parts, or the host with copies of them."""
    computed = ufunc_by_kernel(name, ufunc, inputs, outputs, where, options)
    if computed is None and where is True and not options:
        computed = dates_by_kernel(name, ufunc, inputs, outputs)
    if computed is None:
        return by_host(name, _apply, (name, ufunc, inputs, outputs, where, options), {}, outputs)
    return computed


def _see(containers: Iterable[Elementwise], views: dict[int, Any]) -> None:
    """Add the local views of the containers that are not there yet, by identity: containers have no hash."""
    for container in containers:
        if id(container) not in views:
            views[id(container)] = container.local_view()


def scalar_of(value: Any) -> Any:
    """Return NumPy's scalar in place of an array without dimensions of ``dtl.array_api``, which every rank has."""
    return value._as_scalar() if hasattr(value, "_as_scalar") else value


def operand(name: str, value: Any, moved: bool = False) -> Any:
    """Return an operand that ufuncs take: a container, a number, or an array, which every rank passes alike."""
    if isinstance(value, (Elementwise, bool, int, float, complex)):
        return value
    value = scalar_of(value)
    if isinstance(value, (list, tuple)):
        try:
            value = np.asarray(value)
        except ValueError as error:
            raise refusal(name, f"an operand is no array: {error}", InvalidArgumentError) from None
    check_classes(name, (type(value),))
    if moved and isinstance(value, (str, bytes)):
        value = np.asarray(value)[()]
    elif moved and isinstance(value, datetime.timedelta):
        value = np.timedelta64(value)
    elif moved and isinstance(value, datetime.date):
        value = np.datetime64(value)
    if isinstance(value, (np.generic, np.ndarray)) and not np.ma.is_masked(value) and _goes_along(value.dtype, moved):
        return np.asarray(value) if value.ndim else value
    if isinstance(value, np.ndarray):
        what = "has masked elements" if np.ma.is_masked(value) else f"holds {value.dtype}"
        raise refusal(name, f"an operand of type {type(value).__name__} {what}; containers go with numbers only")
    raise refusal(
        name,
        f"an operand is of type {type(value).__name__}: operands are containers, numbers, and NumPy arrays of numbers "
        "that are the same on every rank",
    )


def _cast_dtype(of: np.dtype[Any], dtype: Any) -> np.dtype[Any]:
    """Return the dtype that elements are cast to, in this machine's order of bytes: text has room for any of them."""
    try:
        wanted = native_of(np.dtype(dtype))
    except (TypeError, ValueError, SyntaxError):
        wanted = dtype  # which is refused by name
    else:
        if wanted.kind in "SU" and not wanted.itemsize:
            wanted = np.zeros(1, of).astype(wanted).dtype
    stored_number(wanted)
    found: np.dtype[Any] = np.dtype(wanted)
    return found


def _may_cast(of: np.dtype[Any], dtype: np.dtype[Any], casting: Any) -> bool:
    """Say whether NumPy's rule allows a conversion. "same_value", which depends on the values, is not taken."""
    rules = ("no", "equiv", "safe", "same_kind", "unsafe")
    if not isinstance(casting, str):
        raise InvalidTypeError(f"casting must be str, not {type(casting).__name__}")
    if casting not in rules:
        raise InvalidArgumentError(f"casting must be one of {', '.join(map(repr, rules))} (got {casting!r})")
    return bool(np.can_cast(of, dtype, casting))  # type: ignore[arg-type]  # one of the rules


def moves(operands: Iterable[Any]) -> bool:
    """Say whether an operand is a container of elements that are moved, such as dates: then others may be, too."""
    return any([isinstance(value, Elementwise) and value._carrier is not None for value in operands])


def _are_halves(operands: Iterable[Any]) -> bool:
    """Say whether the elements of containers that are no numbers to the core are so to NumPy: half precision."""
    containers = [value for value in operands if isinstance(value, Elementwise)]
    return all([c._carrier is None or c.dtype == np.float16 for c in containers])


def _goes_along(dtype: np.dtype[Any], moved: bool) -> bool:
    """Say whether elements go with those of containers: numbers, and what containers hold beside them."""
    return dtype.kind in "biufc" or (moved and (dtype.kind in "mMSU" or carrier(dtype) is not None))


def _mask(name: str, where: Any) -> Any:
    """Return what says which elements a ufunc computes."""
    if isinstance(where, (bool, np.bool_)):
        return where
    if isinstance(where, (list, tuple)):
        where = np.asarray(where)
    if not isinstance(where, (Elementwise, np.ndarray)):
        raise refusal(name, f"where is of type {type(where).__name__}; it must be a container or an array of bool")
    if where.dtype != np.bool_:
        raise refusal(name, f"where holds {where.dtype}; it must hold bool")
    return np.asarray(where) if isinstance(where, np.ndarray) else where


def are_alike(one: Any, other: Any) -> bool:
    """Say whether the local parts of two containers correspond element by element."""
    return one._layout is other._layout or (bool(one._laid_out_as(other)) and one.context is other.context)


def check_alike(name: str, one: Any, other: Any) -> None:
    """Refuse containers whose local parts do not correspond element by element."""
    if one is other or are_alike(one, other):
        return
    text = f"the containers are divided differently: {one!r} and {other!r}; redistribute one of them first"
    raise refusal(name, text, InvalidArgumentError)


def result_dtypes(
    name: str, ufunc: np.ufunc, inputs: Iterable[Any], outputs: Sequence[Any], options: dict[str, Any], count: int
) -> list[np.dtype[Any]]:
    """Return the element types of the results, from a try with count ones for each container: 1, or 0 if all are empty.

    So a scalar that NumPy refuses, and a result that may not be cast to its output, raise on every rank alike, also
    where a rank has no element, and before anything is written.
    """
    outs = [out for out in outputs if out is not None]
    key = None if options or not count or len(outs) not in (0, len(outputs)) else _kinds(ufunc, (*inputs, *outs))
    known = None if key is None else _known_results.get(key)
    if known is not None:
        return known

    def sample(value: Any) -> Any:
        spreads = isinstance(value, Elementwise) or (value.__class__ is np.ndarray and value.ndim > 0)
        return np.ones(count, value.dtype) if spreads else value

    try:
        with np.errstate(all="ignore"):
            tried = ufunc(*map(sample, inputs), out=tuple(map(sample, outputs)), **options)
    except builtins.OverflowError as error:
        raise refusal(name, str(error), OverflowError) from None
    except TypeError as error:
        raise refusal(name, str(error)) from None
    except ValueError as error:
        raise refusal(name, str(error), InvalidArgumentError) from None
    dtypes = [np.asarray(result).dtype for result in (tried if isinstance(tried, tuple) else (tried,))]
    for dtype in dtypes:
        try:
            stored_number(dtype)
        except InvalidArgumentError:
            text = f"the result is of {dtype}, which no container holds; dtype= chooses another"
            raise refusal(name, text) from None
    if key is not None:
        if len(_known_results) >= _MOST_KNOWN:
            _known_results.clear()
        _known_results[key] = dtypes
    return dtypes


#: What results were of, by what :func:`_kinds` returns, and how many of these are kept.
_known_results: dict[Any, list[np.dtype[Any]]] = {}
_MOST_KNOWN = 1000

#: Numbers of which the value has no effect on the dtype of a result; before NumPy 2 that of any has.
_WEAK: tuple[type, ...] = (
    (bool, float, complex, np.float64, np.float32) if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else (bool,)
)

#: Up to which number integers go with every type of integers, and have no effect on the dtype either.
_LEAST_MAXIMUM = 127 if len(_WEAK) > 1 else -1


def _kinds(ufunc: np.ufunc, inputs: Iterable[Any]) -> Any:
    """Return all that the dtypes of a ufunc's results depend on, or None where values of numbers are part of it."""
    key: list[Any] = [ufunc]
    for value in inputs:
        if isinstance(value, Elementwise) or (value.__class__ is np.ndarray and value.ndim):
            key.append(value.dtype)
        elif value.__class__ in _WEAK or (value.__class__ is int and 0 <= value <= _LEAST_MAXIMUM):
            key.append(value.__class__)
        else:
            return None
    return tuple(key)
