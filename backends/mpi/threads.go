package mpi

/*
#include "calls.h"

#cgo noescape dtl_mpi_advance
*/
import "C"

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

// Advance lets MPI go on with all that is under way in this process.
func (c *Comm) Advance() error {
	var found C.int
	return c.m.failure("MPI_Iprobe", C.dtl_mpi_advance(c.m.c, &found))
}
