from typing import Any, Callable

ALLGATHER: int
ALLREDUCE: int
BARRIER: int
BROADCAST: int
GATHER: int
RECV: int
REDUCE: int
SCATTER: int
SEND: int
SENDRECV: int
VIEW: int

NDARRAY: int
NUMPY_SCALAR: int
PYTHON_SCALAR: int

class Handle:
    _handle: int

class Buffer:
    kind: int
    def __buffer__(self, flags: int, /) -> memoryview: ...

def call(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, /) -> Any: ...
def disable() -> None: ...
def setup(sample: Any, generic: type, make_error: Callable[[str], BaseException], /) -> None: ...
