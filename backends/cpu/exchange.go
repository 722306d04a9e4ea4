package cpu

import (
	"errors"

	"dtl/core/memory"
)

// Exchange sends send[r] to each rank r and fills recv[r] with what r sends here. Each rank starts with the one after it.
func (c *Comm) Exchange(send, recv []memory.Span, tag int) error {
	size, me := c.Size(), c.rank
	pending := make([]*request, 0, size)
	for step := 1; step < size; step++ {
		if from := (me - step + size) % size; recv[from].Bytes() > 0 {
			pending = append(pending, c.group.queues[me].post(recv[from], from, tag, false))
		}
	}
	for step := 1; step < size; step++ {
		if to := (me + step) % size; send[to].Bytes() > 0 {
			c.group.queues[to].deliver(memory.As[byte](send[to].Raw()), me, tag)
		}
	}
	memory.Copy(recv[me], send[me])
	var failed error
	for _, r := range pending {
		_, err := r.Wait()
		failed = errors.Join(failed, err)
	}
	return failed
}
