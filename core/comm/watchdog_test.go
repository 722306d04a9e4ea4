package comm_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/watchdog"
)

// TestOneReportByMessages has two ranks of three that share no memory wait: one of them tells where all are.
func TestOneReportByMessages(t *testing.T) {
	reported, told := make(chan string, 9), sync.Once{}
	watchdog.Program.Report = func(text string) { reported <- text }
	watchdog.Program.Where = func() string { return "app.py:41" }
	watchdog.SetLimits(300*time.Millisecond, 0)
	comm.SetSharing(false)
	defer func() {
		comm.SetSharing(true)
		watchdog.SetLimits(0, 0)
		watchdog.Program.Report, watchdog.Program.Where = nil, nil
	}()
	meetingRanks(t, 3, func(c *comm.Comm) {
		if c.Rank() == 2 { // it is in no call
			for !c.Asked() {
				time.Sleep(10 * time.Millisecond)
			}
			c.Answer("at app.py:7, in no call that waits")
			text := <-reported
			told.Do(func() {
				assert.Regexp(t, `^dtl: rank [01] of 3 waits for [0-9.]+m?s: ranks 0-1 in barrier\(\) at app\.py:41; rank 2 at app\.py:7`, text)
			})
		}
		assert.NoError(t, c.Barrier())
	})
	assert.Empty(t, reported, "one rank reports")
}

// TestInterruptAsTheLastRankComes has the user interrupt a rank at the moment when the other comes to the meeting: the call
// is made on both, and the program raises the interrupt after it.
func TestInterruptAsTheLastRankComes(t *testing.T) {
	for _, sharing := range []bool{true, false} {
		come, there, over := make(chan struct{}), make(chan struct{}), false
		watchdog.Program.Interrupted = func() bool { // of rank 0: the other does not wait
			if over {
				return false
			}
			over = true
			close(come)
			<-there
			return true
		}
		comm.SetSharing(sharing)
		meetingRanks(t, 2, func(c *comm.Comm) {
			if c.Rank() == 0 {
				assert.NoError(t, c.Barrier())
			} else {
				<-come
				assert.NoError(t, c.Barrier())
				close(there)
			}
			assert.NoError(t, c.Barrier())
		})
	}
	comm.SetSharing(true)
	watchdog.Program.Interrupted = nil
}

// waits are what rank 0 may wait for that rank 1 does.
var waits = map[string]func(c *comm.Comm) error{
	"recv": func(c *comm.Comm) error {
		_, err := c.Recv(nil, comm.Expected{}, 1, 5)
		return err
	},
	"recv of any": func(c *comm.Comm) error {
		_, err := c.Recv(nil, comm.Expected{}, backend.AnySource, 5)
		return err
	},
	"recv_object": func(c *comm.Comm) error {
		_, err := c.RecvObject(1, 5)
		return err
	},
	"probe": func(c *comm.Comm) error {
		_, err := c.Probe(1, 5)
		return err
	},
	"probe of any": func(c *comm.Comm) error {
		_, err := c.Probe(backend.AnySource, 5)
		return err
	},
	"sendrecv": func(c *comm.Comm) error {
		_, err := c.Sendrecv(array(ramp(0, 2)), 1, 0, nil, 1, 5)
		return err
	},
	"irecv": func(c *comm.Comm) error {
		r, err := c.Irecv(nil, comm.Expected{}, 1, 5)
		if err == nil {
			_, err = r.Wait()
		}
		return err
	},
	"irecv, asked": func(c *comm.Comm) error {
		r, err := c.Irecv(nil, comm.Expected{}, 1, 5)
		for err == nil && !r.Test() {
		}
		if err == nil {
			_, err = r.Wait()
		}
		return err
	},
	"waitany": func(c *comm.Comm) error {
		r, err := c.Irecv(nil, comm.Expected{}, 1, 5)
		if err == nil {
			_, err = c.WaitAny([]*comm.Request{r})
		}
		if err == nil {
			_, err = r.Wait()
		}
		return err
	},
	"ibarrier": func(c *comm.Comm) error {
		r, err := c.Ibarrier()
		if err == nil {
			_, err = r.Wait()
		}
		return err
	},
	"barrier": (*comm.Comm).Barrier,
	"allreduce": func(c *comm.Comm) error {
		return c.Allreduce(floats(make([]float64, 3)), floats(make([]float64, 3)), kernel.Sum)
	},
	"agreement": func(c *comm.Comm) error { return c.Agree(comm.Call{Op: "vector"}, nil) },
}

// TestOthersHaveLeft has ranks wait for others that have closed the communicator, and sent a message before.
func TestOthersHaveLeft(t *testing.T) {
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			for n := 2; n <= 3; n++ {
				run := onRanks
				if name == "ibarrier" { // what it has asked by messages stays under way
					run = meetingRanks
				}
				run(t, n, func(c *comm.Comm) {
					d, err := c.Dup()
					assert.NoError(t, err)
					if c.Rank() > 0 {
						assert.NoError(t, d.Send(array(ramp(c.Rank(), 3)), 0, 1))
						assert.NoError(t, d.Close())
						assert.NoError(t, c.Barrier())
						return
					}
					started := time.Now()
					err = wait(d)
					assert.Less(t, time.Since(started), 5*time.Second) // a busy machine takes its time
					assert.ErrorIs(t, err, status.Communication)
					assert.ErrorContains(t, err, "has closed the context")
					assert.ErrorContains(t, err, "1")
					for source := 1; source < n; source++ {
						r, err := d.Recv(nil, comm.Expected{}, int64(source), 1)
						assert.NoError(t, err, "what it has sent is there")
						sameElements(t, ramp(source, 3), elements(r))
					}
					assert.Zero(t, d.Active())
					assert.NoError(t, d.Close())
					assert.NoError(t, c.Barrier())
				})
			}
		})
	}
}

// TestOneOfTheOthersHasLeft has a rank that receives from any get what a rank sends that is still there.
func TestOneOfTheOthersHasLeft(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		d, err := c.Dup()
		assert.NoError(t, err)
		switch c.Rank() {
		case 1:
			assert.NoError(t, d.Close())
		case 2:
			time.Sleep(400 * time.Millisecond) // longer than those that wait for ranks that have left do
			assert.NoError(t, d.Send(array(ramp(7, 1)), 0, 5))
		case 0:
			r, err := d.Recv(nil, comm.Expected{}, backend.AnySource, 5)
			assert.NoError(t, err)
			sameElements(t, ramp(7, 1), elements(r))
		}
		assert.NoError(t, c.Barrier())
		if c.Rank() != 1 {
			assert.NoError(t, d.Close())
		}
	})
}

// TestLeavingAfterItsPart has a rank leave that has started what the others wait for, and what they meet for.
func TestLeavingAfterItsPart(t *testing.T) {
	onRanks(t, 3, func(c *comm.Comm) {
		d, err := c.Dup()
		assert.NoError(t, err)
		out := make([]float64, 1)
		late := func(r *comm.Request, err error) {
			assert.NoError(t, err)
			assert.NoError(t, c.Barrier())
			if c.Rank() != 1 {
				time.Sleep(300 * time.Millisecond)
			}
			done(t, r)
			assert.NoError(t, d.Close())
		}
		var recv memory.Span
		if c.Rank() == 0 {
			recv = floats(make([]float64, 3))
		}
		assert.NoError(t, d.Allreduce(floats([]float64{1}), floats(out), kernel.Sum))
		late(d.Igather(floats(out), recv, 0))
	})
}
