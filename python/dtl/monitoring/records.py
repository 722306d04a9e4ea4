"""The records of traces and of the ledger of slow paths: calls by operation and call site, and tables of them."""

from __future__ import annotations

import os
from typing import Any, Iterable, NamedTuple, TypeVar

import numpy as np

from .advice import advice


class Record(NamedTuple):
    """The calls of one operation from one line, added up.

    Attributes
    ----------
    operation
        The name of the operation, as in errors.
    file, line
        The call site: the innermost line of the program that is outside of DTL. "" and 0 if there is none.
    calls
        The number of calls, including those that raised.
    failed
        The number of calls that raised.
    bytes
        The bytes of the arrays and scalars that this rank passed to the calls and got back; see ``trace``.
    seconds
        The time in seconds that this rank spent in the calls, including the time that it waited for other ranks.
    read, written
        The bytes that this process has read from disks in the calls, and written: of scratch files, mapped files, files
        that are loaded and saved, and all others. It is the kernel's count: what comes from the page cache is not
        read, and a page that is changed is written. What the program has read between two calls counts for the second.
    """

    operation: str
    file: str
    line: int
    calls: int
    failed: int
    bytes: int
    seconds: float
    read: int = 0
    written: int = 0

    def plus(self, other: Record) -> Record:
        """Return the sum of two records, with the operation and call site of this one."""
        return Record(*self[:3], *(a + b for a, b in zip(self[3:], other[3:])))  # type: ignore[arg-type]

    @property
    def key(self) -> tuple[Any, ...]:
        """What records of the same calls have in common."""
        return self[:3]

    @property
    def site(self) -> str:
        """The call site as ``file:line``. The file is relative to the current folder if it is inside."""
        return _site(self.file, self.line)


class SlowPath(NamedTuple):
    """The calls of one operation from one line for which a faster way is known, added up.

    Attributes
    ----------
    kind
        What is slow, in words.
    operation
        The name of the operation, as in errors.
    file, line
        The call site: the innermost line of the program that is outside of DTL. "" and 0 if there is none.
    times
        How many times it happened.
    bytes
        The bytes of the elements that took the slow path on this rank.
    seconds
        The time in seconds that this rank spent on it, including the time that it waited for other ranks.
    """

    kind: str
    operation: str
    file: str
    line: int
    times: int
    bytes: int
    seconds: float

    def plus(self, other: SlowPath) -> SlowPath:
        """Return the sum of two records, with the kind, operation and call site of this one."""
        return SlowPath(*self[:4], *(a + b for a, b in zip(self[4:], other[4:])))  # type: ignore[arg-type]

    @property
    def key(self) -> tuple[Any, ...]:
        """What records of the same calls have in common."""
        return self[:4]

    @property
    def site(self) -> str:
        """The call site as ``file:line``. The file is relative to the current folder if it is inside."""
        return _site(self.file, self.line)

    @property
    def faster(self) -> str:
        """The faster way."""
        return advice(self.kind, self.operation)


for _kind in (Record, SlowPath):
    _kind.__module__ = "dtl.tracing"

AnyRecord = TypeVar("AnyRecord", Record, SlowPath)


def _site(file: str, line: int) -> str:
    if not file:
        return "?"
    here = os.path.join(os.getcwd(), "")
    name = file[len(here) :] if file.startswith(here) else file
    return f"{name}:{line}"


class Snapshot(NamedTuple):
    """What a trace holds at one moment. The field site of an event is an index into records."""

    records: list[Record]
    events: np.ndarray[Any, Any]
    dropped: int
    started: int


def by_seconds(records: Iterable[AnyRecord]) -> list[AnyRecord]:
    """Return records with the most seconds first."""
    return sorted(records, key=lambda record: -record.seconds)


def table(records: Iterable[Record], dropped: int = 0) -> str:
    """Return a table of records in their order, with their sum.

    Parameters
    ----------
    records
        The records, of one rank or summed over ranks.
    dropped
        The number of calls that the file of ``save`` does not list, which the line below the table states.
    """
    records = list(records)
    whole = Record("total", "", 0, 0, 0, 0, 0.0)
    for record in records:
        whole = whole.plus(record)
    files = bool(whole.read or whole.written)
    head = ("operation", "call site", "calls", "bytes", "seconds", "µs a call", "MB/s")
    cells: list[tuple[str, ...]] = [(*head, "read", "written") if files else head]
    cells += [(record.operation, record.site, *_numbers(record, files)) for record in records]
    cells.append((whole.operation, "", *_numbers(whole, files)))
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = [
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        for row in cells
    ]
    if dropped:
        lines.append(f"{dropped} calls are counted here, but not kept one by one for the file")
    return "\n".join(line.rstrip() for line in lines)


def _numbers(record: Record, files: bool) -> tuple[str, ...]:
    each = record.seconds / record.calls * 1e6 if record.calls else 0.0
    rate = f"{record.bytes / record.seconds * 1e-6:.1f}" if record.bytes and record.seconds else ""
    numbers = str(record.calls), str(record.bytes), f"{record.seconds:.6f}", f"{each:.2f}", rate
    return (*numbers, str(record.read), str(record.written)) if files else numbers
