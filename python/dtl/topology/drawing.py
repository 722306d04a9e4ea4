"""What drawings of ranks have in common: each rank's colour and label, and matplotlib where it is installed."""

from __future__ import annotations

from typing import Any

#: In place of a tile's rank: all ranks hold the elements.
EVERY = -1

_COLOURS = ["#8ecae6", "#ffb703", "#90be6d", "#f28482", "#cdb4db", "#f9dc5c", "#84a98c", "#fb8500", "#d4a373"]


def colour(rank: int) -> str:
    """Return a rank's colour, as ``#rrggbb``."""
    return "#dddddd" if rank == EVERY else _COLOURS[rank % len(_COLOURS)]


def label(rank: int) -> str:
    """Return what a tile of a rank says."""
    return "all" if rank == EVERY else str(rank)


def matplotlib(what: str) -> tuple[Any, Any]:
    """Return pyplot and its rectangles, or raise what is missing for a function."""
    try:
        from matplotlib import pyplot
        from matplotlib.patches import Rectangle
    except ImportError as error:
        raise ImportError(f"{what} needs matplotlib: pip install matplotlib ({error})") from None
    return pyplot, Rectangle
