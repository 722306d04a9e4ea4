"""Ranks that need no other in a call with a root go on, and hear later that another made a different one."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from programs import ranks, succeeded, until

import dtl

GONE_ON = "in an earlier call, from which this rank had gone on at "


class Stage:
    """Two contexts of all ranks, a window, and a rank that makes another call than the others."""

    def __init__(self, ctx: dtl.Context) -> None:
        self.a, self.b = ctx.dup(), ctx.dup()
        self.window = dtl.Window(self.b, size=8)
        self.size, self.rank, self.odd = ctx.size, ctx.rank, ctx.size - 1

    def settle(self) -> None:
        """Check that all calls go on."""
        for _ in range(2):
            for on in (self.a, self.b):
                assert dtl.allreduce(on, self.rank) == self.size * (self.size - 1) // 2
                assert dtl.broadcast(on, 7 if self.rank == 0 else None) == 7
                assert dtl.reduce(on, 1) == (self.size if self.rank == 0 else None)
        self.b.barrier()

    def lead(self) -> None:
        """Make some calls that agree: between nodes, ranks go on from the second call with a root in a row."""
        for n in range(3):
            assert dtl.broadcast(self.a, n if self.rank == 0 else None) == n

    def close(self) -> None:
        self.window.close()
        self.b.close()
        self.a.close()


@pytest.fixture
def stage(ctx: dtl.Context) -> Iterator[Stage]:
    made = Stage(ctx)
    yield made
    made.close()


def raised(call: Callable[[], Any]) -> str:
    """Return the text of what a call raises, and "" where it raises nothing."""
    try:
        call()
    except dtl.DTLError as error:
        return str(error)
    return ""


def heard(on: dtl.Context, program: Callable[[], Any]) -> list[str]:
    """Return what a program raises on each rank."""
    return dtl.allgather_object(on, raised(program))


#: What the odd rank makes of ``broadcast(s.a, np.ones(3) on rank 0)``, and what is said of that.
ODD: dict[str, tuple[Callable[[Stage], Any], str]] = {
    "another root": (lambda s: dtl.broadcast(s.a, np.ones(3), root=s.odd), r"called broadcast("),
    "another shape": (lambda s: dtl.broadcast(s.a, np.ones(4)), "called broadcast(4 elements of float64, root 0) at"),
    "another dtype": (
        lambda s: dtl.broadcast(s.a, np.ones(3, np.int8)),
        "called broadcast(3 elements of int8, root 0) at",
    ),
    "another call": (lambda s: s.a.barrier(), "called barrier() at"),
    "another call of elements": (lambda s: dtl.allreduce(s.a, 1.0), "called allreduce(1 element of float64, SUM) at"),
    "a container": (lambda s: dtl.DistributedVector(s.a, 10), "called vector"),
    "a root that is none": (lambda s: dtl.broadcast(s.a, np.ones(3), root=s.size), "root "),
    "an output that is none": (lambda s: dtl.broadcast(s.a, None, out="here"), "out"),
    "an output that is read only": (lambda s: dtl.broadcast(s.a, None, out=np.ones(3).view()[::2]), "out"),
}


def _lock(s: Stage) -> None:
    with s.window.lock(s.odd):
        pass


#: Where rank 0 goes, which needs the odd rank there.
NEXT: dict[str, Callable[[Stage], Any]] = {
    "the same context": lambda s: None,
    "another context": lambda s: dtl.allreduce(s.b, 1),
    "another context, as root": lambda s: [dtl.broadcast(s.b, 1), s.b.barrier()],
    "a long call on another context": lambda s: dtl.allreduce(s.b, np.ones(100_000)),
    "recv": lambda s: dtl.recv(s.b, s.odd),
    "recv on the same context": lambda s: dtl.recv(s.a, s.odd),
    "probe": lambda s: dtl.probe(s.a, s.odd),
    "send": lambda s: dtl.send(s.a, np.ones(1_000_000), s.odd),
    "sendrecv": lambda s: dtl.sendrecv(s.a, 1.0, s.odd, s.odd),
    "wait": lambda s: dtl.irecv(s.a, s.odd).wait(),
    "ibarrier": lambda s: dtl.ibarrier(s.a).wait(),
    "a lock": _lock,
    "dup": lambda s: s.b.dup().close(),
    "a container": lambda s: dtl.DistributedVector(s.b, 10).fill(1),
    "close": lambda s: s.b.dup().close(),
}


def together(s: Stage, odd: Callable[[Stage], Any], after: Callable[[Stage], Any]) -> None:
    """Have all ranks make a call, one a different one, and rank 0 go elsewhere; all catch one error, and go on."""

    def program() -> None:
        s.lead()
        if s.rank == s.odd:
            odd(s)
        else:
            dtl.broadcast(s.a, np.ones(3) if s.rank == 0 else None)
        if s.rank == 0:
            after(s)
        s.a.barrier()

    everybody = heard(s.b, program)
    assert all(everybody), everybody
    s.settle()


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("what", ODD)
def test_one_rank_differs(stage: Stage, what: str) -> None:
    odd, said = ODD[what]

    def program() -> None:
        stage.lead()
        if stage.rank == stage.odd:
            odd(stage)
        else:
            dtl.broadcast(stage.a, np.ones(3) if stage.rank == 0 else None)
        dtl.allreduce(stage.b, 1)

    place = f"test_going_on.py:{program.__code__.co_firstlineno + 5}: "
    for _ in range(3):
        everybody = heard(stage.b, program)
        text = everybody[stage.rank]
        assert all(said in text for text in everybody), everybody
        if "ranks disagree" in text:
            assert all(f"rank {stage.odd} called " in text for text in everybody), everybody
            others = "broadcast(3 elements of float64, root 0)", "broadcast(root 0)"
            assert all(any(f"called {other}" in text for other in others) for text in everybody), everybody
            assert stage.rank > 0 or GONE_ON + place in text or "another root" in what
        stage.settle()


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("where", NEXT)
def test_root_has_gone_on(stage: Stage, where: str) -> None:
    """The others wait for nothing that comes then."""
    for what in ("another shape", "another call", "an output that is none"):
        together(stage, ODD[what][0], NEXT[where])


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("name", ["reduce", "gather"])
def test_leaves_have_gone_on(stage: Stage, name: str) -> None:
    """Root sees what differs, and all others raise before their next call elsewhere."""
    values = {"another shape": np.ones(4), "another dtype": np.ones(3, np.int8), "no value": None}
    for value in values.values():

        def program(value: Any = value) -> None:
            for _ in range(3):
                getattr(dtl, name)(stage.a, np.ones(3))
            getattr(dtl, name)(stage.a, value if stage.rank == stage.odd else np.ones(3))
            if stage.rank > 0:
                dtl.send(stage.b, 1.0, 0)
            else:
                for source in range(1, stage.size):
                    dtl.recv(stage.b, source)

        everybody = heard(stage.b, program)
        assert all(everybody), everybody
        stage.settle()


@pytest.mark.mpi(min_size=2)
def test_scatter(stage: Stage) -> None:
    def program() -> None:
        stage.lead()
        out = np.ones(4 if stage.rank == stage.odd else 3)
        dtl.scatter(stage.a, np.ones((stage.size, 3)) if stage.rank == 0 else None, out=out)
        stage.b.barrier()

    everybody = heard(stage.b, program)
    assert all("called scatter(4 elements of float64, root 0) at" in text for text in everybody), everybody
    stage.settle()


@pytest.mark.mpi(min_size=2)
def test_programs_that_catch_each_error_go_on(stage: Stage) -> None:
    """A call on one context and one on another, in one ``try``, many times, with a different rank odd each time."""

    def step(odd: bool) -> None:
        stage.lead()
        dtl.broadcast(stage.a, 1.0 if stage.rank == 0 else np.ones(5) if odd else None)
        dtl.allreduce(stage.b, 1)

    for turn in range(60):
        wrong = turn % 3 == 0
        text = raised(lambda odd=wrong and stage.rank == 1 + turn % (stage.size - 1): step(odd))  # type: ignore[misc]
        assert bool(text) == wrong, (turn, text)


@pytest.mark.mpi(min_size=2)
def test_an_error_after_many_calls(stage: Stage) -> None:
    """Root may be many calls ahead, if not as many as these. It has one error for them all, and so have the others."""

    def program() -> None:
        for n in range(1200):
            assert dtl.broadcast(stage.a, n if stage.rank == 0 else None) == n
        dtl.broadcast(stage.a, np.ones(3) if stage.rank == 0 else np.ones(4) if stage.rank == stage.odd else None)
        for n in range(40):
            dtl.broadcast(stage.a, n if stage.rank == 0 else None)
        stage.a.barrier()

    everybody = heard(stage.b, program)
    assert all("called broadcast(4 elements of float64, root 0) at" in text for text in everybody), everybody
    stage.settle()


@pytest.mark.mpi(min_size=2)
def test_calls_that_agree_between_others(stage: Stage) -> None:
    """What was right stays: each call elsewhere waits for those that root has gone on from."""
    for n in range(50):
        assert dtl.broadcast(stage.a, n if stage.rank == 0 else None) == n
        if stage.rank == 0:
            dtl.send(stage.a, n, stage.odd)
        elif stage.rank == stage.odd:
            assert dtl.recv(stage.a, 0) == n
        assert dtl.broadcast(stage.b, -n if stage.rank == stage.odd else None, root=stage.odd) == -n
        assert dtl.reduce(stage.a, n) == (n * stage.size if stage.rank == 0 else None)
        dtl.scatter(stage.b, np.arange(stage.size) if stage.rank == 0 else None)
    stage.settle()


@pytest.mark.mpi(min_size=2)
def test_close_raises(ctx: dtl.Context) -> None:
    """Where nothing else comes, the end of the context does. It is closed then without the others."""
    odd = ctx.rank == ctx.size - 1

    def program() -> None:
        with ctx.dup() as own:
            dtl.broadcast(own, 1.0 if ctx.rank == 0 else None)
            dtl.broadcast(own, np.ones(3) if ctx.rank == 0 else np.ones(4) if odd else None)

    everybody = heard(ctx, program)
    assert all("called broadcast(4 elements of float64, root 0) at" in text for text in everybody), everybody


@pytest.mark.mpi(min_size=2)
def test_a_circle(ctx: dtl.Context) -> None:
    """One rank waits for a start of the others, who wait for it to come to the call before that."""
    odd = ctx.rank == ctx.size - 1

    def program() -> None:
        dtl.broadcast(own, 1.0 if ctx.rank == 0 else None)
        if odd:
            dtl.ibarrier(own).wait()
            dtl.broadcast(own)
        else:
            dtl.broadcast(own, 1.0 if ctx.rank == 0 else None)
            dtl.ibarrier(own).wait()

    with ctx.dup() as own:
        everybody = heard(ctx, program)
        assert all("called ibarrier()" in text and "called broadcast(" in text for text in everybody), everybody
        assert dtl.allreduce(own, 1) == ctx.size


@pytest.mark.mpi(min_size=2)
def test_threads(stage: Stage) -> None:
    """A thread's call on another context does not wait for ranks that come to the first thread's call only after it."""
    over = threading.Event()

    def serve() -> None:
        if stage.rank == stage.odd:
            dtl.recv(stage.b, 0)
            over.set()
        elif stage.rank == 0:
            dtl.send(stage.b, 1.0, stage.odd)

    thread = threading.Thread(target=serve)
    stage.lead()
    if stage.rank == 0:
        dtl.broadcast(stage.a, 1.0)
        thread.start()
    else:
        thread.start()
        if stage.rank == stage.odd:
            over.wait()
        dtl.broadcast(stage.a)
    thread.join()
    stage.settle()


@pytest.mark.mpi(min_size=3)
def test_a_rank_that_waits_outside_the_library(stage: Stage, tmp_path: Path) -> None:
    """Who has gone on confirms also while a rank that came to the call waits for what no call tells it."""
    sent = Path(dtl.broadcast_object(stage.b, str(tmp_path / "sent")))
    stage.lead()
    if stage.rank == 0:
        dtl.send(stage.a, 1.0, 1)
        sent.touch()
    elif stage.rank == 1:
        assert dtl.recv(stage.a, 0) == 1.0
    else:
        assert until(sent.exists)
    stage.settle()


ENDS = """
    import sys, time
    import numpy as np
    import dtl

    how = {how!r}
    ctx = dtl.Context()
    other = ctx.dup()
    odd = ctx.rank == ctx.size - 1
    dtl.broadcast(ctx, 1.0 if ctx.rank == 0 else None)
    try:
        if odd and how == "exits":
            sys.exit(0)
        if odd and how == "raises":
            dtl.broadcast(ctx, None, out="here")
        dtl.broadcast(ctx, 1.0 if ctx.rank == 0 else None)
        if ctx.rank == 0:
            dtl.recv(other, ctx.size - 1)
        else:
            dtl.allreduce(other, 1.0)
    except dtl.DTLError as error:
        print(ctx.rank, type(error).__name__, error, flush=True)
"""


#: Where ranks meet: in memory that they share, and by messages.
WHERE = [{}, {"DTL_SHARED_MEMORY": "0"}]


@pytest.mark.jobs("starts ranks of its own")
@pytest.mark.parametrize("where", WHERE, ids=str)
@pytest.mark.parametrize("how", ["exits", "raises"])
def test_one_rank_ends(tmp_path: Path, how: str, where: dict[str, str]) -> None:
    ended = ranks(3, ENDS.format(how=how), tmp_path, **where)
    lines = sorted(line for line in ended.out.splitlines() if line[:1].isdigit())
    assert [line[0] for line in lines] == (["0", "1"] if how == "exits" else ["0", "1", "2"]), ended
    assert all("rank 2" in line for line in lines[:2]), ended


AT_EXIT = """
    import numpy as np
    import dtl

    ctx = dtl.Context()
    dtl.broadcast(ctx, 1.0)
    try:
        dtl.broadcast(ctx, np.ones(3) if ctx.rank == 0 else np.ones(4))
    except dtl.CollectiveMismatchError:
        print("caught", flush=True)
"""


@pytest.mark.jobs("starts ranks of its own")
@pytest.mark.parametrize("where", WHERE, ids=str)
def test_a_program_that_ends_says_what_was_wrong(tmp_path: Path, where: dict[str, str]) -> None:
    ended = ranks(2, AT_EXIT, tmp_path, **where)
    assert succeeded(ended).strip() == "caught"
    assert GONE_ON in ended.err
