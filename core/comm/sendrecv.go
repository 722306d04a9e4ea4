package comm

import "dtl/core/status"

// Sendrecv sends value to dest and receives from source at once, so that ranks may exchange without a
// deadlock whatever the lengths. Either peer may be ProcNull. The rest is as for Send and Recv.
func (c *Comm) Sendrecv(value Array, dest, sendTag int64, out *Array, source, recvTag int64) (Result, error) {
	r, err := c.sendrecv(value, dest, sendTag, out, source, recvTag)
	return r, status.In("sendrecv", err)
}

func (c *Comm) sendrecv(value Array, dest, sendTag int64, out *Array, source, recvTag int64) (Result, error) {
	if err := c.checkSource(source, recvTag); err != nil {
		return Result{}, err
	}
	s, err := c.startSend(value, dest, sendTag)
	if err != nil {
		return Result{}, err
	}
	r, err := c.recv(out, Expected{}, source, recvTag)
	if e := s.wait(); e != nil && err == nil {
		r.release()
		return Result{}, e
	}
	return r, err
}
