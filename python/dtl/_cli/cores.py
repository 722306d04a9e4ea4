"""How many ranks this process may start without two of them sharing a core."""

from __future__ import annotations

import os


def hardware_threads() -> set[int]:
    """Return the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def physical_cores() -> int:
    """Return how many cores those processors lie on; launchers count in cores, not in hardware threads."""
    return len({_siblings(thread) for thread in hardware_threads()})


def _siblings(thread: int) -> str:
    """Return what names the core of a hardware thread: the list of the threads on it."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{thread}/topology/thread_siblings_list") as file:
            return file.read()
    except OSError:
        return str(thread)
