"""The order of rows that are more than may be in memory: sorted runs on disk, which are merged by ranges of keys."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

from ..comm.objects import allgather_object
from ..runtime.agreement import local_step
from ..runtime.context import Context
from .exchange import sent
from .moves import is_explained, moving
from .on_disk import Spool, piece_rows, release, share_of_memory
from .rows import Rows, arrow
from .splitters import cuts_of_runs


def is_larger(rows: Rows) -> bool:
    """Say whether a rank has more rows than it may have in memory at a time. Collective, if there is a limit."""
    return share_of_memory() is not None and any(allgather_object(rows.context, piece_rows(rows) < rows.length))


class Runs:
    """Sorted tables of this rank's rows, which are put together to one. Both are on disk. Not collective.

    Parameters
    ----------
    ctx, op
        The ranks, and the name of the call that errors show.
    in_order
        What returns the rows of a table in order.
    keys, ascending, nulls_first
        The order of the rows, in which no two are alike.
    """

    def __init__(
        self,
        ctx: Context,
        op: str,
        in_order: Callable[[Any], Any],
        keys: Sequence[str],
        ascending: Sequence[bool],
        nulls_first: bool,
    ) -> None:
        self._context, self._op, self._in_order = ctx, op, in_order
        self._keys, self._ascending, self._nulls_first = keys, ascending, nulls_first
        self._spool = Spool(ctx, op)
        self._runs: list[Any] = []

    def add(self, table: Any) -> None:
        """Sort some rows, and write them."""
        self._runs.append(self._spool.held(self._in_order(table)))

    def merged(self, size: int) -> Any:
        """Return the rows of all runs in order, of which so many are in memory at a time: one range after the other."""
        runs = [run for run in self._runs if len(run)]
        if len(runs) < 2:
            return (runs or self._runs)[0]
        keys = [run.select(self._keys) for run in runs]
        ranges = -(-sum(map(len, runs)) // size)
        cuts = cuts_of_runs(keys, ranges, self._ascending, self._nulls_first)
        spool, found = Spool(self._context, self._op), []
        for number in range(ranges):
            release()
            parts = [run.slice(cut[number], cut[number + 1] - cut[number]) for run, cut in zip(runs, cuts)]
            found.append(spool.held(self._in_order(arrow().concat_tables(parts).unify_dictionaries())))
        return arrow().concat_tables(found)


def sent_in_pieces(ctx: Context, op: str, table: Any, bounds: Sequence[int], size: int, what: str) -> Iterator[Any]:
    """Yield the rows that arrive, at most about so many at a time, once at least. Each step is collective.

    Parameters
    ----------
    ctx, op, table
        The ranks, the name of the call that errors show, and this rank's rows.
    bounds
        Where the rows for each rank begin, and their number.
    size
        How many rows may be in memory at a time.
    what
        What is sent, as traces call it.
    """
    lengths = [hi - lo for lo, hi in zip(bounds, bounds[1:])]
    if is_explained():
        with moving(op, what, table.nbytes * (len(table) - lengths[ctx.rank]) // max(len(table), 1)):
            pass
    told = allgather_object(ctx, (max(lengths), size))
    # Rows are in memory as a part, as what is sent, as what arrives and in order.
    step = max(1, min(size for _, size in told) // (4 * ctx.size))
    for start in range(0, max(1, *(length for length, _ in told)), step):
        with local_step(ctx, op):
            parts = [table.slice(lo + start, max(0, min(step, length - start))) for lo, length in zip(bounds, lengths)]
        yield sent(ctx, op, parts, what)
        release()
