"""``dtl.launch`` and ``dtl.Ranks`` with ``in_process=True``: ranks that are threads of this process."""

from __future__ import annotations

import _thread
import threading
import time
from typing import Any, Callable, Iterator

import launched
import numpy as np
import pytest

import dtl

pytestmark = pytest.mark.alone("a rank launches none")

SECONDS = 60.0
SIZES = pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])


def launch(fn: Callable[..., Any], ranks: int = 2, *args: Any, **keywords: Any) -> list[Any]:
    return dtl.launch(fn, ranks, args, in_process=True, **{"timeout": SECONDS, **keywords})


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    yield
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("dtl-rank")]


@SIZES
def test_results_come_by_rank(ranks: int) -> None:
    assert launch(launched.rank, ranks) == [(rank, ranks) for rank in range(ranks)]


@SIZES
def test_arguments_are_the_same_objects(ranks: int) -> None:
    table = object()
    assert all(got is table for got in launch(lambda ctx, given: given, ranks, table))


@SIZES
def test_what_works_on_ranks_works_on_threads(ranks: int) -> None:
    def everything(ctx: dtl.Context) -> None:
        n, rank = ctx.size, ctx.rank
        right, left = (rank + 1) % n, (rank - 1) % n
        vec = dtl.DistributedVector(ctx, 1001)
        dtl.iota(vec)
        dtl.shuffle(vec, 3)
        vec.redistribute(dtl.PARTITION_CYCLIC)
        dtl.sort(vec, reverse=True)
        whole = vec.gather_to(0)
        assert whole is None if rank else (whole == np.arange(1001)[::-1]).all()
        assert dtl.sum(vec) == 1001 * 500
        assert dtl.async_sort(vec).get() is not False
        counts = dtl.DistributedMap(ctx, np.int64, np.int64)
        counts.update_many(np.arange(50), 1)
        assert counts.size == 50
        with dtl.Window(ctx, size=80) as win:
            with win.epoch():
                dtl.rma_put(win, right, 0, np.full(10, rank))
            assert (win.local_view(np.int64) == left).all()
        with dtl.Counter(ctx) as counter:
            counter.next(2)
            ctx.barrier()
            assert counter.value == 2 * n
        assert dtl.sendrecv(ctx, rank, right, left) == left
        long = dtl.irecv(ctx, left, tag=7)
        dtl.send(ctx, np.full(300_000, rank), right, tag=7)
        assert (long.wait() == left).all()
        assert (dtl.iallreduce(ctx, np.ones(3)).wait() == n).all()
        assert dtl.allgather_object(ctx, {"rank": rank}) == [{"rank": r} for r in range(n)]
        with ctx.split(rank % 2) as part, ctx.dup() as other:
            assert dtl.allreduce(part, 1) == (n + 1 - rank % 2) // 2
            other.barrier()

    assert launch(everything, ranks) == [None] * ranks


@pytest.mark.parametrize("wait", ["", "collective", "message"])
@pytest.mark.parametrize("kept", [False, True], ids=["launch", "Ranks"])
def test_an_exception_comes_back_as_it_is(wait: str, kept: bool) -> None:
    own = KeyError("mine")

    def fail(ctx: dtl.Context) -> None:
        if ctx.rank == 1:
            raise own
        launched.fail_on(ctx, [1], wait)

    if kept:
        with dtl.Ranks(2, in_process=True, timeout=SECONDS) as pool:
            with pytest.raises(KeyError) as caught:
                pool.run(fail)
            assert pool.run(launched.scaled, 2) == [2, 2]
    else:
        with pytest.raises(KeyError) as caught:
            launch(fail)
    assert caught.value is own
    assert str(caught.value.__cause__).startswith("\n\nrank 1 raised:\nTraceback (most recent call last):\n")
    assert any(frame.name == "fail" for frame in caught.traceback)


def test_a_rank_that_returns_while_others_wait() -> None:
    with pytest.raises(dtl.CollectiveMismatchError, match=r"rank 0 called end_of_function\(\).*rank 1 called barrier"):
        launch(launched.return_early)


@pytest.mark.parametrize("how", ["recv", "send"])
def test_a_rank_that_returns_while_others_wait_for_its_message(how: str) -> None:
    with pytest.raises(dtl.CommunicationError, match=rf"^{how}: rank 1 has returned: {how}\("):
        launch(launched.await_returned, 2, how)


@pytest.mark.parametrize(("how", "result"), [("alone", "alone"), ("received", 7)])
def test_a_rank_that_returns_while_others_go_on(how: str, result: Any) -> None:
    assert launch(launched.await_returned, 2, how) == [result, None]


def test_an_exception_that_fails_to_say_what_it_is() -> None:
    with pytest.raises(launched.UnsayableError):
        launch(launched.unsayable)


def test_the_end_of_a_program_is_no_end_of_ours() -> None:
    with pytest.raises(dtl.BackendError, match=r"rank 1 raised SystemExit: 3"):
        launch(launched.leave, 2, "exit")


def test_a_closed_context_is_followed_by_another() -> None:
    with dtl.Ranks(3, in_process=True, timeout=SECONDS) as pool:
        kept: dict[int, Any] = {}
        pool.run(lambda ctx: kept.update({ctx.rank: dtl.DistributedVector(ctx, 10, fill=2.0)}))
        assert pool.run(lambda ctx: dtl.sum(kept[ctx.rank])) == [20.0] * 3  # on the context that it was made on
        pool.run(launched.close)
        assert pool.run(launched.scaled, 3) == [9, 9, 9]
        assert (len(pool), pool.size, repr(pool)) == (3, 3, "<dtl.Ranks 3>")
    with pytest.raises(dtl.InvalidHandleError, match="the pool of ranks is closed"):
        pool.run(launched.rank)


def stay(ctx: dtl.Context, began: threading.Event | None = None) -> None:
    if ctx.rank == 0:
        if began is not None:
            began.set()
        while True:
            time.sleep(0.001)
    dtl.recv(ctx, 0)


def test_out_of_time() -> None:
    with dtl.Ranks(2, in_process=True, timeout=1) as pool:
        with pytest.raises(TimeoutError, match=r"^still running in stay after 1 s; ended all ranks\n") as caught:
            pool.run(stay)
        for rank in range(2):
            assert f"rank {rank} was here:\n  File " in str(caught.value)
        assert "launching/threads.py" not in str(caught.value)
        with pytest.raises(dtl.InvalidHandleError, match="has ended: TimeoutError"):
            pool.run(launched.rank)


def test_an_interrupt_ends_the_ranks() -> None:
    began = threading.Event()

    def interrupt() -> None:
        began.wait()
        _thread.interrupt_main()

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        launch(stay, 2, began)


def test_a_hang_report_names_the_lines_of_threads(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("DTL_HANG_REPORT", "1")
    with pytest.raises(TimeoutError):
        launch(stay, timeout=4)
    monkeypatch.delenv("DTL_HANG_REPORT")
    dtl.Context().close()  # takes the environment's settings again
    told = capfd.readouterr().err
    assert "rank 0 at test_ranks_as_threads.py:" in told
    assert "rank 1 in recv(source 0, tag 0) at test_ranks_as_threads.py:" in told


def test_a_rank_that_launches() -> None:
    def again(ctx: dtl.Context) -> Any:
        return launch(launched.rank)

    with pytest.raises(dtl.BackendError, match="this process is a rank, or was started by one, and ranks start no oth"):
        launch(again)


def test_mpi4py_does_not_know_threads() -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="threads of this process, which MPI does not connect"):
        launch(lambda ctx: ctx.to_mpi4py())


@pytest.mark.parametrize(
    ("fn", "ranks", "timeout", "error", "text"),
    [
        (7, 2, None, dtl.InvalidTypeError, "fn is of type int, which cannot be called"),
        (launched.rank, 0, None, dtl.InvalidArgumentError, "launch: 0 ranks; at least 1 is needed"),
        (launched.rank, 10**9, None, dtl.InvalidArgumentError, r"1000000000 ranks outside \[1, 1024\], as threads"),
        (launched.rank, "2", None, dtl.InvalidTypeError, "ranks must be an integer"),
        (launched.rank, 2, 0.0, dtl.InvalidArgumentError, "timeout 0.0 is not a number of seconds above 0"),
    ],
)
def test_bad_arguments(fn: Any, ranks: Any, timeout: float | None, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        launch(fn, ranks, timeout=timeout)
