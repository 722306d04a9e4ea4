"""``python -m dtl``: ``run`` a program on ranks, ``trace`` or ``doctor`` it, or print ``info`` about what is here."""

from __future__ import annotations

import sys
from typing import Sequence

from ._cli import ArgumentsError, UsageError
from ._lazy import late

#: The commands. Each is a module of _cli with a function main, which is imported when it is wanted.
COMMANDS = ("run", "trace", "doctor", "info")

_HELP = """\
usage: python -m dtl run [-n RANKS] [options] script.py [arguments]  run a program on several ranks
       python -m dtl trace [-o FILE] script.py [arguments]           run a program and say what its calls cost
       python -m dtl doctor script.py [arguments]                    run a program and say what would be faster
       python -m dtl info                                            say what is here and what can be used
       python -m dtl run --help, python -m dtl trace --help          say more
       python -m dtl --version                                       say which version this is"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the first argument (of the process, unless given) names, and return its exit code.

    That is 2 for bad usage, with the reason on standard error.
    """
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-V", "--version"):
        from . import __version__

        print(f"dtl {__version__}")
        return 0
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_HELP, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    name = arguments[0]
    if name not in COMMANDS:
        print(f"dtl: there is no command {name!r}\n{_HELP}", file=sys.stderr)
        return 2
    try:
        code: int = late(f"._cli.{name}", "main")(arguments[1:])
        return code
    except ArgumentsError as error:
        usage = sys.modules[f"{__package__}._cli.{name}"].USAGE
        print(f"dtl {name}: {error}\nusage: {usage}; --help says more", file=sys.stderr)
        return 2
    except UsageError as error:
        print(f"dtl {name}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
