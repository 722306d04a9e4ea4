// Package progress moves the operations that are under way in this process.
//
// MPI does this only within its calls. So some code has to call it while the program computes, or waits for something
// else. Calls that wait run the progress queue (queue.go), and a progress thread may do so beside the program
// (thread.go). If the library does not accept calls from every thread, callers.go refuses the others.
package progress
