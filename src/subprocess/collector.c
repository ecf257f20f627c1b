/* SPDX-License-Identifier: MIT */
/*
 * collector.c - see collector.h.
 */
#include "subprocess/collector.h"

#include "base/assert.h"
#include "subprocess/listener.h"
#include "subprocess/subprocess.h"
#include "os/eventfd.h"
#include "os/pidfd.h"
#include "os/seqpacket.h"
#include "os/at_fork.h"
#include "os/shared_memory.h"
#include "os/thread.h"

#include <errno.h>
#include <sley/error.h>

/* The sources of events; lower tags are the numbers of subprocesses. */
#define TAG_NUDGE SLEY_SUBPROCESSES_MAX
#define TAG_SERVER (SLEY_SUBPROCESSES_MAX + 1)
#define TAGS_MAX 16

struct collector {
	bool exists;
	unsigned int generation; /* of the process that it belongs to */
	int server;              /* pid                               */
	int socket;
	int watch;
	int nudge;
	struct sley_mutex starting; /* for the start of the thread */
	bool collects;
	bool stop;       /* (lock) */
	bool serverless; /* the fork server has ended; by the collector */
	pthread_t thread;
	struct spinlock lock;
	struct sley_subprocess *subprocesses[SLEY_SUBPROCESSES_MAX]; /* (lock) */
	uint32_t nr; /* (lock) */
};

#define NO_COLLECTOR { .socket = -1, .watch = -1, .nudge = -1 }

static struct collector collector = NO_COLLECTOR;

bool collector_exists(void)
{
	return collector.exists && collector.generation == os_fork_generation();
}

bool collector_is_lost(void)
{
	return collector.exists && collector.generation != os_fork_generation();
}

void collector_forget(void)
{
	listeners_forget();
	os_close(collector.socket);
	os_close(collector.watch);
	os_close(collector.nudge);
	collector =
		(struct collector){ .socket = -1, .watch = -1, .nudge = -1 };
}

void collector_nudge(void)
{
	os_eventfd_signal(collector.nudge);
}

int collector_start(const struct fork_server_order *order, const int *fds,
		    uint32_t nr_fds)
{
	return os_seqpacket_send(collector.socket, order, sizeof(*order), fds,
				 nr_fds);
}

void collector_kill(const struct fork_server_order *order)
{
	if (os_seqpacket_send(collector.socket, order, sizeof(*order), NULL,
			      0) != 0)
		os_seqpacket_end(collector.socket);
}

/* ---- the collector ------------------------------------------------------------------ */

static struct sley_subprocess *find(uint32_t id)
{
	struct sley_subprocess *subprocess;

	spin_lock(&collector.lock);
	subprocess = id < SLEY_SUBPROCESSES_MAX ? collector.subprocesses[id]
						: NULL;
	spin_unlock(&collector.lock);
	return subprocess;
}

/* Forgets @subprocess if it is GONE.  Then the creator or destroyer may free it. */
static void let_go(struct sley_subprocess *subprocess)
{
	if (subprocess->phase != LIFE_GONE)
		return;
	os_epoll_remove(collector.watch, subprocess->eventfd);
	spin_lock(&collector.lock);
	collector.subprocesses[subprocess->id] = NULL;
	collector.nr--;
	spin_unlock(&collector.lock);
	subprocess_release(subprocess);
}

static uint64_t look_after(uint32_t id)
{
	struct sley_subprocess *subprocess = find(id);
	uint64_t deadline;

	if (!subprocess)
		return UINT64_MAX;
	os_eventfd_clear(subprocess->eventfd);
	deadline = subprocess_look_after(subprocess);
	let_go(subprocess);
	return deadline;
}

static uint64_t look_after_all(void)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < SLEY_SUBPROCESSES_MAX; i++) {
		uint64_t deadline = look_after(i);

		if (deadline < next)
			next = deadline;
	}
	return next;
}

static void lose_server(void)
{
	collector.serverless = true;
	os_epoll_remove(collector.watch, collector.socket);
	for (uint32_t i = 0; i < SLEY_SUBPROCESSES_MAX; i++) {
		struct sley_subprocess *subprocess = find(i);

		if (!subprocess)
			continue;
		subprocess_orphaned(subprocess);
		let_go(subprocess);
	}
}

static void listen_to_server(void)
{
	struct sley_subprocess *subprocess;
	struct fork_server_notice notice;
	int result;

	while ((result = os_seqpacket_recv(collector.socket, &notice,
					   sizeof(notice), NULL, 0, false)) ==
	       1) {
		subprocess = find(notice.id);
		if (!subprocess)
			continue;
		subprocess_notice(subprocess, &notice);
		let_go(subprocess);
	}
	if (result != -EAGAIN)
		lose_server();
}

static bool shall_stop(void)
{
	bool stop;

	spin_lock(&collector.lock);
	stop = collector.stop;
	spin_unlock(&collector.lock);
	return stop;
}

static void *collect(void *arg)
{
	uint64_t next = UINT64_MAX;
	uint32_t tags[TAGS_MAX];

	(void)arg;
	while (!shall_stop()) {
		int nr = os_epoll_wait(collector.watch, tags, TAGS_MAX, next);
		bool all = os_now() >= next;

		for (int i = 0; i < nr; i++) {
			uint64_t deadline = UINT64_MAX;

			if (tags[i] == TAG_NUDGE || tags[i] == TAG_SERVER)
				all = true;
			else
				deadline = look_after(tags[i]);
			if (tags[i] == TAG_SERVER)
				listen_to_server();
			if (deadline < next)
				next = deadline;
		}
		if (!all)
			continue;
		os_eventfd_clear(collector.nudge);
		next = look_after_all();
	}
	return NULL;
}

static int begin_collecting(void)
{
	int err = 0;

	sley_mutex_lock(&collector.starting);
	if (!collector.collects) {
		err = os_thread_start(&collector.thread, "sley-collector",
				      collect, NULL);
		collector.collects = !err;
	}
	sley_mutex_unlock(&collector.starting);
	return err;
}

/* ---- numbers -------------------------------------------------------------------------- */

static int take_number(struct sley_subprocess *subprocess)
{
	int err = -ENOSPC;

	spin_lock(&collector.lock);
	for (uint32_t i = 0; i < SLEY_SUBPROCESSES_MAX && err; i++) {
		if (collector.subprocesses[i])
			continue;
		subprocess->id = i;
		collector.subprocesses[i] = subprocess;
		collector.nr++;
		err = 0;
	}
	spin_unlock(&collector.lock);
	return err;
}

int collector_join(struct sley_subprocess *subprocess)
{
	int err = begin_collecting();

	if (err)
		return err;
	err = take_number(subprocess);
	if (err)
		return err;
	err = os_epoll_add(collector.watch, subprocess->eventfd,
			   subprocess->id);
	if (err) {
		spin_lock(&collector.lock);
		collector.subprocesses[subprocess->id] = NULL;
		collector.nr--;
		spin_unlock(&collector.lock);
		return err;
	}
	collector_nudge();
	return 0;
}

/* ---- begin and end ---------------------------------------------------------------------- */

static int open_descriptors(void)
{
	int err = 0;

	collector.watch = os_epoll_create();
	collector.nudge = os_eventfd_create();
	if (collector.watch < 0)
		err = collector.watch;
	else if (collector.nudge < 0)
		err = collector.nudge;
	if (!err)
		err = os_epoll_add(collector.watch, collector.nudge, TAG_NUDGE);
	if (!err)
		err = os_epoll_add(collector.watch, collector.socket,
				   TAG_SERVER);
	return err;
}

/* Waits for READY from the fork server. */
static int await_server(void)
{
	struct fork_server_notice notice;

	return os_seqpacket_recv(collector.socket, &notice, sizeof(notice),
				 NULL, 0, true) == 1
		       ? 0
		       : SLEY_ECHILD;
}

static int start_server(void)
{
	int program = os_pid(), fd[2], pid;
	int err = os_seqpacket_pair(fd);

	if (err)
		return err;
	pid = os_fork();
	if (pid == 0) {
		os_close(fd[0]);
		fork_server_run(fd[1], program);
	}
	os_close(fd[1]);
	if (pid < 0) {
		os_close(fd[0]);
		return pid;
	}
	collector.socket = fd[0];
	collector.server = pid;
	return 0;
}

static void close_all(void)
{
	os_close(collector.socket);
	os_close(collector.watch);
	os_close(collector.nudge);
	os_reap_one(collector.server);
	collector =
		(struct collector){ .socket = -1, .watch = -1, .nudge = -1 };
}

int sley_subprocesses_init(void)
{
	int err;

	if (collector_exists())
		return -EALREADY;
	if (os_nr_threads() > 1)
		return -EBUSY;
	collector_forget();
	err = start_server();
	if (err)
		return err;
	err = open_descriptors();
	if (!err)
		err = await_server();
	if (err) {
		close_all();
		return err;
	}
	collector.generation = os_fork_generation();
	collector.exists = true;
	return 0;
}

void sley_subprocesses_exit(void)
{
	if (!collector_exists())
		return;
	sley_check(collector.nr == 0,
		   "destroy all subprocesses before sley_subprocesses_exit()");
	if (collector.collects) {
		spin_lock(&collector.lock);
		collector.stop = true;
		spin_unlock(&collector.lock);
		collector_nudge();
		os_thread_join(collector.thread);
	}
	close_all();
}
