// Package comm is where every collective call and message is checked, once, before a backend sees it.
//
// Array says what travels: elements, shape, and whether the caller holds an array or a scalar. Broadcast, scatter and messages
// carry that description with them, so a receiver need not know it.
//
// An operation stands in one file with the form that does not block, and with the one in which ranks have different lengths:
// send, recv, broadcast, alltoall and so on. What they have in common:
//
//   - comm.go, shared_memory.go, turn.go, close.go: a communicator, how its ranks find out whether they share memory, whose
//     turn it is to call, and its end
//   - meeting.go, agreement.go, deadlock.go: how the ranks of a call make sure that all of them make it, with package agreement
//   - collective.go: how a collective call begins, blocking or not; metadata.go: where root alone knows what travels
//   - request.go, start.go, wait.go: what is under way, how it starts, and the loops that wait for it
//   - exchange.go: bare messages, of which both sides know the length
//   - rendezvous.go: long elements, which the receiver copies from where they lie
//   - fastpath.go, request_peek.go: what Go does for short calls of C
//   - windows.go: what windows need
//
// The packages below hold what needs no communicator: wire, what ranks write for each other; agreement, how they compare it;
// unexpected, the messages that have come and were not taken.
package comm
