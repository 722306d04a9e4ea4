#!/bin/sh
# Guess: the LU factors of a matrix whose elements are subnormal have fewer digits, as the elements have, and np.linalg.solve returns the
# solution with these.
#
# Seen: OpenBLAS does not divide by pivots below the least normal number, so that a multiplier stays 1e-310 where it should be 1. No row
# has to be exchanged here. det and solve are wrong without an error; the same matrix times a power of two gives the right numbers.
#
#   as it is: det 3e-310, second unknown 0.333
#   scaled: det 2e-310, second unknown 0.5
#
# Versions: NumPy 2.4.6 with its OpenBLAS 0.3.31.188.0, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

small = np.array([[1e-310, 1], [1e-310, 3]])
scaled = small * np.array([2.0**1000, 1])  # the first column
for name, matrix, scale in (("as it is", small, 1.0), ("scaled", scaled, 2.0**-1000)):
    print(f"{name}: det {np.linalg.det(matrix) * scale:.3g}, second unknown {np.linalg.solve(matrix, [0.0, 1.0])[1]:.3g}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
as it is: det 3e-310, second unknown 0.333
scaled: det 2e-310, second unknown 0.5
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
