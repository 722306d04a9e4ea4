"""How an algorithm becomes an asynchronous call."""

from __future__ import annotations

from typing import Any, Callable

from .._native import library
from .._native.callsite import here
from .._native.objects import handle_of, refuse_closed
from ..containers.base import DistributedContainer
from ..containers.interior import context_of, division_of, move_to, run_as
from ..containers.making import adopt_native
from ..exceptions import InvalidArgumentError
from ..futures.future import Future
from ..policies import Execution
from ..runtime.agreement import tell
from ..runtime.context import Context
from ..runtime.scheduler import DEPTH, AsyncCalls, calls_of, containers_in, in_stream, roots_of
from .streams import Job, Stream, Streams, streams_of


def submitted(op: str, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
    """Return the future of an algorithm's call. Collective, in that every rank calls it; it waits for none.

    The containers among the arguments, of which there is one at least, have aliases on a stream's context meanwhile.
    What it makes belongs to the program's.
    """
    containers = containers_in((args, kwargs))
    ctx = containers[0].context

    def work(stream: Context) -> Any:
        aliases: dict[int, Any] = {}
        try:
            _check_context(op, containers)
            aliases.update((id(c), _stream_alias(c, stream)) for c in containers)
            later = containers[0].execution_policy is Execution.ASYNC
            return _settled(f(*_put(args, aliases), **_put(kwargs, aliases)), ctx, stream, later)
        except BaseException:
            for alias in aliases.values():
                alias.close()  # which the frames of the error would keep
            raise

    return deferred(op, containers, work)


def deferred(
    op: str, containers: list[DistributedContainer], work: Callable[[Context], Any], after: Future | None = None
) -> Future:
    """Return the future of what is done with containers in a stream of their context. The first is the one that counts.

    It begins when what was deferred before with one of them is over, and after another deferred call of the context.
    """
    ctx = containers[0].context
    if not handle_of(ctx):
        raise library.closed("context")
    if in_stream():
        raise InvalidArgumentError(
            f"{op}: what an asynchronous call calls makes none itself: ranks come to it in any order"
        )
    site, roots, streams = here(), roots_of(containers), streams_of(ctx)
    stream = _stream(op, roots, streams)

    def told(stream: Context) -> Any:
        try:
            return work(stream)
        except Exception as error:
            tell(error, op, (stream,))
            raise

    job = Job(op, site, roots, told, after)
    names = ", ".join(map(_described, containers))
    words = f"{op} of {names} in stream {calls_of(roots[0]).stream}"
    job.begin(stream)
    try:
        job.number = library.context_defer(handle_of(ctx), words, site.place)
    except BaseException as error:
        job.abandon(stream, error)
        raise
    future = job.future
    stream.put(job)
    return future


def _stream(op: str, roots: list[DistributedContainer], streams: Streams) -> Stream:
    """Return the stream of the first container, which others that have none join."""
    number = calls_of(roots[0]).stream
    stream = streams.stream(streams.upcoming if number is None else number, op)
    if number is None:
        number = streams.next()
    for calls in map(calls_of, roots):
        if calls.stream is None:
            calls.stream = number
    return stream


def _described(c: DistributedContainer) -> str:
    """Return a container as all ranks describe it, also one where it is closed, and without waiting for its extents."""
    return f"{type(c).__name__} of {c.dtype}"


def _check_context(op: str, containers: list[DistributedContainer]) -> None:
    """Refuse containers of several contexts, whose calls would be in no order."""
    for c in containers:
        refuse_closed(c)
        if c.context is not containers[0].context:
            raise InvalidArgumentError(
                f"{op}: the containers belong to several contexts; make this call without a future"
            )


def _put(value: Any, aliases: dict[int, Any], depth: int = DEPTH - 1) -> Any:
    """Return one of an algorithm's arguments with aliases in place of containers."""
    if isinstance(value, DistributedContainer):
        return aliases[id(value)]
    if isinstance(value, dict) and depth:
        return {key: _put(item, aliases, depth - 1) for key, item in value.items()}
    if type(value) in (tuple, list) and depth:
        return type(value)(_put(item, aliases, depth - 1) for item in value)
    return value


def _stream_alias(c: DistributedContainer, stream: Context) -> DistributedContainer:
    """Return the alias of a container on a stream's context."""
    alias = c.__class__.__new__(c.__class__)
    alias.__dict__.update(c.__dict__, _calls=AsyncCalls())
    adopt_native(alias, library.container_on(handle_of(c), handle_of(stream)), stream, c.dtype, c.ndim, division_of(c))
    run_as(alias, Execution.PAR if c.execution_policy is Execution.ASYNC else c.execution_policy)
    return alias


def _settled(value: Any, ctx: Context, stream: Context, asynchronous: bool) -> Any:
    """Return what an algorithm has made, as the program's context has it."""
    for c in containers_in(value):
        if context_of(c) is stream:
            move_to(c, ctx)
            if asynchronous:
                run_as(c, Execution.ASYNC)
    return value
