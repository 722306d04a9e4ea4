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
	if err != nil && !errors.Is(err, status.BackendUnavailable) {
		t.Errorf("got %v, want nil or backend unavailable", err)
	}
	if old := err != nil && strings.Contains(err.Error(), "which is too old"); (err == nil || old) != (devices > 0) {
		t.Errorf("%d devices, but Probe says %v", devices, err)
	}
}
