"""What a launcher says of a job's end, in many lines, left out where ``dtl run`` tells it in one."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import IO

_RULE = re.compile(rb"-{60,}\s*")
# What Open MPI's launchers say between two rules, by its first line.
_BLOCK = re.compile(
    rb"MPI_ABORT was invoked on rank|\S+ has exited due to process rank \d+|\S+ detected that one or more processes "
    rb"exited with non-zero|Primary job +terminated normally, but"
)
# What MPICH says in a line, and what libevent says of the end in Open MPI's launchers.
_LINE = re.compile(rb"Abort\(\d+\) on node \d+ .*application called MPI_Abort|\[warn\] Epoll ")
# What a line that has not ended may still become one of these of.
_BEGINNINGS = (b"-" * 60, b"Abort(", b"[warn] Epoll ")
# What Open MPI's launchers write at the very end.
_NOTHING = b"\0 "


class Epilogue:
    """Passes on what a launcher and its ranks write to standard error, and keeps what the launcher says of the end."""

    def __init__(self, pipe: IO[bytes], to: int) -> None:
        self.kept = b""
        self._pipe, self._to = pipe, to
        self._rest = b""  # of a line that has not ended
        self._begun = False  # whether what has been written ends within a line
        self._block: list[bytes] | None = None  # since a rule
        self._foreign = False  # whether between two rules is something else
        self._thread = threading.Thread(target=self._pass_on, name="dtl-epilogue", daemon=True)
        self._thread.start()

    def finish(self, show: bool) -> None:
        """Show what was kept, or not, when all is passed on; processes that a job leaves may keep the pipe open."""
        self._thread.join(0.5)
        if show:
            self._write(self.kept)
        self.kept = b""

    def _pass_on(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self._pipe.fileno(), 1 << 16):
                self._take(data)
        if self._block is not None:
            self._write(b"".join(self._block))
        if self._rest.strip(_NOTHING):
            self._write(self._rest)

    def _take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if self._begun:
                self._begun = False
                self._write(line + b"\n")
            else:
                self._line(line + b"\n")
        waits = self._block is not None or any(
            self._rest.startswith(beginning) or beginning.startswith(self._rest) for beginning in _BEGINNINGS
        )
        if self._rest.strip(_NOTHING) and (self._begun or not waits):  # as a progress bar writes
            self._write(self._rest)
            self._rest, self._begun = b"", True

    def _line(self, line: bytes) -> None:
        rule = _RULE.fullmatch(line) is not None
        if self._foreign:
            self._foreign = not rule
            self._write(line)
        elif self._block is None:
            if rule:
                self._block = [line]
            elif _LINE.match(line):
                self.kept += line
            else:
                self._write(line)
        elif len(self._block) == 1 and not _BLOCK.match(line):
            self._write(self._block[0])
            self._block = None
            self._foreign = not rule
            self._write(line)
        else:
            self._block.append(line)
            if rule:
                self.kept += b"".join(self._block)
                self._block = None

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # nobody reads it any more
            while data:
                data = data[os.write(self._to, data) :]
