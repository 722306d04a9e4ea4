"""``python -m dtl trace``: a program run as it is, and what its calls came to."""

from __future__ import annotations

import os
from typing import NamedTuple, Sequence

from ..comm.reductions import allreduce
from ..exceptions import InvalidArgumentError
from ..monitoring import trace as tracing
from ..runtime.context import Context
from . import ArgumentsError, watched

USAGE = "python -m dtl trace [-o FILE] [--table] (SCRIPT | -m MODULE) [arguments]"

_HELP = f"""\
usage: {USAGE}

Run a Python program as python does, alone or as each rank of python -m dtl run -n RANKS -m dtl trace ..., and count
its calls of DTL: how often, how many bytes and how long, by operation and line.

  -o FILE, --output FILE   write the calls of all ranks to a file that ui.perfetto.dev shows
  --table                  print a table of all ranks' sums on standard error; without -o that is done anyway
  -h, --help               print this"""


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
        print(_HELP)
        return 0
    options = _read(arguments)
    trace = tracing.trace()
    return watched.run(options.program, trace, lambda ctx: _report(ctx, trace, options))


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
                raise ArgumentsError(f"{word} needs the name of a file")
            output = rest.pop(0)
        else:
            raise ArgumentsError(f"there is no option {word!r}")
    # The program may go to another folder.
    return _Options(output and os.path.abspath(output), table or output is None, rest)


def _report(ctx: Context, trace: tracing.Trace, options: _Options) -> bool:
    """Print and write what was asked for, on rank 0, and say whether that could be done. Collective."""
    sums, dropped = trace.sums(ctx), allreduce(ctx, trace.dropped if options.output else 0)
    if sums is not None and options.table:
        threads = f"{trace.threads} thread{'s' * (trace.threads > 1)} each"
        watched.say("trace", f"{watched.ranks(ctx)}, {threads}\n{tracing.table(sums, dropped)}")
    try:
        if options.output is not None:
            trace.save(options.output, ctx)
    except (OSError, InvalidArgumentError) as error:
        if ctx.is_root:
            watched.say("trace", f"{options.output} cannot be written: {error}")
        return False
    return True
