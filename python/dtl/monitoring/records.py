"""What traces know: calls by operation and call site, and a table of them."""

from __future__ import annotations

import os
from typing import Any, Iterable, NamedTuple

import numpy as np


class Record(NamedTuple):
    """What the calls of one operation from one line came to.

    Attributes
    ----------
    operation
        Its name, as in errors.
    file, line
        The call site: the innermost line of the program that is outside of DTL. "" and 0 where there is none.
    calls
        How many there were, those that raised included.
    failed
        How many raised.
    bytes
        The bytes of the arrays and scalars that this rank gave to the calls and got from them; see trace.
    seconds
        The time that this rank spent in the calls, waiting for other ranks included.
    """

    operation: str
    file: str
    line: int
    calls: int
    failed: int
    bytes: int
    seconds: float

    def plus(self, other: Record) -> Record:
        """Return the record of both records' calls, with this one's operation and call site."""
        return Record(*self[:3], *(a + b for a, b in zip(self[3:], other[3:])))  # type: ignore[arg-type]

    @property
    def site(self) -> str:
        """The call site as ``file:line``, with the file relative to the current folder where it is inside."""
        if not self.file:
            return "?"
        here = os.path.join(os.getcwd(), "")
        name = self.file[len(here) :] if self.file.startswith(here) else self.file
        return f"{name}:{self.line}"


Record.__module__ = "dtl.tracing"


class Snapshot(NamedTuple):
    """What a trace holds at one moment. The field site of an event is an index into records."""

    records: list[Record]
    events: np.ndarray[Any, Any]
    dropped: int
    started: int


def by_seconds(records: Iterable[Record]) -> list[Record]:
    """Return records with the most seconds first."""
    return sorted(records, key=lambda record: -record.seconds)


def table(records: Iterable[Record], dropped: int = 0) -> str:
    """Return a table of records in their order, with their sum.

    Parameters
    ----------
    records
        The records, of one rank or summed over ranks.
    dropped
        How many calls the file of ``save`` lacks, to be said below the table.
    """
    cells: list[tuple[str, ...]] = [("operation", "call site", "calls", "bytes", "seconds", "µs a call", "MB/s")]
    whole = Record("total", "", 0, 0, 0, 0, 0.0)
    for record in records:
        cells.append((record.operation, record.site, *_numbers(record)))
        whole = whole.plus(record)
    cells.append((whole.operation, "", *_numbers(whole)))
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = [
        "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths)))
        for row in cells
    ]
    if dropped:
        lines.append(f"{dropped} calls are counted here, but not kept one by one for the file")
    return "\n".join(line.rstrip() for line in lines)


def _numbers(record: Record) -> tuple[str, ...]:
    each = record.seconds / record.calls * 1e6 if record.calls else 0.0
    rate = f"{record.bytes / record.seconds * 1e-6:.1f}" if record.bytes and record.seconds else ""
    return str(record.calls), str(record.bytes), f"{record.seconds:.6f}", f"{each:.2f}", rate
