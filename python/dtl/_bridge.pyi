from typing import Any, Callable, final

from typing_extensions import disjoint_base

ALIKE: int
ALLGATHER: int
ALLREDUCE: int
ASSIGN: int
BARRIER: int
BROADCAST: int
CREATE: int
DISTRIBUTE: int
EQUAL: int
EXSCAN: int
GATHER: int
GATHER_TO: int
GET: int
GIVE: int
HALO_BEGIN: int
HALO_END: int
HALO_EXCHANGE: int
HALO_MAKE: int
HALO_VIEW: int
INDICES: int
LOCATE: int
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
PUT: int
RECV: int
REDISTRIBUTE: int
REDUCE: int
REDUCE_SCATTER: int
RESIZE: int
SCAN: int
SCATTER: int
SEND: int
SENDRECV: int
SPAN: int
TAKE: int
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

@final
class Recorder:
    @property
    def dropped(self) -> int: ...
    def __new__(cls, max_events: int, by_site: bool, bounds: tuple[int, ...]) -> Recorder: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def events(self) -> bytes: ...
    def totals(self) -> list[tuple[str, str | None, int, int, int, int, int, tuple[int, ...]]]: ...

def call(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, /) -> Any: ...
def fast_allreduce(prepare: Callable[..., Any], signature: str, /) -> Callable[..., Any]: ...
def clock() -> int: ...
def disable() -> None: ...
def interruption() -> None: ...
def note(operation: str, start: int, failed: bool, /) -> None: ...
def outside(beginnings: tuple[str, ...], /) -> None: ...
def setup(
    sample: Any, generic: type, make_error: Callable[[str], BaseException], where: Callable[[], str], /
) -> None: ...
