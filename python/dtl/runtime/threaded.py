"""Tasks of this rank on as many threads as it has."""

from __future__ import annotations

import queue
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence, TypeVar

import numpy as np

from .._native.threads import get_num_threads

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Made = TypeVar("Made")

#: How many threads tasks of a thread get by themselves, where several are made ahead.
_within = threading.local()

#: So many rows are one task.
ROWS = 1 << 18

#: How many bytes are at least one task where rows have any size.
_TASK = 1 << 21


def over(rows: int, do: Callable[[int, int], Made], piece: int = ROWS) -> list[Made]:
    """Return what a task returns for each of the parts of some rows, given the first row of a part and its end."""
    return each([partial(do, begin, min(begin + piece, rows)) for begin in range(0, rows, piece)])


def slices(do: Callable[[int, int], Made], rows: int, nbytes: int, threads: int) -> list[Made]:
    """Return what a task makes of slices of some rows, of so many bytes together, on so many threads.

    It is given the first row of a slice and its end, and makes the same of a row whatever its slice is.
    """
    count = min(nbytes // _TASK, rows, 4 * threads) if threads > 1 else 1
    if count < 2:
        return [do(0, rows)]
    errors: Any = np.geterr()

    def task(begin: int, end: int) -> Made:
        with np.errstate(**errors):  # which threads do not share
            return do(begin, end)

    ends = [rows * n // count for n in range(count + 1)]
    return each([partial(task, *two) for two in zip(ends, ends[1:])], threads)


def each(tasks: Sequence[Callable[[], Made]], threads: int = 0) -> list[Made]:
    """Return what tasks return, which run side by side where they need no lock of the interpreter.

    They run on so many threads; 0 is all that are this thread's: of the rank, or its part of them in ``made_ahead``. If
    tasks raise, the error of the first of them is raised, once all that have begun are over.
    """
    threads = min(threads or getattr(_within, "threads", 0) or get_num_threads(), len(tasks))
    if threads <= 1:
        return [task() for task in tasks]
    made: dict[int, Made] = {}
    errors: dict[int, BaseException] = {}
    left = iter(range(len(tasks)))

    def work() -> None:
        for number in left:  # each number comes to one thread: the iterator of a range is one step of the interpreter
            if errors:
                return
            try:
                made[number] = tasks[number]()
            except BaseException as error:  # noqa: BLE001 - the thread that has called raises it again
                errors[number] = error

    others = [threading.Thread(target=work, name="dtl-rows", daemon=True) for _ in range(threads - 1)]
    for thread in others:
        thread.start()
    work()
    for thread in others:
        while thread.is_alive():  # none goes on writing after an interruption
            try:
                thread.join()
            except KeyboardInterrupt as interruption:
                errors.setdefault(len(tasks), interruption)
    if errors:
        raise errors[min(errors)]
    return [made[number] for number in range(len(tasks))]


def makes_ahead() -> bool:
    """Say whether the calling thread is one of ``made_ahead``: who asks for what it makes raises its errors."""
    return hasattr(_within, "threads")


def made_ahead(do: Callable[[Item], Made], items: Iterable[Item], threads: int = 0) -> Iterator[Made]:
    """Yield what a task makes of each item, in the order of the items, of which several are made side by side.

    They are made on so many threads, 0 is all of this rank, which take the items in turn: what yields these runs on one
    thread at a time. So many items are there at once, with that which has been yielded. If a task raises, or what
    yields the items, the error is raised in its place, once all that have begun are over.
    """
    threads = threads or get_num_threads()
    if threads <= 1:
        yield from map(do, items)
        return
    from concurrent.futures import Future  # which imports logging: most programs need neither

    source, errors = iter(items), np.geterr()
    taking, room, is_over = threading.Lock(), threading.Semaphore(threads), threading.Event()
    futures: queue.Queue[Future[Made] | None] = queue.Queue()

    def take(future: Future[Made]) -> list[Item]:
        """Return the next item; none if there is no more, and nothing to do."""
        with taking:
            if is_over.is_set():
                return []
            try:
                item = next(source)
            except StopIteration:
                is_over.set()
                futures.put(None)
                return []
            except BaseException as error:  # noqa: BLE001 - who asks for what is made raises it
                is_over.set()
                future.set_exception(error)
                futures.put(future)
                return []
            futures.put(future)
            return [item]

    def work() -> None:
        _within.threads = max(1, get_num_threads() // threads)
        with np.errstate(**errors):  # which threads do not share
            while True:
                room.acquire()
                future: Future[Made] = Future()
                item = take(future)
                if not item:
                    return
                try:
                    future.set_result(do(item.pop()))
                except BaseException as error:  # noqa: BLE001 - who asks for what is made raises it
                    future.set_exception(error)
                del future

    workers = [threading.Thread(target=work, name="dtl-rows", daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        while True:
            future = futures.get()
            if future is None:
                return
            yield future.result()
            del future  # with what it has
            room.release()
    finally:
        is_over.set()
        for _ in workers:
            room.release()
        for worker in workers:
            worker.join()
