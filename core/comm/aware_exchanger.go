package comm

import (
	"cmp"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// AwareExchanger is the Exchanger of ranks whose messages may be from and to memory of devices, as those of an MPI that knows of GPUs.
type AwareExchanger struct {
	on    *Comm
	begin func() (backend.Queue, error)

	readiness
	queue backend.Queue
}

// NewAwareExchanger returns the one of a communicator whose ranks do not all share memory of the host; nil of others, for which there is
// IPCExchanger, on all ranks. begin returns the queue of this rank's device.
func NewAwareExchanger(on *Comm, begin func() (backend.Queue, error)) *AwareExchanger {
	if _, ok := on.payload.(backend.DeviceAware); !ok || on.size == 1 || on.board != nil {
		return nil
	}
	return &AwareExchanger{on: on, begin: begin}
}

// IsAware returns nil if messages may be from and to memory of a device, or says why they may not. Local.
func (c *Comm) IsAware(device backend.Device) error {
	by, ok := c.payload.(backend.DeviceAware)
	if !ok {
		return status.New(status.Unsupported, "no MPI connects the ranks")
	}
	return by.IsAware(device)
}

// Ready implements Exchanger. The first call finds out whether MPI reaches the devices of all ranks.
func (r *AwareExchanger) Ready() (bool, error) {
	return r.find(r.on, "messages between GPUs", func() (bool, error) {
		queue, err := r.begin()
		if r.queue = queue; err == nil {
			err = r.on.IsAware(queue.Device())
		}
		return err == nil, nil
	})
}

// Exchange implements Exchanger. MPI does not know of queues, so this waits first until all is done that is queued.
func (r *AwareExchanger) Exchange(call Call, mine error, streams []uintptr, send, recv []memory.Span) error {
	return r.on.inTurn(call.Op, func() error {
		if mine == nil {
			mine = cmp.Or(follow(r.queue, streams), r.queue.Synchronize())
		}
		if err := r.on.agree(call, mine, Shared{}, nil); err != nil {
			return err
		}
		return r.on.agree(Call{Op: call.Op + " is over"}, r.on.Exchange(send, recv), Shared{}, nil)
	})
}
