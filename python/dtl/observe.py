"""The counts of calls that a monitoring system reads: how often DTL's operations were called, and for how long.

``start()`` has this rank's calls counted, ``snapshot()`` returns the counts, and :class:`Collector` hands them to
Prometheus' client. Nothing here communicates: each rank has counts of its own.

Examples
--------
>>> import dtl
>>> dtl.observe.start()
>>> with dtl.Context() as ctx:
...     _ = dtl.allreduce(ctx, 1.0)
>>> dtl.observe.snapshot()["allreduce"]["calls"] >= 1
True
>>> dtl.observe.stop()
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Iterator

from ._native.library import bridge

if TYPE_CHECKING:
    from prometheus_client.core import Metric

__all__ = ["SECONDS", "Collector", "snapshot", "start", "stop"]

#: The bounds between which calls are counted by their seconds.
SECONDS = (*(float(f"{digits}e{power}") for power in range(-6, 1) for digits in (1, 2.5, 5)), 10.0)

_recorder = bridge.Recorder(0, False, tuple(round(bound * 1e9) for bound in SECONDS))


def start() -> None:
    """Count this rank's calls from now on. Not collective.

    Counted are the calls that ``dtl.trace`` counts. A second call does nothing.
    """
    _recorder.start()


def stop() -> None:
    """Count no more. What was counted stays. Not collective."""
    _recorder.stop()


def snapshot() -> dict[str, dict[str, Any]]:
    """Return what was counted, as objects that JSON can represent. Not collective.

    Returns
    -------
    dict
        For each operation a dict of ``calls``; ``failures``, those that raised; ``bytes`` of the arrays that calls were
        given and returned, as a trace counts them; ``seconds``, waiting included; and ``buckets``, pairs of a bound of
        ``SECONDS`` and the number of calls that took as long at most. The last bound is None.
    """
    return {
        operation: {
            "calls": calls,
            "failures": failures,
            "bytes": size,
            "seconds": nanoseconds * 1e-9,
            "buckets": [list(pair) for pair in zip([*SECONDS, None], accumulate(counts))],
        }
        for operation, _, _, calls, failures, size, nanoseconds, counts, *_ in _recorder.totals()
    }


class Collector:
    """What was counted, for a registry of the package ``prometheus_client``.

    ``prometheus_client.REGISTRY.register(dtl.observe.Collector())`` adds ``dtl_calls_total``, ``dtl_failures_total``,
    ``dtl_bytes_total`` and ``dtl_call_seconds`` to what the program exports, each with the label ``operation``.
    """

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics, as registries ask for them.

        Raises
        ------
        ImportError
            If there is no prometheus_client.
        """
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        counted = snapshot()
        for name, key, text in (
            ("dtl_calls", "calls", "Calls of DTL's operations."),
            ("dtl_failures", "failures", "Calls of DTL's operations that raised."),
            ("dtl_bytes", "bytes", "Bytes of the arrays that calls were given and returned."),
        ):
            counter = CounterMetricFamily(name, text, labels=["operation"])
            for operation, of in counted.items():
                counter.add_metric([operation], of[key])
            yield counter
        seconds = HistogramMetricFamily("dtl_call_seconds", "Seconds that calls took.", labels=["operation"])
        for operation, of in counted.items():
            buckets = [("+Inf" if bound is None else str(bound), count) for bound, count in of["buckets"]]
            seconds.add_metric([operation], buckets, of["seconds"])
        yield seconds
