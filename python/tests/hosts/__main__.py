"""Tests on two simulated hosts: the Python tests with ranks on both, ends of ranks and of hosts, and a table of times.

``python python/tests/hosts`` runs all of it on each Python that ``--python`` names, each of which has DTL and an MPI
library. Files of tests, as arguments, replace the whole of the Python tests.
"""

from __future__ import annotations

import argparse
import functools
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable

import simulated

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent.parent.parent

#: How many ranks the hosts have.
LAYOUTS = ("2+2", "1+3", "3+1")

#: What mpi4py's times are taken with: as it comes, and with Open MPI's collective operations in two levels. MPICH's
#: waits would sleep with the setting that is best for tests.
_NO_SLEEP = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "0"}
_SETTINGS: dict[str, dict[str, str]] = {
    "as it comes": _NO_SLEEP,
    "coll_han_priority": {**_NO_SLEEP, "OMPI_MCA_coll_han_priority": "100"},
}

_PARTS = ("suites", "ends", "times")


def main() -> int:
    """Run the parts and return the exit code: 1 if something failed or is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="an interpreter that has DTL and an MPI library (this one)")
    parser.add_argument("--ranks", action="append", help="ranks of both hosts, such as 2+2 (2+2, 1+3 and 3+1)")
    parser.add_argument("--only", choices=_PARTS, action="append", help="run this part, and those named as well")
    parser.add_argument("--limit", type=float, default=3600, help="seconds that a run on the ranks may take (3600)")
    parser.add_argument("tests", nargs="*", help="files of tests to run, in place of all")
    options = parser.parse_args()
    lack = simulated.missing()
    if lack:
        print(f"hosts: {lack}", file=sys.stderr)
        return 1
    simulated.heed_signals()
    failed = []
    for python in [os.path.abspath(python) for python in options.python or [sys.executable]]:
        for what, run in _runs(python, options).items():
            print(f"\n== {what}, {python}", flush=True)
            began = time.monotonic()
            ok = _succeeds(run)
            print(f"hosts: {what}: {'ok' if ok else 'FAILED'} in {time.monotonic() - began:.0f} s", flush=True)
            failed += [] if ok else [f"{what}, {python}"]
    for what in failed:
        print(f"hosts: FAILED: {what}")
    return int(bool(failed))


def _runs(python: str, options: argparse.Namespace) -> dict[str, Callable[[], int]]:
    """Return what is to run with a Python, by its name."""
    parts = options.only or _PARTS
    runs: dict[str, Callable[[], int]] = {}
    for layout in options.ranks or LAYOUTS:
        if "suites" in parts:
            runs[f"tests on {layout} ranks"] = functools.partial(_suite, python, layout, options)
    if "ends" in parts:
        runs["ends"] = functools.partial(_ends, python)
    for name, variables in _SETTINGS.items():
        if "times" in parts and (variables is _NO_SLEEP or _has_open_mpi(python)):
            layout = (options.ranks or LAYOUTS)[0]
            program = [str(_ROOT / "benchmarks" / "hosts.py")]
            what = f"times on {layout} ranks, mpi4py {name}"
            runs[what] = functools.partial(_run, python, layout, program, options.limit, **variables)
    return runs


def _has_open_mpi(python: str) -> bool:
    ask = "import sys; from dtl._cli import library; sys.exit('libmpi.so.40' not in library.find({}).path)"
    return subprocess.run([python, "-c", ask], check=False, stderr=subprocess.DEVNULL).returncode == 0


def _succeeds(run: Callable[[], int]) -> bool:
    try:
        return run() == 0
    except (TimeoutError, simulated.MissingError) as error:
        print(f"hosts: {error}", flush=True)
        return False


def _run(python: str, layout: str, words: list[str], seconds: float, **variables: str) -> int:
    """Run a program on ranks of new hosts, which have the variables in their environment."""
    listed = ",".join(f"{name}:{ranks}" for name, ranks in zip(simulated.NAMES, layout.split("+")))
    with simulated.made(**variables) as hosts:
        command = [python, "-m", "dtl", "run", "--hosts", listed, *words]
        return hosts.run(simulated.NAMES[0], command, seconds, cwd=str(_ROOT), environ=hosts.environ)


def _suite(python: str, layout: str, options: argparse.Namespace) -> int:
    ranks = sum(map(int, layout.split("+")))
    words = ["-m", "pytest", "--with-mpi", "-q", *options.tests]
    return _run(python, layout, words, options.limit, DTL_TEST_RANKS=str(ranks))


def _ends(python: str) -> int:
    environ = {**os.environ, "DTL_TEST_RANKS": "1", "DTL_TEST_HOSTS": "1"}
    return subprocess.run([python, "-m", "pytest", "-q", str(_HERE)], cwd=_ROOT, env=environ, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
