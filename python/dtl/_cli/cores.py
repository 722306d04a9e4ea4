"""How many ranks this process may start without two of them sharing a core."""

from __future__ import annotations

import os
import posixpath
from typing import Callable


def hardware_threads() -> set[int]:
    """Return the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def physical_cores() -> int:
    """Return how many cores those processors lie on; launchers count in cores, not in hardware threads."""
    return len({_siblings(thread) for thread in hardware_threads()})


def usable_cores() -> int:
    """Return on how many of those cores ranks can compute all the time: fewer if a control group grants less time."""
    granted = quota(_read("/proc/self/cgroup"), _read)
    return physical_cores() if granted is None else min(physical_cores(), granted)


def quota(groups: str, read: Callable[[str], str]) -> int | None:
    """Return for how many processors' time the control group of this process, or one above it, has a quota.

    It is the least of them, rounded up; None if there is none. backends/cpu computes the same for a rank's threads.
    """
    granted = []
    for line in groups.splitlines():
        fields = line.split(":", 2)  # number, controllers, path
        if len(fields) != 3 or (fields[1] and "cpu" not in fields[1].split(",")):
            continue
        version, path = 1 if fields[1] else 2, fields[2]
        root = "/sys/fs/cgroup" if version == 2 else "/sys/fs/cgroup/cpu"
        while True:
            here = posixpath.normpath(f"{root}/{path}")
            files = ["cpu.max"] if version == 2 else ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
            numbers = " ".join(read(f"{here}/{file}") for file in files).split()
            if len(numbers) == 2 and all(text.isdecimal() and int(text) for text in numbers):
                granted.append(-(-int(numbers[0]) // int(numbers[1])))
            if not path.strip("/"):
                break
            path = posixpath.dirname(path.rstrip("/"))
    return min(granted, default=None)


def _read(file: str) -> str:
    """Return the text of a file, "" if it cannot be read."""
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""


def _siblings(thread: int) -> str:
    """Return what names the core of a hardware thread: the list of the threads on it."""
    return _read(f"/sys/devices/system/cpu/cpu{thread}/topology/thread_siblings_list") or str(thread)
