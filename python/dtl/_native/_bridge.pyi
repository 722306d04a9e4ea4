from types import CodeType
from typing import Any, Callable, final

from typing_extensions import disjoint_base

ALLGATHER: int
ALLGATHERV: int
ALLREDUCE: int
ALLTOALL: int
ALLTOALLV: int
ASSIGN: int
BARRIER: int
BINCOUNT: int
BROADCAST: int
CANCEL: int
CART: int
CART_AT: int
CHOOSE: int
COPY_PART: int
FIELD_PART: int
CREATE: int
CUMULATE: int
DISTRIBUTE: int
DOT: int
DRAW: int
DRAW_INTO: int
DRAW_START: int
ELEMENTWISE: int
EXSCAN: int
FILL_PART: int
FOLD: int
FOLD_LINES: int
FOLD_RUN: int
GATHER: int
GATHERV: int
GATHER_TO: int
GET: int
GIVE: int
GRAPH: int
HALO_BEGIN: int
HALO_END: int
HALO_EXCHANGE: int
HALO_MAKE: int
HALO_VIEW: int
HISTOGRAM: int
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
LINKED: int
LOCATE: int
MAP_CONTAINS: int
MAP_ENTRIES: int
MAP_ERASE: int
MAP_FIND: int
MAP_INSERT: int
MAP_UPDATE: int
MOVE: int
MOVE_ALL: int
NEIGHBOR_ALLGATHER: int
NEIGHBOR_ALLTOALL: int
NEIGHBOR_ALLTOALLV: int
OWNER: int
PERMUTE_PART: int
PLACE: int
PLAN: int
PLAN_BYTES: int
PLAN_EXECUTE: int
PROBE: int
PUT: int
PUT_AT: int
PUT_PART: int
PUT_WHERE: int
REACHED: int
RECV: int
RECV_INIT: int
RECV_OBJECT: int
RECV_PART: int
REDISTRIBUTE: int
REDUCE: int
REDUCE_SCATTER: int
RESIZE: int
SCAN: int
SCATTER: int
SCATTERV: int
SEND: int
SENDRECV: int
SEND_INIT: int
SEND_OBJECT: int
SEND_PART: int
SET_PART: int
SHARE: int
SORT: int
ARGSORT: int
IS_SORTED: int
SEARCH: int
SELECT: int
SPAN: int
START: int
TAKE: int
TAKE_PART: int
TAKE_WHERE: int
TEST: int
TICKET: int
TRUTHS: int
VIEW: int
WAIT: int
WAIT_ANY: int
WHOLE_PART: int
WIN_COMBINE: int
WIN_FACTS: int
WIN_FENCE: int
WIN_FETCH: int
WIN_FLUSH: int
WIN_GET: int
WIN_LOCK: int
WIN_MAKE: int
WIN_PUT: int
WIN_RGET: int
WIN_RPUT: int
WIN_SWAP: int
WIN_SYNC: int
WIN_DETACH: int
WIN_UNLOCK: int
WIN_VIEW: int

NDARRAY: int
NUMPY_SCALAR: int
PYTHON_SCALAR: int

@disjoint_base
class Handle:
    _handle: int
    _deferred: bool
    _pending: bool
    @property
    def _is_temporary(self) -> bool: ...
    @property
    def _raw_handle(self) -> int: ...

@final
class Layout:
    shape: tuple[int, ...] | None
    local_size: int | None

@disjoint_base
class Container(Handle):
    _context: Any
    _dtype: Any
    _ndim: int
    _division: Any
    _layout: Layout
    def _adopt_native(self, handle: int, context: Any, dtype: Any, ndim: int, division: Any, /) -> None: ...
    def _close_native(self) -> None: ...

@disjoint_base
class Ranks(Handle):
    @property
    def _rank(self) -> int: ...
    @property
    def _size(self) -> int: ...

@disjoint_base
class Exposed(Handle): ...

@final
class State:
    forked: bool
    under_way: int

state: State

@final
class ShortCall:
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]
    def __new__(
        cls, prepare: Callable[..., Any], code: int, places: str, answer: str, fold: int = 0, /
    ) -> ShortCall: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...

@final
class Collective:
    def __new__(
        cls,
        function: Callable[..., Any],
        failed: Callable[[Exception, tuple[Any, ...], tuple[str, ...] | None], tuple[Any] | None],
        /,
    ) -> Collective: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = ..., /) -> Any: ...

@final
class Buffer:
    @property
    def kind(self) -> int: ...

@final
class DeviceMemory:
    @property
    def address(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def managed(self) -> int: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def storage(self) -> int: ...
    @property
    def stream(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    def copy(self, source: DeviceMemory, wait: bool, /) -> None: ...
    def dlpack(self, code: int, bits: int, device_type: int, versioned: bool, /) -> Any: ...
    def order(self, stream: int, back: bool, /) -> None: ...
    def read(self, out: Any, at: tuple[int, ...] = ..., /) -> None: ...
    def share(self) -> None: ...
    def synchronize(self) -> None: ...
    def write(self, values: Any, at: tuple[int, ...] = ..., /) -> None: ...

@final
class Recorder:
    @property
    def dropped(self) -> int: ...
    def __new__(cls, max_events: int, by_site: bool, bounds: tuple[int, ...]) -> Recorder: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def events(self) -> bytes: ...
    def totals(self) -> list[tuple[str, str | None, int, int, int, int, int, tuple[int, ...]]]: ...

@final
class PendingCall(Handle): ...

def attach(ranks: Ranks, /) -> None: ...
def attach_window(window: Exposed, /) -> None: ...
def call(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, /, *lists: Any) -> Any: ...
def clock() -> int: ...
def compute(
    block: int, runs: tuple[tuple[int, tuple[Any, ...]], ...], how: bytes, steps: tuple[Any, ...], done: list[bool], /
) -> bytes: ...
def device_lend(
    address: int, type: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, owner: Any, /
) -> DeviceMemory: ...
def device_stream(device: int, /) -> int: ...
def end() -> None: ...
def fault(kind: str, flags: int, /) -> None: ...
def hold(ranks: Handle, op: str, /) -> int: ...
def interruption() -> None: ...
def let_go(handle: int, /) -> None: ...
def note(operation: str, start: int, failed: bool, end: int = 0, bytes: int = 0, /) -> None: ...
def on_use(compute: Callable[[Any], None], /) -> None: ...
def outside(beginnings: tuple[str, ...], /) -> None: ...
def pends(request: object, /) -> bool: ...
def setup(
    sample: Any,
    generic: type,
    make_error: Callable[[str], BaseException],
    where: Callable[[int], str],
    name: Callable[[CodeType, int], str],
    make_array: Callable[[Any, bool], Any],
    /,
) -> None: ...
def take_dlpack(
    capsule: Any, /
) -> tuple[int, int, int, int, int, int, tuple[int, ...], tuple[int, ...] | None, int, Any]: ...
def use_alternate_stack(number: int, /) -> None: ...
def waits() -> bool: ...
def start(code: int, owner: Handle, value: Any, out: Any, a: Any, b: Any, c: Any, d: Any, /, *lists: Any) -> Any: ...
