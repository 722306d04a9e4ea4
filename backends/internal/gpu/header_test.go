package gpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// header is a vendor's.
type header struct {
	api                          API
	variable, advice, text, same string // the variable with its folder, where that comes from, how it begins, and what it numbers
	name                         int    // which of a row's names is the vendor's
}

var headers = []header{
	{vendor, "DTL_CUDA_INCLUDE", "cuda.h; runs where DTL_CUDA_INCLUDE names its folder, such as that of the wheel nvidia-cuda-runtime-cu12",
		"#include <cuda.h>\ntypedef unsigned long long gpu_address;\ntypedef CUipcMemHandle gpu_handle;\n", constants, 2},
	{amd, "DTL_HIP_INCLUDE", "hip/hip_runtime_api.h; runs where DTL_HIP_INCLUDE names its folder, of ROCm 6 or later",
		"#define __HIP_PLATFORM_AMD__\n#include <hip/hip_runtime_api.h>\ntypedef void *gpu_address;\ntypedef hipIpcMemHandle_t gpu_handle;\n",
		constantsOfHIP, 3},
}

// TestTableIsTheVendors compiles calls of the functions by the vendor's own header, with the parameters that driver.h has for them:
// as many, pointers where it has pointers, and integers that are no wider.
func TestTableIsTheVendors(t *testing.T) {
	for _, h := range headers {
		t.Run(h.api.Name, func(t *testing.T) { tableIsTheVendors(t, h) })
	}
}

func tableIsTheVendors(t *testing.T, h header) {
	folder := os.Getenv(h.variable)
	if folder == "" {
		t.Skipf("no %s", h.advice)
	}
	text, err := os.ReadFile("driver.h")
	must(t, err)
	var source strings.Builder
	source.WriteString(h.text)
	flat := strings.ReplaceAll(string(text), "\\\n", " ")
	rows := regexp.MustCompile(`X\((\w+), "(\w*)", "(\w*)",\s*(\([^)]*\))\)`).FindAllStringSubmatch(flat, -1)
	if len(rows) != len(h.api.symbols()) {
		t.Fatalf("%d functions were found in driver.h, and %d are in the table", len(rows), len(h.api.symbols()))
	}
	last := regexp.MustCompile(`(\w+)\s*(?:,|\)$)`)
	for _, row := range rows {
		if row[h.name] == "" {
			continue
		}
		var names []string
		for _, found := range last.FindAllStringSubmatch(row[4], -1) {
			if found[1] != "void" {
				names = append(names, found[1])
			}
		}
		fmt.Fprintf(&source, "int check_%s%s { return (int)%s(%s); }\n", row[1], row[4], row[h.name], strings.Join(names, ", "))
	}
	source.WriteString(h.same)
	made := exec.Command("cc", "-c", "-x", "c", "-", "-I", folder, "-o", filepath.Join(t.TempDir(), "calls.o"), "-Werror=int-conversion",
		"-Werror=implicit-function-declaration", "-Wno-incompatible-pointer-types")
	made.Stdin = strings.NewReader(source.String())
	if out, err := made.CombinedOutput(); err != nil {
		t.Errorf("cc: %v\n%s", err, out)
	}
}

// constants compares the numbers that driver.c, vendors.c and table.go use with the vendor's names of them.
const constants = `
#define SAME(name, number) _Static_assert((int)(name) == (number), #name)
SAME(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83);
SAME(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 89);
SAME(CU_POINTER_ATTRIBUTE_IS_MANAGED, 8);
SAME(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9);
SAME(CU_MEM_ATTACH_GLOBAL, 1);
SAME(CU_MEMHOSTALLOC_PORTABLE, 1);
SAME(CU_STREAM_NON_BLOCKING, 1);
SAME(CU_EVENT_DISABLE_TIMING, 2);
SAME(CUDA_ERROR_INVALID_VALUE, 1);
SAME(CUDA_ERROR_OUT_OF_MEMORY, 2);
SAME(CUDA_ERROR_DEINITIALIZED, 4);
SAME(CUDA_ERROR_NO_DEVICE, 100);
SAME(CUDA_ERROR_NO_BINARY_FOR_GPU, 209);
SAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222);
SAME(CUDA_ERROR_ILLEGAL_ADDRESS, 700);
SAME(CUDA_ERROR_LAUNCH_TIMEOUT, 702);
SAME(CUDA_ERROR_ASSERT, 710);
SAME(CUDA_ERROR_HARDWARE_STACK_ERROR, 714);
SAME(CUDA_ERROR_LAUNCH_FAILED, 719);
SAME(CUDA_ERROR_NOT_FOUND, 500);
SAME(sizeof(CUdeviceptr), 8);
SAME(sizeof(CUresult), 4);
SAME(sizeof(CUipcMemHandle), 64);
SAME(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, 1);
SAME(sizeof(CUuuid), 16);
`

const constantsOfHIP = `
#define SAME(name, number) _Static_assert((int)(name) == (number), #name)
SAME(hipDeviceAttributeManagedMemory, 24);
SAME(hipDeviceAttributeConcurrentManagedAccess, 9);
SAME(HIP_POINTER_ATTRIBUTE_IS_MANAGED, 8);
SAME(HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9);
SAME(hipMemAttachGlobal, 1);
SAME(hipHostMallocPortable, 1);
SAME(hipStreamNonBlocking, 1);
SAME(hipEventDisableTiming, 2);
SAME(hipMemcpyDefault, 4);
SAME(hipErrorInvalidValue, 1);
SAME(hipErrorOutOfMemory, 2);
SAME(hipErrorDeinitialized, 4);
SAME(hipErrorNoDevice, 100);
SAME(hipErrorNoBinaryForGpu, 209);
SAME(hipErrorNotFound, 500);
SAME(hipErrorIllegalAddress, 700);
SAME(hipErrorLaunchTimeOut, 702);
SAME(hipErrorAssert, 710);
SAME(hipErrorLaunchFailure, 719);
SAME(hipErrorNotReady, 600);
SAME(sizeof(hipDeviceptr_t), 8);
SAME(sizeof(hipError_t), 4);
SAME(sizeof(hipIpcMemHandle_t), 64);
SAME(hipIpcMemLazyEnablePeerAccess, 1);
SAME(sizeof(hipUUID), 16);
SAME(sizeof(hipDeviceProp_tR0600), 1472);
SAME(__builtin_offsetof(hipDeviceProp_tR0600, gcnArchName), 1160);
SAME(sizeof(((hipDeviceProp_tR0600 *)0)->gcnArchName), 256);
`
