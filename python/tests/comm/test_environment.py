"""Environment, and the questions about what is here."""

from __future__ import annotations

import gc
import importlib

import pytest
from conftest import LOCAL, RANKS

import dtl


def test_counts() -> None:
    before = dtl.Environment.ref_count()
    first = dtl.Environment()
    assert dtl.Environment.is_initialized()
    assert dtl.Environment.ref_count() == first.ref_count() == before + 1
    with dtl.Environment() as second:
        assert second.ref_count() == before + 2
    assert first.ref_count() == before + 1
    first.close()
    first.close()
    assert dtl.Environment.ref_count() == before
    assert dtl.Environment.is_initialized() is (before > 0)


def test_collected_environments_leave_the_count() -> None:
    before = dtl.Environment.ref_count()
    for _ in range(10):
        dtl.Environment()
    gc.collect()
    assert dtl.Environment.ref_count() == before


def test_left_by_an_exception() -> None:
    before = dtl.Environment.ref_count()
    with pytest.raises(KeyError), dtl.Environment():
        raise KeyError
    assert dtl.Environment.ref_count() == before


def test_what_is_here(ctx: dtl.Context) -> None:
    with dtl.Environment() as env:
        for name in ("mpi", "cuda", "hip", "nccl", "shmem"):
            here = getattr(env, "has_" + name)
            assert type(here) is bool
            assert here is getattr(dtl, "has_" + name)()
            assert here is (dtl.backends.why_not(name) is None)
            assert here is (name in dtl.backends.available())
            if not here:
                assert dtl.backends.why_not(name)


def test_backends() -> None:
    assert dtl.backends.registered() == ["cpu", "cuda", "hip", "local", "mpi", "nccl", "shmem"]
    assert set(dtl.backends.available()) <= set(dtl.backends.registered())
    assert dtl.backends.count() == len(dtl.backends.available())
    assert "cpu" in dtl.backends.available()
    with pytest.raises(dtl.InvalidArgumentError, match="no backend is called 'carrier pigeon'; there are cpu, cuda"):
        dtl.backends.why_not("carrier pigeon")


def test_backend_in_use(ctx: dtl.Context) -> None:
    if ctx.has_mpi:
        assert dtl.backends.name() == "mpi"
        assert dtl.has_mpi()
    elif LOCAL:
        assert dtl.backends.name() == ctx.backend == "local"
    else:
        assert ctx.size == 1
        assert dtl.backends.name() == "cpu"


def test_placements() -> None:
    assert dtl.placement_available(dtl.PLACEMENT_HOST) is True
    assert dtl.placement_available(dtl.PLACEMENT_DEVICE_PREFERRED) is True
    assert dtl.placement_available("host") is dtl.placement_available("device_preferred") is True
    if not dtl.has_cuda():  # where there is a device, on_a_device.py has what is so
        assert dtl.placement_available(dtl.PLACEMENT_DEVICE) is False
        assert dtl.placement_available(dtl.PLACEMENT_UNIFIED) is False
        assert dtl.placement_available("device") is dtl.placement_available("UNIFIED") is False


def test_thread_level(ctx: dtl.Context) -> None:
    with dtl.Environment() as env:
        if ctx.has_mpi:
            assert dtl.THREAD_SINGLE <= env.mpi_thread_level <= dtl.THREAD_MULTIPLE
        else:
            assert env.mpi_thread_level == -1


def test_thread_level_is_what_mpi4py_sees(ctx: dtl.Context) -> None:
    if not ctx.has_mpi:
        assert RANKS == 1 or LOCAL
        return
    try:
        mpi = importlib.import_module("mpi4py.MPI")
    except ImportError as error:
        pytest.skip(f"{error}; runs with Open MPI, and with MPICH's own ABI")
    levels = [mpi.THREAD_SINGLE, mpi.THREAD_FUNNELED, mpi.THREAD_SERIALIZED, mpi.THREAD_MULTIPLE]
    with dtl.Environment() as env:
        assert levels[env.mpi_thread_level] == mpi.Query_thread()


def test_contexts(ctx: dtl.Context) -> None:
    with dtl.Environment() as env:
        with env.make_world_context() as world:
            assert (world.rank, world.size, world.has_mpi) == (ctx.rank, ctx.size, ctx.has_mpi)
            assert dtl.allreduce(world, 1) == ctx.size
        with env.make_cpu_context() as own:
            assert (own.rank, own.size, own.has_mpi) == (0, 1, False)
            assert dtl.allreduce(own, 1) == 1


def test_contexts_stay_open() -> None:
    with dtl.Environment() as env:
        own = env.make_cpu_context()
    assert dtl.allreduce(own, 2.5) == 2.5
    own.close()


def test_closed_environment_makes_no_contexts() -> None:
    env = dtl.Environment()
    env.close()
    for make in (env.make_world_context, env.make_cpu_context):
        with pytest.raises(dtl.InvalidHandleError, match="the environment is closed") as caught:
            make()
        assert caught.value.code == 102
    assert "closed" in repr(env)
