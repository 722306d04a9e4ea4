#!/bin/sh
# Guess: numexpr.evaluate("sum(x)"), "max(x)" and "min(x)" are NumPy's reductions, computed in blocks and on threads.
#
# Seen: They have the dtype of the elements, and another rule for NaN. The sum of int32 is int32, and wraps around where NumPy's is int64.
# The sum of float32 stands still at 2**24, where NumPy's, in pairs, is exact. max and min leave NaN out, as np.fmax and np.fmin do, where
# NumPy's return it.
#
#   int32 0 int32 4294967296 int64
#   float32 1.6777216e+07 3.3554432e+07
#   nan 3.0 1.0 nan nan
#   nan 3.0 1.0 nan nan
#
# Versions: numexpr 2.14.2, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numexpr==2.14.2 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numexpr
import numpy as np

numexpr.set_num_threads(1)
x = np.full(4, 2**30, np.int32)
print("int32", numexpr.evaluate("sum(x)"), numexpr.evaluate("sum(x)").dtype, x.sum(), x.sum().dtype)
x = np.ones(2**25, np.float32)
print("float32", numexpr.evaluate("sum(x)"), x.sum())
for x in (np.array([np.nan, 1.0, 3.0]), np.array([3.0, np.nan, 1.0])):
    print("nan", numexpr.evaluate("max(x)"), numexpr.evaluate("min(x)"), x.max(), x.min())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
int32 0 int32 4294967296 int64
float32 1.6777216e+07 3.3554432e+07
nan 3.0 1.0 nan nan
nan 3.0 1.0 nan nan
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
