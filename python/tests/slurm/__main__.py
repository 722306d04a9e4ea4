"""Jobs under Slurm: ``python python/tests/slurm --python PYTHON --python PYTHON``, as root.

Starts a Slurm of one node beside whatever this machine has, and runs the tests of ``jobs.py`` in it, with ranks of the
interpreters that are named, each of which has an MPI library.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import cluster


def main() -> int:
    """Return the exit code of the tests."""
    parser = argparse.ArgumentParser(prog="python python/tests/slurm", description=__doc__)
    parser.add_argument("--python", action="append", default=[], help="an interpreter that has DTL and an MPI library")
    parser.add_argument("more", nargs="*", help="arguments of pytest")
    options = parser.parse_args()
    packages = cluster.missing()
    if packages:
        sys.exit(f"== missing; install with\n\tapt-get install --no-install-recommends {' '.join(packages)}")
    if os.geteuid() != 0:
        sys.exit("== Slurm's daemons start jobs of any user, and so need root here")
    with cluster.started() as environ:
        environ["DTL_SLURM_PYTHONS"] = os.pathsep.join(map(os.path.abspath, options.python or [sys.executable]))
        environ["DTL_TEST_RANKS"] = "1"
        jobs = Path(__file__).with_name("jobs.py")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(jobs), *options.more]
        return subprocess.run(command, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
