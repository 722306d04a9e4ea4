"""The commands of ``python -m dtl``: each is a module with a function main."""


class UsageError(Exception):
    """What the user asked for cannot be run, answered with exit code 2: the text is a sentence that names the value."""


class ArgumentsError(UsageError):
    """It is not written as the command takes it: the text is followed by the command's usage."""
