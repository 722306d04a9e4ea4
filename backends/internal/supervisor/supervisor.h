// Reports to dtl run, which supervises the job on this machine. See supervisor.go.

#ifndef DTL_SUPERVISOR_H
#define DTL_SUPERVISOR_H

// dtl_supervisor_connect connects with the abstract Unix socket of that name, and starts the thread that ends this process
// some seconds after the supervisor has gone. Where nobody listens, it does nothing, and nor do reports.
void dtl_supervisor_connect(const char *name, const char *rank);

// dtl_supervisor_report sends one record. It never waits. In a forked child it does nothing.
void dtl_supervisor_report(const char *state, int code);

// dtl_supervisor_report_exit has the process report, as the first thing that it does in exit, that it ends in order.
void dtl_supervisor_report_exit(void);

#endif
