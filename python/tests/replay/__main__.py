"""Records the calls of NumPy in the test suites of installed packages, and replays them with containers.

``python python/tests/replay`` runs the packages' tests with arrays that keep the calls that are made of them, chooses a
few calls of each kind, gives them containers of many partitions on one and on three ranks, and compares with NumPy:
values, shapes, dtypes, changed arguments, and errors. It ends with a table, and fails if a limit of ``report.py`` is
not held. ``--once INDEX`` evaluates one of the calls again, and ``--kept`` replays what was recorded before.
``--on-disk`` places the containers on disk, with a limit of memory under which all goes in pieces of a few bytes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import corpus
import report
from jobs import command, environment, replay
from record import record

PACKAGES = ("numpy", "scipy", "dask.array", "xarray", "sklearn", "pandas")

#: The parts of the time: recording, and replaying on one rank and on three.
RECORDING, ON_RANKS = 0.45, {1: 0.15, 3: 0.4}


def main() -> int:
    """Record and replay, and return the exit code: 1 if a limit is not held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="the time for everything (default 600)")
    parser.add_argument("--seed", type=int, default=1, help="decides which tests and calls come first (default 1)")
    parser.add_argument("--folder", type=Path, default=Path("_build/replay"), help="where calls are kept")
    parser.add_argument("--only", choices=PACKAGES, action="append", help="this package, and those named as well")
    parser.add_argument("--ranks", type=int, action="append", help="replay on this many ranks")
    parser.add_argument("--on-disk", action="store_true", help="with containers on disk, in small pieces")
    parser.add_argument("--kept", action="store_true", help="replay what was recorded before")
    parser.add_argument(
        "--once", type=int, metavar="INDEX", help="evaluate one of the calls that were chosen, and print it"
    )
    parser.add_argument("--examples", type=int, default=report.EXAMPLES, help="print this many of each class")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.on_disk:
        os.environ["DTL_REPLAY_ON_DISK"] = "1"
    chosen = folder / "corpus"
    if options.once is not None:
        words = command(chosen, folder, (options.ranks or [1])[0], options.once, once=True)
        return subprocess.run(words, env=environment(), timeout=120, check=False).returncode
    if not options.kept:
        _record(options.only or PACKAGES, folder, options.seconds * RECORDING, options.seed)
    for package, calls in corpus.choose(sorted(folder.glob("*.calls")), chosen, options.seed).items():
        print(f"replay: {calls} calls of {package}")
    return _replay(chosen, options)


def _record(packages: list[str] | tuple[str, ...], folder: Path, seconds: float, seed: int) -> None:
    workers = min(os.cpu_count() or 1, len(packages))
    each = seconds * workers / len(packages)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(lambda package: record(package, folder, each, seed), packages))


def _replay(chosen: Path, options: argparse.Namespace) -> int:
    from rank import evaluations

    results = {}
    every = evaluations(chosen, options.on_disk)
    for ranks in options.ranks or ON_RANKS:
        deadline = time.monotonic() + options.seconds * ON_RANKS.get(ranks, 0.4)
        results[ranks] = replay(chosen, chosen.parent, ranks, deadline)
        again = f"{sys.executable} {Path(__file__).parent} --folder {chosen.parent} --ranks {ranks}"
        again += f"{' --on-disk' if options.on_disk else ''} --once"
        print(report.examples(results[ranks], every, again, options.examples))
        print(f"replay: {ranks} ranks: {len(results[ranks])} of {len(every)} evaluations")
    print(report.table(results))
    missed = [
        f"{ranks} ranks: {text}"
        for ranks in results
        for text in report.failures(report.counts(results[ranks]), options.on_disk)
    ]
    print("\n".join(f"replay: {text}" for text in missed) or "replay: every limit is held")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
