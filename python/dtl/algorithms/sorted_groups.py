"""The values of each group in order, where each rank has runs of values of one group each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._native.kinds import kind_of
from ..comm import collectives
from ..containers.places.place import from_parts
from ..containers.sequences import DistributedVector
from .reductions import spans_of_runs
from .sort import sort

Array = Any  # np.ndarray[Any, Any], which Python 3.8 cannot subscript


class Runs(NamedTuple):
    """Where the runs of one group each are in the values of a rank, one behind the other."""

    begins: Array
    lengths: Array
    #: Whether the first run began on an earlier rank.
    continues: bool


def sort_runs(ctx: Any, part: Array, runs: Runs) -> None:
    """Sort the values of each group in place, where each rank keeps as many as it has. Collective."""
    alone = np.ones(len(runs.begins), np.bool_)
    for first, last in _spans(ctx, runs):
        at = slice(0, 0)
        if first <= ctx.rank <= last and len(runs.begins):
            run = -1 if ctx.rank == first else 0
            alone[run] = False
            at = slice(runs.begins[run], runs.begins[run] + runs.lengths[run])
        with from_parts(DistributedVector, ctx, part[at]) as whole:
            sort(whole)
            part[at] = whole.local_view()
    _sort_alone(part, runs.begins[alone], runs.lengths[alone])


def _spans(ctx: Any, runs: Runs) -> list[tuple[int, int]]:
    """Return the first and the last rank of each group that several have values of. Collective."""
    mine = np.array([len(runs.begins), runs.continues], np.int64)
    spans: list[tuple[int, int]] = []
    first = 0
    rows = collectives.allgather(ctx, mine)
    for rank, (number, continues) in enumerate(rows.tolist()):
        if continues:
            if spans and spans[-1][0] == first:
                spans.pop()
            spans.append((first, rank))
        if number > continues:
            first = rank
    return spans


def _sort_alone(part: Array, begins: Array, lengths: Array) -> None:
    """Sort the values of each of some runs, of which those that are left out lie between them."""
    several = lengths > 1
    begins, lengths = begins[several], lengths[several]
    for runs in spans_of_runs(begins, lengths):
        first, count = begins[runs], lengths[runs]
        if len(first) == 1:
            _sort_values(part[first[0] : first[0] + count[0]])
        else:
            within = np.repeat(first - np.append(0, count.cumsum()[:-1]), count)
            within += np.arange(len(within))
            _sort_values(part, within, np.repeat(np.arange(len(first)), count))


def _sort_values(values: Array, places: Any = slice(None), groups: Any = None) -> None:
    """Sort the values of some places in place, those of each group by themselves."""
    if groups is None and kind_of(values.dtype).is_ordered_by_core:
        values.sort()
        return
    some = values[places]
    keys = kind_of(some.dtype).order_keys(some, False)[::-1]
    values[places] = some[np.lexsort(keys if groups is None else [*keys, groups])]
