"""PageRank and components by igraph, of the graph that by_dtl.py has written on one rank."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import igraph
import numpy as np
from asked import part, tell


def main() -> None:
    """Answer."""
    given = part(Path(sys.argv[1]), "power", 0)
    count = len(given["indptr"]) - 1
    rows = np.repeat(np.arange(count), np.diff(given["indptr"]))
    edges = np.column_stack([rows, given["indices"]])
    graph = igraph.Graph(n=count, edges=edges, directed=True)
    graph.es["weight"] = given["data"].tolist()
    for question in sys.argv[2:]:
        started = time.perf_counter()
        if question == "components":
            found = len(graph.connected_components(mode="weak"))
        else:
            found = max(graph.pagerank(weights="weight", damping=0.85))  # PRPACK, which goes to the accuracy of numbers
        tell(question, time.perf_counter() - started, found)


if __name__ == "__main__":
    main()
