package runtime

import (
	"dtl/core/comm"
	"dtl/core/handle"
)

// Contexts are the open contexts, Environments the open environments, and Requests those that somebody still asks about.
var (
	Contexts     = handle.NewTable[*Context](handle.Context)
	Requests     = handle.NewTable[*comm.Request](handle.Request)
	Environments = handle.NewTable[*Environment](handle.Environment)
)
