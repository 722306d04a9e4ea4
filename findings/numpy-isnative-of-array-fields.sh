#!/bin/sh
# Guess: dtype.isnative of a record is False as soon as one of its fields is in the other byte order, so code that finds it True
# may hand the bytes to a library that knows the machine's order alone.
#
# Seen: a field that is an array is not looked into: such a record is called native, although its field's own dtype, and the
# comparison with newbyteorder('='), say that it is not.
#
#   scalar field: isnative False, equal to native False
#   array field:  isnative True,  equal to native False
#
# Versions: numpy 2.4.6, Python 3.11, on a little-endian machine.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

for name, fields in (("scalar", [("p", ">i2")]), ("array", [("p", ">i2", 2)])):
    dtype = np.dtype(fields)
    print(f"{name} field: isnative {dtype.isnative}, equal to native {dtype == dtype.newbyteorder('=')}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
scalar field: isnative False, equal to native False
array field: isnative True, equal to native False
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
