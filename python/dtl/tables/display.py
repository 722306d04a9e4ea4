"""What a table shows of itself: its first and last rows, as text and as HTML."""

from __future__ import annotations

import html
from typing import Any, Iterable

import numpy as np

from ..comm.collectives import allgather
from ..runtime.agreement import agree, root_number
from .gathering import gathered
from .rows import Rows, arrow
from .selection import sliced

#: How many rows, columns and characters of a value are shown.
_ROWS, _COLUMNS, _WIDTH = 10, 12, 32
_MORE = "…"


class Shown:
    """The first and last rows of a table of pyarrow, with their numbers, in texts."""

    def __init__(self, table: Any, numbers: Iterable[int], left_out: bool) -> None:
        names = table.column_names
        self.more = len(names) > _COLUMNS
        places = range(len(names))
        places_shown = [*places[: _COLUMNS // 2], *places[-_COLUMNS // 2 :]] if self.more else list(places)
        self.names = [_short(names[i]) for i in places_shown]
        self.kinds = [_short(str(table.schema.types[i])) for i in places_shown]
        self.right = [_is_number(table.schema.types[i]) for i in places_shown]
        self.cells = [_texts(table.column(i)) for i in places_shown]
        self.numbers = [str(number) for number in numbers]
        self.gap = len(self.numbers) - len(self.numbers) // 2 if left_out else -1
        if self.more:
            self._add_gap_between_columns()

    def _add_gap_between_columns(self) -> None:
        place = len(self.names) // 2
        for texts in (self.names, self.kinds):
            texts.insert(place, _MORE)
        self.right.insert(place, False)
        self.cells.insert(place, [_MORE] * len(self.numbers))

    def lines(self) -> list[list[str]]:
        """Return the texts, a list a row: names, types, and rows, with a gap where rows are left out."""
        found = [["", *self.names], ["", *self.kinds]]
        for i, number in enumerate(self.numbers):
            if i == self.gap:
                found.append([_MORE] * (len(self.names) + 1))
            found.append([number, *(column[i] for column in self.cells)])
        return found

    def text(self) -> str:
        """Return lines of text."""
        lines = self.lines()
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        right = [True, *self.right]
        aligned = (
            [cell.rjust(width) if to_right else cell.ljust(width) for cell, width, to_right in zip(line, widths, right)]
            for line in lines
        )
        return "\n".join("  ".join(cells).rstrip() for cells in aligned)

    def html(self) -> str:
        """Return a table of HTML."""
        names, kinds, *rest = [[html.escape(cell) for cell in line] for line in self.lines()]
        head = "".join(f"<th>{name}<br><small>{kind}</small></th>" for name, kind in zip(names, kinds))
        sides = ["right", *("right" if each else "left" for each in self.right)]
        cells = ([f'<td style="text-align:{side}">{cell}</td>' for cell, side in zip(line, sides)] for line in rest)
        body = "".join(f"<tr>{''.join(line)}</tr>" for line in cells)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}{_MORE}"


def _texts(column: Any) -> list[str]:
    """Return values of Arrow's as texts."""
    pa, kind = arrow(), column.type
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):  # of nanoseconds, which Python's types do not have
        values = column.cast(pa.string()).to_pylist()
    elif pa.types.is_duration(kind):
        values = [None if each is None else f"{each} {kind.unit}" for each in column.cast(pa.int64()).to_pylist()]
    else:
        values = [f"{each:.6g}" if isinstance(each, float) else each for each in column.to_pylist()]
    return ["null" if value is None else _short(str(value)) for value in values]


def _is_number(kind: Any) -> bool:
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def ends(total: int) -> tuple[int, int]:
    """Return how many of the first and of the last rows are shown."""
    return (total, 0) if total <= _ROWS else (_ROWS - _ROWS // 2, _ROWS // 2)


def of_rank(rows: Rows) -> Shown:
    """Return the first and last rows of this rank. Not collective."""
    mine, first = rows.length, rows.first
    head, tail = ends(mine)
    table = (
        rows.local if not tail else arrow().concat_tables([rows.local.slice(0, head), rows.local.slice(mine - tail)])
    )
    return Shown(table, [*range(first, first + head), *range(first + mine - tail, first + mine)], tail > 0)


def described(kind: str, rows: Rows) -> str:
    """Return what a table or column says of its rows and of those that this rank holds."""
    ctx, first, mine = rows.context, rows.first, rows.length
    columns = f" x {len(rows.names)} columns" if kind == "Table" else ""
    held = "" if ctx.size == 1 else f" on {ctx.size} ranks; rank {ctx.rank} holds [{first}, {first + mine})"
    return f"dtl.{kind} of {rows.total} rows{columns}{held}"


def show(rows: Rows, op: str, root: Any) -> None:
    """Print the first and last rows of all on root. Collective."""
    number = root_number(rows.context, root)
    agree(rows.context, op, f"root {number}")
    head, tail = ends(rows.total)
    first = gathered(sliced(rows, op, slice(head)), op, number)
    last = gathered(sliced(rows, op, slice(rows.total - tail, None)), op, number)
    if first is not None:
        shown = arrow().concat_tables([first, last])
        numbers = [*range(head), *range(rows.total - tail, rows.total)]
        print(f"<dtl.Table of {rows.total} rows x {len(rows.names)} columns>")
        print(Shown(shown, numbers, tail > 0).text())


def info(rows: Rows, op: str, root: Any) -> None:
    """Print the columns on root, with their types, values that are not null, and bytes. Collective."""
    number = root_number(rows.context, root)
    agree(rows.context, op, f"root {number}")
    mine = [[len(column) - column.null_count, column.nbytes] for column in rows.local.columns]
    found = allgather(rows.context, np.array(mine, np.int64)).sum(axis=0)
    if rows.context.rank != number:
        return
    lines = [["column", "type", "not null", "bytes"]]
    for name, kind, (valid, nbytes) in zip(rows.names, rows.schema.types, found.tolist()):
        lines.append([_short(name), _short(str(kind)), str(valid), str(nbytes)])
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    print(f"<dtl.Table of {rows.total} rows x {len(rows.names)} columns on {rows.context.size} ranks>")
    print(f"rows of the ranks: {list(rows.counts)}")
    for name, kind, valid, nbytes in lines:
        print(f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {valid:>{widths[2]}}  {nbytes:>{widths[3]}}")
