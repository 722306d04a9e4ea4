"""NumPy's sliding windows along dimensions of a container, as copies."""

from __future__ import annotations

import operator
from typing import Any

from ..containers.base import DistributedContainer, check_container
from ..exceptions import InvalidArgumentError
from ..runtime.scheduler import algorithm
from .concatenate import stack
from .manipulation import dimension


@algorithm
def sliding_window_view(
    x: DistributedContainer, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """Return the windows of some extents at each place, as ``np.lib.stride_tricks.sliding_window_view``. Collective.

    Each element is copied to all windows that it is in: NumPy's view has no memory of its own, and this has.

    Raises
    ------
    InvalidArgumentError
        If a window is larger than the container or negative, if there is not one extent for each axis, or if the
        windows are to be written to.
    """
    check_container("x", x)
    if writeable:
        raise InvalidArgumentError("sliding_window_view: the windows are copies, so writeable=True has no meaning")
    made: Any = x
    for dim, extent in _windows(x.ndim, window_shape, axis):
        left = made.shape[dim] - extent + 1
        if left < 1:
            raise InvalidArgumentError(
                f"a window of {extent} elements is larger than dimension {dim}, of {x.shape[dim]}"
            )
        before = (slice(None),) * dim
        made = stack([made[(*before, slice(i, i + left))] for i in range(extent)], -1)
    return made


def _windows(ndim: int, window_shape: Any, axis: Any) -> list[tuple[int, int]]:
    """Return the dimensions of windows, with the extent of each."""
    several = isinstance(window_shape, (list, tuple))
    extents = [operator.index(n) for n in (window_shape if several else (window_shape,))]
    axes = range(ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else (axis,)
    if len(axes) != len(extents):
        raise InvalidArgumentError(f"{len(extents)} extents of windows for {len(axes)} axes")
    if any(n < 1 for n in extents):
        raise InvalidArgumentError(f"window_shape {window_shape}: a window has one element or more")
    return [(dimension(each, ndim), n) for each, n in zip(axes, extents)]
