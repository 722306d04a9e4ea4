// Package supervisor reports to dtl run, which supervises the processes of a job: that this process starts, that it
// has joined the job, that it ends. If the connection of a rank closes before the rank has said that it ends, it
// counts as lost, whatever the launcher says. If the supervisor ends, the process ends itself. Without a supervisor,
// nothing happens.
package supervisor

// #include <stdlib.h>
// #include "supervisor.h"
import "C"

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"dtl/backends/internal/environ"
)

// state is what a process reports of itself.
type state string

const (
	unknown  state = ""
	starting state = "starting" // waits for all processes of the job to do so
	joined   state = "joined"
	ended    state = "ended"
)

// now is what this process has reported last.
var now struct {
	sync.Mutex
	state state
}

// Starting reports that this process goes into a call that connects it with all processes of the job.
func Starting() { report(starting) }

// Joined reports that this process is connected with others. From here on, exit reports the end before anything else that
// the process has to do then.
func Joined() { report(joined) }

// Ended reports that this process has left the job in order, or ends it for all, with an exit code.
func Ended(code int) {
	now.Lock()
	defer now.Unlock()
	if now.state != unknown {
		send(ended, code)
	}
}

func report(s state) {
	now.Lock()
	defer now.Unlock()
	if now.state == s || now.state == joined {
		return
	}
	if now.state == unknown {
		connect()
	}
	now.state = s
	send(s, 0)
	C.dtl_supervisor_report_exit() // once more after MPI's start, as what is registered last runs first
}

// connect connects with the supervisor, unless this process is the child of one that has: that inherits the variables.
func connect() {
	process, _, _ := strings.Cut(environ.Get("DTL_RANK_PROCESS"), " ")
	if process != "" && process != strconv.Itoa(os.Getpid()) {
		return
	}
	var said [4]*C.char
	for i, text := range []string{environ.Get("DTL_RUN"), environ.Get("DTL_RUN_ADDRESSES"), environ.Get("DTL_RUN_SECRET"), rank()} {
		said[i] = C.CString(text)
		defer C.free(unsafe.Pointer(said[i]))
	}
	C.dtl_supervisor_connect(said[0], said[1], said[2], said[3])
}

// rank returns the rank of this process, as the launchers that dtl run uses say it.
func rank() string {
	for _, name := range []string{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "DTL_LOCAL_RANK"} {
		if rank := environ.Get(name); rank != "" {
			return rank
		}
	}
	return "0"
}

func send(s state, code int) {
	text := C.CString(string(s))
	defer C.free(unsafe.Pointer(text))
	C.dtl_supervisor_report(text, C.int(code))
}
