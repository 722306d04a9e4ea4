"""Which of Open MPI's parameters the user has set already."""

from __future__ import annotations

import os
from typing import Mapping, Sequence


def chosen(name: str, environ: Mapping[str, str], arguments: Sequence[str], files: Sequence[str]) -> bool:
    """Say whether a parameter is set in the environment, the launcher's arguments or a parameter file."""
    if f"OMPI_MCA_{name}" in environ or any(_sets(path, name) for path in files):
        return True
    pairs = zip(arguments, arguments[1:])
    return any(option.lstrip("-") in ("mca", "gmca", "omca") and value == name for option, value in pairs)


def files(launcher: str, environ: Mapping[str, str]) -> list[str]:
    """Return the parameter files that Open MPI reads: the user's and the installation's, or those named."""
    named = environ.get("OMPI_MCA_mca_base_param_files")
    if named:
        return [path for path in named.replace(",", ":").split(":") if path]
    home = environ.get("HOME", os.path.expanduser("~"))
    prefix = os.path.dirname(os.path.dirname(os.path.abspath(launcher)))
    return [
        os.path.join(home, ".openmpi", "mca-params.conf"),
        os.path.join(prefix, "etc", "openmpi-mca-params.conf"),
        "/etc/openmpi/openmpi-mca-params.conf",
    ]


def _sets(path: str, name: str) -> bool:
    """Say whether a parameter file has a line for the parameter."""
    try:
        with open(path, errors="replace") as file:
            return any(line.partition("=")[0].strip() == name for line in file)
    except OSError:
        return False
