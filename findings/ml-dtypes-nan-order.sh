#!/bin/sh
# Guess: NumPy sorts NaN behind all numbers in every floating dtype, and searchsorted finds it there; ml_dtypes gives its bfloat16
# a comparison, so that both work with it.
#
# Seen: np.sort of bfloat16 leaves NaN where it stands, and the numbers around it unsorted; np.searchsorted finds NaN at the front.
# Neither warns.
#
#   float64 [1.0, 2.0, nan, nan] [2, 0]
#   float16 [1.0, 2.0, nan, nan] [2, 0]
#   bfloat16 [nan, 1.0, 2.0, nan] [0, 0]
#
# Versions: ml_dtypes 0.6.0, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 ml_dtypes==0.6.0
cat >"$folder/program.py" <<'PROGRAM'
import ml_dtypes
import numpy as np

for dtype in (np.float64, np.float16, ml_dtypes.bfloat16):
    mixed, table = np.array([np.nan, 2, 1, np.nan]).astype(dtype), np.array([1, 2, np.nan]).astype(dtype)
    found = np.searchsorted(table, np.array([np.nan, 1]).astype(dtype))
    print(np.dtype(dtype).name, np.sort(mixed).astype(float).tolist(), found.tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
float64 [1.0, 2.0, nan, nan] [2, 0]
float16 [1.0, 2.0, nan, nan] [2, 0]
bfloat16 [nan, 1.0, 2.0, nan] [0, 0]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
