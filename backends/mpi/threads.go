package mpi

import "dtl/core/backend"

// levels are the names of the thread levels, as ThreadLevel gives them.
var levels = [...]string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED"}

// ThreadLimit says which threads may call MPI: all at MPI_THREAD_MULTIPLE.
func (c *Comm) ThreadLimit() (*backend.ThreadLimit, error) {
	level, err := c.m.threadLevel()
	if err != nil || level >= len(levels) {
		return nil, err
	}
	limit := &backend.ThreadLimit{Level: levels[level]}
	if levels[level] != "MPI_THREAD_SERIALIZED" {
		limit.Main = c.m.mainThread
	}
	return limit, nil
}
