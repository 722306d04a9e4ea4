"""Containers of every partition, with known elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import dtl

#: Local sizes are uneven, and some ranks get none.
DIVISIONS = ("block", "cyclic", "block_cyclic", "hash", "replicated", "explicit")


def division(name: str, size: int, ranks: int) -> dict[str, Any]:
    """Return the keywords that divide size elements among the ranks."""
    if name == "explicit":
        sizes = [size // max(3, ranks // 2) if rank % 2 else 0 for rank in range(ranks)]
        sizes[-1] += size - sum(sizes)
        return {"partition": sizes}
    if name == "block_cyclic":
        return {"partition": dtl.PARTITION_BLOCK_CYCLIC, "block_size": 3}
    return {"partition": getattr(dtl, f"PARTITION_{name.upper()}")}


def vector(ctx: dtl.Context, elements: Any, name: str = "block", place: str = "host") -> dtl.DistributedVector:
    """Return a vector of these elements, each rank having written its own, if they are on the host."""
    array = np.asarray(elements)
    if place != "host":
        return dtl.DistributedVector.from_numpy(ctx, array, placement=place, **division(name, len(array), ctx.size))
    made = dtl.DistributedVector(ctx, len(array), dtype=array.dtype, **division(name, len(array), ctx.size))
    made.local_view()[:] = array[made.local_indices()]
    return made


def part(container: Any, whole: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return this rank's part of what a container should hold."""
    indices = [container.local_indices(d) for d in range(len(container.shape))]
    return np.asarray(whole)[np.ix_(*indices)]


def assert_holds(container: Any, whole: Any) -> None:
    """Check dtype, shape and this rank's elements."""
    whole = np.asarray(whole)
    assert container.dtype == whole.dtype
    assert container.shape == whole.shape
    view = container.local_view()
    if isinstance(view, dtl.DeviceArray):
        view = view.to_numpy()
    assert view.dtype == whole.dtype
    np.testing.assert_array_equal(view, part(container, whole))
