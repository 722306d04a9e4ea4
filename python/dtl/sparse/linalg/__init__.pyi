from .conjugate import cg as cg
from .norms import norm as norm
from .operators import LinearOperator as LinearOperator
from .operators import aslinearoperator as aslinearoperator
from .preconditioners import jacobi as jacobi
from .residuals import gmres as gmres
from .stabilized import bicgstab as bicgstab
from .symmetric import minres as minres
