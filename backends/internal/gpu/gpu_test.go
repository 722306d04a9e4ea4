package gpu

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu/gputest"
	"dtl/core/status"
)

// stubs stand in for a vendor's functions in every state that a machine can be in.
const stubs = `
int init_ok(unsigned flags) { return flags == 0 ? 0 : 1; }
int init_no_device(unsigned flags) { return 100; }
int init_mismatch(unsigned flags) { return 803; }
int count_two(int *n) { *n = 2; return 0; }
int count_none(int *n) { *n = 0; return 0; }
int count_no_device(int *n) { *n = 7; return 100; }
int count_fails(int *n) { *n = 7; return 999; }
int text_ok(int code, const char **text) { *text = code == 803 ? "driver and library differ" : 0; return 0; }
int text_fails(int code, const char **text) { return 1; }
static int starts;
int init_counted(unsigned flags) { __sync_fetch_and_add(&starts, 1); return 0; }
int count_starts(int *n) { *n = starts; return 0; }
`

var vendor = API{
	Name: "cuda", Driver: "NVIDIA driver", Libraries: []string{"libcuda.so.1"},
	Init: "cuInit", Count: "cuDeviceGetCount", ErrorText: "cuGetErrorString",
}

func TestProbe(t *testing.T) {
	function := gputest.Function(t, stubs)
	rows := []struct {
		name              string
		init, count, text string // the stub behind each of the vendor's functions; none: symbol absent
		devices           int
		want              string
	}{
		{"all there", "init_ok", "count_two", "text_ok", 2, "NVIDIA driver found (libcuda.so.1), which is too old: it has no cuDeviceGet"},
		{"no text for errors, none needed", "init_ok", "count_two", "", 2, "which is too old"},
		{"no init", "", "count_two", "text_ok", 0, "libcuda.so.1 has no symbol cuInit"},
		{"no count", "init_ok", "", "text_ok", 0, "libcuda.so.1 has no symbol cuDeviceGetCount"},
		{"init sees no device", "init_no_device", "count_two", "text_ok", 0, "(libcuda.so.1), but it sees no device"},
		{"init fails", "init_mismatch", "count_two", "text_ok", 0, "cuInit failed: error 803 (driver and library differ)"},
		{"init fails, no text function", "init_mismatch", "count_two", "", 0, "cuInit failed: error 803"},
		{"init fails, text fails", "init_mismatch", "count_two", "text_fails", 0, "error 803 (no text for it)"},
		{"zero devices", "init_ok", "count_none", "text_ok", 0, "NVIDIA driver found (libcuda.so.1), but it sees no device"},
		{"count sees no device", "init_ok", "count_no_device", "text_ok", 0, "but it sees no device"},
		{"count fails, unknown error", "init_ok", "count_fails", "text_ok", 0, "cuDeviceGetCount failed: error 999 (no text for it)"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			symbols := map[string]unsafe.Pointer{}
			for symbol, stub := range map[string]string{vendor.Init: row.init, vendor.Count: row.count, vendor.ErrorText: row.text} {
				if stub != "" {
					symbols[symbol] = function(stub)
				}
			}
			wantProbe(t, New(vendor, dl.Fake{"libcuda.so.1": {Symbols: symbols}}), row.devices, row.want)
		})
	}
}

func TestProbeWithoutLibrary(t *testing.T) {
	wantProbe(t, New(vendor, dl.Fake{}), 0, "no NVIDIA driver: cannot open libcuda.so.1")
	wantProbe(t, New(vendor, dl.Fake{"libcuda.so.1": {Broken: "wrong ELF class"}}), 0, "wrong ELF class")
}

// wantProbe checks that a backend sees so many devices, and is unavailable for the reason.
func wantProbe(t *testing.T, b *Backend, devices int, reason string) {
	t.Helper()
	if n := b.DeviceCount(); n != devices {
		t.Errorf("%d devices, want %d", n, devices)
	}
	err := b.Probe()
	if !errors.Is(err, status.BackendUnavailable) || !strings.Contains(err.Error(), reason) {
		t.Errorf("got %v, want backend unavailable with %q", err, reason)
	}
}

func TestProbeAsksOnce(t *testing.T) {
	function := gputest.Function(t, stubs)
	b := New(vendor, dl.Fake{"libcuda.so.1": {Symbols: map[string]unsafe.Pointer{
		vendor.Init: function("init_counted"), vendor.Count: function("count_starts")}}})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := b.Probe(); !strings.Contains(err.Error(), "which is too old") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if started, _ := Integer(function("count_starts")); started != 1 || b.DeviceCount() != 1 {
		t.Errorf("the driver was started %d times, want once", started)
	}
}
