#!/bin/sh
# Guess: np.add.at(x, i, values) refuses values that x cannot hold under the rule same_kind, as np.add(x, values, out=x) does.
#
# Seen: ufunc.at casts unsafely: floats lose their fraction without a word, complex numbers their imaginary part with a warning.
#
#   at: [1, 0] [2.0, 0.0] ['ComplexWarning']
#   out: UFuncTypeError
#   out: UFuncTypeError
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import warnings

import numpy as np

integers, floats = np.zeros(2, int), np.zeros(2)
np.add.at(integers, [0], 1.5)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    np.add.at(floats, [0], 2 + 1j)
print("at:", integers.tolist(), floats.tolist(), [each.category.__name__ for each in seen])
for x, value in ((integers, 1.5), (floats, 1j)):
    try:
        np.add(x, value, out=x)
    except TypeError as error:
        print("out:", type(error).__name__)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
at: [1, 0] [2.0, 0.0] ['ComplexWarning']
out: UFuncTypeError
out: UFuncTypeError
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
