"""Where the elements of a container are: on the host, which managed memory is for these verbs, or on a GPU alone."""

from __future__ import annotations

from typing import Any, TypeVar

from ...comm import collectives
from ...policies import Partition, Placement
from ...runtime.context import Context
from ...runtime.device_array import DeviceArray, memory_of_array
from ..interior import end_write
from ..layout import Division
from ..making import created
from . import device, host

Made = TypeVar("Made")

_DEVICE = Placement.DEVICE


def place_of(c: Any) -> Any:
    """Return the module whose functions work on this rank's part of a container."""
    return device if c.placement_policy is _DEVICE else host


def set_part(c: Any, values: Any) -> None:
    """Write this rank's elements, which the host has. Not collective."""
    place_of(c).set_part(c, values)


def fill_part(c: Any, value: Any) -> None:
    """Give every element of this rank a value of the element type. Not collective."""
    place_of(c).fill_part(c, value)


def from_parts(kind: type[Made], ctx: Context, part: Any, placement: Placement = Placement.HOST) -> Made:
    """Return a container of the ranks' arrays, which are known to fit together. Collective.

    Its placement is that of arrays on a GPU, else the one that is given.
    """
    sizes = tuple(collectives.allgather(ctx, len(part)).tolist())
    divided = Division(Partition.EXPLICIT, sizes=sizes)
    if isinstance(part, DeviceArray):
        placement = device.PLACEMENT
    made: Any = created(kind, ctx, (sum(sizes), *part.shape[1:]), part.dtype, divided, placement)
    if isinstance(part, DeviceArray):
        memory_of_array(made.device_view()).copy(memory_of_array(part), True)
    else:
        set_part(made, part)
    end_write(made, "from_local")
    new: Made = made
    return new
