package nccl

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	_ "dtl/backends/cuda" // which nccl asks for
	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu/gputest"
	"dtl/core/backend"
	"dtl/core/status"
)

func usable() error { return nil }

func TestProbe(t *testing.T) {
	function := gputest.Function(t, `
int version_ok(int *version) { *version = 22703; return 0; }
int version_fails(int *version) { return 3; }
`)
	with := func(stub string) dl.Fake {
		return dl.Fake{"libnccl.so.2": {Symbols: map[string]unsafe.Pointer{"ncclGetVersion": function(stub)}}}
	}
	noDriver := func() error { return status.New(status.BackendUnavailable, "no NVIDIA driver") }
	rows := []struct {
		name   string
		cuda   func() error
		opener dl.Opener
		want   string
	}{
		{"all there", usable, with("version_ok"), ""},
		{"no CUDA", noDriver, with("version_ok"), "NCCL needs CUDA: no NVIDIA driver"},
		{"library absent", usable, dl.Fake{}, "no NCCL: cannot open libnccl.so.2"},
		{"symbol absent", usable, dl.Fake{"libnccl.so.2": {}}, "libnccl.so.2 has no symbol ncclGetVersion"},
		{"version fails", usable, with("version_fails"), "ncclGetVersion failed: error 3"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			err := newBackend(row.cuda, row.opener).Probe()
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
	b := newBackend(func() error { looks++; return nil }, dl.Fake{})
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
