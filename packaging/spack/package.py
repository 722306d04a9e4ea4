"""A recipe for Spack. There is no archive of a release yet: ``spack develop --path . py-pydtl@main`` builds a clone.

The package opens the MPI library of the environment at run time, so any of them fits one build.
"""

from spack.package import *


class PyPydtl(PythonPackage):
    """Distributed containers, collectives and one-sided memory for NumPy programs, on one process or many."""

    version("main")

    license("BSD-3-Clause")

    variant("mpi", default=True, description="Bring an MPI library")
    variant("io", default=False, description="Read and write HDF5, Parquet and Zarr")
    variant("lakes", default=False, description="Read tables of Delta Lake and Iceberg")
    variant("launch", default=False, description="Send functions to other ranks that are defined in a notebook")
    variant("linalg", default=False, description="Compute with SciPy's functions of matrices")
    variant("mpi4py", default=False, description="Share communicators with mpi4py")
    variant("remote", default=False, description="Read files of other machines")
    variant("plot", default=False, description="Draw how arrays are divided")
    variant("progress", default=False, description="Show how far a program is")
    variant("sparse", default=False, description="Sparse matrices")
    variant("sql", default=False, description="Read tables of databases")

    depends_on("c", type="build")
    depends_on("go@1.26:", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("py-setuptools@70.1:", type="build")
    depends_on("py-pybindgen@0.22.1", type="build")
    depends_on("py-numpy@1.20:", type=("build", "run"))
    depends_on("mpi", type="run", when="+mpi")
    depends_on("py-h5py@3.0:", type="run", when="+io")
    depends_on("py-pyarrow@14.0.1:", type="run", when="+io")
    depends_on("py-zarr@3.1:", type="run", when="+io")
    depends_on("py-deltalake@1.0:", type="run", when="+lakes")
    depends_on("py-pyiceberg@0.8:", type="run", when="+lakes")
    depends_on("py-cloudpickle@2.0:", type="run", when="+launch")
    depends_on("py-scipy@1.6:", type="run", when="+linalg")
    depends_on("py-mpi4py@4.0:", type="run", when="+mpi4py")
    depends_on("py-aiohttp@3.8:", type="run", when="+remote")
    depends_on("py-fsspec@2022.5:", type="run", when="+remote")
    depends_on("py-matplotlib@3.5:", type="run", when="+plot")
    depends_on("py-tqdm@4.60:", type="run", when="+progress")
    depends_on("py-scipy@1.8:", type="run", when="+sparse")
    depends_on("py-pyamg@4.2:", type="run", when="+sparse")
    depends_on("py-adbc-driver-manager@1.0:", type="run", when="+sql")
    depends_on("py-adbc-driver-sqlite@1.0:", type="run", when="+sql")

    conflicts("platform=darwin", msg="shared memory and processes are Linux's")

    def setup_run_environment(self, env):
        """Name the MPI library of the specification, so that no other is found first."""
        if "+mpi" in self.spec:
            env.set("DTL_MPI_LIB", self.spec["mpi"].libs.joined())
