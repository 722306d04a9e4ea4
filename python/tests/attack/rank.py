"""What the programs of the attacks share: a rank tells the driver its process, where it is, and what it has found."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import dtl

#: What a bad call may raise; every other exception is a failure of the library.
ERRORS = (dtl.DTLError, TypeError, ValueError, OverflowError, IndexError, MemoryError)

FOLDER = Path(os.environ.get("DTL_ATTACK_FOLDER", "/tmp"))


class Log:
    """A rank's files in the job's folder."""

    def __init__(self, ctx: dtl.Context) -> None:
        self.rank, self.size, self._ctx = ctx.rank, ctx.size, ctx
        self._stacks = _opened(f"stacks{ctx.rank}")
        faulthandler.register(signal.SIGUSR1, file=self._stacks, all_threads=True)
        (FOLDER / f"rank{ctx.rank}").write_text(str(os.getpid()))
        self._own = _opened(f"said{ctx.rank}")
        self._said: dict[int, Any] = {}
        self._at = _opened(f"at{ctx.rank}")

    def at(self, text: str) -> None:
        """Say what this rank does next, for the case that it does not come back."""
        os.pwrite(self._at, text.encode()[:300].ljust(300), 0)

    def found(self, text: str) -> None:
        """Tell the driver of a failure; the program goes on."""
        with open(FOLDER / "found", "a") as file:
            file.write(text.replace("\n", " | ")[:1500] + "\n")
        sys.stderr.write(f"found: {text}\n")

    def dump(self) -> None:
        """Write the stacks of all threads where the driver reads them."""
        faulthandler.dump_traceback(self._stacks, all_threads=True)

    def reached(self, name: str) -> None:
        """Write a file that the driver waits for."""
        (FOLDER / f"{name}{self.rank}").write_text("")

    def exchange(self, value: Any) -> list[Any]:
        """Return every rank's value: collective, by files, since the library is what is attacked."""
        os.write(self._own, f"{json.dumps(value)}\n".encode())
        return [json.loads(self._line(rank)) for rank in range(self.size)]

    def _line(self, rank: int) -> str:
        """Return what a rank says next."""
        line = ""
        while not line.endswith("\n"):
            if rank in self._said:
                line += self._said[rank].readline()
            elif (FOLDER / f"said{rank}").exists():
                self._said[rank] = open(FOLDER / f"said{rank}")  # noqa: SIM115 - read to the end of the program
            if not line.endswith("\n"):
                dtl.iprobe(self._ctx)  # without shared memory, MPI makes no progress but in calls
                time.sleep(0.0003)
        return line

    def begin(self, number: int, text: str) -> None:
        """Say which case of a series begins."""
        self.at(text)
        if self.rank == 0:
            (FOLDER / "next").write_text(str(number))
            (FOLDER / "next").replace(FOLDER / "number")  # whole at any moment: the job may be ended


def _opened(name: str) -> int:
    return os.open(FOLDER / name, os.O_CREAT | os.O_WRONLY, 0o600)


def raised(call: Any) -> tuple[str, str]:
    """Make a call and return the class and the text of what it raises; of a call that succeeds, "" and its result."""
    try:
        result = call()
    except ERRORS as error:
        return type(error).__name__, str(error)
    except Exception as error:  # noqa: BLE001 - the class is what is to be reported
        return f"({type(error).__name__})", str(error)
    return "", repr(type(result))
