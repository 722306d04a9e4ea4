#!/bin/sh
# Guess: pyarrow.array(x) of a NumPy array of str has the values of x.tolist(): NumPy keeps a NUL within a value, and drops only
# those that fill it up, and so does pyarrow for a list of the same values.
#
# Seen: the value ends at its first NUL, and what follows is lost without an error.
#
#   NumPy  ['a\x00b', 'cd']
#   list   ['a\x00b', 'cd']
#   array  ['a', 'cd']
#
# Versions: pyarrow 26.0.1, numpy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
import pyarrow as pa

x = np.array(["a\0b", "cd"])
print("NumPy ", x.tolist())
print("list  ", pa.array(x.tolist()).to_pylist())
print("array ", pa.array(x).to_pylist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
NumPy  ['a\x00b', 'cd']
list   ['a\x00b', 'cd']
array  ['a', 'cd']
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
