"""Functions that users pass to algorithms, of elements on a GPU: they get arrays of the user's own library there.

NumPy's ufuncs are computed by DTL's kernels, with the containers. Nothing here copies elements to the host.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from .._native.arguments import is_on_device
from .._native.callsite import by_user
from .._native.library import bridge
from .._native.objects import handle_of
from ..containers.base import DistributedContainer
from ..containers.interior import end_write
from ..containers.making import new_like
from ..containers.places import kernels
from ..containers.places.copies import check_placements
from ..exceptions import InvalidArgumentError, InvalidTypeError
from ..runtime import array_libraries
from ..runtime.agreement import local_step
from ..runtime.array_libraries import Library
from ..runtime.device_array import DeviceArray, memory_of_array
from .exchange import share
from .user_functions import named, takes_numbers, user_code


class DeviceFunction:
    """A function of a user's, with the library whose arrays it gets."""

    def __init__(self, f: Callable[..., Any], library: Any, elementwise: bool) -> None:
        self._f = f
        if elementwise:
            raise InvalidArgumentError(
                f"elementwise=True calls the function on the host, library={library!r} on the GPU; pass one of them"
            )
        self._library: Library | None = None
        if not _has_kernels(f):
            if takes_numbers(f):
                raise InvalidTypeError(
                    f"{f.__module__}.{f.__name__} is a function of one element, and the elements are on a GPU: "
                    "elementwise=True calls it on the host, with a copy"
                )
            self._library = array_libraries.chosen(library)

    @property
    def has_kernels(self) -> bool:
        """Whether it is one of NumPy's, of which DTL has kernels."""
        return self._library is None

    @property
    def words(self) -> str:
        """What all ranks have to have alike."""
        return named(self._f) if self._library is None else f"library {self._library.name}"

    def call(self, c: DistributedContainer) -> None:
        """Call the function with this rank's part, which it may change. Not collective."""
        there = c.device_view()
        if self._library is None:
            self._f(c)
        elif there.size:
            with self._library.on(there.device_id):
                array = self._library.view(there)
                try:
                    self._f(array)
                finally:
                    self._library.end(array, there)

    def values(self, sources: tuple[DistributedContainer, ...]) -> DeviceArray | None:
        """Return what the library makes of this rank's parts, of their shape; None of no elements. Not collective."""
        library: Any = self._library
        views = [source.device_view() for source in sources]
        shape, device = views[0].shape, views[0].device_id
        if not views[0].size:
            return None
        with library.on(device):
            arrays = [library.view(there) for there in views]
            try:
                values = self._f(*arrays)
            finally:
                for array, there in zip(arrays, views):
                    library.end(array, there)
            return self._on_this_gpu(values, shape, device)

    def made(self, sources: tuple[DistributedContainer, ...]) -> Any:
        """Return a container of what the function makes of this rank's parts; None of no elements. Not collective."""
        if self.has_kernels:
            return by_user(self._f, sources, {})
        values = self.values(sources)
        if values is None:
            return None
        made = new_like(sources[0], values.dtype)
        self.write(made, values)
        return made

    def _on_this_gpu(self, values: Any, shape: tuple[int, ...], device: int) -> DeviceArray:
        library: Any = self._library
        if not is_on_device(values):
            kind = f"{type(values).__module__}.{type(values).__qualname__}".replace("builtins.", "")
            raise InvalidTypeError(
                f"the function gave {kind}, which is on no GPU; it must be an array of {library.name} on GPU {device}"
            )
        made: DeviceArray = library.result(values)
        if made.device_id != device:
            raise InvalidArgumentError(
                f"the function gave an array on GPU {made.device_id}; it must be on GPU {device}"
            )
        if made.shape != shape:
            raise InvalidArgumentError(
                f"the function gave shape {made.shape} for a part of shape {shape}; it must be the same"
            )
        return made

    def write(self, to: DistributedContainer, values: DeviceArray) -> None:
        """Write values that the library has made to this rank's part. Not collective.

        They are read before the library uses their memory for something else.
        """
        library: Any = self._library
        _write(to, values)
        there = to.device_view()
        with library.on(there.device_id):
            library.view(there)


def predicate(op: str, c: DistributedContainer, f: Any, library: Any, elementwise: bool) -> tuple[Any, str]:
    """Return a container of bool of where a predicate is true, laid out as another one, and words for an agreement.

    The caller has the ranks agree next.
    """
    with local_step(c.context, op):
        function = DeviceFunction(f, library, elementwise)
    with user_code(c.context, op):
        made = function.made((c,))
        if made is not None and made.dtype != np.bool_:
            raise InvalidTypeError(f"the predicate gave {made.dtype}; it must give bool")
    return (new_like(c, np.bool_) if made is None else made), function.words


def for_each(c: DistributedContainer, f: Any, library: Any, elementwise: bool) -> None:
    """Do what the algorithm of this name does, on the GPU. Collective."""
    with local_step(c.context, "for_each"):
        function = DeviceFunction(f, library, elementwise)
    with user_code(c.context, "for_each"):
        function.call(c)
    share(c, "for_each", function.words, anywhere=True)
    c.device_view()  # which waits for the GPU if other ranks reach the elements
    end_write(c, "for_each")


def transform(
    op: str, dst: DistributedContainer, sources: tuple[Any, ...], f: Any, library: Any, elementwise: bool
) -> None:
    """Write what a function makes of the parts of containers that are divided alike, on the GPU. Collective."""
    check_placements(op, (dst, *sources))
    with local_step(dst.context, op):
        function = DeviceFunction(f, library, elementwise)
    with user_code(dst.context, op):
        values = None if function.has_kernels else function.values(sources)
        if values is not None:
            check_cast(values.dtype, dst.dtype)
    share(dst, op, function.words, also=sources, anywhere=True)
    if function.has_kernels:
        by_user(f, sources, {"out": dst})
    elif values is not None:
        function.write(dst, values)
    end_write(dst, op)


def check_cast(given: np.dtype[Any], wanted: np.dtype[Any]) -> None:
    """Refuse values of a type that elements of another one are not made of."""
    if not np.can_cast(given, wanted, "same_kind"):
        raise InvalidTypeError(f"the function gave {given}, which may not be cast to {wanted}")


def _has_kernels(f: Any) -> bool:
    """Say whether a function is one of NumPy's that containers compute by themselves."""
    return isinstance(f, np.ufunc) and f.nout == 1 and f.signature is None and getattr(np, f.__name__, None) is f


def _write(to: DistributedContainer, values: DeviceArray) -> None:
    there = to.device_view()
    if values.dtype == to.dtype and not _overlap(there, values):
        memory_of_array(there).copy(memory_of_array(values), False)
        return
    with new_like(to, values.dtype) as other:
        memory_of_array(other.device_view()).copy(memory_of_array(values), False)
        if values.dtype == to.dtype:
            bridge.copy_part(to, np.array([handle_of(other)]))
        elif kernels.convert(other, to) is None:
            raise InvalidTypeError(f"the function gave {values.dtype}, of which no kernel makes {to.dtype}")


def _overlap(one: DeviceArray, other: DeviceArray) -> bool:
    (low, high), (first, last) = _extent(one), _extent(other)
    return low < last and first < high


def _extent(array: DeviceArray) -> tuple[int, int]:
    """Return the addresses of the first byte of an array, and of that after the last."""
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides)]
    at = memory_of_array(array).address
    return at + sum(min(n, 0) for n in reach), at + sum(max(n, 0) for n in reach) + array.itemsize
