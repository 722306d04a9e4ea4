package lint

import (
	"strings"
	"testing"
)

func TestImportDirection(t *testing.T) {
	check(t, importDirection, []planted{
		{"core imports core", "core/comm/a.go", "package comm\nimport (\n\"fmt\"\n\"dtl/core/status\"\n)", ""},
		{"core imports a backend", "core/comm/a.go", "package comm\nimport \"dtl/backends/cpu\"", "does not import backends/cpu"},
		{"core imports pydtl", "core/comm/a.go", "package comm\nimport \"dtl/pydtl\"", "does not import pydtl"},
		{"core imports numpybridge", "core/comm/a.go", "package comm\nimport \"dtl/numpybridge\"", "does not import numpybridge"},
		{"a core test imports a backend", "core/comm/a_test.go", "package comm\nimport \"dtl/backends/cpu\"", ""},
		{"backend imports its own", "backends/mpi/a.go", "package mpi\nimport \"dtl/backends/mpi/abi\"", ""},
		{"backend imports internal", "backends/mpi/a.go", "package mpi\nimport \"dtl/backends/internal/dl\"", ""},
		{"backend imports another", "backends/nccl/a.go", "package nccl\nimport \"dtl/backends/cuda\"", "does not import backends/cuda"},
		{"backend imports container", "backends/mpi/a.go", "package mpi\nimport \"dtl/core/container\"", "does not import core/container"},
		{"backend imports runtime", "backends/mpi/a.go", "package mpi\nimport \"dtl/core/runtime\"", "does not import core/runtime"},
		{"a longer name", "backends/mpi/a.go", "package mpi\nimport \"dtl/core/backendx\"", "does not import core/backendx"},
		{"bridge imports a backend", "numpybridge/a.go", "package numpybridge\nimport \"dtl/backends/cpu\"", "does not import backends/cpu"},
		{"bridge's own", "numpybridge/embedtest/a.go", "package embedtest\nimport \"dtl/numpybridge\"", ""},
		{"pydtl imports everything", "pydtl/a.go", "package pydtl\nimport (\n\"dtl/backends/cpu\"\n\"dtl/numpybridge\"\n\"dtl/core/comm\"\n)", ""},
		{"new directory", "cmd/a.go", "package cmd", "in no layer"},
	})
}

func TestCgo(t *testing.T) {
	check(t, cgoInNamedFiles, []planted{
		{"named file", "core/board/cma/cma.go", "package cma\nimport \"C\"", ""},
		{"named directory", "backends/mpi/call.go", "package mpi\nimport \"C\"", ""},
		{"other file beside it", "core/memory/span.go", "package memory\nimport \"C\"", `import "C"`},
		{"no cgo", "core/memory/span.go", "package memory\nimport \"unsafe\"", ""},
	})
}

func TestNames(t *testing.T) {
	check(t, tellingNames, []planted{
		{"noun", "core/rma/window.go", "package rma", ""},
		{"Go package", "core/x/a.go", "package util", "util"},
		{"directory", "core/common/a.go", "package shared", "common"},
		{"Python module", "python/dtl/_helpers.py", "", "_helpers"},
		{"Go file", "core/rma/manager.go", "package rma", ""},
	})
}

func TestLengths(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	check(t, fileLength, []planted{
		{"Go at the limit", "core/a.go", "package core" + lines(800), ""},
		{"Go above", "core/a.go", "package core" + lines(801), "801 lines, limit 800"},
		{"Python above", "python/dtl/a.py", lines(801), "801 lines, limit 800"},
		{"test above", "core/a_test.go", "package core" + lines(801), "801 lines, limit 800"},
	})
	check(t, functionLength, []planted{
		{"at the limit", "core/a.go", "package core\nfunc f() {" + lines(39) + "}", ""},
		{"above", "core/a.go", "package core\nfunc f() {" + lines(40) + "}", "f has 41 lines, limit 40"},
		{"method above", "core/a.go", "package core\ntype t int\nfunc (t) f() {" + lines(40) + "}", "f has 41 lines"},
		{"test above", "core/a_test.go", "package core\nfunc f() {" + lines(40) + "}", "f has 41 lines"},
		{"table in a test", "core/a_test.go", "package core\nfunc f() {\nx := []int{" + lines(40) + "}\n}", ""},
		{"table elsewhere", "core/a.go", "package core\nfunc f() {\nx := []int{" + lines(40) + "}\n}", "f has 43 lines"},
	})
}

func TestDocumentation(t *testing.T) {
	const missing = "has no comment that starts with its name"
	check(t, documented, []planted{
		{"function", "core/a.go", "package core\n// F does.\nfunc F() {}", ""},
		{"function without", "core/a.go", "package core\nfunc F() {}", "F " + missing},
		{"function with another name", "core/a.go", "package core\n// It does.\nfunc F() {}", "F " + missing},
		{"hidden function", "core/a.go", "package core\nfunc f() {}", ""},
		{"method without", "core/a.go", "package core\nfunc (t *T[E]) M() {}", "M " + missing},
		{"method of a hidden type", "core/a.go", "package core\nfunc (t *t[E]) M() {}", ""},
		{"type with an article", "core/a.go", "package core\n// A T is.\ntype T int", ""},
		{"type without", "core/a.go", "package core\ntype T int", "T " + missing},
		{"constant without", "core/a.go", "package core\nconst C = 1", "C " + missing},
		{"variable with another name", "core/a.go", "package core\n// Things.\nvar V = 1", "V " + missing},
		{"group", "core/a.go", "package core\n// The codes.\nconst (\nA = 1\nB = 2\n)", ""},
		{"line of a group", "core/a.go", "package core\nconst (\nA = 1 // first\n)", ""},
		{"group without", "core/a.go", "package core\nconst (\nA = 1\nb = 2\n)", "A " + missing},
		{"type in a group", "core/a.go", "package core\n// Types.\ntype (\nT int\n)", "T " + missing},
		{"test", "core/a_test.go", "package core\nfunc TestF() {}", ""},
	})
}

func TestSignatures(t *testing.T) {
	check(t, gopySignatures, []planted{
		{"scalar", "pydtl/a.go", "package pydtl\nfunc F() bool { return true }", ""},
		{"scalar and error", "pydtl/a.go", "package pydtl\nfunc F(a, b int64, c uintptr, d float64, e bool, f string) (n int64, err error) { return }", ""},
		{"hidden", "pydtl/a.go", "package pydtl\nfunc f(a []int) {}", ""},
		{"other package", "core/a.go", "package core\nfunc F(a []int) {}", ""},
		{"slice parameter", "pydtl/a.go", "package pydtl\nfunc F(a []int64) bool { return true }", "parameter of type []int64"},
		{"unsigned parameter", "pydtl/a.go", "package pydtl\nfunc F(a int64, b uint64) bool { return true }", "parameter of type uint64"},
		{"variadic", "pydtl/a.go", "package pydtl\nfunc F(a ...int64) bool { return true }", "parameter of type ...int64"},
		{"callback", "pydtl/a.go", "package pydtl\nfunc F(a func()) bool { return true }", "parameter of type func()"},
		{"no result", "pydtl/a.go", "package pydtl\nfunc F() {}", "results ()"},
		{"only an error", "pydtl/a.go", "package pydtl\nfunc F() error { return nil }", "results (error)"},
		{"two scalars", "pydtl/a.go", "package pydtl\nfunc F() (a, b int64) { return }", "results (int64, int64)"},
		{"three results", "pydtl/a.go", "package pydtl\nfunc F() (a, b int64, err error) { return }", "results (int64, int64, error)"},
		{"pointer result", "pydtl/a.go", "package pydtl\nfunc F() (*int64, error) { return nil, nil }", "results (*int64, error)"},
		{"type parameters", "pydtl/a.go", "package pydtl\nfunc F[T any]() bool { return true }", "type parameters"},
		{"exported type", "pydtl/a.go", "package pydtl\ntype T int", "T: pydtl exports functions only"},
		{"exported constant", "pydtl/a.go", "package pydtl\nconst C = 1", "C: pydtl exports functions only"},
		{"method", "pydtl/a.go", "package pydtl\nfunc (t) M() bool { return true }", "M: a method"},
	})
}

func TestGuards(t *testing.T) {
	const missing = "does not start with defer guard"
	check(t, guarded, []planted{
		{"guarded", "pydtl/a.go", "package pydtl\nfunc F() (n int64, err error) {\ndefer guard(&err)\nreturn\n}", ""},
		{"no guard", "pydtl/a.go", "package pydtl\nfunc F() (n int64, err error) { return }", missing},
		{"guard second", "pydtl/a.go", "package pydtl\nfunc F() (n int64, err error) {\nn = f()\ndefer guard(&err)\nreturn\n}", missing},
		{"not deferred", "pydtl/a.go", "package pydtl\nfunc F() (n int64, err error) {\nguard(&err)\nreturn\n}", missing},
		{"guard of another error", "pydtl/a.go", "package pydtl\nfunc F() (n int64, err error) {\ndefer guard(&other)\nreturn\n}", missing},
		{"another function", "pydtl/a.go", "package pydtl\nfunc F() (n int64, err error) {\ndefer close(&err)\nreturn\n}", missing},
		{"empty", "pydtl/a.go", "package pydtl\nfunc F() {}", missing},
		{"hidden", "pydtl/a.go", "package pydtl\nfunc f() {}", ""},
		{"entry from C", "numpybridge/a.go", "package numpybridge\n//export f\nfunc f(c int) {\ndefer guard(c)\n}", ""},
		{"entry from C without", "numpybridge/a.go", "package numpybridge\n// f does.\n//\n//export f\nfunc f() {}", missing},
		{"Go's own", "numpybridge/a.go", "package numpybridge\nfunc F() {}", ""},
	})
}

func TestDtypes(t *testing.T) {
	const table = "var T = map[dtype.Type]int{dtype.Int8: 1, dtype.Bool: 2}\n"
	const choice = "func f(t dtype.Type) {\nswitch t {\ncase dtype.Int8:\n}\n}\n"
	check(t, dtypeSwitches, []planted{
		{"kernel", "core/kernel/a.go", "package kernel\n" + table + choice, ""},
		{"core", "core/comm/a.go", "package comm\n" + choice, "a switch on dtypes"},
		{"table in core", "core/comm/a.go", "package comm\n" + table, "a table of dtypes outside"},
		{"backend's table", "backends/mpi/a.go", "package mpi\n" + table, ""},
		{"backend's second table", "backends/mpi/a.go", "package mpi\n" + table + "func f() {\n" + table + "}", "a second table of dtypes in mpi"},
		{"backend's switch", "backends/mpi/a.go", "package mpi\n" + choice, "a switch on dtypes"},
		{"test", "core/comm/a_test.go", "package comm\n" + table + choice, ""},
		{"another package", "core/comm/a.go", "package comm\nfunc f(t int) {\nswitch t {\ncase status.OK:\n}\n}", ""},
	})
}

func TestWholeDtypeTables(t *testing.T) {
	const whole = "var A = [dtype.N]func(){dtype.Int8: f, dtype.Bool: nil}\n"
	check(t, wholeDtypeTables, []planted{
		{"whole", "core/kernel/a.go", "package kernel\n" + whole + "var B = [dtype.N]int{dtype.Int8: 1, dtype.Bool: 2}", ""},
		{"a type is missing", "core/kernel/fold/a.go", "package fold\n" + whole + "var B = [dtype.N]int{dtype.Int8: 1}", "without Bool"},
		{"elsewhere", "core/comm/a.go", "package comm\n" + whole + "var B = [dtype.N]int{dtype.Int8: 1}", ""},
	})
}

func TestDtypeLists(t *testing.T) {
	const all = "FLOAT64, DTL_FLOAT32, int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex64 complex128"
	check(t, dtypeLists, []planted{
		{"in a room", "core/kernel/x.c", "// " + all, ""},
		{"elsewhere", "numpybridge/x.c", "/* " + all + " */", "a list of dtypes"},
		{"in Python", "python/dtl/comm/x.py", all, "a list of dtypes"},
		{"in a test", "python/tests/x.py", all, ""},
		{"some", "core/comm/x.c", "float64 float32 int64 uint8 bool complex128", ""},
		{"other words", "core/comm/x.c", strings.NewReplacer("6", "6_", "nt", "nt_").Replace(all), ""},
	})
}
