"""The local parts of containers as parts of windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .container import DistributedContainer
from .exceptions import InvalidArgumentError


def exposed(container: DistributedContainer) -> np.ndarray[Any, Any]:
    """Return a container's local part, whose elements have to lie side by side."""
    part = container.local_view()
    if not part.flags.c_contiguous:
        raise InvalidArgumentError(
            f"the elements of {container!r} do not lie side by side here, as with a halo or in a span, so they are no "
            "part of a window"
        )
    return part
