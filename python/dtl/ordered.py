"""Algorithms on sorted containers, and what ``dtl.unique`` returns."""

from __future__ import annotations

from .algorithms.ordered import Unique, lower_bound, merge, searchsorted, unique

__all__ = ["Unique", "lower_bound", "merge", "searchsorted", "unique"]
