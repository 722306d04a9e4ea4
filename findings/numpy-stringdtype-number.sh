#!/bin/sh
# Guess: NumPy's own dtypes have numbers below 256 (NPY_USERDEF), and isbuiltin is 1 of them and 2 of those that other packages register,
# so that one of the two tells whose a dtype is.
#
# Seen: NumPy's StringDType has the number 2056, and isbuiltin is 0, which the documentation calls a structured dtype with fields. It
# has no fields.
#
#   StrDType 256 or more: False isbuiltin: 1 fields: None
#   StringDType 256 or more: True isbuiltin: 0 fields: None
#   VoidDType 256 or more: False isbuiltin: 0 fields: ('f0', 'f1')
#   dtype[bfloat16] 256 or more: True isbuiltin: 2 fields: None
#
# Versions: NumPy 2.4.6, ml_dtypes 0.6.0, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 ml_dtypes==0.6.0
cat >"$folder/program.py" <<'PROGRAM'
import ml_dtypes
import numpy as np

for dtype in (np.dtype("U"), np.dtypes.StringDType(), np.dtype("i4,f8"), np.dtype(ml_dtypes.bfloat16)):
    print(type(dtype).__name__, "256 or more:", dtype.num >= 256, "isbuiltin:", dtype.isbuiltin, "fields:", dtype.names)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
StrDType 256 or more: False isbuiltin: 1 fields: None
StringDType 256 or more: True isbuiltin: 0 fields: None
VoidDType 256 or more: False isbuiltin: 0 fields: ('f0', 'f1')
dtype[bfloat16] 256 or more: True isbuiltin: 2 fields: None
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
