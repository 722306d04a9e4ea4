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
from ._later import HOMES
from ._native import version as _version
from .array import DistributedArray
from .backends import has_cuda, has_hip, has_mpi, has_nccl, has_shmem
from .collectives import allgather, broadcast, gather, scatter
from .container import DistributedContainer
from .context import Context
from .environment import THREAD_FUNNELED, THREAD_MULTIPLE, THREAD_SERIALIZED, THREAD_SINGLE, Environment
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
from .ops import BAND, BOR, BXOR, IN_PLACE, LAND, LOR, MAX, MAXLOC, MIN, MINLOC, PROD, SUM
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
from .span import DistributedSpan
from .tensor import DistributedTensor
from .vector import DistributedVector

if TYPE_CHECKING:
    from . import observe
    from .algorithms import copy, for_each, transform
    from .assigning import fill, generate, iota, replace, replace_if
    from .distributed_map import DistributedMap
    from .folding import inner_product, transform_reduce
    from .halo import Halo
    from .nonblocking import iallgather, iallreduce, ialltoallv, ibarrier, ibroadcast, igather
    from .nonblocking_messages import irecv, isend, recv_init, send_init
    from .object_messages import recv_object, send_object
    from .objects import allgather_object, broadcast_object, gather_object, scatter_object
    from .ordered import lower_bound, merge, searchsorted, unique
    from .plotting import plot_partition
    from .progressing import progress
    from .redistribution import RedistributionPlan
    from .reordering import adjacent_difference, partition_by, reverse, rotate
    from .requests import PersistentRequest, Request
    from .scans import exscan, reduce_scatter, scan
    from .searching import all_of, any_of, count, count_if, find, find_if, none_of
    from .selecting import median, quantile, topk
    from .several import startall, waitall, waitany
    from .sorting import argsort, is_sorted, lexsort, sort, sort_by_key
    from .threads import get_num_threads, set_num_threads
    from .tracing import trace
    from .variable import allgatherv, alltoall, alltoallv, gatherv, scatterv

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
    "DistributedMap",
    "DistributedSpan",
    "DistributedTensor",
    "DistributedVector",
    "Environment",
    "Halo",
    "InvalidArgumentError",
    "InvalidHandleError",
    "InvalidTypeError",
    "KeyNotFoundError",
    "MemoryError",
    "MessageInfo",
    "OverflowError",
    "PersistentRequest",
    "RedistributionPlan",
    "Request",
    "__version__",
    "adjacent_difference",
    "all_of",
    "allgather",
    "allgather_object",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "any_of",
    "argsort",
    "backends",
    "broadcast",
    "broadcast_object",
    "copy",
    "count",
    "count_if",
    "exscan",
    "fill",
    "find",
    "find_if",
    "for_each",
    "gather",
    "gather_object",
    "gatherv",
    "generate",
    "get_num_threads",
    "has_cuda",
    "has_hip",
    "has_mpi",
    "has_nccl",
    "has_shmem",
    "iallgather",
    "iallreduce",
    "ialltoallv",
    "ibarrier",
    "ibroadcast",
    "igather",
    "inner_product",
    "iota",
    "iprobe",
    "irecv",
    "is_sorted",
    "isend",
    "lexsort",
    "lower_bound",
    "median",
    "merge",
    "none_of",
    "observe",
    "partition_by",
    "placement_available",
    "plot_partition",
    "probe",
    "progress",
    "quantile",
    "recv",
    "recv_init",
    "recv_object",
    "reduce",
    "reduce_scatter",
    "replace",
    "replace_if",
    "reverse",
    "rotate",
    "scan",
    "scatter",
    "scatter_object",
    "scatterv",
    "searchsorted",
    "send",
    "send_init",
    "send_object",
    "sendrecv",
    "set_num_threads",
    "sort",
    "sort_by_key",
    "startall",
    "topk",
    "trace",
    "transform",
    "transform_reduce",
    "unique",
    "version_info",
    "waitall",
    "waitany",
]


def __getattr__(name: str) -> Any:
    if name == "observe":
        value: Any = importlib.import_module("dtl.observe")
    elif name in HOMES:
        value = getattr(importlib.import_module(f"dtl.{HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, "observe"})
