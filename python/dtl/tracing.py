"""Traces of DTL's calls: what ``dtl.trace`` returns."""

from __future__ import annotations

from .monitoring.trace import Record, Trace, table, trace

__all__ = ["Record", "Trace", "table", "trace"]
