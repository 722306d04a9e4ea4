#!/bin/sh
# Guess: an Arrow array whose null_count is 0 has no missing value: is_null() is False everywhere, and code that fills or drops
# missing values may be left out.
#
# Seen: an array with a dictionary may have its nulls in the dictionary (null_encoding="encode"). null_count counts those of the
# indices, and is 0; is_null() and to_pylist() look the values up, and find them. is_null().true_count is the number to ask for.
#
#   null_count 0, is_null [False, True], values ['a', None]
#
# Versions: pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import pyarrow as pa

array = pa.array(["a", None]).dictionary_encode(null_encoding="encode")
print(f"null_count {array.null_count}, is_null {array.is_null().to_pylist()}, values {array.to_pylist()}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
null_count 0, is_null [False, True], values ['a', None]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
