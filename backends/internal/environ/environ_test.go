package environ

import (
	"errors"
	"os"
	"sync"
	"testing"
)

func TestSettingsAreThereDuringTheCallOnly(t *testing.T) {
	fault := errors.New("fault")
	settings := []Setting{{"DTL_TEST_NEW", "new"}, {"PATH", "not this"}}
	err := With(settings, func() error {
		if got := Get("DTL_TEST_NEW"); got != "new" {
			t.Errorf("DTL_TEST_NEW is %q within, want new", got)
		}
		if got := Get("PATH"); got != os.Getenv("PATH") {
			t.Errorf("PATH is %q within, want what it was", got)
		}
		return fault
	})
	if !errors.Is(err, fault) {
		t.Errorf("With returned %v, want the function's error", err)
	}
	if got, set := lookUp("DTL_TEST_NEW"); set {
		t.Errorf("DTL_TEST_NEW is %q afterwards", got)
	}
	if got := Get("PATH"); got != os.Getenv("PATH") {
		t.Errorf("PATH is %q afterwards, want what it was", got)
	}
}

func TestSettingOfOneThatIsEmpty(t *testing.T) {
	_ = With([]Setting{{"DTL_TEST_EMPTY", ""}}, func() error {
		return With([]Setting{{"DTL_TEST_EMPTY", "more"}}, func() error {
			if got := Get("DTL_TEST_EMPTY"); got != "" {
				t.Errorf("a variable that is set to nothing became %q", got)
			}
			return nil
		})
	})
}

// TestReadersFindWhatIsThere has threads read a variable while others come and go. With setenv and unsetenv, which change
// the table in place, they miss it, or read memory that was freed.
func TestReadersFindWhatIsThere(t *testing.T) {
	const times = 20000
	var all sync.WaitGroup
	for _, s := range []Setting{{"DTL_TEST_A", "a"}, {"DTL_TEST_B", "b"}, {"DTL_TEST_C", "c"}} {
		all.Go(func() {
			for range times {
				_ = With([]Setting{s}, func() error {
					if got := Get(s.Name); got != s.Value {
						t.Errorf("%s is %q, want %q", s.Name, got, s.Value)
					}
					return nil
				})
			}
		})
	}
	all.Wait()
}
