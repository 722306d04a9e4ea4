package pydtl

import (
	"dtl/backends/local"
	"dtl/backends/mpi"
	"dtl/backends/shmem"
	"dtl/core/watchdog"
)

func init() {
	watchdog.Program.End = func() { _, _ = MpiAbort(1) } // the caller ends this process, if nothing else does
}

// MpiSearchIn has a folder searched for an MPI library before the default search path.
func MpiSearchIn(folder string) (ok bool, err error) {
	defer guard(&err)
	mpi.SearchIn(folder)
	return true, nil
}

// MpiActive reports whether a launcher started this process, or MPI is initialised in it. It opens nothing.
func MpiActive() (active bool, err error) {
	defer guard(&err)
	return mpi.Active(), nil
}

// MpiThreadLevel returns the thread level that MPI gave, 0 to 3, or -1 while it is not initialised.
func MpiThreadLevel() (level int64, err error) {
	defer guard(&err)
	return int64(mpi.ThreadLevel()), nil
}

// MpiProgram returns which of the programs of the launcher's command this process runs, from 0, or -1 where MPI is not
// initialised or does not say.
func MpiProgram() (number int64, err error) {
	defer guard(&err)
	return int64(mpi.Program()), nil
}

// MpiAbort ends every process of the job with an exit status. It returns false if this process is none of several.
func MpiAbort(status int64) (aborted bool, err error) {
	defer guard(&err)
	if local.Abort(int(status)) || shmem.Abort(int(status)) {
		return true, nil
	}
	return mpi.Abort(int(status))
}

// MpiPath returns the file of the MPI library that is used, or would be.
func MpiPath() (path string, err error) {
	defer guard(&err)
	d, err := mpi.Describe()
	return d.Path, err
}

// MpiAbi returns the name of that library's ABI.
func MpiAbi() (abi string, err error) {
	defer guard(&err)
	d, err := mpi.Describe()
	return string(d.ABI), err
}

// MpiVersion returns the first line of that library's own description.
func MpiVersion() (version string, err error) {
	defer guard(&err)
	d, err := mpi.Describe()
	return d.Version, err
}

// MpiSource returns why that library was chosen.
func MpiSource() (source string, err error) {
	defer guard(&err)
	d, err := mpi.Describe()
	return d.Source, err
}
