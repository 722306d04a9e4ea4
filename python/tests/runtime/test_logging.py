"""What DTL says to the logger ``dtl``."""

from __future__ import annotations

import logging
import os
from typing import Any, Iterator

import pytest
from programs import alone, succeeded

import dtl
from dtl._native import log, slow_paths


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[Any]:
    caplog.set_level(logging.DEBUG, logger="dtl")
    log._times.clear()
    yield caplog
    if slow_paths._log in slow_paths.listeners:
        slow_paths.listeners.remove(slow_paths._log)


def of(heard: Any, name: str) -> list[str]:
    return [record.getMessage() for record in heard.records if record.name == name]


def test_checkpoints(ctx: dtl.Context, heard: Any, folder: str) -> None:
    with dtl.DistributedVector(ctx, 1000) as vec:
        made = dtl.checkpoint(folder, {"x": vec, "step": 3})
    restored = dtl.restore(ctx, folder)
    restored["x"].close()
    size = (
        sum(os.path.getsize(f"{made}/{name}") for name in os.listdir(made) if name.endswith((".npy", ".pickle"))) - 128
    )
    rank = "rank 0: " if ctx.size > 1 else ""
    written = f"{rank}{made} written: 2 values, {log.size(size)}"
    assert of(heard, "dtl.checkpoint") == ([written, f"{rank}{made} restored: 2 values"] if ctx.is_root else [])


def test_contexts(ctx: dtl.Context, heard: Any) -> None:
    with ctx.dup():
        rank = f"rank {log.state['rank']}: " if log.state["rank"] is not None else ""
        assert of(heard, "dtl.context") == [f"{rank}a context of {ctx.size} ranks on {ctx.backend!r}"]


def test_slow_paths_of_a_loop(ctx: dtl.Context, heard: Any) -> None:
    numbers = [1.0] * 200
    with ctx.dup() as own:
        for _ in range(12):
            dtl.allreduce(own, numbers)
    told = of(heard, "dtl.slow_paths")
    assert len(told) == 2, told
    assert "test_logging.py:" in told[0]
    assert "a list of numbers made an array" in told[0]
    assert told[1].endswith("(10 times)")


def test_a_rank_that_leaves(ctx: dtl.Context, heard: Any) -> None:
    try:
        with ctx.dup() as own:
            if own.rank == own.size - 1:
                raise LookupError("no such thing")
            own.barrier()
    except (LookupError, dtl.CommunicationError):
        pass
    told = of(heard, "dtl.ranks")
    if ctx.size > 1:
        assert any("LookupError: no such thing" in text for text in told), told
        assert {record.levelno for record in heard.records if record.name == "dtl.ranks"} == {logging.WARNING}


ALONE = pytest.mark.alone("starts programs; they are the same on every rank")


@ALONE
def test_nobody_pays_who_does_not_listen() -> None:
    code = """
        import sys
        import dtl, numpy as np
        with dtl.Context() as ctx, dtl.DistributedVector(ctx, 10) as vec:
            vec + vec
            print("logging" in sys.modules)
    """
    assert succeeded(alone(code)) == "False\n"


@ALONE
def test_nothing_is_printed_that_nobody_asked_for() -> None:
    code = """
        import logging, sys
        import dtl
        from dtl._native import log
        with dtl.Context() as ctx:
            log.say("ranks", log.ERROR, "lost")
            print(type(logging.getLogger("dtl").handlers[0]).__name__)
    """
    done = alone(code)
    assert (done.out, done.err, done.code) == ("NullHandler\n", "", 0)


@ALONE
def test_the_variable() -> None:
    done = alone("import dtl\nwith dtl.Context() as ctx: pass", DTL_LOG="info")
    assert "INFO dtl.context: 1 ranks on 'cpu': no launcher has started this process" in done.err
    done = alone("import dtl\ndtl.Context()", DTL_LOG="loud")
    assert "DTL_LOG is 'loud'; it must be one of 'debug', 'info', 'warning', 'error'" in done.err


def test_sizes() -> None:
    assert [log.size(n) for n in (0, 999, 8000, 1_500_000, 2 * 10**13)] == ["0 B", "999 B", "8 kB", "1.5 MB", "20 TB"]
