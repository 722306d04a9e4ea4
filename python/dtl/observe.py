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

import threading

from ._native.library import bridge
from .monitoring.metrics import SECONDS, Counter, Gauge, Histogram, Metric, Registry, registry

__all__ = ["SECONDS", "Counter", "Gauge", "Histogram", "Metric", "Registry"]
__all__ += ["bytes_moved", "calls", "failures", "registry", "seconds", "start", "stop"]

#: How often each operation was called.
calls = Counter("dtl_calls_total", "Calls of DTL's operations.", ["operation"])
#: How often it raised.
failures = Counter("dtl_failures_total", "Calls of DTL's operations that raised.", ["operation"])
#: The bytes that its calls were given and returned, as a trace counts them.
bytes_moved = Counter("dtl_bytes_total", "Bytes of the arrays that calls were given and returned.", ["operation"])
#: The seconds that its calls took.
seconds = Histogram("dtl_call_seconds", "Seconds that calls took, waiting included.", ["operation"])

_recorder = bridge.Recorder(0, False, tuple(round(bound * 1e9) for bound in SECONDS))
_lock = threading.RLock()
_seen: dict[str, tuple[int, ...]] = {}


def start() -> None:
    """Count this rank's calls in ``calls``, ``failures``, ``bytes_moved`` and ``seconds`` from now on. Not collective.

    Counted are the calls that ``dtl.trace`` counts. A second call does nothing.
    """
    _recorder.start()


def stop() -> None:
    """Count no more. What was counted stays. Not collective."""
    _recorder.stop()


def _update() -> None:
    """Add what the recorder has counted since the last time to the metrics."""
    with _lock:
        for operation, _, _, count, failed, size, nanoseconds, counts in _recorder.totals():
            now = (count, failed, size, nanoseconds, *counts)
            new = [a - b for a, b in zip(now, _seen.get(operation, (0,) * len(now)))]
            _seen[operation] = now
            if new[0]:
                calls.inc(new[0], operation=operation)
                failures.inc(new[1], operation=operation)
                bytes_moved.inc(new[2], operation=operation)
                seconds.merge(new[4:], new[3] * 1e-9, operation=operation)


registry.before_reading(_update)
