"""What starting costs: the import, in time and file-system calls, and the first context without MPI."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rows import Row, deliver, seconds

_ROUNDS = 25
_MPI4PY_ROUNDS = 7

_CONTEXT = """
import time, dtl
def once():
    start = time.perf_counter()
    with dtl.Context():
        pass
    return time.perf_counter() - start
first = once()
later = sorted(once() for _ in range(1001))
print(first, later[500])
"""

_CALL = re.compile(r"^\d+ +\w+\(")


def main() -> None:
    """Measure in fresh interpreters that know nothing of this folder."""
    with tempfile.TemporaryDirectory() as folder:
        # Installed packages come with bytecode. Here the first pair, which does not count, writes it.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        rows = [_import_time(folder), _import_calls(folder), *_context(folder), _mpi4py_time(folder)]
    deliver(rows, __doc__ or "")


def _wall(code: str, folder: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
    return time.perf_counter() - start


def _added(code: str, base: str, rounds: int, folder: str) -> list[float]:
    """Return what code takes beyond base in whole processes, pair by pair. One more pair fills the caches."""
    added = [_wall(code, folder) - _wall(base, folder) for _ in range(rounds + 1)]
    return added[1:]


def _import_time(folder: str) -> Row:
    added = _added("import numpy, dtl", "import numpy", _ROUNDS, folder)
    middle = statistics.median(added)
    detail = f"whole processes, {len(added)} pairs; smallest difference {seconds(min(added))}"
    return Row("`import dtl` after `import numpy`", "≤ 40 ms", seconds(middle), detail, middle <= 0.040)


def _file_calls(code: str, folder: str) -> int:
    """Return how many system calls name a file or list a folder while code runs."""
    log = Path(folder) / "strace.log"
    trace = ["strace", "-f", "-qq", "-e", "trace=%file,getdents64", "-o", str(log)]
    subprocess.run([*trace, sys.executable, "-c", code], check=True, cwd=folder)
    return sum(1 for line in log.read_text(errors="replace").splitlines() if _CALL.match(line))


def _import_calls(folder: str) -> Row:
    measure, target = "file-system calls of `import dtl`", "≤ 300"
    if shutil.which("strace") is None:
        return Row(measure, target, "not measured", "no strace on PATH", None)
    base, both = _file_calls("import numpy", folder), _file_calls("import numpy, dtl", folder)
    detail = f"numpy alone {base}, with dtl {both}"
    return Row(measure, target, str(both - base), detail, both - base <= 300)


def _context(folder: str) -> tuple[Row, Row]:
    runs = []
    for _ in range(_ROUNDS):
        command = [sys.executable, "-c", _CONTEXT]
        done = subprocess.run(command, check=True, cwd=folder, stdout=subprocess.PIPE)
        runs.append([float(word) for word in done.stdout.split()])
    rows = []
    for name, times in zip(("first", "later"), zip(*runs)):
        middle = statistics.median(times)
        detail = f"{len(times)} fresh interpreters; {seconds(min(times))} to {seconds(max(times))}"
        measure = f"`with dtl.Context()` without MPI, {name}"
        rows.append(Row(measure, "≤ 1 ms", seconds(middle), detail, middle <= 0.001))
    return rows[0], rows[1]


def _mpi4py_time(folder: str) -> Row:
    added = _added("import numpy, mpi4py.MPI", "import numpy", _MPI4PY_ROUNDS, folder)
    detail = f"the same, with MPI_Init and MPI_Finalize; smallest difference {seconds(min(added))}"
    middle = seconds(statistics.median(added))
    return Row("`import mpi4py.MPI` after `import numpy`", "", middle, detail, None)


if __name__ == "__main__":
    main()
