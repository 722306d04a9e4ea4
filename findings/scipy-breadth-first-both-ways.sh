#!/bin/sh
# Guess: breadth_first_order of an undirected graph visits the neighbours of a vertex in ascending order, as it does those of a
# directed one, so that it makes no difference whether an edge is stored once or in both directions.
#
# Seen: with directed=False, neighbours by edges that are stored from a vertex come before those by edges that are stored to it.
# The same undirected graph, stored in both directions, has another order.
#
#   once [0, 3, 1, 2]
#   both ways [0, 1, 2, 3]
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet scipy==1.17.1 numpy==2.4.6
cat >"$folder/program.py" <<'PROGRAM'
import numpy as np
from scipy.sparse import csgraph, csr_array

once = csr_array((np.ones(3), (np.array([1, 0, 2]), np.array([0, 3, 0]))), shape=(4, 4))
for name, graph in (("once", once), ("both ways", csr_array(once + once.T))):
    order, before = csgraph.breadth_first_order(graph, 0, directed=False)
    print(name, order.tolist())
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
once [0, 3, 1, 2]
both ways [0, 1, 2, 3]
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
