"""Hosts on which a job cannot run as it is: an error that says so, nothing left running, no memory left."""

from __future__ import annotations

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
    os.write(1, f"sum {{dtl.allreduce(ctx, ctx.rank)}}\\n".encode())
"""

ON_SECOND = "if os.uname().nodename == 'nodeB':\n    "


@pytest.fixture
def hosts() -> Iterator[simulated.Hosts]:
    with simulated.made() as made:
        yield made


def run(hosts: simulated.Hosts, folder: Path, before: str = "", listed: str = "nodeA:2,nodeB:2") -> Ended:
    """Run a program on ranks of both hosts to its end."""
    script, out = folder / "program.py", folder / "out"
    script.write_text(PROGRAM.format(before=before))
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


def test_a_host_without_memory_to_share(hosts: simulated.Hosts, tmp_path: Path) -> None:
    """Its ranks do without, as Open MPI does; MPICH's crash when they start, and then they are named."""
    assert hosts.run("nodeB", ["mount", "-o", "remount,size=4k", "/dev/shm"]) == 0
    ended = run(hosts, tmp_path)
    if ended.code == 0:
        assert ended.out.count("sum 6") == 4, ended.out
    else:
        assert re.search(r"dtl run: rank [23] on nodeB left the job without finishing", ended.out), ended.out
        assert "sum" not in ended.out


def test_clocks_that_differ(hosts: simulated.Hosts, tmp_path: Path) -> None:
    """Nothing compares the time of one host with that of another."""
    before = ON_SECOND + "import time; now = time.time; time.time = lambda: now() - 1e6"
    ended = run(hosts, tmp_path, before)
    assert (ended.code, ended.out.count("sum 6")) == (0, 4), ended.out
