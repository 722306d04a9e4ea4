"""A program that a command runs as it is, to say at its end what it did."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Any, Callable, ContextManager, Sequence

from .._native import library
from ..runtime.context import Context
from ..runtime.environment import Environment
from . import ArgumentsError, program

#: Where launchers say which rank a process is.
_RANK = ("DTL_LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


def find(words: Sequence[str]) -> tuple[program.Program, Sequence[str]]:
    """Return the program that words name, and its arguments."""
    if not words:
        raise ArgumentsError("there is no program to run; name a script, or a module after -m")
    if words[0] != "-m":
        return program.script(words[0]), words[1:]
    if len(words) == 1:
        raise ArgumentsError("-m needs the name of a module")
    return program.module(words[1]), words[2:]


def run(words: Sequence[str], watch: ContextManager[Any], report: Callable[[Context], bool]) -> int:
    """Run the program that words name within watch, then report on it. Return 0, or 1 if that could not be done.

    What leaves the program, such as SystemExit, leaves this, too. Report is collective where the ranks are connected,
    and is called on the first rank alone where they are not.

    Raises
    ------
    UsageError
        If there is no such program.
    """
    found, rest = find(words)
    process = os.getpid()
    try:
        with watch:
            _run(found, rest)
    except BaseException as end:
        if not _finish(report, process, _is_success(end)):
            return 1
        raise
    return 0 if _finish(report, process, True) else 1


def _is_success(end: BaseException) -> bool:
    """Say whether a program that this exception leaves has the exit code 0."""
    return isinstance(end, SystemExit) and (end.code is None or (isinstance(end.code, int) and end.code == 0))


def _run(found: program.Program, arguments: Sequence[str]) -> None:
    """Run a program, and if it ends without an error, wait for its threads, as the interpreter does."""
    try:
        found.run(arguments)
    except SystemExit as end:
        if _is_success(end):
            _wait_for_threads()
        raise
    _wait_for_threads()


def _wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _finish(report: Callable[[Context], bool], process: int, success: bool) -> bool:
    """Report where there is somebody to, and say whether that went well, or did not matter.

    A child that the program forked is none of it. Ranks meet only where all have come to the end.
    """
    if os.getpid() != process or (not success and (library.local_active() or library.mpi_active())):
        return True
    with contextlib.ExitStack() as stack:
        if library.local_joined() or library.mpi_thread_level() >= 0:
            ctx = stack.enter_context(Context())
        elif next((os.environ[name] for name in _RANK if name in os.environ), "0") == "0":
            ctx = stack.enter_context(stack.enter_context(Environment()).make_cpu_context())
        else:
            return True  # ranks that are not connected: the first speaks
        return report(ctx) or not success


def say(command: str, text: str) -> None:
    """Print what a command has to say on standard error."""
    with contextlib.suppress(OSError, ValueError):  # broken or closed
        if sys.stderr is not None:
            print(f"dtl {command}: {text}", file=sys.stderr, flush=True)


def ranks(ctx: Context) -> str:
    """Return how many ranks there are, in words."""
    return f"{ctx.size} rank{'s' if ctx.size > 1 else ''}"
