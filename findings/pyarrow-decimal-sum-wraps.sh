#!/bin/sh
# Guess: a sum of decimals that has more digits than its type raises, as pyarrow.compute.add of two decimals does, or is of a wider type.
#
# Seen: pyarrow.compute.sum, and the sum of a group, of decimal128(38, 0) is decimal128(38, 0), and wraps around: two positive numbers
# have a negative sum. add names the digits that the type lacks. In decimal256(76, 0), the sum is right.
#
#   sum decimal128(38, 0) True
#   of a group decimal128(38, 0) True
#   add Decimal precision out of range [1, 38]: 39
#   wide True
#
# Versions: pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

x = pa.array([Decimal("9" * 38)] * 2, pa.decimal128(38, 0))
print("sum", pc.sum(x).type, pc.sum(x).as_py() < 0)
group = pa.table({"key": [1, 1], "x": x}).group_by("key").aggregate([("x", "sum")])
print("of a group", group["x_sum"].type, group["x_sum"][0].as_py() < 0)
try:
    pc.add(x, x)
except pa.ArrowInvalid as error:
    print("add", error)
print("wide", int(pc.sum(x.cast(pa.decimal256(76, 0))).as_py()) == 2 * (10**38 - 1))
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
sum decimal128(38, 0) True
of a group decimal128(38, 0) True
add Decimal precision out of range [1, 38]: 39
wide True
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
