"""Contexts, containers, windows, counters, locks and requests are closed while other threads use them.

A close returns, or refuses with an error of DTL's; the threads' calls return or raise one; nobody waits for ever,
nothing crashes, and the other contexts of the program go on.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import warnings
from typing import Any, Callable

import numpy as np
import rank
from jobs import family, series

import dtl

CASES = 60

#: The most that a trial takes.
SECONDS = 30.0

#: What the threads get to hear that what they use is closed.
THREAD_SECONDS = 6.0


def trial(seed: int, python: str, seconds: float) -> tuple[str, list[str]]:
    """Run one job of many cases, and return what it was and what went wrong."""
    rng = random.Random(f"closing {seed} {family(python)}")
    ranks = 2 if family(python) == "MPICH" else rng.choice([1, 2, 2, 3])
    shared = rng.random() < 0.8
    variables = {} if shared else {"DTL_SHARED_MEMORY": "0"}
    done, wrong = series(python, ranks, "closing.py", rng.randrange(2**32), CASES, seconds, variables)
    return f"{done} closes on {ranks} ranks{'' if shared else ' that share no memory'}", wrong


class Case:
    """Threads that use something, and the main thread, which closes it."""

    def __init__(self, ctx: Any, rng: random.Random) -> None:
        self.ctx, self.rng = ctx, rng
        self.right, self.left = (ctx.rank + 1) % ctx.size, (ctx.rank - 1) % ctx.size
        self.long = np.zeros(1_000_000)
        self.uses: list[Callable[[], Any]] = []
        self.close: Callable[[], Any] = ctx.close
        self.last: Callable[[], Any] = int  # what ends a thread's wait for a message

    def context_beside_collectives(self) -> None:
        self.uses = [self.rng.choice([
            self.ctx.barrier,
            lambda: dtl.allreduce(self.ctx, 1),
            lambda: dtl.allreduce(self.ctx, self.long),
            lambda: dtl.alltoallv(self.ctx, np.ones(3 * self.ctx.size), [3] * self.ctx.size),
            lambda: dtl.allgather_object(self.ctx, "x"),
            lambda: dtl.iallreduce(self.ctx, np.ones(10)).wait(),
            lambda: self.ctx.dup().close(),
        ])]  # fmt: skip

    def context_beside_messages(self) -> None:
        data = self.rng.choice([self.long, 1.0])
        self.uses = [
            lambda: dtl.send(self.ctx, data, self.right, tag=1),
            lambda: dtl.recv(self.ctx, self.left, tag=1),
            lambda: dtl.sendrecv(self.ctx, data, self.right, self.left, 2, 2),
            lambda: dtl.iprobe(self.ctx),
        ]

    def context_beside_a_receive_of_nothing(self) -> None:
        self.uses = [lambda: dtl.recv(self.ctx, dtl.ANY_SOURCE, tag=9), lambda: dtl.probe(self.ctx, tag=8)]

    def context_beside_a_request(self) -> None:
        request = dtl.irecv(self.ctx, self.left, tag=4)
        self.uses = [request.wait, request.test, request.cancel]
        self.last = lambda: dtl.send(self.ctx, 1.0, self.right, tag=4)

    def context_beside_a_future(self) -> None:
        vec = self._vector()
        self.uses = [lambda: dtl.async_sort(vec).get()]

    def context_beside_a_future_and_waits(self) -> None:
        self.context_beside_a_future()
        self.close = lambda: self.ctx.close(wait=True)

    def context_beside_containers(self) -> None:
        vec, local = self._vector(), dtl.DistributedMap(self.ctx, np.int64, np.int64)
        self.uses = [lambda: vec.local_view().sum(), lambda: len(local), lambda: repr(vec), lambda: dtl.sum(vec)]

    def container(self) -> None:
        vec = self._vector()
        self.uses = [lambda: vec.local_view().sum(), lambda: repr(vec), vec.local_indices, lambda: vec.nbytes]
        self.close = vec.close

    def container_beside_a_sort(self) -> None:
        vec = self._vector()
        self.uses = [lambda: dtl.sort(vec, reverse=True)]
        self.close = lambda: (vec.close(), self.ctx.close())

    def mapping(self) -> None:
        entries = dtl.DistributedMap(self.ctx, np.int64, np.int64)
        entries.insert_many(np.arange(100), np.arange(100))
        self.uses = [lambda: list(entries.items()), lambda: len(entries), entries.to_numpy]
        self.close = entries.close

    def window(self) -> None:
        win = dtl.Window(self.ctx, size=1 << 16)
        self.uses = [lambda: self._put(win), lambda: win.local_view().sum(), lambda: win.sizes]
        self.close = win.close

    def window_beside_a_shared_epoch(self) -> None:
        win = dtl.Window(self.ctx, size=1 << 16)
        win.lock_all()
        self.uses = [
            lambda: dtl.rma_fetch_and_add(win, self.right, 0, 1, np.int64),
            lambda: dtl.rma_put(win, self.right, 0, np.ones(5000)),
            lambda: dtl.rma_rget(win, self.left, 0, 800).wait(),
            lambda: win.flush(self.right),
        ]
        self.close = lambda: (win.unlock_all(), win.close())

    def counter(self) -> None:
        counter = dtl.Counter(self.ctx)
        self.uses = [counter.next, counter.next, lambda: counter.value]
        self.close = counter.close

    def lock(self) -> None:
        lock = dtl.Lock(self.ctx)
        self.uses = [lambda: self._hold(lock)]
        self.close = lock.close

    def halo(self) -> None:
        halo = dtl.Halo(self._vector(), 1)
        self.uses = [lambda: halo.view().sum(), lambda: halo.width]
        self.close = halo.close

    def persistent(self) -> None:
        out = np.zeros(3)
        receive = dtl.recv_init(self.ctx, self.left, tag=6, out=out)
        self.uses = [receive.start, receive.test, receive.wait]
        self.close = receive.close
        self.last = lambda: dtl.send(self.ctx, out, self.right, tag=6)

    def _vector(self) -> Any:
        vec = dtl.DistributedVector(self.ctx, 20_000)
        vec.local_view()[:] = np.random.default_rng(self.ctx.rank).random(vec.local_size)
        return vec

    def _put(self, win: Any) -> None:
        with win.locked(self.right):
            dtl.rma_put(win, self.right, 0, np.ones(1000))

    def _hold(self, lock: Any) -> None:
        with lock:
            pass


def main() -> None:
    """Make the cases of a seed from one number on: the program of a rank."""
    warnings.simplefilter("ignore")
    home = dtl.Context()
    log = rank.Log(home)
    names = [name for name, value in vars(Case).items() if callable(value) and not name.startswith("_")]
    for number in range(int(sys.argv[2]), CASES):
        rng = random.Random(f"closing {sys.argv[1]} {number}")
        name = rng.choice(names)
        what = f"close {number}: {name}"
        log.begin(number, what)
        case = Case(home.dup(), rng)
        getattr(case, name)()
        wrong = _close(case, rng.random() ** 2 * 0.1)
        log.at(f"the exchange after {what}")
        for text in wrong:
            log.found(f"{what}: rank {home.rank}: {text}")
        everybody = log.exchange(wrong)
        if any("hangs" in text for texts in everybody for text in texts):
            log.dump()
            os._exit(1)
        if dtl.allreduce(home, 1) != home.size:
            log.found(f"{what}: another context is at fault")
    log.begin(CASES, "the end")


def _close(case: Case, delay: float) -> list[str]:
    """Close while threads use it, and return what is wrong with what they come to."""
    over, wrong = threading.Event(), []

    def use(call: Callable[[], Any]) -> None:
        while not over.is_set():
            kind, text = rank.raised(call)
            if kind.startswith("(") or (kind and not issubclass(getattr(dtl, kind, int), dtl.DTLError)):
                wrong.append(f"a use raised {kind} {text}")
            if kind:
                return
            # Threads that come back to Python at once pass its lock to each other, and others wait for seconds.
            time.sleep(0.0001)

    def close() -> None:
        kind, text = rank.raised(case.close)
        if kind.startswith("("):
            wrong.append(f"close raised {kind} {text}")
        closed.set()

    closed = threading.Event()
    threads = [threading.Thread(target=use, args=(call,), daemon=True) for call in case.uses]
    for thread in threads:
        thread.start()
    time.sleep(delay)  # anywhere in the uses
    closer = threading.Thread(target=close, daemon=True)
    closer.start()
    closer.join(THREAD_SECONDS)
    over.set()
    if closer.is_alive():
        return [*wrong, "close hangs"]
    # What refused to be closed is used to the end; then the context goes, which wakes who waits for another rank.
    last = threading.Thread(target=rank.raised, args=(case.last,), daemon=True)
    last.start()
    last.join(THREAD_SECONDS)
    context = threading.Thread(target=_close_at_last, args=(case.ctx,), daemon=True)
    context.start()
    deadline = time.monotonic() + THREAD_SECONDS
    for thread in [*threads, context]:
        thread.join(max(deadline - time.monotonic(), 0.0))
    wrong += ["a use hangs" for thread in threads if thread.is_alive()]
    return wrong + ["close of the context hangs"] * context.is_alive()


def _close_at_last(ctx: dtl.Context) -> None:
    """Close a context as soon as that is not refused: this rank makes no more calls, and the others hear of it."""
    while rank.raised(ctx.close)[0] == "BufferError":
        time.sleep(0.001)


if __name__ == "__main__":
    main()
