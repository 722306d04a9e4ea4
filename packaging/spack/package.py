"""A recipe for Spack. There is no archive of a release yet: ``spack develop --path . py-pydtl@main`` builds a clone.

The package opens the MPI library of the environment at run time, so any of them fits one build.
"""

from spack.package import *


class PyPydtl(PythonPackage):
    """Distributed containers, collectives and one-sided memory for NumPy programs, on one process or many."""

    version("main")

    license("BSD-3-Clause")

    variant("mpi", default=True, description="Bring an MPI library")
    variant("io", default=False, description="Read and write HDF5 and Parquet")

    depends_on("c", type="build")
    depends_on("go@1.26:", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("py-setuptools@70.1:", type="build")
    depends_on("py-pybindgen@0.22.1", type="build")
    depends_on("py-numpy@1.20:", type=("build", "run"))
    depends_on("mpi", type="run", when="+mpi")
    depends_on("py-h5py@3:", type="run", when="+io")
    depends_on("py-pyarrow@6:", type="run", when="+io")

    conflicts("platform=darwin", msg="shared memory and processes are Linux's")

    def setup_run_environment(self, env):
        """Name the MPI library of the specification, so that no other is found first."""
        if "+mpi" in self.spec:
            env.set("DTL_MPI_LIB", self.spec["mpi"].libs.joined())
