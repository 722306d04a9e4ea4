#!/bin/sh
# Guess: the dtype of np.quantile depends on the array. Python numbers, alone or in a list, do not widen float32 in NumPy 2.
#
# Seen: a number leaves float32, a list of numbers gives float64, because the list becomes an array of float64 first.
#
#   0.3 float32 float32
#   [0.3] float64 float64
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

numbers = np.array([1, 2], np.float32)
for q in (0.3, [0.3]):
    print(q, np.quantile(numbers, q).dtype, np.percentile(numbers, q).dtype)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
0.3 float32 float32
[0.3] float64 float64
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
