"""Ranks that wait for one another say so, give up where they are told to, and leave no process behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs import Ended, alone, clean, ranks, succeeded, until

import dtl

pytestmark = [
    pytest.mark.jobs("starts ranks itself"),
    pytest.mark.skipif(not dtl.has_mpi(), reason="there is no MPI library; runs in the environments of make setup"),
]

PROGRAM = """
import os, signal, sys, time
import numpy as np
import dtl

with dtl.Context() as ctx:
    rank, last = ctx.rank, ctx.rank == ctx.size - 1
    ctx.barrier()
    try:
        {body}
        sys.stdout.write(f"rank {{rank}} goes on\\n")
    except dtl.CommunicationError as error:
        sys.stdout.write(f"rank {{rank}}: {{error}}\\n")
"""


def job(folder: Path, body: str, count: int = 2, **variables: str) -> Ended:
    started = time.monotonic()
    ended = ranks(count, PROGRAM.format(body=body.replace("\n", "\n        ")), folder, **variables)
    assert time.monotonic() - started < 30
    return ended


def test_report_of_a_long_wait(tmp_path: Path) -> None:
    """It names who waits where, and where the rank is that does not come; nothing fails."""
    ended = job(tmp_path, "if last: time.sleep(2)\ndtl.allreduce(ctx, np.ones(3))", DTL_HANG_REPORT="0.5")
    out = succeeded(ended)
    assert out.count("goes on") == 2
    reports = re.findall(r"dtl: rank 0 of 2 waits for .*", ended.err)
    assert 1 <= len(reports) <= 3
    assert re.search(
        r": rank 0 in allreduce\(3 elements of float64, SUM\) at program\.py:\d+; rank 1 at program\.py:\d+", reports[0]
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "if last: time.sleep(3)\nelse: ctx.barrier()",
            r"barrier: no end after 1s: rank 0 in barrier\(\) at program.py:\d+; rank 1 at ",
        ),
        (
            "if last: time.sleep(3)\nelse: dtl.recv(ctx, 1, tag=5)",
            r"recv: no end after 1s: rank 0 in recv\(source 1, tag 5\) at ",
        ),
        ("dtl.recv(ctx, 1 - rank)", r"rank 0 in recv\(source 1, tag 0\) at .*; rank 1 in recv\(source 0, tag 0\) at "),
        ("dtl.send(ctx, np.zeros(100_000), rank)", r"send: no end after 1s: rank 0 in send\(dest 0, tag 0\) at "),
        (
            "dtl.send(ctx, np.zeros(100_000), 1 - rank)",
            r"rank 0 in send\(dest 1, tag 0\) at .*; rank 1 in send\(dest 0",
        ),
    ],
    ids=["collective", "recv", "both recv", "send to oneself", "both send"],
)
def test_limit_of_a_wait(tmp_path: Path, body: str, text: str) -> None:
    ended = job(tmp_path, body, DTL_TIMEOUT="1")
    assert re.search(f"rank [01]: .*{text}", ended.out), ended  # of two that wait for each other, either gives up first


def test_given_up_meetings_fail_on_all_ranks(tmp_path: Path) -> None:
    """The rank that comes too late hears who gave up, and so does each later call."""
    body = "if last: time.sleep(2.5)\ntry:\n    ctx.barrier()\nexcept dtl.CommunicationError: pass\nctx.barrier()"
    out = job(tmp_path, body, DTL_TIMEOUT="1").out
    assert re.search(r"rank 1: barrier: rank 0 gave up in barrier\(\) at .*: no end after 1s", out), out


def test_rank_that_closes_or_ends(tmp_path: Path) -> None:
    for last, text in (("ctx.close()", "has closed the context"), ("os._exit; sys.exit(0)", "has ended its program")):
        out = job(tmp_path, f"if last: {last}\nelse: ctx.barrier()").out
        assert f"rank 1 {text}, and does not come to barrier() at program.py:" in out


@pytest.mark.parametrize("variable", ["DTL_TIMEOUT", "DTL_HANG_REPORT"])
def test_limits_that_are_none(variable: str) -> None:
    for text in ("soon", "-1", "nan", "inf"):
        ended = alone("import dtl; dtl.Context()", **{variable: text})
        assert f"InvalidArgumentError: {variable} is '{text}'; it must be a number of seconds" in ended.err


def test_rank_that_is_killed(tmp_path: Path) -> None:
    """The launcher ends the others, and the job has failed."""
    ended = job(tmp_path, "if last: os.kill(os.getpid(), signal.SIGKILL)\nctx.barrier()", count=2)
    assert ended.code != 0
    assert "goes on" not in ended.out


@pytest.mark.parametrize("where", ["while True: pass", "time.sleep(60)"], ids=["in a loop", "asleep"])
def test_interrupt(tmp_path: Path, where: str) -> None:
    """Ctrl-C ends the job within 5 s, here 10 as other tests run beside it, with a report, and no process is left."""
    script, started = tmp_path / "program.py", tmp_path / "started"
    lines = (
        f"open({str(started)!r} + str(rank), 'w').write(str(os.getpid()))",
        "if last:",
        f"    {where}",
        "ctx.barrier()",
    )
    script.write_text(PROGRAM.format(body="\n        ".join(lines)))
    command = [sys.executable, "-m", "dtl", "run", "-n", "2", str(script)]
    with subprocess.Popen(command, env=clean(), stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            processes = [_number(Path(f"{started}{rank}")) for rank in range(2)]
            time.sleep(0.5)  # both come to their wait or loop
            process.send_signal(signal.SIGINT)
            interrupted = time.monotonic()
            _, report = process.communicate(timeout=20)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert time.monotonic() - interrupted < 10
    assert process.returncode == 130
    assert re.search(
        r"rank 0 of 2 waits for .*: rank 0 in barrier\(\) at program\.py:\d+; rank 1 (was )?at program", report
    )
    assert re.search(r"dtl run: KeyboardInterrupt: rank 0 at program\.py:\d+; rank 1 at program\.py:\d+\n", report)
    assert "Traceback" not in report, "a line in place of one a rank"
    assert not [number for number in processes if Path(f"/proc/{number}").exists()]


def _number(file: Path) -> int:
    """Return the number that a rank writes to a file, once it has."""
    assert until(lambda: file.exists() and file.read_text())
    return int(file.read_text())
