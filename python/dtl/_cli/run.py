"""``python -m dtl run``: a program on several ranks, started by the launcher that fits the MPI library."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from typing import NoReturn, Sequence

from . import ArgumentsError, UsageError, command, placement, start, supervise, syntax

USAGE = "python -m dtl run [-n RANKS] [options] [-- launcher arguments --] PROGRAM [: -n RANKS PROGRAM]..."

_ABOUT = """\
Run a Python program on several ranks. On one machine that needs no MPI: where mpi4py is not installed, ranks are
plain processes that share memory. Else, with --mpi or on several hosts, the launcher starts them that belongs to
the MPI library that DTL would use, with the options that it needs here: permission to run as root, more ranks than
cores, the fast transports of one node. What the environment, a parameter file or the launcher arguments set stays
as it is. The command is printed first. A PROGRAM is (SCRIPT | -m MODULE) [arguments]; after a colon comes another
one of the same job."""

_COUNTS = ("-n", "-np", "--ranks")
_WITH_VALUE = {*_COUNTS, "--timeout", "--hostfile", "--hosts", "--host"}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ArgumentsError(message)


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m dtl run",
        usage=USAGE,
        description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        *_COUNTS,
        dest="ranks",
        metavar="RANKS",
        help="how many ranks to start; unless hosts, or an allocation of Slurm or PBS, say how many",
    )
    parser.add_argument(
        "-p",
        "--prefix-output",
        action="store_true",
        help="begin each line with its rank, as the launcher writes it",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        help="end the job after this time, with exit code 124, and show where each rank on this machine was",
    )
    parser.add_argument(
        "--hosts", "--host", metavar="LIST", help="the hosts to run on, each with a number of ranks: a:2,b:2"
    )
    parser.add_argument(
        "--hostfile",
        metavar="FILE",
        help="the hosts to run on, each on a line, with a number of ranks: a:2, or a slots=2",
    )
    parser.add_argument(
        "--mpi", action="store_true", help="let MPI connect the ranks, also where they are all on this machine"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="say which library and launcher were found, and how"
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments and return its exit code.

    Raises
    ------
    UsageError
        If what is asked for cannot be run: bad arguments, no such program, no MPI for more than one rank.
    """
    own, launcher_arguments, rest = _divide(list(arguments))
    program, *others = _programs(rest)
    options = _parser().parse_args(own)
    ranks = None if options.ranks is None else _positive_integer(options.ranks)
    timeout = None if options.timeout is None else _positive_seconds(options.timeout)
    job = command.Job(
        ranks=ranks or 0,
        program=[sys.executable, *_existing_program(program)],
        others=[(ranks, [sys.executable, *_existing_program(program)]) for ranks, program in map(_counted, others)],
        prefix_output=options.prefix_output,
        launcher_arguments=launcher_arguments,
        mpi=options.mpi,
    )
    wrong = [text for text in map(syntax.syntax_error, _programs_of(job)) if text]
    if wrong:
        sys.stderr.write("".join(dict.fromkeys(wrong)))
        return 1
    job = placement.place(job, options.hosts, options.hostfile, os.environ)
    started = start.command_for(job, os.environ, _say, options.verbose)
    _say(str(started))
    here = 0 if command.placed(job, os.environ) else job.all_ranks
    with start.environment(started, os.environ) as environ:
        if timeout is not None:
            environ.setdefault("PYTHONFAULTHANDLER", "1")  # a rank that is aborted then prints its Python stack
        return supervise.run(started, environ, timeout, here, placement.others(job, os.environ))


def _say(text: str) -> None:
    print(f"dtl run: {text}", file=sys.stderr, flush=True)


def _divide(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return our own options, the arguments for the launcher, and the program with its arguments."""
    end = 0
    while end < len(words) and words[end].startswith("-") and words[end] not in ("-m", "--"):
        end += 2 if words[end] in _WITH_VALUE else 1
    own, rest = words[:end], words[end:]
    if rest[:1] != ["--"]:
        return own, [], rest
    if "--" not in rest[1:]:
        raise ArgumentsError("the launcher arguments after '--' need another '--' behind them")
    second = rest.index("--", 1)
    return own, rest[1:second], rest[second + 1 :]


def _programs(words: list[str]) -> list[list[str]]:
    """Return the programs that have colons between them, each with its arguments."""
    programs: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            programs.append([])
        else:
            programs[-1].append(word)
    return programs


def _counted(words: list[str]) -> tuple[int, list[str]]:
    """Return how many ranks a program after a colon has, and the program."""
    if len(words) < 2 or words[0] not in _COUNTS:
        raise ArgumentsError("after ':' comes -n and a number of ranks, then a program")
    return _positive_integer(words[1]), words[2:]


def _existing_program(program: list[str]) -> list[str]:
    """Return the program as the interpreter takes it, if it is there."""
    if not program:
        raise ArgumentsError("there is no program to run; name a script, or a module after -m")
    if program[0] != "-m":
        if not os.path.exists(program[0]):
            raise UsageError(f"there is no file {program[0]!r}")
        return program
    if len(program) == 1:
        raise ArgumentsError("-m needs the name of a module")
    top = program[1].partition(".")[0]
    if not top or importlib.util.find_spec(top) is None:
        raise UsageError(f"there is no module {program[1]!r}")
    return program


def _programs_of(job: command.Job) -> list[Sequence[str]]:
    """Return the program of each part of a job, without the interpreter."""
    return [program[1:] for program in (job.program, *(program for _, program in job.others))]


def _positive_integer(text: str) -> int:
    number = int(text) if text.lstrip("+-").isdecimal() else 0
    if number < 1:
        raise ArgumentsError(f"-n takes a number of ranks of at least 1, not {text!r}")
    return number


def _positive_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds < float("inf"):
        raise ArgumentsError(f"--timeout takes a number of seconds above 0, not {text!r}")
    return seconds
