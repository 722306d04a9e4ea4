"""How much memory calls need beside the parts of their arguments: a few times a part, whatever the elements are."""

from __future__ import annotations

import gc
from typing import Any, Callable

import numpy as np
import pytest

import dtl
from dtl.containers.making import new_like

#: Elements of each rank, of 8 bytes: what calls need in any case is small beside them.
_EACH = 2_000_000

#: Results, and what calls need while they run, in parts: three, and up to 20 MB that do not grow.
_MOST = 4.2


def _size(of: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith(of))


def _needed(call: Callable[[], Any]) -> float:
    """Return how many parts more memory a call needs than there is before it."""
    gc.collect()
    before = _size("VmRSS")
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # the peak begins anew
    made = call()
    peak = _size("VmHWM")
    for c in made if isinstance(made, tuple) else (made,) if made is not None else ():
        c.close()
    return (peak - before) / (8 * _EACH)


_CALLS: dict[str, Callable[[dtl.Context, Any], Any]] = {
    "permutation": lambda ctx, x: dtl.random.Generator(ctx, 1).permutation(x),
    "shuffle": lambda ctx, x: dtl.random.Generator(ctx, 1).shuffle(x),
    "argsort": lambda ctx, x: dtl.argsort(x),
}


@pytest.mark.parametrize("what", _CALLS)
def test_peak(ctx: dtl.Context, what: str) -> None:
    with dtl.random.Generator(ctx, 3).random(_EACH * ctx.size) as x:
        needed = _needed(lambda: _CALLS[what](ctx, x))
        assert needed < _MOST, f"{needed} parts"


@pytest.mark.parametrize("power", [0.0, 0.4, 1.0])
def test_peak_of_groups(ctx: dtl.Context, power: float) -> None:
    with dtl.random.Generator(ctx, 3).random(_EACH * ctx.size) as x, new_like(x, np.float64) as keys:
        keys.local_view()[...] = np.floor((1 / (x.local_view() + 1e-9)) ** power)  # one, or some that occur very often
        kept: list[Any] = []
        needed = _needed(lambda: kept.append(dtl.group_by(keys)))
        assert needed < _MOST, f"{needed} parts"
        with kept[0] as groups:
            for op in ("sum", "median"):
                needed = _needed(lambda op=op: groups.agg(x, op))  # type: ignore[misc]
                assert needed < _MOST, f"{needed} parts of {op}"


def test_peak_of_as_many_groups_as_elements(ctx: dtl.Context) -> None:
    with dtl.random.Generator(ctx, 3).random(_EACH * ctx.size) as x, dtl.group_by(x) as groups:
        for op in ("var", "median"):
            needed = _needed(lambda op=op: groups.agg(x, op))  # type: ignore[misc]
            assert needed < _MOST + 1, f"{needed} parts of {op}"  # memory that other tests gave back is taken anew
