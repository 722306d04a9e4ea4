"""Bars of long operations."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import job
import numpy as np
import pytest
from job import on
from programs import clean

import dtl

pytest.importorskip("tqdm", reason="not installed; runs in the environments of `make setup`")

starts_processes = pytest.mark.jobs("starts processes")


def test_traces_have_phases(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 1_000_000) as vec, dtl.trace() as trace:
        for partition in (dtl.PARTITION_CYCLIC, dtl.PARTITION_BLOCK):
            vec.redistribute(partition)
    records = {record.operation: record for record in trace}
    assert records["redistribute"].calls == 2
    if ctx.size > 1:
        phase = records["redistribution, exchange"]
        assert phase.calls == 2
        assert phase.bytes > 0
        assert 0 < phase.seconds <= records["redistribute"].seconds


def test_traces_have_the_phases_of_sorts(ctx: dtl.Context) -> None:
    with dtl.DistributedVector(ctx, 1_000_000, np.float64) as vec:
        vec.local_view()[:] = np.random.default_rng(ctx.rank).random(vec.local_size)
        with dtl.trace() as trace:
            dtl.sort(vec)
            dtl.argsort(vec, reverse=True).close()
    records = {record.operation: record for record in trace}
    for operation in ("sort", "argsort"):
        expected = {"local", "splitters", "exchange", "merge"} if ctx.size > 1 else {"local"}
        assert {name for name in records if name.startswith(f"{operation}, ")} == {
            f"{operation}, {phase}" for phase in expected
        }
        local = records[f"{operation}, local"]
        assert (local.calls, local.bytes > 0) == (1, True)
        assert 0 < local.seconds <= records[operation].seconds


MOVE = """\
import dtl, dtl.monitoring.progress_bar, numpy as np
dtl.monitoring.progress_bar._AFTER = 0.0
with dtl.Context() as ctx:
    dtl.progress(True, anywhere=True)
    vec = dtl.DistributedVector(ctx, 8_000_000, dtype=np.float64)
    vec.redistribute(dtl.PARTITION_CYCLIC, max_extra_bytes=4096)
    vec.redistribute(dtl.PARTITION_BLOCK, max_extra_bytes=4096)
    dtl.progress(False)
"""


@starts_processes
@pytest.mark.parametrize("ranks", [on(2)])
def test_a_long_move_has_a_bar(ranks: int, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(MOVE)
    done = job.run(ranks, str(program))
    assert done.returncode == 0, done.stderr
    assert "redistribution, exchange" in done.stderr
    assert "B/s" in done.stderr


TERMINAL = "import dtl; dtl.progress(); print(dtl.monitoring.progress_bar._shower is not None); dtl.progress(False)"


@starts_processes
def test_only_terminals_have_bars() -> None:
    command = [sys.executable, "-c", TERMINAL]
    outer, inner = pty.openpty()
    for stderr, expected in ((inner, "True\n"), (subprocess.DEVNULL, "False\n")):
        done = subprocess.run(
            command, env=clean(), stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8", timeout=60, check=True
        )
        assert done.stdout == expected
    os.close(outer)
    os.close(inner)


@starts_processes
def test_only_rank_0_has_bars() -> None:
    program = TERMINAL.replace("progress()", "progress(anywhere=True)")
    for rank, expected in (("0", "True\n"), ("1", "False\n")):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**clean(), "PMIX_RANK": rank},
            stdout=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        assert done.stdout == expected


def test_without_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(dtl.BackendUnavailableError, match="pip install"):
        dtl.progress()
