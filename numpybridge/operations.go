// Package numpybridge is the data plane: calls that move elements between Python's buffers and the core.
//
// The C files beside it are the module _bridge; they borrow the buffers and fill in a Call. Everything that depends on
// the operation is in Go.
package numpybridge

// Code is an operation. Python sees each as a constant of _bridge, which learns them from here.
type Code int64

// The operations. bridge.h repeats the two that C knows by itself.
const (
	Barrier Code = iota
	Allreduce
	Reduce
	Broadcast
	Gather
	Scatter
	Allgather
	Allgatherv
	Gatherv
	Scatterv
	Alltoall
	Alltoallv
	Send
	Recv
	Sendrecv
	SendObject
	RecvObject
	Ticket
	SendPart
	RecvPart
	View
	Create
	Indices
	Owner
	Span
	Resize
	Redistribute
	Take
	Give
	Get
	Put
	Assign
	GatherTo
	Distribute
	Move
	PlanMake
	PlanExecute
	PlanBytes
	HaloMake
	HaloView
	HaloExchange
	HaloBegin
	HaloEnd
	MapInsert
	MapUpdate
	MapFind
	MapContains
	MapErase
	MapEntries
	Scan
	Exscan
	ReduceParts
	Locate
	Probe
	Iprobe
	Isend
	Irecv
	SendInit
	RecvInit
	Start
	Wait
	Test
	Cancel
	WaitAny
	Ibarrier
	Iallreduce
	Ibroadcast
	Igather
	Iallgather
	Ialltoallv
	Share
	Fold
	Dot
	Cumulate
	Histogram
	Bincount
	Sort
	Argsort
	IsSorted
	Search
	Select
	Cart
	CartAt
	Graph
	NearGather
	NearAll
	NearAllv
	Place
	WinMake
	WinFacts
	WinView
	WinFence
	WinSync
	WinDetach
	WinLock
	WinUnlock
	WinFlush
	WinPut
	WinGet
	WinCombine
	WinFetch
	WinSwap
	WinRput
	WinRget
	FillPart
	SetPart
	CopyPart
	Elementwise
	FoldLines
	TakePart
	PutPart
	PutWhere
	TakeWhere
	PutAt
	Truths
	Choose
	Linked
	Reached
	MoveAll
	PermutePart
	Draw
	DrawInto
	DrawStart
	FoldRun
	WholePart
	FieldPart
)

// operation is what is known of one.
type operation struct {
	key   string // Python's constant
	name  string // as users know it, for errors
	input bool   // there must be an input
	pair  bool   // the second buffer is an input, too: nothing is written to it
	run   func(*Call) error
}

// moving has the operations that only move a container's elements to or from an array.
var moving = []Code{Give, Put, Assign, GatherTo, Distribute, FillPart, SetPart, WholePart, PutPart, PutWhere}

// sending has the operations that only move the elements of arrays between ranks.
var sending = []Code{
	Broadcast, Gather, Scatter, Allgather, Allgatherv, Gatherv, Scatterv, Alltoall, Alltoallv, Send, Recv, Sendrecv, Isend, Irecv,
	SendInit, RecvInit, Ibroadcast, Igather, Iallgather, Ialltoallv, NearGather, NearAll, NearAllv,
}

// operations has a row for each code. The functions stand in a file for each family.
var operations = [...]operation{
	Barrier:      {"BARRIER", "barrier", false, false, barrier},
	Allreduce:    {"ALLREDUCE", "allreduce", true, false, allreduce},
	Reduce:       {"REDUCE", "reduce", true, false, reduce},
	Broadcast:    {"BROADCAST", "broadcast", false, false, broadcast},
	Gather:       {"GATHER", "gather", true, false, gather},
	Scatter:      {"SCATTER", "scatter", false, false, scatter},
	Allgather:    {"ALLGATHER", "allgather", true, false, allgather},
	Allgatherv:   {"ALLGATHERV", "allgatherv", true, false, allgatherv},
	Gatherv:      {"GATHERV", "gatherv", true, false, gatherv},
	Scatterv:     {"SCATTERV", "scatterv", false, false, scatterv},
	Alltoall:     {"ALLTOALL", "alltoall", true, false, alltoall},
	Alltoallv:    {"ALLTOALLV", "alltoallv", true, false, alltoallv},
	Send:         {"SEND", "send", true, false, send},
	Recv:         {"RECV", "recv", false, false, recv},
	Sendrecv:     {"SENDRECV", "sendrecv", true, false, sendrecv},
	SendObject:   {"SEND_OBJECT", "send_object", true, false, sendObject},
	RecvObject:   {"RECV_OBJECT", "recv_object", false, false, recvObject},
	Ticket:       {"TICKET", "send_object", false, false, ticket},
	SendPart:     {"SEND_PART", "send_object", true, false, sendPart},
	RecvPart:     {"RECV_PART", "recv_object", false, false, recvPart},
	View:         {"VIEW", "local_view", false, false, view},
	Create:       {"CREATE", "create", false, false, create},
	Indices:      {"INDICES", "local_indices", false, false, localIndices},
	Owner:        {"OWNER", "owner", true, false, owner},
	Span:         {"SPAN", "subspan", false, false, span},
	Resize:       {"RESIZE", "resize", false, false, resize},
	Redistribute: {"REDISTRIBUTE", "redistribute", true, false, redistribute},
	Take:         {"TAKE", "getitem", true, false, take},
	Give:         {"GIVE", "setitem", true, true, give},
	Get:          {"GET", "get", true, false, get},
	Put:          {"PUT", "put", true, true, put},
	Assign:       {"ASSIGN", "setitem", true, true, assign},
	GatherTo:     {"GATHER_TO", "gather_to", false, false, gatherTo},
	Distribute:   {"DISTRIBUTE", "from_numpy", false, false, distribute},
	Move:         {"MOVE", "copy", true, false, move},
	MoveAll:      {"MOVE_ALL", "copy", false, false, moveAll},
	PlanMake:     {"PLAN", "redistribution_plan", true, false, planMake},
	PlanExecute:  {"PLAN_EXECUTE", "redistribution", false, false, planExecute},
	PlanBytes:    {"PLAN_BYTES", "explain", false, false, planBytes},
	HaloMake:     {"HALO_MAKE", "halo", true, false, haloMake},
	HaloView:     {"HALO_VIEW", "halo.view", false, false, haloView},
	HaloExchange: {"HALO_EXCHANGE", "halo.exchange", false, false, haloExchange},
	HaloBegin:    {"HALO_BEGIN", "halo.begin", false, false, haloBegin},
	HaloEnd:      {"HALO_END", "halo.end", false, false, haloEnd},
	MapInsert:    {"MAP_INSERT", "insert", true, true, mapInsert},
	MapUpdate:    {"MAP_UPDATE", "update", true, true, mapUpdate},
	MapFind:      {"MAP_FIND", "find", true, false, mapFind},
	MapContains:  {"MAP_CONTAINS", "contains", true, false, mapContains},
	MapErase:     {"MAP_ERASE", "erase", true, false, mapErase},
	MapEntries:   {"MAP_ENTRIES", "entries", false, false, mapEntries},
	Scan:         {"SCAN", "scan", true, false, scan},
	Exscan:       {"EXSCAN", "exscan", true, false, exscan},
	ReduceParts:  {"REDUCE_SCATTER", "reduce_scatter", true, false, reduceScatter},
	Locate:       {"LOCATE", "allreduce", true, false, locate},
	Probe:        {"PROBE", "probe", false, false, probe},
	Iprobe:       {"IPROBE", "iprobe", false, false, iprobe},
	Isend:        {"ISEND", "isend", true, false, isend},
	Irecv:        {"IRECV", "irecv", false, false, irecv},
	SendInit:     {"SEND_INIT", "send_init", true, false, sendInit},
	RecvInit:     {"RECV_INIT", "recv_init", false, false, recvInit},
	Start:        {"START", "start", false, false, start},
	Wait:         {"WAIT", "wait", false, false, wait},
	Test:         {"TEST", "test", false, false, test},
	Cancel:       {"CANCEL", "cancel", false, false, cancel},
	WaitAny:      {"WAIT_ANY", "waitany", true, false, waitAny},
	Ibarrier:     {"IBARRIER", "ibarrier", false, false, ibarrier},
	Iallreduce:   {"IALLREDUCE", "iallreduce", true, false, iallreduce},
	Ibroadcast:   {"IBROADCAST", "ibroadcast", false, false, ibroadcast},
	Igather:      {"IGATHER", "igather", true, false, igather},
	Iallgather:   {"IALLGATHER", "iallgather", true, false, iallgather},
	Ialltoallv:   {"IALLTOALLV", "ialltoallv", true, false, ialltoallv},
	Share:        {"SHARE", "algorithm", true, false, share},
	Fold:         {"FOLD", "fold", false, false, foldElements},
	Dot:          {"DOT", "dot", false, false, dot},
	Cumulate:     {"CUMULATE", "cumsum", false, false, cumulate},
	Histogram:    {"HISTOGRAM", "histogram", true, false, histogram},
	Bincount:     {"BINCOUNT", "bincount", false, false, bincount},
	Sort:         {"SORT", "sort", false, false, sortOf},
	Argsort:      {"ARGSORT", "argsort", false, false, argsort},
	IsSorted:     {"IS_SORTED", "is_sorted", false, false, isSorted},
	Search:       {"SEARCH", "searchsorted", true, false, search},
	Select:       {"SELECT", "select", true, false, selectOf},
	Cart:         {"CART", "cart", true, false, cart},
	CartAt:       {"CART_AT", "cart", true, false, cartAt},
	Graph:        {"GRAPH", "graph", false, false, graph},
	NearGather:   {"NEIGHBOR_ALLGATHER", "neighbor_allgather", true, false, nearGather},
	NearAll:      {"NEIGHBOR_ALLTOALL", "neighbor_alltoall", true, false, nearAll},
	NearAllv:     {"NEIGHBOR_ALLTOALLV", "neighbor_alltoallv", true, false, nearAllv},
	Place:        {"PLACE", "remote", true, false, place},
	WinMake:      {"WIN_MAKE", "window", false, false, winMake},
	WinFacts:     {"WIN_FACTS", "window", false, false, winFacts},
	WinView:      {"WIN_VIEW", "local_view", false, false, winView},
	WinFence:     {"WIN_FENCE", "fence", false, false, winFence},
	WinSync:      {"WIN_SYNC", "sync", false, false, winSync},
	WinDetach:    {"WIN_DETACH", "detach", false, false, winDetach},
	WinLock:      {"WIN_LOCK", "lock", false, false, winLock},
	WinUnlock:    {"WIN_UNLOCK", "unlock", false, false, winUnlock},
	WinFlush:     {"WIN_FLUSH", "flush", false, false, winFlush},
	WinPut:       {"WIN_PUT", "rma_put", true, false, winPut},
	WinGet:       {"WIN_GET", "rma_get", false, false, winGet},
	WinCombine:   {"WIN_COMBINE", "rma_accumulate", true, false, winCombine},
	WinFetch:     {"WIN_FETCH", "rma_fetch_and_op", true, false, winFetch},
	WinSwap:      {"WIN_SWAP", "rma_compare_and_swap", true, false, winSwap},
	WinRput:      {"WIN_RPUT", "rma_rput", true, false, winRput},
	WinRget:      {"WIN_RGET", "rma_rget", false, false, winRget},
	FillPart:     {"FILL_PART", "fill", true, false, fillPart},
	SetPart:      {"SET_PART", "from_local", true, false, setPart},
	CopyPart:     {"COPY_PART", "copy", true, false, copyPart},
	PermutePart:  {"PERMUTE_PART", "permute_dims", false, false, permutePart},
	Elementwise:  {"ELEMENTWISE", "ufunc", true, false, elementwise},
	FoldLines:    {"FOLD_LINES", "reduction", true, false, foldLines},
	TakePart:     {"TAKE_PART", "getitem", true, false, takePart},
	PutPart:      {"PUT_PART", "setitem", true, true, putPart},
	PutWhere:     {"PUT_WHERE", "setitem", false, false, putWhere},
	TakeWhere:    {"TAKE_WHERE", "getitem", false, false, takeWhere},
	PutAt:        {"PUT_AT", "setitem", false, false, putAt},
	Truths:       {"TRUTHS", "nonzero", false, false, truths},
	Choose:       {"CHOOSE", "getitem", false, false, choose},
	Linked:       {"LINKED", "nccl", true, false, linked},
	Reached:      {"REACHED", "message", true, false, reached},
	Draw:         {"DRAW", "draw", false, false, draw},
	DrawInto:     {"DRAW_INTO", "draw", false, false, drawInto},
	DrawStart:    {"DRAW_START", "draw", false, false, drawStart},
	FoldRun:      {"FOLD_RUN", "fold", true, false, foldRun},
	WholePart:    {"WHOLE_PART", "ufunc", true, false, wholePart},
	FieldPart:    {"FIELD_PART", "copy", false, false, fieldPart},
}

// local reports whether an operation concerns no other rank, so that none hears of its errors.
func (c Code) local() bool {
	switch c {
	case Ticket, View, Indices, Owner, Span, PlanBytes, HaloView, CartAt, Place, WinFacts, WinView, FillPart, SetPart, CopyPart, PermutePart, Elementwise, FoldLines, TakePart,
		PutPart, PutWhere, TakeWhere, PutAt, Truths, Choose, DrawInto, DrawStart, FoldRun, WholePart, FieldPart:
		return true
	}
	return false
}

// meets reports whether an operation is a collective call on a context that begins with a meeting of its ranks, in which they
// see whether they agreed in those before.
func (c Code) meets() bool {
	switch c {
	case Scan, Exscan, ReduceParts, Locate:
		return true
	}
	return c <= Alltoallv
}

// row returns a code's operation, or nil for a number that is none.
func (c Code) row() *operation {
	if c < 0 || int(c) >= len(operations) {
		return nil
	}
	return &operations[c]
}
