"""Where the ranks of a context run: what ``Context.topology`` returns."""

from __future__ import annotations

from .topology.affinity import ContextTopology, Seat

__all__ = ["ContextTopology", "Seat"]
