# The public names of dtl.random, one a line, as in the stub of dtl.

from .generator import Generator as Generator
