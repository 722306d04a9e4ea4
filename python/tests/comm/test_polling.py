"""With progress="poll", each call goes on with what is under way, also one that C makes by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

PROGRAM = """
import time
import numpy as np
import dtl

with dtl.Context(progress="poll") as ctx, dtl.Context(backend="cpu") as alone:
    flag = dtl.Window(ctx, 8)
    total = dtl.iallreduce(ctx, np.ones(4_000_000))
    flag.lock_all()
    if ctx.rank == 1:
        total.wait()  # which needs rank 0
        dtl.rma_put(flag, 0, 0, np.ones(1, np.int64))
        flag.flush(0)
    else:
        over, limit = flag.local_view(np.int64), time.monotonic() + 10
        while not over[0] and time.monotonic() < limit:
            alone.barrier()  # which has nothing to do with it
        print("went on" if over[0] else "stood still")
        total.wait()
    flag.unlock_all()
    flag.close()
"""


def test_short_calls_go_on_with_requests(tmp_path: Path) -> None:
    assert "went on" in succeeded(ranks(2, PROGRAM, tmp_path))
