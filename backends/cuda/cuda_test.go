package cuda

import (
	"errors"
	"strings"
	"testing"

	"dtl/core/backend"
	"dtl/core/status"
)

// TestOnThisMachine holds on a machine with devices and on one without: Probe, DeviceCount and the registry agree.
func TestOnThisMachine(t *testing.T) {
	b, err := backend.Lookup("cuda")
	if err != nil {
		t.Fatal(err)
	}
	devices := b.(backend.DeviceProvider).DeviceCount()
	err = b.Probe()
	t.Logf("%d devices; %v", devices, err)
	if !errors.Is(err, status.BackendUnavailable) {
		t.Errorf("got %v, want backend unavailable", err)
	}
	if strings.Contains(err.Error(), "neither holds memory on GPUs") != (devices > 0) {
		t.Errorf("%d devices, but Probe says %v", devices, err)
	}
}
