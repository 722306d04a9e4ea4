package gpu

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
	"dtl/core/status"
)

func readPTX(t *testing.T, name string) string {
	t.Helper()
	text, err := made.ReadFile("kernels/" + name + ".ptx")
	must(t, err)
	return string(text)
}

// fuses finds the headers whose functions ask for fused multiplications, which the host has, too.
var fuses = regexp.MustCompile(`#include "(pairs|angles|exponentials)\.h"`)

// TestKernelsComputeAsTheHost: internal/lint tests that the PTX is of its source.
func TestKernelsComputeAsTheHost(t *testing.T) {
	for _, name := range sources {
		source, err := os.ReadFile("kernels/" + name + ".c")
		must(t, err)
		text := readPTX(t, name)
		fused := strings.Contains(text, "fma.") && !fuses.Match(source)
		if fused || strings.Contains(text, ".ftz") || strings.Contains(text, ".approx") {
			t.Errorf("kernels of %s round otherwise than the host", name)
		}
		_, entries, _ := strings.Cut(text, ".entry")
		if regexp.MustCompile(`(?m)^(\.visible )?\.(func|global|const)`).MatchString(entries) {
			t.Errorf("%s.ptx has more than entries behind the first, which a module of some of them would lack", name)
		}
	}
}

// TestKernelsAreMadeAnew makes them as `make kernels` does.
func TestKernelsAreMadeAnew(t *testing.T) {
	clang := os.Getenv("DTL_CLANG")
	if clang == "" {
		clang = "clang-19"
	}
	if _, err := exec.LookPath(clang); err != nil {
		t.Skipf("no %s, which Debian's package of that name has, or DTL_CLANG names; internal/lint compares hashes in any case", clang)
	}
	folder := t.TempDir()
	for _, name := range sources {
		if got := string(anew(t, clang, folder, name+".ptx")); got != readPTX(t, name) {
			t.Errorf("%s.ptx is not what %s makes of its source: make kernels", name, clang)
		}
	}
}

// withCodes has the code objects of a chip be made, and be those of this package until the test ends.
func withCodes(t *testing.T, chip string) string {
	t.Helper()
	clang := cmp.Or(os.Getenv("DTL_CLANG"), "clang-19")
	if exec.Command(clang, "--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "c", os.DevNull, "-o", os.DevNull).Run() != nil {
		t.Skipf("no %s that links code of AMD's chips, which needs Debian's clang-19 and lld-19", clang)
	}
	folder, before := t.TempDir(), codes
	for _, name := range sources {
		anew(t, clang, folder, codeOf(name, chip))
	}
	codes = func() fs.FS { return os.DirFS(folder) }
	t.Cleanup(func() { codes = before })
	return folder
}

// anew returns a file of kernels that is made in a folder.
func anew(t *testing.T, clang, folder, name string) []byte {
	t.Helper()
	file := filepath.Join(folder, name)
	made := exec.Command("make", "-s", "-C", "../../..", "CLANG="+clang, "KERNELS_OUT="+folder, "CODES_OUT="+folder, file)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("make: %v\n%s", err, out)
	}
	got, err := os.ReadFile(file)
	must(t, err)
	return got
}

// descriptors returns those of an AMD chip's kernels in code, by the kernels' names: 64 bytes of LLVM's amdhsa.kernel_descriptor_t.
func descriptors(t *testing.T, code []byte) map[string][]byte {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(code))
	must(t, err)
	symbols, err := file.DynamicSymbols()
	must(t, err)
	found := map[string][]byte{}
	for _, s := range symbols {
		if name, is := strings.CutSuffix(s.Name, ".kd"); is {
			in := file.Sections[s.Section]
			content, err := in.Data()
			must(t, err)
			found[name] = content[s.Value-in.Addr:][:64]
		}
	}
	return found
}

// TestChips makes code objects of each chip, has the driver compute with one, and compares them with the PTX.
func TestChips(t *testing.T) {
	for n, chip := range chips {
		t.Run(chip, func(t *testing.T) {
			if n > 0 && testing.Short() {
				t.Skip("its code takes a quarter of a minute to make; `make test-hip` does")
			}
			withCodes(t, chip)
			for _, name := range sources {
				sameKernels(t, name, chip)
			}
			t.Setenv("DTL_FAKE_GPU_ARCH", chip+":sramecc+:xnack-")
			must(t, everything(newDriver(t, amd).device(0)))
			t.Setenv("DTL_FAKE_GPU_ARCH", "gfx1030")
			_, err := newDriver(t, amd).Device(0)
			want := "GPU 0 (Fake GPU 0) cannot be used: it is a gfx1030, and this version of DTL has kernels for gfx90a, gfx942, gfx1100"
			if status.CodeOf(err) != status.BackendUnavailable || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// sameKernels holds that code computes as the host does: kernels ask for nothing that the driver is not told to give them, round to
// nearest, and keep the smallest numbers.
func sameKernels(t *testing.T, name, chip string) {
	t.Helper()
	code, err := codeObject(codeOf(name, chip))
	must(t, err)
	found := descriptors(t, code)
	entries := regexp.MustCompile(`(?m)\.entry (\w+)\([^\[]*\[(\d+)\]`).FindAllStringSubmatch(readPTX(t, name), -1)
	if len(found) != len(entries) || len(entries) == 0 {
		t.Errorf("%s.c has %d kernels for %s and %d in PTX", name, len(found), chip, len(entries))
	}
	for _, entry := range entries {
		d, want := found[entry[1]], 0
		if d == nil {
			t.Errorf("%s has no %s", chip, entry[1])
			continue
		}
		_, err := fmt.Sscan(entry[2], &want)
		must(t, err)
		word := func(at int) int { return int(binary.LittleEndian.Uint32(d[at:])) }
		const hidden = 256 // bytes that the driver adds for what a kernel may ask of it
		if own := word(8); own != want && own != want+hidden || word(0) != 0 {
			t.Errorf("%s of %s takes %d bytes and shares %d, want %d and none", entry[1], chip, own, word(0), want)
		}
		if modes := word(48) >> 12 & 0xff; modes != 0xf0 {
			t.Errorf("%s of %s computes in mode %#x", entry[1], chip, modes)
		}
	}
}

func TestABuildWithoutCodes(t *testing.T) {
	before := codes
	codes = func() fs.FS { return os.DirFS(t.TempDir()) }
	defer func() { codes = before }()
	t.Setenv("DTL_FAKE_GPU_ARCH", "gfx942:sramecc+:xnack-")
	_, err := newDriver(t, amd).Device(0)
	if status.CodeOf(err) != status.BackendUnavailable || !strings.Contains(err.Error(), "has no kernels for AMD's chips, which `make kernels-amd`") {
		t.Errorf("got %v, want that there are no kernels", err)
	}
}

// TestDriverHasTheSameKernels compares the PTX with what the host's compiler makes of the same source.
func TestDriverHasTheSameKernels(t *testing.T) { onEach(t, testDriverHasTheSameKernels) }

func testDriverHasTheSameKernels(t *testing.T, d driver) {
	file, err := elf.Open(d.Path())
	must(t, err)
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	must(t, err)
	var compiled, entries []string
	kernel := regexp.MustCompile(`^[a-z][a-z0-9_]*_((float|u?int|complex)(8|16|32|64|128)|bool)$|^merge_[a-z_]+$`)
	for _, s := range symbols {
		if kernel.MatchString(s.Name) {
			compiled = append(compiled, s.Name)
		}
	}
	for _, name := range sources {
		for _, found := range regexp.MustCompile(`(?m)\.entry (\w+)\(`).FindAllStringSubmatch(readPTX(t, name), -1) {
			entries = append(entries, found[1])
		}
	}
	slices.Sort(compiled)
	slices.Sort(entries)
	if len(entries) < 500 || !slices.Equal(compiled, entries) {
		t.Errorf("PTX has %v\nthe driver %v", entries, compiled)
	}
}

func TestElementwise(t *testing.T) { onEach(t, testElementwise) }

func testElementwise(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	for _, n := range []int{0, 1, 255, 256, 257, 2*mostBlocks*blockThreads + 3} {
		a, first := span(t, on.Memory(), n, dtype.Int32)
		out, second := span(t, on.Memory(), n, dtype.Int32)
		given, got := make([]int32, n), make([]int32, n)
		for i := range given {
			given[i] = int32(i)
		}
		must(t, q.Copy(a, memory.Of(dtype.Int32, given)))
		must(t, q.Elementwise("multiply", out, dtype.Int32, nil, [3]backend.Operand{{Span: a}, {Number: [2]uint64{3}}}))
		must(t, q.Elementwise("add", out, dtype.Int32, nil, [3]backend.Operand{{Span: out}, {Span: a}}))
		must(t, q.Copy(memory.Of(dtype.Int32, got), out))
		for i := range got {
			if got[i] != int32(4*i) {
				t.Fatalf("of %d elements, number %d is %d", n, i, got[i])
			}
		}
		first.Release()
		second.Release()
	}
	there, _ := span(t, on.Memory(), 0, dtype.Int32)
	err := q.Elementwise("sin", there, dtype.Int32, nil, [3]backend.Operand{})
	if status.CodeOf(err) != status.Unsupported || !strings.Contains(err.Error(), "sin_int32") {
		t.Errorf("got %v, want that there is no sin_int32", err)
	}
}

// TestEachFoldHasItsKernels looks for what core/kernel/fold names.
func TestEachFoldHasItsKernels(t *testing.T) { onEach(t, testEachFoldHasItsKernels) }

func testEachFoldHasItsKernels(t *testing.T, d driver) {
	on := d.device(0)
	for typ := range dtype.N {
		for f := range fold.NKinds {
			if how, ok := f.Device(typ); ok {
				for _, name := range []string{how.Name + "_" + typ.String(), "merge_" + how.Merge} {
					if _, err := on.kernels.named(on.driven, "reductions", name); err != nil {
						t.Errorf("%s of %s: %v", f, typ, err)
					}
				}
			}
		}
	}
}

// folded returns a fold of elements of int32.
func folded(t *testing.T, q backend.Queue, a memory.Span, f fold.Kind) fold.Number {
	t.Helper()
	how, _ := f.Device(dtype.Int32)
	found, err := q.Fold(backend.Reduction{Name: how.Name, Type: dtype.Int32, Merge: how.Merge}, a, memory.Span{})
	must(t, err)
	if len(found) > fewPartials {
		t.Errorf("%d partials are left to the host", len(found))
	}
	p := how.Merged(found)
	folding, err := f.Folding(dtype.Int32)
	must(t, err)
	number, err := folding.Finish(&p, int64(a.Count))
	must(t, err)
	return number
}

func TestFold(t *testing.T) { onEach(t, testFold) }

func testFold(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	for _, n := range []int{1, 255, 256, 257, 4096, 4097, fewPartials * eachThread, 200*blockThreads*eachThread + 3} {
		a, storage := span(t, on.Memory(), n, dtype.Int32)
		given := make([]int32, n)
		sum, least, at := int64(0), int32(1<<30), 0
		for i := range given {
			given[i] = int32(i*7919%n) - int32(n/3)
			sum += int64(given[i])
			if given[i] < least {
				least, at = given[i], i
			}
		}
		must(t, q.Copy(a, memory.Of(dtype.Int32, given)))
		for f, want := range map[fold.Kind]fold.Number{
			fold.Sum: fold.Integer(sum), fold.Min: fold.Integer(int64(least)), fold.ArgMin: fold.Integer(int64(at)),
		} {
			if got := folded(t, q, a, f); got != want {
				t.Errorf("%s of %d elements is %v, want %v", f, n, got, want)
			}
		}
		storage.Release()
	}
	a, _ := span(t, on.Memory(), 3, dtype.Complex64)
	if _, err := q.Fold(backend.Reduction{Name: "sum", Type: dtype.Complex64, Merge: "floats"}, a, memory.Span{}); status.CodeOf(err) !=
		status.Unsupported {
		t.Errorf("got %v, want that there is no such kernel", err)
	}
}

// TestLines folds lines in one piece and in many, beside each other and apart.
func TestLines(t *testing.T) { onEach(t, testLines) }

func testLines(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	for _, x := range [][4]int64{{1, 1, 1, 1}, {3, 31, 1, 1}, {1, 33, 3, 1}, {2, 20000, 1, 1}, {1, 3000, 40, 1}, {2, 30, 5, 20}, {0, 4, 5, 1}} {
		lines, elements := x[0]*x[2], x[1]*x[3]
		given, want := make([]int32, lines*elements), make([]int64, lines)
		for i := range given {
			given[i] = int32(i*7919%1000) - 300
			outer, inner := int64(i)/(x[1]*x[2]*x[3]), int64(i)/x[3]%x[2]
			want[outer*x[2]+inner] += int64(given[i])
		}
		a, first := span(t, on.Memory(), len(given), dtype.Int32)
		out, second := span(t, on.Memory(), len(want), dtype.Int64)
		must(t, q.Copy(a, memory.Of(dtype.Int32, given)))
		how := backend.Lines{Name: "sum", Type: dtype.Int32, Merge: "integers", Extents: x, Result: backend.LineCount, Divisor: 1}
		must(t, q.Lines(how, out, a, memory.Span{}))
		got := make([]int64, lines)
		must(t, q.Copy(memory.Of(dtype.Int64, got), out))
		if !slices.Equal(got, want) {
			t.Errorf("extents %v: got %v, want %v", x, got, want)
		}
		how.Name = "sine"
		if err := q.Lines(how, out, a, memory.Span{}); status.CodeOf(err) != status.Unsupported {
			t.Errorf("got %v, want that there is no such kernel", err)
		}
		first.Release()
		second.Release()
	}
}
