"""Where the process has no address space left, calls raise dtl.MemoryError; the Go runtime does not end the process."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import alone, ranks, succeeded

LIMITED = """
    import gc
    import resource
    import numpy as np
    import dtl

    def mapped():
        return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

    def limit(room):
        most = resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_AS, (most if room is None else mapped() + room, most))
"""

USES = {
    "vectors": "kept.append(dtl.DistributedVector(ctx, 1000))",
    "long vectors": "kept.append(dtl.DistributedVector(ctx, 1_000_000))",
    "contexts": "kept.append(ctx.dup())",
    "windows": "kept.append(dtl.Window(ctx, size=1000))",
    "maps": "kept.append(dtl.DistributedMap(ctx, np.int64, np.int64)); kept[-1][len(kept)] = 1",
    "results": "kept.append(dtl.allreduce(ctx, vec.local_view()))",
    "sorts": "kept.append(dtl.argsort(vec))",
    "messages": "dtl.isend(ctx, vec.local_view(), dest=0).wait(); kept.append(dtl.recv(ctx, source=0))",
    "objects": "kept.append(bytearray(dtl.allgather_object(ctx, bytes(500_000))[0]))",
}


@pytest.mark.jobs("starts processes whose memory is limited")
@pytest.mark.parametrize("megabytes", [300, 899])
def test_too_little_to_start(megabytes: int) -> None:
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20}, resource.RLIM_INFINITY))"
    ended = alone(f"import resource; {limit}\nimport dtl")
    last = ended.err.splitlines()[-1]
    assert last.startswith(f"ImportError: the address space of this process is limited to {megabytes << 20} bytes"), (
        last
    )
    assert ended.code == 1


@pytest.mark.jobs("starts processes whose memory is limited")
@pytest.mark.parametrize("room", [8, 64])
@pytest.mark.parametrize("use", USES)
def test_until_there_is_none(use: str, room: int) -> None:
    program = f"""
    {LIMITED.strip()}
    ctx = dtl.Context()
    vec = dtl.DistributedVector(ctx, 200_000)
    kept = []
    limit({room} << 20)
    try:
        while True:
            {USES[use]}
    except MemoryError as error:
        limit(None)
        print(type(error).__name__)
    kept.clear()
    gc.collect()
    assert dtl.sum(dtl.DistributedVector(ctx, 100, fill=1.0)) == 100
    """
    assert succeeded(alone(program)) == "MemoryError\n"


@pytest.mark.jobs("starts processes whose memory is limited")
@pytest.mark.parametrize("room", [8, 64])
def test_errors_where_others_have_taken_all(room: int) -> None:
    """The program's own objects take all that comes in larger pieces, and then DTL is to make errors."""
    program = f"""
    {LIMITED.strip()}
    ctx = dtl.Context()
    dtl.DistributedVector(ctx, 1).close()
    limit({room} << 20)
    kept, size = [], 1 << 22
    while size >= 1 << 20:
        try:
            kept.append(bytearray(size))
        except MemoryError:
            size //= 2
    raised = [None] * 200  # the types: Python itself ends where there is no room for one more error
    for i in range(200):
        try:
            dtl.DistributedVector(ctx, 1 << 40)
        except MemoryError as error:
            raised[i] = type(error)
    limit(None)
    kept.clear()
    assert None not in raised
    print(dtl.MemoryError in raised)
    assert dtl.sum(dtl.DistributedVector(ctx, 100, fill=1.0)) == 100
    """
    assert succeeded(alone(program)) == "True\n"


@pytest.mark.jobs("starts ranks whose memory is limited")
def test_on_one_rank_of_two(tmp_path: Path) -> None:
    program = f"""
    {LIMITED.strip()}
    ctx = dtl.Context()
    kept = []
    if ctx.rank == 0:
        limit(64 << 20)
    try:
        while True:
            kept.append(dtl.DistributedVector(ctx, 100_000))
    except dtl.MemoryError as error:
        assert ctx.rank == 0 or "rank 0" in str(error), error
    limit(None)
    assert dtl.allreduce(ctx, 1) == 2
    kept.clear()
    gc.collect()
    assert dtl.sum(dtl.DistributedVector(ctx, 100, fill=1.0)) == 100
    ctx.close()
    """
    succeeded(ranks(2, program, tmp_path))
