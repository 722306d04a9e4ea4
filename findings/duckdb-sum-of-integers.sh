#!/bin/sh
# Guess: The sum of a column of 64-bit integers comes to Python as an exact integer, by whichever method a result is fetched.
#
# Seen: The sum is of HUGEINT, of 128 bits. fetchall() has it exactly, and Arrow's table as decimal128(38, 0), but the frame of pandas and the
# arrays of fetchnumpy() have float64: above 2**53, digits are lost without a word, although the sum has room in int64.
#
#   fetchall 9007199254740993
#   arrow decimal128(38, 0) 9007199254740993
#   pandas float64 9007199254740992
#   numpy float64
#
# Versions: DuckDB 2.0.1, pandas 3.1.1, pyarrow 26.0.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet duckdb==2.0.1 pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import duckdb

found = duckdb.sql("select sum(x) as s from (values (9007199254740992::bigint), (1::bigint)) t(x)")
print("fetchall", found.fetchall()[0][0])
print("arrow", found.to_arrow_table().schema.field("s").type, found.to_arrow_table()["s"][0])
print("pandas", found.df()["s"].dtype, int(found.df()["s"][0]))
print("numpy", found.fetchnumpy()["s"].dtype)
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
fetchall 9007199254740993
arrow decimal128(38, 0) 9007199254740993
pandas float64 9007199254740992
numpy float64
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
