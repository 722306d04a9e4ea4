"""Whole jobs that use windows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from programs import ranks, run, succeeded

COUNTER = """
    import dtl
    import numpy as np

    with dtl.Context() as ctx:
        # Each rank has a counter window
        counter = np.zeros(1, dtype=np.int64)
        win = dtl.Window(ctx, base=counter)

        # All ranks increment rank 0's counter
        win.lock(target=0, mode="exclusive")
        old = dtl.rma_fetch_and_add(
            win, target=0, offset=0,
            addend=1, dtype=np.int64
        )
        win.unlock(target=0)

        ctx.barrier()
        if ctx.is_root:
            print(f"Final counter value: {counter[0]}")
"""


@pytest.mark.jobs("starts ranks")
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_guides_counter_as_printed(count: int, tmp_path: Path) -> None:
    assert succeeded(ranks(count, COUNTER, tmp_path)) == f"Final counter value: {count}\n"


@pytest.mark.jobs("starts ranks")
def test_a_lock_that_nobody_gives_back(tmp_path: Path) -> None:
    ended = ranks(
        2,
        """
        import dtl, time
        with dtl.Context() as ctx:
            win = dtl.Window(ctx, size=8)
            if ctx.rank == 0:
                win.lock(1)
            ctx.barrier()
            if ctx.rank == 1:
                try:
                    win.lock(1)
                except dtl.CommunicationError as error:
                    print(error)
            ctx.barrier()
            if ctx.rank == 0:
                win.unlock(1)
            win.close()
        """,
        tmp_path,
        DTL_TIMEOUT="2",
        DTL_HANG_REPORT="1",
    )
    assert "no end after 2s" in ended.out + ended.err
    assert "waits for the lock of rank 1's part, held by rank 0" in ended.out + ended.err


@pytest.mark.jobs("starts ranks")
@pytest.mark.timeout(240)
def test_ranks_that_share_no_memory() -> None:
    files = [
        str(Path(__file__).with_name(name))
        for name in ("test_windows.py", "test_bad_windows.py", "test_shared_counters.py")
    ]
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", "-m", "pytest", "--with-mpi", "-q", *files]
    succeeded(run(command, seconds=200, DTL_SHARED_MEMORY="0", DTL_TEST_RANKS="2"))


@pytest.mark.jobs("starts ranks")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("count", [3, 4])
def test_random_accesses_of_ranks_that_share_no_memory(count: int) -> None:
    file = str(Path(__file__).with_name("test_windows.py"))
    command = [
        sys.executable,
        "-m",
        "dtl",
        "run",
        "-n",
        str(count),
        "-m",
        "pytest",
        "--with-mpi",
        "-q",
        file,
        "-k",
        "model",
    ]
    succeeded(run(command, seconds=200, DTL_SHARED_MEMORY="0", DTL_TEST_RANKS=str(count)))
