"""The shared object: what it needs, and what it leaves as it was."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from dtl._native import _dtl

pytestmark = pytest.mark.jobs("looks at a file and at a new process")


@pytest.mark.skipif(shutil.which("readelf") is None, reason="there is no readelf; runs where there is a C compiler")
def test_it_needs_nothing_but_libc() -> None:
    dynamic = subprocess.run(["readelf", "-d", _dtl.__file__], stdout=subprocess.PIPE, check=True).stdout.decode()
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    # All of one package: its loader keeps the variables of threads, and its libm the flags of floats.
    assert {name for name in needed if not name.startswith("ld-linux")} == {"libc.so.6", "libm.so.6"}


def test_the_importing_thread_keeps_its_timer_slack() -> None:
    program = """
import ctypes, numpy
libc = ctypes.CDLL(None)
libc.prctl(29, 123456, 0, 0, 0)  # PR_SET_TIMERSLACK
import dtl
print(libc.prctl(30, 0, 0, 0, 0))  # PR_GET_TIMERSLACK
"""
    ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert ended.stdout.decode().split() == ["123456"]
