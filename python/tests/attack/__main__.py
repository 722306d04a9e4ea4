"""Attacks DTL from outside: kills, calls that do not fit, hostile arguments, random operations, close beside use,
many right calls in a row, files that several jobs write, files of CSV, requests ended in random orders, files of which
bytes are changed, and chains of calls of tables and of sparse matrices.

``python python/tests/attack --seconds 600`` runs every attack on each Python that ``--python`` names, each of which has
an MPI library. An attack is a sequence of trials, each of which is a job and follows from its seed; a failure is
printed with the command that makes the same trial again.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from typing import Any, NamedTuple

from jobs import family

#: The attacks, and what part of the time each gets.
ATTACKS = {
    "kills": 0.15,
    "pairs": 0.15,
    "hostile": 0.1,
    "walk": 0.1,
    "closing": 0.1,
    "bursts": 0.1,
    "files": 0.1,
    "tables": 0.05,
    "orders": 0.05,
    "mutations": 0.1,
    "chains": 0.05,
    "matrices": 0.05,
}


class Tally(NamedTuple):
    """What came of the trials of one attack."""

    trials: int
    failures: int
    seconds: float


def main() -> int:
    """Run the attacks and return the exit code: 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="the time for everything (default 600)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the first trial of each attack (default 1)")
    parser.add_argument("--only", choices=ATTACKS, action="append", help="run this attack, and those named as well")
    parser.add_argument("--once", action="store_true", help="run one trial of each attack")
    parser.add_argument("--python", action="append", help="an interpreter that has DTL and an MPI library (this one)")
    options = parser.parse_args()
    pythons = [os.path.abspath(python) for python in options.python or [sys.executable]]
    chosen = [name for name in ATTACKS if name in (options.only or ATTACKS)]
    whole = sum(ATTACKS[name] for name in chosen)
    began = time.monotonic()
    tallies = {}
    for name in chosen:
        share = options.seconds * ATTACKS[name] / whole
        tallies[name] = _attack(name, pythons, options.seed, share, options.once)
    for name, tally in tallies.items():
        print(f"attack: {name}: {tally.trials} trials in {tally.seconds:.0f} s, {tally.failures} failed")
    print(f"attack: {time.monotonic() - began:.0f} s in all")
    return int(any(tally.failures for tally in tallies.values()))


def _attack(name: str, pythons: list[str], seed: int, seconds: float, once: bool) -> Tally:
    """Make trials until the time is over; the interpreters take turns, and each has one."""
    attack: Any = importlib.import_module(name)
    began = time.monotonic()
    trials = failures = 0
    while True:
        python = pythons[trials % len(pythons)]
        left = began + seconds - time.monotonic()
        if trials >= len(pythons) and (once or left < attack.SECONDS / 2):
            return Tally(trials, failures, time.monotonic() - began)
        waiting = max(len(pythons) - trials, 1)
        started = time.monotonic()
        what, wrong = attack.trial(seed, python, attack.SECONDS if once else min(attack.SECONDS, left / waiting))
        taken = time.monotonic() - started
        result = "FAILED" if wrong else "ok"
        print(f"attack: {name} {seed}, {family(python)}, {taken:.1f} s: {what}: {result}", flush=True)
        for text in wrong:
            print("  " + text.replace("\n", "\n  "), flush=True)
        if wrong:
            again = f"{sys.executable} {os.path.dirname(__file__)} --once --only {name} --seed {seed} --python {python}"
            print(f"  again: {again}", flush=True)
        trials, failures = trials + 1, failures + bool(wrong)
        seed += trials % len(pythons) == 0


if __name__ == "__main__":
    sys.exit(main())
