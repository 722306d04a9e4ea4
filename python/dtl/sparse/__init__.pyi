from .array import csc_array as csc_array
from .array import csr_array as csr_array
