#!/bin/sh
# Guess: breadth_first_order(graph, i) and depth_first_order of a vertex that the graph does not have raise IndexError or ValueError.
#
# Seen: for a number that is too large, an IndexError is printed to stderr as one that is ignored, and the result is that of a vertex
# which nothing leads to, without that vertex itself; a program goes on with it. For a negative number, OverflowError is raised.
#
#   breadth_first_order [] [-9999, -9999]
#   breadth_first_order OverflowError
#   depth_first_order [] [-9999, -9999]
#   depth_first_order OverflowError
#   ignored: 2
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet scipy==1.17.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, depth_first_order

graph = csr_array([[0, 1], [0, 0]])
for search in (breadth_first_order, depth_first_order):
    print(search.__name__, *(found.tolist() for found in search(graph, 2)))
    try:
        search(graph, -1)
    except OverflowError:
        print(search.__name__, "OverflowError")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
breadth_first_order [] [-9999, -9999]
breadth_first_order OverflowError
depth_first_order [] [-9999, -9999]
depth_first_order OverflowError
ignored: 2
OUTPUT
"$folder/env/bin/python" "$folder/program.py" >"$folder/seen" 2>"$folder/said"
echo "ignored: $(grep -c '^Exception ignored' "$folder/said")" >>"$folder/seen"
diff "$folder/expected" "$folder/seen"
