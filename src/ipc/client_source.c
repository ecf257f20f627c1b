/* SPDX-License-Identifier: MIT */
/*
 * client_source.c - see client_source.h.
 *
 * Edges:
 *
 *  CL2  see ipc/client.h
 *  CS1  a kick without memory for a task -> a worker kicks again : that there is no task
 */
#include "ipc/client_source.h"

#include "core/sched/source.h"
#include "ipc/client_wait.h"
#include "ipc/client_connection.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

#include <sley/task.h>
#include <sley/time.h>

#define TAG_SOCKET 1u
#define TAG_BELL 2u
#define TAGS_MAX 4

#define LOOK_NS 1000000u

/* ---- the source ---------------------------------------------------------------------- */

static bool is_live(const struct sley_client *client)
{
	return load_acquire(&client->is_live); /* CL2 */
}

static bool has_answers(const struct sley_client *client)
{
	/* relaxed: a hint; the taker looks with the lock. */
	return entry_ring_is_news(
		count_word_load(&client->ring.memory->completed),
		load_relaxed(&client->seen));
}

/* Is it time to ask the kernel whether the daemon has ended? */
static bool is_time(struct sley_client *client)
{
	uint64_t now_ns = os_now();

	/* relaxed: a time; two that ask at once do no harm. */
	if (now_ns - load_relaxed(&client->looked_ns) < LOOK_NS)
		return false;
	/* relaxed: as above. */
	store_relaxed(&client->looked_ns, now_ns);
	return true;
}

static bool has(void *arg)
{
	struct sley_client *client = arg;

	/* relaxed: as in has_answers(). */
	if (load_relaxed(&client->urgent))
		return true;
	return is_live(client) &&
	       (has_answers(client) ||
		(is_time(client) && os_fd_is_readable(client->epoll)));
}

static bool arm(void *arg)
{
	struct sley_client *client = arg;

	/* relaxed: a hint: older than the truth, and there is news in vain. */
	return is_live(client) &&
	       entry_ring_watch(&client->ring.memory->completed,
				load_relaxed(&client->seen));
}

/* Else it would be full one day, and not ring any more. */
static void clear_bell(struct sley_client *client)
{
	spin_lock(&client->lock);
	if (client->bell >= 0)
		os_bell_clear(client->bell);
	spin_unlock(&client->lock);
}

static bool take(void *arg)
{
	struct sley_client *client = arg;
	uint32_t tags[TAGS_MAX];
	int nr = os_epoll_wait(client->epoll, tags, TAGS_MAX, 0);

	for (int i = 0; i < nr; i++) {
		if (tags[i] == TAG_SOCKET)
			/* relaxed: KN1 of ipc/client_connection.h. */
			store_relaxed(&client->urgent, 1);
		else
			clear_bell(client);
	}
	client_poll(client);
	if (xchg_acquire(&client->orphaned, 0)) /* CS1 */
		client_source_kick(client);
	return false;
}

/* ---- connecting again ---------------------------------------------------------------- */

static bool is_down(struct sley_client *client)
{
	bool down;

	client_lock(client);
	/* The opener looks for the first daemon itself. */
	down = !client->closing && client->link.counts.connects &&
	       (client->link.state == LINK_LOST ||
		client->link.state == LINK_GREETING);
	client_unlock(client);
	return down;
}

/* True: there is need for a task that connects again, and the caller makes or is it. */
static bool take_on(struct sley_client *client)
{
	/* relaxed: ordered by the lock, which is_down() has had; see reconnect(). */
	return is_down(client) && !xchg_relaxed(&client->reconnecting, 1);
}

/*
 * The connection may be lost again while the task ends, and the kick finds the task.  So
 * the task looks once more after it has said that it ends.  The kick and the task have the
 * lock, one after the other:
 *
 *   kick                                task
 *   has the lock: the connection is     reconnecting = 0
 *     down                              has the lock: the connection is down, and the
 *   reconnecting = 1: there is a task     task takes itself on; or the kick comes later,
 *                                         and finds no task
 */
static void reconnect(void *arg)
{
	struct sley_client *client = arg;

	do {
		while (is_down(client))
			(void)!client_wait_live(client, WAIT_SHIELDED);
		/* relaxed: as above. */
		store_relaxed(&client->reconnecting, 0);
	} while (take_on(client));
	client_leave(client);
}

void client_source_kick(struct sley_client *client)
{
	if (!client->source)
		return;
	source_notify(client->source);
	if (!take_on(client))
		return;
	client_enter(client);
	if (!sley_schedule_on(client->rt, reconnect, client, NULL))
		return;
	/* relaxed: CS1. */
	store_relaxed(&client->reconnecting, 0);
	store_release(&client->orphaned, 1); /* CS1 */
	/* No memory: a worker tries again.  Those that sleep have heard of the end only. */
	source_notify(client->source);
	client_leave(client);
}

/* ---- beginning and end --------------------------------------------------------------- */

int client_source_begin(struct sley_client *client)
{
	struct source_ops ops = {
		.has = has, .take = take, .arm = arm, .brief = true
	};
	int err;

	client->epoll = ops.fd = os_epoll_create();
	if (ops.fd < 0)
		return ops.fd;
	err = source_add(client->rt, &client->source, &ops, client, false);
	if (err)
		client->source = NULL;
	return err;
}

void client_source_end(struct sley_client *client)
{
	if (client->source)
		source_remove(client->source);
	client->source = NULL;
	os_close(client->epoll);
	client->epoll = -1;
}

int client_source_watch(struct sley_client *client, int fd, bool edge)
{
	if (client->epoll < 0)
		return 0;
	return edge ? os_epoll_add_edge(client->epoll, fd, TAG_BELL)
		    : os_epoll_add(client->epoll, fd, TAG_SOCKET);
}

void client_source_ignore(struct sley_client *client, int fd)
{
	if (client->epoll >= 0 && fd >= 0)
		os_epoll_remove(client->epoll, fd);
}
