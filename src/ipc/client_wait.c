/* SPDX-License-Identifier: MIT */
/*
 * client_wait.c - see client_wait.h.
 */
#include "ipc/client_wait.h"

#include "core/wait/wait.h"
#include "ipc/client_pool.h"
#include "ipc/client_connection.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "sync/event.h"

#include <errno.h>
#include <poll.h>
#include <sley/error.h>
#include <string.h>

#define LEADER 1u
#define FOLLOWER 2u

#define NAP_FIRST_NS 20000u
#define NAP_MAX_NS 1000000u

/* What a thread waits for: any of these requests; with none of them, a free slot. */
struct wish {
	struct sley_request *const *requests;
	size_t nr;
};

void client_poll(struct sley_client *client)
{
	(void)client_collect(client);
	connection_drive(client);
}

/* ---- what is complete ---------------------------------------------------------------- */

/* The index of a request that is complete, and may be forgotten; or -EAGAIN. */
static int find_done(struct sley_request *const *requests, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!sley_future_is_done(&requests[i]->done))
			continue;
		/* Its completer may still have the lock of the future. */
		(void)!event_wait(&requests[i]->done.done, SLEY_FOREVER,
				  WAIT_SHIELDED);
		return (int)i;
	}
	return -EAGAIN;
}

/* With the lock: a request that is being completed by another thread; or -EAGAIN. */
static int find_in_hand(struct sley_client *client, const struct wish *wish)
{
	for (size_t i = 0; i < wish->nr; i++) {
		if (!link_has(&client->link, wish->requests[i]->worker,
			      wish->requests[i]))
			return (int)i;
	}
	return -EAGAIN;
}

/* ---- tasks, and whatever nobody wakes ------------------------------------------------ */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* 0, -ECANCELED. */
static int nap_until(uint64_t until_ns, enum wait_flags flags)
{
	struct sley_event never = SLEY_EVENT_INIT;
	int err = event_wait(&never, until_ns, flags);

	return err == -ETIMEDOUT ? 0 : err;
}

static void poll_all(struct sley_request *const *requests, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct sley_client *client = client_of(requests[i]);

		if (client && (i == 0 || client_of(requests[i - 1]) != client))
			client_poll(client);
	}
}

static int wait_by_naps(struct sley_request *const *requests, size_t nr,
			uint64_t deadline_ns, enum wait_flags flags)
{
	uint64_t nap_ns = NAP_FIRST_NS;

	for (;;) {
		uint64_t now_ns;
		int found, err;

		poll_all(requests, nr);
		found = find_done(requests, nr);
		if (found >= 0)
			return found;
		now_ns = os_now();
		if (now_ns >= deadline_ns)
			return -ETIMEDOUT;
		err = nap_until(earlier(now_ns + nap_ns, deadline_ns), flags);
		if (err)
			return err;
		nap_ns = earlier(2 * nap_ns, NAP_MAX_NS);
	}
}

/* Do the workers of the calling task complete the requests of @client? */
static bool has_source_here(const struct sley_client *client)
{
	const struct worker *worker = worker_current();

	return worker && client->source && worker->rt == client->rt;
}

static int wait_as_task(struct sley_client *client,
			struct sley_request *const *requests, size_t nr,
			uint64_t deadline_ns)
{
	struct sley_event *events[SLEY_REQUEST_ANY_MAX];
	int found;

	client_poll(client);
	found = find_done(requests, nr);
	if (found >= 0)
		return found;
	for (size_t i = 0; i < nr; i++)
		events[i] = &requests[i]->done.done;
	return sley_event_wait_any_until(events, nr, deadline_ns);
}

/* ---- plain threads ------------------------------------------------------------------- */

/* What the leader found, with the lock, before it sleeps. */
struct look {
	bool live;
	int in_hand; /* index, or -EAGAIN */
	bool room;
	uint32_t seen;
	uint32_t epoch;
};

static struct look look(struct sley_client *client, const struct wish *wish)
{
	struct look found;

	client_lock(client);
	found = (struct look){
		.live = client->link.state == LINK_LIVE,
		.in_hand = find_in_hand(client, wish),
		.room = link_has_room(&client->link) ||
			client->link.state == LINK_DOWN,
		.seen = link_seen(&client->link),
		/* relaxed: the state, which changes first, is under the lock. */
		.epoch = load_relaxed(&client->epoch),
	};
	client_unlock(client);
	return found;
}

/* One sleep of the leader. */
static void sleep_once(struct sley_client *client, const struct look *found,
		       uint64_t deadline_ns)
{
	uint64_t next_ns = connection_next(client);
	uint64_t soon_ns = os_now() + NAP_FIRST_NS;
	uint64_t until_ns;

	/* If it is time to drive, another thread does: not again at once. */
	until_ns = earlier(deadline_ns, next_ns > soon_ns ? next_ns : soon_ns);
	if (found->live)
		(void)!entry_ring_await(link_completed_word(&client->link),
					found->seen, client->spin_ns, until_ns);
	else
		(void)os_futex_wait(&client->epoch, found->epoch, until_ns);
}

/* The index of a complete request, 0 for room, or -ETIMEDOUT. */
static int lead(struct sley_client *client, const struct wish *wish,
		uint64_t deadline_ns)
{
	for (;;) {
		struct look found;
		int done;

		(void)client_collect(client);
		done = find_done(wish->requests, wish->nr);
		if (done >= 0)
			return done;
		connection_drive(client);
		found = look(client, wish);
		if (!wish->nr && found.room)
			return 0;
		if (found.in_hand >= 0) {
			int err = sley_future_wait_until(
				&wish->requests[found.in_hand]->done,
				deadline_ns);

			return err ? err : found.in_hand;
		}
		if (deadline_ns != SLEY_FOREVER && os_now() >= deadline_ns)
			return -ETIMEDOUT;
		sleep_once(client, &found, deadline_ns);
	}
}

static bool become_leader(struct sley_client *client)
{
	/* relaxed: what a leader looks at is under the lock. */
	return !(or_relaxed(&client->duty, LEADER) & LEADER);
}

static void resign(struct sley_client *client)
{
	/* relaxed: as above; the followers are counted in the same word. */
	if (and_relaxed(&client->duty, ~LEADER) > LEADER)
		sley_event_set(&client->handover);
}

/* The index of a complete request, -EAGAIN: be the leader; or -ETIMEDOUT, -ECANCELED. */
static int follow(struct sley_client *client, const struct wish *wish,
		  uint64_t deadline_ns)
{
	struct sley_event *events[SLEY_REQUEST_ANY_MAX + 1];
	size_t nr = wish->nr;
	int woken;

	for (size_t i = 0; i < nr; i++)
		events[i] = &wish->requests[i]->done.done;
	if (!nr)
		events[nr++] = &client->room;
	events[nr] = &client->handover;
	woken = sley_event_wait_any_until(events, nr + 1, deadline_ns);
	return woken == (int)nr ? -EAGAIN : woken;
}

static int wait_as_thread(struct sley_client *client, const struct wish *wish,
			  uint64_t deadline_ns)
{
	int result = -EAGAIN;
	bool leads = become_leader(client);

	if (!leads) {
		/* What has ended without the daemon, which no leader is told. */
		(void)client_collect(client);
		/* relaxed: see resign(). */
		(void)add_relaxed(&client->duty, FOLLOWER);
		while (result == -EAGAIN && !leads) {
			leads = become_leader(client);
			if (!leads)
				result = follow(client, wish, deadline_ns);
		}
		/* relaxed: as above. */
		(void)sub_relaxed(&client->duty, FOLLOWER);
	}
	if (!leads)
		return result;
	result = lead(client, wish, deadline_ns);
	resign(client);
	return result;
}

/* ---- the calls ----------------------------------------------------------------------- */

/* All requests are of @client, which is not NULL. */
static bool are_of(const struct sley_client *client,
		   struct sley_request *const *requests, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (client_of(requests[i]) != client)
			return false;
	}
	return true;
}

/* Of several clients, or of daemons and of this process. */
static int wait_mixed(struct sley_request *const *requests, size_t nr,
		      uint64_t deadline_ns)
{
	bool by_source = true;

	for (size_t i = 0; i < nr; i++) {
		const struct sley_client *client = client_of(requests[i]);

		by_source &= !client || has_source_here(client);
	}
	if (!by_source)
		return wait_by_naps(requests, nr, deadline_ns, 0);
	for (size_t i = 0; i < nr; i++) {
		if (client_of(requests[i]))
			return wait_as_task(client_of(requests[i]), requests,
					    nr, deadline_ns);
	}
	return -EINVAL;
}

static int wait_of(struct sley_client *client,
		   struct sley_request *const *requests, size_t nr,
		   uint64_t deadline_ns)
{
	struct wish wish = { requests, nr };

	if (has_source_here(client))
		return wait_as_task(client, requests, nr, deadline_ns);
	if (worker_current())
		return wait_by_naps(requests, nr, deadline_ns, 0);
	return wait_as_thread(client, &wish, deadline_ns);
}

int client_wait_any(struct sley_request *const *requests, size_t nr,
		    uint64_t deadline_ns)
{
	int found = find_done(requests, nr);
	struct sley_client *client;

	if (found >= 0)
		return found;
	for (size_t i = 0; i < nr; i++) {
		client = client_of(requests[i]);
		if (client && client_is_lost(client))
			return SLEY_EFORKED;
	}
	client = client_of(requests[0]);
	if (!client || !are_of(client, requests, nr))
		return wait_mixed(requests, nr, deadline_ns);
	client_enter(client);
	found = wait_of(client, requests, nr, deadline_ns);
	client_leave(client);
	return found;
}

int client_wait(struct sley_client *client, struct sley_request *request,
		enum wait_flags flags)
{
	struct wish wish = { &request, 1 };
	int result;

	if (has_source_here(client)) {
		client_poll(client);
		return event_wait(&request->done.done, SLEY_FOREVER, flags);
	}
	if (worker_current())
		result = wait_by_naps(&request, 1, SLEY_FOREVER, flags);
	else
		result = wait_as_thread(client, &wish, SLEY_FOREVER);
	return result < 0 ? result : 0;
}

/* With the lock.  A waiter for room is counted while there is none. */
static bool wants_room(struct sley_client *client)
{
	bool wants = !link_has_room(&client->link) &&
		     client->link.state != LINK_DOWN;

	client->nr_room_waiters += wants;
	return wants;
}

int client_wait_room(struct sley_client *client, enum wait_flags flags)
{
	struct wish wish = { NULL, 0 };
	bool waits, more;
	int err = 0;

	client_poll(client);
	client_lock(client);
	waits = wants_room(client);
	client_unlock(client);
	if (!waits)
		return 0;
	if (has_source_here(client))
		err = event_wait(&client->room, SLEY_FOREVER, flags);
	else if (worker_current())
		err = nap_until(os_now() + NAP_MAX_NS, flags);
	else
		(void)!wait_as_thread(client, &wish, SLEY_FOREVER);
	client_lock(client);
	client->nr_room_waiters--;
	more = client->nr_room_waiters && link_has_room(&client->link);
	client_unlock(client);
	if (more)
		sley_event_set(&client->room);
	return err;
}

int client_wait_live(struct sley_client *client, enum wait_flags flags)
{
	connection_drive(client);
	return nap_until(
		earlier(connection_next(client), os_now() + NAP_MAX_NS), flags);
}

#define GREET_S ((int)(CONNECTION_GREET_NS / 1000000000u))

/* ---- opening and closing ------------------------------------------------------------- */

/* A daemon that a service manager listens for has not begun to serve: no number. */
static void report_silence(const struct sley_client *client, const char *path)
{
	int pid = client->daemon_pid;

	if (pid > 1)
		client_report(client,
			      "the daemon at %s (process %d) does not answer "
			      "within %d s: it is stopped (SIGSTOP), "
			      "overloaded, or methods hold all its workers; "
			      "`kill -CONT %d` or `kill -TERM %d` mends that, "
			      "at worst `kill -9 %d`: its clients go on with "
			      "the next daemon",
			      path, pid, GREET_S, pid, pid, pid);
	else
		client_report(client,
			      "the daemon at %s does not answer within %d s: "
			      "it is stopped (SIGSTOP), overloaded, or methods "
			      "hold all its workers",
			      path, GREET_S);
}

static void report_no_daemon(const struct sley_client *client, int err)
{
	const char *path = client->path[client->which];

	switch (err) {
	case -ENOENT:
	case -ECONNREFUSED:
		client_report(client,
			      "no daemon at %s: start one with `sley daemon "
			      "start`, or name its socket in $SLEY_SOCKET",
			      path);
		break;
	case -ETIMEDOUT:
		report_silence(client, path);
		break;
	default:
		client_report(client, "the daemon at %s refuses: %s", path,
			      client->refusal[0] ? client->refusal
						 : sley_strerror(err));
	}
}

/* The wait of the opener, which is the only thread that knows the client. */
static int await_packet(struct sley_client *client, uint64_t until_ns)
{
	if (worker_current())
		return nap_until(
			earlier(os_now() + 10 * NAP_FIRST_NS, until_ns), 0);
	if (client->source || client->socket < 0)
		return nap_until(earlier(os_now() + NAP_MAX_NS, until_ns), 0);
	(void)!os_fd_wait(client->socket, POLLIN, -1, until_ns);
	return 0;
}

/* 0: connected.  -EAGAIN: not yet; else the last attempt has failed. */
static int how_far(struct sley_client *client)
{
	enum link_state state;
	int refused;

	client_lock(client);
	state = client->link.state;
	refused = client->refused;
	client_unlock(client);
	if (state == LINK_LIVE)
		return 0;
	return state == LINK_GREETING || !refused ? -EAGAIN : refused;
}

static void try_again(struct sley_client *client)
{
	client_lock(client);
	client->refused = 0;
	client_unlock(client);
}

int client_wait_connect(struct sley_client *client)
{
	uint64_t end_ns = os_now() + client->connect_ns;
	int err, cancelled = 0;

	for (;;) {
		connection_drive(client);
		err = how_far(client);
		if (!err || cancelled)
			break;
		if (err != -EAGAIN && os_now() >= end_ns)
			break;
		if (err != -EAGAIN)
			try_again(client);
		cancelled = await_packet(client, os_now() + CLIENT_LOOK_NS);
	}
	if (err)
		err = cancelled ? cancelled : err;
	if (err && !cancelled)
		report_no_daemon(client, err);
	return err;
}

void client_wait_until_left(struct sley_client *client)
{
	while (load_acquire(&client->nr_inside)) /* CL1 */
		(void)!nap_until(os_now() + NAP_FIRST_NS, WAIT_SHIELDED);
}
