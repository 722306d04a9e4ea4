"""Requests stand for messages and collectives that are under way; functions that wait for several of them."""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock
from typing import Any, Callable, Sequence

import numpy as np

from .._native.arguments import listed
from .._native.callsite import caller, frame_at, warn
from .._native.library import bridge, closed
from .._native.objects import handle_of
from ..exceptions import BufferError, DTLError, InvalidArgumentError, InvalidTypeError
from ..runtime import detached
from ..runtime.context import Context

_call, _pends = bridge.call, bridge.pends
_UNDER_WAY = False, None
_WAIT, _TEST, _CANCEL, _START = bridge.WAIT, bridge.TEST, bridge.CANCEL, bridge.START


class Request:
    """A message or collective that is under way. isend, irecv, iallreduce and similar calls return it.

    Until it is complete, its buffers (the data that is sent, and ``out``) belong to the operation: do not change the
    data, do not use ``out``, and do not resize either. If you drop a request before it is complete, you get a
    ResourceWarning that names the line where it was made; the operation goes on, and keeps its buffers until it is
    complete.

    Any thread may wait for a request or test it.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     sent = dtl.isend(ctx, np.arange(3), dest=ctx.rank)
    ...     received = dtl.irecv(ctx, source=ctx.rank)
    ...     received.wait()
    ...     sent.wait()
    array([0, 1, 2])
    """

    __module__ = "dtl"

    _held: bridge.PendingCall | None = None
    _answer: tuple[bool, Any] | None = None  # what test returns once the operation is over

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise InvalidTypeError("requests are made by dtl.isend, dtl.irecv, dtl.iallreduce and their like")

    def __dtl_future__(self) -> Any:
        from .request_futures import RequestFuture  # which few programs need

        return RequestFuture(self)

    def _begin(self, ctx: Context, op: str, held: bridge.PendingCall, give: Callable[[Any], Any]) -> None:
        self._ctx = ctx
        self._op = op
        self._give = give  # turns what the bridge returns into the result
        self._lock = allocate_lock()
        self._active = True
        self._cancelled = False
        self._result: Any = None
        self._error: BaseException | None = None
        frame = caller(frame_at(2))
        self._where = ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        self._held = held

    def _then(self, give: Callable[[Any], Any]) -> None:
        """Have a function make the result of what would be it. Called before anybody else has the request."""
        before = self._give
        self._give = lambda result: give(before(result))

    def _under_way(self) -> tuple[Context, int] | None:
        """Return the context and the handle of an operation that is under way."""
        return (self._ctx, handle_of(self._held)) if self._active and self._held is not None else None

    def _ask(self, code: int) -> Any:
        if self._held is None:
            raise closed("request")
        return _call(code, self._held, None, None, 0, 0, 0, 0)

    def wait(self) -> Any:
        """Wait until the operation is complete, and return its result. Not collective.

        The result is what was received, or None for a send. A second call returns the same result. While one request is
        waited for, all others make progress too.

        Raises
        ------
        InvalidArgumentError
            If the message does not match dtype, count or out of irecv. It can still be received.
        CollectiveMismatchError
            If other ranks have started another collective, or the same one with other arguments.
        CommunicationError
            If the operation fails, or if no other rank exists that could complete it.
        """
        with self._lock:
            return self._collect()

    def _collect(self) -> Any:
        """Return the result of an operation that is complete, or raise its error. The caller holds the lock."""
        if self._active:
            try:
                result = self._ask(_WAIT)
            except BaseException as error:
                if not self._ask(_TEST):
                    raise  # the wait was ended, not the operation
                self._end(None, error)
            else:
                self._end(None if self._cancelled else self._give(result), None)
        if self._error is not None:
            raise self._error
        return self._result

    def _end(self, result: Any, error: BaseException | None) -> None:
        self._result, self._error, self._active = result, error, False
        self._held = None
        if error is None:
            self._answer = True, result

    def test(self) -> tuple[bool, Any]:
        """Return whether the operation is complete, and its result if it is, without waiting.

        Returns
        -------
        done : bool
            Whether the operation is complete. Also False while another thread waits for it.
        result
            What ``wait`` returns; None if the operation is not complete.

        Raises
        ------
        DTLError
            What ``wait`` raises, if the operation is complete and has failed.
        """
        # Programs poll, so the usual answers take no lock. While another thread waits, the core answers that it is not
        # over.
        if (answer := self._answer) is not None:
            return answer
        if _pends(self._held):
            return _UNDER_WAY
        if self._active and (held := self._held) is not None and not _call(_TEST, held, None, None, 0, 0, 0, 0):
            return False, None
        if not self._lock.acquire(False):
            return False, None
        try:
            if self._active and not self._ask(_TEST):
                return False, None
            return True, self._collect()
        finally:
            self._lock.release()

    @property
    def done(self) -> bool:
        """Whether the operation is complete, so that ``wait`` returns or raises at once."""
        if _pends(self._held):
            return False
        if not self._active:
            return True
        if not self._lock.acquire(False):
            return False
        try:
            return not self._active or bool(self._ask(_TEST))
        finally:
            self._lock.release()

    def cancel(self) -> bool:
        """Cancel a receive for which no message has arrived, and return whether it was cancelled.

        A cancelled request is complete, and its result is None. Sends and collectives cannot be cancelled: the call
        returns False, and they go on.
        """
        if not self._lock.acquire(False):
            return False  # a thread waits for it
        try:
            if not self._active or not self._ask(_CANCEL):
                return False
            self._cancelled = True
            self._collect()
            return True
        finally:
            self._lock.release()

    @property
    def cancelled(self) -> bool:
        """Whether the request was cancelled."""
        return self._cancelled

    def __repr__(self) -> str:
        state = "cancelled" if self._cancelled else "active" if self._active else "over"
        return f"<dtl.{type(self).__name__} of {self._op}, {state}>"

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"{self!r} cannot be copied or pickled: it stands for one operation of this process")

    # At the interpreter's end modules are cleared first, so the defaults hold what is called. A request that is under
    # way then keeps its buffers until the process ends.
    def __del__(
        self,
        warn: Callable[..., None] = warn,
        keep: Callable[[bridge.PendingCall], None] = detached.keep,
        finalizing: Callable[[], bool] = sys.is_finalizing,
    ) -> None:
        if self._held is None or not self._active or finalizing():
            return
        try:
            over = self._ask(_TEST)
        except DTLError:  # in a forked child
            return
        if not over:
            keep(self._held)
            file, line = self._where
            text = f"{self!r} made at {os.path.basename(file)}:{line} was dropped; its buffers stay until it is over"
            warn(text, ResourceWarning, self)


class PersistentRequest(Request):
    """A message that can be sent or received many times. send_init and recv_init return it.

    ``start()`` starts the operation. ``wait()``, or a ``test()`` that returns True, completes it; then it can be
    started again. The request keeps its buffers until it is closed or dropped.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx:
    ...     data, out = np.zeros(3), np.zeros(3)
    ...     send, receive = dtl.send_init(ctx, data, dest=ctx.rank), dtl.recv_init(ctx, source=ctx.rank, out=out)
    ...     for step in range(3):
    ...         data[:] = step
    ...         dtl.startall([receive, send])
    ...         sums = dtl.waitall([receive, send])[0].sum()
    ...     float(sums)
    6.0
    """

    __module__ = "dtl"

    # Called before each start, to copy data that is not sent from where it lies.
    _before: Callable[[], Any] | None = None

    def _make_ready(
        self,
        ctx: Context,
        op: str,
        held: bridge.PendingCall,
        give: Callable[[Any], Any],
        before: Callable[[], Any] | None,
    ) -> None:
        self._begin(ctx, op, held, give)
        self._active, self._before = False, before

    def start(self) -> None:
        """Start the operation.

        Raises
        ------
        InvalidArgumentError
            If it has been started before, and has not been waited for since.
        InvalidHandleError
            If the request or its context is closed.
        """
        if not self._acquire():
            raise InvalidArgumentError(f"start: {self!r} has been started already, and a thread waits for it")
        try:
            if self._before is not None and not self._active and self._held is not None:
                self._before()
            self._ask(_START)
            self._active, self._cancelled, self._error, self._result = True, False, None, None
            self._answer = None
        finally:
            self._lock.release()

    def _end(self, result: Any, error: BaseException | None) -> None:
        self._result, self._error, self._active = result, error, False
        if error is None:
            self._answer = True, result

    def close(self) -> None:
        """Release the buffers. Closing twice does nothing.

        Raises
        ------
        BufferError
            If the operation is under way.
        """
        if not self._acquire():
            raise BufferError(f"{self!r} is under way, and a thread waits for it")
        try:
            if self._active and not self._ask(_TEST):
                raise BufferError(f"{self!r} is under way; wait for it first, or cancel it")
            self._active, self._held = False, None
        finally:
            self._lock.release()

    def _acquire(self) -> bool:
        """Take the lock, and return whether that is done: a thread that waits keeps it until the operation is over."""
        return self._lock.acquire(False) or (not self._active and self._lock.acquire())


#: Has a function make the result of what would be it, from (request, give). Before anybody else has the request.
then = Request._then

_begin = Request._begin
_make_ready = PersistentRequest._make_ready


def new_request(ctx: Context, op: str, held: Any, give: Callable[[Any], Any] = lambda result: None) -> Request:
    """Return the request of what the bridge has started. Give makes its result of what the bridge returns."""
    detached.settle()
    request = Request.__new__(Request)
    _begin(request, ctx, op, held, give)
    return request


def new_persistent_request(
    ctx: Context,
    op: str,
    held: Any,
    give: Callable[[Any], Any] = lambda result: None,
    before: Callable[[], Any] | None = None,
) -> PersistentRequest:
    """Return the request of what the bridge is ready to start. Before each start, before is called."""
    detached.settle()
    request = PersistentRequest.__new__(PersistentRequest)
    _make_ready(request, ctx, op, held, give, before)
    return request


def waitall(requests: Sequence[Request]) -> list[Any]:
    """Wait for every request, and return their results in the same order (MPI_Waitall). Not collective.

    Parameters
    ----------
    requests
        Requests. They may belong to different contexts.

    Returns
    -------
    list
        The result of each request.

    Raises
    ------
    DTLError
        If requests fail: after all are complete, the error of the first of these in the list.
    InvalidTypeError
        If an element of the list is not a request. In that case, none is waited for.
    """
    results: list[Any] = []
    failed: DTLError | None = None
    for request in _as_list(requests):
        try:
            results.append(request.wait())
        except DTLError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return results


def waitany(requests: Sequence[Request]) -> tuple[int | None, Any]:
    """Wait until one of the requests is complete, and return its index and result (MPI_Waitany). Not collective.

    Parameters
    ----------
    requests
        Requests. They may belong to different contexts. Requests whose result has already been returned are skipped, so
        you can pass the same list until all are complete.

    Returns
    -------
    index : int or None
        The index of the request in the list; None if all of them have been returned.
    result
        The request's result.

    Raises
    ------
    DTLError
        The error of the request, if it has failed.
    InvalidTypeError
        If an element of the list is not a request.
    """
    given = [(i, r, r._under_way()) for i, r in enumerate(_as_list(requests))]
    active = [(i, r, *where) for i, r, where in given if where is not None]
    if not active:
        return None, None
    handles = np.array([handle for *_, handle in active], np.int64)
    place = _call(bridge.WAIT_ANY, active[0][2], handles, None, 0, 0, 0, 0)
    index, request, *_ = active[max(place, 0)]
    return index, request.wait()


def startall(requests: Sequence[PersistentRequest]) -> None:
    """Start every request (MPI_Startall). Not collective.

    Raises
    ------
    InvalidArgumentError
        If a request has been started before, and has not been waited for since. Those before it in the list are
        started.
    InvalidTypeError
        If an element of the list is not a persistent request.
    """
    for request in _as_list(requests, PersistentRequest):
        request.start()


def _as_list(requests: Any, kind: Any = Request) -> list[Any]:
    """Return the requests as a list, all of them of a kind."""
    try:
        several = listed(requests)
    except TypeError:
        raise InvalidTypeError(f"requests must be a sequence, not {type(requests).__name__}") from None
    for i, request in enumerate(several):
        if not isinstance(request, kind):
            raise InvalidTypeError(f"requests[{i}] must be a dtl.{kind.__name__}, not {type(request).__name__}")
    return several
