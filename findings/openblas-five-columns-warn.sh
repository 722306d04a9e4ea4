#!/bin/sh
# Guess: whether a product of a float32 matrix and a vector warns of an invalid value depends on the numbers in them.
#
# Seen: on processors with AVX-512, for C-ordered matrices of five columns, it depends on words that functions called before have left on
# the stack, where these are signalling NaNs. The product is right each time; other widths and types of elements do not warn. What is left
# there in a program are mostly addresses, which differ from run to run: tests that turn warnings into errors fail once in many runs.
#
#   4 columns, float32: 0 of 24 warn
#   5 columns, float32: 12 of 24 warn
#   5 columns, float64: 0 of 24 warn
#   all products right
#
# Versions: NumPy 2.4.6 with its OpenBLAS 0.3.31.188.0, Python 3.11, on a processor with AVX-512; cc makes the function that leaves words.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
grep -q avx512vl /proc/cpuinfo || { echo "needs a processor with AVX-512" && exit 1; }
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/leave.c" <<'CODE'
void leave(unsigned bits)
{
    volatile unsigned words[16384];
    for (int i = 0; i < 16384; i++)
        words[i] = bits;
}
CODE
cc -O1 -shared -fPIC -o "$folder/leave.so" "$folder/leave.c"
cat >"$folder/program.py" <<'PROGRAM'
import ctypes
import sys
import warnings

import numpy as np

leave = ctypes.CDLL(sys.argv[1]).leave
leave.argtypes = [ctypes.c_uint]
right = True
for columns, dtype in ((4, "float32"), (5, "float32"), (5, "float64")):
    warned = 0
    vector = np.arange(columns, dtype=dtype)
    for rows in range(1, 25):
        matrix = np.ones((rows, columns), dtype)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            leave(0x7FA00000)  # as an address may have it, and as a float32 a signalling NaN
            product = matrix @ vector
        right &= bool((product == vector.sum()).all())
        warned += len(caught)
    print(f"{columns} columns, {dtype}: {warned} of 24 warn")
print("all products right" if right else "wrong products")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
4 columns, float32: 0 of 24 warn
5 columns, float32: 12 of 24 warn
5 columns, float64: 0 of 24 warn
all products right
OUTPUT
OPENBLAS_NUM_THREADS=1 timeout 300 "$folder/env/bin/python" "$folder/program.py" "$folder/leave.so" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
