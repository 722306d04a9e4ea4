package mpi

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// headerCheck compares one of our headers, OURS, with the real one, REAL, in the compiler. Where the real
// Status stands in a function's parameters, ours does in functions.h.
const headerCheck = `
#include <stddef.h>
#include <stdint.h>
#include REAL
#define Status Ours
#include OURS
#undef Status
#define Status MPI_Status
#define ADDRESS(name) (&name)
#include "functions.h"

#define SAME_TYPE(name) _Static_assert(__builtin_types_compatible_p(name, MPI_##name), #name);
SAME_TYPE(Comm) SAME_TYPE(Datatype) SAME_TYPE(Op) SAME_TYPE(Request) SAME_TYPE(Message)
SAME_TYPE(Errhandler) SAME_TYPE(Info) SAME_TYPE(Win) SAME_TYPE(Aint) SAME_TYPE(Count)

#define SAME_FUNCTION(name, parameters) \
	_Static_assert(__builtin_types_compatible_p(__typeof__(MPI_##name), int parameters), "MPI_" #name);
FUNCTIONS(SAME_FUNCTION)

_Static_assert(sizeof(Ours) == sizeof(MPI_Status), "size of Status");
_Static_assert(_Alignof(Ours) == _Alignof(MPI_Status), "alignment of Status");
_Static_assert(offsetof(Ours, source) == offsetof(MPI_Status, MPI_SOURCE), "Status.source");
_Static_assert(offsetof(Ours, tag) == offsetof(MPI_Status, MPI_TAG), "Status.tag");
_Static_assert(offsetof(Ours, error) == offsetof(MPI_Status, MPI_ERROR), "Status.error");

// Handles that are addresses of symbols are compared as such: the compiler knows that one equals itself.
#define SAME_HANDLE(name) _Static_assert((HANDLE)(name) == (HANDLE)(MPI_##name), #name);
SAME_HANDLE(COMM_NULL) SAME_HANDLE(COMM_WORLD) SAME_HANDLE(COMM_SELF) SAME_HANDLE(REQUEST_NULL)
SAME_HANDLE(INFO_NULL) SAME_HANDLE(WIN_NULL) SAME_HANDLE(ERRORS_RETURN) SAME_HANDLE(BYTE) SAME_HANDLE(DOUBLE) SAME_HANDLE(FLOAT)
SAME_HANDLE(INT64_T) SAME_HANDLE(INT32_T) SAME_HANDLE(INT16_T) SAME_HANDLE(INT8_T)
SAME_HANDLE(UINT64_T) SAME_HANDLE(UINT32_T) SAME_HANDLE(UINT16_T) SAME_HANDLE(UINT8_T)
SAME_HANDLE(C_FLOAT_COMPLEX) SAME_HANDLE(C_DOUBLE_COMPLEX)
SAME_HANDLE(SUM) SAME_HANDLE(PROD) SAME_HANDLE(MIN) SAME_HANDLE(MAX)
SAME_HANDLE(LAND) SAME_HANDLE(LOR) SAME_HANDLE(BAND) SAME_HANDLE(BOR) SAME_HANDLE(BXOR)
SAME_HANDLE(REPLACE) SAME_HANDLE(NO_OP)

#define SAME_INTEGER(name) _Static_assert((intptr_t)(name) == (intptr_t)(MPI_##name), #name);
SAME_INTEGER(SUCCESS) SAME_INTEGER(ERR_OTHER) SAME_INTEGER(ANY_SOURCE) SAME_INTEGER(ANY_TAG)
SAME_INTEGER(PROC_NULL) SAME_INTEGER(UNDEFINED) SAME_INTEGER(TAG_UB) SAME_INTEGER(COMM_TYPE_SHARED)
SAME_INTEGER(THREAD_SINGLE) SAME_INTEGER(THREAD_FUNNELED) SAME_INTEGER(THREAD_SERIALIZED)
SAME_INTEGER(THREAD_MULTIPLE) SAME_INTEGER(MODE_NOCHECK) SAME_INTEGER(STATUS_IGNORE)
`

var headers = []struct {
	abi    ABI
	real   string
	where  string // in an installation
	ours   string
	handle string // the type that handles are compared in
}{
	{OpenMPI, "mpi.h", "include/openmpi/../mpi.h", "abi_openmpi.h", "const char *"},
	{MPICH, "mpi.h", "include/mpi_proto.h", "abi_mpich.h", "intptr_t"},
	{Standard, "mpi_abi.h", "include/mpi_abi.h", "abi_standard.h", "intptr_t"},
}

// compile compiles headerCheck with our header taken from dir.
func compile(t *testing.T, dir, include, realName, ours, handle string) (string, error) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "check.c")
	text := strings.NewReplacer("include REAL", `include "`+realName+`"`, "include OURS", `include "`+ours+`"`).Replace(headerCheck)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cc", "-std=gnu11", "-fsyntax-only", "-DHANDLE="+handle, "-I", dir, "-I", ".", "-I", include, source)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestHeaders holds every constant, type, size, offset and prototype of our headers against the real ones.
func TestHeaders(t *testing.T) {
	for _, h := range headers {
		t.Run(string(h.abi), func(t *testing.T) {
			include := installationWith(t, h.where).path("include")
			if out, err := compile(t, ".", include, h.real, h.ours, h.handle); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestHeadersNoticeMistakes makes mistakes in copies of our headers, which the compiler must refuse.
func TestHeadersNoticeMistakes(t *testing.T) {
	mistakes := map[ABI][][2]string{
		OpenMPI: {
			{"ADDRESS(ompi_mpi_double)", "ADDRESS(ompi_mpi_float)"}, {"#define TAG_UB 0", "#define TAG_UB 1"},
			{"int cancelled;", "long cancelled;"}, {"struct ompi_op_t *Op", "struct ompi_info_t *Op"},
		},
		MPICH: {
			{"0x4c00080b", "0x4c00080a"}, {"0x5800000d", "0x5800000e"}, {"ANY_SOURCE (-2)", "ANY_SOURCE (-1)"}, {"\tint count_lo;\n", ""}, {"typedef long Aint", "typedef int Aint"},
		},
		Standard: {
			{"0x259", "0x258"}, {"THREAD_MULTIPLE 4096", "THREAD_MULTIPLE 3"}, {"internal[5]", "internal[3]"}, {"ANY_TAG (-2)", "ANY_TAG (-1)"},
		},
	}
	for _, h := range headers {
		t.Run(string(h.abi), func(t *testing.T) {
			include := installationWith(t, h.where).path("include")
			for _, m := range mistakes[h.abi] {
				if out, err := compile(t, mistaken(t, h.ours, m), include, h.real, h.ours, h.handle); err == nil {
					t.Errorf("%q for %q is not noticed\n%s", m[1], m[0], out)
				}
			}
		})
	}
}

// mistaken returns a folder with a copy of a header in which a text is replaced.
func mistaken(t *testing.T, header string, mistake [2]string) string {
	t.Helper()
	text, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), mistake[0]) {
		t.Fatalf("%s has no %q", header, mistake[0])
	}
	dir := t.TempDir()
	text = []byte(strings.ReplaceAll(string(text), mistake[0], mistake[1]))
	if err := os.WriteFile(filepath.Join(dir, header), text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
