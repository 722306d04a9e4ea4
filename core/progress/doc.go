// Package progress goes on with what is under way in this process.
//
// MPI does that in its calls only. So somebody has to call it while the program computes, or waits for something else:
// whoever waits runs the progress queue (queue.go), and a progress thread may do so beside the program (thread.go). Where the
// library does not let every thread call it, callers.go refuses the others.
package progress
