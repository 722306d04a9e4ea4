"""The array API standard: the namespace that ``dtl.array_api`` returns, and what differs from dtl's functions."""
