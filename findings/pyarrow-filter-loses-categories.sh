#!/bin/sh
# Guess: a filter of a table that keeps no row gives what a slice or take of no rows gives: columns of no rows, with the categories of
# before.
#
# Seen: filter gives a column without chunks, so that its categories are gone; slice and take keep them. A column of categories that a
# mask happened to empty has other categories in pandas than one that was sliced.
#
#   slice 1 ['a', 'b']
#   take 1 ['a', 'b']
#   filter 0 []
#
# Versions: pyarrow 26.0.1, pandas 3.1.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1 pandas==3.1.1
cat >"$folder/program.py" <<'PROGRAM'
import pyarrow as pa

table = pa.table({"key": pa.array(["a", "b"]).dictionary_encode()})
for name, none in (
    ("slice", table.slice(0, 0)),
    ("take", table.take(pa.array([], pa.int64()))),
    ("filter", table.filter(pa.array([False, False]))),
):
    print(name, none["key"].num_chunks, none["key"].to_pandas().cat.categories.tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
slice 1 ['a', 'b']
take 1 ['a', 'b']
filter 0 []
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
