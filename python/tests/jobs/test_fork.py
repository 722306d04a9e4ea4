"""A forked child: the Go runtime is dead there, so every call says so, and nothing hangs."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs import alone, ranks, succeeded

import dtl

pytestmark = pytest.mark.jobs("forks processes of its own")

FORK = """
import os, sys, warnings
import numpy as np
import dtl

warnings.simplefilter("ignore")  # newer Pythons warn of every fork beside threads

ctx, env = dtl.Context(), dtl.Environment()
vec = dtl.DistributedVector(ctx, 1000, fill=2.0)
view = vec.local_view()
message = dtl.sendrecv(ctx, np.ones(3), 0, 0)

def child():
{body}

pid = os.fork()
if pid == 0:
    child()
    {end}
status = os.waitpid(pid, 0)[1]
assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, status
assert (view == 2).all()
assert dtl.allreduce(ctx, 1.5) == 1.5
assert dtl.DistributedVector(ctx, 10).local_size == 10
ctx.close()
print("parent ended well")
"""

CALLS = """
    for call in (
        lambda: dtl.allreduce(ctx, 1.5),
        lambda: dtl.allreduce(ctx, np.ones(3), out=np.ones(3)),
        lambda: dtl.reduce(ctx, 1.5),
        lambda: dtl.broadcast(ctx, 1.5),
        lambda: dtl.gather(ctx, np.ones(3)),
        lambda: dtl.allgather(ctx, 1.5),
        lambda: dtl.scatter(ctx, np.ones(1)),
        lambda: dtl.sendrecv(ctx, np.ones(3), 0, 0),
        lambda: dtl.send(ctx, 1.5, 0),
        lambda: dtl.recv(ctx, 0),
        lambda: dtl.DistributedVector(ctx, 10),
        lambda: dtl.Context(),
        lambda: dtl.Environment(),
        lambda: dtl.has_mpi(),
        lambda: vec.owner(0),
        lambda: vec.local_view(),
        ctx.barrier,
        ctx.dup,
    ):
        try:
            call()
        except dtl.BackendError as error:
            assert error.code == 400, error
            assert "forked child" in str(error), error
            assert "spawn" in str(error), error
        else:
            raise AssertionError("no error")
"""

DATA = """
    assert (view == 2).all() and message.sum() == 3
    view[:] = 7
    assert view.sum() == 7000
"""

CLOSE = """
    global ctx, env, vec, view, message
    vec.close(), env.close(), ctx.close()
    del view, message, vec, env, ctx
"""


@pytest.mark.parametrize("body", [CALLS, DATA, CLOSE], ids=["calls raise", "data is there", "closing does nothing"])
@pytest.mark.parametrize("end", ["os._exit(0)", "sys.exit(0)"])
def test_child(body: str, end: str) -> None:
    ended = alone(FORK.format(body=body, end=end))
    assert succeeded(ended) == "parent ended well\n", ended.err


@pytest.mark.parametrize("backend", ["", "local", "cpu"])
def test_spawned_child_may_use_it(backend: str) -> None:
    code = """
    import subprocess, sys, dtl
    ctx = dtl.Context()
    print(subprocess.check_output([sys.executable, "-c", "import dtl; print(dtl.allreduce(dtl.Context(), 2.5))"]))
    """
    assert succeeded(alone(code, DTL_BACKEND=backend)) == "b'2.5\\n'\n"


@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
def test_child_of_a_rank_is_no_rank(tmp_path: Path) -> None:
    """It inherits the launcher's variables. Two processes that are one rank crash each other inside MPI."""
    code = """
    import subprocess, sys, dtl

    if sys.argv[1:] == ["child"]:
        try:
            dtl.Context()
        except dtl.BackendError as error:
            print(error)
        print(dtl.allreduce(dtl.Environment().make_cpu_context(), 2.5))
        sys.exit()
    with dtl.Context() as ctx:
        said = subprocess.check_output([sys.executable, sys.argv[0], "child"], universal_newlines=True).splitlines()
        assert len(said) == 2 and "is no rank of that job itself" in said[0] and said[1] == "2.5", said
        assert dtl.allreduce(ctx, 1) == 2
        print("all well")
    """
    assert succeeded(ranks(2, code, tmp_path)).count("all well") == 2


@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
def test_child_of_a_rank_inherits_none_of_our_settings(tmp_path: Path) -> None:
    """What DTL sets for MPI and UCX holds while they start, and not for another MPI program that a rank starts."""
    code = """
    import subprocess, dtl
    before = subprocess.check_output(["env"], universal_newlines=True).splitlines()
    with dtl.Context() as ctx:
        after = subprocess.check_output(["env"], universal_newlines=True).splitlines()
        assert [entry for entry in after if entry.startswith(("UCX_", "OMPI_MCA_")) and entry not in before] == []
        print("all well")
    """
    assert succeeded(ranks(2, code, tmp_path)).count("all well") == 2
