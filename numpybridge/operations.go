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
	CreateMapped
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
	NCCLCollective
	GPUMessage
	MoveAll
	Join
	MoveAdding
	PermutePart
	Draw
	DrawInto
	DrawStart
	WholePart
	FieldPart
	Slice
	FromParts
	NumberKeys
	RenumberKeys
	FoldGroups
	NumberInOrder
	OrderGroups
	SortGroups
	TopOfGroups
	PlacesInGroups
	FoldPairs
	AddToGroups
	numOperations // how many there are
)

// operation is what is known of one.
type operation struct {
	key  string // Python's constant, and the name of its method, in capitals
	name string // as users know it, for errors
	run  func(*Call) error
	is   trait
	// The parameters of Python's method, if there is one: names of integers, and of buffers and lists, after "in:", "out:" and "list:".
	takes string
}

// trait says something of an operation.
type trait uint8

const (
	wantsInput trait = 1 << iota // there must be an input
	wantsPair                    // the second buffer is an input, too: nothing is written to it
	local                        // it concerns no other rank, so that none hears of its errors
	meeting                      // a collective call that begins with a meeting of its context's ranks, who see whether they agreed before
	moving                       // it only moves a container's elements to or from an array
	sending                      // it only moves the elements of arrays between ranks
	borrowing                    // it computes with buffers that are borrowed, and with no object of the core
)

// operations has a row for each code. The functions stand in a file for each family.
var operations = [...]operation{
	Barrier:        {"BARRIER", "barrier", barrier, meeting, "owner"},
	Allreduce:      {"ALLREDUCE", "allreduce", allreduce, wantsInput | meeting, ""},
	Reduce:         {"REDUCE", "reduce", reduce, wantsInput | meeting, ""},
	Broadcast:      {"BROADCAST", "broadcast", broadcast, meeting | sending, ""},
	Gather:         {"GATHER", "gather", gather, wantsInput | meeting | sending, ""},
	Scatter:        {"SCATTER", "scatter", scatter, meeting | sending, ""},
	Allgather:      {"ALLGATHER", "allgather", allgather, wantsInput | meeting | sending, ""},
	Allgatherv:     {"ALLGATHERV", "allgatherv", allgatherv, wantsInput | meeting | sending, ""},
	Gatherv:        {"GATHERV", "gatherv", gatherv, wantsInput | meeting | sending, ""},
	Scatterv:       {"SCATTERV", "scatterv", scatterv, meeting | sending, ""},
	Alltoall:       {"ALLTOALL", "alltoall", alltoall, wantsInput | meeting | sending, ""},
	Alltoallv:      {"ALLTOALLV", "alltoallv", alltoallv, wantsInput | meeting | sending, ""},
	Send:           {"SEND", "send", send, wantsInput | sending, ""},
	Recv:           {"RECV", "recv", recv, sending, ""},
	Sendrecv:       {"SENDRECV", "sendrecv", sendrecv, wantsInput | sending, ""},
	SendObject:     {"SEND_OBJECT", "send_object", sendObject, wantsInput, "owner in:head dest tag"},
	RecvObject:     {"RECV_OBJECT", "recv_object", recvObject, 0, "owner source tag"},
	Ticket:         {"TICKET", "send_object", ticket, local, "owner"},
	SendPart:       {"SEND_PART", "send_object", sendPart, wantsInput, "owner in:part dest ticket"},
	RecvPart:       {"RECV_PART", "recv_object", recvPart, 0, "owner out:part source ticket"},
	View:           {"VIEW", "local_view", view, local, "owner on_device"},
	Create:         {"CREATE", "create", create, 0, "owner in:spec blank list:extents"},
	CreateMapped:   {"CREATE_MAPPED", "create_mapped", createMapped, 0, "owner in:spec descriptor offset list:extents"},
	Indices:        {"INDICES", "local_indices", localIndices, local, "owner axis"},
	Owner:          {"OWNER", "owner", owner, wantsInput | local, "owner in:index"},
	Span:           {"SPAN", "subspan", span, local, "owner offset count"},
	Resize:         {"RESIZE", "resize", resize, 0, "owner size"},
	Redistribute:   {"REDISTRIBUTE", "redistribute", redistribute, wantsInput, "owner in:spec limit"},
	Take:           {"TAKE", "getitem", take, wantsInput, "owner in:indices"},
	Give:           {"GIVE", "setitem", give, wantsInput | wantsPair | moving, "owner in:indices out:values"},
	Get:            {"GET", "get", get, wantsInput | moving, "owner in:indices out:out"},
	Put:            {"PUT", "put", put, wantsInput | wantsPair | moving, "owner in:indices out:values"},
	Assign:         {"ASSIGN", "setitem", assign, wantsInput | wantsPair | moving, "owner in:region out:values"},
	GatherTo:       {"GATHER_TO", "gather_to", gatherTo, moving, "owner out:out root"},
	Distribute:     {"DISTRIBUTE", "from_numpy", distribute, moving, "owner in:elements root"},
	Move:           {"MOVE", "copy", move, wantsInput, "owner in:regions limit by_source leave"},
	MoveAdding:     {"MOVE_ADDING", "add", moveAdding, 0, "owner source size"},
	MoveAll:        {"MOVE_ALL", "copy", moveAll, 0, "owner list:pieces"},
	Join:           {"JOIN", "concat", join, 0, "owner in:words list:spec list:pieces"},
	PlanMake:       {"PLAN", "redistribution_plan", planMake, wantsInput, "owner in:regions limit"},
	PlanExecute:    {"PLAN_EXECUTE", "redistribution", planExecute, 0, "owner"},
	PlanBytes:      {"PLAN_BYTES", "explain", planBytes, local, "owner"},
	HaloMake:       {"HALO_MAKE", "halo", haloMake, wantsInput, "owner in:widths"},
	HaloView:       {"HALO_VIEW", "halo.view", haloView, local, ""},
	HaloExchange:   {"HALO_EXCHANGE", "halo.exchange", haloExchange, 0, ""},
	HaloBegin:      {"HALO_BEGIN", "halo.begin", haloBegin, 0, ""},
	HaloEnd:        {"HALO_END", "halo.end", haloEnd, 0, ""},
	MapInsert:      {"MAP_INSERT", "insert", mapInsert, wantsInput | wantsPair, "owner in:keys out:values"},
	MapUpdate:      {"MAP_UPDATE", "update", mapUpdate, wantsInput | wantsPair, "owner in:keys out:values op"},
	MapFind:        {"MAP_FIND", "find", mapFind, wantsInput, "owner in:keys out:values"},
	MapContains:    {"MAP_CONTAINS", "contains", mapContains, wantsInput, "owner in:keys out:found"},
	MapErase:       {"MAP_ERASE", "erase", mapErase, wantsInput, "owner in:keys out:found"},
	MapEntries:     {"MAP_ENTRIES", "entries", mapEntries, 0, "owner whose"},
	Scan:           {"SCAN", "scan", scan, wantsInput | meeting, ""},
	Exscan:         {"EXSCAN", "exscan", exscan, wantsInput | meeting, ""},
	ReduceParts:    {"REDUCE_SCATTER", "reduce_scatter", reduceScatter, wantsInput | meeting, ""},
	Locate:         {"LOCATE", "allreduce", locate, wantsInput | meeting, ""},
	Probe:          {"PROBE", "probe", probe, 0, ""},
	Iprobe:         {"IPROBE", "iprobe", iprobe, 0, ""},
	Isend:          {"ISEND", "isend", isend, wantsInput | sending, ""},
	Irecv:          {"IRECV", "irecv", irecv, sending, ""},
	SendInit:       {"SEND_INIT", "send_init", sendInit, wantsInput | sending, ""},
	RecvInit:       {"RECV_INIT", "recv_init", recvInit, sending, ""},
	Start:          {"START", "start", start, 0, ""},
	Wait:           {"WAIT", "wait", wait, 0, ""},
	Test:           {"TEST", "test", test, 0, ""},
	Cancel:         {"CANCEL", "cancel", cancel, 0, ""},
	WaitAny:        {"WAIT_ANY", "waitany", waitAny, wantsInput, ""},
	Ibarrier:       {"IBARRIER", "ibarrier", ibarrier, 0, ""},
	Iallreduce:     {"IALLREDUCE", "iallreduce", iallreduce, wantsInput, ""},
	Ibroadcast:     {"IBROADCAST", "ibroadcast", ibroadcast, sending, ""},
	Igather:        {"IGATHER", "igather", igather, wantsInput | sending, ""},
	Iallgather:     {"IALLGATHER", "iallgather", iallgather, wantsInput | sending, ""},
	Ialltoallv:     {"IALLTOALLV", "ialltoallv", ialltoallv, wantsInput | sending, ""},
	Share:          {"SHARE", "algorithm", share, wantsInput, "owner in:found anywhere list:others"},
	Fold:           {"FOLD", "fold", foldElements, 0, "owner in:begun fold same exact generic"},
	Dot:            {"DOT", "dot", dot, 0, "owner other conjugate exact"},
	Cumulate:       {"CUMULATE", "cumsum", cumulate, 0, "owner op exclusive"},
	Histogram:      {"HISTOGRAM", "histogram", histogram, wantsInput, "owner in:edges out:counts weights uniform"},
	Bincount:       {"BINCOUNT", "bincount", bincount, 0, "owner weights length lowest"},
	Sort:           {"SORT", "sort", sortOf, 0, "owner axis descending threads"},
	Argsort:        {"ARGSORT", "argsort", argsort, 0, "owner axis descending threads"},
	IsSorted:       {"IS_SORTED", "is_sorted", isSorted, 0, "owner axis descending threads"},
	Search:         {"SEARCH", "searchsorted", search, wantsInput, "owner in:values axis descending threads right"},
	Select:         {"SELECT", "select", selectOf, wantsInput, "owner in:places axis descending threads"},
	Cart:           {"CART", "cart", cart, wantsInput, "owner in:grid reorder"},
	CartAt:         {"CART_AT", "cart", cartAt, wantsInput | local, "owner in:grid question a b c list:ranks"},
	Graph:          {"GRAPH", "graph", graph, 0, "owner list:edges"},
	NearGather:     {"NEIGHBOR_ALLGATHER", "neighbor_allgather", nearGather, wantsInput | sending, "owner in:data out:out crosswise serial list:edges"},
	NearAll:        {"NEIGHBOR_ALLTOALL", "neighbor_alltoall", nearAll, wantsInput | sending, "owner in:data out:out crosswise serial list:edges"},
	NearAllv:       {"NEIGHBOR_ALLTOALLV", "neighbor_alltoallv", nearAllv, wantsInput | sending, "owner in:data out:out crosswise serial known list:edges list:counts"},
	Place:          {"PLACE", "remote", place, wantsInput | local, "owner in:index"},
	WinMake:        {"WIN_MAKE", "window", winMake, 0, ""},
	WinFacts:       {"WIN_FACTS", "window", winFacts, local, ""},
	WinView:        {"WIN_VIEW", "local_view", winView, local, ""},
	WinFence:       {"WIN_FENCE", "fence", winFence, 0, ""},
	WinSync:        {"WIN_SYNC", "sync", winSync, 0, ""},
	WinDetach:      {"WIN_DETACH", "detach", winDetach, 0, ""},
	WinLock:        {"WIN_LOCK", "lock", winLock, 0, ""},
	WinUnlock:      {"WIN_UNLOCK", "unlock", winUnlock, 0, ""},
	WinFlush:       {"WIN_FLUSH", "flush", winFlush, 0, ""},
	WinPut:         {"WIN_PUT", "rma_put", winPut, wantsInput, ""},
	WinGet:         {"WIN_GET", "rma_get", winGet, 0, ""},
	WinCombine:     {"WIN_COMBINE", "rma_accumulate", winCombine, wantsInput, ""},
	WinFetch:       {"WIN_FETCH", "rma_fetch_and_op", winFetch, wantsInput, ""},
	WinSwap:        {"WIN_SWAP", "rma_compare_and_swap", winSwap, wantsInput, ""},
	WinRput:        {"WIN_RPUT", "rma_rput", winRput, wantsInput, ""},
	WinRget:        {"WIN_RGET", "rma_rget", winRget, 0, ""},
	FillPart:       {"FILL_PART", "fill", fillPart, wantsInput | local | moving, "owner in:value"},
	SetPart:        {"SET_PART", "from_local", setPart, wantsInput | local | moving, "owner in:elements"},
	CopyPart:       {"COPY_PART", "copy", copyPart, wantsInput | local, "owner in:source"},
	PermutePart:    {"PERMUTE_PART", "permute_dims", permutePart, local, "owner source list:order"},
	Elementwise:    {"ELEMENTWISE", "ufunc", elementwise, wantsInput | local, "owner in:name type dims list:operands list:words"},
	FoldLines:      {"FOLD_LINES", "reduction", foldLines, wantsInput | local, "owner in:lines out:out fold divisor besides"},
	TakePart:       {"TAKE_PART", "getitem", takePart, wantsInput | local, "owner in:places source"},
	PutPart:        {"PUT_PART", "setitem", putPart, wantsInput | wantsPair | local | moving, "owner in:places out:values"},
	PutWhere:       {"PUT_WHERE", "setitem", putWhere, local | moving, "owner in:value mask values"},
	TakeWhere:      {"TAKE_WHERE", "getitem", takeWhere, local, "owner source places mask"},
	PutAt:          {"PUT_AT", "setitem", putAt, local, "owner values places mask"},
	Truths:         {"TRUTHS", "nonzero", truths, local, "owner first"},
	Choose:         {"CHOOSE", "getitem", choose, local, "owner mask"},
	NCCLCollective: {"NCCL_COLLECTIVE", "nccl", ncclCollective, wantsInput, "owner in:arrays call op root"},
	GPUMessage:     {"GPU_MESSAGE", "message", gpuMessage, wantsInput, "owner in:arrays call"},
	Draw:           {"DRAW", "draw", draw, 0, "owner in:spec kind least width list:extents"},
	DrawInto:       {"DRAW_INTO", "draw", drawInto, local, "owner out:out kind least width start list:stream"},
	DrawStart:      {"DRAW_START", "draw", drawStart, local, "owner out:state block list:stream"},
	WholePart:      {"WHOLE_PART", "ufunc", wholePart, wantsInput | local | moving, "owner in:elements list:shape"},
	FieldPart:      {"FIELD_PART", "copy", fieldPart, local, "owner source to start width"},
	Slice:          {"SLICE", "slice", slice, 0, "owner source list:spec list:axes"},
	FromParts:      {"FROM_PARTS", "from_local", fromParts, wantsInput | wantsPair | moving, "owner in:rows out:words list:spec"},
	NumberKeys:     {"NUMBER_KEYS", "group_by", numberKeys, borrowing | local, ""},
	RenumberKeys:   {"RENUMBER_KEYS", "group_by", renumberKeys, borrowing | local, ""},
	FoldGroups:     {"FOLD_GROUPS", "group_by", foldGroups, borrowing | local, ""},
	NumberInOrder:  {"NUMBER_IN_ORDER", "group_by", numberInOrder, borrowing | local, ""},
	OrderGroups:    {"ORDER_GROUPS", "group_by", orderGroups, borrowing | local, ""},
	SortGroups:     {"SORT_GROUPS", "group_by", sortGroups, borrowing | local, ""},
	TopOfGroups:    {"TOP_OF_GROUPS", "group_by", topOfGroups, borrowing | local, ""},
	PlacesInGroups: {"PLACES_IN_GROUPS", "group_by", placesInGroups, borrowing | local, ""},
	AddToGroups:    {"ADD_TO_GROUPS", "group_by", addToGroups, borrowing | local, ""},
	FoldPairs:      {"FOLD_PAIRS", "group_by", foldPairs, borrowing | local, ""},
}

// is reports whether an operation has any of some traits. A number that is no operation has none.
func (c Code) is(any trait) bool {
	row := c.row()
	return row != nil && row.is&any != 0
}

// row returns a code's operation, or nil for a number that is none.
func (c Code) row() *operation {
	if c < 0 || int(c) >= len(operations) {
		return nil
	}
	return &operations[c]
}
