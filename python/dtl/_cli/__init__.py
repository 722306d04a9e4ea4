"""The command line: ``python -m dtl run`` and ``python -m dtl info``."""
