"""Tests wait for what they wait for, and do not sleep until it should have come: each sleep has a reason here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.alone("the sources are the same on every rank")

TESTS = Path(__file__).parents[1]

#: How many calls of sleep a file has, by what they are for.
SLEEPS = {
    # A loop that waits for a state, which no event tells, and has a limit or is ended with its program.
    "polls": {
        "programs.py": 2,
        "phases.py": 1,
        "time_limit.py": 1,
        "attack/files.py": 2,
        "attack/jobs.py": 2,
        "attack/rank.py": 1,
        "attack/closing.py": 1,
        "comm/test_thread_levels.py": 1,
        "containers/test_lifetimes.py": 1,
        "hosts/simulated.py": 1,
        "replay/jobs.py": 1,
        "slurm/cluster.py": 1,
    },
    # What a program of users does: it computes for so long, while others wait for it.
    "computes": {
        "attack/bursts.py": 1,
        "comm/test_fast_path.py": 2,
        "comm/test_nonblocking_mismatch.py": 3,
        "jobs/launched.py": 1,
        "jobs/test_waiting.py": 4,
        "jobs/test_waiting_inside.py": 2,
        "runtime/test_async.py": 1,
        "runtime/test_async_programs.py": 5,
        "runtime/test_executor.py": 1,
        "runtime/test_joblib.py": 1,
        "runtime/test_thread_turns.py": 1,
        "slurm/jobs.py": 1,
    },
    # It stays until a signal or the end of its job comes.
    "stays": {
        "hosts/test_ends.py": 3,
        "jobs/test_hosts.py": 1,
        "jobs/test_local.py": 2,
        "jobs/test_lost_ranks.py": 1,
        "jobs/test_notebook.py": 3,
        "jobs/test_ranks_as_threads.py": 1,
        "jobs/test_relayed_output.py": 1,
        "jobs/test_uncaught.py": 1,
        "jobs/test_waiting.py": 1,
        "runtime/test_executor_programs.py": 1,
    },
    # Nobody sees when another process has come into a call of C, or has sent what it sends.
    "unseen": {
        "hosts/test_ends.py": 1,
        "jobs/test_stopped_ranks.py": 2,
        "jobs/test_waiting.py": 1,
        "runtime/test_async_programs.py": 1,
    },
    # The time itself is what is tried: when a signal comes, how long a rank is stopped, how far two are apart.
    "times": {
        "attack/closing.py": 2,
        "attack/files.py": 2,
        "attack/jobs.py": 1,
        "attack/kills.py": 2,
        "jobs/test_time_limit.py": 2,
        "slurm/jobs.py": 1,
    },
}


def test_each_sleep_has_a_reason() -> None:
    found = {}
    for path in TESTS.rglob("*.py"):
        calls = len(re.findall(r"\bsleep\(", path.read_text(encoding="utf-8")))
        if calls and path != Path(__file__):
            found[path.relative_to(TESTS).as_posix()] = calls
    listed: dict[str, int] = {}
    for files in SLEEPS.values():
        for name, calls in files.items():
            listed[name] = listed.get(name, 0) + calls
    assert found == listed, "wait for a state by programs.until, or AWAITING in a program; else list the sleep here"
