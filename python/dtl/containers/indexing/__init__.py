"""Access to the elements of containers by subscripts, regions and masks."""
