"""What NumPy has as the default of arguments that can be None."""

from __future__ import annotations

from typing import Any

import numpy as np

NO_VALUE: Any = np._NoValue
