"""A backend of matplotlib for ranks of a notebook: figures are shown there."""

from __future__ import annotations

from typing import Any

from matplotlib.backend_bases import FigureManagerBase as FigureManager
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

from . import cells

__all__ = ["FigureCanvas", "FigureManager", "show"]


def show(*args: Any, **kwargs: Any) -> None:
    """Show the figures that pyplot has open, and close them."""
    cells.show_figures()
