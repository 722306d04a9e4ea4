"""What the benchmarks ran on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

_VERSIONS = """
import platform, numpy, mpi4py, dtl
from mpi4py import MPI
library = MPI.Get_library_version().split("\\n")[0].rstrip("\\0")
print("; ".join((f"Python {platform.python_version()}", f"NumPy {numpy.__version__}",
                 f"DTL {dtl.__version__}", f"mpi4py {mpi4py.__version__}", library.strip())))
"""


def _first(pattern: str, path: str) -> str:
    try:
        match = re.search(pattern, Path(path).read_text(), re.MULTILINE)
    except OSError:
        match = None
    return match[1].strip() if match else "unknown"


def versions(python: Path) -> str:
    """Return the versions of all that an environment's interpreter uses."""
    done = subprocess.run([str(python), "-c", _VERSIONS], stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.strip()


def describe() -> list[tuple[str, str]]:
    """Return what the machine is, as names and values."""
    memory = _first(r"^MemTotal:\s*(\d+) kB", "/proc/meminfo")
    gib = f"{int(memory) / 2**20:.0f} GiB" if memory.isdigit() else memory
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return [
        ("Processor", _first(r"^model name\s*:\s*(.*)$", "/proc/cpuinfo")),
        ("Cores for us", str(len(os.sched_getaffinity(0)))),
        ("Memory", gib),
        ("Kernel", f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}"),
        ("Transparent huge pages", _first(r"\[(\w+)\]", "/sys/kernel/mm/transparent_hugepage/enabled")),
        ("Load before the run (1, 5, 15 minutes)", load),
    ]
