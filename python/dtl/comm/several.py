"""Waiting for several requests, and starting them."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._native.arguments import listed
from .._native.library import bridge
from ..exceptions import DTLError, InvalidTypeError
from .requests import PersistentRequest, Request

_call = bridge.call


def waitall(requests: Sequence[Request]) -> list[Any]:
    """Wait for every request, and return their results in order (MPI_Waitall).

    Parameters
    ----------
    requests
        Requests, also of different contexts.

    Raises
    ------
    DTLError
        What the first that fails raises, after all are over.
    InvalidTypeError
        If one of them is no request; then nobody waits.

    Notes
    -----
    Not collective.
    """
    results: list[Any] = []
    failed: DTLError | None = None
    for request in _checked(requests):
        try:
            results.append(request.wait())
        except DTLError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return results


def waitany(requests: Sequence[Request]) -> tuple[int | None, Any]:
    """Wait until one of the requests is over, and return which, and its result (MPI_Waitany).

    Parameters
    ----------
    requests
        Requests, also of different contexts. Those whose result somebody has had are passed over, so the same list
        serves until all are over.

    Returns
    -------
    index : int or None
        The request's place; None if the result of all has been had.
    result
        What its wait returns.

    Raises
    ------
    DTLError
        What its wait raises.
    InvalidTypeError
        If one of them is no request.

    Notes
    -----
    Not collective.
    """
    active = [(i, r) for i, r in enumerate(_checked(requests)) if r._active and r._held is not None]
    if not active:
        return None, None
    handles = np.array([r._held._handle for _, r in active if r._held is not None], np.int64)
    place = _call(bridge.WAIT_ANY, active[0][1]._ctx, handles, None, 0, 0, 0, 0)
    index, request = active[max(place, 0)]
    return index, request.wait()


def startall(requests: Sequence[PersistentRequest]) -> None:
    """Start every request (MPI_Startall).

    Raises
    ------
    InvalidArgumentError
        If one has been started, and nobody has waited for it since; those before it are started.
    InvalidTypeError
        If one of them is no persistent request.
    """
    for request in _checked(requests, PersistentRequest):
        request.start()


def _checked(requests: Any, kind: Any = Request) -> list[Any]:
    """Return the requests as a list, all of them of a kind."""
    try:
        several = listed(requests)
    except TypeError:
        raise InvalidTypeError(f"requests must be a sequence, not {type(requests).__name__}") from None
    for i, request in enumerate(several):
        if not isinstance(request, kind):
            raise InvalidTypeError(f"requests[{i}] must be a dtl.{kind.__name__}, not {type(request).__name__}")
    return several
