#!/bin/sh
# Guess: ordered categories keep their order in a Parquet file that pandas writes and reads: the file has pandas' metadata, and
# what comes back is an ordered Categorical. Whether the file's pages are compressed by dictionaries does not matter.
#
# Seen: with use_dictionary=False, which others recommend for columns of many different values, the categories come back in the
# order in which they appear in the rows, still called ordered. Comparisons, sorts, min and max then give other answers, without
# a warning. With dictionaries, the order is right.
#
#   small < large when written; the rows are large, small
#   True:  ['small', 'large'], ordered True, smallest 'small'
#   False: ['large', 'small'], ordered True, smallest 'large'
#
# Versions: pandas 3.1.1, pyarrow 26.0.1, numpy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import io

import pandas as pd

frame = pd.DataFrame({"size": pd.Categorical(["large", "small"], ["small", "large"], ordered=True)})
for use_dictionary in (True, False):
    file = io.BytesIO()
    frame.to_parquet(file, use_dictionary=use_dictionary)
    file.seek(0)
    size = pd.read_parquet(file)["size"]
    print(f"{use_dictionary}: {list(size.cat.categories)}, ordered {size.cat.ordered}, smallest {size.min()!r}")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
True: ['small', 'large'], ordered True, smallest 'small'
False: ['large', 'small'], ordered True, smallest 'large'
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
