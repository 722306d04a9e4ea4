"""Tasks of one node that Slurm's ``srun --mpi=none`` starts, here by a loop with srun's variables; see test-slurm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from typing import Any, Iterator

import pytest

pytestmark = pytest.mark.jobs("starts tasks itself")

SECONDS = 60.0

PROGRAM = """\
import os, signal, sys
import dtl
with dtl.Context() as ctx:
    total = dtl.allreduce(ctx, ctx.rank + 1)
    right = dtl.sendrecv(ctx, ctx.rank, (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size)
    print(ctx.rank, ctx.size, total, right, repr(ctx).split()[-1])
    sys.stdout.flush()
    if ctx.rank == 1:
        {end}
    ctx.barrier()
"""


class Tasks:
    def __init__(self) -> None:
        self.step = uuid.uuid4().hex[:8]
        self.started: list[subprocess.Popen[str]] = []

    def start(self, rank: int, size: int, end: str = "pass", **more: str) -> None:
        names = {"JOB_ID": self.step, "STEP_ID": 0, "PROCID": rank, "STEP_NUM_TASKS": size, "STEP_NUM_NODES": 1}
        environ = {**os.environ, **{f"SLURM_{name}": str(value) for name, value in names.items()}, **more}
        self.started.append(
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM.format(end=end)],
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )

    def ends(self) -> list[tuple[int, str, str]]:
        return [(task.returncode, *told) for task, told in [(t, t.communicate(timeout=SECONDS)) for t in self.started]]


@pytest.fixture
def tasks() -> Iterator[Tasks]:
    made = Tasks()
    yield made
    for task in made.started:
        if task.poll() is None:
            task.kill()
        task.wait()


@pytest.mark.parametrize("size", [2, 3, 4])
def test_tasks_find_each_other(tasks: Any, size: int) -> None:
    for rank in reversed(range(size)):  # the first one, which makes the memory, comes last
        tasks.start(rank, size)
    total = size * (size + 1) // 2
    expected = [f"{rank} {size} {total} {(rank - 1) % size} local>\n" for rank in reversed(range(size))]
    assert tasks.ends() == [(0, text, "") for text in expected]


@pytest.mark.parametrize(
    ("end", "code", "says"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, "dtl: rank 1 (process {}) left the job without fin"),
        ("os._exit(0)", 0, "dtl: rank 1 (process {}) left the job without finishing: it was killed, or called os._"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("sys.exit(3)", 3, "rank 1 has ended its program"),
    ],
    ids=["kill", "_exit", "exception", "exit"],
)
def test_a_task_that_leaves_ends_the_others(tasks: Any, end: str, code: int, says: str) -> None:
    for rank in range(3):
        tasks.start(rank, 3, end)
    ends = tasks.ends()
    assert ends[1][0] == code
    assert ends[0][0] not in (0, None)
    assert ends[2][0] not in (0, None)
    told = "".join(text for _, _, text in ends)
    assert says.format(tasks.started[1].pid) in told
    assert told.count("without finishing") <= 1


def test_tasks_of_several_nodes_are_mpis(tasks: Any) -> None:
    tasks.start(0, 2, SLURM_STEP_NUM_NODES="2", DTL_MPI_LIB="/nowhere")
    code, _, told = tasks.ends()[0]
    assert code == 1
    assert "BackendUnavailableError" in told
    assert "/nowhere" in told
