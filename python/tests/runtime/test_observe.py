"""The counts of DTL's calls for monitoring systems are exact, and Prometheus' client reads them."""

from __future__ import annotations

import json
from typing import Any, Iterator

import numpy as np
import pytest
from programs import alone as program
from programs import succeeded

import dtl
from dtl import observe

pytestmark = pytest.mark.few("looks at one process's counts")

NOTHING = {"calls": 0, "failures": 0, "bytes": 0, "seconds": 0.0}


@pytest.fixture
def observed() -> Iterator[None]:
    observe.start()
    yield
    observe.stop()


def counted(operation: str) -> dict[str, Any]:
    return observe.snapshot().get(operation, NOTHING)


def test_calls_are_counted(observed: None, ctx: dtl.Context) -> None:
    before = counted("allreduce")
    for _ in range(10):
        dtl.allreduce(ctx, np.ones(100))
    after = counted("allreduce")
    assert [after[key] - before[key] for key in ("calls", "failures", "bytes")] == [10, 0, 16000]
    assert 0 < after["seconds"] - before["seconds"] < 60
    assert [bound for bound, _ in after["buckets"]] == [*observe.SECONDS, None]
    counts = [count for _, count in after["buckets"]]
    assert counts == sorted(counts)
    assert counts[-1] == after["calls"]
    assert json.loads(json.dumps(observe.snapshot())) == observe.snapshot()


def test_bounds_of_seconds() -> None:
    assert observe.SECONDS[:4] == (1e-6, 2.5e-6, 5e-6, 1e-5)
    assert observe.SECONDS[-1] == 10.0


def test_failures_are_counted(observed: None, alone: dtl.Context) -> None:
    before = counted("send")["failures"]
    with pytest.raises(dtl.BoundsError):
        dtl.send(alone, 1.0, 5)
    assert counted("send")["failures"] == before + 1


def test_traces_beside(observed: None, alone: dtl.Context) -> None:
    before = counted("barrier")["calls"]
    with dtl.trace() as t:
        alone.barrier()
    alone.barrier()
    assert counted("barrier")["calls"] == before + 2
    assert [(record.operation, record.calls) for record in t] == [("barrier", 1)]


def test_stopped(alone: dtl.Context) -> None:
    observe.start()
    observe.start()
    alone.barrier()
    observe.stop()
    before = counted("barrier")
    alone.barrier()
    assert counted("barrier") == before
    assert dtl._native.library.bridge.clock() == 0


def test_prometheus_reads_them(observed: None, alone: dtl.Context) -> None:
    client = pytest.importorskip("prometheus_client", reason="needs prometheus_client; runs where the extra test is")
    registry = client.CollectorRegistry()
    registry.register(observe.Collector())
    alone.barrier()
    was = counted("barrier")
    text = client.generate_latest(registry).decode()
    assert "# TYPE dtl_calls_total counter\n" in text
    assert "# TYPE dtl_call_seconds histogram\n" in text
    for name, key in (("calls_total", "calls"), ("failures_total", "failures"), ("bytes_total", "bytes")):
        assert registry.get_sample_value(f"dtl_{name}", {"operation": "barrier"}) == was[key]
    assert registry.get_sample_value("dtl_call_seconds_sum", {"operation": "barrier"}) == was["seconds"]
    assert registry.get_sample_value("dtl_call_seconds_count", {"operation": "barrier"}) == was["calls"]
    for bound, count in was["buckets"]:
        labels = {"operation": "barrier", "le": "+Inf" if bound is None else str(bound)}
        assert registry.get_sample_value("dtl_call_seconds_bucket", labels) == count


@pytest.mark.jobs("looks at a new process")
def test_it_is_imported_when_it_is_wanted() -> None:
    code = """
        import sys, dtl
        later = ["dtl.observe", "dtl.monitoring.trace", "json"]
        print([name in sys.modules for name in later[:2]], {"observe", "trace"} <= set(dir(dtl)))
        dtl.trace
        dtl.observe.start()
        print([name in sys.modules for name in later[:2]])
        from dtl import observe, trace
        import dtl.observe
        try:
            dtl.nothing
        except AttributeError as error:
            print(error)
    """
    assert succeeded(program(code)).splitlines() == [
        "[False, False] True",
        "[True, True]",
        "module 'dtl' has no attribute 'nothing'",
    ]
