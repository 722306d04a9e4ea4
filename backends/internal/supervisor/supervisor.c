#define _GNU_SOURCE
#include "supervisor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

// The launcher gets a signal when the supervisor has gone, and ends its ranks better than they can themselves.
enum { LAUNCHER_SECONDS = 3 };

static int connection = -1;
static char rank[32];

// A child that keeps the connection open would hide that the rank has gone.
static void in_child(void) {
	if (connection >= 0)
		close(connection);
	connection = -1;
}

static void *end_with_supervisor(void *unused) {
	struct pollfd supervisor = {.fd = connection}; // no events asked for: a hangup is always told
	(void)unused;
	while (poll(&supervisor, 1, -1) < 0 && errno == EINTR) {
	}
	sleep(LAUNCHER_SECONDS);
	kill(getpid(), SIGKILL);
	return NULL;
}

// The thread takes no signals: handlers of the program run on its own threads only.
static void start_thread(void) {
	pthread_t thread;
	pthread_attr_t small;
	sigset_t all, before;
	sigfillset(&all);
	pthread_attr_init(&small);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&small, 64 << 10);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, &small, end_with_supervisor, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&small);
}

void dtl_supervisor_connect(const char *name, const char *of_rank) {
	struct sockaddr_un address = {.sun_family = AF_UNIX}; // an abstract name begins with a zero byte
	size_t length = strlen(name);
	if (length == 0 || length > sizeof address.sun_path - 1)
		return;
	memcpy(address.sun_path + 1, name, length);
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s < 0)
		return;
	if (connect(s, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + length) != 0) {
		close(s);
		return;
	}
	snprintf(rank, sizeof rank, "%s", of_rank);
	connection = s;
	pthread_atfork(NULL, NULL, in_child);
	start_thread();
}

void dtl_supervisor_report(const char *state, int code) {
	char record[64];
	if (connection < 0)
		return;
	int length = snprintf(record, sizeof record, "%s %s %d", rank, state, code);
	(void)!send(connection, record, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void at_exit(int status, void *unused) {
	(void)unused;
	dtl_supervisor_report("ended", status != 0 && (status & 0xff) == 0 ? 1 : status & 0xff);
}

void dtl_supervisor_report_exit(void) { on_exit(at_exit, NULL); }
