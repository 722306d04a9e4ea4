"""What is still there when the interpreter ends: nothing is said, nothing hangs, nothing crashes."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import alone, ranks, succeeded

import dtl

pytestmark = pytest.mark.jobs("starts processes of its own")

#: The hook holds this module's globals, so that they are collected after all other modules.
LEFT = """
import sys
import dtl

ctx, env = dtl.Context(), dtl.Environment()
vec = dtl.DistributedVector(ctx, 100, fill=1.0)
view = vec.local_view()
sys.unraisablehook = lambda unraisable: sys.__unraisablehook__(unraisable)
print("ended")
"""

AT_EXIT = """
import atexit

def late():
    print("late", dtl.allreduce(ctx, 1.0) == ctx.size, view.sum() == vec.local_size)
    ctx.close()

atexit.register(late)
import dtl

ctx = dtl.Context()
vec = dtl.DistributedVector(ctx, 100, fill=1.0)
view = vec.local_view()
"""

BUSY = """
import threading
import dtl

ctx = dtl.Context()
busy = ctx.dup()

talks = threading.Event()

def talk():
    while True:
        dtl.sendrecv(busy, 1.0, busy.rank, busy.rank)
        talks.set()

threading.Thread(target=talk, daemon=True).start()
assert talks.wait(20)
print("ended")
"""

programs = pytest.mark.parametrize(
    ("program", "said"),
    [(LEFT, "ended"), (AT_EXIT, "late True True"), (BUSY, "ended")],
    ids=["left", "atexit", "busy"],
)


@programs
def test_alone(program: str, said: str) -> None:
    ended = alone(program)
    assert succeeded(ended) == said + "\n"
    assert ended.err == ""


@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
@programs
def test_on_two_ranks(tmp_path: Path, program: str, said: str) -> None:
    ended = ranks(2, program, tmp_path)
    assert succeeded(ended).count(said) == 2
    assert "Exception" not in ended.err
