"""Programs that tests start in processes of their own: alone, or on several ranks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Callable, NamedTuple

#: What launchers and these tests leave in the environment, which a new process must not take for its own.
_LAUNCHERS = (
    "OMPI_COMM",
    "OMPI_FILE",
    "OMPI_FIRST",
    "OMPI_UNIVERSE",
    "OMPI_NUM",
    "PMI",
    "PRTE_",
    "HYDI_",
    "MPI_LOCAL",
    "DTL_",
)


#: What connects the ranks of programs that do not say so themselves: make runs them by MPI, and without any.
_BACKEND = "DTL_BACKEND"


#: The beginning of a program of which one rank waits until another has made a file.
AWAITING = """
import os, pathlib, time

def until(condition):
    while not condition():
        time.sleep(0.01)

def await_file(path):
    until(lambda: os.path.exists(path))
"""

#: The same of one whose ranks report soon that they wait: ``reported`` waits until this one has said a text.
REPORTING = f"""{AWAITING}
_said = pathlib.Path(__file__).with_name(f"said{{os.getpid()}}")
os.dup2(os.open(str(_said), os.O_CREAT | os.O_WRONLY | os.O_APPEND), 2)

def reported(text, times=1):
    until(lambda: _said.read_text().count(text) >= times)
"""


class Ended(NamedTuple):
    """A process that has ended."""

    code: int
    out: str
    err: str


def clean(**variables: str) -> dict[str, str]:
    """Return this process's environment without what a launcher put there, and with these variables."""
    kept = {name: value for name, value in os.environ.items() if name == _BACKEND or not name.startswith(_LAUNCHERS)}
    return {**kept, **variables}


def run(command: list[str], seconds: float = 60, **variables: str) -> Ended:
    """Run a command to its end; one that is too slow is killed with all its children, and fails the test."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean(**variables),
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"{command} did not end within {seconds} s\n{out}\n{err}") from None
    return Ended(process.returncode, out, err)


def alone(code: str, seconds: float = 60, **variables: str) -> Ended:
    """Run a program in one new process that no launcher started."""
    return run([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)], seconds, **variables)


def ranks(count: int, code: str, folder: Path, seconds: float = 60, **variables: str) -> Ended:
    """Run a program on several ranks with ``python -m dtl run``."""
    script = folder / "program.py"
    script.write_text(textwrap.dedent(code))
    return run([sys.executable, "-m", "dtl", "run", "-n", str(count), str(script)], seconds, **variables)


def until(condition: Callable[[], object], seconds: float = 20) -> bool:
    """Wait for a condition that other processes or threads make true, and say whether it came within the seconds."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def succeeded(ended: Ended) -> str:
    """Return what a program printed, after a check that it ended well."""
    assert ended.code == 0, f"exit code {ended.code}\n{ended.out}\n{ended.err}"
    return ended.out
