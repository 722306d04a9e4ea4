package numpybridge

import (
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/status"
)

// gpuMessage is a message from or to memory of a GPU, that MPI reaches. args[0] is the code of the same call on the
// host. The input has five integers for what is sent and five for where goes what comes, as ncclCollective has them; then dest and its tag, source
// and its tag, and the type and the number of elements that were asked for; then the shape of what is sent. The result is what came
// and is not where it goes: short messages come through the host.
func gpuMessage(c *Call) error {
	return c.on(func(with *comm.Comm) error {
		words, err := c.integers()
		if err != nil {
			return err
		}
		if len(words) < 16 {
			return status.New(status.Internal, "%d integers describe a message", len(words))
		}
		value, to := comm.Array{Span: placed(words).Span, Shape: words[16:]}, placed(words[5:]).Span
		m := message{with: with, value: value, dest: words[10], sendTag: words[11], source: words[12], recvTag: words[13]}
		m.expected = comm.Expected{Type: dtype.Type(words[14]), Count: words[15]}
		if to.Type != 0 {
			m.out = &comm.Array{Span: to}
		}
		if c.Result, err = m.travel(Code(c.Args[0])); c.Result.Storage == nil {
			c.Result = comm.Result{} // it is in out
		}
		return err
	})
}

// message is what a call sends and receives.
type message struct {
	with                           *comm.Comm
	value                          comm.Array
	out                            *comm.Array
	expected                       comm.Expected
	dest, sendTag, source, recvTag int64
}

func (m *message) travel(code Code) (comm.Result, error) {
	switch code {
	case Send:
		return comm.Result{}, m.with.Send(m.value, m.dest, m.sendTag)
	case Recv:
		return m.with.Recv(m.out, m.expected, m.source, m.recvTag)
	case Sendrecv:
		return m.with.Sendrecv(m.value, m.dest, m.sendTag, m.out, m.source, m.recvTag)
	}
	return comm.Result{}, status.New(status.Internal, "operation %d is no message of GPUs", code)
}
