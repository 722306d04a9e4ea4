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
RESIZE: int
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

@disjoint_base
class Ranks(Handle):
    _rank: int
    _size: int

@final
class Short:
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]
    def __new__(cls, prepare: Callable[..., Any], code: int, places: str, answer: str, /) -> Short: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...

@final
class Buffer:
    @property
    def kind(self) -> int: ...

def call(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, /) -> Any: ...
def disable() -> None: ...
def setup(sample: Any, generic: type, make_error: Callable[[str], BaseException], /) -> None: ...
