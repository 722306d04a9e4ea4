#!/bin/sh
# Guess: expm_multiply(A, b, start=20, stop=20.1, num=2) is as exact as expm_multiply(20 * A, b), since both are one product with an
# exponential; only the times between cost less.
#
# Seen: the number of steps that stop - start needs is taken for the way to start as well. Of a rotation, whose products have the
# length 1, it returns numbers of the order of a million, without a warning. With start=0 the same call is right.
#
#   from 0: lengths of 1
#   from 20: lengths above 100,000: True
#   20 * A: [0.4081 0.9129] 0.4081
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import expm_multiply

turn, b = csr_array([[0.0, -1.0], [1.0, 0.0]]), np.array([1.0, 0.0])
for start, stop in ((0.0, 1.0), (20.0, 20.1)):
    found = expm_multiply(turn, b, start=start, stop=stop, num=2)
    print(f"from {start:g}:", "lengths of 1" if np.allclose(np.linalg.norm(found, axis=1), 1) else "lengths above 100,000:",
          *[bool((np.linalg.norm(found, axis=1) > 100_000).all())] * (start > 0))
print("20 * A:", expm_multiply(20 * turn, b).round(4), np.cos(20).round(4))
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
from 0: lengths of 1
from 20: lengths above 100,000: True
20 * A: [0.4081 0.9129] 0.4081
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
