"""Run the phases of ``make test``, several at once where the machine has processors for them, and print their times.

    python phases.py [PHASE[:PROCESSORS] ...]

A phase is a target of make. It starts once as many processors are free as it asks for, and phases before it in the line
have started. Of processors, half as many again count as there are: phases wait for disks, and for ranks and programs
that they have started, for about a third of their time. While phases run, a line every few seconds says how far each
is. What a phase prints is in ``_build/test/PHASE.log``, and is shown where the phase fails; the others go on to their
end. No phase starts while one with ``!`` behind its processors runs, and none comes after it if it fails. With ``!``
alone it has all processors.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Iterable, NamedTuple

LOGS = Path("_build/test")
#: Seconds between two lines that say how far the phases are.
INTERVAL = 10
#: What a phase's log says last that is worth a glance, and what a terminal does with it.
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_GLANCE = 60


class Phase(NamedTuple):
    """A target of make, and how many processors it keeps busy."""

    name: str
    processors: int
    first: bool  # whether those behind it need it

    @property
    def log(self) -> Path:
        """The file that holds its output."""
        return LOGS / f"{self.name}.log"

    def glance(self) -> str:
        """Return the last line of its output."""
        lines = _COLOURS.sub("", self.log.read_text(encoding="utf-8", errors="replace")).split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        percent = re.search(r"\[ *\d+%\]$", last)
        return percent[0] if percent else last[:_GLANCE]


class Ended(NamedTuple):
    """How a phase ended, and what it took."""

    phase: Phase
    passed: bool
    wall: float
    cpu: float


def parse(words: Iterable[str], processors: int) -> list[Phase]:
    """Return the phases that the words name."""
    phases = []
    for word in words:
        name, _, wanted = word.partition(":")
        number = wanted.rstrip("!")
        some = processors if wanted == "!" else min(int(number or 1), processors)
        phases.append(Phase(name, some, wanted.endswith("!")))
    return phases


def clock(seconds: float) -> str:
    """Return minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Run:
    """The phases that are waiting, running and over."""

    def __init__(self, phases: list[Phase], processors: int) -> None:
        self.waiting, self.free = phases, processors
        self.running: dict[int, tuple[Phase, float, subprocess.Popen[bytes]]] = {}
        self.over: list[Ended] = []
        self.began = time.monotonic()

    def say(self, text: str) -> None:
        """Print a line with the time since the beginning."""
        print(f"{clock(time.monotonic() - self.began):>6}  {text}", flush=True)

    def start(self) -> None:
        """Start the phases that there are processors for, in order."""
        while (
            self.waiting
            and self.waiting[0].processors <= self.free
            and not any(phase.first for phase, *_ in self.running.values())
        ):
            phase = self.waiting.pop(0)
            with phase.log.open("wb") as log:
                command = [os.environ.get("MAKE", "make"), "--no-print-directory", phase.name]
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            self.running[process.pid] = phase, time.monotonic(), process
            self.free -= phase.processors
            self.say(f"{phase.name} starts")

    def wait(self) -> None:
        """Wait for a phase to end, and say what became of it."""
        said = time.monotonic()
        while True:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid in self.running:
                break
            time.sleep(0.1)
            if time.monotonic() - said > INTERVAL:
                said = time.monotonic()
                self.say("   ".join(f"{phase.name}: {phase.glance()}" for phase, *_ in self.running.values()))
        phase, began, process = self.running.pop(pid)
        process.returncode = status  # wait4 says what it has used, too
        self.free += phase.processors
        ended = Ended(phase, status == 0, time.monotonic() - began, used.ru_utime + used.ru_stime)
        self.over.append(ended)
        if not ended.passed:
            print(phase.log.read_text(encoding="utf-8", errors="replace"), flush=True)
        self.say(f"{phase.name} {'passed' if ended.passed else 'FAILED'} in {clock(ended.wall)}")
        if phase.first and not ended.passed:
            self.waiting.clear()

    def table(self) -> None:
        """Print what each phase took."""
        print(f"\n{'phase':<20}{'minutes':>8}{'of processors':>15}", flush=True)
        for phase, passed, wall, cpu in self.over:
            failed = "" if passed else f"  FAILED, see {phase.log}"
            print(f"{phase.name:<20}{clock(wall):>8}{clock(cpu):>15}{failed}")
        print(f"{'all':<20}{clock(time.monotonic() - self.began):>8}{clock(sum(ended.cpu for ended in self.over)):>15}")


def main(words: list[str]) -> int:
    """Run the phases, and return 1 where one has failed."""
    LOGS.mkdir(parents=True, exist_ok=True)
    processors = len(os.sched_getaffinity(0)) * 3 // 2
    run = Run(parse(words, processors), processors)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while run.waiting or run.running:
            run.start()
            run.wait()
    except KeyboardInterrupt:
        for pid in run.running:
            os.kill(pid, signal.SIGTERM)  # make ends what it has started
        raise
    finally:
        run.table()
    return 0 if all(ended.passed for ended in run.over) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
