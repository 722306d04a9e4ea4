"""The environment's variables: a wrong one is an error of the first context, which names it and what it may be."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from job import run

import dtl
from dtl._native import variables

pytestmark = pytest.mark.alone("the environment is the same on every rank")

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "environment.md"

WRONG = {
    "DTL_BACKEND": ["nobody", "MPI", "cuda", " mpi"],
    "DTL_SHARED_MEMORY": ["2", "yes", "off", "01"],
    "DTL_GPU_AWARE": ["2", "true"],
    "DTL_NODES_OF": ["0", "-1", "two", "1.5", "\u0663", "9" * 30],
    "DTL_CHECK": ["some", "FULL", "1"],
    "DTL_HANG_REPORT": ["-1", "soon", "nan", "inf", "1s"],
    "DTL_TIMEOUT": ["-1", "never", "1e999"],
    "DTL_PROGRESS": ["1", "threads"],
    "DTL_FUSE": ["-1", "1.5", "on", "1M", str(2**63)],
    "DTL_NUMPY_LOOPS": ["2", "no"],
    "DTL_LOG": ["loud", "INFO", "10"],
    "DTL_NUM_THREADS": ["0", "-2", "many", "1.5", "\u00b2", str(2**31), "9" * 5000],
}


def test_wrong_values(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, texts in WRONG.items():
        for text in texts:
            monkeypatch.setenv(name, text)
            with pytest.raises(dtl.InvalidArgumentError) as caught:
                dtl.Context()
            assert str(caught.value) == f"{name} is {text!r}; it must be {variables.VARIABLES[name].words}"
            monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("DTL_NODES_OF", "2147483647", 2147483647),
        ("DTL_HANG_REPORT", "0", 0.0),
        ("DTL_TIMEOUT", "1e3", 1000.0),
        ("DTL_FUSE", "0", 0),
        ("DTL_FUSE", "off", float("inf")),
        ("DTL_NUM_THREADS", "007", 7),
        ("DTL_ROLE", "any text", "any text"),
        *((name, "", variable.default) for name, variable in variables.VARIABLES.items()),
    ],
)
def test_right_values(monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: Any) -> None:
    monkeypatch.setenv(name, text)
    assert variables.value(name) == value
    variables.check()


def test_an_argument_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DTL_BACKEND", "DTL_CHECK", "DTL_PROGRESS"):
        monkeypatch.setenv(name, "wrong")
    with dtl.Context(backend="cpu", check="node", progress="none") as ctx:
        assert ctx.size == 1


def test_the_backends_are_those_of_the_core() -> None:
    with pytest.raises(dtl.InvalidArgumentError) as caught:
        dtl.Context(backend="nobody")
    named = str(caught.value).partition("those are ")[2].split(", ")
    assert variables.VARIABLES["DTL_BACKEND"].words == "one of " + ", ".join(map(repr, named))


def test_the_page_has_all_of_them() -> None:
    rows = re.findall(r"^\| `(DTL_\w+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(variables.VARIABLES)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("DTL_TIMOUT", "is DTL_TIMEOUT meant?"),
        ("DTL_THREADS", "is DTL_NUM_THREADS meant?"),
        ("DTL_timeout", "is DTL_TIMEOUT meant?"),
        ("DTL_XYZ", "there are DTL_BACKEND, DTL_MPI_LIB, "),
    ],
)
def test_unknown_ones(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    """They are a warning of the program's line, once."""
    monkeypatch.setattr(variables, "_warned", set())
    monkeypatch.setenv(name, "1")
    with pytest.warns(RuntimeWarning, match=re.escape(words)) as caught:
        dtl.Context().close()
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dtl.Context().close()


def test_those_of_launchers_are_no_reason_to_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variables, "_warned", set())
    for name in ("DTL_RUN_ADDRESSES", "DTL_LOCAL_SIZE_OF", "DTL_TEST_RANKS", "ADTL_TIMOUT"):
        monkeypatch.setenv(name, "1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        variables.warn_of_unknown()


@pytest.mark.jobs("starts a job")
def test_every_rank_raises_and_the_first_warns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTL_BACKEND", "local")
    monkeypatch.setenv("DTL_TIMOUT", "3")
    program = tmp_path / "program.py"
    program.write_text("""
import dtl, os
with dtl.Context() as ctx:
    os.environ["DTL_SHARED_MEMORY"] = "maybe"
    try:
        dtl.Context()
    except dtl.InvalidArgumentError as error:
        said = dtl.allgather_object(ctx, str(error))
        assert said == ["DTL_SHARED_MEMORY is 'maybe'; it must be '0' or '1'"] * 2, said
""")
    ended = run(2, str(program))
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("is DTL_TIMEOUT meant?") == 1
