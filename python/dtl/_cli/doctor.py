"""``python -m dtl doctor``: a program run as it is, and what it did in a way that has a faster one."""

from __future__ import annotations

from typing import Sequence

from ..monitoring.slow_paths import SlowPaths, report, slow_paths
from ..runtime.context import Context
from . import ArgumentsError, watched

USAGE = "python -m dtl doctor (SCRIPT | -m MODULE) [arguments]"

_HELP = f"""\
usage: {USAGE}

Run a Python program as python does, alone or as each rank of python -m dtl run -n RANKS -m dtl doctor ..., and say on
standard error which of its lines use DTL in a way that has a faster one, and what they cost: elements read or written
one by one, operands that move between ranks, functions called for each element, numbers sent as objects.

  -h, --help               print this"""


def main(arguments: Sequence[str]) -> int:
    """Run the program with these arguments and return 0. What leaves the program, such as SystemExit, leaves this, too.

    Raises
    ------
    UsageError
        If what is asked for cannot be run.
    """
    if arguments and arguments[0] in ("-h", "--help"):
        print(_HELP)
        return 0
    if arguments and arguments[0].startswith("-") and arguments[0] != "-m":
        raise ArgumentsError(f"there is no option {arguments[0]!r}")
    ledger = slow_paths()
    return watched.run(arguments, ledger, lambda ctx: _report(ctx, ledger))


def _report(ctx: Context, ledger: SlowPaths) -> bool:
    """Print the records of all ranks, summed, on rank 0. Collective."""
    sums = ledger.sums(ctx)
    if sums is not None:
        found = f"{len(sums)} slow path{'' if len(sums) == 1 else 's'}:\n" if sums else ""
        watched.say("doctor", f"{watched.ranks(ctx)}, {found}{report(sums)}")
    return True
