package backend

import "cmp"

// InOrder calls f, which has a queue work on memory of other queues: after what is queued there by now, and before what is queued there
// later, also where f fails in the middle. If the device cannot make the others wait, what f has queued is over on return.
func InOrder(q Queue, others []Queue, f func() error) error {
	for _, other := range others {
		if err := goOn(q, other); err != nil {
			return err
		}
	}
	err := f()
	for _, other := range others {
		if goOn(other, q) != nil {
			err = cmp.Or(err, q.Synchronize())
		}
	}
	return err
}

// goOn has a queue go on after what is in another one by now. Devices do not wait for each other: there, the host does.
func goOn(q, before Queue) error {
	switch {
	case q.Device() != before.Device():
		return before.Synchronize()
	case q.Stream() == before.Stream():
		return nil
	}
	return q.Device().Order(before.Stream(), q.Stream())
}
