"""The distributed hash map."""
