"""The turn of calls that block, on containers that asynchronous calls use: after these."""

from __future__ import annotations

import importlib
from typing import Any

from ._native import bridge

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
    streams: Any = importlib.import_module("dtl._streams")  # there already, as is the other
    if streams.in_stream():
        return
    submitting: Any = importlib.import_module("dtl._submitting")
    for root in submitting.roots_of(submitting.containers_in(values)):
        last = root._last
        if last is not None and not last.done:
            last._await(None)
