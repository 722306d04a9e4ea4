"""Arrays without dimensions of the namespace: a value that every rank has."""

from __future__ import annotations

import operator
from typing import Any, Callable, Iterable, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .._lazy import extend
from ..containers.base import DistributedContainer
from ..containers.layout import REPLICATED
from ..containers.making import created
from ..containers.sequences import DistributedVector
from ..containers.tensor import DistributedTensor
from ..exceptions import InvalidArgumentError
from ..policies import Partition, Placement, placement_of
from ..runtime.context import Context


class Home(NamedTuple):
    """Where the arrays of a namespace are: the ranks, and how the namespace divides those that it makes."""

    context: Context
    partition: Partition


class ZeroDimensional(NDArrayOperatorsMixin):
    """An array without dimensions: what functions of ``dtl.array_api`` return where NumPy has a scalar.

    Every rank has the value. It is an array of the namespace as containers are, so that libraries find one namespace
    for all arrays of a call. As an operand of a container, it is what NumPy's scalar is.
    """

    def __init__(self, home: Home, value: Any, device: Placement = Placement.HOST) -> None:
        self._home, self._value, self._device = home, np.asarray(value), device

    # ---- What it is ----

    @property
    def context(self) -> Context:
        """The context whose ranks have the value."""
        return self._home.context

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the value."""
        dtype: np.dtype[Any] = self._value.dtype
        return dtype

    @property
    def itemsize(self) -> int:
        """The number of bytes of the value."""
        return self.dtype.itemsize

    nbytes = itemsize
    shape: tuple[()] = ()
    ndim = 0
    size = global_size = local_size = 1
    partition_policy = Partition.REPLICATED

    @property
    def device(self) -> Placement:
        """The placement of the containers that the value is of. The value itself is on the host."""
        return self._device

    placement_policy = device

    def to_device(self, device: Any, /, *, stream: Any = None) -> ZeroDimensional:
        """Return the value with another placement."""
        if stream is not None:
            raise InvalidArgumentError(f"stream {stream!r}: copies to a device are in the order of the calls")
        lies = Placement.HOST if device == "cpu" else placement_of(device)
        return self if lies is self._device else self._made(self._value.copy(), lies)

    def __repr__(self) -> str:
        return f"<dtl array of no dimensions: {self._value!r}>"

    def __str__(self) -> str:
        return str(self._value)

    def __format__(self, form: str) -> str:
        return format(self._value[()], form)

    #: It has no dimension to iterate over. Without this, Python would take the IndexError of a subscript for the end.
    __iter__ = None

    # ---- What it becomes ----

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy:
            return np.array(self._value, dtype)
        return np.asarray(self._value, dtype)

    def __dtl_scalar__(self) -> Any:
        """Return the value as a scalar of NumPy: what containers take it for as an operand."""
        return self._value[()]

    def local_view(self) -> np.ndarray[Any, Any]:
        """Return the value as an array of NumPy, in its own memory."""
        return self._value

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return the value as an array of NumPy."""
        return self._value.copy()

    def gather_to(self, root: int = 0) -> np.ndarray[Any, Any] | None:
        """Return the value as an array of NumPy on one rank, and None on the others."""
        return self._value.copy() if self._home.context.rank == root else None

    def item(self) -> Any:
        """Return the value as a Python number."""
        return self._value.item()

    tolist = item

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __float__(self) -> float:
        return float(self._value)

    def __complex__(self) -> complex:
        return complex(self._value)

    def __index__(self) -> int:
        return operator.index(self._value[()])

    def __reduce__(self) -> Any:
        return np.array, (self._value,)  # contexts are not pickled

    def __copy__(self) -> ZeroDimensional:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> ZeroDimensional:
        return self.copy()

    def __dlpack__(self, **options: Any) -> Any:
        return self._value.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._value.__dlpack_device__()

    # ---- Computation: that of NumPy's array, with containers and values of the namespace as results ----

    def _made(self, value: Any, device: Placement | None = None) -> Any:
        return wrapped(self._home, value, self._device if device is None else device)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.pop("out", ())
        if out:
            options["out"] = tuple(x._value if isinstance(x, ZeroDimensional) else x for x in out)
        made = getattr(ufunc, method)(*values(inputs), **values(options))
        if len(out) == 1:
            return out[0]
        return self._made(made)

    def __array_function__(
        self, func: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self._made(func(*values(args), **values(kwargs)))

    def __getitem__(self, key: Any) -> Any:
        return self._made(self._value[values(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._value[values(key)] = values(value)

    def astype(self, dtype: Any, *, copy: bool = True) -> ZeroDimensional:
        """Return the value in another dtype."""
        made: ZeroDimensional = self._made(self._value.astype(dtype, copy=copy))
        return made

    def copy(self) -> ZeroDimensional:
        """Return a copy."""
        made: ZeroDimensional = self._made(self._value.copy())
        return made

    @property
    def T(self) -> ZeroDimensional:  # noqa: N802 - NumPy's name
        """The value: there is nothing to transpose."""
        return self

    @property
    def real(self) -> ZeroDimensional:
        """The real part."""
        made: ZeroDimensional = self._made(self._value.real)
        return made

    @property
    def imag(self) -> ZeroDimensional:
        """The imaginary part."""
        made: ZeroDimensional = self._made(self._value.imag)
        return made

    def __getattr__(self, name: str) -> Any:
        """Return a method of NumPy's array that computes, such as ``sum`` and ``round``."""
        if name not in _METHODS:
            raise AttributeError(f"an array of no dimensions of dtl.array_api has no attribute {name!r}")
        method = getattr(self._value, name)
        return lambda *args, **kwargs: self._made(method(*values(args), **values(kwargs)))


_METHODS = (
    *("all", "any", "argmax", "argmin", "clip", "conj", "conjugate", "cumprod", "cumsum", "flatten", "max"),
    *("mean", "min", "prod", "ravel", "reshape", "round", "squeeze", "std", "sum", "swapaxes", "transpose", "var"),
)


def values(given: Any) -> Any:
    """Return NumPy's scalars in place of the arrays without dimensions, also in lists, tuples and dictionaries."""
    if isinstance(given, ZeroDimensional):
        return given.__dtl_scalar__()
    if given.__class__ in (list, tuple):
        return given.__class__(map(values, given))
    if given.__class__ is dict:
        return {name: values(value) for name, value in given.items()}
    return given


def wrapped(home: Home, result: Any, device: Placement = Placement.HOST) -> Any:
    """Return a result as arrays of the namespace: of no dimensions, or replicated. Collective for those."""
    if isinstance(result, np.ndarray):
        return everywhere(home.context, result) if result.ndim else ZeroDimensional(home, result, device)
    if isinstance(result, (np.generic, bool, int)):
        return ZeroDimensional(home, result, device)
    if isinstance(result, (list, tuple)):
        made = [wrapped(home, value, device) for value in result]
        return type(result)(*made) if hasattr(result, "_fields") else type(result)(made)
    return result


def of_container(c: DistributedContainer, value: Any) -> ZeroDimensional:
    """Return a value that is an element of a container as an array of its namespace."""
    return ZeroDimensional(Home(c.context, c.partition_policy), value, c.device)


def everywhere(ctx: Context, array: Any) -> Any:
    """Return a replicated container of an array that every rank has. Collective."""
    kind: Any = DistributedVector if array.ndim == 1 else DistributedTensor
    made = created(kind, ctx, array.shape, array.dtype, REPLICATED)
    made.local_view()[...] = array
    return made


extend(ZeroDimensional)
