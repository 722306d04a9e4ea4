#!/bin/sh
# Guess: a cast between the layouts of lists that Arrow has changes the layout, not the values.
#
# Seen: from views of lists to lists, the last value is lost, without an error. Python's values of the same column are whole.
#
#   [[1], [2, 3], [4]]
#   [[1], [2, 3], []]
#
# Versions: pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import pyarrow as pa

column = pa.array([[1], [2, 3], [4]], pa.list_view(pa.int8()))
print(column.to_pylist())
print(column.cast(pa.list_(pa.int8())).to_pylist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
[[1], [2, 3], [4]]
[[1], [2, 3], []]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
