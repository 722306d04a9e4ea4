#!/bin/sh
# Guess: with newlines_in_values=True, pyarrow.csv reads what is in quotes as it is, wherever the blocks end in which it reads
# the file: blocks are a matter of speed.
#
# Seen: if a CRLF within a quoted value lies on the border of two blocks, of which the default size is 1 MiB, its LF is lost. The
# same value elsewhere in the file keeps it. use_threads makes no difference.
#
#   on the border of blocks: 'zz\rend'
#   a byte before it:        'z\r\nend'
#
# Versions: pyarrow 26.0.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pyarrow==26.0.1
cat >"$folder/program.py" <<'PROGRAM'
import io

import pyarrow.csv as csv

BLOCK = 1 << 20
for name, size in (("on the border of blocks", BLOCK - 1), ("a byte before it", BLOCK - 2)):
    text = "a\n" + "row\n" * ((BLOCK - 100) // 4) + '"'
    text += "z" * (size - len(text)) + '\r\nend"\n'
    options = csv.ParseOptions(newlines_in_values=True)
    table = csv.read_csv(io.BytesIO(text.encode()), parse_options=options)
    print(f"{name}: {table['a'][-1].as_py()[-6:]!r}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
on the border of blocks: 'zz\rend'
a byte before it: 'z\r\nend'
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
