"""Metrics: counters, gauges and histograms that a monitoring system reads, and those of DTL's own calls.

``start()`` lets DTL's metrics count this rank's calls; ``registry.text()`` is what Prometheus scrapes, and
``registry.snapshot()`` the same as a dict. Nothing here communicates: each rank has metrics of its own.

Examples
--------
>>> import dtl
>>> dtl.observe.start()
>>> before = dtl.observe.calls.value(operation="allreduce")
>>> with dtl.Context() as ctx:
...     _ = dtl.allreduce(ctx, 1.0)
>>> dtl.observe.calls.value(operation="allreduce") - before
1.0
>>> dtl.observe.stop()
"""

from __future__ import annotations

from .monitoring.call_metrics import bytes_moved, calls, failures, seconds, start, stop
from .monitoring.histogram import SECONDS, Histogram
from .monitoring.metrics import Counter, Gauge, Metric, Registry, registry

__all__ = ["SECONDS", "Counter", "Gauge", "Histogram", "Metric", "Registry"]
__all__ += ["bytes_moved", "calls", "failures", "registry", "seconds", "start", "stop"]
