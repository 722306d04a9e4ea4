"""Groups of keys that are more than the limit of memory: by ranges of keys, one after the other."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Sequence

import numpy as np

from ..containers.interior import run_as
from ..runtime.agreement import local_step
from ..runtime.spill import Spill
from . import external
from .exchange import gathered
from .ordered import flattened
from .reductions import Reduction, reduction
from .rows import has_rows

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript

#: Of what a reduction makes in pieces, so that the values of one key need not be in memory.
_REDUCED = ("sum", "prod", "min", "max", "mean", "var", "std")


class RangedGroups:
    """The groups of keys by blocks, each of whose aggregates takes two passes over the keys and the values.

    Parameters
    ----------
    keys
        Vectors by blocks, which are the caller's.
    rows
        How many rows a rank has in memory.
    group_by
        What makes the groups of the keys of one range, as ``dtl.group_by`` does.
    """

    def __init__(self, keys: Sequence[Any], rows: int, group_by: Callable[[Any], Any]) -> None:
        self._work, self._rows, self._group_by = keys, rows, group_by
        self._context = keys[0].context
        *self.keys, counts = self._made(keys[-1], "count")
        counts.close()

    def has(self, op: Any) -> bool:
        """Say whether it makes an aggregate: of a function of the user's, the groups have to be in memory."""
        return isinstance(op, str)

    def aggregates(self, values: Any, name: str) -> Any:
        """Return a vector of the aggregate of each group. Collective."""
        with contextlib.nullcontext(values) if has_rows(values, blocks=True) else flattened(values) as by_blocks:
            *keys, made = self._made(by_blocks, name)
        for key in keys:
            key.close()
        return made

    def _made(self, values: Any, name: str) -> list[Any]:
        """Return the distinct keys, and an aggregate of the groups. Collective."""
        ctx, counts = self._context, name == "count"
        columns = [column.local_view() for column in (*self._work, *([] if counts else [values]))]
        cuts = external.cuts_of(ctx, "agg", columns[:1], self._rows)
        spill = external.divided(ctx, "agg", columns, cuts, self._rows)
        by = reduction(name, None, values.dtype) if name in _REDUCED and len(self._work) == 1 else None
        steps = external.steps(ctx, cuts.ranges, self._rows, spill)
        found: Any = None
        for number, (first, last) in enumerate(steps):
            if by is not None and cuts.is_one_key(first, last):
                made = self._of_one_key(spill, first, by)
            else:
                made = self._of_range(spill.rows(first, last), values, name)
            if found is None:
                found = Spill(ctx, [column.dtype for column in made])
            found.add(made, np.where(np.arange(len(steps)) < number, 0, len(made[0])))
        return external.collected(self._work[0], [(found, len(steps))])

    def _of_range(self, columns: Sequence[Array], values: Any, name: str) -> list[Array]:
        """Return what this rank has of the keys and aggregates of a range, whose rows are in memory. Collective."""
        with contextlib.ExitStack() as stack:
            parts = [stack.enter_context(external.held(self._context, column)) for column in columns]
            for part in parts:
                run_as(part, values.execution_policy)
            keys = parts[: len(self._work)]
            with self._group_by(keys) as groups:
                found, made = groups.agg(parts[-1], name)
            for vec in (*found, made):
                stack.enter_context(vec)
            return [np.array(vec.local_view()) for vec in (*found, made)]

    def _of_one_key(self, spill: Spill, number: int, by: Reduction) -> list[Array]:
        """Return the key and its aggregate on one rank, of values that need not fit in memory. Collective."""
        ctx, count, start = self._context, 0, np.zeros(1, np.int64)
        keys, values = spill.rows(0, 0)
        done = tuple(part[:0] for part in by.runs(np.zeros(1, values.dtype), start, start + 1))
        with local_step(ctx, "agg"):
            for some, values in spill.by_piece(number, number + 1):
                made = by.runs(values, start, start + len(values))
                done, keys = by.merge(done, made) if count else made, some[:1]
                count += len(some)
        key, total = gathered(ctx, keys)[:1], gathered(ctx, start + count).sum(keepdims=True)
        parts = [gathered(ctx, part) for part in done]  # of the ranks that have elements
        whole = tuple(part[:1] for part in parts)
        for rank in range(1, len(parts[0])):
            whole = by.merge(whole, tuple(part[rank : rank + 1] for part in parts))
        with np.errstate(all="ignore"):
            result = np.asarray(by.finish(whole, total)).astype(by.dtype, copy=False)
        here = slice(0, int(ctx.rank == 0))
        return [key[here], result[here]]
