"""Traces of DTL's calls: what ``dtl.trace`` returns."""

from __future__ import annotations

from ._lazy import say_public
from .monitoring.records import Record, table
from .monitoring.trace import Trace, trace

__all__ = ["Record", "Trace", "table", "trace"]

for _name in __all__:
    say_public(globals()[_name], __name__)
