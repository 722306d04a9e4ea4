"""An exception that leaves a forked child of a rank: the child is no rank, so it ends alone."""

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
import os, sys, warnings
import dtl

warnings.simplefilter("ignore")  # newer Pythons warn of every fork beside threads
with dtl.Context() as ctx:
    child = os.fork() if ctx.rank == 1 else None
    if child == 0:
        raise ValueError("boom")
    if child is not None:
        assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 1
    print(f"total {dtl.allreduce(ctx, 1)}")
"""


def test_child_prints_its_traceback_once(tmp_path: Path) -> None:
    ended = ranks(2, PROGRAM, tmp_path)
    assert succeeded(ended).count("total 2") == 2
    assert ended.err.count("ValueError: boom") == 1
    assert "excepthook" not in ended.err
    assert "[rank" not in ended.err
