// Reports to dtl run, which supervises the job. See supervisor.go.

#ifndef DTL_SUPERVISOR_H
#define DTL_SUPERVISOR_H

// The bytes of a record on a connection between hosts, the rest of which are zeros.
enum { DTL_SUPERVISOR_RECORD = 128 };

// dtl_supervisor_connect connects with the abstract Unix socket of that name, or from another host with one of the addresses,
// which have commas between them, where it says the secret first, and starts the thread that ends this process some seconds after the supervisor has gone,
// and that gives it signals which that passes on.
// Where nobody listens, it does nothing, and nor do reports.
void dtl_supervisor_connect(const char *name, const char *addresses, const char *secret, const char *rank);

// dtl_supervisor_report sends one record. It never waits. In a forked child it does nothing.
void dtl_supervisor_report(const char *state, int code);

// dtl_supervisor_report_exit has the process report, as the first thing that it does in exit, that it ends in order.
void dtl_supervisor_report_exit(void);

#endif
