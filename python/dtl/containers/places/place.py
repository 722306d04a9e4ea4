"""Where the elements of a container are: on the host, which managed memory is for these verbs, or on a GPU alone."""

from __future__ import annotations

from typing import Any

from ...policies import Placement
from . import device, host

_DEVICE = Placement.DEVICE


def place_of(c: Any) -> Any:
    """Return the module whose functions work on this rank's part of a container."""
    return device if c.placement_policy is _DEVICE else host
