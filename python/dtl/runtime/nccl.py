"""Constants of the NCCL interface."""

from __future__ import annotations

import enum

from ..exceptions import InvalidArgumentError


class _Number(enum.IntEnum):
    @classmethod
    def _missing_(cls, value: object) -> None:
        there_are = ", ".join(cls.__members__)
        raise InvalidArgumentError(f"{value!r} is no {cls.__name__.lower()} of NCCL; there are {there_are}")


class Mode(_Number):
    """What a context with NCCL does with an operation that NCCL lacks."""

    __module__ = "dtl.nccl"

    NATIVE_ONLY = 0
    HYBRID_PARITY = 1


class Operation(_Number):
    """An operation that ``nccl_supports_native`` and ``nccl_supports_hybrid`` can be asked about."""

    __module__ = "dtl.nccl"

    BARRIER = 0
    BROADCAST = 1
    REDUCE = 2
    ALLREDUCE = 3
    GATHER = 4
    SCATTER = 5
    ALLGATHER = 6
    ALLTOALL = 7
    SCAN = 8


#: What GPUs do with NCCL and kernels of DTL's, and without the host.
NATIVE = frozenset(set(Operation) - {Operation.BARRIER, Operation.SCAN})

DTL_NCCL_MODE_NATIVE_ONLY = Mode.NATIVE_ONLY
DTL_NCCL_MODE_HYBRID_PARITY = Mode.HYBRID_PARITY

DTL_NCCL_OP_BARRIER = Operation.BARRIER
DTL_NCCL_OP_BROADCAST = Operation.BROADCAST
DTL_NCCL_OP_REDUCE = Operation.REDUCE
DTL_NCCL_OP_ALLREDUCE = Operation.ALLREDUCE
DTL_NCCL_OP_GATHER = Operation.GATHER
DTL_NCCL_OP_SCATTER = Operation.SCATTER
DTL_NCCL_OP_ALLGATHER = Operation.ALLGATHER
DTL_NCCL_OP_ALLTOALL = Operation.ALLTOALL
DTL_NCCL_OP_SCAN = Operation.SCAN
