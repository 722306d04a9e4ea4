"""The commands of ``python -m dtl``: each is a module with a function main."""


class UsageError(Exception):
    """A mistake of the user, answered with exit code 2: the text is one sentence that names the value."""
