"""Messages of arrays on GPUs by an MPI that reaches their memory: none of their elements are on the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._native.arguments import integer, is_on_device, received, sent_number
from .._native.kinds import kind_of
from .._native.library import bridge
from ..runtime.context import Context
from ..runtime.device_array import DeviceArray, from_dlpack, is_in_c_order, memory_of_array
from ..runtime.devices import reaches_gpus
from .nccl_collectives import describe

#: The calls, by what takes their place on the host.
_CODES = {"send": bridge.SEND, "recv": bridge.RECV, "sendrecv": bridge.SENDRECV}

#: From how many bytes on an array goes by itself: below, it goes with what describes it, which is on the host.
_LONG = 8192


def by_aware_mpi(name: str, call: dict[str, Any]) -> Any:
    """Make a call with long arrays on GPUs whose memory MPI reaches; NotImplemented where the host is to make it."""
    if name not in _CODES:
        return NotImplemented
    ctx, value, out = call["ctx"], call.get("data", call.get("send_data")), call.get("out")
    if not (_suits(value) and _suits(out) and isinstance(ctx, Context) and ctx.nccl_mode < 0 and reaches_gpus(ctx)):
        return NotImplemented
    dest, source = (integer(peer, call.get(peer, ctx.rank)) for peer in ("dest", "source"))
    if name == "sendrecv" and ctx.rank in (dest, source):
        return NotImplemented
    sent, got = _synchronized(value), _synchronized(out)
    tags = (call.get("send_tag", call.get("tag", 0)), call.get("recv_tag", call.get("tag", 0)))
    wanted = (0 if call.get("dtype") is None else sent_number(call["dtype"]), integer("count", call.get("count", 0)))
    peers = (dest, integer("tag", tags[0]), source, integer("tag", tags[1]))
    shape = () if sent is None else sent.shape
    words = np.array([*describe(sent), *describe(got), *peers, *wanted, *shape], np.int64)
    start, failed = bridge.clock(), True
    try:
        came = bridge.gpu_message(ctx, words, _CODES[name])
        failed = False
    finally:
        if start:
            bytes_ = sum(getattr(array, "nbytes", 0) for array in (sent, got))
            bridge.note(f"{name} (mpi)", start, failed, 0, 0 if failed else bytes_)
    if out is None:
        return received(came)
    if came is not None and got is not None:
        memory_of_array(got).write(np.asarray(came))
        got.synchronize()
    return out


def _suits(array: Any) -> bool:
    """Whether an array goes by itself, and the core knows its elements."""
    if array is None:
        return True
    if not is_on_device(array):
        return False
    there = from_dlpack(array)
    return not kind_of(there.dtype).is_moved and is_in_c_order(there) and there.nbytes >= _LONG


def _synchronized(array: Any) -> DeviceArray | None:
    """Return an array, when what was queued on its elements is done: MPI knows of no streams."""
    if array is None:
        return None
    there = from_dlpack(array)
    there.synchronize()
    return there
