"""Ranks that share no memory wait inside MPI for windows: they say so, and end the job where they are told to."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from programs import Ended, ranks, succeeded

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

# The last rank sleeps while rank 0 needs it, with Python's lock, so that nothing in its process goes on with what MPI
# has to do. Rank 0 has taken a lock before, where it needs one.
PROGRAM = """
import ctypes, sys, time
import numpy as np
import dtl

with dtl.Context() as ctx:
    win, out = dtl.Window(ctx, size=64), np.zeros(2)
    target = ctx.size - 1
    if ctx.rank == 0 and {locked}:
        win.lock(target, "shared")
    ctx.barrier()
    if ctx.rank == target:
        ctypes.PyDLL(None).sleep({seconds})
    started = time.monotonic()
    if ctx.rank == 0 or {together}:
        {call}
    if ctx.rank == 0:
        sys.stdout.write(f"it took {{time.monotonic() - started:.1f}} s")
    ctx.barrier()
    if {together}:
        win.fence()
    elif ctx.rank == 0 and "unlock" not in {call!r}:
        win.unlock(target)
    ctx.barrier()
    win.close()
"""

LINE = PROGRAM.split("\n").index("        {call}") + 1

CALLS = {
    "lock": ("win.lock(target)", "(fetch|swap) of rank 1's lock"),
    "flush": ("dtl.rma_get(win, target, 0, out=out); win.flush(target)", "flush of rank 1's part"),
    "flush_all": ("dtl.rma_get(win, target, 0, out=out); win.flush_all()", "flush of all parts"),
    "unlock": (
        "dtl.rma_put(win, target, 0, out); win.unlock(target)",
        "(flush of rank 1's part|(fetch|swap) of rank 1's lock)",
    ),
    "fetch": ("dtl.rma_fetch_and_add(win, target, 0, 1, np.int64)", "fetch of rank 1's part"),
    "swap": ("dtl.rma_compare_and_swap(win, target, 0, 1, 2, np.int64)", "swap of rank 1's part"),
    "fence": ("win.fence()", "rank 0 in fence"),
    "barrier": ("ctx.barrier()", "rank 0 in barrier"),
}


def job(name: str, seconds: int, folder: Path, **variables: str) -> Ended:
    together = name in ("fence", "barrier")
    fields = {"locked": not together and name != "lock", "together": together, "seconds": seconds}
    code = PROGRAM.format(call=CALLS[name][0], **fields)
    return ranks(2, code, folder, DTL_SHARED_MEMORY="0", **variables)


def took(ended: Ended) -> float:
    found = re.search(r"it took ([\d.]+) s", ended.out)
    return float(found[1]) if found else float("inf")


@pytest.mark.parametrize("name", CALLS)
def test_report(name: str, tmp_path: Path) -> None:
    """Who waits says for whom and where, unless the library needs nobody: then it does not wait."""
    ended = job(name, 2, tmp_path, DTL_HANG_REPORT="0.5")
    succeeded(ended)
    if took(ended) < 1:
        assert name not in ("fence", "barrier")
        return
    reports = re.findall(rf"dtl: rank 0 of 2 waits for [\d.]+m?s: (.* at program\.py:{LINE}\b.*)", ended.err)
    assert 1 <= len(reports) <= 3, ended
    if name in ("fence", "barrier"):  # a meeting, which does not wait inside MPI
        expected = rf"{CALLS[name][1]}.* at program\.py:{LINE}; rank 1 does not answer"
    else:
        expected = rf"in {CALLS[name][1]} at program\.py:{LINE}; the ranks share no memory"
    assert re.match(expected, reports[0]), ended


@pytest.mark.parametrize("name", ["lock", "flush"])
def test_limit(name: str, tmp_path: Path) -> None:
    """A call inside MPI cannot be left, so the job ends."""
    started = time.monotonic()
    ended = job(name, 25, tmp_path, DTL_TIMEOUT="1")
    if took(ended) < 1:  # the library needs nobody
        return
    assert time.monotonic() - started < 20
    assert ended.code != 0
    pattern = (
        rf"dtl: rank 0 of 2 ends the job: no end of {CALLS[name][1]} at program\.py:{LINE} after 1s; the ranks share"
    )
    assert re.search(pattern, ended.err), ended


def test_another_thread(tmp_path: Path) -> None:
    """The report has the place of the thread that waits."""
    ended = ranks(
        2,
        """
        import dtl, threading, time
        with dtl.Context() as ctx:
            def meet():
                ctx.barrier()
            if ctx.rank == 1:
                time.sleep(2)  # it computes
            thread = threading.Thread(target=meet)
            thread.start()
            thread.join()
        """,
        tmp_path,
        DTL_SHARED_MEMORY="0",
        DTL_HANG_REPORT="0.5",
    )
    succeeded(ended)
    report = r"rank 0 of 2 waits for [\d.]+m?s: rank 0 in barrier\(\) at program\.py:5; rank 1 "
    assert re.search(report, ended.err), ended


def test_a_rank_is_stopped_while_windows_are_made(tmp_path: Path) -> None:
    """Wherever in the making or closing of one it is, the other ends the job."""
    code = """
    import os, subprocess, dtl

    ctx = dtl.Context()
    if ctx.rank == 1:
        stop = subprocess.Popen(["sh", "-c", f"sleep 1; kill -STOP {os.getpid()}"])
    while True:
        dtl.Window(ctx, size=4096).close()
    """
    ended = ranks(2, code, tmp_path, seconds=30, DTL_SHARED_MEMORY="0", DTL_TIMEOUT="2")
    assert ended.code != 0
    assert "no end" in ended.err, ended.err
