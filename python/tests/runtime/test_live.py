"""What is open: the list of handles, what an environment that is left reports, and contexts that wait to be closed."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator

import numpy as np
import pytest
from programs import alone as run_alone
from programs import ranks, succeeded
from refusals import refused

import dtl
from dtl._native import library

HERE = os.path.basename(__file__)


@pytest.fixture
def places() -> Iterator[None]:
    """Have the places kept, as the environment's DTL_CHECK=full does."""
    library.keep_places(True)
    yield
    library.keep_places(False)


def opened(before: int) -> list[dtl.LiveHandle]:
    return dtl.live()[before:]  # the oldest come first


def line() -> int:
    return sys._getframe(1).f_lineno


MAKERS: dict[str, Callable[[dtl.Context], Any]] = {
    "environment": lambda ctx: dtl.Environment(),
    "context": lambda ctx: ctx.dup(),
    "container": lambda ctx: dtl.DistributedVector(ctx, 10),
    "map": lambda ctx: dtl.DistributedMap(ctx, np.int64, np.float64),
    "plan": lambda ctx: dtl.RedistributionPlan(dtl.DistributedVector(ctx, 10), dtl.DistributedVector(ctx, 10)),
    "halo": lambda ctx: dtl.Halo(dtl.DistributedVector(ctx, 10), 1),
    "request": lambda ctx: dtl.irecv(ctx, ctx.rank),
    "window": lambda ctx: dtl.Window(ctx, size=8),
}
#: What is listed as the kind that it has made for itself.
INSIDE: dict[str, tuple[str, Callable[[dtl.Context], Any]]] = {
    "counter": ("window", dtl.Counter),
    "lock": ("window", dtl.Lock),
    "grid": ("context", lambda ctx: dtl.Cart(ctx, [0], reorder=True)),
    "roles": ("context", lambda ctx: dtl.RoleManager.from_programs(ctx, ["all"])),
}
CASES = [pytest.param(kind, make, id=kind) for kind, make in MAKERS.items()]
CASES += [pytest.param(kind, make, id=name) for name, (kind, make) in INSIDE.items()]


@pytest.mark.parametrize(("kind", "make"), CASES)
def test_every_kind(alone: dtl.Context, places: None, kind: str, make: Callable[[dtl.Context], Any]) -> None:
    before = len(dtl.live())
    made = make(alone)
    found = opened(before)[-1]
    assert found.kind == kind
    assert 0 <= found.age < 60
    assert found.where is not None
    assert found.where.startswith(HERE + ":")
    if isinstance(made, dtl.Request):
        assert made.cancel()
    else:
        made.close()
    del made
    assert dtl.live()[before:] == []


def test_the_oldest_comes_first(alone: dtl.Context, places: None) -> None:
    before = len(dtl.live())
    vec, first = dtl.DistributedVector(alone, 1), line()
    with alone.dup() as twin, dtl.DistributedMap(twin, "U3", np.int8):
        found = opened(before)
        assert [handle.kind for handle in found] == ["container", "context", "map"]
        assert [handle.where for handle in found] == [f"{HERE}:{n}" for n in (first, first + 1, first + 1)]
        assert found[0].age >= found[1].age >= found[2].age
    vec.close()
    assert opened(before) == []


def test_places_are_kept_only_where_they_are_wanted(alone: dtl.Context) -> None:
    before = len(dtl.live())
    with dtl.DistributedVector(alone, 1):
        assert opened(before)[0].where is None


PLACES = """
import dtl
first = dtl.Context({first})
second = dtl.Context({second})
vec = dtl.DistributedVector(second, 3)
print([handle.where for handle in dtl.live()])
"""


@pytest.mark.jobs("starts processes of its own")
@pytest.mark.parametrize(
    ("check", "first", "second", "kept"),
    [
        (None, "", "", [False, False, False]),
        ("full", "", "", [True, True, True]),
        ("node", "", "", [False, False, False]),
        (None, "", "check='full'", [False, True, True]),
        (None, "check='full'", "", [True, True, True]),
        ("full", "", "check='node'", [True, False, False]),
    ],
)
def test_who_has_places_kept(check: str | None, first: str, second: str, kept: list[bool], tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(PLACES.format(first=first, second=second))
    variables = {} if check is None else {"DTL_CHECK": check}
    out = succeeded(run_alone(f"import runpy; runpy.run_path({str(script)!r})", **variables))
    assert out == repr([f"app.py:{n}" if yes else None for n, yes in zip((3, 4, 5), kept)]) + "\n"


def test_a_closed_request_whose_result_nobody_took_is_not_listed(ctx: dtl.Context) -> None:
    before = len(dtl.live())
    for _ in range(100):
        request = dtl.irecv(ctx, ctx.rank)
        dtl.send(ctx, 1, ctx.rank)
        request.wait()
    assert opened(before) == []


LEFT = """
import sys, warnings
import dtl
warnings.simplefilter("always")
warnings.showwarning = lambda message, category, file, line, *rest: print(
    dtl.Context is not None and category.__name__, file == __file__, line, message, flush=True
)
outer = dtl.Context()
with dtl.Environment() as env:
    world = env.make_world_context()
    with dtl.Environment() as nested:
        own = nested.make_cpu_context()
        vec = dtl.DistributedVector(own, 3)
        closed = nested.make_world_context()
    closed.close()
    request = dtl.irecv(world, world.rank)
    print("left", flush=True)
print("once", flush=True)
env.close()
with dtl.Environment():
    pass
try:
    with dtl.Environment() as env:
        more = env.make_world_context()
        raise KeyError
except KeyError:
    pass
dtl.send(world, 1, world.rank)
request.wait()
for context in (more, world, outer):
    context.close()
"""


@pytest.mark.jobs("starts ranks itself")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
@pytest.mark.parametrize("check", ["full", "node"])
def test_the_last_environment_reports_once_what_is_left_open(check: str, tmp_path: Path) -> None:
    """Not what was open before it, nor what goes by itself."""
    out = succeeded(ranks(1, LEFT, tmp_path, DTL_CHECK=check)).splitlines()
    named = "1 context made at program.py:10, 1 request made at program.py:16"
    if check == "node":
        named = "1 context, 1 request; DTL_CHECK=full says where they were made"
    line = 9 if sys.version_info >= (3, 10) else 17  # where a block ends: at its with, or at its last line
    text = f"ResourceWarning True {line} the last environment was closed, and left open: {named}"
    assert out == ["left", text, "once"]


def test_environments_of_which_another_is_open(ctx: dtl.Context) -> None:
    with dtl.Environment() as first:
        request = dtl.irecv(ctx, ctx.rank)
        second = dtl.Environment()
        first.close()
        with pytest.warns(ResourceWarning, match="left open: 1 request") as caught:
            second.close()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert request.cancel()


def test_environments_that_are_collected_say_nothing(ctx: dtl.Context) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = dtl.Environment()
        request = dtl.irecv(ctx, ctx.rank)
        del env
        assert request.cancel()


def test_close_that_waits(ctx: dtl.Context) -> None:
    own = ctx.dup()
    after, before = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
    out = np.empty(50_000)
    received = [dtl.irecv(own, before, tag=1, out=out), dtl.irecv(own, before, tag=2)]
    refused(own.close, dtl.BufferError, 106, "2 requests are active", op="close")
    assert dtl.allreduce(own, 1) == ctx.size, "nothing has happened"
    sent = [dtl.isend(own, np.full(50_000, 3.0), after, tag=1), dtl.isend(own, 7, after, tag=2)]
    total = dtl.iallreduce(own, 1)
    own.close(wait=True)
    own.close(wait=True)
    assert all(request.done for request in [*received, *sent, total])
    assert received[1].wait() == 7
    assert (received[0].wait() == 3).all()
    assert total.wait() == ctx.size
    dtl.waitall(sent)
    with pytest.raises(dtl.InvalidHandleError):
        own.barrier()


def test_close_that_waits_for_requests_that_nobody_has(ctx: dtl.Context) -> None:
    own = ctx.dup()
    with pytest.warns(ResourceWarning, match="was dropped"):
        dtl.irecv(own, (ctx.rank - 1) % ctx.size)
    own.barrier()
    dtl.send(own, 1, (ctx.rank + 1) % ctx.size)
    own.close(wait=True)


def test_close_that_waits_for_what_has_failed(alone: dtl.Context) -> None:
    own = alone.dup()
    request = dtl.irecv(own, 0, dtype=np.int32)
    dtl.send(own, 1.5, 0)
    own.close(wait=True)
    with pytest.raises(dtl.InvalidArgumentError):
        request.wait()


def test_a_context_stays_while_a_halo_exchange_is_under_way(ctx: dtl.Context) -> None:
    own = ctx.dup()
    halo = dtl.Halo(dtl.DistributedVector(own, 4 * ctx.size), 1, periodic=True)
    halo.begin()
    refused(own.close, dtl.BufferError, 106, "is active", op="close")
    refused(lambda: own.close(wait=True), dtl.BufferError, 106, "is active")
    halo.end()
    halo.begin()
    halo.close()
    own.close()


TIMEOUT = """
import dtl
with dtl.Context() as ctx:
    own = ctx.dup()
    request = dtl.irecv(own, 1 - ctx.rank)
    try:
        own.close(wait=True)
    except dtl.CommunicationError as error:
        print("no end after 1s" in str(error), request.cancel(), repr(own).endswith("mpi>"))
    own.close()
"""


@pytest.mark.jobs("starts ranks itself")
@pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup")
def test_close_that_would_wait_for_ever(tmp_path: Path) -> None:
    assert succeeded(ranks(2, TIMEOUT, tmp_path, DTL_TIMEOUT="1")) == "True True True\n" * 2


@pytest.mark.parametrize("wait", [True, False])
def test_closing_is_of_no_use_twice(alone: dtl.Context, wait: bool) -> None:
    alone.close(wait=wait)
    alone.close(wait=wait)
    assert "closed" in repr(alone)
