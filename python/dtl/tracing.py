"""Traces of DTL's calls and the ledger of slow paths: what ``dtl.trace`` and ``dtl.slow_paths`` return."""

from __future__ import annotations

from ._lazy import say_public
from .monitoring.records import Record, SlowPath, table
from .monitoring.slow_paths import SlowPaths, report
from .monitoring.trace import Trace, trace

__all__ = ["Record", "SlowPath", "SlowPaths", "Trace", "report", "table", "trace"]

for _name in __all__:
    say_public(globals()[_name], __name__)
