#!/bin/sh
# Guess: a Python integer among the choices of np.select takes the dtype of the arrays beside it, as in operators and np.where, if it
# fits.
#
# Seen: the dtype is found so, but the integer is then copied as an int64, and refused. As default it is taken.
#
#   where uint8
#   select, default uint8
#   select, choice TypeError: Cannot cast array data from dtype('int64') to dtype('uint8') according to the rule 'same_kind'
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

mask, small = np.array([True, False]), np.array([2, 3], np.uint8)
print("where", np.where(mask, 1, small).dtype)
print("select, default", np.select([mask], [small], 1).dtype)
try:
    print("select, choice", np.select([mask, ~mask], [1, small]).dtype)
except TypeError as error:
    print("select, choice TypeError:", error)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
where uint8
select, default uint8
select, choice TypeError: Cannot cast array data from dtype('int64') to dtype('uint8') according to the rule 'same_kind'
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
