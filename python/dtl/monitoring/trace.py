"""Traces: which calls a program makes, from where, and what they cost."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Iterator

import numpy as np

from .._native.arguments import integer
from .._native.callsite import PACKAGE
from .._native.library import bridge
from .._native.threads import get_num_threads
from ..exceptions import BoundsError
from ..runtime.context import Context
from . import timeline
from .recording import Recording
from .records import Record, Snapshot, by_seconds, table

__all__ = ["Record", "Trace", "table", "trace"]

#: Nobody looks for a call site in these: what they do, they do for the line that called them.
_INSIDE = (
    PACKAGE,
    os.path.dirname(np.__file__) + os.sep,
    contextlib.__file__,
    "<__array_function__",  # NumPy before 1.25
)
bridge.outside(_INSIDE)

#: A call by itself, as the recorder keeps it.
_EVENT = np.dtype(
    [("start", "i8"), ("duration", "i8"), ("bytes", "i8"), ("thread", "u8"), ("site", "i4"), ("failed", "i4")]
)


class Trace(Recording):
    """Counts calls, bytes and seconds by operation and call site, as a context manager. ``trace()`` makes one.

    It counts while its block runs, and continues if the block is entered again. You can read its records at any time.
    """

    __module__ = "dtl.tracing"

    def __init__(self, max_events: int) -> None:
        super().__init__(max_events)
        self._started = 0

    def _begin(self) -> None:
        if not self._started:
            self._started = time.monotonic_ns()
        super()._begin()

    def __repr__(self) -> str:
        return f"<dtl.tracing.Trace of {sum(record.calls for record in self)} calls, {self._state}>"

    def __str__(self) -> str:
        return self.table()

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @property
    def records(self) -> list[Record]:
        """The records of this rank, beginning with those that took the most seconds."""
        return by_seconds(records_of(self._recorder))

    @property
    def dropped(self) -> int:
        """The number of calls that the records count, but that the file written by ``save`` does not list."""
        return self._recorder.dropped

    @property
    def threads(self) -> int:
        """On how many threads a call of this rank computes at most, unless its container has EXEC_SEQ."""
        return get_num_threads()

    def table(self) -> str:
        """Return this rank's records as a table, beginning with those that took the most seconds. Not collective."""
        return table(self.records, self.dropped)

    def sums(self, ctx: Context | None = None) -> list[Record] | None:
        """Return the records of all ranks added up, on rank 0; those with the most seconds first. Collective.

        Parameters
        ----------
        ctx
            The context; None for all ranks that a launcher started together, as for ``dtl.Context()``.

        Returns
        -------
        list of Record
            None on the other ranks. ``dtl.tracing.table`` turns it into a table.
        """
        return timeline.sums(Record, self.records, ctx)

    def save(self, path: str | os.PathLike[str], ctx: Context | None = None) -> None:
        """Write every call of all ranks to a file that ui.perfetto.dev and chrome://tracing can show. Collective.

        The file is JSON in the Trace Event Format, with a process for each rank, and in it a track for each thread.
        Rank 0 writes the ranks one after the other, so it never holds all calls in memory.

        Times are those of rank 0's clock. The ranks on its machine use the same clock. For each other rank, the
        difference of the clocks is measured by ten small messages to the rank and back, of which the fastest counts.
        The rank's label in the file states the difference, and its largest error: half of the time of that message.

        Parameters
        ----------
        path
            The file to write. That of rank 0 counts. If it exists, it is replaced when the new one is on the disk.
        ctx
            The context; None for all ranks that a launcher started together, as for ``dtl.Context()``.

        Raises
        ------
        FileError
            If the file cannot be written. On every rank. An old file of that name is as it was.
        """
        timeline.save(self._snapshot(), path, ctx)

    def _snapshot(self) -> Snapshot:
        events = np.frombuffer(self._recorder.events(), _EVENT)
        return Snapshot(
            records_of(self._recorder), events, self._recorder.dropped, self._started or time.monotonic_ns()
        )


def trace(*, max_events: int = 100_000) -> Trace:
    """Return a trace: ``with dtl.trace() as t:`` counts what the block calls, and ``print(t)`` shows it.

    It counts the calls of all threads of this rank that communicate, or that make or read a container: those that move
    elements, and also ``dup``, ``split`` and similar ones. One expression may make several calls. If there are several
    traces at once, even one within another, each counts all calls.

    The bytes of a call are those of the arrays and scalars that this rank passes and gets back, index arrays and
    ``out`` included: ``allreduce`` of 1000 float64 counts 16000. This is not what went through the network. A local
    view counts no bytes, and neither does a call that raises. What was read from disks and written to them is counted
    apart, as the kernel counts it.

    Parameters
    ----------
    max_events
        How many calls to keep one by one for ``save``, at 40 bytes each. Later calls are counted, but not kept.

    Raises
    ------
    BoundsError
        If max_events is negative, or more than 2**40.

    Examples
    --------
    >>> import dtl, numpy as np
    >>> with dtl.Context() as ctx, dtl.trace() as t:
    ...     for _ in range(3):
    ...         _ = dtl.allreduce(ctx, np.ones(1000))
    >>> [(r.operation, r.calls, r.bytes) for r in t]
    [('allreduce', 3, 48000)]
    """
    number = integer("max_events", max_events)
    if not 0 <= number <= 2**40:
        raise BoundsError(f"max_events {number} outside [0, 2**40]")
    return Trace(number)


def records_of(recorder: bridge.Recorder) -> list[Record]:
    """Return what a recorder has counted."""
    return [
        Record(operation, file or "", line, calls, failed, size, nanoseconds * 1e-9, read, written)
        for operation, file, line, calls, failed, size, nanoseconds, _, read, written in recorder.totals()
    ]
