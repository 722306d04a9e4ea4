"""Functions that the tests of ``dtl.launch`` have ranks call: of a module, so that they travel by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any, NoReturn

import numpy as np

import dtl


class OddError(Exception):
    """Is not made again from its ``args``, as pickle does."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class UnsayableError(Exception):
    """Fails to say what it is, as an exception does whose ``__init__`` has not come to its end, and to be pickled."""

    def __str__(self) -> str:
        raise AttributeError("text")

    def __reduce__(self) -> Any:
        raise SystemExit(5)


class Unmakeable:
    """Cannot be made again from what is sent."""

    def __reduce__(self) -> Any:
        return _refuse, ()


def _refuse() -> NoReturn:
    raise KeyError("no such thing")


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


def unsayable(ctx: dtl.Context) -> None:
    if ctx.rank == 1:
        raise UnsayableError
    ctx.barrier()


def unmakeable(ctx: dtl.Context) -> Any:
    return Unmakeable() if ctx.rank == 1 else None


def await_returned(ctx: dtl.Context, how: str) -> Any:
    """Return on rank 1; rank 0 waits for it in a message, or goes on without it."""
    if ctx.rank == 1:
        if how == "received":
            dtl.send(ctx, 7, dest=0)
    elif how == "recv":
        return dtl.recv(ctx, source=1)
    elif how == "send":
        dtl.send(ctx, np.ones(1 << 20), dest=1)
    else:
        time.sleep(2.5)  # it computes
        return dtl.recv(ctx, source=1) if how == "received" else how
    return None


def interrupt_itself(ctx: dtl.Context) -> None:
    if ctx.rank == 1:
        raise KeyboardInterrupt
    dtl.recv(ctx, source=1)


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
