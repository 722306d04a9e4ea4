"""``python -m dtl doctor``: the program runs as it would by itself, and then it is said what would be faster."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from programs import Ended, run

pytestmark = pytest.mark.jobs("starts processes, and ranks, itself")

SLOW = """
import math, sys
import dtl
with dtl.Context() as ctx:
    a = dtl.ones(ctx, 300)
    b = dtl.ones(ctx, 300, partition="cyclic")
    for i in range(30):
        a[i] = i
    c = a + b
    dtl.transform(c, c, math.sqrt)
    if ctx.is_root:
        print(sys.argv[1:])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    return tmp_path


def doctor(*arguments: str, ranks: int = 0) -> Ended:
    first = ["run", "-n", str(ranks), "-m", "dtl"] if ranks else []
    return run([sys.executable, "-m", "dtl", *first, "doctor", *arguments])


def heads(text: str) -> list[str]:
    """Return the lines that begin a record, in alphabetic order."""
    return sorted(line for line in text.splitlines() if line.startswith("slow.py:"))


def test_alone(folder: Path) -> None:
    ended = doctor("slow.py", "x")
    assert (ended.code, ended.out) == (0, "['x']\n")
    assert ended.err.startswith("dtl doctor: 1 rank, 2 slow paths:\n")
    assert heads(ended.err) == [
        "slow.py:10: transform: a function called for each element",
        "slow.py:8: setitem: elements one by one",
    ]
    assert "    30 times, 480 bytes, " in ended.err
    assert "    faster: pass a function of arrays" in ended.err


def test_on_ranks(folder: Path) -> None:
    ended = doctor("slow.py", ranks=3)
    assert (ended.code, ended.out) == (0, "[]\n")
    assert "dtl doctor: 3 ranks, 3 slow paths:\n" in ended.err
    assert heads(ended.err) == [
        "slow.py:10: transform: a function called for each element",
        "slow.py:8: setitem: elements one by one",
        "slow.py:9: np.add: an operand moved between ranks",
    ]
    assert "    90 times, " in ended.err


def test_nothing_to_say(folder: Path) -> None:
    (folder / "quick.py").write_text("import dtl\nwith dtl.Context() as ctx: print(dtl.ones(ctx, 3).sum())")
    assert doctor("quick.py") == (0, "3.0\n", "dtl doctor: 1 rank, no slow paths\n")


def test_programs_that_fail(folder: Path) -> None:
    (folder / "failing.py").write_text(SLOW + "1 / 0")
    ended = doctor("failing.py")
    assert ended.code == 1
    assert "2 slow paths" in ended.err
    assert ended.err.rstrip().endswith("ZeroDivisionError: division by zero")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "there is no program to run"),
        (["-x", "slow.py"], "there is no option '-x'"),
        (["missing.py"], "there is no file 'missing.py'"),
    ],
)
def test_bad_usage(folder: Path, arguments: list[str], text: str) -> None:
    ended = doctor(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("dtl doctor: ")
    assert text in ended.err


def test_help(folder: Path) -> None:
    ended = doctor("--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("usage: python -m dtl doctor ")
