"""Runs a corpus of calls on several ranks, from where the last job ended, until all of them are evaluated."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

#: What one evaluation may take.
CALL_SECONDS = 30.0


def replay(corpus: Path, folder: Path, ranks: int, deadline: float) -> dict[int, tuple[str, str]]:
    """Return the class of each evaluation, and what was wrong, by its number."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in [*folder.glob("found*"), *folder.glob("at*")]:
        file.unlink()
    results: dict[int, tuple[str, str]] = {}
    first = 0
    while time.monotonic() < deadline:
        ended = _job(corpus, folder, ranks, first, deadline)
        lines = [_lines(folder / f"found{rank}") for rank in range(ranks)]
        results.update(_agreed(lines))
        if ended in ("end", "time"):
            break
        last = min(_at(folder, rank) for rank in range(ranks))
        last = max(last, first)
        disagreed = [index for index in results if index >= first and results[index][0] in ("disagree", "hang")]
        if disagreed:
            last = max(*disagreed, first)
        else:
            results[last] = (ended, (folder / "errors").read_text(errors="replace")[-300:].replace("\n", " "))
        first = last + 1
    return results


def _agreed(lines: list[dict[int, tuple[str, str]]]) -> dict[int, tuple[str, str]]:
    """Return what rank 0 found, or that the ranks found different classes."""
    results = {}
    for index, found in lines[0].items():
        others = [line.get(index, found) for line in lines]
        classes = {each[0].replace("wrong", "same") for each in others}  # rank 0 compares the elements
        results[index] = found if len(classes) == 1 else ("disagree", " | ".join(f"{a}: {b}"[:120] for a, b in others))
    return results


def _lines(file: Path) -> dict[int, tuple[str, str]]:
    found = {}
    for line in file.read_text().splitlines() if file.exists() else []:
        with contextlib.suppress(json.JSONDecodeError):  # the last line of a rank that was ended
            index, result, told = json.loads(line)
            found[index] = (result, told)
    return found


def _at(folder: Path, rank: int) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int((folder / f"at{rank}").read_text())
    return 0


def environment() -> dict[str, str]:
    """Return the environment of the ranks, which no MPI connects."""
    return {**os.environ, "DTL_BACKEND": "local", "DTL_TIMEOUT": "15", "OPENBLAS_NUM_THREADS": "1"}


def command(corpus: Path, folder: Path, ranks: int, first: int, once: bool = False) -> list[str]:
    """Return the command of a job that begins with an evaluation, or that prints one."""
    words = [sys.executable, "-m", "dtl", "run", "-n", str(ranks), str(HERE / "rank.py"), str(corpus), str(folder)]
    return [*words, str(first), *(["once"] if once else [])]


def _job(corpus: Path, folder: Path, ranks: int, first: int, deadline: float) -> str:
    """Run a job from an evaluation on, and return how it ended: end, time, hang or crash."""
    words = command(corpus, folder, ranks, first)
    with open(folder / "errors", "wb") as errors:
        child: Any = subprocess.Popen(
            words, env=environment(), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True
        )
        at, since = "", time.monotonic()
        try:
            while child.poll() is None:
                time.sleep(0.2)
                now = time.monotonic()
                here = "".join(str(_at(folder, rank)) for rank in range(ranks))
                at, since = (at, since) if at == here else (here, now)
                if now - since > CALL_SECONDS:
                    return "hang"
                if now > deadline:
                    return "time"
            return "end" if child.returncode == 0 else "crash"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
