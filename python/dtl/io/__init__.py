"""Files: containers loaded and saved by all ranks at once, and checkpoints."""
