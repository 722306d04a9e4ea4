"""Runs one task of a library, and prints what the kernel counts of its process as a line of JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Mapping

#: Bytes, by what they are.
Counts = Dict[str, int]


def counts() -> Counts:
    """Return the most that was resident of this process, its time, and what it has read and written."""
    status = Path("/proc/self/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    io = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    disk = {"read": int(io["read_bytes"]), "written": int(io["write_bytes"])}
    microseconds = int(time.process_time() * 1e6)
    return {
        "peak": int(peak) << 10,
        "processor": microseconds,
        "calls read": int(io["rchar"]),
        "calls wrote": int(io["wchar"]),
        **disk,
    }


def run(
    tasks: Mapping[str, Callable[[], Any]], of: Callable[[], list[Counts]] = lambda: [counts()], tells: bool = True
) -> None:
    """Run the task that the command line names after the folder. What it returns are numbers of its result.

    ``of`` returns the counts of each process that has a part of it, of which one tells.
    """
    before = of()
    start = time.perf_counter()
    found = tasks[sys.argv[2]]()
    taken = time.perf_counter() - start
    behind = of()
    counted = {
        name: sum(each[name] for each in behind) - (0 if name == "peak" else sum(each[name] for each in before))
        for name in behind[0]
    }
    if tells:
        print(json.dumps({"seconds": taken, "found": [float(one) for one in found], **counted}), flush=True)
