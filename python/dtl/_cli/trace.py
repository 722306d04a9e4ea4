"""``python -m dtl trace``: a program run as it is, and what its calls came to."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import NamedTuple, Sequence

from .._native import library
from ..comm.reductions import allreduce
from ..exceptions import InvalidArgumentError
from ..monitoring import trace as tracing
from ..runtime.context import Context
from ..runtime.environment import Environment
from . import UsageError, program

_USAGE = """\
usage: python -m dtl trace [-o FILE] [--table] (SCRIPT | -m MODULE) [arguments]

Run a Python program as python does, alone or as each rank of python -m dtl run -n RANKS -m dtl trace ..., and count
its calls of DTL: how often, how many bytes and how long, by operation and line.

  -o FILE, --output FILE   write the calls of all ranks to a file that ui.perfetto.dev shows
  --table                  print a table of all ranks' sums on standard error; without -o that is done anyway
  -h, --help               print this"""

#: Where launchers say which rank a process is.
_RANK = ("DTL_LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")


class _Options(NamedTuple):
    output: str | None
    table: bool
    program: Sequence[str]


def main(arguments: Sequence[str]) -> int:
    """Run the program with these arguments and return 0, or 1 if what it did could not be written.

    What leaves the program, such as SystemExit, leaves this, too.

    Raises
    ------
    UsageError
        If what is asked for cannot be run.
    """
    if arguments and arguments[0] in ("-h", "--help"):
        print(_USAGE)
        return 0
    options = _read(arguments)
    found, rest = _find(options.program)
    process = os.getpid()
    trace = tracing.trace()
    try:
        with trace:
            _run(found, rest)
    except BaseException as end:
        if not _finish(trace, options, process, _is_success(end)):
            return 1
        raise
    return 0 if _finish(trace, options, process, True) else 1


def _read(words: Sequence[str]) -> _Options:
    output, table, rest = None, False, list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-m":
        word = rest.pop(0)
        if word == "--table":
            table = True
        elif word.startswith("--output="):
            output = word.partition("=")[2]
        elif word in ("-o", "--output"):
            if not rest:
                raise UsageError(f"{word} needs the name of a file")
            output = rest.pop(0)
        else:
            raise UsageError(f"there is no option {word!r}")
    # The program may go to another folder.
    return _Options(output and os.path.abspath(output), table or output is None, rest)


def _find(words: Sequence[str]) -> tuple[program.Program, Sequence[str]]:
    if not words:
        raise UsageError("there is no program to run; name a script, or a module after -m")
    if words[0] != "-m":
        return program.script(words[0]), words[1:]
    if len(words) == 1:
        raise UsageError("-m needs the name of a module")
    return program.module(words[1]), words[2:]


def _is_success(end: BaseException) -> bool:
    """Say whether a program that this exception leaves has the exit code 0."""
    return isinstance(end, SystemExit) and (end.code is None or (isinstance(end.code, int) and end.code == 0))


def _run(found: program.Program, arguments: Sequence[str]) -> None:
    """Run a program, and where it ends well wait for its threads, as the interpreter would now."""
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


def _finish(trace: tracing.Trace, options: _Options, process: int, success: bool) -> bool:
    """Report where there is somebody to, and say whether that went well, or did not matter.

    A child that the program forked is none of it. Ranks meet only where all have come to the end.
    """
    if os.getpid() != process or (not success and (library.local_active() or library.mpi_active())):
        return True
    return _report(trace, options) or not success


def _report(trace: tracing.Trace, options: _Options) -> bool:
    """Print and write what was asked for, on rank 0, and say whether that could be done. Collective where MPI runs."""
    with contextlib.ExitStack() as stack:
        if library.local_joined() or library.mpi_thread_level() >= 0:
            ctx = stack.enter_context(Context())
        elif next((os.environ[name] for name in _RANK if name in os.environ), "0") == "0":
            ctx = stack.enter_context(stack.enter_context(Environment()).make_cpu_context())
        else:
            return True  # ranks that are not connected: the first speaks
        sums, dropped = trace.sums(ctx), allreduce(ctx, trace.dropped if options.output else 0)
        if sums is not None and options.table:
            _say(f"{ctx.size} rank{'s' if ctx.size > 1 else ''}\n{tracing.table(sums, dropped)}")
        try:
            if options.output is not None:
                trace.save(options.output, ctx)
        except (OSError, InvalidArgumentError) as error:
            if ctx.is_root:
                _say(f"{options.output} cannot be written: {error}")
            return False
        return True


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # broken or closed
        if sys.stderr is not None:
            print(f"dtl trace: {text}", file=sys.stderr, flush=True)
