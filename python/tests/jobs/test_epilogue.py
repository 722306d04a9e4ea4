"""What ``dtl run`` passes on of what launchers write at the end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator

import pytest

from dtl._cli.epilogue import Epilogue

pytestmark = pytest.mark.alone("has nothing to do with ranks")

RULE = "-" * 74 + "\n"
ABORT = f"{RULE}MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n  Errorcode: 1\n\nNOTE: it\n{RULE}"
EXITED = f'{RULE}prterun has exited due to process rank 1 with PID 0 on node vm calling\n"abort".\n{RULE}'
STATUS = (
    f"{RULE}prterun detected that one or more processes exited with non-zero status,\nthus\n\n  Exit code:    1\n{RULE}"
)
OLD = f"{RULE}Primary job  terminated normally, but 1 process returned\na non-zero exit code.\n{RULE}"
KILLED = f"{RULE}prterun noticed that process rank 1 with PID 7 on node vm exited on\nsignal 9 (Killed).\n{RULE}"
HYDRA = "Abort(1) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 1\n"
EPOLL = "[warn] Epoll MOD(1) on fd 24 failed. Old events were 6: Bad file descriptor\n"
MINE = f"{RULE}results\n{RULE}"


class Passed:
    """An epilogue, and what it has passed on."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "passed"
        self._to = os.open(self._file, os.O_CREAT | os.O_WRONLY)
        read, self._write = os.pipe()
        self._pipe = os.fdopen(read, "rb", 0)
        self.epilogue = Epilogue(self._pipe, self._to)

    def write(self, text: str) -> None:
        os.write(self._write, text.encode())

    def end(self, show: bool) -> str:
        os.close(self._write)
        self.epilogue.finish(show)
        self._pipe.close()
        os.close(self._to)
        return self._file.read_bytes().decode()

    def so_far(self) -> str:
        return self._file.read_bytes().decode()


@pytest.fixture
def passed(tmp_path: Path) -> Iterator[Passed]:
    return Passed(tmp_path)


LEFT_OUT = pytest.mark.parametrize(
    "text",
    [ABORT, EXITED, STATUS, OLD, HYDRA, EPOLL, ABORT + EXITED],
    ids=["abort", "exited", "status", "old", "hydra", "epoll", "two"],
)


@LEFT_OUT
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_is_told_elsewhere_is_left_out(passed: Passed, text: str, size: int) -> None:
    whole = f"before\n{text}after\n{MINE}"
    for begin in range(0, len(whole), size):
        passed.write(whole[begin : begin + size])
    assert passed.end(show=False) == f"before\nafter\n{MINE}"


@LEFT_OUT
def test_it_is_shown_where_nobody_tells_it(passed: Passed, text: str) -> None:
    passed.write(f"before\n{text}after\n")
    assert passed.end(show=True) == f"before\nafter\n{text}"


@pytest.mark.parametrize("text", [MINE, KILLED, RULE, RULE * 3, MINE + KILLED, "--\n", f"{RULE}\n{RULE}", "-" * 70])
def test_the_rest_stays(passed: Passed, text: str) -> None:
    passed.write(f"before\n{text}")
    assert passed.end(show=False) == f"before\n{text}"


def test_a_progress_bar_moves(passed: Passed) -> None:
    passed.write("\r 10%")
    while passed.so_far() != "\r 10%":
        os.sched_yield()
    passed.write("\r 20%\n" + ABORT)
    assert passed.end(show=False) == "\r 10%\r 20%\n"
