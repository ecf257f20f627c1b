/* SPDX-License-Identifier: MIT */
/*
 * signals.c - see signals.h.
 */
#include "signals.h"

#include "farewell.h"
#include "log.h"
#include "notify.h"
#include "reload.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- hang-ups ------------------------------------------------------------------------- */

static void refresh(struct daemon *daemon)
{
	int result;

	notify("RELOADING=1");
	reload_users(daemon);
	result = sley_router_refresh(daemon->router);
	notify("READY=1");
	if (result < 0)
		log_line("hang-up: not all modules were loaded again: %s",
			 sley_strerror(result));
	else
		log_line("hang-up: %d new versions of modules", result);
}

static void serve_hang_ups(void *arg)
{
	struct daemon *daemon = arg;

	/* An error: the runtime ends. */
	while (sley_event_wait(&daemon->hang_up) == 0)
		refresh(daemon);
}

int signals_serve(struct daemon *daemon)
{
	return sley_spawn_on(daemon->rt, &daemon->tasks, &daemon->hang_ups,
			     serve_hang_ups, daemon, NULL);
}

/* ---- the thread ------------------------------------------------------------------------ */

/* A method does not end: nothing is left to be lost by an end without it. */
static void give_up(const struct daemon *daemon)
{
	log_line("requests do not end, though they were cancelled; the daemon "
		 "ends without them");
	if (daemon->config->pid_file)
		(void)unlink(daemon->config->pid_file);
	farewell_end();
	_exit(1);
}

static void hear_hang_up(struct daemon *daemon)
{
	int err = log_reopen();

	if (err)
		log_line("the log is not opened again: %s", strerror(-err));
	sley_event_set(&daemon->hang_up);
}

static void hear(struct daemon *daemon, int number)
{
	if (number == SIGALRM) {
		give_up(daemon);
	} else if (number == SIGHUP) {
		hear_hang_up(daemon);
	} else {
		log_line("%s: %s", strsignal(number),
			 atomic_load(&daemon->nr_stops)
				 ? "requests under way are cancelled"
				 : "requests under way are answered");
		daemon_stop(daemon, 0, false);
	}
}

static void *listen_to_signals(void *arg)
{
	struct daemon *daemon = arg;
	sigset_t signals;
	int number;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGALRM);
	for (;;) {
		if (sigwait(&signals, &number))
			continue;
		if (atomic_load(&daemon->is_deaf))
			return NULL;
		hear(daemon, number);
	}
}

int signals_start(struct daemon *daemon)
{
	sigset_t alarms;
	int err;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	sley_event_init(&daemon->hang_up, true, false);
	err = pthread_create(&daemon->listener, NULL, listen_to_signals,
			     daemon);
	if (err)
		log_line("the thread for signals does not start: %s",
			 strerror(err));
	return -err;
}

void signals_end(struct daemon *daemon)
{
	alarm(0);
	atomic_store(&daemon->is_deaf, true);
	/* No other thread takes it. */
	(void)kill(getpid(), SIGALRM);
	(void)pthread_join(daemon->listener, NULL);
}
