#!/bin/sh
# Guess: np.insert takes a mask as an array or as a list, as subscripts do, and np.delete does.
#
# Seen: an array of truth values is a mask; a list of them raises AttributeError, whatever the first argument is.
#
#   [2] [8 1 2 9 3]
#   AttributeError
#   AttributeError
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

numbers, mask = [1, 2, 3], [True, False, True]
print(np.delete(numbers, mask), np.insert(numbers, np.array(mask), [8, 9]))
for first in (np.array(numbers), numbers):
    try:
        print(np.insert(first, mask, [8, 9]))
    except AttributeError as error:
        print(type(error).__name__)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
[2] [8 1 2 9 3]
AttributeError
AttributeError
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
