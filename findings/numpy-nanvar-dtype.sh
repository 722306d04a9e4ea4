#!/bin/sh
# Guess: np.nanvar(x, dtype=float) of float32 without a NaN is np.var(x, dtype=float): the mean and the squared distances are
# computed in float64.
#
# Seen: np.nanvar uses the dtype for the mean and the sum alone. The distances from the mean are rounded to float32 first, so that half
# of the digits are lost that the caller asked for.
#
#   var float64 True
#   nanvar float64 False
#   std float64 True
#   nanstd float64 False
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

x = np.random.default_rng(0).random(1000).astype(np.float32)
exact = np.var(x.astype(np.float64))
for function in (np.var, np.nanvar, np.std, np.nanstd):
    wanted = np.sqrt(exact) if "std" in function.__name__ else exact
    print(function.__name__, function(x, dtype=np.float64).dtype, abs(function(x, dtype=np.float64) / wanted - 1) < 1e-12)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
var float64 True
nanvar float64 False
std float64 True
nanstd float64 False
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
