"""Tests on two simulated hosts: the Python tests with ranks on both, ends of ranks and of hosts, and a table of times.

``python python/tests/hosts`` runs all of it on each Python that ``--python`` names, each of which has DTL and an MPI
library. Files of tests, as arguments, replace the whole of the Python tests. These run a few files at a time, each time
on new hosts, so that a rank whose end ends all ranks takes only the tests of those files with it. What they print is in
``_build/hosts``. A table at the end says what passed and what failed.
"""

from __future__ import annotations

import argparse
import functools
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, TextIO

import simulated

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent.parent.parent
_LOGS = _ROOT / "_build" / "hosts"

#: How many ranks the hosts have.
LAYOUTS = ("2+2", "1+3", "3+1")

#: How many files of tests ranks run at a time.
_FILES = 20

#: What mpi4py's times are taken with: as it comes, and with Open MPI's collective operations in two levels. MPICH's
#: waits would sleep with the setting that is best for tests.
_NO_SLEEP = {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "0"}
_SETTINGS: dict[str, dict[str, str]] = {
    "as it comes": _NO_SLEEP,
    "coll_han_priority": {**_NO_SLEEP, "OMPI_MCA_coll_han_priority": "100"},
}

_PARTS = ("suites", "ends", "times")

_OPEN_MPI = "Open MPI"

#: Where a run writes what it prints, and its exit code.
_Start = Callable[[TextIO], int]


class Run(NamedTuple):
    """A command on hosts of its own."""

    what: str  # as the table has it
    library: str
    detail: str  # which of several runs of the same
    start: _Start

    @property
    def log(self) -> Path:
        """The file that holds its output."""
        words = " ".join([self.what, self.library, self.detail])
        return _LOGS / f"{re.sub('[^0-9A-Za-z+]+', '-', words).strip('-')}.log"


class Ended(NamedTuple):
    """How a run ended."""

    run: Run
    seconds: float
    counts: dict[str, int]  # of tests, by what pytest says of them
    failed: list[str]

    @property
    def tests(self) -> str:
        """Say what came of its tests, if it had any."""
        found = [f"{self.counts[word]} {word}" for word in ("passed", "skipped") if word in self.counts]
        return ", ".join([*found, f"{len(self.failed)} FAILED" if self.failed else "0 failed"])


def main() -> int:
    """Run the parts and return the exit code: 1 if something failed or is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", help="an interpreter that has DTL and an MPI library (this one)")
    parser.add_argument("--ranks", action="append", help="ranks of both hosts, such as 2+2 (2+2, 1+3 and 3+1)")
    parser.add_argument("--only", choices=_PARTS, action="append", help="run this part, and those named as well")
    parser.add_argument("--limit", type=float, default=1200, help="seconds that a run on the ranks may take (1200)")
    parser.add_argument("tests", nargs="*", help="files of tests to run, in place of all")
    options = parser.parse_args()
    lack = simulated.missing()
    if lack:
        print(f"hosts: {lack}", file=sys.stderr)
        return 1
    simulated.heed_signals()
    _LOGS.mkdir(parents=True, exist_ok=True)
    over: list[Ended] = []
    try:
        for python in [os.path.abspath(python) for python in options.python or [sys.executable]]:
            for run in _runs(python, options):
                over.append(_ended(run))
                print(f"hosts: {run.what}, {run.library}{run.detail}: {over[-1].tests}", flush=True)
    finally:
        _table(over)
    return int(any(ended.failed for ended in over))


def _runs(python: str, options: argparse.Namespace) -> Iterator[Run]:
    """Yield what is to run with a Python."""
    parts, library = options.only or _PARTS, _library(python)
    found = (path for path in _HERE.parent.glob("*/test_*.py") if path.parent != _HERE)
    files = options.tests or sorted(os.path.relpath(path, _ROOT) for path in found)
    pieces = [files[at : at + _FILES] for at in range(0, len(files), _FILES)]
    for layout in options.ranks or LAYOUTS:
        for number, piece in enumerate(pieces, 1):
            if "suites" in parts:
                suite = functools.partial(_suite, python, layout, piece, options.limit)
                yield Run(f"{layout} ranks", library, f", {number} of {len(pieces)}", suite)
    if "ends" in parts:
        yield Run("ends", library, "", functools.partial(_ends, python))
    for name, variables in _SETTINGS.items():
        if "times" in parts and (variables is _NO_SLEEP or library == _OPEN_MPI):
            layout = (options.ranks or LAYOUTS)[0]
            times = functools.partial(_times, python, layout, options.limit, variables)
            yield Run(f"times on {layout}", library, f", mpi4py {name}", times)


def _library(python: str) -> str:
    ask = "import sys; from dtl._cli import library; sys.exit('libmpi.so.40' not in library.find({}).path)"
    is_open_mpi = subprocess.run([python, "-c", ask], check=False, stderr=subprocess.DEVNULL).returncode == 0
    return _OPEN_MPI if is_open_mpi else "MPICH"


def _ended(run: Run) -> Ended:
    """Run it, and return what came of it."""
    began = time.monotonic()
    with run.log.open("w", encoding="utf-8") as log:
        try:
            code = run.start(log)
            why = f"exit code {code}" if code else ""
        except (TimeoutError, simulated.MissingError) as error:
            why = str(error)
    text = run.log.read_text(encoding="utf-8", errors="replace")
    failed = sorted(set(re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)))
    said = re.search(r"^\d+ \w+.* in [\d.]+s\b.*$", text, re.MULTILINE)  # of one rank: the others say the same
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (\w+)", said[0] if said else "")}
    if why and not (failed and said):
        failed.append(f"all ended early: {why}")
    return Ended(run, time.monotonic() - began, counts, failed)


def _table(over: list[Ended]) -> None:
    """Print what passed and what failed."""
    print(f"\n{'':<16}{'library':<10}{'passed':>8}{'skipped':>8}{'failed':>8}{'minutes':>9}")
    for what, library in dict.fromkeys((ended.run.what, ended.run.library) for ended in over):
        these = [ended for ended in over if (ended.run.what, ended.run.library) == (what, library)]
        passed, skipped = (sum(ended.counts.get(word, 0) for ended in these) for word in ("passed", "skipped"))
        failed, seconds = sum(len(ended.failed) for ended in these), sum(ended.seconds for ended in these)
        minutes = f"{int(seconds) // 60}:{int(seconds) % 60:02}"
        print(f"{what:<16}{library:<10}{passed:>8}{skipped:>8}{failed:>8}{minutes:>9}")
    for ended in over:
        if ended.run.what.startswith("times"):
            print(f"\n{ended.run.what}, {ended.run.library}{ended.run.detail}\n{ended.run.log.read_text()}")
        for name in ended.failed:
            print(f"FAILED {ended.run.what}, {ended.run.library}: {name}, see {ended.run.log.relative_to(_ROOT)}")
    sys.stdout.flush()


def _on(python: str, layout: str, words: list[str], seconds: float, log: TextIO, **variables: str) -> int:
    """Run a program on ranks of new hosts, which have the variables in their environment."""
    listed = ",".join(f"{name}:{ranks}" for name, ranks in zip(simulated.NAMES, layout.split("+")))
    with simulated.made(**variables) as hosts, open(os.devnull, "rb") as nothing:
        command = [python, "-m", "dtl", "run", "--hosts", listed, *words]
        files = [nothing.fileno(), log.fileno(), log.fileno()]
        return hosts.run(simulated.NAMES[0], command, seconds, cwd=str(_ROOT), environ=hosts.environ, files=files)


def _suite(python: str, layout: str, tests: list[str], seconds: float, log: TextIO) -> int:
    ranks = sum(map(int, layout.split("+")))
    words = ["-m", "pytest", "--with-mpi", "-q", "--color=no", *tests]
    return _on(python, layout, words, seconds, log, DTL_TEST_RANKS=str(ranks))


def _ends(python: str, log: TextIO) -> int:
    environ = {**os.environ, "DTL_TEST_RANKS": "1", "DTL_TEST_HOSTS": "1"}
    command = [python, "-m", "pytest", "-q", "--color=no", str(_HERE)]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=_ROOT, env=environ, check=False
    ).returncode


def _times(python: str, layout: str, seconds: float, variables: dict[str, str], log: TextIO) -> int:
    return _on(python, layout, [str(_ROOT / "benchmarks" / "hosts.py")], seconds, log, **variables)


if __name__ == "__main__":
    sys.exit(main())
