package comm

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// Devices has the devices of a communicator's ranks, one a rank, exchange elements by a library of their own. A call is agreed on by
// the ranks as every other one is, then queued on the devices, which the ranks agree on, too, and waited for.
type Devices struct {
	on     *Comm
	link   backend.DeviceLink
	queue  backend.Queue
	failed error // why the link has ended
}

// LinkDevices links the devices of all ranks' queues, which it owns from then on, also when it fails. mine is why this rank has
// none. Collective.
func LinkDevices(op string, on *Comm, by backend.DeviceLinker, queue backend.Queue, mine error) (*Devices, error) {
	d := &Devices{on: on, queue: queue}
	err := on.inTurn(op, func() error {
		key, err := d.meet(op, by, mine)
		if err != nil {
			return err
		}
		d.link, err = by.Link(key, on.rank, on.size, queue)
		if err = on.agree(Call{Op: op + " begins"}, err, Shared{}, nil); err != nil {
			return err
		}
		if err = d.settle(op); err != nil {
			d.giveUp(op, err)
			return err
		}
		return on.agree(Call{Op: op + " ends"}, nil, Shared{}, nil)
	})
	if err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

// meet finds out that each rank has a device of its own, and returns the key that rank 0 has made.
func (d *Devices) meet(op string, by backend.DeviceLinker, mine error) ([]byte, error) {
	c := d.on
	all := make([]Shared, c.size)
	var share Shared
	if mine == nil {
		uuid := d.queue.Device().UUID()
		share = Shared{int64(binary.LittleEndian.Uint64(uuid[:8])), int64(binary.LittleEndian.Uint64(uuid[8:]))}
	}
	if err := c.agree(Call{Op: op}, mine, share, all); err != nil {
		return nil, err
	}
	if err := d.apart(all); err != nil && !by.SharesDevices() {
		return nil, err
	}
	var key []byte
	if c.rank == 0 {
		key, mine = by.NewKey()
	}
	if err := c.agree(Call{Op: op + " has a key"}, mine, Shared{}, nil); err != nil {
		return nil, err
	}
	room, err := memory.NewStorage(c.memory, backend.LinkKey*(c.size+1), 1)
	if err = c.agree(Call{Op: op + " has memory"}, err, Shared{}, nil); err != nil {
		return nil, err
	}
	defer room.Release()
	bytes := room.Bytes()
	copy(memory.As[uint8](bytes), key)
	if c.size > 1 {
		err = c.Allgather(bytes.Slice(0, backend.LinkKey), bytes.Slice(backend.LinkKey, bytes.Count))
		bytes = bytes.Slice(backend.LinkKey, bytes.Count)
	}
	return slices.Clone(memory.As[uint8](bytes)[:backend.LinkKey]), err
}

// apart says which ranks are on one device.
func (d *Devices) apart(all []Shared) error {
	for rank, one := range all {
		var same []string
		for other := range all {
			if all[other] == one {
				same = append(same, fmt.Sprint(other))
			}
		}
		if len(same) > 1 && same[0] == fmt.Sprint(rank) {
			return status.New(status.InvalidArgument, "ranks %s are on one GPU, and NCCL connects one rank a GPU: give each rank a "+
				"device_id of its own, or start fewer ranks", strings.Join(same, ", "))
		}
	}
	return nil
}

// Close ends the link. All ranks close it, unless it has failed, also on another one, for which this one does not wait then.
func (d *Devices) Close() error {
	defer d.queue.Close()
	if d.link == nil || d.failed != nil {
		return nil
	}
	if d.on.size > 1 && d.on.broken() != nil {
		d.link.Abort()
		return nil
	}
	return d.link.Close()
}

// end ends the link, whatever the other ranks do, and lets others have the queue.
func (d *Devices) end() {
	if d.link != nil {
		d.link.Abort()
	}
	if d.queue != nil {
		d.queue.Close()
	}
}

// broke ends the link for good.
func (d *Devices) broke(err error) error {
	if d.failed == nil {
		d.link.Abort()
		d.failed = status.New(status.CodeOf(err), "NCCL connects the ranks' GPUs no more, since a call failed: %w", err)
	}
	return err
}

// Ready implements Exchanger. NCCL is ready since the communicator was made.
func (d *Devices) Ready() (bool, error) { return true, nil }

// Exchange implements Exchanger. If a rank cannot go on, no rank calls NCCL.
func (d *Devices) Exchange(call Call, mine error, streams []uintptr, send, recv []memory.Span) error {
	return d.on.inTurn(call.Op, func() error {
		mine = cmp.Or(mine, d.failed)
		if mine == nil {
			mine = follow(d.queue, streams)
		}
		if err := d.on.agree(call, mine, Shared{}, nil); err != nil || d.on.size == 1 {
			return err
		}
		return d.through(call.Op, func() error { return d.link.Exchange(send, recv) })
	})
}

// giveUp is broke of an error that the other ranks do not know of, who may wait for this one.
func (d *Devices) giveUp(op string, err error) {
	_ = d.broke(err)
	if d.on.size > 1 {
		d.on.group.GiveUp(fmt.Sprintf("%s: %v", op, err))
	}
}

// settle waits until all that was asked of the link is queued.
func (d *Devices) settle(op string) error {
	return d.until(op, d.link.Settled)
}

// wait waits until all is done that is queued.
func (d *Devices) wait(op string) error {
	return d.until(op, func() (bool, error) {
		if done, err := d.queue.Done(); done || err != nil {
			return done, err
		}
		_, err := d.link.Settled()
		return false, err
	})
}

// until waits as calls do that wait for other ranks, and no longer than until one has given up.
func (d *Devices) until(op string, ask func() (bool, error)) error {
	return d.on.Until(func() string { return op + " on GPUs" }, func() (bool, error) {
		done, err := ask()
		if !done && err == nil && d.on.size > 1 {
			err = d.on.broken()
		}
		return done, err
	})
}

// Way is how elements are combined among devices.
type Way int

// The ways: not at all, with kernels of ours, or by the library alone.
const (
	ByHost Way = iota
	ByKernels
	ByLink
)

// folds are the elementwise operators that combine as reduce.Accumulate does, also where the library loses NaN, or lacks the type.
var folds = map[kernel.Op]string{
	kernel.Sum: "add", kernel.Prod: "multiply", kernel.Min: "minimum", kernel.Max: "maximum",
	kernel.BAnd: "bitwise_and", kernel.BOr: "bitwise_or", kernel.BXor: "bitwise_xor",
}

// Elementwise returns the elementwise operator of devices that combines as an operator does; "" where there is none.
func Elementwise(op kernel.Op) string { return folds[op] }

// Combining returns how elements of a type are combined.
func (d *Devices) Combining(t dtype.Type, op kernel.Op) Way {
	switch {
	case d.link.Combines(t, op):
		return ByLink
	case folds[op] != "" && op.Check(t) == nil:
		return ByKernels
	}
	return ByHost
}
