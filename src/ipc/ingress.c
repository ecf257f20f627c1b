/* SPDX-License-Identifier: MIT */
/*
 * ingress.c - see ingress.h.
 */
#include "ipc/ingress.h"

#include "core/sched/source.h"
#include "core/sched/worker.h"
#include "ipc/server.h"
#include "os/clock.h"
#include "os/eventfd.h"
#include "os/shared_memory.h"

#define TAGS_MAX 16

static struct connection *connection_of(struct ring_member *member)
{
	return container_of(member, struct connection, member);
}

/* ---- the kernel ------------------------------------------------------------------------- */

/* Is it time to ask the kernel for bells? */
static bool is_time(struct ingress *ingress)
{
	uint64_t now;

	if (!ring_set_has_quiet(&ingress->set))
		return false;
	now = os_now();
	/* relaxed: a time; two that ask at once do no harm. */
	if (now - load_relaxed(&ingress->looked_ns) < INGRESS_LOOK_NS)
		return false;
	/* relaxed: as above. */
	store_relaxed(&ingress->looked_ns, now);
	return true;
}

/* Rings whose bells have rung become active. */
static void hear(struct ingress *ingress)
{
	uint32_t tags[TAGS_MAX];
	int nr = os_epoll_wait(ingress->epoll, tags, TAGS_MAX, 0);

	for (int i = 0; i < nr; i++)
		server_heard(ingress->server, ingress, tags[i]);
}

/* ---- the source -------------------------------------------------------------------------- */

static bool has(void *arg)
{
	struct ingress *ingress = arg;

	return ring_set_has(&ingress->set) ||
	       (is_time(ingress) && os_fd_is_readable(ingress->epoll));
}

static bool arm(void *arg)
{
	struct ingress *ingress = arg;

	return ring_set_arm(&ingress->set);
}

/* One turn of one ring: how many requests were taken, about. */
static uint32_t take_turn(struct ingress *ingress, struct ring_member *member)
{
	struct connection *connection = connection_of(member);
	uint32_t seen = 0;
	enum ring_found found = serve_turn(connection, &ingress->batch, &seen);

	ring_set_looked(&ingress->set, member, seen, found);
	/* Until nothing is left there. */
	if (unlikely(ingress->batch.ended && found == RING_FOUND_SOME))
		ring_set_poke(&ingress->set, member);
	if (unlikely(found == RING_FOUND_END)) {
		os_epoll_remove(ingress->epoll, connection->server_bell);
		connection_put(connection, 1);
	}
	return SERVE_BATCH;
}

static bool take(void *arg)
{
	struct ingress *ingress = arg;
	struct ring_member *member;
	uint32_t nr = 0;

	/* relaxed: the notification of the source orders it. */
	if (unlikely(xchg_relaxed(&ingress->recheck, 0)))
		server_recheck_rings(ingress->server, ingress);
	if (!ring_set_has(&ingress->set) || is_time(ingress))
		hear(ingress);
	/* A ring that is next has its turn: a poke is used up. */
	while (nr < INGRESS_BUDGET && (member = ring_set_next(&ingress->set)))
		nr += take_turn(ingress, member);
	return nr >= INGRESS_BUDGET;
}

/* ---- its life ---------------------------------------------------------------------------- */

int ingress_open(struct ingress *ingress, struct sley_server *server,
		 uint32_t max)
{
	struct mem *mem = server_mem(server);
	struct source_ops ops = {
		.has = has, .take = take, .arm = arm, .brief = true
	};
	int err;

	*ingress = (struct ingress){ .server = server, .set.max = max };
	ingress->epoll = os_epoll_create();
	if (ingress->epoll < 0)
		return ingress->epoll;
	ingress->set.active =
		mem_alloc(mem, max * sizeof(*ingress->set.active));
	ops.fd = ingress->epoll;
	err = ingress->set.active
		      ? source_add(server_runtime(server), &ingress->source,
				   &ops, ingress, false)
		      : -ENOMEM;
	if (!err)
		return 0;
	mem_free(mem, ingress->set.active, max * sizeof(*ingress->set.active));
	os_close(ingress->epoll);
	return err;
}

void ingress_close(struct ingress *ingress)
{
	struct ring_set *set = &ingress->set;

	source_remove(ingress->source);
	sley_assert(!set->nr_active && !set->nr_quiet);
	mem_free(server_mem(ingress->server), set->active,
		 set->max * sizeof(*set->active));
	os_close(ingress->epoll);
}

int ingress_add(struct ingress *ingress, struct connection *connection)
{
	const struct entry_reader *reader =
		&connection->session.server.submissions;
	int err = os_epoll_add_edge(ingress->epoll, connection->server_bell,
				    connection->index);

	if (err)
		return err;
	connection_get(connection, 1);
	spin_lock(&ingress->server->lock);
	connection->ingress = ingress;
	spin_unlock(&ingress->server->lock);
	ring_set_add(&ingress->set, &connection->member, reader->word,
		     entry_ring_seen(reader));
	source_notify(ingress->source);
	return 0;
}

void ingress_look(struct ingress *ingress, struct connection *connection)
{
	ring_set_poke(&ingress->set, &connection->member);
	source_notify(ingress->source);
}

void ingress_recheck(struct ingress *ingress)
{
	/* relaxed: the notification orders it. */
	store_relaxed(&ingress->recheck, 1);
	source_notify(ingress->source);
}
