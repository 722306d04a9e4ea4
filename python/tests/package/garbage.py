"""Call the native library with whatever there is: ``python garbage.py SEED COUNT`` ends with 0 unless it crashes.

Not called: MpiAbort, which ends the process; ContextAdopt, whose argument MPI takes for an address; and
ContextsOfThreads, which makes as many as it is told to.
"""

from __future__ import annotations

import array
import ctypes
import random
import sys
from typing import Any, Callable

import numpy as np

import dtl
from dtl._native import _dtl, library

bridge = library.bridge

SKIPPED = {"pydtl_MpiAbort", "pydtl_ContextAdopt", "pydtl_ContextWithDevice", "pydtl_ContextsOfThreads"}

CODES = bridge.OPERATIONS

#: What a call may raise: ours, and Python's for arguments that do not parse.
EXPECTED = (dtl.DTLError, TypeError, OverflowError, ValueError, RuntimeError, BufferError)


def handle(number: int) -> Any:
    bare = bridge.Handle()
    bare._handle = number
    return bare


def integers(draw: random.Random) -> int:
    return draw.choice(
        [
            draw.randint(-3, 12),
            draw.randint(-(2**63), 2**63 - 1),
            draw.randint(-(2**80), 2**80),
            1 << draw.randint(0, 64),
            -(1 << draw.randint(0, 64)),
            (draw.randint(0, 4) << 56) | (draw.randint(0, 3) << 32) | draw.randint(0, 4),  # like a handle
        ]
    )


def values(draw: random.Random) -> list[Any]:
    released = memoryview(bytearray(8))
    released.release()
    frozen = np.ones(5)
    frozen.flags.writeable = False
    cube = np.arange(24.0).reshape(2, 3, 4)
    return [
        None,
        True,
        integers(draw),
        draw.random(),
        float("nan"),
        1j,
        "text",
        "\0",
        b"bytes",
        b"",
        bytearray(draw.randint(0, 9)),
        [1, 2],
        {},
        object(),
        NotImplemented,
        Ellipsis,
        bridge,
        np.float64(1),
        np.float16(1),
        np.bool_(True),
        np.datetime64("2020"),
        np.zeros(
            draw.randint(0, 5000),
            draw.choice(["f8", "f4", "i8", "u1", "?", "c16", "f2", "g", "O", ">i4", "M8[s]", "V3"]),
        ),
        np.zeros((), draw.choice(["f8", "i2", "c8"])),
        np.zeros((1,) * draw.randint(0, 32), "i4"),
        np.broadcast_to(np.zeros((0, 1)), (0, 2**40)),
        np.zeros(4, [("x", "f8"), ("y", "i1")]),
        np.array([draw.randint(-1, 7) for _ in range(draw.randint(0, 20))], np.int64),  # like a specification
        np.array([draw.randint(0, 2), draw.randint(0, 14), 1, draw.randint(-1, 99), draw.randint(0, 6), 2, 0, -1]),
        cube[::2, :, ::-1],
        cube.T,
        np.broadcast_to(np.float64(1), (3, 1000)),
        frozen,
        memoryview(array.array("d", [1, 2])),
        memoryview(bytes(24)).cast("d"),
        memoryview(bytes(24)).cast("d", (1, 3)),
        released,
        (ctypes.c_double * 3)(),
        (ctypes.c_int * 2 * 3)(),
        ctypes.c_longlong(3),
        array.array("q"),
        array.array("u", "ab"),
    ]


def owners(draw: random.Random, ours: list[Any]) -> list[Any]:
    return [
        *ours,
        *ours,
        handle(0),
        handle(-1),
        handle(integers(draw) % 2**63),
        handle(-(2**63)),
        bridge.Handle(),
        None,
        5,
    ]


def quietly(call: Callable[..., Any], *args: Any) -> Any:
    try:
        return call(*args)
    except EXPECTED:
        return None


def bridge_calls(draw: random.Random, count: int) -> None:
    """Every operation with arguments of every kind, in every place."""
    kept: list[Any] = []
    env = dtl.Environment()
    context, closed = env.make_cpu_context(), env.make_cpu_context()
    closed.close()
    vec = dtl.DistributedVector(context, 100)
    tensor = dtl.DistributedTensor(context, (5, 4, 5))
    span = dtl.DistributedSpan(tensor).subspan(1, 3)
    plan = dtl.RedistributionPlan(vec, dtl.DistributedVector(context, 100, partition=dtl.PARTITION_HASH))
    halo = dtl.Halo(dtl.DistributedVector(context, 100), 2)
    table = dtl.DistributedMap(context, np.int64, np.float64)
    window = dtl.Window(context, size=100)
    containers = [vec, tensor, span]
    for turn in range(count):
        pool = values(draw) + kept + [np.array([draw.choice(containers)._handle, *draw.choices(range(-1, 5), k=7)])]
        args = [
            draw.choice([draw.randrange(CODES), draw.randrange(CODES), draw.randint(-2, CODES + 2), integers(draw)]),
            draw.choice(owners(draw, [context, vec, tensor, span, plan, halo, table, window, env, closed])),
            draw.choice(pool),
            draw.choice([None, None, *pool]),
            *(draw.choice([0, 0, integers(draw), draw.choice(pool)]) for _ in range(4)),
            *(draw.choice([None, np.array([1]), np.array([5000]), draw.choice(pool)]) for _ in range(turn % 3)),
        ]
        if draw.random() < 0.05:
            args = args[: draw.randint(0, 8)] + [None] * draw.randint(0, 3)
        result = quietly(bridge.call, *args)
        borrowed = tuple(draw.choice(pool) for _ in range(draw.randint(0, 7)))
        some = [tuple(draw.choices([0, 1, 3, integers(draw)], k=draw.randint(0, 5))) for _ in range(2)]
        quietly(bridge.over_buffers, draw.randrange(CODES), borrowed, *some[:1], *(*some[1], 0, 1, 2, 8)[:4])
        quietly(bridge.over_buffers, bridge.NUMBER_KEYS, borrowed, *some[:1], *(*some[1], 0, 1, 2, 8)[:4])
        if type(result) is bridge.Buffer:
            kept = [*kept[-3:], result, np.asarray(result)]
        elif type(result) is int and turn % 2:
            for close in (_dtl.pydtl_ContainerClose, _dtl.pydtl_PlanClose, _dtl.pydtl_HaloClose, _dtl.pydtl_MapClose):
                quietly(close, result)
        if turn % 500 == 0:
            context = env.make_cpu_context()  # what was sent to it and never received goes with the old one
    assert dtl.allreduce(env.make_cpu_context(), 1.5) == 1.5


def control_calls(draw: random.Random, count: int) -> None:
    """Every function of the control plane with integers, and with anything else."""
    functions = [getattr(_dtl, name) for name in dir(_dtl) if name.startswith("pydtl_") and name not in SKIPPED]
    env = dtl.Environment()
    context = env.make_cpu_context()
    vec = dtl.DistributedVector(context, 100)
    opened: list[int] = []
    for _ in range(count):
        ours = [context._handle, vec._handle, env._handle, *opened[-5:]]
        args = [draw.choice([*ours, integers(draw), integers(draw), *values(draw)]) for _ in range(draw.randint(0, 4))]
        if draw.random() < 0.8:
            args = [draw.choice([*ours, integers(draw)]) for _ in range(draw.randint(0, 4))]
        result = quietly(draw.choice(functions), *args)
        if type(result) is int:
            opened.append(result)
        if len(opened) > 50:
            for number in opened:
                for close in (_dtl.pydtl_ContainerClose, _dtl.pydtl_ContextClose, _dtl.pydtl_EnvironmentClose):
                    quietly(close, number)
            opened.clear()
            env = dtl.Environment()
            context = env.make_cpu_context()
            vec = dtl.DistributedVector(context, 100)
    assert dtl.allreduce(dtl.Environment().make_cpu_context(), 1.5) == 1.5


if __name__ == "__main__":
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    bridge_calls(random.Random(seed), count)
    control_calls(random.Random(seed), count)
    print("survived")
