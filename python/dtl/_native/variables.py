"""The environment variables that users set: which there are, and what each may be.

Whoever needs one calls ``value``. The first context checks all of them, so that a wrong one does not end the program
when it has computed for hours.
"""

from __future__ import annotations

import math
import os
from typing import Any, Callable, Iterable, NamedTuple

from ..exceptions import InvalidArgumentError
from .callsite import warn


class Variable(NamedTuple):
    """An environment variable: its values in words, how text becomes a value, and the value if it is unset or empty."""

    words: str
    parse: Callable[[str], Any]
    default: Any = None


def _one_of(*names: str, default: Any = None) -> Variable:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError
        return text

    quoted = [repr(name) for name in names]
    return Variable("one of " + ", ".join(quoted) if names != ("0", "1") else " or ".join(quoted), parse, default)


def _number(words: str, most: int, least: int = 1, default: Any = None, off: Any = None) -> Variable:
    def parse(text: str) -> Any:
        if text == "off" and off is not None:
            return off
        if not text.isascii() or not text.isdigit() or len(text) > 20 or not least <= int(text) <= most:
            raise ValueError
        return int(text)

    return Variable(words, parse, default)


def _seconds(default: float) -> Variable:
    def parse(text: str) -> float:
        seconds = float(text)
        if not 0 <= seconds < math.inf:
            raise ValueError
        return seconds

    return Variable("a number of seconds of at least 0, 0 for never", parse, default)


def _bytes(text: str) -> int:
    """Return a number of bytes, which may end in K, M, G or T, for powers of 1024, with or without iB."""
    words = text.strip().upper()
    for suffix in ("IB", "B"):
        words = words[: -len(suffix)] if words.endswith(suffix) else words
    power = "KMGT".find(words[-1:]) + 1 if words else 0
    digits = words[:-1].strip() if power else words
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18 or not 0 < int(digits) << 10 * power < 2**63:
        raise ValueError
    return int(digits) << 10 * power


_SWITCH = _one_of("0", "1")
_TEXT = Variable("text", str, "")

#: All that users may set; docs/guide/environment.md says what each does.
VARIABLES = {
    "DTL_BACKEND": _one_of("cpu", "local", "mpi", "shmem", default=""),
    "DTL_MPI_LIB": _TEXT,  # is looked for when MPI is opened, which not every context does
    "DTL_NCCL_LIB": _TEXT,
    "DTL_SHARED_MEMORY": _SWITCH,
    "DTL_GPU_AWARE": _SWITCH,
    "DTL_NODES_OF": _number(f"a number of ranks in [1, {2**31})", 2**31 - 1, default=0),
    "DTL_CHECK": _one_of("full", "node"),
    "DTL_HANG_REPORT": _seconds(30.0),
    "DTL_TIMEOUT": _seconds(0.0),
    "DTL_PROGRESS": _one_of("none", "poll", "thread", default="none"),
    "DTL_FUSE": _number("a number of bytes, or 'off'", 2**63 - 1, 0, off=math.inf),
    "DTL_NUMPY_LOOPS": _SWITCH,  # the bridge reads it when it is loaded
    "DTL_LOG": _one_of("debug", "info", "warning", "error"),
    "DTL_NUM_THREADS": _number(f"a number of threads, at least 1 and less than {2**31}", 2**31 - 1),
    "DTL_ROLE": _TEXT,
    "DTL_SCRATCH": _TEXT,  # is looked at when a file is made there
    "DTL_MEMORY_LIMIT": Variable("a number of bytes, such as 1073741824, 1024M or 1GiB", _bytes),
}

#: What the names begin with that launchers, tests and builds of DTL set.
_OWN = tuple(f"DTL_{word}" for word in ("RUN", "LOCAL_", "LAUNCH", "RANK_", "TEST_", "FAKE_", "ATTACK_", "SLURM_"))

_warned: set[str] = set()


def value(name: str) -> Any:
    """Return what a variable is set to, or its default. Raises InvalidArgumentError where that is nothing it may be."""
    variable, text = VARIABLES[name], os.environ.get(name, "")
    if not text:
        return variable.default
    try:
        return variable.parse(text)
    except ValueError:
        raise InvalidArgumentError(f"{name} is {text!r}; it must be {variable.words}") from None


def check(besides: Iterable[str] = ()) -> None:
    """Check all variables that are set, besides those in whose place there are arguments."""
    for name in os.environ:
        if name.startswith("DTL_") and name in VARIABLES and name not in besides:
            value(name)


def warn_of_unknown() -> None:
    """Warn of variables that look like DTL's and are none, such as DTL_TIMOUT: each once."""
    for name in os.environ:
        if name.startswith("DTL_") and name not in VARIABLES and name not in _warned and not name.startswith(_OWN):
            _warned.add(name)
            warn(f"the environment has {name}, which is no variable of DTL{_nearest(name)}", RuntimeWarning)


def _nearest(name: str) -> str:
    """Return in words which variable may be meant."""
    import difflib  # which few programs need

    known = {variable[4:]: variable for variable in VARIABLES}
    close = difflib.get_close_matches(name[4:].upper(), known, 1)
    return f"; is {known[close[0]]} meant?" if close else f"; there are {', '.join(VARIABLES)}"
