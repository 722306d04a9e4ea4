from typing import Any, Callable, final

from typing_extensions import disjoint_base

ALIKE: int
ALLGATHER: int
ALLREDUCE: int
ASSIGN: int
BARRIER: int
BROADCAST: int
CANCEL: int
CREATE: int
DISTRIBUTE: int
EQUAL: int
GATHER: int
GATHER_TO: int
GET: int
GIVE: int
HALO_BEGIN: int
HALO_END: int
HALO_EXCHANGE: int
HALO_MAKE: int
HALO_VIEW: int
IALLGATHER: int
IALLREDUCE: int
IALLTOALLV: int
IBARRIER: int
IBROADCAST: int
IGATHER: int
INDICES: int
IPROBE: int
IRECV: int
ISEND: int
MAP_CONTAINS: int
MAP_ENTRIES: int
MAP_ERASE: int
MAP_FIND: int
MAP_INSERT: int
MAP_UPDATE: int
MOVE: int
OWNER: int
PLAN: int
PLAN_BYTES: int
PLAN_EXECUTE: int
PROBE: int
PUT: int
RECV: int
RECV_INIT: int
REDISTRIBUTE: int
REDUCE: int
RESIZE: int
SCATTER: int
SEND: int
SENDRECV: int
SEND_INIT: int
SPAN: int
START: int
TAKE: int
TEST: int
VIEW: int
WAIT: int
WAIT_ANY: int

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

@final
class Held(Handle): ...

def call(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, /) -> Any: ...
def fast_allreduce(prepare: Callable[..., Any], signature: str, /) -> Callable[..., Any]: ...
def disable() -> None: ...
def interruption() -> None: ...
def setup(
    sample: Any, generic: type, make_error: Callable[[str], BaseException], where: Callable[[], str], /
) -> None: ...
def start(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, *lists: Any) -> Any: ...
