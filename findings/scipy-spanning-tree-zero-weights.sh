#!/bin/sh
# Guess: a stored zero is an edge of length zero for all of scipy.sparse.csgraph: dijkstra walks along it and connected_components
# counts it, so a minimum spanning tree of a connected graph of n vertices has n - 1 edges.
#
# Seen: minimum_spanning_tree chooses the edge, and then removes what is zero from its result. The tree of a connected graph falls
# apart, and nothing says so.
#
#   stored 2 dijkstra [0.0, 0.0, 2.0]
#   graph 2 edges 1 components
#   tree 1 edges 2 components
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

lengths, rows, columns = np.array([0.0, 2.0]), np.array([0, 1]), np.array([1, 2])
graph = csr_array((lengths, (rows, columns)), shape=(3, 3))
print("stored", graph.nnz, "dijkstra", csgraph.dijkstra(graph, directed=False, indices=0).tolist())
tree = csgraph.minimum_spanning_tree(graph)
for name, each in (("graph", graph), ("tree", tree)):
    print(name, each.nnz, "edges", csgraph.connected_components(each, directed=False)[0], "components")
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
stored 2 dijkstra [0.0, 0.0, 2.0]
graph 2 edges 1 components
tree 1 edges 2 components
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
