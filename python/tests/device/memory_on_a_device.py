"""Memory of GPUs that is given up and used again. It is run with the tests' driver, as on_a_device.py is."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
from on_a_device import VENDOR, failing, fake, holds, made, on, vendors, wait_for_the_default_stream

import dtl

__all__ = ["failing", "fake"]

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


def test_what_is_kept_is_given_back(ctx: dtl.Context, fake: Any) -> None:
    gc.collect()
    dtl.trim()
    before = fake.fake_outstanding(1)
    made(ctx, np.arange(100.0)).close()
    assert fake.fake_outstanding(1) > before
    assert dtl.trim() > 0
    assert fake.fake_outstanding(1) == before
    assert dtl.trim() == 0


#: What waits for a GPU, or may.
WAITS = "cuCtxSynchronize:1:719,cuStreamSynchronize:1:719,cuEventSynchronize:1:719,cuMemFree_v2:1:719"


def test_a_loop_of_results_does_not_wait(ctx: dtl.Context, fake: Any, failing: Any) -> None:
    with dtl.DistributedVector(ctx, 30, fill=1, placement="device") as ones:
        total = ones + ones + ones
        before = fake.fake_outstanding(0)
        failing(f"{WAITS},cuMemAlloc_v2:1:719")
        for _ in range(100):
            total = total + ones
        failing("")
        assert fake.fake_outstanding(0) == before
        holds(total, np.full(30, 103.0))


@pytest.mark.parametrize("interface", ["dlpack", "cuda_array_interface"])
def test_what_other_libraries_were_shown(ctx: dtl.Context, fake: Any, failing: Any, interface: str) -> None:
    """Its memory is used again when all streams are done. ROCm cannot tell, so there DTL waits for the GPU."""
    shown = made(ctx, np.arange(70.0 * ctx.size))
    view = shown.local_view()
    address, device = view.__cuda_array_interface__["data"][0], view.device_id
    capsule = view.__dlpack__() if interface == "dlpack" else None
    made(ctx, np.zeros(70 * ctx.size)).close()
    shown.close()
    assert peeked(fake, address, 70)[3] == 70 * ctx.rank + 3  # the view keeps it
    set_bytes = getattr(fake, vendors("cuMemsetD8Async"))
    set_bytes.argtypes = [ctypes.c_ulonglong, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]
    with on(fake, device):
        for value in range(20):  # in the default stream
            assert set_bytes(address, value, 560, None) == 0
    del view, capsule
    if VENDOR == "cuda":
        failing(WAITS)
    vectors = [dtl.DistributedVector(ctx, 70 * ctx.size, placement="device") for _ in range(3)]
    failing("")
    waited = peeked(fake, address, 1).tobytes() == bytes([19] * 8)
    used_again = address in [vec.device_view().__cuda_array_interface__["data"][0] for vec in vectors]
    assert (waited, used_again) == ((True, True) if VENDOR == "hip" else (False, False))
    for vec in vectors:
        dtl.fill(vec, 2)
    for vec in vectors:
        holds(vec, np.full(70 * ctx.size, 2.0))
    wait_for_the_default_stream(fake, device)
    for vec in vectors:
        holds(vec, np.full(70 * ctx.size, 2.0))


def peeked(fake: Any, address: int, count: int) -> Array:
    """Return elements of float64 as they are on the GPU now, whatever is queued."""
    found = np.empty(count)
    assert fake.fake_peek(found.ctypes.data, address, found.nbytes) == 0
    return found
