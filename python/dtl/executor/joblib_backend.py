"""The executor as a backend of joblib, and so of scikit-learn."""

from __future__ import annotations

import functools
import weakref
from concurrent import futures
from typing import Any, Callable

from ..exceptions import BackendUnavailableError, InvalidArgumentError, InvalidTypeError
from .executor import Executor, entered, is_alone


def register_joblib() -> None:
    """Make ranks a backend of joblib, called "dtl", for scikit-learn and others that use joblib. Not collective.

    Inside the block of an :class:`Executor`, on root, ``joblib.parallel_config("dtl")`` makes ``joblib.Parallel`` run
    its calls on the other ranks. If there are several executors, ``executor=`` chooses one; the default is the one
    whose block was entered last.

    Raises
    ------
    BackendUnavailableError
        If joblib is not installed: ``pip install joblib``.

    Notes
    -----
    All ranks but root work, or at most ``n_jobs`` of them. If there is only one rank, root calls the functions itself.
    If a function uses joblib itself, its calls run one after the other. Each call sends its arguments, so a large array
    is sent as often as there are calls.

    Examples
    --------
    >>> import dtl, joblib
    >>> dtl.register_joblib()
    >>> with dtl.Context() as ctx, dtl.Executor(ctx) as executor:
    ...     if executor is not None:
    ...         with joblib.parallel_config("dtl"):
    ...             joblib.Parallel()(joblib.delayed(pow)(x, 2) for x in range(5))
    [0, 1, 4, 9, 16]
    """
    try:
        import joblib  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError as error:
        raise BackendUnavailableError(f"register_joblib needs joblib: pip install joblib ({error})") from None
    joblib.register_parallel_backend("dtl", _backend())


@functools.lru_cache(maxsize=None)
def _backend() -> Any:
    """Return the class of joblib's backends, whose base is there when joblib is."""
    from joblib.parallel import (  # type: ignore[import-untyped,import-not-found,unused-ignore]
        AutoBatchingMixin,
        ParallelBackendBase,
        SequentialBackend,
    )

    class Backend(AutoBatchingMixin, ParallelBackendBase):  # type: ignore[misc]
        """A backend that submits to an executor."""

        supports_retrieve_callback = True
        default_n_jobs = -1
        uses_threads = False
        supports_sharedmem = False

        def __init__(self, executor: Any = None, **more: Any) -> None:
            super().__init__(**more)
            if executor is None:
                if not entered:
                    raise InvalidArgumentError(
                        'joblib\'s backend "dtl" is for the block of a dtl.Executor, on its root'
                    )
                executor = entered[-1]
            if not isinstance(executor, Executor):
                raise InvalidTypeError(f"executor must be a dtl.Executor, not {type(executor).__name__}")
            self._executor = executor
            self._submitted: weakref.WeakSet[futures.Future[Any]] = weakref.WeakSet()

        def effective_n_jobs(self, n_jobs: int | None) -> int:
            """Return how many calls run at a time. One rank beside root is told as two, as one means root itself."""
            if n_jobs == 0:
                raise ValueError("n_jobs == 0 in Parallel has no meaning")
            workers = self._executor.num_workers
            if is_alone(self._executor) or n_jobs == 1:
                return 1
            most = n_jobs if n_jobs is not None and n_jobs > 0 else workers + 1 + (-1 if n_jobs is None else n_jobs)
            return max(2, min(most, workers))

        def submit(self, func: Callable[[], Any], callback: Any = None) -> futures.Future[Any]:
            """Have a rank make some calls."""
            future = self._executor.submit(func)
            self._submitted.add(future)
            if callback is not None:
                future.add_done_callback(callback)
            return future

        apply_async = submit

        def retrieve_result_callback(self, out: futures.Future[Any]) -> Any:
            """Return what the calls returned, or raise what one raised."""
            return out.result()

        def abort_everything(self, ensure_ready: bool = True) -> None:
            """Cancel what no rank has begun."""
            for future in list(self._submitted):
                future.cancel()

        def terminate(self) -> None:
            """Forget how long calls took."""
            self.reset_batch_stats()

        def get_nested_backend(self) -> Any:
            """Return what a function of a call finds: a rank makes its calls one after the other."""
            return SequentialBackend(nesting_level=(self.nesting_level or 0) + 1), None

        def __reduce__(self) -> Any:
            return SequentialBackend, ()

    return Backend
