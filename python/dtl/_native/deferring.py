"""Algorithms that return futures where a container's execution policy is EXEC_ASYNC."""

from __future__ import annotations

import functools
import importlib
import sys
from types import TracebackType
from typing import Any, Callable, TypeVar, cast

from ..policies import Execution
from ..runtime.agreement import in_order, tell
from . import library, turns
from .callsite import own
from .objects import Owner

F = TypeVar("F", bound=Callable[..., Any])

_ASYNC = Execution.ASYNC


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


class Short:
    """An algorithm behind a short way, which reads its parameters."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)
        self._f = f
        self._names = f.__code__.co_varnames[:2]
        self.__code__ = f.__code__
        self.__defaults__ = f.__defaults__
        self.__kwdefaults__ = f.__kwdefaults__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _asked(args, kwargs, self._names):
            return defer(self._f, args, kwargs)
        return _at_once(self._f, args, kwargs)


def _at_once(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a call that blocks, in its turn."""
    if turns.under_way:
        turns.take(args, kwargs)
    held = turns.hold(f.__name__, args, kwargs)
    try:
        return f(*args, **kwargs)
    except Exception as error:
        tell(error, f.__name__, in_order(f, args, kwargs))
        raise
    finally:
        if held:
            library.bridge.let_go(held)


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
        if turns.under_way:
            turns.take(args, kwargs)
        return f(*args, **kwargs)
    submitting: Any = importlib.import_module("dtl.asynchronous.submit")  # which few programs need
    return submitting.submitted(name or f.__name__, f, *args, **kwargs)


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
                importlib.import_module("dtl._native.threads").get_num_threads()  # which tells the core how many
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
            streams: Any = importlib.import_module("dtl.asynchronous.streams")
            streams.refuse(op, self._flying)
