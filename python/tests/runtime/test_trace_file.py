"""What the ranks of a trace do together: sums, clocks, and the file that shows their calls."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dtl
from dtl.monitoring import timeline
from dtl.tracing import Trace, table


def traced(ctx: dtl.Context, max_events: int = 100) -> Trace:
    """Trace so many barriers as the rank says, and one more."""
    with dtl.trace(max_events=max_events) as t:
        ctx.barrier()
        for _ in range(ctx.rank):
            dtl.Environment().make_cpu_context().barrier()
    return t


def written(path: Path) -> dict[str, Any]:
    file: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return file


def of(file: dict[str, Any], phase: str, **fields: Any) -> list[dict[str, Any]]:
    """Return the events of a phase with such fields."""
    return [e for e in file["traceEvents"] if e["ph"] == phase and all(e[key] == fields[key] for key in fields)]


def clock_error(file: dict[str, Any], rank: int) -> float:
    """Return how many microseconds a rank's times may be wrong by, as its label says: none on rank 0's machine."""
    labels = "".join(e["args"]["labels"] for e in of(file, "M", pid=rank, name="process_labels"))
    known = re.search(r"known to (\d+) ns", labels)
    return int(known[1]) / 1000 if known else 0.0


def test_sums(ctx: dtl.Context) -> None:
    sums = traced(ctx).sums(ctx)
    if not ctx.is_root:
        assert sums is None
        return
    assert sums is not None
    counted: dict[str, int] = {}
    for record in sums:
        counted[record.operation] = counted.get(record.operation, 0) + record.calls
    ranks = ctx.size
    inner = ranks * (ranks - 1) // 2
    assert counted.pop("barrier") == ranks + inner
    assert set(counted) <= {"close", "test"}  # of contexts and requests that nobody holds
    assert table(sums).splitlines()[-1].startswith("total")


def test_sums_of_lines_that_only_one_rank_has(ctx: dtl.Context, alone: dtl.Context) -> None:
    with dtl.trace() as t:
        if ctx.rank == ctx.size - 1:
            dtl.allreduce(alone, np.ones(10))
    sums = t.sums()
    assert sums is None or [(record.operation, record.calls, record.bytes) for record in sums] == [
        ("allreduce", 1, 160)
    ]


def test_file_has_a_track_for_each_rank(ctx: dtl.Context, tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    t = traced(ctx)
    t.save(path, ctx)
    if not ctx.is_root:
        assert not path.exists()
        return
    file = written(path)
    assert file["otherData"] == {"dtl": dtl.__version__, "ranks": ctx.size, "dropped": 0}
    for rank in range(ctx.size):
        assert of(file, "M", pid=rank, name="process_name")[0]["args"]["name"] == f"rank {rank} of {ctx.size}"
        assert of(file, "M", pid=rank, name="thread_name")[0]["args"]["name"] == "main thread"
        assert len(of(file, "X", pid=rank, name="barrier")) == 1 + rank
    assert {e["pid"] for e in file["traceEvents"]} == set(range(ctx.size))


def test_times_of_the_file(ctx: dtl.Context, tmp_path: Path) -> None:
    """They are not negative, and grow; and what all ranks do together overlaps."""
    with dtl.trace() as t:
        for _ in range(20):
            ctx.barrier()
    t.save(tmp_path / "calls.json")
    if not ctx.is_root:
        return
    file = written(tmp_path / "calls.json")
    ranks = [of(file, "X", pid=rank) for rank in range(ctx.size)]
    for events in ranks:
        begins = [e["ts"] for e in events]
        assert begins == sorted(begins)
        assert begins[0] >= 0
        assert all(e["dur"] >= 0 for e in events)
        assert all(e["ts"] + e["dur"] <= after for e, after in zip(events, begins[1:]))
    errors = [clock_error(file, rank) for rank in range(ctx.size)]
    for together in zip(*ranks):  # no rank leaves a barrier before the last has come
        ends = [e["ts"] + e["dur"] + error for e, error in zip(together, errors)]
        assert min(ends) >= max(e["ts"] - error for e, error in zip(together, errors))


def test_an_event(ctx: dtl.Context, tmp_path: Path) -> None:
    with dtl.trace() as t:
        dtl.allreduce(ctx, np.ones(10))
        with pytest.raises(dtl.BoundsError):
            dtl.send(ctx, 1.0, 99)
    t.save(tmp_path / "calls.json")
    if ctx.is_root:
        first, second = of(written(tmp_path / "calls.json"), "X", pid=0)
        assert first["name"] == "allreduce"
        assert first["cat"] == "dtl"
        assert first["args"] == {"bytes": 160, "site": next(r.site for r in t if r.operation == "allreduce")}
        assert second["args"]["failed"] is True


def test_threads_have_tracks(ctx: dtl.Context, alone: dtl.Context, tmp_path: Path) -> None:
    with dtl.trace() as t:
        alone.barrier()
        thread = threading.Thread(target=alone.barrier)
        thread.start()
        thread.join()
    t.save(tmp_path / "calls.json")
    if ctx.is_root:
        file = written(tmp_path / "calls.json")
        for rank in range(ctx.size):
            names = {e["tid"]: e["args"]["name"] for e in of(file, "M", pid=rank, name="thread_name")}
            assert names == {1: "main thread", 2: "thread 2"}
            assert [e["tid"] for e in of(file, "X", pid=rank)] == [1, 2]


def test_file_says_what_it_lacks(ctx: dtl.Context, tmp_path: Path) -> None:
    with dtl.trace(max_events=3) as t:
        for _ in range(10):
            ctx.barrier()
    t.save(tmp_path / "calls.json")
    if ctx.is_root:
        file = written(tmp_path / "calls.json")
        assert file["otherData"]["dropped"] == 7 * ctx.size
        assert of(file, "M", pid=0, name="process_labels")[0]["args"]["labels"] == "7 calls dropped"
        assert len(of(file, "X")) == 3 * ctx.size


def test_empty_trace(ctx: dtl.Context, tmp_path: Path) -> None:
    t = dtl.trace(max_events=0)
    t.save(tmp_path / "calls.json")
    if ctx.is_root:
        assert of(written(tmp_path / "calls.json"), "X") == []


def test_running_trace_can_be_saved(ctx: dtl.Context, tmp_path: Path) -> None:
    """What saving itself calls is not in the file."""
    with dtl.trace() as t:
        ctx.barrier()
        t.save(tmp_path / "calls.json")
    if ctx.is_root:
        assert len(of(written(tmp_path / "calls.json"), "X")) == ctx.size


def test_names_that_json_escapes(ctx: dtl.Context, tmp_path: Path) -> None:
    with dtl.trace() as t:
        exec(compile("call()", 'a "file"\\\n\u2603', "exec"), {"call": ctx.barrier})
    t.save(tmp_path / "calls.json")
    if ctx.is_root:
        (event,) = of(written(tmp_path / "calls.json"), "X", pid=0)
        assert event["args"]["site"] == 'a "file"\\\n\u2603:1'


@pytest.mark.parametrize("where", ["no/such/folder/calls.json", "."])
def test_path_that_cannot_be_written(ctx: dtl.Context, tmp_path: Path, where: str) -> None:
    t = traced(ctx)
    with pytest.raises(dtl.FileError, match=r"No such file|is a directory"):
        t.save(tmp_path / where, ctx)
    assert os.listdir(tmp_path) == []
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_path_that_is_none(ctx: dtl.Context) -> None:
    with pytest.raises(TypeError if ctx.is_root else dtl.InvalidArgumentError):
        traced(ctx).save(None, ctx)  # type: ignore[arg-type]


def test_disk_that_is_full(ctx: dtl.Context) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full; runs on Linux")
    t = traced(ctx)
    with pytest.raises(dtl.FileError, match="No space left") as caught:
        t.save("/dev/full", ctx)
    assert caught.value.errno == errno.ENOSPC
    assert dtl.allreduce(ctx, 1) == ctx.size


def test_disk_that_fills_up(ctx: dtl.Context, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old trace stays, and nothing else."""
    path = Path(folder, "calls.json")
    traced(ctx).save(path, ctx)
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(dtl.FileError, match="No space left"):
            traced(ctx).save(path, ctx)
    assert path.read_bytes() == before
    ctx.barrier()
    assert os.listdir(folder) == ["calls.json"]
    traced(ctx, 0).save(path, ctx)
    ctx.barrier()
    assert of(written(path), "X") == []


def test_a_link_to_a_file(ctx: dtl.Context, folder: str) -> None:
    """The file is replaced, and keeps who may read it."""
    path, link = Path(folder, "calls.json"), Path(folder, "link")
    if ctx.is_root:
        path.write_text("old")
        path.chmod(0o600)
        link.symlink_to("calls.json")
    ctx.barrier()
    traced(ctx).save(link, ctx)
    ctx.barrier()
    assert link.is_symlink()
    assert written(path)["otherData"]["ranks"] == ctx.size
    assert path.stat().st_mode & 0o777 == 0o600


def test_context_that_is_none(ctx: dtl.Context) -> None:
    for call in (lambda t: t.save("x", 5), lambda t: t.sums("x")):
        with pytest.raises(dtl.InvalidTypeError, match=r"ctx must be a dtl\.Context"):
            call(traced(ctx))


def beside_rank_0(ctx: dtl.Context) -> list[bool]:
    """Say of each rank whether it is on the machine of rank 0, and has its clock."""
    hosts = dtl.allgather_object(ctx, os.uname().nodename)
    return [host == hosts[0] for host in hosts]


def test_clocks_of_one_machine_are_one(ctx: dtl.Context) -> None:
    assert timeline._identity() == timeline._identity()
    assert (timeline.align(ctx, timeline._identity()) == (0, 0)) == beside_rank_0(ctx)[ctx.rank]


def test_clocks_of_several_machines(ctx: dtl.Context) -> None:
    """Ranks that say that they are elsewhere find the difference, none on one machine, within the bound they state."""
    clock = timeline.align(ctx, ctx.rank)
    if beside_rank_0(ctx)[ctx.rank]:
        assert abs(clock.offset) <= clock.error
    assert (clock.error > 0) == (ctx.rank > 0)


@pytest.mark.mpi(min_size=2)
def test_clocks_that_differ(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ahead = 3_600_000_000_000 * ctx.rank
    with dtl.trace() as t:
        ctx.barrier()
    snapshot = t._snapshot()
    events = snapshot.events.copy()
    events["start"] += ahead
    real = time.monotonic_ns
    monkeypatch.setattr(time, "monotonic_ns", lambda: real() + ahead)
    monkeypatch.setattr(timeline, "_identity", lambda: ctx.rank)
    clock, beside = timeline.align(ctx, ctx.rank), beside_rank_0(ctx)
    if beside[ctx.rank]:
        assert abs(clock.offset + ahead) <= clock.error
    timeline.save(snapshot._replace(events=events, started=snapshot.started + ahead), tmp_path / "calls.json", ctx)
    if ctx.is_root:
        file = written(tmp_path / "calls.json")
        begins = [of(file, "X", pid=rank)[0]["ts"] for rank in range(ctx.size)]
        assert max(begins) < 60e6  # of a minute, not of hours
        begin = "clock of rank 0 -3" if beside[1] else "clock of rank 0 -1"  # hours, or the million seconds of nodeB
        assert begin in of(file, "M", pid=1, name="process_labels")[0]["args"]["labels"]
