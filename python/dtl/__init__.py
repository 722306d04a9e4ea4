"""DTL: distributed containers, collectives and messages for NumPy programs.

The same script runs alone with no MPI, and under ``mpirun`` with whatever MPI is there::

    import dtl
    import numpy as np

    with dtl.Context() as ctx:
        vec = dtl.DistributedVector(ctx, size=1000, dtype=np.float64, fill=1.0)
        total = dtl.allreduce(ctx, vec.local_view().sum())
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import backends
from ._native.library import version as _version
from .backends import has_cuda, has_hip, has_mpi, has_nccl, has_shmem
from .comm.collectives import allgather, broadcast, gather, scatter
from .comm.point_to_point import ANY_SOURCE, ANY_TAG, PROC_NULL, MessageInfo, iprobe, probe, recv, send, sendrecv
from .comm.reductions import allreduce, reduce
from .exceptions import (
    BackendError,
    BackendUnavailableError,
    BoundsError,
    BufferError,
    CollectiveMismatchError,
    CommunicationError,
    DTLError,
    InvalidArgumentError,
    InvalidHandleError,
    InvalidTypeError,
    KeyNotFoundError,
    MemoryError,
    OverflowError,
)
from .ops import BAND, BOR, BXOR, IN_PLACE, LAND, LOR, MAX, MAXLOC, MIN, MINLOC, NO_OP, PROD, REPLACE, SUM
from .policies import (
    EXEC_ASYNC,
    EXEC_PAR,
    EXEC_SEQ,
    PARTITION_BLOCK,
    PARTITION_BLOCK_CYCLIC,
    PARTITION_CYCLIC,
    PARTITION_EXPLICIT,
    PARTITION_HASH,
    PARTITION_REPLICATED,
    PLACEMENT_DEVICE,
    PLACEMENT_DEVICE_PREFERRED,
    PLACEMENT_HOST,
    PLACEMENT_UNIFIED,
    placement_available,
)
from .runtime.context import Context

if TYPE_CHECKING:
    from . import observe
    from ._native.threads import get_num_threads, set_num_threads
    from .algorithms.cumulations import cumprod, cumsum
    from .algorithms.extremes import max_element, min_element, minmax
    from .algorithms.fill import fill, generate, iota, replace, replace_if
    from .algorithms.groupby import GroupBy, group_by
    from .algorithms.histogram import bincount, histogram
    from .algorithms.join import join
    from .algorithms.linalg import dot, norm, vdot
    from .algorithms.matrices import matmul
    from .algorithms.ordered import lower_bound, merge, searchsorted, unique
    from .algorithms.reduce import inner_product, reduce_local, transform_reduce
    from .algorithms.reorder import adjacent_difference, partition_by, reverse, rotate
    from .algorithms.scan import exclusive_scan, inclusive_scan
    from .algorithms.search import all_of, any_of, count, count_if, find, find_if, none_of
    from .algorithms.select import median, quantile, topk
    from .algorithms.shuffling import shuffle
    from .algorithms.sort import argsort, is_sorted, lexsort, sort, sort_by_key
    from .algorithms.statistics import all, any, argmax, argmin, max, mean, min, prod, std, sum, var
    from .algorithms.transform import copy, for_each, transform
    from .asynchronous.api import (
        async_for_each,
        async_halo,
        async_redistribute,
        async_reduce,
        async_scan,
        async_sort,
        async_transform,
    )
    from .comm.cart import Cart
    from .comm.graph import Graph
    from .comm.nonblocking import iallgather, iallreduce, ialltoallv, ibarrier, ibroadcast, igather
    from .comm.nonblocking_messages import irecv, isend, recv_init, send_init
    from .comm.object_messages import recv_object, send_object
    from .comm.objects import allgather_object, broadcast_object, gather_object, scatter_object
    from .comm.requests import PersistentRequest, Request
    from .comm.scans import exscan, reduce_scatter, scan
    from .comm.several import startall, waitall, waitany
    from .comm.vector_collectives import allgatherv, alltoall, alltoallv, gatherv, scatterv
    from .containers.array import DistributedArray
    from .containers.base import DistributedContainer
    from .containers.halo import Halo
    from .containers.map.distributed_map import DistributedMap
    from .containers.redistribution import RedistributionPlan
    from .containers.span import DistributedSpan
    from .containers.tensor import DistributedTensor
    from .containers.vector import DistributedVector
    from .futures.combinators import when_all, when_any
    from .futures.future import Future
    from .monitoring.progress_bar import progress
    from .monitoring.trace import trace
    from .plotting import plot_partition
    from .rma.access import rma_get, rma_put, rma_rget, rma_rput
    from .rma.atomics import rma_accumulate, rma_compare_and_swap, rma_fetch_and_add, rma_fetch_and_op
    from .rma.counter import Counter
    from .rma.lock import Lock
    from .rma.remote import Remote
    from .rma.window import Window
    from .roles.intergroup import intergroup_broadcast, intergroup_gather, intergroup_recv, intergroup_send
    from .roles.role_manager import RoleManager
    from .runtime.environment import THREAD_FUNNELED, THREAD_MULTIPLE, THREAD_SERIALIZED, THREAD_SINGLE, Environment
    from .runtime.live import LiveHandle, live
    from .topology.machine import Topology
    from .topology.nccl import (
        DTL_NCCL_MODE_HYBRID_PARITY,
        DTL_NCCL_MODE_NATIVE_ONLY,
        DTL_NCCL_OP_ALLGATHER,
        DTL_NCCL_OP_ALLREDUCE,
        DTL_NCCL_OP_ALLTOALL,
        DTL_NCCL_OP_BARRIER,
        DTL_NCCL_OP_BROADCAST,
        DTL_NCCL_OP_GATHER,
        DTL_NCCL_OP_REDUCE,
        DTL_NCCL_OP_SCAN,
        DTL_NCCL_OP_SCATTER,
    )

__version__: str = _version()
version_info: tuple[int, int, int] = (0, 1, 0)

__all__ = [
    "ANY_SOURCE",
    "ANY_TAG",
    "BAND",
    "BOR",
    "BXOR",
    "DTL_NCCL_MODE_HYBRID_PARITY",
    "DTL_NCCL_MODE_NATIVE_ONLY",
    "DTL_NCCL_OP_ALLGATHER",
    "DTL_NCCL_OP_ALLREDUCE",
    "DTL_NCCL_OP_ALLTOALL",
    "DTL_NCCL_OP_BARRIER",
    "DTL_NCCL_OP_BROADCAST",
    "DTL_NCCL_OP_GATHER",
    "DTL_NCCL_OP_REDUCE",
    "DTL_NCCL_OP_SCAN",
    "DTL_NCCL_OP_SCATTER",
    "EXEC_ASYNC",
    "EXEC_PAR",
    "EXEC_SEQ",
    "IN_PLACE",
    "LAND",
    "LOR",
    "MAX",
    "MAXLOC",
    "MIN",
    "MINLOC",
    "NO_OP",
    "PARTITION_BLOCK",
    "PARTITION_BLOCK_CYCLIC",
    "PARTITION_CYCLIC",
    "PARTITION_EXPLICIT",
    "PARTITION_HASH",
    "PARTITION_REPLICATED",
    "PLACEMENT_DEVICE",
    "PLACEMENT_DEVICE_PREFERRED",
    "PLACEMENT_HOST",
    "PLACEMENT_UNIFIED",
    "PROC_NULL",
    "PROD",
    "REPLACE",
    "SUM",
    "THREAD_FUNNELED",
    "THREAD_MULTIPLE",
    "THREAD_SERIALIZED",
    "THREAD_SINGLE",
    "BackendError",
    "BackendUnavailableError",
    "BoundsError",
    "BufferError",
    "CollectiveMismatchError",
    "CommunicationError",
    "Context",
    "DTLError",
    "DistributedArray",
    "DistributedContainer",
    "DistributedSpan",
    "DistributedTensor",
    "DistributedVector",
    "Environment",
    "InvalidArgumentError",
    "InvalidHandleError",
    "InvalidTypeError",
    "KeyNotFoundError",
    "MemoryError",
    "MessageInfo",
    "OverflowError",
    "__version__",
    "allgather",
    "allreduce",
    "backends",
    "broadcast",
    "gather",
    "has_cuda",
    "has_hip",
    "has_mpi",
    "has_nccl",
    "has_shmem",
    "iprobe",
    "observe",
    "placement_available",
    "probe",
    "recv",
    "reduce",
    "scatter",
    "send",
    "sendrecv",
    "version_info",
]
__all__ += ["Cart", "Counter", "DistributedMap", "Graph", "Halo", "Lock", "RedistributionPlan", "Remote"]
__all__ += ["copy", "for_each", "transform"]
__all__ += ["fill", "generate", "iota", "replace", "replace_if"]
__all__ += ["async_for_each", "async_halo", "async_redistribute", "async_reduce"]
__all__ += ["async_scan", "async_sort", "async_transform"]
__all__ += ["cumprod", "cumsum"]
__all__ += ["max_element", "min_element", "minmax"]
__all__ += ["inner_product", "reduce_local", "transform_reduce"]
__all__ += ["Future", "when_all", "when_any"]
__all__ += ["GroupBy", "group_by"]
__all__ += ["LiveHandle", "live"]
__all__ += ["bincount", "histogram"]
__all__ += ["intergroup_broadcast", "intergroup_gather", "intergroup_recv", "intergroup_send"]
__all__ += ["join"]
__all__ += ["matmul"]
__all__ += ["iallgather", "iallreduce", "ialltoallv", "ibarrier", "ibroadcast", "igather"]
__all__ += ["irecv", "isend", "recv_init", "send_init"]
__all__ += ["recv_object", "send_object"]
__all__ += ["allgather_object", "broadcast_object", "gather_object", "scatter_object"]
__all__ += ["rma_accumulate", "rma_compare_and_swap", "rma_fetch_and_add", "rma_fetch_and_op"]
__all__ += ["rma_get", "rma_put", "rma_rget", "rma_rput"]
__all__ += ["lower_bound", "merge", "searchsorted", "unique"]
__all__ += ["plot_partition"]
__all__ += ["dot", "norm", "vdot"]
__all__ += ["progress"]
__all__ += ["adjacent_difference", "partition_by", "reverse", "rotate"]
__all__ += ["PersistentRequest", "Request"]
__all__ += ["RoleManager"]
__all__ += ["exclusive_scan", "inclusive_scan"]
__all__ += ["exscan", "reduce_scatter", "scan"]
__all__ += ["all_of", "any_of", "count", "count_if", "find", "find_if", "none_of"]
__all__ += ["median", "quantile", "topk"]
__all__ += ["startall", "waitall", "waitany"]
__all__ += ["shuffle"]
__all__ += ["argsort", "is_sorted", "lexsort", "sort", "sort_by_key"]
__all__ += ["all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var"]
__all__ += ["get_num_threads", "set_num_threads"]
__all__ += ["Topology"]
__all__ += ["trace"]
__all__ += ["allgatherv", "alltoall", "alltoallv", "gatherv", "scatterv"]
__all__ += ["Window"]


#: The public modules that are imported when they are first asked for.
_MODULES = ("nccl", "observe", "ordered", "redistribution", "seating", "tracing")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value: Any = importlib.import_module(f"dtl.{name}")
    elif name in _homes():
        value = getattr(importlib.import_module(f"dtl.{_homes()[name]}"), name)
    elif name.endswith(("_vector", "_array")) and name in _families():
        value = _families()[name]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def _homes() -> dict[str, str]:
    """Return the modules of what is imported when it is first asked for."""
    homes: dict[str, str] = importlib.import_module("dtl._later").HOMES
    return homes


def _families() -> dict[str, Any]:
    """Return the functions whose names end in _vector and _array, which existing programs use."""
    functions: dict[str, Any] = importlib.import_module("dtl.algorithms.compat").FUNCTIONS
    return functions


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes(), "observe"})
