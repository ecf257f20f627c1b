/* SPDX-License-Identifier: MIT */
/*
 * server_priority.c - how urgent requests of other processes are: R-U8.
 */
#include "conformance/ipc/peer.h"

#include <limits.h>
#include <sley/waker.h>

/* ---- a module that tells at which priority it runs ------------------------------------ */

static atomic_int made_at;

static int own_priority(int32_t *priority)
{
	struct sley_waker waker;
	int err = sley_waker_self(&waker);

	*priority = waker.priority;
	return err;
}

static int tell(void *self, struct sley_request *request)
{
	int32_t priority;
	int err = own_priority(&priority);

	(void)self;
	return err ? err
		   : sley_request_answer(request, &priority, sizeof(priority));
}

static int create(void **self, const struct sley_container_info *info)
{
	int32_t priority;
	int err = own_priority(&priority);

	(void)self;
	(void)info;
	atomic_store(&made_at, priority);
	return err;
}

static const struct sley_method teller_methods[] = {
	{ .name = "tell", .run = tell },
};

static const struct sley_module teller = {
	SLEY_MODULE_HEAD("teller"),
	.create = create,
	.methods = teller_methods,
	.nr_methods = 1,
};

/* ---- servers with limits ---------------------------------------------------------------- */

struct limit {
	atomic_int most_urgent;
	atomic_int nr_asked;
};

static int32_t most_urgent(void *self, const struct sley_server_peer *peer)
{
	struct limit *limit = self;

	CHECK_EQ(peer->uid, getuid());
	CHECK_EQ(peer->gid, getgid());
	CHECK_EQ(peer->pid, getpid());
	CHECK_STR(peer->name, "peer");
	atomic_fetch_add(&limit->nr_asked, 1);
	return atomic_load(&limit->most_urgent);
}

/* A client with a pool of tellers, which it has made; the server has asked for its limit. */
struct guest {
	struct peer peer;
	uint32_t pool;
};

static struct guest guest_of(const struct serving *s)
{
	struct guest guest;

	peer_join(&guest.peer, s->path);
	CHECK_EQ(peer_open(&guest.peer, "t", "teller", &guest.pool), 0);
	return guest;
}

static struct serving serving_with(struct limit *limit)
{
	struct serving s = serving_start(
		"none",
		SLEY_SERVER_OPTIONS(.self = limit, .most_urgent = most_urgent));

	CHECK_EQ(sley_router_add(s.r.router, &teller), 0);
	return s;
}

static struct reply ask(struct guest *guest, int16_t priority)
{
	const struct wire_head head = { .pool = guest->pool,
					.out_room = sizeof(int32_t),
					.priority = priority };

	return peer_call(&guest->peer, &head, NULL, 0);
}

/* The priority at which a request for @priority runs. */
static int32_t runs_at(struct guest *guest, int16_t priority)
{
	const struct reply reply = ask(guest, priority);
	int32_t found;

	CHECK_EQ(reply.code, 0);
	CHECK_EQ(reply.size, sizeof(found));
	memcpy(&found, reply.data, sizeof(found));
	return found;
}

/* ---- limits -------------------------------------------------------------------------------- */

TEST_WORKERS(ru8_a_request_above_the_limit_of_its_client_runs_at_the_limit)
{
	struct limit limit = { .most_urgent = 0 };
	struct serving s = serving_with(&limit);
	struct guest guest = guest_of(&s);

	CHECK_EQ(runs_at(&guest, SLEY_PRIORITY_MIN), 0);
	CHECK_EQ(runs_at(&guest, -1), 0);
	CHECK_EQ(runs_at(&guest, 0), 0);
	CHECK_EQ(runs_at(&guest, 5), 5);
	CHECK_EQ(runs_at(&guest, SLEY_PRIORITY_MAX), SLEY_PRIORITY_MAX);
	/* What is no priority becomes none by a limit. */
	CHECK_EQ(ask(&guest, SLEY_PRIORITY_MIN - 1).code, SLEY_EPRIORITY);
	CHECK_EQ(ask(&guest, INT16_MIN).code, SLEY_EPRIORITY);
	CHECK_EQ(ask(&guest, SLEY_PRIORITY_MAX + 1).code, SLEY_EPRIORITY);
	CHECK_EQ(atomic_load(&limit.nr_asked), 1);
	peer_leave(&guest.peer);
	serving_stop(&s);
}

TEST_WORKERS(ru8_a_request_runs_at_any_priority_without_a_limit)
{
	struct serving s = serving_start("none", NULL);
	struct guest guest;

	CHECK_EQ(sley_router_add(s.r.router, &teller), 0);
	guest = guest_of(&s);
	CHECK_EQ(runs_at(&guest, SLEY_PRIORITY_MIN), SLEY_PRIORITY_MIN);
	CHECK_EQ(runs_at(&guest, 5), 5);
	peer_leave(&guest.peer);
	serving_stop(&s);
}

TEST_WORKERS(ru8_a_limit_is_that_of_one_client)
{
	struct limit limit = { .most_urgent = 0 };
	struct serving s = serving_with(&limit);
	struct guest first = guest_of(&s), second;

	atomic_store(&limit.most_urgent, SLEY_PRIORITY_MIN);
	second = guest_of(&s);
	CHECK_EQ(runs_at(&first, SLEY_PRIORITY_MIN), 0);
	CHECK_EQ(runs_at(&second, SLEY_PRIORITY_MIN), SLEY_PRIORITY_MIN);
	peer_leave(&first.peer);
	peer_leave(&second.peer);
	serving_stop(&s);
}

TEST_WORKERS(ru8_a_limit_that_has_changed_holds_after_a_refresh)
{
	static const int limits[] = { -10, 20, SLEY_PRIORITY_MIN };
	struct limit limit = { .most_urgent = 0 };
	struct serving s = serving_with(&limit);
	struct guest guest = guest_of(&s);
	int32_t before = 0;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		atomic_store(&limit.most_urgent, limits[i]);
		CHECK_EQ(runs_at(&guest, SLEY_PRIORITY_MIN), before);
		sley_server_refresh(s.server);
		EVENTUALLY(runs_at(&guest, SLEY_PRIORITY_MIN) == limits[i]);
		CHECK_EQ(atomic_load(&limit.nr_asked), i + 2);
		before = limits[i];
	}
	peer_leave(&guest.peer);
	serving_stop(&s);
}

TEST_WORKERS(ru8_a_limit_that_is_out_of_range_is_the_nearest_in_range)
{
	struct limit limit = { .most_urgent = INT_MIN };
	struct serving s = serving_with(&limit);
	struct guest low = guest_of(&s), high;

	atomic_store(&limit.most_urgent, INT_MAX);
	high = guest_of(&s);
	CHECK_EQ(runs_at(&low, SLEY_PRIORITY_MIN), SLEY_PRIORITY_MIN);
	CHECK_EQ(runs_at(&high, SLEY_PRIORITY_MIN), SLEY_PRIORITY_MAX);
	peer_leave(&low.peer);
	peer_leave(&high.peer);
	serving_stop(&s);
}

/* Also what a client asks of the server itself. */
TEST_WORKERS(ru8_a_pool_is_made_at_the_limit_of_its_client)
{
	struct limit limit = { .most_urgent = 3 };
	struct serving s = serving_with(&limit);
	struct guest guest;

	atomic_store(&made_at, 0);
	guest = guest_of(&s);
	CHECK_EQ(atomic_load(&made_at), 3);
	peer_leave(&guest.peer);
	serving_stop(&s);
}
