"""How many threads a rank computes on."""

from __future__ import annotations

import contextlib
import os
import sys

from ..exceptions import InvalidArgumentError
from ..policies import Execution
from . import library, variables
from .arguments import integer

#: More threads than this, no machine has processors for.
_MOST = 1 << 16

_SEQ = Execution.SEQ  # members of enumerations are slow to get at

_chosen: int | None = None
_stated = False  # by the program, not found out


def set_num_threads(n: int) -> None:
    """Set the number of threads that this rank computes on. Not collective.

    Parameters
    ----------
    n
        The number of threads, from 1 to 65,536. More than there are processors are of no use.

    Raises
    ------
    InvalidArgumentError
        If n is outside these bounds.
    InvalidTypeError
        If n is not an integer.

    Notes
    -----
    Large parts of containers are computed on several threads, unless their execution policy is EXEC_SEQ. Results do not
    depend on the number of threads, to the bit. Only BLAS and LAPACK may round differently on another number of their
    own threads: they compute products of matrices and ``dtl.linalg``.

    The environment variable DTL_NUM_THREADS sets the number for a whole program, or else OMP_NUM_THREADS. Without
    either, it is the number of processors that the launcher, or ``ctx.topology.bind``, has bound the rank to. If the
    rank is not bound, it is the number of processors of the machine, divided by the number of ranks on it. If a control
    group grants less time, as for a container with ``--cpus=4``, that is divided by the number of ranks in place of the
    processors.

    This function also limits the threads of pyarrow, if it has been imported, and those of BLAS, if the package
    threadpoolctl is installed: DTL's threads rest while they compute.

    Examples
    --------
    >>> import dtl
    >>> dtl.set_num_threads(2)
    >>> dtl.get_num_threads()
    2
    """
    global _stated
    number = integer("n", n)
    if not 1 <= number <= _MOST:
        raise InvalidArgumentError(f"{number} threads outside [1, {_MOST}]")
    _stated = True
    _choose(number)
    _limit_others(number)


def get_num_threads() -> int:
    """Return the number of threads that this rank computes on. Not collective.

    Raises
    ------
    InvalidArgumentError
        If DTL_NUM_THREADS is not a number of threads.
    """
    if _chosen is None:
        _choose(_found())
    return _chosen or 1


def _of_openmp() -> int:
    """Return how many threads OMP_NUM_THREADS says, for the outermost of its levels; 0 where it says nothing."""
    words = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(words) if words.isdecimal() and len(words) < 10 else 0


def _limit_others(number: int) -> None:
    """Have other libraries, which compute while the threads here rest, use as many, or all processors."""
    number = min(number, os.cpu_count() or 1)
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].set_cpu_count(number)
    with contextlib.suppress(ImportError):
        import threadpoolctl

        threadpoolctl.threadpool_limits(limits=number, user_api="blas")


def _found() -> int:
    """Return how many threads the environment asks for, or else how many processors are this rank's own."""
    return variables.value("DTL_NUM_THREADS") or _of_openmp() or library.suggested_threads()


def _choose(number: int) -> None:
    """Compute on so many threads from now on."""
    global _chosen
    _chosen = number
    library.set_threads(number)


def rebound() -> None:
    """Have what nobody has stated be found out again: the process is bound to other processors."""
    if not _stated and _chosen is not None:
        _choose(_found())


def threads(execution: Execution) -> int:
    """Return on how many threads an algorithm computes under a policy."""
    return 1 if execution is _SEQ else _chosen or get_num_threads()
