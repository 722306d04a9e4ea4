#!/bin/sh
# Guess: the dtypes of ml_dtypes are told from NumPy's own by their kind, which is V, as of raw bytes, for all of them.
#
# Seen: float8_e5m2 alone has the kind f, as float16 has, which it is the upper byte of. Code that asks for floats by their kind takes
# it, and no other of the family.
#
#   bfloat16 V 2
#   float8_e5m2 f 1
#   float8_e4m3 V 1
#   float8_e4m3fn V 1
#   float8_e3m4 V 1
#   int4 V 1
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

for name in ("bfloat16", "float8_e5m2", "float8_e4m3", "float8_e4m3fn", "float8_e3m4", "int4"):
    dtype = np.dtype(getattr(ml_dtypes, name))
    print(name, dtype.kind, dtype.itemsize)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
bfloat16 V 2
float8_e5m2 f 1
float8_e4m3 V 1
float8_e4m3fn V 1
float8_e3m4 V 1
int4 V 1
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
