#!/bin/sh
# Guess: methods of arrays take the same positions as NumPy's functions of the same name, behind the array: x.choose(choices, out)
# writes to out, as np.choose(x, choices, out) does, and as the signature in the documentation says.
#
# Seen: several positions of the method are the choices, each by itself. What was meant as out becomes a choice; it is not written to, and
# nothing is raised.
#
#   [10 20] [0 0] [10  0]
#
# Versions: NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np

x, choices = np.array([0, 1]), [10, 20]
by_function, by_method = np.zeros(2, int), np.zeros(2, int)
np.choose(x, choices, by_function)
returned = x.choose(choices, by_method)
print(by_function, by_method, returned)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
[10 20] [0 0] [10  0]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
