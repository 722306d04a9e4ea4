#define _GNU_SOURCE
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

// How long an address of another host has to take a connection, and the supervisor there to answer; and after how long without a sign of
// life, of which the system sends one in between, a host counts as gone.
enum { CONNECT_MILLISECONDS = 1000, ANSWER_MILLISECONDS = 5000, SILENT_SECONDS = 15, QUIET_SECONDS = 5, BETWEEN_SECONDS = 2 };

static int connection = -1;
static int records; // the bytes of each record where the connection does not keep them apart; 0: it does
static char rank[32];

// A child that keeps the connection open would hide that the rank has gone.
static void in_child(void) {
	if (connection >= 0)
		close(connection);
	connection = -1;
}

// heed gives this process a signal that dtl run has got, and passes on to hosts where no launcher does.
static void heed(char signum) {
	switch (signum) {
	case SIGUSR1:
	case SIGUSR2:
	case SIGALRM:
	case SIGURG:
	case SIGWINCH:
		kill(getpid(), signum);
	}
}

static void *end_with_supervisor(void *unused) {
	struct pollfd supervisor = {.fd = connection, .events = POLLIN | POLLRDHUP};
	(void)unused;
	for (;;) {
		char signum;
		poll(&supervisor, 1, -1);
		ssize_t n = recv(connection, &signum, 1, MSG_DONTWAIT);
		if (n == 1)
			heed(signum);
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			break;
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

// ours says whether a process of this user listens at the other end of a Unix socket: every user may have any abstract name.
static int ours(int s) {
	struct ucred who;
	socklen_t size = sizeof who;
	return getsockopt(s, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == getuid();
}

// nearby connects with the abstract Unix socket of a name, and returns -1 where nobody of this user listens.
static int nearby(const char *name) {
	struct sockaddr_un address = {.sun_family = AF_UNIX}; // an abstract name begins with a zero byte
	size_t length = strlen(name);
	if (length == 0 || length > sizeof address.sun_path - 1)
		return -1;
	memcpy(address.sun_path + 1, name, length);
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s >= 0 && (connect(s, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 1 + length) != 0 || !ours(s))) {
		close(s);
		return -1;
	}
	return s;
}

// comes waits for an event on a socket.
static int comes(int s, short event, int milliseconds) {
	struct pollfd p = {.fd = s, .events = event};
	int n;
	while ((n = poll(&p, 1, milliseconds)) < 0 && errno == EINTR) {
	}
	return n == 1 && (p.revents & event) != 0;
}

static void set(int s, int level, int option, int value) { setsockopt(s, level, option, &value, sizeof value); }

// greet says that this process is of the job, and where it runs, and waits for the answer.
static int greet(int s, const char *secret) {
	char hello[DTL_SUPERVISOR_RECORD] = {0}, answer, host[64] = {0};
	gethostname(host, sizeof host - 1);
	snprintf(hello, sizeof hello, "%s %s", secret, host);
	return send(s, hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello && comes(s, POLLIN, ANSWER_MILLISECONDS) && recv(s, &answer, 1, 0) == 1;
}

// far connects with an address of another host, "10.0.0.1:7000", and returns -1 where the supervisor does not answer.
static int far(char *at, const char *secret) {
	struct addrinfo want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found;
	char *port = strrchr(at, ':');
	int failed = 1;
	if (port == NULL)
		return -1;
	*port++ = 0;
	if (getaddrinfo(at, port, &want, &found) != 0)
		return -1;
	int s = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s >= 0) {
		set(s, SOL_SOCKET, SO_KEEPALIVE, 1);
		set(s, IPPROTO_TCP, TCP_KEEPIDLE, QUIET_SECONDS);
		set(s, IPPROTO_TCP, TCP_KEEPINTVL, BETWEEN_SECONDS);
		set(s, IPPROTO_TCP, TCP_KEEPCNT, (SILENT_SECONDS - QUIET_SECONDS) / BETWEEN_SECONDS);
		set(s, IPPROTO_TCP, TCP_USER_TIMEOUT, SILENT_SECONDS * 1000);
		set(s, IPPROTO_TCP, TCP_NODELAY, 1);
		if (connect(s, found->ai_addr, found->ai_addrlen) == 0 || errno == EINPROGRESS) {
			socklen_t size = sizeof failed;
			failed = !comes(s, POLLOUT, CONNECT_MILLISECONDS) || getsockopt(s, SOL_SOCKET, SO_ERROR, &failed, &size) != 0 || failed || !greet(s, secret);
		}
		if (failed)
			close(s);
	}
	freeaddrinfo(found);
	return failed ? -1 : s;
}

void dtl_supervisor_connect(const char *name, const char *addresses, const char *secret, const char *of_rank) {
	int s = nearby(name);
	if (s < 0 && *secret != 0) {
		char *list = strdup(addresses), *rest = list, *at;
		while (s < 0 && list != NULL && (at = strsep(&rest, ",")) != NULL)
			s = far(at, secret);
		free(list);
		records = DTL_SUPERVISOR_RECORD;
	}
	if (s < 0)
		return;
	snprintf(rank, sizeof rank, "%s", of_rank);
	connection = s;
	pthread_atfork(NULL, NULL, in_child);
	start_thread();
}

void dtl_supervisor_report(const char *state, int code) {
	char record[DTL_SUPERVISOR_RECORD] = {0};
	if (connection < 0)
		return;
	int length = snprintf(record, sizeof record, "%s %s %d", rank, state, code);
	(void)!send(connection, record, (size_t)(records ? records : length), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void at_exit(int status, void *unused) {
	(void)unused;
	dtl_supervisor_report("ended", status != 0 && (status & 0xff) == 0 ? 1 : status & 0xff);
}

void dtl_supervisor_report_exit(void) { on_exit(at_exit, NULL); }
