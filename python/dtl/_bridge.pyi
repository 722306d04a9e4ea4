from typing import Any, Callable, final

from typing_extensions import disjoint_base

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

@disjoint_base
class Handle:
    _handle: int

@final
class Buffer:
    @property
    def kind(self) -> int: ...

def call(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, /) -> Any: ...
def fast_allreduce(prepare: Callable[..., Any], signature: str, /) -> Callable[..., Any]: ...
def disable() -> None: ...
def setup(sample: Any, generic: type, make_error: Callable[[str], BaseException], /) -> None: ...
