"""What a program on two ranks takes to import, start and stop, beside the same with mpi4py."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from blocks import Block, alternate
from rows import at_most, deliver

from dtl._cli import command, start

_ROUNDS = 11

_PROGRAMS = {
    "DTL": "import numpy, dtl\nwith dtl.Context() as ctx:\n    ctx.barrier()\n",
    "mpi4py": "import numpy\nfrom mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\n",
    "numpy alone": "import numpy\n",
}


def _job(script: Path) -> Block:
    """Return a block that runs a script on two ranks, by the launcher itself: ``dtl run`` would be a process more."""
    job = command.Job(ranks=2, program=[sys.executable, str(script)])
    started = start.command_for(job, os.environ, print)
    environment = {**os.environ, **started.variables, "PYTHONPYCACHEPREFIX": str(script.parent / "bytecode")}
    # Installed packages come with bytecode. The first round, which does not count, writes it for all alike.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def block() -> float:
        before = time.perf_counter()
        subprocess.run(started.words, check=True, env=environment, cwd=str(script.parent))
        return time.perf_counter() - before

    return block


def main() -> None:
    """Measure whole jobs, which end as they should: with MPI finalised."""
    with tempfile.TemporaryDirectory() as folder:
        jobs: dict[str, Block] = {}
        for name, text in _PROGRAMS.items():
            script = Path(folder) / f"start_{len(jobs)}.py"
            script.write_text(text)
            jobs[name] = _job(script)
        times = alternate(jobs, _ROUNDS)
    deliver([at_most("import, start and stop of a program on two ranks", times, "DTL", "mpi4py", 1.0)], __doc__ or "")


if __name__ == "__main__":
    main()
