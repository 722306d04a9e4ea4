"""Collectives of arrays on GPUs that NCCL connects: those of a context of ``with_nccl``."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native import library
from .._native.arguments import check_output, dtype_number, input_array, is_on_device, operator_number, received
from .._native.kinds import kind_of
from .._native.library import bridge
from .._native.objects import handle_of
from ..exceptions import BufferError, InvalidArgumentError
from ..ops import IN_PLACE
from ..runtime.agreement import root_number
from ..runtime.context import Context
from ..runtime.device_array import DeviceArray, from_dlpack, is_in_c_order, memory_of_array
from ..runtime.nccl import Mode
from .collective_arguments import check_in_place_root

#: What NCCL does, by itself or with kernels of DTL's.
_CODES = {
    "allreduce": bridge.ALLREDUCE,
    "reduce": bridge.REDUCE,
    "reduce_scatter": bridge.REDUCE_SCATTER,
    "broadcast": bridge.BROADCAST,
    "gather": bridge.GATHER,
    "scatter": bridge.SCATTER,
    "allgather": bridge.ALLGATHER,
    "alltoall": bridge.ALLTOALL,
}
_COMBINING = ("allreduce", "reduce", "reduce_scatter")

#: What connects two ranks alone, which NCCL does without tags: it is no lack of NCCL's.
_MESSAGES = ("send", "recv", "sendrecv", "isend", "irecv")

#: What describes no array: five integers, as numpybridge/nccl_collective.go has them.
_NONE = (0, 0, 0, -1, 0)


def by_nccl(name: str, call: dict[str, Any]) -> Any:
    """Make a call with arrays on GPUs that NCCL connects; NotImplemented where the host is to make it.

    Raises
    ------
    InvalidArgumentError
        If NCCL lacks the operation, and the context's mode is NATIVE_ONLY.
    """
    ctx = call.get("ctx")
    if not isinstance(ctx, Context) or ctx.nccl_mode < 0:
        return NotImplemented
    op = operator_number(call["op"]) if "op" in call else 0
    value = call.get("value", call.get("values"))
    value = call.get("out") if value is None or value is IN_PLACE else value
    carried = is_on_device(value) and kind_of(from_dlpack(value).dtype).is_moved
    if not carried and _by_devices(ctx, name, value, op):
        return _Call(ctx, name, call, op).made()
    if ctx.nccl_mode == Mode.NATIVE_ONLY and name not in _MESSAGES:
        what = f"{name} of such elements by this operator" if name in _COMBINING else name
        what = f"{name} of {from_dlpack(value).dtype}" if carried else what
        raise InvalidArgumentError(
            f"{name}: NCCL has no {what}, and the context's mode is NATIVE_ONLY; HYBRID_PARITY goes through the host"
        )
    return NotImplemented


def _by_devices(ctx: Any, name: str, value: Any, op: int) -> bool:
    if name not in _COMBINING:
        return name in _CODES
    dtype = from_dlpack(value).dtype if is_on_device(value) else input_array("value", value).dtype
    return bool(library.context_nccl_combines(handle_of(ctx), dtype_number(dtype), op))


class _Call:
    """One call: what goes in, and what comes out of it."""

    def __init__(self, ctx: Any, name: str, call: dict[str, Any], op: int) -> None:
        self._ctx, self._name, self._op = ctx, name, op
        self._value, self._out = call.get("value", call.get("values")), call["out"]
        self._root = root_number(ctx, call["root"]) if "root" in call else -1
        self._here = self._root in (-1, ctx.rank)

    def made(self) -> Any:
        """Make the call, and return what it does."""
        sent, got, returned = getattr(self, f"_{self._name}")()
        words = np.array([*describe(sent), *describe(got)], np.int64)
        start, failed = bridge.clock(), True
        try:
            bridge.nccl_collective(self._ctx, words, _CODES[self._name], self._op, self._root)
            failed = False
        finally:
            if start:
                moved = sum(getattr(array, "nbytes", 0) for array in (sent, got))
                bridge.note(f"{self._name} (nccl)", start, failed, 0, 0 if failed else moved)
        return returned if returned is self._out or returned is self._value else received(returned)

    def _allreduce(self) -> tuple[Any, Any, Any]:
        sent = self._sent()
        got, returned = self._result(sent.shape, sent.dtype)
        return sent, got, returned

    def _reduce(self) -> tuple[Any, Any, Any]:
        check_in_place_root(self._value, self._here, self._root)
        return self._allreduce() if self._here else (self._sent(), None, None)

    def _reduce_scatter(self) -> tuple[Any, Any, Any]:
        sent = self._sent()
        got, returned = self._result(self._entries(sent), sent.dtype)
        return sent, got, returned

    def _broadcast(self) -> tuple[Any, Any, Any]:
        if self._here:
            if self._value is None:
                raise InvalidArgumentError("root has no value to send")
            sent = self._sent()
            if self._out is None:
                return sent, None, self._value
            return sent, _array("out", self._out), self._out
        like = _array("value", self._value) if self._out is None else None
        got, returned = self._result(getattr(like, "shape", ()), getattr(like, "dtype", None))
        return None, got, returned

    def _gather(self) -> tuple[Any, Any, Any]:
        check_in_place_root(self._value, self._here, self._root)
        return self._allgather() if self._here else (self._sent(), None, None)

    def _allgather(self) -> tuple[Any, Any, Any]:
        size = self._ctx.size
        if self._value is IN_PLACE:
            whole = self._sent()
            if whole.size % size:
                raise InvalidArgumentError(
                    f"out of shape {whole.shape} does not have one entry for each of {size} ranks"
                )
            return _Entry(whole, self._ctx.rank, size), whole, self._out
        sent = self._sent()
        got, returned = self._result((size, *sent.shape), sent.dtype)
        return sent, got, returned

    def _scatter(self) -> tuple[Any, Any, Any]:
        if not self._here:
            return None, _array("out", self._out), self._out
        sent = self._sent()
        got, returned = self._result(self._entries(sent), sent.dtype)
        return sent, got, returned

    def _alltoall(self) -> tuple[Any, Any, Any]:
        sent = self._sent()
        self._entries(sent)
        got, returned = self._result(sent.shape, sent.dtype)
        return sent, got, returned

    def _entries(self, array: Any) -> tuple[int, ...]:
        """Return the shape of one rank's entry."""
        if array.ndim == 0 or array.shape[0] != self._ctx.size:
            raise InvalidArgumentError(f"values of shape {array.shape} for {self._ctx.size} ranks: one entry a rank")
        return tuple(array.shape[1:])

    def _sent(self) -> Any:
        if self._value is not IN_PLACE:
            return _array("value", self._value)
        if self._out is None:
            raise InvalidArgumentError("value is IN_PLACE, which takes the elements from out, but there is no out")
        return _array("out", self._out)

    def _result(self, shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
        """Return the array that receives the result, and what the caller gets: without out, an array on the host."""
        if self._out is not None:
            return _array("out", self._out), self._out
        made = np.empty(shape, dtype)
        return made, made


class _Entry:
    """One rank's entry of an array on a GPU."""

    def __init__(self, whole: Any, rank: int, size: int) -> None:
        self._whole, self._at, self.size = whole, rank, whole.size // size
        self.nbytes = 0

    def words(self) -> tuple[int, ...]:
        """Return the five integers."""
        address, _, *others = describe(self._whole)
        return (address + self._at * self.size * self._whole.dtype.itemsize, self.size, *others)


def _array(name: str, x: Any) -> Any:
    """Return a DeviceArray of an array on a GPU, and an array of NumPy's of all else."""
    if is_on_device(x):
        array = from_dlpack(x)
        if not is_in_c_order(array):
            raise BufferError(f"{name} does not lie side by side, because of a halo; NCCL takes arrays in C order")
        return array
    if name == "out":
        check_output(x)
        return x
    return input_array(name, x)


def describe(array: Any) -> tuple[int, ...]:
    """Describe an array for the bridge, in five integers as numpybridge/nccl_collective.go has them."""
    if array is None:
        return _NONE
    if isinstance(array, _Entry):
        return array.words()
    number = dtype_number(array.dtype)
    if isinstance(array, DeviceArray):
        memory = memory_of_array(array)
        return (memory.address, array.size, number, memory.device, memory.stream)
    return (array.__array_interface__["data"][0], array.size, number, -1, 0)
