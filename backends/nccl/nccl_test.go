package nccl

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	_ "dtl/backends/cuda" // which nccl asks for
	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu/gputest"
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/status"
)

// usable says that the GPUs of a backend are, and those of others are not.
func usable(names ...string) func(string) error {
	return func(name string) error {
		if slices.Contains(names, name) {
			return nil
		}
		return status.New(status.BackendUnavailable, "no driver of %s", name)
	}
}

func TestProbe(t *testing.T) {
	function := gputest.Function(t, `
int version_ok(int *version) { *version = 22703; return 0; }
int version_fails(int *version) { return 3; }
const char *text(int result) { return "internal error"; }
`)
	with := func(stub string) dl.Fake {
		all := map[string]unsafe.Pointer{}
		for _, name := range symbols() {
			all[name] = function("text")
		}
		all["ncclGetVersion"] = function(stub)
		return dl.Fake{"libnccl.so.2": {Symbols: all}, "librccl.so.1": {Symbols: all}}
	}
	rows := []struct {
		name   string
		probe  func(string) error
		opener dl.Opener
		want   string
	}{
		{"all there", usable("cuda"), with("version_ok"), ""},
		{"all there of AMD's", usable("hip"), with("version_ok"), ""},
		{"no GPUs", usable(), with("version_ok"), "NCCL needs CUDA: no driver of cuda"},
		{"library absent", usable("cuda", "hip"), dl.Fake{}, "no NCCL: cannot open libnccl.so.2"},
		{"AMD's library absent", usable("hip"), dl.Fake{"libnccl.so.2": {}}, "no NCCL: cannot open librccl.so.1"},
		{"symbol absent", usable("cuda"), dl.Fake{"libnccl.so.2": {}}, "which is too old: it has no ncclGetVersion"},
		{"version fails", usable("cuda"), with("version_fails"), "ncclGetVersion failed: error 3 (internal error)"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := newBackend(row.probe, row.opener).Probe()
			if row.want == "" {
				if err != nil {
					t.Errorf("not usable: %v", err)
				}
				return
			}
			if !errors.Is(err, status.BackendUnavailable) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want backend unavailable with %q", err, row.want)
			}
		})
	}
}

func TestProbeLooksOnce(t *testing.T) {
	looks := 0
	b := newBackend(func(string) error { looks++; return nil }, dl.Fake{})
	if b.Probe() != b.Probe() || looks != 1 {
		t.Errorf("looked %d times, want once", looks)
	}
}

func TestOnThisMachine(t *testing.T) {
	err := backend.Probe("nccl")
	t.Log(err)
	if err != nil && !errors.Is(err, status.BackendUnavailable) {
		t.Errorf("got %v, want nil or backend unavailable", err)
	}
	if cuda := backend.Probe("cuda"); cuda != nil && (err == nil || !strings.Contains(err.Error(), cuda.Error())) {
		t.Errorf("CUDA is unusable (%v), but nccl says %v", cuda, err)
	}
}

func TestVersions(t *testing.T) {
	for number, want := range map[int]string{2804: "2.8.4", 21400: "2.14.0", 22703: "2.27.3"} {
		if got := (&table{number: number}).version(); got != want {
			t.Errorf("%d: %s, want %s", number, got, want)
		}
	}
}

// TestWhatIsCombined holds that nothing is left to NCCL that it does in another way than the host.
func TestWhatIsCombined(t *testing.T) {
	rows := []struct {
		typ  dtype.Type
		op   kernel.Op
		want bool
	}{
		{dtype.Float64, kernel.Sum, true},
		{dtype.Float64, kernel.Min, false}, // it loses NaN
		{dtype.Float32, kernel.Max, false},
		{dtype.Int64, kernel.Max, true},
		{dtype.Int16, kernel.Sum, false},
		{dtype.Complex64, kernel.Sum, true},
		{dtype.Complex64, kernel.Prod, false},
		{dtype.Bool, kernel.LAnd, true},
		{dtype.Bool, kernel.BXor, false},
		{dtype.Int32, kernel.LAnd, false}, // 0 or 1, and not the least
		{dtype.Int32, kernel.BAnd, false},
		{dtype.Invalid, kernel.Sum, false},
	}
	for _, row := range rows {
		if _, got := combining(row.typ, row.op); got != row.want {
			t.Errorf("%s of %s: %v, want %v", row.op, row.typ, got, row.want)
		}
	}
}
