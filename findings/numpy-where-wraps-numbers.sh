#!/bin/sh
# Guess: since NumPy 2, a Python integer that does not fit the dtype of the array beside it is an OverflowError, in np.where as in
# operators, np.full and np.copyto.
#
# Seen: np.where takes the dtype of the array, and wraps the integer around without an error or a warning. NumPy 2.5.5, on
# later Pythons, raises OverflowError.
#
#   where 300: [44, 2] uint8
#   where -1: [255, 2] uint8
#   add, full, copyto, maximum: OverflowError
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

mask, small = np.array([True, False]), np.array([1, 2], np.uint8)
for number in (300, -1):
    made = np.where(mask, number, small)
    print(f"where {number}: {made.tolist()} {made.dtype}")
refused = []
for name, call in {
    "add": lambda: small + 300,
    "full": lambda: np.full(2, 300, np.uint8),
    "copyto": lambda: np.copyto(small, 300, where=mask),
    "maximum": lambda: np.maximum(small, 300),
}.items():
    try:
        call()
    except OverflowError:
        refused.append(name)
print(", ".join(refused) + ": OverflowError")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
where 300: [44, 2] uint8
where -1: [255, 2] uint8
add, full, copyto, maximum: OverflowError
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
