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
from ._native import version as _version
from .backends import has_cuda, has_hip, has_mpi, has_nccl, has_shmem
from .collectives import allgather, broadcast, gather, scatter
from .context import Context
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
from .messages import ANY_SOURCE, ANY_TAG, PROC_NULL, MessageInfo, iprobe, probe, recv, send, sendrecv
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
from .reductions import allreduce, reduce

if TYPE_CHECKING:
    from . import observe
    from .algorithms import copy, for_each, transform
    from .array import DistributedArray
    from .assigning import fill, generate, iota, replace, replace_if
    from .asynchronous import (
        async_for_each,
        async_halo,
        async_redistribute,
        async_reduce,
        async_scan,
        async_sort,
        async_transform,
    )
    from .atomics import rma_accumulate, rma_compare_and_swap, rma_fetch_and_add, rma_fetch_and_op
    from .cart import Cart
    from .container import DistributedContainer
    from .counter import Counter
    from .cumulations import cumprod, cumsum
    from .distributed_map import DistributedMap
    from .environment import THREAD_FUNNELED, THREAD_MULTIPLE, THREAD_SERIALIZED, THREAD_SINGLE, Environment
    from .extremes import max_element, min_element, minmax
    from .folding import inner_product, reduce_local, transform_reduce
    from .futures import Future
    from .gathering import when_all, when_any
    from .graph import Graph
    from .grouping import GroupBy, group_by
    from .halo import Halo
    from .handles import LiveHandle, live
    from .histograms import bincount, histogram
    from .intergroup import intergroup_broadcast, intergroup_gather, intergroup_recv, intergroup_send
    from .joining import join
    from .lock import Lock
    from .matrices import matmul
    from .nccl import (
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
    from .nonblocking import iallgather, iallreduce, ialltoallv, ibarrier, ibroadcast, igather
    from .nonblocking_messages import irecv, isend, recv_init, send_init
    from .object_messages import recv_object, send_object
    from .objects import allgather_object, broadcast_object, gather_object, scatter_object
    from .onesided import rma_get, rma_put, rma_rget, rma_rput
    from .ordered import lower_bound, merge, searchsorted, unique
    from .plotting import plot_partition
    from .products import dot, norm, vdot
    from .progressing import progress
    from .redistribution import RedistributionPlan
    from .remote import Remote
    from .reordering import adjacent_difference, partition_by, reverse, rotate
    from .requests import PersistentRequest, Request
    from .roles import RoleManager
    from .scanning import exclusive_scan, inclusive_scan
    from .scans import exscan, reduce_scatter, scan
    from .searching import all_of, any_of, count, count_if, find, find_if, none_of
    from .selecting import median, quantile, topk
    from .several import startall, waitall, waitany
    from .shuffling import shuffle
    from .sorting import argsort, is_sorted, lexsort, sort, sort_by_key
    from .span import DistributedSpan
    from .statistics import all, any, argmax, argmin, max, mean, min, prod, std, sum, var
    from .tensor import DistributedTensor
    from .threads import get_num_threads, set_num_threads
    from .topology import Topology
    from .tracing import trace
    from .variable import allgatherv, alltoall, alltoallv, gatherv, scatterv
    from .vector import DistributedVector
    from .windows import Window

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


def __getattr__(name: str) -> Any:
    if name == "observe":
        value: Any = importlib.import_module("dtl.observe")
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
    functions: dict[str, Any] = importlib.import_module("dtl.families").FUNCTIONS
    return functions


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes(), "observe"})
