#!/bin/sh
# Guess: out= has one rule of casting in NumPy: what "same_kind" does not allow raises, as np.add(x, x, out=integers) of floats does.
#
# Seen: cumsum and accumulate write floats to out= of integers, cut off, without a word. They add up before that: the sums are cut off, not
# the elements.
#
#   cumsum [0, 1, 1, 2]
#   add.accumulate [0, 1, 1, 2]
#   multiply.accumulate [1, 2, 3, 5]
#   add UFuncTypeError
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

halves = np.full(4, 0.5)
for name, call in (
    ("cumsum", lambda out: np.cumsum(halves, out=out)),
    ("add.accumulate", lambda out: np.add.accumulate(halves, out=out)),
    ("multiply.accumulate", lambda out: np.multiply.accumulate(halves + 1, out=out)),
    ("add", lambda out: np.add(halves, halves, out=out)),
):
    try:
        print(name, call(np.zeros(4, np.int64)).tolist())
    except TypeError as error:
        print(name, type(error).__name__)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
cumsum [0, 1, 1, 2]
add.accumulate [0, 1, 1, 2]
multiply.accumulate [1, 2, 3, 5]
add UFuncTypeError
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
