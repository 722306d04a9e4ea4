"""Metrics: what they hold, how a monitoring system sees them, and that DTL's own are exact."""

from __future__ import annotations

import json
import math
import sys
import threading
from typing import Any, Iterator

import numpy as np
import pytest
from programs import alone as program
from programs import succeeded

import dtl
from dtl import observe
from dtl.observe import Counter, Gauge, Histogram, Registry

pytestmark = pytest.mark.few("looks at one process's metrics")


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
def observed() -> Iterator[None]:
    observe.start()
    yield
    observe.stop()


# ---- Metrics ----


def test_counter(registry: Registry) -> None:
    counter = Counter("steps_total", "Steps.", registry=registry)
    assert counter.value() == 0
    counter.inc()
    counter.inc(2.5)
    assert counter.value() == 3.5
    for wrong in (-1, math.nan):
        with pytest.raises(dtl.InvalidArgumentError, match="steps_total cannot grow by"):
            counter.inc(wrong)
    assert counter.value() == 3.5


def test_gauge(registry: Registry) -> None:
    gauge = Gauge("held", registry=registry)
    gauge.set(10)
    gauge.inc()
    gauge.dec(4)
    assert gauge.value() == 7.0
    gauge.set(np.float32(0.5))
    assert gauge.value() == 0.5


def test_histogram(registry: Registry) -> None:
    histogram = Histogram("lengths", bounds=(1, 10), registry=registry)
    for value in (0, 1, 1.5, 10, 11, math.inf):
        histogram.observe(value)
    assert histogram.count() == 6
    assert histogram.sum() == math.inf
    assert registry.snapshot()["lengths"][0]["value"]["buckets"] == [[1.0, 2], [10.0, 4], [None, 6]]
    histogram.observe(math.nan)
    assert histogram.count() == 7
    assert registry.snapshot()["lengths"][0]["value"]["buckets"][1] == [10.0, 4]


def test_bounds_of_a_histogram() -> None:
    assert observe.SECONDS[:4] == (1e-6, 2.5e-6, 5e-6, 1e-5)
    assert observe.SECONDS[-1] == 10.0
    assert Histogram("x", bounds=[1.0, math.inf], registry=None).bounds == (1.0,)
    for wrong in ((1, 1), (2, 1), (math.nan,)):
        with pytest.raises(dtl.InvalidArgumentError, match="do not grow"):
            Histogram("x", bounds=wrong, registry=None)
    with pytest.raises(dtl.InvalidArgumentError, match="3 counts for 1 bounds"):
        Histogram("x", bounds=(1,), registry=None).merge([1, 2, 3], 1.0)


def test_labels(registry: Registry) -> None:
    counter = Counter("sent_total", labels=["to", "by"], registry=registry)
    counter.inc(2, to=1, by="a")
    counter.inc(to="1", by="a")
    counter.inc(to=2, by="a")
    assert counter.value(to=1, by="a") == 3
    assert counter.value(by="a", to=2) == 1
    assert counter.value(by="b", to=2) == 0
    assert len(registry.snapshot()["sent_total"]) == 2  # reading makes none
    for wrong in ({}, {"to": 1}, {"to": 1, "by": 2, "more": 3}):
        with pytest.raises(dtl.InvalidArgumentError, match="sent_total has labels"):
            counter.inc(**wrong)


@pytest.mark.parametrize("value", ["x", None, [1], 1j, 10**400])
def test_values_that_are_no_numbers(value: Any) -> None:
    counter, gauge, histogram = Counter("a", registry=None), Gauge("b", registry=None), Histogram("c", registry=None)
    for call in (counter.inc, gauge.set, gauge.inc, gauge.dec, histogram.observe):
        with pytest.raises(dtl.InvalidTypeError, match="a metric takes numbers"):
            call(value)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "é", 5, None])
def test_names_that_are_none(name: Any, registry: Registry) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="cannot be the name of a metric"):
        Counter(name, registry=registry)


@pytest.mark.parametrize("labels", [["1a"], ["a-b"], ["__a"], ["le"], ["a:b"], [5], "ab", "a"])
def test_labels_that_are_none(labels: Any, registry: Registry) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="cannot be a label"):
        Counter("a", labels=labels, registry=registry)
    assert list(registry) == []


def test_two_metrics_of_one_name(registry: Registry) -> None:
    Counter("a", registry=registry)
    with pytest.raises(dtl.InvalidArgumentError, match="there is a metric 'a' already"):
        Gauge("a", registry=registry)
    Gauge("a", registry=Registry())


def test_threads() -> None:
    counter, histogram = Counter("a", registry=None), Histogram("b", registry=None)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work() -> None:
        for _ in range(2000):
            counter.inc()
            histogram.observe(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert counter.value() == histogram.count() == 8000


# ---- Registries ----


def test_text(registry: Registry) -> None:
    counter = Counter("sent_total", "Sent\nby \\.", ["to"], registry=registry)
    counter.inc(3, to='a"b\\c\n')
    Gauge("residual", registry=registry).set(1e-9)
    Gauge("far", "Far.", registry=registry).set(-math.inf)
    histogram = Histogram("wait_seconds", "Waiting.", ["op"], bounds=(0.5, 1), registry=registry)
    histogram.observe(0.25, op="x")
    histogram.observe(2, op="x")
    assert registry.text() == (
        "# HELP sent_total Sent\\nby \\\\.\n"
        "# TYPE sent_total counter\n"
        'sent_total{to="a\\"b\\\\c\\n"} 3\n'
        "# HELP residual\n"
        "# TYPE residual gauge\n"
        "residual 1e-09\n"
        "# HELP far Far.\n"
        "# TYPE far gauge\n"
        "far -Inf\n"
        "# HELP wait_seconds Waiting.\n"
        "# TYPE wait_seconds histogram\n"
        'wait_seconds_bucket{op="x",le="0.5"} 1\n'
        'wait_seconds_bucket{op="x",le="1"} 1\n'
        'wait_seconds_bucket{op="x",le="+Inf"} 2\n'
        'wait_seconds_sum{op="x"} 2.25\n'
        'wait_seconds_count{op="x"} 2\n'
    )


def test_snapshot_fits_json(registry: Registry) -> None:
    Counter("a", labels=["x"], registry=registry).inc(x=1)
    Histogram("b", bounds=(1,), registry=registry).observe(0.5)
    assert json.loads(json.dumps(registry.snapshot())) == {
        "a": [{"labels": {"x": "1"}, "value": 1.0}],
        "b": [{"labels": {}, "value": {"count": 1, "sum": 0.5, "buckets": [[1.0, 1], [None, 1]]}}],
    }


def test_metrics_that_are_brought_up_to_date(registry: Registry) -> None:
    gauge = Gauge("turns", registry=registry)
    registry.before_reading(gauge.inc)
    assert gauge.value() == 1
    assert registry.text().endswith("turns 2\n")
    assert registry.snapshot()["turns"][0]["value"] == 3


# ---- DTL's metrics ----


def test_calls_are_counted(observed: None, ctx: dtl.Context) -> None:
    before = [metric.value(operation="allreduce") for metric in (observe.calls, observe.failures, observe.bytes_moved)]
    count, total = observe.seconds.count(operation="allreduce"), observe.seconds.sum(operation="allreduce")
    for _ in range(10):
        dtl.allreduce(ctx, np.ones(100))
    after = [metric.value(operation="allreduce") for metric in (observe.calls, observe.failures, observe.bytes_moved)]
    assert [b - a for a, b in zip(before, after)] == [10, 0, 16000]
    assert observe.seconds.count(operation="allreduce") == count + 10
    assert 0 < observe.seconds.sum(operation="allreduce") - total < 60
    assert 'dtl_calls_total{operation="allreduce"}' in observe.registry.text()


def test_failures_are_counted(observed: None, alone: dtl.Context) -> None:
    before = observe.failures.value(operation="send")
    with pytest.raises(dtl.BoundsError):
        dtl.send(alone, 1.0, 5)
    assert observe.failures.value(operation="send") == before + 1


def test_traces_beside(observed: None, alone: dtl.Context) -> None:
    before = observe.calls.value(operation="barrier")
    with dtl.trace() as t:
        alone.barrier()
    alone.barrier()
    assert observe.calls.value(operation="barrier") == before + 2
    assert [(record.operation, record.calls) for record in t] == [("barrier", 1)]


def test_stopped(alone: dtl.Context) -> None:
    observe.start()
    observe.start()
    alone.barrier()
    observe.stop()
    before = observe.calls.value(operation="barrier")
    alone.barrier()
    assert observe.calls.value(operation="barrier") == before
    assert dtl._native.library.bridge.clock() == 0


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
