"""Which of the programs of a job this process runs, and the role that it has by that."""

from __future__ import annotations

import os
import sys
from typing import Any

from .._native import library
from .._native.arguments import listed
from ..exceptions import InvalidTypeError

#: Where the user says which role a process has.
VARIABLE = "DTL_ROLE"

_OP = "from_programs"


def role(names: Any) -> str:
    """Return the role of this process: what the environment says, its program's of the names, or its script's name."""
    said = os.environ.get(VARIABLE)
    if said:
        return said
    if names is None:
        return _script()
    names = _strings(names)
    number = max(library.local_program(), library.mpi_program(), 0)  # alone, a process runs the only one
    if number >= len(names):
        raise library.invalid(_OP, f"this is program {number} of the launcher's command, and names has {len(names)}")
    if not names[number]:
        raise library.invalid(_OP, f"the name of program {number} is empty")
    return str(names[number])


def _strings(names: Any) -> list[str]:
    """Return the strings of a sequence."""
    try:
        several = None if isinstance(names, str) else listed(names)
    except TypeError:
        several = None
    if several is None or not all(isinstance(name, str) for name in several):
        raise InvalidTypeError(f"{_OP}: names must be a sequence of strings, not {names!r}")
    return several


def _script() -> str:
    """Return the name of the script or module that runs."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None:
        name = str(spec.name)
        return name[: -len(".__main__")] if name.endswith(".__main__") else name
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    if not name or name == "-c":
        raise library.invalid(
            _OP, f"no script has been started that gives the role its name; set {VARIABLE}, or pass names"
        )
    return name
