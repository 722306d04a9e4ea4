"""How many threads a rank computes on where a container's execution policy is EXEC_PAR."""

from __future__ import annotations

from ..exceptions import InvalidArgumentError
from ..policies import Execution
from . import library, variables
from .arguments import integer

_chosen: int | None = None
_stated = False  # by the program, not found out


def set_num_threads(n: int) -> None:
    """Set the number of threads that this rank uses if the execution policy is EXEC_PAR. Not collective.

    Parameters
    ----------
    n
        The number of threads, at least 1. More than there are processors are of no use.

    Raises
    ------
    InvalidArgumentError
        If n is less than 1.
    InvalidTypeError
        If n is not an integer.

    Notes
    -----
    The environment variable DTL_NUM_THREADS sets the number for a whole program. Without either, it is the number of
    processors that the launcher, or ``ctx.topology.bind``, has bound the rank to. If the rank is not bound, it is the
    number of processors of the machine, divided by the number of ranks on it. If a control group grants less time, as
    for a container with ``--cpus=4``, that is divided by the number of ranks in place of the processors.

    Examples
    --------
    >>> import dtl
    >>> dtl.set_num_threads(2)
    >>> dtl.get_num_threads()
    2
    """
    global _stated
    number = integer("n", n)
    if number < 1:
        raise InvalidArgumentError(f"{number} threads: there must be at least 1")
    _stated = True
    _choose(number)


def get_num_threads() -> int:
    """Return the number of threads that this rank uses if the execution policy is EXEC_PAR. Not collective.

    Raises
    ------
    InvalidArgumentError
        If DTL_NUM_THREADS is not a number of threads.
    """
    if _chosen is None:
        _choose(variables.value("DTL_NUM_THREADS") or library.suggested_threads())
    return _chosen or 1


def _choose(number: int) -> None:
    """Compute on so many threads from now on."""
    global _chosen
    _chosen = number
    library.set_threads(number)


def rebound() -> None:
    """Have what nobody has stated be found out again: the process is bound to other processors."""
    if not _stated and _chosen is not None:
        _choose(variables.value("DTL_NUM_THREADS") or library.suggested_threads())


def threads(execution: Execution) -> int:
    """Return on how many threads an algorithm computes under a policy."""
    return get_num_threads() if execution is Execution.PAR else 1
