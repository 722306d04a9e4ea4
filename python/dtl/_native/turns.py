"""The turn of calls that block: after asynchronous calls on their containers, and not amid another thread's call."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable, TypeVar, cast

from .library import bridge

F = TypeVar("F", bound=Callable[..., Any])

#: How many asynchronous calls of the process are under way.
under_way = 0


def count(calls: int) -> None:
    """Count asynchronous calls that begin, or that end. For one thread at a time."""
    global under_way
    under_way += calls
    bridge.under_way(under_way > 0)


def take(*values: Any) -> None:
    """Wait for the asynchronous calls that are under way on the containers in values.

    All ranks have made these before the call that waits, so they end. What an asynchronous call itself calls waits for
    none: it is part of it.
    """
    streams: Any = importlib.import_module("dtl.asynchronous.streams")  # there already, as is the other
    if streams.in_stream():
        return
    submitting: Any = importlib.import_module("dtl.asynchronous.submit")
    for root in submitting.roots_of(submitting.containers_in(values)):
        last = root._last
        if last is not None and not last.done:
            last._await(None)


def hold(op: str, args: Any, kwargs: Any) -> int:
    """Take the turn on the context of the first container among the arguments, for a call of several collective calls.

    Returns what ``bridge.let_go`` ends; 0 where there is nothing to end.
    """
    for value in (*args, *kwargs.values()):
        first = value[0] if value.__class__ in (list, tuple) and value else value
        ctx = getattr(first, "_context", None)
        if isinstance(ctx, bridge.Ranks):
            return bridge.hold(ctx, op) if ctx._size > 1 else 0
    return 0


def whole(f: F) -> F:
    """Keep the turn on a context, the first argument, for a function that makes several collective calls."""

    @functools.wraps(f)
    def call(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        held = bridge.hold(ctx, f.__name__) if isinstance(ctx, bridge.Ranks) and ctx._size > 1 else 0
        try:
            return f(ctx, *args, **kwargs)
        finally:
            if held:
                bridge.let_go(held)

    return cast("F", call)
