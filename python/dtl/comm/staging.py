"""Arrays on a GPU as arguments of collectives and messages: they go through the host, or NCCL or MPI takes them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

import numpy as np

from .._lazy import late
from .._native.arguments import is_on_device
from .._native.library import bridge
from ..exceptions import KNOWN_TO_RANKS, InvalidTypeError, is_marked
from .requests import Request, then

if TYPE_CHECKING:
    from ..runtime.device_array import DeviceArray

F = TypeVar("F", bound=Callable[..., Any])

# What few calls come to.
from_dlpack = late(".runtime.device_array", "from_dlpack")
memory_of_array = late(".runtime.device_array", "memory_of_array")
Staging = late(".runtime.staging", "Staging")
better_error = late(".runtime.hints", "better_error")
by_nccl = late(".comm.nccl_collectives", "by_nccl")
with_named_elements = late(".comm.named_elements", "with_named_elements")
signature = late(".comm.named_elements", "signature")
by_aware_mpi = late(".comm.aware_mpi", "by_aware_mpi")
received_in = late(".comm.tensors", "received_in")


def staged(f: F) -> F:
    """Let a function take arrays on a GPU, DTL's and other libraries', as values and as out.

    The function fails for them, before other ranks hear of the call, and then it is called with copies on the host: so
    arrays on the host pay nothing for it. Without an out, the result is on the host. Where NCCL connects the context's
    GPUs and has the operation, or MPI reaches their memory, the arrays are taken where they are.
    """

    def failed(error: Exception, arguments: tuple[Any, ...], words: tuple[str, ...] | None) -> tuple[Any] | None:
        better = better_error(f, error, arguments, words)
        if better is not None:
            raise better from None
        if is_marked(error, KNOWN_TO_RANKS) or isinstance(arguments[0], bridge.Container):
            return None  # the error stays
        first = len(arguments) - len(words or ())
        args, kwargs = arguments[:first], dict(zip(words or (), arguments[first:]))
        if not any(map(is_on_device, arguments)):
            if not isinstance(error, InvalidTypeError):
                return None
            result = received_in(f, args, kwargs)
            if result is NotImplemented:
                result = with_named_elements(f, args, kwargs)
            return None if result is NotImplemented else (result,)
        given = signature(f).bind(*args, **kwargs)
        given.apply_defaults()
        result = by_nccl(f.__name__, given.arguments)
        if result is NotImplemented:
            result = by_aware_mpi(f.__name__, given.arguments)
        return (_staged(f, args, kwargs) if result is NotImplemented else result,)

    call: Any = functools.update_wrapper(bridge.Collective(f, failed), f)
    call.__code__, call.__defaults__, call.__kwdefaults__ = f.__code__, f.__defaults__, f.__kwdefaults__
    return cast("F", call)


def _staged(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make a call with copies on the host, and say so in traces."""
    with Staging(f.__name__, logs=True) as staging:
        values = (*args, *kwargs.values())
        arrays = {id(value): from_dlpack(value) for value in values if is_on_device(value)}
        staging.bytes = sum(array.nbytes for array in arrays.values())
        return _by_host(f, args, kwargs, arrays)


def _by_host(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], arrays: dict[int, DeviceArray]
) -> Any:
    """Make a call with copies. Its out is written where the call returns it, or its request does."""

    def copy(value: Any) -> Any:
        return arrays[id(value)].to_numpy() if id(value) in arrays else value

    copies = {name: copy(value) for name, value in kwargs.items()}
    given = tuple(map(copy, args))
    result = with_named_elements(f, given, copies)
    if result is NotImplemented:
        result = f(*given, **copies)
    out = kwargs.get("out")
    if id(out) not in arrays:
        return result
    there, here = arrays[id(out)], copies["out"]

    def give(received: Any) -> Any:
        if received is not here:
            return received
        memory_of_array(there).write(here)
        there.synchronize()
        return out

    if isinstance(result, Request):
        then(result, give)
        return result
    return give(result)


class StagingBuffer:
    """An array on the host for one on a GPU, which sends or receives its elements many times (persistent requests)."""

    def __init__(self, name: str, array: Any) -> None:
        there = from_dlpack(array)
        self._name = name
        self._array = array
        self.here = np.empty(there.shape, there.dtype)

    def read(self) -> None:
        """Copy the elements from the GPU, after what their library has queued."""
        self._copy(lambda there: memory_of_array(there).read(self.here))

    def write(self, result: Any) -> Any:
        """Copy what was received to the GPU, and return the array there."""

        def copy(there: DeviceArray) -> None:
            memory_of_array(there).write(self.here)
            there.synchronize()

        self._copy(copy)
        return self._array

    def _copy(self, by: Callable[[DeviceArray], None]) -> None:
        with Staging(self._name, logs=False) as staging:
            by(from_dlpack(self._array))
            staging.bytes = self.here.nbytes
