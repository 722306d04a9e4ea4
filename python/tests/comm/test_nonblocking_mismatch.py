"""Collectives that do not block where ranks disagree: all get an error, whoever comes first, and nobody hangs."""

from __future__ import annotations

import contextlib
import re
from itertools import permutations
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest
from programs import AWAITING, alone, ranks, succeeded
from test_waiting import PROGRAM

import dtl

CALLS: dict[str, Callable[[dtl.Context], dtl.Request]] = {
    "ibarrier": dtl.ibarrier,
    "iallreduce": lambda ctx: dtl.iallreduce(ctx, np.ones(3)),
    "ibroadcast": lambda ctx: dtl.ibroadcast(ctx, np.ones(3)),
    "igather": lambda ctx: dtl.igather(ctx, np.ones(3)),
    "iallgather": lambda ctx: dtl.iallgather(ctx, np.ones(3)),
    "ialltoallv": lambda ctx: dtl.ialltoallv(ctx, np.ones(ctx.size), [1] * ctx.size),
}

#: What the ranks pass, and what one of them does.
ARGUMENTS: dict[str, tuple[Callable[[dtl.Context], dtl.Request], Callable[[dtl.Context], dtl.Request], str]] = {
    "count": (CALLS["iallreduce"], lambda ctx: dtl.iallreduce(ctx, np.ones(4)), "4 elements of float64"),
    "count, long": (
        lambda ctx: dtl.iallreduce(ctx, np.ones(100_000)),
        lambda ctx: dtl.iallreduce(ctx, np.ones(99_999)),
        "99999 elements",
    ),
    "dtype": (CALLS["iallgather"], lambda ctx: dtl.iallgather(ctx, np.ones(3, np.int64)), "3 elements of int64"),
    "op": (CALLS["iallreduce"], lambda ctx: dtl.iallreduce(ctx, np.ones(3), "max"), "MAX"),
    "root": (CALLS["igather"], lambda ctx: dtl.igather(ctx, np.ones(3), root=1), "root 1"),
    "root of a broadcast": (CALLS["ibroadcast"], lambda ctx: dtl.ibroadcast(ctx, np.ones(3), root=1), "root 1"),
    "dtype of a broadcast": (CALLS["ibroadcast"], lambda ctx: dtl.ibroadcast(ctx, np.ones(3, "i4")), "int32"),
    "dtype of rows": (
        CALLS["ialltoallv"],
        lambda ctx: dtl.ialltoallv(ctx, np.ones(ctx.size, "i4"), [1] * ctx.size),
        "int32",
    ),
    "size of rows": (
        CALLS["ialltoallv"],
        lambda ctx: dtl.ialltoallv(ctx, np.ones((ctx.size, 2)), [1] * ctx.size),
        "ialltoallv",
    ),
}

#: What one rank cannot start, and what it hears.
BAD: dict[str, tuple[Callable[[dtl.Context], Any], type[dtl.DTLError]]] = {
    "root outside": (lambda ctx: dtl.igather(ctx, 1.0, root=99), dtl.BoundsError),
    "object": (lambda ctx: dtl.iallreduce(ctx, object()), dtl.InvalidTypeError),
    "out too short": (lambda ctx: dtl.iallgather(ctx, np.ones(3), out=np.ones(2)), dtl.InvalidArgumentError),
    "counts": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), [99] * ctx.size), dtl.InvalidArgumentError),
    "no counts": (lambda ctx: dtl.ialltoallv(ctx, np.ones(3), None), dtl.InvalidArgumentError),
    "expected counts": (
        lambda ctx: dtl.ialltoallv(ctx, np.ones(ctx.size), [1] * ctx.size, [-1] * ctx.size),
        dtl.InvalidArgumentError,
    ),
    "in place": (lambda ctx: dtl.iallreduce(ctx, dtl.IN_PLACE), dtl.InvalidArgumentError),
    "op": (lambda ctx: dtl.iallreduce(ctx, 1j, "max"), dtl.DTLError),
}

ORDERS = ("together", "odd one last", "odd one first")


def in_order(ctx: dtl.Context, order: str, odd: int, start: Callable[[], dtl.Request]) -> Any:
    """Start a collective, the odd rank before or after the others or whenever it comes, and wait for it."""
    turns = {"together": 0, "odd one first": int(ctx.rank != odd), "odd one last": int(ctx.rank == odd)}
    request, failed = None, None
    for turn in range(2):
        if turns[order] == turn:
            try:
                request = start()
            except dtl.DTLError as error:
                failed = error
        if order != "together":
            ctx.barrier()
    if failed is not None:
        raise failed
    assert request is not None
    return request.wait()


def refused(ctx: dtl.Context, order: str, odd: int, start: Callable[[dtl.Context], dtl.Request]) -> dtl.DTLError:
    """Check that a collective ends with an error on this rank, and that the ranks go on; return the error.

    Where a rank's part was over before the others came, it hears of it at its next.
    """
    own, failed = ctx.dup(), None
    try:
        in_order(ctx, order, odd, lambda: start(own))
    except dtl.DTLError as error:
        failed = error
    ctx.barrier()
    if failed is None:
        with pytest.raises(dtl.DTLError, match="an earlier call failed on some ranks only") as caught:
            dtl.ibarrier(own)
        failed = caught.value
    assert dtl.allreduce(own, 1) == ctx.size  # calls that block are still in step
    again = own.dup()
    assert dtl.iallreduce(again, 1).wait() == ctx.size
    ctx.barrier()
    again.close()
    own.close()
    return failed


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("order", ORDERS)
class TestDisagreement:
    @pytest.mark.parametrize(("one", "other"), list(permutations(CALLS, 2)), ids="-".join)
    def test_of_operations(self, ctx: dtl.Context, one: str, other: str, order: str) -> None:
        odd = ctx.size - 1
        error = refused(ctx, order, odd, lambda own: CALLS[other if own.rank == odd else one](own))
        assert isinstance(error, dtl.CollectiveMismatchError)
        assert one in str(error)
        assert str(error).count("collective call: ") == 1, error

    @pytest.mark.parametrize("name", ARGUMENTS)
    def test_of_arguments(self, ctx: dtl.Context, name: str, order: str) -> None:
        usual, other, text = ARGUMENTS[name]
        for odd in range(ctx.size):
            error = refused(ctx, order, odd, lambda own: (other if own.rank == odd else usual)(own))  # noqa: B023
            assert isinstance(error, dtl.CollectiveMismatchError), error
            if ctx.rank == odd or order == "odd one first":
                assert text in str(error)

    @pytest.mark.parametrize("name", BAD)
    def test_bad_argument_of_one(self, ctx: dtl.Context, name: str, order: str) -> None:
        call, kind = BAD[name]
        odd = ctx.size - 1
        error = refused(ctx, order, odd, lambda own: call(own) if own.rank == odd else dtl.iallreduce(own, 1.0))
        assert isinstance(error, kind)
        if ctx.rank != odd:
            assert f"rank {odd}: " in str(error)


@pytest.mark.mpi(min_size=2)
def test_what_only_one_does_not_expect(ctx: dtl.Context) -> None:
    """The others have what they exchange; the context goes on."""
    counts = [2] * ctx.size
    last = ctx.rank == ctx.size - 1
    for elements in (1, 10_000):
        data = np.full((2 * ctx.size, elements), float(ctx.rank))
        for stated in ({"recv_counts": [1] * ctx.size}, {"out": np.zeros(3)}):
            request = dtl.ialltoallv(ctx, data, counts, **(stated if last else {}))  # type: ignore[arg-type]
            if last:
                with pytest.raises(dtl.InvalidArgumentError):
                    request.wait()
            else:
                assert request.wait()[:, 0].tolist() == np.repeat(np.arange(ctx.size), 2).tolist()
        assert dtl.iallreduce(ctx, 1).wait() == ctx.size


@pytest.mark.jobs("starts ranks itself")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
class TestWaitsInVain:
    """A request that is never over is told of, and given up, like any wait."""

    @staticmethod
    def job(folder: Path, body: str, **variables: str) -> Any:
        return ranks(2, AWAITING + PROGRAM.format(body=body.replace("\n", "\n        ")), folder, 40, **variables)

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            (
                "r = dtl.irecv(ctx, 1 - rank, 5)\nr.wait()",
                r"irecv: no end after 1s: .*rank 0 in irecv\(source 1, tag 5\)",
            ),
            (
                "if last: time.sleep(3)\nelse: dtl.ibarrier(ctx).wait()",
                r"ibarrier: no end after 1s: .*rank 0 in ibarrier",
            ),
            ("if last: time.sleep(3)\nelse: dtl.iallreduce(ctx, 1.0).wait()", r"iallreduce: no end after 1s: "),
            ("r = [dtl.irecv(ctx, 1 - rank, t) for t in (5, 6)]\ndtl.waitany(r)", r"waitany: no end after 1s: "),
            ("dtl.probe(ctx, 1 - rank, 3)", r"probe: no end after 1s: .*rank 0 in probe\(source 1, tag 3\)"),
        ],
        ids=["irecv", "ibarrier", "iallreduce", "waitany", "probe"],
    )
    def test_limit(self, tmp_path: Path, body: str, text: str) -> None:
        ended = self.job(tmp_path, body, DTL_TIMEOUT="1")
        assert re.search(rf"rank \d: {text}", ended.out), ended  # the other may have been ended

    def test_request_goes_on_after_the_limit(self, tmp_path: Path) -> None:
        body = """import pathlib
given_up = pathlib.Path(__file__).with_name("given up")
if last:
    await_file(given_up)
    dtl.send(ctx, 7, 0)
else:
    request = dtl.irecv(ctx, 1)
    try:
        request.wait()
    except dtl.CommunicationError:
        assert not request.done
        given_up.touch()
        while not request.done:
            pass
        assert request.wait() == 7"""
        assert succeeded(self.job(tmp_path, body, DTL_TIMEOUT="1")).count("goes on") == 2

    def test_report(self, tmp_path: Path) -> None:
        body = "if last: time.sleep(2)\ndtl.iallreduce(ctx, np.ones(3)).wait()"
        ended = self.job(tmp_path, body, DTL_HANG_REPORT="0.5")
        assert succeeded(ended).count("goes on") == 2
        assert re.search(r"rank 0 in iallreduce.* at program\.py:\d+; rank 1 at program\.py:\d+", ended.err), ended

    def test_end_of_ranks_that_disagreed(self, tmp_path: Path) -> None:
        """What was given up does not keep the program from ending."""
        body = "dtl.iallreduce(ctx, np.ones(100_000 + rank)).wait()"
        ended = self.job(tmp_path, body)
        assert succeeded(ended).count("ranks disagree: ") == 2


@pytest.mark.jobs("forks processes of its own")
def test_forked_child() -> None:
    code = """
        import os, warnings
        import numpy as np
        import dtl
        warnings.simplefilter("ignore")
        ctx = dtl.Context()
        request = dtl.irecv(ctx, 0, out=np.zeros(5))
        prepared = dtl.send_init(ctx, np.zeros(5), 0)
        over = dtl.iallreduce(ctx, 2.5)
        over.wait()
        pid = os.fork()
        if pid == 0:
            for call in (request.wait, request.test, request.cancel, lambda: request.done, prepared.start,
                         lambda: dtl.iallreduce(ctx, 1.5), lambda: dtl.ibarrier(ctx), lambda: dtl.isend(ctx, 1, 0),
                         lambda: dtl.irecv(ctx, 0), lambda: dtl.iprobe(ctx), lambda: dtl.waitany([request])):
                try:
                    call()
                except dtl.DTLError as error:
                    assert "forked child" in str(error), error
                else:
                    raise AssertionError("no error")
            assert over.wait() == 2.5
            del request, prepared, over
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        dtl.isend(ctx, np.ones(5), 0).wait()
        assert request.wait().tolist() == [1] * 5
        prepared.close()
        ctx.close()
        print("parent ended well")
    """
    assert "parent ended well" in succeeded(alone(code))


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("count", [20, 80, 200, 1000])
def test_one_rank_is_far_ahead(ctx: dtl.Context, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 0 has started all its calls when the last rank starts another one than all others."""
    with ctx.split_by_node() as node:
        if node.size < ctx.size:
            pytest.skip("ranks of several nodes hear of it where they wait; runs on one")
    odd, last = 3, ctx.rank == ctx.size - 1
    monkeypatch.setenv("DTL_SHARED_MEMORY", "1")  # ranks that share none hear of it where they wait, and stay in step
    own, requests = dtl.Context(), []
    if not ctx.is_root:
        ctx.barrier()
    with contextlib.suppress(dtl.CollectiveMismatchError):
        for i in range(count):
            requests.append(dtl.iallreduce(own, 3.0, "prod" if last and i == odd else "sum"))
    assert len(requests) == odd or not last
    if ctx.is_root:
        assert len(requests) == count
        ctx.barrier()
    for i, request in enumerate(requests):
        if i < odd:
            assert request.wait() == 3.0 * ctx.size
        else:
            with pytest.raises(dtl.CollectiveMismatchError, match="PROD"):
                request.wait()
    with pytest.raises(dtl.CollectiveMismatchError, match="an earlier call failed on some ranks only"):
        dtl.ibarrier(own)
    assert dtl.allreduce(own, 1) == ctx.size
    ctx.barrier()
    own.close()


@pytest.mark.mpi(min_size=2)
def test_one_rank_is_far_ahead_of_others_that_agree(ctx: dtl.Context) -> None:
    """What it has started begins when the others have come, also while it waits for something else."""
    own = ctx.dup()
    if not ctx.is_root:
        ctx.barrier()
    requests = [dtl.iallreduce(own, float(i)) for i in range(300)]
    if ctx.is_root:
        ctx.barrier()
        assert dtl.recv(ctx, ctx.size - 1) == 1
    for i, request in reversed(list(enumerate(requests))):
        assert request.wait() == float(i) * ctx.size
    if ctx.rank == ctx.size - 1:
        dtl.send(ctx, 1, 0)
    ctx.barrier()
    own.close()
