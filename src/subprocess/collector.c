/* SPDX-License-Identifier: MIT */
/*
 * collector.c - see collector.h.
 */
#include "subprocess/collector.h"

#include "base/assert.h"
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
	struct sley_subprocess *children[SLEY_SUBPROCESSES_MAX]; /* (lock) */
	uint32_t nr;                                             /* (lock) */
};

#define NO_FAMILY { .socket = -1, .watch = -1, .nudge = -1 }

static struct collector family = NO_FAMILY;

bool collector_exists(void)
{
	return family.exists && family.generation == os_fork_generation();
}

bool collector_is_lost(void)
{
	return family.exists && family.generation != os_fork_generation();
}

void collector_forget(void)
{
	os_close(family.socket);
	os_close(family.watch);
	os_close(family.nudge);
	family = (struct collector){ .socket = -1, .watch = -1, .nudge = -1 };
}

void collector_nudge(void)
{
	os_eventfd_signal(family.nudge);
}

int collector_start(const struct fork_server_order *order, const int *fds)
{
	return os_seqpacket_send(family.socket, order, sizeof(*order), fds);
}

void collector_kill(const struct fork_server_order *order)
{
	if (os_seqpacket_send(family.socket, order, sizeof(*order), NULL) != 0)
		os_seqpacket_end(family.socket);
}

/* ---- the collector ------------------------------------------------------------------ */

static struct sley_subprocess *find(uint32_t id)
{
	struct sley_subprocess *child;

	spin_lock(&family.lock);
	child = id < SLEY_SUBPROCESSES_MAX ? family.children[id] : NULL;
	spin_unlock(&family.lock);
	return child;
}

/* Forgets @child if it is GONE.  Then the creator or destroyer may free it. */
static void let_go(struct sley_subprocess *child)
{
	if (child->phase != LIFE_GONE)
		return;
	os_epoll_remove(family.watch, child->bell);
	spin_lock(&family.lock);
	family.children[child->id] = NULL;
	family.nr--;
	spin_unlock(&family.lock);
	subprocess_release(child);
}

static uint64_t look_after(uint32_t id)
{
	struct sley_subprocess *child = find(id);
	uint64_t deadline;

	if (!child)
		return UINT64_MAX;
	os_eventfd_clear(child->bell);
	deadline = subprocess_look_after(child);
	let_go(child);
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
	family.serverless = true;
	os_epoll_remove(family.watch, family.socket);
	for (uint32_t i = 0; i < SLEY_SUBPROCESSES_MAX; i++) {
		struct sley_subprocess *child = find(i);

		if (!child)
			continue;
		subprocess_orphaned(child);
		let_go(child);
	}
}

static void listen_to_server(void)
{
	struct sley_subprocess *child;
	struct fork_server_notice notice;
	int result;

	while ((result = os_seqpacket_recv(family.socket, &notice,
					   sizeof(notice), NULL, false)) == 1) {
		child = find(notice.id);
		if (!child)
			continue;
		subprocess_notice(child, &notice);
		let_go(child);
	}
	if (result != -EAGAIN)
		lose_server();
}

static bool shall_stop(void)
{
	bool stop;

	spin_lock(&family.lock);
	stop = family.stop;
	spin_unlock(&family.lock);
	return stop;
}

static void *collect(void *arg)
{
	uint64_t next = UINT64_MAX;
	uint32_t tags[TAGS_MAX];

	(void)arg;
	while (!shall_stop()) {
		int nr = os_epoll_wait(family.watch, tags, TAGS_MAX, next);
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
		os_eventfd_clear(family.nudge);
		next = look_after_all();
	}
	return NULL;
}

static int begin_collecting(void)
{
	int err = 0;

	sley_mutex_lock(&family.starting);
	if (!family.collects) {
		err = os_thread_start(&family.thread, "sley-collector", collect,
				      NULL);
		family.collects = !err;
	}
	sley_mutex_unlock(&family.starting);
	return err;
}

/* ---- numbers -------------------------------------------------------------------------- */

static int take_number(struct sley_subprocess *child)
{
	int err = -ENOSPC;

	spin_lock(&family.lock);
	for (uint32_t i = 0; i < SLEY_SUBPROCESSES_MAX && err; i++) {
		if (family.children[i])
			continue;
		child->id = i;
		family.children[i] = child;
		family.nr++;
		err = 0;
	}
	spin_unlock(&family.lock);
	return err;
}

int collector_join(struct sley_subprocess *child)
{
	int err = begin_collecting();

	if (err)
		return err;
	err = take_number(child);
	if (err)
		return err;
	err = os_epoll_add(family.watch, child->bell, child->id);
	if (err) {
		spin_lock(&family.lock);
		family.children[child->id] = NULL;
		family.nr--;
		spin_unlock(&family.lock);
		return err;
	}
	collector_nudge();
	return 0;
}

/* ---- begin and end ---------------------------------------------------------------------- */

static int open_descriptors(void)
{
	int err = 0;

	family.watch = os_epoll_create();
	family.nudge = os_eventfd_create();
	if (family.watch < 0)
		err = family.watch;
	else if (family.nudge < 0)
		err = family.nudge;
	if (!err)
		err = os_epoll_add(family.watch, family.nudge, TAG_NUDGE);
	if (!err)
		err = os_epoll_add(family.watch, family.socket, TAG_SERVER);
	return err;
}

/* Waits for READY from the fork server. */
static int await_server(void)
{
	struct fork_server_notice notice;

	return os_seqpacket_recv(family.socket, &notice, sizeof(notice), NULL,
				 true) == 1
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
	family.socket = fd[0];
	family.server = pid;
	return 0;
}

static void close_all(void)
{
	os_close(family.socket);
	os_close(family.watch);
	os_close(family.nudge);
	os_reap_one(family.server);
	family = (struct collector){ .socket = -1, .watch = -1, .nudge = -1 };
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
	family.generation = os_fork_generation();
	family.exists = true;
	return 0;
}

void sley_subprocesses_exit(void)
{
	if (!collector_exists())
		return;
	sley_check(family.nr == 0,
		   "destroy all subprocesses before sley_subprocesses_exit()");
	if (family.collects) {
		spin_lock(&family.lock);
		family.stop = true;
		spin_unlock(&family.lock);
		collector_nudge();
		os_thread_join(family.thread);
	}
	close_all();
}
