"""The ledger of slow paths: calls of a program for which there is a faster way, and what that is."""

from __future__ import annotations

import threading
from typing import Iterable, Iterator

from .._native import slow_paths as told
from ..runtime.context import Context
from ..runtime.scratch import in_files
from . import timeline
from .advice import ELEMENTS, ONE_BY_ONE, STAGED
from .recording import Recording
from .records import Record, SlowPath, by_seconds
from .trace import records_of

__all__ = ["SlowPath", "SlowPaths", "report", "slow_paths"]

#: So often at least, from one line: a loop.
LOOP = 10
#: At most so many bytes a call, index included: a few elements.
FEW = 128

#: What ends a trace's name of an operation that took elements of a device through the host.
_STAGED = " (staged)"


class SlowPaths(Recording):
    """A ledger of slow paths, as a context manager. ``slow_paths()`` makes one.

    It records while its block runs, and continues if the block is entered again. You can read its records at any time.
    """

    __module__ = "dtl.tracing"

    def __init__(self) -> None:
        super().__init__(max_events=0)
        self._lock = threading.Lock()
        self._told: dict[tuple[str, str, str, int], SlowPath] = {}

    def _begin(self) -> None:
        told.listeners.append(self._add)
        super()._begin()

    def _end(self) -> None:
        super()._end()
        told.listeners.remove(self._add)

    def _add(self, kind: str, operation: str, file: str, line: int, size: int, seconds: float) -> None:
        key = (kind, operation, file, line)
        record = SlowPath(*key, 1, size, seconds)
        with self._lock:
            before = self._told.get(key)
            self._told[key] = record if before is None else before.plus(record)

    def __repr__(self) -> str:
        return f"<dtl.tracing.SlowPaths with {len(self.records)} records, {self._state}>"

    def __str__(self) -> str:
        return report(self.records)

    def __iter__(self) -> Iterator[SlowPath]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def records(self) -> list[SlowPath]:
        """The records of this rank, beginning with those that took the most seconds."""
        with self._lock:
            known = list(self._told.values())
        calls = records_of(self._recorder)
        return by_seconds([*known, *_seen(calls), *_read_again(calls, sum(each() for each in in_files))])

    def sums(self, ctx: Context | None = None) -> list[SlowPath] | None:
        """Return the records of all ranks added up, on rank 0; those with the most seconds first. Collective.

        Parameters
        ----------
        ctx
            The context; None for all ranks that a launcher started together, as for ``dtl.Context()``.

        Returns
        -------
        list of SlowPath
            None on the other ranks. ``dtl.tracing.report`` turns it into a text.
        """
        return timeline.sums(SlowPath, self.records, ctx)


def slow_paths() -> SlowPaths:
    """Return a ledger of slow paths: ``with dtl.slow_paths() as slow:`` records them, and ``print(slow)`` shows them.

    It lists what the block does although a faster way is known: elements read or written one by one in a loop, operands
    of an operator that had to move between ranks, matrices collected on one rank, functions called for each element,
    numbers sent as objects, long lists converted to arrays, and elements of a GPU copied to the host. Each record is a
    :class:`dtl.tracing.SlowPath`. Not collective: each rank has its own records.

    If there are several ledgers at once, each records everything. If there is none, nothing is recorded.

    Examples
    --------
    >>> import dtl, math
    >>> with dtl.Context() as ctx, dtl.slow_paths() as slow:
    ...     vec = dtl.ones(ctx, 100)
    ...     total = 0.0
    ...     for i in range(100):
    ...         total += vec[i]
    ...     dtl.transform(vec, vec, math.sqrt)
    >>> sorted((record.operation, record.times) for record in slow)
    [('getitem', 100), ('transform', 1)]
    """
    return SlowPaths()


def report(records: Iterable[SlowPath]) -> str:
    """Return records as text, in their order: for each, the place, what it is, what it took, and the faster way.

    Parameters
    ----------
    records
        The records, of one rank or summed over ranks.
    """
    lines: list[str] = []
    for record in records:
        often = "once" if record.times == 1 else f"{record.times} times"
        lines.append(f"{record.site}: {record.operation}: {record.kind}")
        lines.append(f"    {often}, {record.bytes} bytes, {record.seconds:.6f} s")
        lines.append(f"    faster: {record.faster}")
    return "\n".join(lines) if lines else "no slow paths"


#: What reads files that are not the memory of containers.
_LOADS = ("load", "restore", "read_")


def _read_again(calls: Iterable[Record], held: int) -> Iterator[SlowPath]:
    """Yield a record of each line that read much from disks, if all read more than twice what the program has there."""
    reading = [call for call in calls if call.read and not call.operation.startswith(_LOADS)]
    if not held or 2 * sum(call.read for call in reading) <= 5 * held:  # twice, and some of what lies around
        return
    for call in reading:
        if call.read >= held // 2:
            yield SlowPath(told.READ_AGAIN, *call[:3], call.calls, call.read, call.seconds)


def _seen(calls: Iterable[Record]) -> Iterator[SlowPath]:
    """Yield a record of each slow path among the calls that were counted."""
    for operation, file, line, count, failed, size, seconds, *_ in calls:
        if operation.endswith(_STAGED):
            yield SlowPath(STAGED, operation[: -len(_STAGED)], file, line, count, size, seconds)
        elif operation in ELEMENTS and count - failed >= LOOP and size <= FEW * (count - failed):
            yield SlowPath(ONE_BY_ONE, operation, file, line, count, size, seconds)
