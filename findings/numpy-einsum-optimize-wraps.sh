#!/bin/sh
# Guess: optimize= of np.einsum chooses the order of the products, and changes the result by rounding at most. The dtype is that of
# all operands together, int64 here.
#
# Seen: where an operand has letters of its own, an optimized formula first adds it up alone, in its own dtype, which wraps around
# (uint8) or saturates (bool). Without optimize=, which is the default, all is done in int64.
#
#   uint8: optimize=False 1200, True 176, greedy 176, optimal 176
#   bool: optimize=False 15, True 5, greedy 5, optimal 5
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

numbers, truths = np.diag(np.full(3, 200, np.uint8)), np.eye(3, dtype=bool)
for name, formula, array, factor in (("uint8", "ii,->", numbers, 2), ("bool", "ij,->", truths, 5)):
    made = [(how, np.einsum(formula, array, np.int64(factor), optimize=how)) for how in (False, True, "greedy", "optimal")]
    assert all(value.dtype == np.int64 for _, value in made)
    print(f"{name}: optimize=" + ", ".join(f"{how} {value}" for how, value in made))
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
uint8: optimize=False 1200, True 176, greedy 176, optimal 176
bool: optimize=False 15, True 5, greedy 5, optimal 5
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
