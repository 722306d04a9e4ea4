"""The first call of a program: what it needs is imported, which tests that run one after the other would not see."""

from __future__ import annotations

import pytest
from programs import alone

pytestmark = pytest.mark.jobs("starts a process for each call")

CALLS = """
x[None]
x[:, None] * x
x[[[0, 1], [2, 3]]]
x[x > 1]
x.reshape(2, 3)
x @ x
np.add.outer(x, x)
np.einsum("i,j->ij", x, x)
np.meshgrid(x, x)
np.argwhere(x)
np.linalg.norm(x)
np.fft.fft(x)
np.quantile(x, 0.5)
dtl.DistributedSpan(x)[:, None]
dtl.zeros(ctx, (2, 3))
dtl.random.Generator(ctx, 1).random(6)
"""

PROGRAM = """
import os, traceback
import numpy as np

for call in CALLS.strip().splitlines():
    child = os.fork()  # before DTL is imported
    if not child:
        try:
            import dtl
            ctx = dtl.Context()
            x = dtl.DistributedVector(ctx, 6)
            eval(call)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        print("failed:", call)
"""


def test_first_calls_find_what_they_need() -> None:
    ended = alone(f"CALLS = {CALLS!r}\n" + PROGRAM)
    assert (ended.code, ended.out) == (0, ""), ended.err
