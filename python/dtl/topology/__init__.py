"""The machine: nodes, processors, and devices."""
