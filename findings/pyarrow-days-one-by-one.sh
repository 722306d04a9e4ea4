#!/bin/sh
# Guess: pyarrow takes datetime64 of days one by one, in a list, a scalar and in the filters of a reader, as it takes an array of them, and
# as it takes datetime64 of seconds in either form.
#
# Seen: an array of days becomes date32; a list of them, and a scalar, raise a TypeError about int(). Of seconds, all are taken.
#
#   D array date32[day]
#   D list TypeError int
#   D scalar TypeError int
#   s array timestamp[s]
#   s list timestamp[s]
#   s scalar timestamp[s]
#
# Versions: pyarrow 26.0.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
import pyarrow as pa

for unit in ("D", "s"):
    day = np.datetime64("2024-01-01", unit)
    for name, make in (
        ("array", lambda: pa.array(np.array([day]))),
        ("list", lambda: pa.array([day])),
        ("scalar", lambda: pa.scalar(day)),
    ):
        try:
            print(unit, name, make().type)
        except TypeError as error:
            print(unit, name, "TypeError", str(error).split("(")[0])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
D array date32[day]
D list TypeError int
D scalar TypeError int
s array timestamp[s]
s list timestamp[s]
s scalar timestamp[s]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
