package mpi

/*
#include <stdlib.h>
#include "calls.h"

int64_t dtl_mpi_count_limit = 0x7fffffff;

static int initialized(int (*mpi_initialized)(int *)) {
	int flag = 0;
	return mpi_initialized(&flag) == 0 && flag;
}

static int abi_major(int (*mpi_abi_get_version)(int *, int *)) {
	int major = -1, minor = -1;
	return mpi_abi_get_version(&major, &minor) == 0 ? major : -1;
}

typedef int (*flag_function)(int *);
typedef int (*version_function)(int *, int *);
*/
import "C"

import (
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/status"
)

// The numbers of calls.h are those of the core: a difference is a constant that does not fit.
const (
	_ = uint(C.DTL_TYPES-int(dtype.N)) + uint(int(dtype.N)-C.DTL_TYPES)
	_ = uint(C.DTL_FLOAT64-int(dtype.Float64)) + uint(int(dtype.Float64)-C.DTL_FLOAT64)
	_ = uint(C.DTL_UINT64-int(dtype.Uint64)) + uint(int(dtype.Uint64)-C.DTL_UINT64)
	_ = uint(C.DTL_BOOL-int(dtype.Bool)) + uint(int(dtype.Bool)-C.DTL_BOOL)
	_ = uint(C.DTL_COMPLEX128-int(dtype.Complex128)) + uint(int(dtype.Complex128)-C.DTL_COMPLEX128)
	_ = uint(C.DTL_OPS-int(kernel.NOps)) + uint(int(kernel.NOps)-C.DTL_OPS)
	_ = uint(C.DTL_SUM-int(kernel.Sum)) + uint(int(kernel.Sum)-C.DTL_SUM)
	_ = uint(C.DTL_PROD-int(kernel.Prod)) + uint(int(kernel.Prod)-C.DTL_PROD)
	_ = uint(C.DTL_MIN-int(kernel.Min)) + uint(int(kernel.Min)-C.DTL_MIN)
	_ = uint(C.DTL_MAX-int(kernel.Max)) + uint(int(kernel.Max)-C.DTL_MAX)
	_ = uint(C.DTL_LAND-int(kernel.LAnd)) + uint(int(kernel.LAnd)-C.DTL_LAND)
	_ = uint(C.DTL_LOR-int(kernel.LOr)) + uint(int(kernel.LOr)-C.DTL_LOR)
	_ = uint(C.DTL_BAND-int(kernel.BAnd)) + uint(int(kernel.BAnd)-C.DTL_BAND)
	_ = uint(C.DTL_BOR-int(kernel.BOr)) + uint(int(kernel.BOr)-C.DTL_BOR)
	_ = uint(C.DTL_BXOR-int(kernel.BXor)) + uint(int(kernel.BXor)-C.DTL_BXOR)
	_ = uint(C.DTL_REPLACE-int(kernel.Replace)) + uint(int(kernel.Replace)-C.DTL_REPLACE)
	_ = uint(C.DTL_NO_OP-int(kernel.NoOp)) + uint(int(kernel.NoOp)-C.DTL_NO_OP)
)

// calls is the table of one ABI's calls, filled with a library's functions.
type calls struct{ c *C.struct_dtl_mpi }

// bind fills the table of the given ABI with the library's functions.
func bind(abi ABI, library *dl.Library) (calls, error) {
	m := map[ABI]*C.struct_dtl_mpi{
		MPICH: &C.dtl_mpi_mpich, OpenMPI: &C.dtl_mpi_openmpi, Standard: &C.dtl_mpi_standard,
	}[abi]
	for _, s := range unsafe.Slice(m.symbols, int(m.symbol_count)) {
		p, err := library.Symbol(C.GoString(s.name))
		if err != nil {
			return calls{}, err
		}
		*s.slot = p
	}
	C.dtl_mpi_call_ready(m)
	return calls{m}, nil
}

// isInitialized reports whether MPI is initialised and not finalised in a library of any ABI.
func isInitialized(library *dl.Library) bool {
	return flag(library, "MPI_Initialized") && !flag(library, "MPI_Finalized")
}

func flag(library *dl.Library, name string) bool {
	p, err := library.Symbol(name)
	return err == nil && C.initialized(C.flag_function(p)) != 0
}

// abiMajor calls an MPI_Abi_get_version.
func abiMajor(function unsafe.Pointer) int { return int(C.abi_major(C.version_function(function))) }

// setCountLimit sets the most elements that one MPI call is given, and returns what it was. For tests.
func setCountLimit(n int64) int64 {
	before := int64(C.dtl_mpi_count_limit)
	C.dtl_mpi_count_limit = C.int64_t(n)
	return before
}

// version returns the library's own description of itself.
func (m calls) version() string {
	text := make([]C.char, 8192) // the largest MPI_MAX_LIBRARY_VERSION_STRING
	var length C.int
	if C.dtl_mpi_library_version(m.c, &text[0], &length) != 0 {
		return ""
	}
	return C.GoStringN(&text[0], length)
}

// failure makes an error of what a call returned, in MPI's own words. nil for success.
func (m calls) failure(call string, code C.int) error {
	if code == 0 {
		return nil
	}
	if code == C.DTL_MPI_FINALIZED {
		return errFinalized
	}
	text := make([]C.char, 8192)
	var length C.int
	if C.dtl_mpi_error_string(m.c, code, &text[0], &length) != 0 {
		return status.New(status.Communication, "%s: error code %d", call, int(code))
	}
	return status.New(status.Communication, "%s: %s", call, C.GoStringN(&text[0], length))
}

var errFinalized = status.New(status.Communication,
	"MPI has been finalised in this process, and cannot be started again")

func (m calls) initialized() bool {
	var yes C.int
	return C.dtl_mpi_initialized(m.c, &yes) == 0 && yes != 0
}

func (m calls) finalized() bool {
	var yes C.int
	return C.dtl_mpi_finalized(m.c, &yes) == 0 && yes != 0
}

// start initialises MPI, whose end at exit is then this library's too.
func (m calls) start() error {
	var level C.int
	return m.failure("MPI_Init_thread", C.dtl_mpi_init(m.c, &level))
}

// threadLevel returns the level that was given.
func (m calls) threadLevel() (int, error) {
	var level C.int
	err := m.failure("MPI_Query_thread", C.dtl_mpi_query_thread(m.c, &level))
	return int(level), err
}

// program returns which of the job's programs this process runs, or -1 where the library does not say.
func (m calls) program() (int, error) {
	var number C.int
	err := m.failure("MPI_Comm_get_attr", C.dtl_mpi_program(m.c, &number))
	return int(number), err
}

// mainThread reports whether the calling thread is the one that initialised MPI.
func (m calls) mainThread() (bool, error) {
	var yes C.int
	err := m.failure("MPI_Is_thread_main", C.dtl_mpi_is_thread_main(m.c, &yes))
	return yes != 0, err
}

// stop finalises MPI if this library started it, and reports whether it did.
func (m calls) stop() (bool, error) {
	var ours C.int
	err := m.failure("MPI_Finalize", C.dtl_mpi_finalize(m.c, &ours))
	return ours != 0, err
}

func (m calls) abort(code int) error {
	return m.failure("MPI_Abort", C.dtl_mpi_abort(m.c, C.int(code)))
}
