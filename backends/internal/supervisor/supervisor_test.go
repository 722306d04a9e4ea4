package supervisor

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"dtl/backends/internal/environ"
)

// TestReports leaves the connection open: its end would end this process.
func TestReports(t *testing.T) {
	name := fmt.Sprintf("dtl-supervisor-test-%d", os.Getpid())
	listener, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: "@" + name, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	_ = environ.With([]environ.Setting{{Name: "DTL_RUN", Value: name}, {Name: "PMI_RANK", Value: "3"}}, func() error {
		Ended(1) // of a process that has joined nothing: not told
		Starting()
		Starting()
		return nil
	})
	Joined()
	Starting()
	Joined()
	Ended(5)
	connection, err := listener.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	if err := connection.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3 starting 0", "3 joined 0", "3 ended 5"} {
		record := make([]byte, 100)
		n, err := connection.Read(record)
		if got := string(record[:n]); err != nil || got != want {
			t.Errorf("the record is %q (%v), want %q", got, err, want)
		}
	}
	passesSignalsOn(t, connection)
}

// passesSignalsOn expects signals that come over the connection.
func passesSignalsOn(t *testing.T, connection *net.UnixConn) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGUSR1, syscall.SIGUSR2)
	for _, passedOn := range []syscall.Signal{syscall.SIGUSR2, syscall.SIGUSR1} {
		if _, err := connection.Write([]byte{byte(passedOn)}); err != nil {
			t.Fatal(err)
		}
		select {
		case got := <-heard:
			if got != passedOn {
				t.Errorf("the signal is %v, want %v", got, passedOn)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%v has not come", passedOn)
		}
	}
}
