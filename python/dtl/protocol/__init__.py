"""NumPy's protocols on containers: what their operators, methods and NumPy's functions call.

Containers, and the algorithms on them, know nothing of this package. It names what each method calls, and gives the
methods to the class of all containers when that is made: programs that make none import nothing of this.
"""

from __future__ import annotations

from .._lazy import extensions, late

extensions["DistributedContainer"] = late(".protocol.methods", "install")
