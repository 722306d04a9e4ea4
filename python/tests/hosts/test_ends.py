"""Ends of ranks, and of a host, while ranks on another host wait for them."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import time
from pathlib import Path
from typing import Iterator, NamedTuple

import pytest
import simulated
from programs import until

pytestmark = [
    pytest.mark.alone("makes hosts of its own"),
    pytest.mark.skipif("DTL_TEST_HOSTS" not in os.environ, reason="makes two hosts; runs in `make test-hosts`"),
]

#: What any of these ends may take.
SECONDS = 30


class Ended(NamedTuple):
    """A job that has ended."""

    code: int
    out: str
    seconds: float


@pytest.fixture
def hosts() -> Iterator[simulated.Hosts]:
    with simulated.made() as made:
        yield made


def run(hosts: simulated.Hosts, folder: Path, program: str, end: str = "", ranks: str = "2+2") -> Ended:
    """Run a program on ranks of both hosts; end is done to the second one when the file "now" is there."""
    script, out = folder / "program.py", folder / "out"
    script.write_text(textwrap.dedent(program))
    listed = ",".join(f"{name}:{n}" for name, n in zip(simulated.NAMES, ranks.split("+")))
    words = [sys.executable, "-m", "dtl", "run", "--hosts", listed, str(script)]
    with open(out, "w") as file:
        command = hosts.begin(
            simulated.NAMES[0], words, cwd=str(folder), environ=hosts.environ, files=[0, file.fileno(), file.fileno()]
        )
        try:
            now = folder / "now"
            assert until(now.exists, 60), out.read_text()
            if end:
                getattr(hosts, end)(simulated.NAMES[1])
            began = time.monotonic()
            code = command.wait(SECONDS)
        except TimeoutError:
            pytest.fail(f"still running {SECONDS} s after the end\n{out.read_text()}")
        finally:
            command.close()
    return Ended(code, out.read_text(), time.monotonic() - began)


#: What the other ranks wait in, one of them on the host of the rank that ends.
WAITS = {
    "allreduce": "dtl.allreduce(ctx, 1)",
    "long broadcast": "dtl.broadcast(ctx, np.ones(1 << 20), root=ctx.size - 1, out=np.empty(1 << 20))",
    "recv": "dtl.recv(ctx, source=ctx.size - 1)",
    "irecv": "dtl.irecv(ctx, source=ctx.size - 1).wait()",
    "lock": "win.lock(0)",
}

PROGRAM = """
    import os, signal, sys, time, pathlib
    import numpy as np
    import dtl

    ctx = dtl.Context()
    win = dtl.Window(ctx, size=8)
    last = ctx.rank == ctx.size - 1
    if last:
        win.lock(0)
    ctx.barrier()
    if last:
        time.sleep(0.5)  # the others come to their wait, which nobody sees
        pathlib.Path("now").touch()
        {end}
    {wait}
    print("rank", ctx.rank, "went on", flush=True)
    os._exit(0)
"""

ENDS = {
    "returns": "sys.exit()",
    "killed": "os.kill(os.getpid(), signal.SIGKILL)",
    "exits with 0": "os._exit(0)",
    "exits with 3": "os._exit(3)",
    "host killed": "time.sleep(100)",
    "host without power": "time.sleep(100)",
}


#: Fails where a rank of the job is there seconds later, or memory that ranks share.
NOTHING_LEFT = """
    for turn in $(seq 80); do pgrep -f '[p]rogram.py' >/dev/null || break; sleep 0.1; done
    ! pgrep -af '[p]rogram.py' && ! ls /dev/shm | grep -i dtl
"""


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("wait", WAITS)
def test_the_job_ends(hosts: simulated.Hosts, tmp_path: Path, wait: str, end: str) -> None:
    how = {"host killed": "kill", "host without power": "cut"}.get(end, "")
    ended = run(hosts, tmp_path, PROGRAM.format(wait=WAITS[wait], end=ENDS[end]), how)
    print(f"{ended.seconds:.1f} s, code {ended.code}")
    print(ended.out)
    for name in simulated.NAMES[: 1 if how else 2]:
        assert hosts.run(name, ["sh", "-c", NOTHING_LEFT]) == 0, f"something is left on {name}"
    assert ended.code != 0
    assert "went on" not in ended.out
    assert re.search(r"rank [23]\b", ended.out), "the rank, or another of its host that is gone, is named"


def test_ranks_end_whose_supervisor_is_killed(hosts: simulated.Hosts, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM.format(wait=WAITS["allreduce"], end="time.sleep(100)")))
    words = [sys.executable, "-m", "dtl", "run", "--hosts", "nodeA:2,nodeB:2", str(script)]
    command = hosts.begin(simulated.NAMES[0], words, cwd=str(tmp_path), environ=hosts.environ)
    assert until((tmp_path / "now").exists, 60)
    command.close()
    for name in simulated.NAMES:
        assert hosts.run(name, ["sh", "-c", NOTHING_LEFT]) == 0, f"something is left on {name}"
