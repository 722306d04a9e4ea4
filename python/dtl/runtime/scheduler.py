"""The scheduler: the order of calls on containers, those that return at once with a future and those that block.

An algorithm on a container whose execution policy is EXEC_ASYNC is submitted to a stream, and returns a future. A call
that blocks waits for the asynchronous calls on its containers that were made before it, and keeps its turn on a context
from other threads while it makes several collective calls.
"""

from __future__ import annotations

import functools
import sys
from _thread import _local as local  # threading's, which few programs need otherwise
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Callable, Iterator, TypeVar, cast

from .._lazy import submitted
from .._native import library, threads
from .._native.callsite import own
from .._native.library import bridge, state
from .._native.objects import Owner
from ..exceptions import BufferError
from ..policies import Execution
from .agreement import keywords_in_order, tell

F = TypeVar("F", bound=Callable[..., Any])

_ASYNC = Execution.ASYNC

#: The future that each thread waits for, for those who ask where this process is.
waiting: dict[int, Any] = {}

_thread = local()


def count(calls: int) -> None:
    """Count asynchronous calls that begin, or that end. For one thread at a time."""
    state.under_way += calls


@contextmanager
def stream_thread() -> Iterator[None]:
    """Mark what the calling thread does as an asynchronous call's."""
    _thread.depth = getattr(_thread, "depth", 0) + 1
    try:
        yield
    finally:
        _thread.depth -= 1


def in_stream() -> bool:
    """Say whether the calling thread is in an asynchronous call."""
    return getattr(_thread, "depth", 0) > 0


def wait_for(*values: Any) -> None:
    """Wait for the asynchronous calls that are under way on the containers in values.

    All ranks have made these before the call that waits, so they end. What an asynchronous call itself calls waits for
    none: it is part of it.
    """
    if in_stream():
        return
    for root in roots_of(containers_in(values)):
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


def algorithm(f: F) -> F:
    """Let an algorithm return a future where its first container, or its second, asks for that.

    DTL's own calls are answered at once: they are parts of others. A call that blocks waits for asynchronous ones that
    are under way on its containers. What fails on one rank raises on all, as in every ``collective``.
    """
    names = f.__code__.co_varnames[:2]

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _asked(args, kwargs, names):
            return defer(f, args, kwargs)
        return _at_once(f, args, kwargs)

    return cast("F", call)


class ShortAlgorithm:
    """An algorithm behind a short way, which reads its parameters."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)
        self._f = f
        self._names = f.__code__.co_varnames[:2]
        self.__code__ = f.__code__
        self.__defaults__ = f.__defaults__
        self.__kwdefaults__ = f.__kwdefaults__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make the call, or return its future."""
        if _asked(args, kwargs, self._names):
            return defer(self._f, args, kwargs)
        return _at_once(self._f, args, kwargs)


def _at_once(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a call that blocks, in its turn."""
    if state.under_way:
        wait_for(args, kwargs)
    kwargs = keywords_in_order(f, kwargs)
    held = hold(f.__name__, args, kwargs)
    try:
        return f(*args, **kwargs)
    except Exception as error:
        tell(error, f.__name__, (*args, *kwargs.values()))
        raise
    finally:
        if held:
            bridge.let_go(held)


def _asked(args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, ...]) -> bool:
    """Say whether the first two arguments, which have names, ask for a future."""
    if kwargs and len(args) < 2:
        args = (*args, *[kwargs.get(name) for name in names[len(args) :]])
    if not args:
        return False
    first = args[0]
    if first.__class__ in (list, tuple) and first:
        first = first[0]
    if getattr(first, "_execution", None) is _ASYNC:
        return True
    return len(args) > 1 and getattr(args[1], "_execution", None) is _ASYNC


def defer(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], depth: int = 2, name: str = "") -> Any:
    """Return the future of a call that the program makes, or the result of one that DTL makes."""
    if own(sys._getframe(depth)):
        if state.under_way:
            wait_for(args, kwargs)
        return f(*args, **kwargs)
    return submitted(name or f.__name__, f, *args, **keywords_in_order(f, kwargs))


class Deferrable(Owner):
    """A container, as asynchronous calls see it."""

    _execution = Execution.SEQ

    # Of asynchronous calls: the stream that makes them, the last of them, and how many are under way.
    _stream: int | None = None
    _last: Any = None
    _flying = 0

    def _run_as(self, execution: Execution) -> None:
        """Take an execution policy."""
        parallel = execution is Execution.PAR
        if parallel is not (self._execution is Execution.PAR):
            if parallel:
                threads.get_num_threads()  # which tells the core how many
            library.container_parallel(self._handle, parallel)
        self._execution = execution
        self._deferred = execution is Execution.ASYNC

    def close(self, *, wait: bool = False) -> None:
        """Let the elements go. Not collective. A second call does nothing. Views stay.

        Parameters
        ----------
        wait
            Whether to wait for asynchronous calls on the container that are under way.

        Raises
        ------
        BufferError
            If there are any, without wait.
        """
        if self._flying and not library.forked():
            last = self._last
            if wait and last is not None:
                last.wait()
            else:
                self._check_idle("close")
        super().close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None or not self._flying:  # else it goes when the calls are over
            self.close()

    def _check_open(self) -> None:
        """Refuse a container that was closed on this rank: the core has nothing to agree about with the others."""
        if not self._handle:
            raise library.closed("container")

    def _check_idle(self, op: str) -> None:
        """Refuse a container that is closed, or of which asynchronous calls are under way."""
        self._check_open()
        if self._flying:
            refuse(op, self._flying)


#: How deep containers lie in what an algorithm takes: in a sequence, say, that is one of its arguments.
DEPTH = 4


def containers_in(value: Any, depth: int = DEPTH) -> list[Any]:
    """Return the containers in a value, which may lie in tuples, lists and dictionaries."""
    if isinstance(value, Deferrable):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)) and depth:
        return [c for item in value for c in containers_in(item, depth - 1)]
    return []


def roots_of(containers: list[Any]) -> list[Any]:
    """Return the containers that own the elements, each once."""
    roots: list[Any] = []
    for c in containers:
        root = c._root()
        if all(root is not other for other in roots):
            roots.append(root)
    return roots


def refuse(op: str, flying: int) -> None:
    """Refuse what cannot be done while so many calls are under way."""
    if flying:
        what = "1 asynchronous call is" if flying == 1 else f"{flying} asynchronous calls are"
        raise BufferError(f"{op}: {what} under way; get their futures first")
