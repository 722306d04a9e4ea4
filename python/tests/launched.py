"""Functions that the tests of ``dtl.launch`` have ranks call: of a module, so that they travel by name."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn

import numpy as np

import dtl


class OddError(Exception):
    """Is not made again from its ``args``, as pickle does."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def rank(ctx: dtl.Context) -> tuple[int, int]:
    return ctx.rank, ctx.size


def scaled(ctx: dtl.Context, factor: int, *, plus: int = 0) -> Any:
    return dtl.allreduce(ctx, factor * ctx.rank) + plus


def echo(ctx: dtl.Context, array: Any) -> Any:
    return array + ctx.rank


def talk(ctx: dtl.Context, lines: int) -> None:
    for line in range(lines):
        print(f"line {line} of {ctx.rank} {'x' * 60}")
    print("last words", end="", file=sys.stderr)


def fail_on(ctx: dtl.Context, ranks: list[int], wait: str = "") -> None:
    """Raise on these ranks; the others wait in a collective call, in a message, or not at all."""
    if ctx.rank in ranks:
        raise KeyError(f"no more data on {ctx.rank}")
    if wait == "collective":
        ctx.barrier()
    elif wait == "message":
        dtl.recv(ctx, source=ranks[0])


def return_early(ctx: dtl.Context) -> None:
    if ctx.rank != 0:
        ctx.barrier()


def odd(ctx: dtl.Context) -> NoReturn:
    raise OddError("this", "that")


def leave(ctx: dtl.Context, how: str) -> None:
    ctx.barrier()
    if ctx.rank == 1:
        if how == "exit":
            sys.exit(3)
        elif how == "_exit":
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
    ctx.barrier()


def generator(ctx: dtl.Context) -> Any:
    return (i for i in range(3)) if ctx.rank == 1 else None


def launch_again(ctx: dtl.Context) -> None:
    dtl.launch(rank, 1)


def close(ctx: dtl.Context) -> None:
    ctx.close()


def pids(ctx: dtl.Context) -> int:
    return os.getpid()


def stay(ctx: dtl.Context, path: str = "") -> None:
    """Wait forever, after a word that all ranks do."""
    ctx.barrier()
    if path:
        with open(f"{path}/{ctx.rank}", "w") as file:
            file.write(str(os.getpid()))
    if ctx.rank == 0:
        dtl.recv(ctx, source=0, tag=7)
    signal.pause()


def vector(ctx: dtl.Context) -> Any:
    """Keep a vector in the namespace that stays."""
    kept = dtl.DistributedVector(ctx, size=10, dtype=np.float64, fill=2.0)
    vars(sys.modules["__main__"])["kept"] = kept
    return int(kept.global_size) if hasattr(kept, "global_size") else len(kept)


def total(ctx: dtl.Context) -> float:
    return float(dtl.sum(vars(sys.modules["__main__"])["kept"]))
