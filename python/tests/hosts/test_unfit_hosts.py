"""Hosts on which a job cannot run as it is: an error that says so, nothing left running, no memory left."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Iterator

import pytest
import simulated
from test_ends import NOTHING_LEFT, Ended

pytestmark = [
    pytest.mark.alone("makes hosts of its own"),
    pytest.mark.skipif("DTL_TEST_HOSTS" not in os.environ, reason="makes two hosts; runs in `make test-hosts`"),
]

PROGRAM = """
import os, sys
{before}
import dtl
with dtl.Context() as ctx:
    try:
        {body}
    except dtl.DTLError as error:
        os.write(1, f"rank {{ctx.rank}}: {{type(error).__name__}}: {{error}}\\n".encode())
    os.write(1, f"sum {{dtl.allreduce(ctx, ctx.rank)}}\\n".encode())
"""

ON_SECOND = "if os.uname().nodename == 'nodeB':\n    "


@pytest.fixture
def hosts() -> Iterator[simulated.Hosts]:
    with simulated.made() as made:
        yield made


def run(
    hosts: simulated.Hosts, folder: Path, before: str = "", body: str = "pass", listed: str = "nodeA:2,nodeB:2"
) -> Ended:
    """Run a program on ranks of both hosts to its end."""
    script, out = folder / "program.py", folder / "out"
    script.write_text(PROGRAM.format(before=before, body=body))
    words = [sys.executable, "-m", "dtl", "run", "--hosts", listed, str(script)]
    with open(out, "w") as file:
        files = [0, file.fileno(), file.fileno()]
        code = hosts.run(simulated.NAMES[0], words, 60, cwd=str(folder), environ=hosts.environ, files=files)
    for name in simulated.NAMES:
        assert hosts.run(name, ["sh", "-c", NOTHING_LEFT]) == 0, f"something is left on {name}"
    return Ended(code, out.read_text(), 0.0)


def test_a_host_that_does_not_exist(hosts: simulated.Hosts, tmp_path: Path) -> None:
    ended = run(hosts, tmp_path, listed="nodeA:2,nodeX:2")
    assert (ended.code, ended.out.count("\n")) == (2, 1)
    assert ended.out.startswith("dtl run: host 'nodeX' cannot be found: ")


@pytest.mark.parametrize("which", ["dtl 9.9.9 with Python 3.11", "dtl 0.1.0 with Python 2.7"])
def test_other_versions_on_a_host(hosts: simulated.Hosts, tmp_path: Path, which: str) -> None:
    before = ON_SECOND + f"from dtl._native import process; process.versions = lambda: {which!r}"
    ended = run(hosts, tmp_path, before)
    assert ended.code != 0
    assert f"host nodeB has {which}, but dtl run, which has started this job, is of dtl " in ended.out, ended.out
    assert "sum" not in ended.out


@pytest.mark.parametrize("before", ["import no_such_module", "sys.exit(5)", "os._exit(5)"])
def test_a_rank_that_fails_before_its_context(hosts: simulated.Hosts, tmp_path: Path, before: str) -> None:
    """As on a host where the package is missing: the others would wait for it."""
    ended = run(hosts, tmp_path, ON_SECOND + before)
    assert ended.code != 0
    assert "sum" not in ended.out
    assert ("No module named 'no_such_module'" in ended.out) == before.startswith("import"), ended.out


def test_a_host_without_memory_to_share(hosts: simulated.Hosts, tmp_path: Path) -> None:
    """Its ranks do without, as Open MPI does; MPICH cannot, and is not started."""
    assert hosts.run("nodeB", ["mount", "-o", "remount,size=4k", "/dev/shm"]) == 0
    ended = run(hosts, tmp_path, body="dtl.Window(ctx, size=1 << 20).close()")
    if ended.code == 0:
        assert ended.out.count("sum 6") == 4, ended.out
        failed = re.findall(r"^rank (\d): CommunicationError: window: .*room in /dev/shm", ended.out, re.MULTILINE)
        assert len(failed) in (0, 4), ended.out
    else:
        assert "host nodeB has 4096 bytes left; MPICH needs more than 1048576 for each of the 2 ranks" in ended.out
        assert "SIGBUS" not in ended.out
        assert "sum" not in ended.out
    assert hosts.run("nodeB", ["sh", "-c", 'test -z "$(ls /dev/shm)"']) == 0


def on_every_rank(ended: Ended, text: str) -> bool:
    """Say whether every rank of four raised this, and went on."""
    found = re.findall(f"^rank (\\d): {text}", ended.out, re.MULTILINE)
    return sorted(found) == ["0", "1", "2", "3"] and (ended.code, ended.out.count("sum 6")) == (0, 4)


def test_a_host_with_less_memory_than_its_ranks_need(hosts: simulated.Hosts, tmp_path: Path) -> None:
    limit = ON_SECOND + "import resource; resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))"
    ended = run(hosts, tmp_path, limit, "dtl.DistributedVector(ctx, 1 << 32)")
    assert on_every_rank(ended, "MemoryError: vector: .*8589934592 bytes .*cannot allocate memory"), ended.out


def test_a_host_with_too_little_memory_to_start(hosts: simulated.Hosts, tmp_path: Path) -> None:
    limit = ON_SECOND + "import resource; resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))"
    ended = run(hosts, tmp_path, limit)
    assert ended.code != 0
    assert "ImportError: the address space of this process is limited to 419430400 bytes" in ended.out, ended.out
    assert "sum" not in ended.out


def test_a_trace_of_two_clocks(hosts: simulated.Hosts, tmp_path: Path) -> None:
    """The clocks of the hosts are a million seconds apart."""
    trace = "trace = dtl.trace(); trace.__enter__(); ctx.barrier(); trace.__exit__(None, None, None)"
    ended = run(hosts, tmp_path, body=f"{trace}; trace.save('t', ctx)")
    assert (ended.code, ended.out.count("sum 6")) == (0, 4), ended.out
    times = [event["ts"] for event in json.loads((tmp_path / "t").read_text())["traceEvents"] if "ts" in event]
    assert len(times) >= 4
    assert max(times) - min(times) < 60e6  # microseconds


def test_a_launch_inside_a_launch(hosts: simulated.Hosts, tmp_path: Path) -> None:
    ended = run(hosts, tmp_path, body="dtl.launch(len, 2)")
    assert on_every_rank(ended, "BackendError: launch: this process is a rank"), ended.out


@pytest.mark.parametrize("rank", [0, 3])
def test_what_cannot_be_sent(hosts: simulated.Hosts, tmp_path: Path, rank: int) -> None:
    ended = run(
        hosts, tmp_path, "import threading", f"dtl.allgather_object(ctx, threading.Lock() if ctx.rank == {rank} else 1)"
    )
    assert on_every_rank(ended, ".*cannot be pickled"), ended.out


def test_clocks_that_differ(hosts: simulated.Hosts, tmp_path: Path) -> None:
    """Nothing compares the time of one host with that of another; those since their start differ anyway."""
    before = ON_SECOND + "import time; now = time.time; time.time = lambda: now() - 1e6"
    ended = run(hosts, tmp_path, before)
    assert (ended.code, ended.out.count("sum 6")) == (0, 4), ended.out
