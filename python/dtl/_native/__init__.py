"""The native library, and what every other package needs of it: arguments, call sites, threads."""

import resource

#: Less than what Go's runtime reserves of a process's address space when it starts, with what Python and NumPy have.
#: Without it, that runtime would end the process.
_ADDRESSES = 900 << 20

_limit = resource.getrlimit(resource.RLIMIT_AS)[0]
if 0 <= _limit < _ADDRESSES:
    raise ImportError(
        f"the address space of this process is limited to {_limit} bytes, of which DTL needs {_ADDRESSES} to start, "
        "most of them reserved only; ulimit -v shows the limit, which a batch system may set for each rank"
    )
