"""What the ranks of a trace do together: sum their records, and write their calls to one file."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import threading
import time
import zlib
from typing import Any, Iterator, NamedTuple, Sequence, TextIO

import numpy as np

from .._native import library
from ..comm.collectives import allgather, broadcast
from ..comm.point_to_point import recv, send
from ..comm.reductions import allreduce
from ..io.removal import Made, beside, check_replaceable
from ..io.steps import file_step, path_of, sync_folder
from ..ops import MIN, SUM
from ..runtime.agreement import agree, check_context
from ..runtime.context import Context
from .records import AnyRecord, Snapshot, by_seconds

#: Messages there and back for the difference of two clocks.
_ROUNDS = 10


@contextlib.contextmanager
def _ranks(ctx: Context | None) -> Iterator[Context]:
    """Give the context that the caller names, or one of all ranks for as long as the block runs."""
    if ctx is not None:
        check_context(ctx)
        yield ctx
        return
    with Context() as everyone:
        yield everyone


def _each(ctx: Context, text: str) -> Iterator[str]:
    """Yield every rank's text on rank 0, one after the other; the others send theirs when it is wanted."""
    if not ctx.is_root:
        send(ctx, np.frombuffer(text.encode(), np.uint8), 0)
        return
    yield text
    for rank in range(1, ctx.size):
        yield recv(ctx, rank).tobytes().decode()


# ---- Records ----


def sums(kind: type[AnyRecord], records: Sequence[AnyRecord], ctx: Context | None) -> list[AnyRecord] | None:
    """Return the sums of the ranks' records of a kind on rank 0, None elsewhere."""
    with _ranks(ctx) as ranks:
        summed: dict[tuple[Any, ...], AnyRecord] = {}
        for text in _each(ranks, json.dumps(records)):
            for fields in json.loads(text):
                record = kind(*fields)
                before = summed.get(record.key)
                summed[record.key] = record if before is None else before.plus(record)
        return by_seconds(summed.values()) if ranks.is_root else None


# ---- Clocks ----


class Clock(NamedTuple):
    """What to add to this rank's clock for rank 0's, and how far that may be off, in nanoseconds."""

    offset: int
    error: int


def _identity() -> int:
    """Return a number that processes share if they have one clock, and hardly otherwise."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot:
            words = boot.read() + os.readlink("/proc/self/ns/time")
    except OSError:
        words = os.urandom(16).hex()
    return zlib.crc32(words.encode())


def align(ctx: Context, identity: int) -> Clock:
    """Return the difference of this rank's clock and rank 0's, which is none where they are one. Collective."""
    same = identity == broadcast(ctx, identity)
    others = np.flatnonzero(allgather(ctx, np.array([not same])))
    if ctx.is_root:
        for rank in others:
            for _ in range(_ROUNDS):
                recv(ctx, int(rank))
                send(ctx, time.monotonic_ns(), int(rank))
    best = Clock(0, 0)
    if not ctx.is_root and not same:
        best = min((_ask(ctx) for _ in range(_ROUNDS)), key=lambda clock: clock.error)
    return best


def _ask(ctx: Context) -> Clock:
    """Ask rank 0 for its time. The answer counts as the time in the middle between question and answer."""
    asked = time.monotonic_ns()
    send(ctx, 0, 0)
    told: int = recv(ctx, 0)
    answered = time.monotonic_ns()
    return Clock(told - (asked + answered) // 2, (answered - asked + 1) // 2)


# ---- The file ----


def save(snapshot: Snapshot, path: str | os.PathLike[str], ctx: Context | None) -> None:
    """Write the ranks' events to one file, on rank 0. Collective."""
    with _ranks(ctx) as ranks:
        clock = align(ranks, _identity())
        origin = allreduce(ranks, snapshot.started + clock.offset, MIN)
        dropped = allreduce(ranks, snapshot.dropped, SUM)
        texts = _each(ranks, ",\n".join(_lines(snapshot, ranks, clock, origin)))
        with file_step(ranks, "save", "write", str(path)), contextlib.ExitStack() as at_last:
            at_last.callback(list, texts)  # where rank 0 fails, the other ranks get rid of their texts all the same
            if ranks.is_root:
                facts = {"dtl": library.version(), "ranks": ranks.size, "dropped": dropped}
                with _replacing(path_of(path)) as file:
                    _write(file, texts, facts)
        agree(ranks, "save")


@contextlib.contextmanager
def _replacing(path: str) -> Iterator[TextIO]:
    """Give a file that gets its name when all of it is on the disk; until then, an old file of that name stays.

    A device or a pipe is written to, as there is nothing to keep.
    """
    final = os.path.realpath(path)
    there = os.stat(final).st_mode if os.path.exists(final) else None
    if there is not None and not stat.S_ISREG(there) and not stat.S_ISDIR(there):
        with open(path, "w", encoding="utf-8") as file:
            yield file
        return
    check_replaceable(final)
    with Made(beside(final), mode=None if there is None else stat.S_IMODE(there)) as made:
        with open(made.name, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        made.replace(final)
        sync_folder(os.path.dirname(final))


def _write(file: TextIO, texts: Iterator[str], facts: dict[str, object]) -> None:
    """Write the file of all ranks' texts."""
    file.write(f'{{"otherData": {json.dumps(facts)}, "displayTimeUnit": "ns", "traceEvents": [\n')
    file.writelines(("," if i else "") + text + "\n" for i, text in enumerate(texts))
    file.write("]}\n")


def _lines(snapshot: Snapshot, ctx: Context, clock: Clock, origin: int) -> Iterator[str]:
    """Yield this rank's events as JSON: first what its tracks are called, then its calls by their beginnings."""
    rank, events = ctx.rank, snapshot.events
    labels = [f"{snapshot.dropped} calls dropped"] if snapshot.dropped else []
    if clock.error:
        labels.append(f"clock of rank 0 {clock.offset:+d} ns, known to {clock.error} ns")
    yield _about(rank, 0, "process_name", {"name": f"rank {rank} of {ctx.size}"})
    yield _about(rank, 0, "process_sort_index", {"sort_index": rank})
    if labels:
        yield _about(rank, 0, "process_labels", {"labels": ", ".join(labels)})
    threads = {thread: i + 1 for i, thread in enumerate(dict.fromkeys(events["thread"].tolist()))}
    for thread, number in threads.items():
        main = thread == threading.main_thread().ident
        yield _about(rank, number, "thread_name", {"name": "main thread" if main else f"thread {number}"})
    heads = [json.dumps({"name": r.operation, "cat": "dtl", "ph": "X", "pid": rank})[:-1] for r in snapshot.records]
    sites = [json.dumps(record.site) for record in snapshot.records]
    events = events[np.argsort(events["start"], kind="stable")]
    for start, duration, size, thread, site, failed in events.tolist():
        ts = (start + clock.offset - origin) / 1000
        raised = ', "failed": true' if failed else ""
        yield (
            f'{heads[site]}, "tid": {threads[thread]}, "ts": {ts:.3f}, "dur": {duration / 1000:.3f}, '
            f'"args": {{"bytes": {size}, "site": {sites[site]}{raised}}}}}'
        )


def _about(pid: int, tid: int, name: str, args: dict[str, object]) -> str:
    return json.dumps({"ph": "M", "pid": pid, "tid": tid, "name": name, "args": args})
