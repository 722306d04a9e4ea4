"""Which backend connects the ranks of a context, where a program or its environment says so."""

from __future__ import annotations

from typing import Any

import pytest

import dtl


def test_cpu_is_this_process_alone() -> None:
    with dtl.Context(backend="cpu") as ctx:
        assert (ctx.rank, ctx.size) == (0, 1)
        assert not ctx.has_mpi
        assert not ctx.has_shmem
        assert dtl.allreduce(ctx, 3) == 3


def test_the_environment_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "cpu")
    assert dtl.backends.name() == "cpu"
    with dtl.Context() as ctx:
        assert ctx.size == 1


def test_the_argument_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "nobody")
    with dtl.Context(backend="cpu") as ctx:
        assert ctx.size == 1
    with pytest.raises(dtl.InvalidArgumentError, match="nobody"):
        dtl.Context()


@pytest.mark.parametrize("name", ["nobody", "cuda", "", "MPI"])
def test_names_of_none_that_connects_ranks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DTL_BACKEND", raising=False)
    with pytest.raises(dtl.InvalidArgumentError, match="connects ranks; those are cpu, local, mpi, shmem"):
        dtl.Context(backend=name)


@pytest.mark.parametrize("name", ["shmem\0", "cpu\n", "\ud800"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="characters that no name has"):
        dtl.Context(backend=name)


@pytest.mark.parametrize("name", [3, b"cpu", ["cpu"]])
def test_what_is_no_name(name: Any) -> None:
    with pytest.raises(dtl.InvalidTypeError, match="backend must be a str"):
        dtl.Context(backend=name)


def test_a_communicator_is_mpis() -> None:
    with pytest.raises(dtl.InvalidArgumentError, match="beside a communicator"):
        dtl.Context(comm=object(), backend="shmem")


def test_openshmem_has_no_communicator_for_mpi4py(ctx: dtl.Context) -> None:
    if not ctx.has_shmem:
        pytest.skip("MPI connects the ranks, or there is one; runs in make test-shmem")
    with pytest.raises(dtl.InvalidArgumentError, match="not connected by MPI"):
        ctx.to_mpi4py()


@pytest.mark.alone("only a process that no launcher started is refused")
def test_shmem_without_a_launcher(ctx: dtl.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    if ctx.has_shmem:
        pytest.skip("a launcher started this process; runs where none did")
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(dtl.BackendUnavailableError, match=r"oshrun|OpenSHMEM library"):
        dtl.Context(backend="shmem")
