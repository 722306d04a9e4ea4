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

// TestTableIsTheVendors compiles calls of the functions by the vendor's own header, with the parameters that driver.h has for them:
// as many, pointers where it has pointers, and integers that are no wider.
func TestTableIsTheVendors(t *testing.T) {
	folder := os.Getenv("DTL_CUDA_INCLUDE")
	if folder == "" {
		t.Skip("no cuda.h; runs where DTL_CUDA_INCLUDE names its folder, such as that of the wheel nvidia-cuda-runtime-cu12")
	}
	text, err := os.ReadFile("driver.h")
	must(t, err)
	var source strings.Builder
	source.WriteString("#include <cuda.h>\ntypedef unsigned long long gpu_address;\ntypedef CUipcMemHandle gpu_handle;\n")
	flat := strings.ReplaceAll(string(text), "\\\n", " ")
	rows := regexp.MustCompile(`X\((\w+), "(\w+)",\s*(\([^)]*\))\)`).FindAllStringSubmatch(flat, -1)
	if len(rows) != len(symbols()) {
		t.Fatalf("%d functions were found in driver.h, and %d are in the table", len(rows), len(symbols()))
	}
	last := regexp.MustCompile(`(\w+)\s*(?:,|\)$)`)
	for _, row := range rows {
		var names []string
		for _, found := range last.FindAllStringSubmatch(row[3], -1) {
			if found[1] != "void" {
				names = append(names, found[1])
			}
		}
		fmt.Fprintf(&source, "int check_%s%s { return (int)%s(%s); }\n", row[1], row[3], row[2], strings.Join(names, ", "))
	}
	source.WriteString(constants)
	made := exec.Command("cc", "-c", "-x", "c", "-", "-I", folder, "-o", filepath.Join(t.TempDir(), "calls.o"), "-Werror=int-conversion",
		"-Werror=implicit-function-declaration", "-Wno-incompatible-pointer-types")
	made.Stdin = strings.NewReader(source.String())
	if out, err := made.CombinedOutput(); err != nil {
		t.Errorf("cc: %v\n%s", err, out)
	}
}

// constants are those that driver.c and table.go have by number.
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
SAME(CUDA_ERROR_NOT_FOUND, 500);
SAME(sizeof(CUdeviceptr), 8);
SAME(sizeof(CUresult), 4);
SAME(sizeof(CUipcMemHandle), 64);
SAME(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, 1);
SAME(sizeof(CUuuid), 16);
`
