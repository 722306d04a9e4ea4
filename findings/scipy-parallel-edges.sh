#!/bin/sh
# Guess: of two edges between the same nodes, the shorter one is on a shortest path, in SciPy as in networkx; and that does not depend
# on the format in which the graph is given.
#
# Seen: of a graph as coo_array, the lengths of parallel edges are added up, as they become a CSR array first, so the path is longer
# than any of its edges needs. Of a csr_array that holds the same two elements, the shorter counts. So a graph of a list of edges
# has other distances than the same one in CSR format, without a warning.
#
#   coo_array [11.0, 11.0, 11.0]
#   csr_array [6.0, 6.0, 6.0]
#   networkx  6.0
#
# Versions: SciPy 1.17.1, NumPy 2.4.6, networkx 3.6.1, Python 3.11.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/python" -m pip install --quiet numpy==2.4.6 scipy==1.17.1 networkx==3.6.1
cat >"$folder/program.py" <<'PROGRAM'
import networkx
import numpy as np
import scipy.sparse
from scipy.sparse import csgraph

lengths, starts, ends = np.array([5.0, 2.0, 4.0]), np.array([0, 0, 1]), np.array([1, 1, 2])
listed = scipy.sparse.coo_array((lengths, (starts, ends)), shape=(3, 3))
by_rows = scipy.sparse.csr_array((lengths, ends, np.array([0, 2, 3, 3])), shape=(3, 3))
for name, graph in (("coo_array", listed), ("csr_array", by_rows)):
    print(name, [float(way(graph)[0, 2]) for way in (csgraph.dijkstra, csgraph.bellman_ford, csgraph.johnson)])
graph = networkx.MultiDiGraph()
graph.add_weighted_edges_from(zip(starts.tolist(), ends.tolist(), lengths.tolist()))
print("networkx ", networkx.dijkstra_path_length(graph, 0, 2))
PROGRAM
cat >"$folder/expected" <<'OUTPUT'
coo_array [11.0, 11.0, 11.0]
csr_array [6.0, 6.0, 6.0]
networkx  6.0
OUTPUT
timeout 300 "$folder/env/bin/python" "$folder/program.py" >"$folder/seen"
cat "$folder/seen"
diff "$folder/expected" "$folder/seen"
