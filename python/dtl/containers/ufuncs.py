"""NumPy's ufuncs and operators on containers: each rank computes on its own part, and nothing is communicated."""

from __future__ import annotations

import builtins
from abc import abstractmethod
from typing import Any, Iterable, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._lazy import matmul
from .._native.arguments import dtype_number
from .._native.callsite import by_user
from .._native.library import state
from ..exceptions import DTLError, InvalidArgumentError, InvalidTypeError, OverflowError
from ..runtime import scheduler
from ..runtime.context import Context


class Elementwise(NDArrayOperatorsMixin):
    """What makes a container a citizen of NumPy: ufuncs, operators, conversions and copies. None of it is collective.

    A container class has this as a base, and gives what is declared here.
    """

    @property
    @abstractmethod
    def context(self) -> Context:
        """The ranks."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The element type."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The extent of the whole along each dimension."""

    @abstractmethod
    def local_view(self) -> np.ndarray[Any, Any]:
        """Return this rank's elements, in their own memory."""

    @abstractmethod
    def _like(self, dtype: Any) -> Any:
        """Return a container of zeros that is laid out as this one."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        outputs = options.pop("out", (None,) * ufunc.nout)
        where = options.pop("where", True)
        if any(_has_own_ufuncs(value) for value in (*inputs, *outputs)):
            return NotImplemented
        if state.under_way:
            scheduler.wait_for(inputs, outputs, where)
        name = f"np.{ufunc.__name__}"
        if method == "reduce" and ufunc in _REDUCTIONS and outputs[0] is None and where is True:
            return _reduce(_REDUCTIONS[ufunc], *inputs, **options)
        if ufunc is np.matmul and method == "__call__" and outputs[0] is None:
            return matmul(*inputs, **options)
        if method == "accumulate" and ufunc in (np.add, np.multiply) and outputs[0] is None:
            options.setdefault("axis", 0)
            return getattr(inputs[0], "cumsum" if ufunc is np.add else "cumprod")(*inputs[1:], **options)
        if method != "__call__":
            text = "no containers; use it on local_view(), and combine the ranks' results, as with dtl.allreduce"
            raise _refusal(f"{name}.{method}", text)
        if ufunc.signature is not None:
            raise _refusal(name, "no containers, because it does not work element by element")
        return _apply(name, ufunc, inputs, outputs, where, options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if self.context.size > 1:
            raise InvalidTypeError(
                f"a container on {self.context.size} ranks does not become an array by itself: take this rank's part "
                "with to_numpy() or local_view(), or the whole on one rank with gather_to(root)"
            )
        if state.under_way:
            scheduler.wait_for(self)
        view = self.local_view()
        wanted = view.dtype if dtype is None else np.dtype(dtype)
        if copy is False and wanted != view.dtype:
            raise InvalidArgumentError(f"elements of {view.dtype} become an array of {wanted} by a copy only")
        return view.astype(wanted, copy=bool(copy))

    def __bool__(self) -> NoReturn:
        raise InvalidArgumentError(
            "a container is neither true nor false; of its elements, combine local_view().any() or .all() with "
            "dtl.allreduce, and for its size use len()"
        )

    def astype(self, dtype: Any, casting: Any = "unsafe", *, copy: bool = True) -> Any:
        """Return a container of another element type, laid out as this one. Not collective.

        Parameters
        ----------
        dtype
            The element type of the result.
        casting
            What may happen to the elements, as in NumPy: ``"no"``, ``"equiv"``, ``"safe"``, ``"same_kind"`` or
            ``"unsafe"``.
        copy
            False gives the container itself if it has that type already.

        Raises
        ------
        InvalidArgumentError
            If dtype is none that containers hold.
        InvalidTypeError
            If casting forbids the conversion.
        """
        dtype_number(dtype)
        wanted = np.dtype(dtype)
        if not np.can_cast(self.dtype, wanted, casting):
            raise InvalidTypeError(f"elements of {self.dtype} do not become {wanted} with casting {casting!r}")
        if wanted == self.dtype and not copy:
            return self
        if state.under_way:
            scheduler.wait_for(self)
        elements = self.local_view()
        result = self._like(wanted)
        by_user(np.copyto, (result.local_view(), elements), {"casting": "unsafe"})
        return result

    def copy(self) -> Any:
        """Return a container of its own with the same elements, laid out as this one. Not collective."""
        return self.astype(self.dtype)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self.copy()


#: The ufuncs whose method reduce works on containers, and the function that it calls.
_REDUCTIONS: Any = {
    np.add: "sum",
    np.multiply: "prod",
    np.minimum: "min",
    np.maximum: "max",
    np.logical_and: "all",
    np.logical_or: "any",
}


def _reduce(name: str, a: Any, axis: Any = 0, dtype: Any = None, **options: Any) -> Any:
    """Return what a ufunc's method reduce does, which by default works along the first dimension. Collective."""
    if dtype is not None:
        options["dtype"] = dtype
    return getattr(a, name)(axis, **options)


def _refusal(name: str, text: str, kind: type[DTLError] = InvalidTypeError) -> DTLError:
    error = kind(f"{name}: {text}")
    error.op = name
    return error


def _has_own_ufuncs(value: Any) -> bool:
    """Say whether a value is of another library whose types say themselves what ufuncs do with them."""
    known = (None, np.ndarray.__array_ufunc__, Elementwise.__array_ufunc__)
    return getattr(type(value), "__array_ufunc__", None) not in known


def _apply(
    name: str, ufunc: np.ufunc, inputs: tuple[Any, ...], outputs: tuple[Any, ...], where: Any, options: dict[str, Any]
) -> Any:
    """Call a ufunc on the local parts. All is checked before anything is written."""
    for value in inputs:
        _check_operand(name, value)
    for value in outputs:
        if value is not None and not isinstance(value, Elementwise):
            raise _refusal(name, f"out is of type {type(value).__name__}; it must be a container")
    if where is not True:
        _check_mask(name, where)
    containers = [value for value in (*inputs, *outputs, where) if isinstance(value, Elementwise)]
    first = containers[0]
    for other in containers[1:]:
        _check_alike(name, first, other)
    views: dict[int, Any] = {}
    _see(containers, views)
    dtypes = _dtypes(name, ufunc, inputs, outputs, options, int(0 not in first.shape))
    results = [first._like(dtype) if out is None else out for out, dtype in zip(outputs, dtypes)]
    _see(results, views)
    if where is not True:
        options["where"] = views.get(id(where), where)
    options["out"] = tuple([views[id(result)] for result in results])
    by_user(ufunc, tuple([views.get(id(value), value) for value in inputs]), options, depth=3)
    return results[0] if len(results) == 1 else tuple(results)


def _see(containers: Iterable[Elementwise], views: dict[int, Any]) -> None:
    """Add the local views of the containers that are not there yet, by identity: containers have no hash."""
    for container in containers:
        if id(container) not in views:
            views[id(container)] = container.local_view()


def _check_operand(name: str, value: Any) -> None:
    if isinstance(value, (Elementwise, bool, int, float, complex)):
        return
    if isinstance(value, (np.generic, np.ndarray)) and value.shape == () and not np.ma.is_masked(value):
        if value.dtype.kind in "biufc":
            return
    elif isinstance(value, (list, tuple)) or hasattr(value, "__array__"):
        raise _refusal(
            name,
            f"an operand is of type {type(value).__name__}, which is not divided among the ranks; make a "
            "container of it with from_numpy, or compute with local_view()",
        )
    raise _refusal(name, f"an operand is of type {type(value).__name__}, neither a container nor a number")


def _check_mask(name: str, where: Any) -> None:
    if isinstance(where, Elementwise):
        if where.dtype != np.bool_:
            raise _refusal(name, f"where holds {where.dtype}; it must hold bool")
    elif not isinstance(where, (bool, np.bool_)):
        raise _refusal(name, f"where is of type {type(where).__name__}; it must be a container of bool")


def _check_alike(name: str, one: Any, other: Any) -> None:
    """Refuse containers whose local parts do not correspond element by element."""
    if one is other:
        return
    alike = one._laid_out_as(other)
    if alike and one.context is other.context:
        return
    if one.shape != other.shape:
        raise _refusal(name, f"the shapes {one.shape} and {other.shape} differ", InvalidArgumentError)
    if alike:
        text = "the containers belong to different contexts; dtl.RedistributionPlan moves elements between them"
    else:
        text = f"the containers are divided differently: {one!r} and {other!r}; redistribute one of them first"
    raise _refusal(name, text, InvalidArgumentError)


def _dtypes(
    name: str, ufunc: np.ufunc, inputs: Iterable[Any], outputs: Iterable[Any], options: dict[str, Any], count: int
) -> list[np.dtype[Any]]:
    """Return the element types of the results, from a try with count ones for each container: 1, or 0 if all are empty.

    So a scalar that NumPy refuses, and a result that may not be cast to its output, raise on every rank alike, also
    where a rank has no element, and before anything is written.
    """

    def sample(value: Any) -> Any:
        return np.ones(count, value.dtype) if isinstance(value, Elementwise) else value

    try:
        with np.errstate(all="ignore"):
            tried = ufunc(*map(sample, inputs), out=tuple(map(sample, outputs)), **options)
    except builtins.OverflowError as error:
        raise _refusal(name, str(error), OverflowError) from None
    except TypeError as error:
        raise _refusal(name, str(error)) from None
    except ValueError as error:
        raise _refusal(name, str(error), InvalidArgumentError) from None
    dtypes = [np.asarray(result).dtype for result in (tried if isinstance(tried, tuple) else (tried,))]
    for dtype in dtypes:
        try:
            dtype_number(dtype)
        except InvalidArgumentError:
            text = f"the result is of {dtype}, which no container holds; dtype= chooses another"
            raise _refusal(name, text) from None
    return dtypes
