"""Whole jobs that use windows."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from job import LAUNCHER
from programs import clean, ranks, run, succeeded, until

import dtl
from dtl._cli import launcher

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
        for name in ("test_windows.py", "test_refused_epochs.py", "test_shared_counters.py")
    ]
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", "-m", "pytest", "--with-mpi", "-q", *files]
    succeeded(run(command, seconds=200, DTL_SHARED_MEMORY="0", DTL_TEST_RANKS="2"))


@pytest.mark.jobs("starts ranks")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("count", [3, pytest.param(4, marks=pytest.mark.matrix("runs on three ranks"))])
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


@pytest.mark.jobs("starts ranks")
@pytest.mark.skipif(sys.platform != "linux", reason="processes refuse by Linux's means; runs on Linux")
@pytest.mark.parametrize("on_each", ["0", "2"], ids=["one node", "two nodes"])
def test_a_process_that_refuses_one_of_its_node(on_each: str, tmp_path: Path) -> None:
    """Rank 1 may reach rank 0's memory, and not the other way round: what rank 0 accesses there goes another way."""
    program = """
        import ctypes, dtl, numpy as np
        LIBC, DUMPABLE, TRACE = ctypes.CDLL(None), 4, 1 << 19
        with dtl.Context() as ctx:
            if ctx.rank == 1:
                assert LIBC.prctl(DUMPABLE, 0, 0, 0, 0) == 0
            if ctx.rank == 0:
                header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
                assert LIBC.capget(header, sets) == 0
                sets[0] &= ~TRACE
                assert LIBC.capset(header, sets) == 0
            ctx.barrier()
            part = np.zeros(ctx.size)
            with ctx.dup() as twin, dtl.Window(twin, base=part) as win:
                win.fence()
                for target in range(ctx.size):
                    dtl.rma_put(win, target, 8 * ctx.rank, np.full(1, 10.0 + ctx.rank))
                win.fence()
                assert part.tolist() == [10.0, 11.0, 12.0]
                for target in range(ctx.size):
                    got = dtl.rma_get(win, target, 16, 8, float)
                    win.fence()
                    assert got.tolist() == [12.0]
            assert dtl.gather_object(ctx, "done") in (None, ["done"] * 3)
    """
    variables = {} if on_each == "0" else {"DTL_NODES_OF": on_each}
    succeeded(ranks(3, program, tmp_path, **variables))


def segments() -> set[str]:
    """Return the paths of shared memory that DTL has made."""
    return {str(path) for path in Path("/dev/shm").glob("dtl-*")}


def left(before: set[str]) -> set[str]:
    """Return the paths that have come since, and stay: other jobs may be starting."""
    until(lambda: not segments() - before, 3)
    return segments() - before


@pytest.mark.jobs("starts ranks")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
def test_ranks_killed_while_they_make_windows_leave_no_shared_memory(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        f"""
import os
import dtl
with dtl.Context() as ctx:
    with open({str(tmp_path / "rank")!r} + str(ctx.rank) + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(file.name, file.name[:-5])
    while True:
        dtl.Window(ctx, size=32 << 20).close()
"""
    )
    before = segments()
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", str(script)]
    for _ in range(3):
        with subprocess.Popen(command, env=clean(), stderr=subprocess.DEVNULL, start_new_session=True) as job:
            files = [tmp_path / f"rank{rank}" for rank in range(2)]
            assert all(until(file.exists, 30) for file in files)
            assert job.poll() is None
            for process in [int(file.read_text()) for file in files]:
                os.kill(process, signal.SIGKILL)
            os.killpg(job.pid, signal.SIGKILL)
        for file in files:
            file.unlink()
    assert not left(before)


@pytest.mark.jobs("starts ranks")
@pytest.mark.skipif(
    LAUNCHER is None or LAUNCHER.family != launcher.MPICH or os.getuid() != 0 or shutil.which("unshare") is None,
    reason="Open MPI cannot connect ranks that do not see each other's processes; runs as root with MPICH",
)
def test_ranks_that_do_not_see_each_others_processes(tmp_path: Path) -> None:
    """As in containers that share /dev/shm: the ranks open a path there, which is gone when they have."""
    before = segments()
    program = tmp_path / "program.py"
    program.write_text(
        """
import os
import dtl
with dtl.Context() as ctx, dtl.Window(ctx, size=8) as win:
    assert os.getpid() == 1
    with win.epoch():
        dtl.rma_fetch_and_add(win, 0, 0, 1, "i8")
    if ctx.is_root:
        print(win._near, win.local_view("i8"))
"""
    )
    alone = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, str(program)]
    script = tmp_path / "start.py"
    script.write_text(f"import os; os.execvp('unshare', {alone!r})")
    ended = run([sys.executable, "-m", "dtl", "run", "-n", "2", str(script)])
    assert succeeded(ended) == "True [2]\n"
    assert not left(before)


@pytest.mark.jobs("starts ranks")
@pytest.mark.parametrize(("on_each", "shared"), [(2, True), (3, False)])
def test_ranks_of_a_node_share_parts_where_none_is_alone(on_each: int, shared: bool, tmp_path: Path) -> None:
    """MPI then combines elements there without a message, and views outlive what MPI gives back."""
    ended = ranks(
        4,
        """
        import dtl, numpy as np
        with dtl.Context() as ctx:
            win = dtl.Window(ctx, size=8 * (1 + 100 * ctx.rank))
            view = win.local_view(np.int64)
            place = view.ctypes.data
            for line in open("/proc/self/maps"):
                first, last = (int(end, 16) for end in line.split()[0].split("-"))
                if first <= place < last:
                    shared = line.split()[1].endswith("s")
            win.lock_all()
            for target in range(ctx.size):
                for _ in range(50):
                    dtl.rma_fetch_and_add(win, target, 0, 1, np.int64)
                assert dtl.rma_fetch_and_add(win, target, 0, np.zeros(1, np.int64)).shape == (1,)
            win.unlock_all()
            ctx.barrier()
            win.close()
            totals = dtl.gather(ctx, int(view[0]), root=0)
            where = dtl.gather(ctx, shared, root=0)
            if ctx.is_root:
                print(list(map(int, totals)), list(map(bool, where)))
        """,
        tmp_path,
        DTL_NODES_OF=str(on_each),
        DTL_BACKEND="mpi",
    )
    assert succeeded(ended) == f"{[200] * 4} {[shared] * 4}\n"
