"""Loops that the core takes from NumPy's own tables: with and without them, and where a table is not as it is known."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = pytest.mark.alone("each program has its own NumPy")

_HAS_TABLES = int(np.__version__.split(".")[0]) >= 2

#: Sorts, extremes, sums of two ranks and products: 1 for each that is right. NumPy's functions may be spoilt meanwhile.
_PROGRAM = """
import math, random
import dtl
from dtl._native.library import state
numbers = [random.Random(1).getrandbits(63) for _ in range(3000)]
floats = [float(number >> 40) for number in numbers]
with dtl.Context() as ctx:
    def made(values, dtype):
        c = dtl.zeros(ctx, len(values), dtype)
        c.local_view()[:] = values
        return c
    whole, real = made(numbers, "u8"), made(floats, "f8")
    dtl.sort(whole)
    right = [
        whole.local_view().tolist() == sorted(numbers),
        (int(whole.min()), int(whole.max())) == (min(numbers), max(numbers)),
        float(real.max()) == max(floats),
        math.isclose(float(dtl.dot(real, real)), math.fsum([x * x for x in floats]), rel_tol=1e-12),
        float(dtl.allreduce(ctx, real.local_view())[7]) == floats[7],
    ]
print(state.numpy_loops, *map(int, right))
"""

#: Puts other functions in the place of those of NumPy's that find an extreme and sort, before DTL looks at them.
_SPOIL = """
import ctypes
import numpy as np
module = np._core._multiarray_umath
address = ctypes.pythonapi.PyCapsule_GetPointer
address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
api = (ctypes.c_void_p * 366).from_address(address(module._ARRAY_API, None))
functions = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(api[365])
def table(dtype):
    return (ctypes.c_void_p * 40).from_address(functions(np.dtype(dtype)))
table("f8")[26] = ctypes.cast(ctypes.CDLL(None).abs, ctypes.c_void_p).value  # of another library
table("Q")[33] = table("L")[33] = table("f8")[33]  # a sort, of other numbers
"""


def _loops(program: str, **variables: str) -> int:
    """Run a program, and return how many loops it has from NumPy, when all that it has computed is right."""
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, check=True
    )
    loops, *right = map(int, done.stdout.split())
    assert right == [1] * 5
    return loops


def test_results_are_the_same_without_them() -> None:
    assert _loops(_PROGRAM, DTL_NUMPY_LOOPS="0") == 0
    assert _loops(_PROGRAM, DTL_NUMPY_LOOPS="1") > 0


@pytest.mark.skipif(not _HAS_TABLES, reason="NumPy 1 keeps the tables elsewhere, and DTL does not read them")
def test_functions_that_are_not_as_they_are_known_are_not_taken() -> None:
    spoilt, whole = _loops(_SPOIL + _PROGRAM), _loops(_PROGRAM)
    wide = np._core._multiarray_umath.__cpu_features__.get("AVX2") or np._core._multiarray_umath.__cpu_features__.get(
        "X86_V3"
    )
    assert spoilt == whole - 1 - 2 * bool(wide)
