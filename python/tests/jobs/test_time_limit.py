"""The limit of each test's time, which ends a run that hangs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from programs import run

pytestmark = pytest.mark.jobs("starts pytest")

TESTS = """
import ctypes, time
def test_of_three_seconds(): time.sleep(3)
def test_of_three_more(): time.sleep(3)
def test_that_hangs_in_c(): ctypes.CDLL(None).pause()
"""


def test_a_test_that_hangs(tmp_path: Path) -> None:
    """It is shown where it was. Those before it take less than the limit, and together more."""
    (tmp_path / "test_some.py").write_text(TESTS)
    options = ["-p", "time_limit", "-o", "timeout=5", "-o", "timeout_method=thread", "-p", "no:cacheprovider"]
    ended = run([sys.executable, "-m", "pytest", *options, str(tmp_path)], PYTHONPATH=str(Path(__file__).parents[1]))
    assert ended.code == 1
    said = ended.out + ended.err
    assert "+ Timeout +" in said, said
    assert "in test_that_hangs_in_c" in said
    assert said.count("Stack of ") == 1  # beside the thread that looks, there is none
