"""Every public call with arguments that are wrong on one rank: all ranks raise, or none, and nobody waits."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from typing import Any, Callable, Iterator

import hostile
import numpy as np
import pytest
from conftest import RANKS
from hostile import ALIASES, WITHOUT, Call, Stage
from hostile_values import VALUES
from refusals import refused

import dtl
from dtl.runtime import hang_monitor

# Wrong numbers give what NumPy gives, which warns.
pytestmark = [
    pytest.mark.few("two ranks are a wrong one and one that must hear of it; with more, in make test-matrix"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

#: A wait of so many seconds is an error here: nobody is to wait at all.
_PATIENCE = "20"


@pytest.fixture(params=["shared memory", "messages"] if RANKS > 1 else ["alone"], scope="module")
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """Ranks that meet in shared memory, or by messages, where there are several, and what the calls need."""
    patch = pytest.MonkeyPatch()
    patch.setenv("DTL_TIMEOUT", _PATIENCE)
    if request.param == "messages":
        patch.setenv("DTL_SHARED_MEMORY", "0")
    with dtl.Environment() as environment, dtl.Context() as ctx, environment.make_cpu_context() as private:
        made = Stage(ctx, private)
        yield made
        made.close()
    patch.undo()
    hang_monitor.configure(None)


@pytest.fixture
def unraisable(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was raised where nobody could catch it, such as in a destructor."""
    seen: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append(f"{args.exc_value!r} in {args.object!r}"))
    return seen


#: Calls in which some ranks wait for none where they share memory, and hear in their next call that another was wrong.
_GOING_ON = {"broadcast", "gather", "reduce", "scatter"}


def _made(call: Call, arguments: dict[str, Any], following: dtl.Context | None = None) -> Exception | None:
    try:
        call.f(**arguments)
        if following is not None:
            following.barrier()
    except Exception as error:  # noqa: BLE001 - what it is, the test says
        return error
    return None


def _wrong_class(error: Exception) -> bool:
    return not isinstance(error, (dtl.DTLError, TypeError, ValueError, MemoryError))


def _names(error: dtl.DTLError, rank: int) -> bool:
    """Say whether an error names a rank, or has a table of what all ranks passed."""
    return f"rank {rank}" in str(error) or "the ranks" in str(error) or "ranks disagree" in str(error)


#: What somebody's own function raises is raised as it is, on the rank where it did.
_OWN = "the user's function fails"


NAMES = sorted(set(hostile.public()) - set(ALIASES) - WITHOUT)


def test_every_public_call_has_a_row(stage: Stage) -> None:
    rows = {*hostile.collective(stage), *hostile.local(stage)}
    assert hostile.public() == rows | WITHOUT | set(ALIASES)
    assert set(ALIASES.values()) <= rows


@pytest.mark.parametrize("name", NAMES)
def test_one_rank_is_wrong(stage: Stage, unraisable: list[str], name: str) -> None:
    ctx = stage.ctx
    call = hostile.collective(stage).get(name)
    if call is None:
        pytest.skip("is not collective; runs in the test of calls that are not")
    failures: list[str] = []
    by_messages = ctx.size > 1 and os.environ.get("DTL_SHARED_MEMORY") == "0"
    for number, parameter, value in hostile.cases(name, call, step=4 if by_messages else 1):
        wrong = number % ctx.size
        arguments = dict(call.arguments)
        if ctx.rank == wrong:
            arguments[parameter] = VALUES[value](stage)
        error = _made(call, arguments, ctx if name in _GOING_ON else None)
        what = f"{name}({parameter}={value}) on rank {wrong}"
        raised = dtl.allgather(ctx, error is not None)
        if error is None or isinstance(error, dtl.KeyNotFoundError):  # which is that rank's own
            continue
        if not raised.all() and name not in hostile.APART:  # where a rank may have what it needs
            failures.append(f"{what}: raised on ranks {np.flatnonzero(raised).tolist()} alone: {error!r}")
        if ctx.rank == wrong and _wrong_class(error) and _OWN not in str(error):
            failures.append(f"{what}: {error!r}")
        if ctx.rank != wrong and not (isinstance(error, dtl.DTLError) and _names(error, wrong)):
            failures.append(f"{what}: on rank {ctx.rank} {error!r}")
    assert not failures, "\n".join(failures)
    assert unraisable == []


#: What a first argument may be beside a container: some functions say that it is not equal to that.
_BESIDE = (list, np.ndarray, np.generic, complex, float, int, str, bytes)

#: What a first argument is where it is a context or container that a call takes, or waits for.
_FINE = ("a context", "a container of another context", "a container of this process alone", "a halo", "a window")


@pytest.mark.alone("is the same on every rank")
@pytest.mark.parametrize("name", [name for name in NAMES if "." not in name])
def test_every_rank_passes_what_has_no_ranks(stage: Stage, unraisable: list[str], name: str) -> None:
    call = hostile.collective(stage).get(name)
    f = getattr(dtl, name)
    first = next(iter(inspect.signature(f).parameters), None)
    f = hostile.got(f) if name.startswith("async_") else f
    if call is None or first is None or first in call.arguments:
        pytest.skip("names no ranks in its first argument; runs in the other tests")
    failures: list[str] = []
    for value in VALUES:
        if value in _FINE:
            continue
        given = VALUES[value](stage)
        error = _made(Call(functools.partial(f, given), {}), call.arguments)
        if error is None and name in hostile.BESIDE and isinstance(given, _BESIDE):
            continue
        if error is None or _wrong_class(error):
            failures.append(f"{name}({first}={value}): {error!r}")
    assert not failures, "\n".join(failures)
    assert unraisable == []


#: Functions by their first argument, a context, container or the like. Other arguments of two do not fit a closed one.
_FIRST_ARGUMENTS = {
    name: first
    for name in NAMES
    if "." not in name and name not in ("array_api", "moveaxis", "swapaxes")
    for first in list(inspect.signature(getattr(dtl, name)).parameters)[:1]
    if first in ("ctx", "a", "a1", "ar1", "c", "element", "src", "halo", "mgr")
}

_KINDS = [kind for kind in (getattr(dtl, name) for name in dir(dtl)) if inspect.isclass(kind)]

#: Classes whose objects are made of a context.
_OF_A_CONTEXT = [
    kind
    for kind in _KINDS
    if kind.__init__ is not object.__init__ and [*inspect.signature(kind.__init__).parameters][1:2] == ["ctx"]
]


def _told_of_contexts(stage: Stage, of: Callable[[Any], Callable[[], Any]]) -> None:
    """Check that a call with a closed context as its first argument, or with what is none, says so in one way."""
    error = refused(of(stage.gone), dtl.InvalidHandleError, 102, "the context is closed")
    assert isinstance(error, ValueError)
    for thing in (None, 5, 0, "ctx", object(), np.zeros(3), dtl.Context):
        error = refused(of(thing), dtl.InvalidTypeError, 101, f"not {type(thing).__name__}")
        assert isinstance(error, TypeError)


@pytest.mark.alone("is the same on every rank")
@pytest.mark.parametrize("name", _FIRST_ARGUMENTS)
def test_what_is_said_of_a_first_argument(stage: Stage, name: str) -> None:
    """A closed context, what is none, and a closed container, are each told by one text."""
    call = hostile.collective(stage).get(name) or hostile.local(stage)[name]
    f, first = getattr(dtl, name), _FIRST_ARGUMENTS[name]
    if first in call.arguments:
        pytest.skip("has its first argument in its row; runs in the other tests")
    f = hostile.got(f) if name.startswith("async_") else f

    def of(thing: Any) -> Callable[[], Any]:
        return functools.partial(f, thing, **call.arguments)

    if first == "ctx":
        _told_of_contexts(stage, of)
        if name != "reduce":  # which takes a container, too
            with pytest.raises(dtl.InvalidArgumentError, match=r"where a context is wanted|not DistributedVector"):
                of(stage.v)()
        return
    if first in ("halo", "mgr"):
        refused(of(stage.closed), dtl.InvalidTypeError, 101, f"{first} must be a dtl.")
    else:
        refused(of(stage.closed), dtl.InvalidHandleError, 102, "the container is closed")
    for thing in (None, object()) if name in hostile.BESIDE else (None, object(), 3, "text", np.ones(3), []):
        refused(of(thing), dtl.InvalidTypeError, 101, type(thing).__name__)


@pytest.mark.alone("is the same on every rank")
def test_what_is_said_of_a_context_that_has_a_namespace(stage: Stage) -> None:
    _told_of_contexts(stage, lambda thing: functools.partial(dtl.array_api, thing))


@pytest.mark.alone("is the same on every rank")
@pytest.mark.parametrize("kind", _OF_A_CONTEXT)
def test_what_is_made_of_a_context(stage: Stage, kind: Any) -> None:
    rows = {**hostile.local(stage), **hostile.collective(stage)}
    row = next(rows[name] for name in (f"{cls.__name__}.__init__" for cls in kind.__mro__) if name in rows)
    arguments = {name: value for name, value in row.arguments.items() if name != "ctx"}
    _told_of_contexts(stage, lambda thing: functools.partial(kind, thing, **arguments))
    refused(functools.partial(kind, stage.v, **arguments), dtl.InvalidTypeError, 101, "not DistributedVector")


@pytest.mark.alone("waits for messages of other ranks, where there are any")
@pytest.mark.parametrize("name", NAMES)
def test_wrong_on_each_rank_by_itself(stage: Stage, unraisable: list[str], name: str) -> None:
    call = hostile.local(stage).get(name)
    if call is None:
        pytest.skip("is collective; runs in the test of calls that are")
    failures: list[str] = []
    for parameter in call.arguments:
        for value in VALUES:
            error = _made(call, {**call.arguments, parameter: VALUES[value](stage)})
            if error is not None and _wrong_class(error) and _OWN not in str(error):
                failures.append(f"{name}({parameter}={value}): {error!r}")
    assert not failures, "\n".join(failures)
    assert unraisable == []
