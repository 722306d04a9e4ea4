package nccl

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTableIsTheVendors compares library.h with the vendor's own header: the functions, how many parameters they have, which of them
// are pointers, and how large the others are; the layouts; and the numbers.
func TestTableIsTheVendors(t *testing.T) {
	folder := os.Getenv("DTL_NCCL_INCLUDE")
	if folder == "" {
		t.Skip("no nccl.h; runs where DTL_NCCL_INCLUDE names its folder, such as nvidia/nccl/include of the wheel nvidia-nccl-cu12")
	}
	ours, err := os.ReadFile("library.h")
	if err != nil {
		t.Fatal(err)
	}
	headers := t.TempDir()
	for name, content := range map[string]string{"library.h": string(ours), "cuda_runtime.h": ofCUDA, "cuda_fp16.h": ""} {
		if err := os.WriteFile(filepath.Join(headers, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := exec.Command("c++", "-std=c++17", "-fsyntax-only", "-x", "c++", "-", "-I", headers, "-I", folder)
	made.Stdin = strings.NewReader(comparison)
	if out, err := made.CombinedOutput(); err != nil {
		t.Errorf("c++: %v\n%s", err, out)
	}
}

// ofCUDA is what nccl.h needs of CUDA's headers.
const ofCUDA = `
#include <stddef.h>
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
`

const comparison = `
#include <type_traits>
#include <nccl.h>
#include "library.h"

template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> && std::is_class_v<A> == std::is_class_v<B>;

template <class R, class... P, class S, class... Q>
constexpr bool same(R (*)(P...), S (*)(Q...)) {
    if constexpr (sizeof...(P) == sizeof...(Q))
        return alike<R, S> && (alike<P, Q> && ...);
    return false;
}

#define X(field, name, result, parameters) static_assert(same(&name, decltype(nccl_table::field)()), #name);
NCCL_FUNCTIONS(X)

#define SAME(theirs, ours) static_assert((long long)(theirs) == (long long)(ours), #theirs)
SAME(ncclSuccess, 0);
SAME(ncclInProgress, 7);
SAME(ncclInt8, 0);
SAME(ncclUint8, 1);
SAME(ncclInt32, 2);
SAME(ncclUint32, 3);
SAME(ncclInt64, 4);
SAME(ncclUint64, 5);
SAME(ncclFloat32, 7);
SAME(ncclFloat64, 8);
SAME(ncclSum, 0);
SAME(ncclProd, 1);
SAME(ncclMax, 2);
SAME(ncclMin, 3);
#ifdef NCCL_API_MAGIC /* which older headers have in an initialiser alone */
SAME(NCCL_API_MAGIC, 0xcafebeef);
#endif

#define AT(member) SAME(offsetof(ncclConfig_t, member), offsetof(nccl_config, member))
AT(size);
AT(magic);
AT(version);
AT(blocking);
`
