// Package comm checks every collective call and message, once, before a backend sees it.
//
// Array describes a value: elements, shape, and whether the caller has an array or a scalar. Broadcast, scatter and
// messages carry this description, so a receiver need not know it.
//
// Each operation is in one file, with its non-blocking form and the form in which ranks have different lengths: send,
// recv, broadcast, alltoall and so on. They share these files:
//
//   - comm.go, shared_memory.go, turn.go, close.go: a communicator, how its ranks find out whether they share memory,
//     whose turn it is to call, and its end
//   - meeting.go, agreement.go, deadlock.go: how the ranks make sure that all of them make the same call, with package
//     agreement
//   - collective.go: how a collective call begins, blocking or not; metadata.go: calls in which only root knows the
//     value
//   - request.go, start.go, wait.go: operations under way, how they start, and the loops that wait for them
//   - exchange.go: messages without a header, whose length both sides know
//   - rendezvous.go: long elements, which the receiver copies from the sender's memory
//   - fastpath.go, request_peek.go: what Go does for short calls of C
//   - windows.go: what windows need
//
// The packages below need no communicator: wire has what ranks write for each other; agreement compares it; unexpected
// has the messages that have arrived and were not received.
package comm
