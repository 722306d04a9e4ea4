#!/bin/sh
# Guess: np.arange(3, 9, dtype="M8[D]") are the six days 3 to 8 after 1970-01-01, as np.arange(3, 9) are six numbers.
#
# Seen: the integer stop is a length of time that is added to the start, so that there are nine days. Of time spans, there are six.
#
#   9 ['1970-01-04' '1970-01-12']
#   6 [3 8]
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

print(len(np.arange(3, 9, dtype="M8[D]")), np.arange(3, 9, dtype="M8[D]")[[0, -1]])
print(len(np.arange(3, 9, dtype="m8[D]")), np.arange(3, 9, dtype="m8[D]")[[0, -1]])
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
9 ['1970-01-04' '1970-01-12']
6 [3 8]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
