/* SPDX-License-Identifier: MIT */
/*
 * domain_only.c - see domain_only.h.
 */
#include "domain_only.h"

#include "filter.h"
#include "log.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sley/domain_host.h>
#include <sley/sley.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define READY 'r' /* of the host to the process that was started          */

/* ---- the host ------------------------------------------------------------------------ */

static void set_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGHUP);
}

/* Until a signal comes, of a user or of host_until_end(). */
static void *wait_for_signal(void *arg)
{
	sigset_t signals;
	int number;

	set_signals(&signals);
	(void)sigwait(&signals, &number);
	sley_domain_host_stop(arg);
	return NULL;
}

/* Rights that a host does not need are given away before there is a second thread. */
static int give_rights_away(void)
{
	int err = user_become(NULL);

	if (err)
		return err;
	err = filter_install();
	if (err)
		log_line("system calls are not filtered: %s", strerror(-err));
	return 0;
}

/*
 * The kernel counts the descriptors that are in packets, which members have not read yet,
 * and refuses more than a process may have open (unix(7)).  Each member brings two for each
 * other, so 64 that come at once need more than the usual 1024.
 */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int start(struct sley_domain_host **host, const char *name)
{
	int err = sley_domain_host_create(
		host, SLEY_DOMAIN_HOST_OPTIONS(.name = name, .ends_alone = 1,
					       .report = log_report));

	if (err && err != -EADDRINUSE)
		log_line("the domain '%s' cannot be hosted: %s", name,
			 sley_strerror(err));
	return err;
}

/* Until the last member has gone, or a signal says so. */
static void host_until_end(struct sley_domain_host *host)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, wait_for_signal, host);

	if (err)
		log_line("signals cannot be waited for: %s", strerror(err));
	sley_domain_host_wait(host);
	if (!err) {
		(void)pthread_kill(thread, SIGTERM);
		(void)pthread_join(thread, NULL);
	}
	sley_domain_host_destroy(host);
}

/* Log lines of a host in the background are for nobody. */
static void close_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO && null >= 0; fd++)
		(void)dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
}

/* @ready is told when a host listens; -1: this process stays in the foreground. */
static int be_host(const char *name, int ready)
{
	static const char byte = READY;
	struct sley_domain_host *host;
	sigset_t signals;
	int err;

	set_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	raise_limit();
	err = give_rights_away() ?: start(&host, name);
	if (err && err != -EADDRINUSE)
		return 1;
	if (ready >= 0) {
		close_streams();
		(void)!write(ready, &byte, 1);
		close(ready);
	}
	if (!err)
		host_until_end(host);
	return 0;
}

/* ---- the background ------------------------------------------------------------------ */

int domain_only(const char *name, bool foreground)
{
	char byte;
	int ready[2], status = 1;
	pid_t pid;

	if (log_open("sleyd", NULL) != 0)
		return status;
	if (foreground)
		return be_host(name, -1);
	if (pipe2(ready, O_CLOEXEC) != 0) {
		log_line("there is no pipe: %s", strerror(errno));
		return status;
	}
	pid = fork();
	if (!pid) {
		close(ready[0]);
		(void)setsid();
		(void)!chdir("/");
		_exit(be_host(name, ready[1]));
	}
	close(ready[1]);
	if (pid < 0)
		log_line("there is no process for the host: %s",
			 strerror(errno));
	else if (read(ready[0], &byte, 1) == 1)
		status = 0;
	close(ready[0]);
	return status;
}
