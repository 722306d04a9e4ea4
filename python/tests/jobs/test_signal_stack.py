"""Signal handlers that a program sets after it has imported DTL run on the stack for signals, with every Python."""

from __future__ import annotations

import pytest
from programs import alone, succeeded

pytestmark = pytest.mark.jobs("starts a process of its own")

PROGRAM = """
import ctypes, os, signal
import dtl

class Action(ctypes.Structure):  # struct sigaction of Linux on 64 bits
    _fields_ = [
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    ]

def on_alternate_stack(number):
    now = Action()
    assert ctypes.CDLL(None).sigaction(int(number), None, ctypes.byref(now)) == 0
    return now.flags & 0x08000000 != 0  # SA_ONSTACK

came = []
assert signal.signal(signal.SIGUSR1, lambda *_: came.append(1)) == signal.SIG_DFL
assert callable(signal.signal(signal.SIGINT, lambda *_: came.append(2)))  # Python's own
for number in (signal.SIGUSR1, signal.SIGINT):
    assert on_alternate_stack(number), number
    os.kill(os.getpid(), number)
assert came == [1, 2]
"""


def test_handlers_run_on_the_alternate_stack() -> None:
    succeeded(alone(PROGRAM))
