package runtime

import "dtl/core/handle"

// Contexts are the open contexts, and Environments the open environments.
var (
	Contexts     = handle.NewTable[*Context](handle.Context)
	Environments = handle.NewTable[*Environment](handle.Environment)
)
