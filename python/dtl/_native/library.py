"""The native library: loads its two modules, and turns its errors into exceptions.

``_dtl`` and ``_bridge`` lie in one shared object, so that there is one Go runtime. No other module touches them
directly, except for ``_bridge``'s types and constants.
"""

from __future__ import annotations

import atexit
import functools
import importlib.machinery
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

import numpy as np

from ..exceptions import (
    BackendError,
    CommunicationError,
    DTLError,
    InvalidArgumentError,
    InvalidHandleError,
    from_call,
    from_text,
)
from . import _dtl, log, named_types
from .callsite import place, place_of

if TYPE_CHECKING:
    from . import _bridge
else:

    def _load_bridge():
        name = __package__ + "._bridge"
        loader = importlib.machinery.ExtensionFileLoader(name, _dtl.__file__)
        spec = importlib.machinery.ModuleSpec(name, loader, origin=_dtl.__file__)
        module = loader.create_module(spec)
        module.__spec__ = spec
        sys.modules[name] = module
        loader.exec_module(module)
        return module

    _bridge = _load_bridge()


def _from_call(text: str) -> DTLError:
    """Return the exception of a call. The core has told the other ranks of it. If a rank is lost, log that."""
    error = from_call(text)
    if error.code == CommunicationError.code:
        log.say("ranks", log.WARNING, "%s", error)
    return error


_bridge.setup(np.zeros((2, 3)), np.generic, _from_call, place, place_of, named_types.array_of)
if sys.version_info < (3, 10):
    from . import signals

    signals.install(_bridge.use_alternate_stack)
atexit.register(_bridge.end)  # what other modules register later runs before it

bridge = _bridge

F = TypeVar("F", bound=Callable[..., Any])

#: What C and Python both know of this process.
state = _bridge.state


def _after_fork() -> None:
    state.forked = True


# The Go runtime does not survive fork without exec: say so rather than hang.
os.register_at_fork(after_in_child=_after_fork)


def _call(function: Callable[..., Any], *args: Any, error_of: Callable[[str], Exception] = from_text) -> Any:
    """Call a function of the control plane, with its errors as DTL's exceptions."""
    if state.forked:
        raise BackendError("DTL cannot be used in a forked child; start the child with the spawn method instead")
    try:
        return function(*args)
    except RuntimeError as error:
        _bridge.interruption()
        raise error_of(str(error)) from None
    except OverflowError as error:
        raise InvalidArgumentError(f"{args}: {error}") from None


def _raising(function: F) -> F:
    return cast("F", functools.partial(_call, function))


def _communicate(op: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function of the control plane that communicates. Traces show it as an operation."""
    start = _bridge.clock()
    if not start:
        result = _call(function, *args, error_of=_from_call)
        _bridge.interruption()  # which came too late to end the call
        return result
    failed = True
    try:
        result = _call(function, *args, error_of=_from_call)
        failed = False
    finally:
        _bridge.note(op, start, failed)
    _bridge.interruption()  # which came too late to end the call
    return result


def _communicating(op: str, function: F) -> F:
    return cast("F", functools.partial(_communicate, op, function))


def forked() -> bool:
    """Say whether this process is a forked child, in which the native library is dead."""
    return state.forked


def invalid(op: str, text: str, code: int = InvalidArgumentError.code) -> InvalidArgumentError:
    """Return the error of an operation that refuses an argument before the core sees it."""
    error = InvalidArgumentError(f"{op}: {text}")
    error.op = op
    error.code = code
    return error


def closed(kind: str) -> InvalidHandleError:
    """Return the error of using an object that was closed."""
    return InvalidHandleError(f"the {kind} is closed")


version = _raising(_dtl.pydtl_Version)
dtype_name = _raising(_dtl.pydtl_DtypeName)
dtype_named = _raising(_dtl.pydtl_DtypeNamed)
op_name = _raising(_dtl.pydtl_OpName)

backend_count = _raising(_dtl.pydtl_BackendCount)
backend_name = _raising(_dtl.pydtl_BackendName)
backend_why_not = _raising(_dtl.pydtl_BackendWhyNot)
_memory_of_core = _raising(_dtl.pydtl_MemoryInUse)
device_names = _raising(_dtl.pydtl_DeviceNames)
device_driver = _raising(_dtl.pydtl_DeviceDriver)
device_ipc = _raising(_dtl.pydtl_DeviceIPC)
context_is_aware = _raising(_dtl.pydtl_ContextIsAware)
context_gpu = _raising(_dtl.pydtl_ContextGpu)
memory_peak = _raising(_dtl.pydtl_MemoryPeak)
memory_set_limit = _raising(_dtl.pydtl_MemorySetLimit)
memory_limit = _raising(_dtl.pydtl_MemoryLimit)
memory_return = _raising(_dtl.pydtl_MemoryReturn)
memory_ease = _raising(_dtl.pydtl_MemoryEase)
memory_in_files = _raising(_dtl.pydtl_MemoryInFiles)
memory_share = _raising(_dtl.pydtl_MemoryShare)
memory_trim = _raising(_dtl.pydtl_MemoryTrim)
placement_why_not = _raising(_dtl.pydtl_PlacementWhyNot)

environment_open = _raising(_dtl.pydtl_EnvironmentOpen)
environment_close = _raising(_dtl.pydtl_EnvironmentClose)
environment_count = _raising(_dtl.pydtl_EnvironmentCount)
environment_since = _raising(_dtl.pydtl_EnvironmentSince)

live = _raising(_dtl.pydtl_Live)
_keep_places = _raising(_dtl.pydtl_KeepPlaces)

context_world = _communicating("context", _dtl.pydtl_ContextWorld)
context_on = _communicating("context", _dtl.pydtl_ContextOn)
context_self = _raising(_dtl.pydtl_ContextSelf)
context_adopt = _communicating("context", _dtl.pydtl_ContextAdopt)
contexts_of_threads = _raising(_dtl.pydtl_ContextsOfThreads)
context_asked = _raising(_dtl.pydtl_ContextAsked)
context_answer = _raising(_dtl.pydtl_ContextAnswer)
context_size = _raising(_dtl.pydtl_ContextSize)
context_device = _raising(_dtl.pydtl_ContextDevice)
context_backend = _raising(_dtl.pydtl_ContextBackend)
context_with_device = _communicating("with_cuda", _dtl.pydtl_ContextWithDevice)
context_with_nccl = _communicating("with_nccl", _dtl.pydtl_ContextWithNccl)
context_split_nccl = _communicating("split_nccl", _dtl.pydtl_ContextSplitNccl)
context_nccl_combines = _raising(_dtl.pydtl_ContextNcclCombines)
nccl_version = _raising(_dtl.pydtl_NcclVersion)
nccl_search_in = _raising(_dtl.pydtl_NcclSearchIn)
context_scratch = _raising(_dtl.pydtl_ContextScratch)
context_set_scratch = _raising(_dtl.pydtl_ContextSetScratch)
context_scratch_file = _raising(_dtl.pydtl_ContextScratchFile)
context_scratch_in_memory = _raising(_dtl.pydtl_ContextScratchInMemory)
context_fence = _raising(_dtl.pydtl_ContextFence)
context_dup = _communicating("dup", _dtl.pydtl_ContextDup)
context_dup_for = _communicating("dup", _dtl.pydtl_ContextDupFor)
context_defer = _raising(_dtl.pydtl_ContextDefer)
context_serve = _raising(_dtl.pydtl_ContextServe)
context_split = _communicating("split", _dtl.pydtl_ContextSplit)
context_split_by_node = _communicating("split_by_node", _dtl.pydtl_ContextSplitByNode)
context_export = _communicating("to_mpi4py", _dtl.pydtl_ContextExport)
context_settle = _communicating("close", _dtl.pydtl_ContextSettle)
confirm = functools.partial(_call, _dtl.pydtl_Confirm, error_of=_from_call)
context_give_up = _raising(_dtl.pydtl_ContextGiveUp)
context_close = _communicating("close", _dtl.pydtl_ContextClose)

set_wait_limits = _raising(_dtl.pydtl_SetWaitLimits)
phases = _raising(_dtl.pydtl_Phases)
progress = _raising(_dtl.pydtl_Progress)
set_progress = _raising(_dtl.pydtl_SetProgress)
set_checking = _raising(_dtl.pydtl_SetChecking)
set_sharing = _raising(_dtl.pydtl_SetSharing)
pretend_nodes = _raising(_dtl.pydtl_PretendNodes)
set_threads = _raising(_dtl.pydtl_SetThreads)
suggested_threads = _raising(_dtl.pydtl_SuggestedThreads)
asked = _raising(_dtl.pydtl_Asked)
answer = _raising(_dtl.pydtl_Answer)
leave = _raising(_dtl.pydtl_Leave)

context_refuse = _communicating("refuse", _dtl.pydtl_ContextRefuse)
context_agree = _communicating("agree", _dtl.pydtl_ContextAgree)
context_refuse_start = _raising(_dtl.pydtl_ContextRefuseStart)

container_shape = _raising(_dtl.pydtl_ContainerShape)
container_local_shape = _raising(_dtl.pydtl_ContainerLocalShape)
container_offset = _raising(_dtl.pydtl_ContainerOffset)
container_grid = _raising(_dtl.pydtl_ContainerGrid)
container_sequential = _raising(_dtl.pydtl_ContainerSequential)
container_kind = _raising(_dtl.pydtl_ContainerKind)
container_index = _raising(_dtl.pydtl_ContainerIndex)
container_placement = _raising(_dtl.pydtl_ContainerPlacement)
container_result_placement = _raising(_dtl.pydtl_ContainerResultPlacement)
container_file = _raising(_dtl.pydtl_ContainerFile)
container_views = _raising(_dtl.pydtl_ContainerViews)
container_alike = _raising(_dtl.pydtl_ContainerAlike)
container_unallocated = _raising(_dtl.pydtl_ContainerUnallocated)
container_blank_beside = _raising(_dtl.pydtl_ContainerBlankBeside)
container_allocate = _raising(_dtl.pydtl_ContainerAllocate)
container_equal = _raising(_dtl.pydtl_ContainerEqual)
container_on = _raising(_dtl.pydtl_ContainerOn)
container_settle = _raising(_dtl.pydtl_ContainerSettle)
container_close = _raising(_dtl.pydtl_ContainerClose)
context_topology = _raising(_dtl.pydtl_ContextTopology)
context_find_topology = _communicating("topology", _dtl.pydtl_ContextFindTopology)
topology_of_world = _raising(_dtl.pydtl_TopologyOfWorld)
topology_processors = _raising(_dtl.pydtl_TopologyProcessors)
topology_devices = _raising(_dtl.pydtl_TopologyDevices)
topology_bind = _raising(_dtl.pydtl_TopologyBind)

plan_close = _raising(_dtl.pydtl_PlanClose)
halo_close = _raising(_dtl.pydtl_HaloClose)
halo_drop = _raising(_dtl.pydtl_HaloDrop)

map_create = _communicating("map", _dtl.pydtl_MapCreate)
map_local_size = _raising(_dtl.pydtl_MapLocalSize)
map_placement = _raising(_dtl.pydtl_MapPlacement)
map_len = _raising(_dtl.pydtl_MapLen)
map_sync = _communicating("sync", _dtl.pydtl_MapSync)
map_clear = _communicating("clear", _dtl.pydtl_MapClear)
map_close = _raising(_dtl.pydtl_MapClose)

window_close = _communicating("close", _dtl.pydtl_WindowClose)
window_drop = _raising(_dtl.pydtl_WindowDrop)

mpi_search_in = _raising(_dtl.pydtl_MpiSearchIn)
mpi_abort = _raising(_dtl.pydtl_MpiAbort)
local_active = _raising(_dtl.pydtl_LocalActive)
local_joined = _raising(_dtl.pydtl_LocalJoined)
local_program = _raising(_dtl.pydtl_LocalProgram)
mpi_active = _raising(_dtl.pydtl_MpiActive)
mpi_thread_level = _raising(_dtl.pydtl_MpiThreadLevel)
mpi_program = _raising(_dtl.pydtl_MpiProgram)
mpi_path = _raising(_dtl.pydtl_MpiPath)
mpi_abi = _raising(_dtl.pydtl_MpiAbi)
mpi_version = _raising(_dtl.pydtl_MpiVersion)
mpi_source = _raising(_dtl.pydtl_MpiSource)

# The wheels put MPI into the environment's own lib folder.
mpi_search_in(os.path.join(sys.prefix, "lib"))


def memory_in_use() -> int:
    """Return the bytes of host memory that containers and what else the core has use now."""
    return _memory_of_core() + _bridge.block_bytes()


def keep_places(yes: bool) -> None:
    """Say whether the place in the program that makes a handle is remembered with it."""
    state.keeps_places = yes
    _keep_places(yes)
