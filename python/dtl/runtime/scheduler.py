"""The scheduler: the order of calls on containers, those that return at once with a future and those that block.

An algorithm on a container whose execution policy is EXEC_ASYNC is submitted to a stream, and returns a future. A call
that blocks waits for the asynchronous calls on its containers that were made before it, and keeps its turn on a context
from other threads while it makes several collective calls.
"""

from __future__ import annotations

import functools
from _thread import _local as local  # threading's, which few programs need otherwise
from contextlib import contextmanager
from operator import attrgetter, methodcaller
from types import TracebackType
from typing import Any, Callable, ClassVar, Iterator, TypeVar, cast

from .._lazy import extend
from .._native import library
from .._native.callsite import frame_at, own
from .._native.library import bridge, state
from .._native.objects import Owner, size_of
from ..exceptions import BufferError
from ..policies import Execution
from .agreement import keywords_in_order, name_call, tell

F = TypeVar("F", bound=Callable[..., Any])

#: Looked up once: members of enumerations are slow to get at.
_ASYNC, _SEQ = Execution.ASYNC, Execution.SEQ

#: The future that each thread waits for. The hang monitor tells other ranks of it.
waiting: dict[int, Any] = {}

#: What makes a call with copies on the host where a GPU does not compute it: called(f, args, kwargs) of places.copies.
#: It is here once this process has made a container on a GPU. Before, no call looks for one.
with_device_copies: Callable[..., Any] | None = None

_thread = local()
_wait_until_over = methodcaller("_await", None)


def count(calls: int) -> None:
    """Add to the number of asynchronous calls that are under way. The caller holds the lock of the streams."""
    state.under_way += calls


@contextmanager
def stream_thread() -> Iterator[None]:
    """Mark the calling thread as one that runs an asynchronous call, for the duration of the block."""
    _thread.depth = getattr(_thread, "depth", 0) + 1
    try:
        yield
    finally:
        _thread.depth -= 1


def in_stream() -> bool:
    """Say whether the calling thread runs an asynchronous call."""
    return getattr(_thread, "depth", 0) > 0


def wait_for(*values: Any) -> None:
    """Wait for the asynchronous calls that are under way on the containers in values.

    Every rank submitted them before the call that waits, so they do end. A call that is part of an asynchronous call
    waits for nothing.
    """
    if in_stream():
        return
    for root in roots_of(containers_in(values)):
        last = calls_of(root).last
        if last is not None and not last.done:
            _wait_until_over(last)


def take_turn(op: str, args: Any, kwargs: Any) -> int:
    """Keep other threads from the context of the first container among the arguments, for several collective calls.

    Returns a token for ``bridge.end_turn``, which ends the turn; 0 where there is nothing to end.
    """
    for value in (*args, *kwargs.values()):
        first = value[0] if value.__class__ in (list, tuple) and value else value
        ctx = getattr(first, "_context", None)
        if isinstance(ctx, bridge.Ranks):
            return bridge.take_turn(ctx, op) if size_of(ctx) > 1 else 0
    return 0


def in_one_turn(f: F) -> F:
    """Keep other threads from the context while a function makes several collective calls.

    The context is the first argument, or that after the class.
    """

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        ctx = kwargs.get("ctx", next((each for each in args[:2] if isinstance(each, bridge.Ranks)), None))
        held = bridge.take_turn(ctx, f.__name__) if isinstance(ctx, bridge.Ranks) and size_of(ctx) > 1 else 0
        try:
            return f(*args, **kwargs)
        finally:
            if held:
                bridge.end_turn(held)

    return cast("F", call)


def algorithm(f: F) -> F:
    """Let an algorithm return a future where its first container, or its second, asks for that.

    A call that DTL itself makes is part of another call, and so it always blocks. A call that blocks first waits for
    the asynchronous calls that are under way on its containers. An error on one rank is raised on all, as in every
    ``collective``.
    """
    names = f.__code__.co_varnames[:2]

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _wants_future(args, kwargs, names):
            return defer(f, args, kwargs)
        return call_in_turn(f, args, kwargs)

    return cast("F", call)


def writes(*names: str) -> Callable[[F], F]:
    """Say which parameters of an algorithm are containers that it writes, besides ``out``."""

    def said(f: F) -> F:
        f.__dict__["written"] = names
        return f

    return said


def calls_functions(f: F) -> F:
    """Say that an algorithm calls a function of the user's, with elements on a GPU unless the caller wants copies."""
    f.__dict__["calls_functions"] = True
    return f


def computed_on_devices(f: F) -> F:
    """Say that an algorithm takes containers on a GPU as they are."""
    f.__dict__["computed_on_devices"] = True
    return f


def blocking(f: F) -> F:
    """Let a call of several collective calls do what an algorithm does, but never return a future."""

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return call_in_turn(f, args, kwargs)

    return cast("F", call)


class ShortAlgorithm:
    """An algorithm with the attributes of a function that ``bridge.ShortCall`` reads: its code and its defaults."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)
        self._f = f
        self._names = f.__code__.co_varnames[:2]
        self.__code__ = f.__code__
        self.__defaults__ = f.__defaults__
        self.__kwdefaults__ = f.__kwdefaults__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make the call, or return its future."""
        if _wants_future(args, kwargs, self._names):
            return defer(self._f, args, kwargs)
        return call_in_turn(self._f, args, kwargs)


def short(code: int, places: str, answer: str, fold: int = 0) -> Callable[[F], F]:
    """Let a function be called only where its arguments need preparing; elsewhere C makes the call by itself.

    Places has a word for each parameter, and answer says what comes back: see ``_bridge.ShortCall``. The function has
    to come to the same for arguments that the short way takes.
    """

    def shortened(function: F) -> F:
        prepare = ShortAlgorithm(function) if answer == "folded" else function
        return cast("F", bridge.ShortCall(prepare, code, places, answer, fold))

    return shortened


def call_in_turn(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], op: str = "") -> Any:
    """Make a call that blocks, after the asynchronous calls on its containers and apart from other threads.

    Users know it as op, or by the name of the function.
    """
    if state.under_way:
        wait_for(args, kwargs)
    held = 0
    ctx = getattr(args[0], "_context", None) if args else None
    known = ctx if isinstance(ctx, bridge.Ranks) else None
    if known is None or size_of(known) > 1:
        if len(kwargs) > 1:
            kwargs = keywords_in_order(f, kwargs)
        name = op or f.__name__
        held = take_turn(name, args, kwargs) if known is None else bridge.take_turn(known, name)
    try:
        if with_device_copies is not None:
            return with_device_copies(f, args, kwargs)
        return f(*args, **kwargs)
    except Exception as error:
        name_call(error, (op or f.__name__).strip("_"))
        tell(error, op or f.__name__, (*args, *kwargs.values()))
        raise
    finally:
        if held:
            bridge.end_turn(held)


def _wants_future(args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, ...]) -> bool:
    """Say whether one of the first two arguments, of these parameters, is a container of policy EXEC_ASYNC."""
    count = len(args)
    first = args[0] if count else kwargs.get(names[0])
    if first.__class__ in (list, tuple) and first:
        first = first[0]
    if getattr(first, "_execution", None) is _ASYNC:
        return True
    second = args[1] if count > 1 else kwargs.get(names[1]) if kwargs and len(names) > 1 else None
    return getattr(second, "_execution", None) is _ASYNC


def defer(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], depth: int = 2, name: str = "") -> Any:
    """Return the future of a call that the program makes, or the result of one that DTL makes."""
    if own(frame_at(depth)):
        if state.under_way:
            wait_for(args, kwargs)
        return f(*args, **kwargs) if with_device_copies is None else with_device_copies(f, args, kwargs)
    if with_device_copies is not None:
        return Deferrable.__dtl_submit__(name or f.__name__, with_device_copies, f, args, keywords_in_order(f, kwargs))
    return Deferrable.__dtl_submit__(name or f.__name__, f, *args, **keywords_in_order(f, kwargs))


class AsyncCalls:
    """Of the asynchronous calls on a container: their stream, the last of them, and how many are under way."""

    __slots__ = ("in_flight", "last", "stream")

    def __init__(self) -> None:
        self.stream: int | None = None
        self.last: Any = None
        self.in_flight = 0


def calls_of(c: Any) -> AsyncCalls:
    """Return the asynchronous calls on a container that owns its elements."""
    calls: AsyncCalls = c.__dict__.get("_calls") or c.__dict__.setdefault("_calls", AsyncCalls())
    return calls


class Deferrable(bridge.Container, Owner):
    """What asynchronous calls need of a container: its stream, its last call, and how many are under way."""

    _execution = Execution.PAR

    #: Returns the future of a call f(*args, **kwargs) that users know as op, from (op, f, *args, **kwargs). What is
    #: asynchronous, and what computes, is in packages above this one: ``protocol`` gives this method, and the next.
    __dtl_submit__: ClassVar[Callable[..., Any]]

    #: Combines the elements of the container by an operator, from (c, op): what ``dtl.reduce`` does of a container.
    __dtl_reduce__: ClassVar[Callable[..., Any]]

    #: The type as which the core moves elements that it does not compute with; None where it does. Short calls, which
    #: do not look at it, are not for those.
    _carrier: Any = None

    #: The asynchronous calls on the container; None where there have been none.
    _calls: AsyncCalls | None = None

    def _run_as(self, execution: Execution) -> None:
        """Set the execution policy."""
        sequential = execution is _SEQ
        if sequential is not (self._execution is _SEQ):
            library.container_sequential(self._handle, sequential)
            self._is_quick = self._is_quick and not sequential  # what is made of it is sequential, too
        self._execution = execution
        self._deferred = execution is _ASYNC or self._carrier is not None

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
        calls = self._calls
        if calls is not None and calls.in_flight and not library.forked():
            last = calls.last
            if wait and last is not None:
                last.wait()
            else:
                self._check_idle("close")
        self._close_native()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None or self._calls is None or not self._calls.in_flight:  # else it goes when the calls are over
            self.close()

    def _check_open(self) -> None:
        """Refuse a container that was closed on this rank. The core cannot: it knows no handle of it any more."""
        if not self._is_open:
            raise library.closed("container")

    def _check_idle(self, op: str) -> None:
        """Refuse a container that is closed, or of which asynchronous calls are under way."""
        self._check_open()
        if self._calls is not None:
            refuse(op, self._calls.in_flight)


#: Returns the container that owns the elements: itself, unless it is a span.
root_of: Callable[[Any], Any] = methodcaller("_root")

#: The execution policy.
execution_of: Callable[[Any], Execution] = attrgetter("_execution")

#: How many levels of tuples, lists and dictionaries are searched for containers.
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
        root = root_of(c)
        if all(root is not other for other in roots):
            roots.append(root)
    return roots


def refuse(op: str, in_flight: int) -> None:
    """Raise BufferError if asynchronous calls are under way."""
    if in_flight:
        what = "1 asynchronous call is" if in_flight == 1 else f"{in_flight} asynchronous calls are"
        raise BufferError(f"{op}: {what} under way; get their futures first")


extend(Deferrable)
