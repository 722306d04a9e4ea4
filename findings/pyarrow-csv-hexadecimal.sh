#!/bin/sh
# Guess: pyarrow.csv, which infers int64, takes 0xFFFFFFFFFFFFFFFF for a number that does not fit and goes on to another type,
# as it does with 18446744073709551615: that becomes a float.
#
# Seen: hexadecimal digits are the bits of the type. Numbers with the highest bit become negative, without an error.
#
#   0xFFFFFFFFFFFFFFFF:   int64 -1
#   0x8000000000000000:   int64 -9223372036854775808
#   18446744073709551615: double 1.8446744073709552e+19
#
# Versions: pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import io

import pyarrow.csv as csv

for text in ("0xFFFFFFFFFFFFFFFF", "0x8000000000000000", "18446744073709551615"):
    column = csv.read_csv(io.BytesIO(f"a\n{text}\n".encode()))["a"]
    print(f"{text}: {column.type} {column[0].as_py()}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
0xFFFFFFFFFFFFFFFF: int64 -1
0x8000000000000000: int64 -9223372036854775808
18446744073709551615: double 1.8446744073709552e+19
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
