// Package requests has requests for backends whose libraries have none.
package requests

import (
	"time"

	"dtl/core/backend"
)

// Finished is an operation that was complete when it started.
type Finished struct{ Status backend.Status }

var _ backend.Request = Finished{}

// FromNobody is a receive from the null process.
var FromNobody = Finished{backend.Status{Source: backend.ProcNull, Tag: backend.AnyTag}}

// Wait returns at once.
func (f Finished) Wait() (backend.Status, error) { return f.Status, nil }

// WaitFor returns at once.
func (f Finished) WaitFor(time.Duration) (backend.Status, bool, error) { return f.Status, true, nil }

// Test returns true.
func (f Finished) Test() (backend.Status, bool, error) { return f.Status, true, nil }

// Cancel does nothing: it is too late.
func (f Finished) Cancel() error { return nil }
