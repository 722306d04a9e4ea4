"""Records the calls of NumPy that the test suites of installed packages make."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent

#: Files whose tests run in one process, the seconds that these have, and those that it may take to import them.
FILES, SECONDS, IMPORT_SECONDS = 10, 25, 40


def files_of(package: str) -> list[Path]:
    """Return the files of tests that an installed package brings."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed")
    return sorted(Path(spec.submodule_search_locations[0]).rglob("test_*.py"))


def record(package: str, folder: Path, seconds: float, seed: int) -> Path:
    """Run tests of a package, in an order that a seed decides, for some seconds; return the file of calls."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = folder / f"{package}.calls"
    corpus.unlink(missing_ok=True)
    files = files_of(package)
    random.Random(seed).shuffle(files)
    deadline = time.monotonic() + seconds
    with open(folder / f"{package}.log", "wb") as log:
        for first in range(0, len(files), FILES):
            left = deadline - time.monotonic()
            if left < SECONDS:
                break
            _run(files[first : first + FILES], corpus, folder, min(left, IMPORT_SECONDS + SECONDS + 10), log)
    return corpus


def _run(files: list[Path], corpus: Path, folder: Path, seconds: float, log: object) -> None:
    environ = {**os.environ, "REPLAY_RECORD": str(corpus), "REPLAY_SECONDS": str(SECONDS), "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "recorder", "-p", "no:cacheprovider", "-p", "no:randomly"]
    command += ["--continue-on-collection-errors"]  # a file may need a package that is not installed
    command += ["--tb=no", "-W", "ignore", "-c", os.devnull, f"--rootdir={folder}", *map(str, files)]
    child = subprocess.Popen(command, env=environ, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)  # type: ignore[call-overload]
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
