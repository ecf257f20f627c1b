/* SPDX-License-Identifier: MIT */
/*
 * server_request.c - requests of other processes: C04, C23, C36, C38, C39.
 */
#include "conformance/ipc/peer.h"

#include "os/map.h"

/* A client with the pool "p". */
struct visit {
	struct serving s;
	struct peer peer;
	uint32_t pool;
};

static struct visit visit_with(struct serving serving)
{
	struct visit v = { .s = serving };

	peer_join(&v.peer, v.s.path);
	CHECK_EQ(peer_open(&v.peer, "p", "", &v.pool), 0);
	return v;
}

static struct visit visit(const char *policy)
{
	return visit_with(serving_start(policy, NULL));
}

static void end_visit(struct visit *v)
{
	peer_leave(&v->peer);
	serving_stop(&v->s);
}

static struct wire_head head_of(const struct visit *v, uint32_t method)
{
	return (struct wire_head){ .pool = v->pool,
				   .method = method,
				   .out_room = 512 };
}

/* ---- one request -------------------------------------------------------------------- */

TEST_WORKERS(a_request_of_another_process_is_served)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_ECHO);
	struct reply reply;

	for (int i = 0; i < 100; i++) {
		reply = peer_call(&v.peer, &head, &i, sizeof(i));
		CHECK_EQ(reply.code, 0);
		CHECK_EQ(reply.size, sizeof(i));
		CHECK_EQ(memcmp(reply.data, &i, sizeof(i)), 0);
	}
	CHECK_EQ(serving_stats(&v.s).nr_in_flight, 0);
	end_visit(&v);
}

TEST_WORKERS(codes_of_methods_are_codes_of_answers)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_FAIL);
	static const int codes[] = { 0, -EIO, -1, 7 };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		CHECK_EQ(peer_call(&v.peer, &head, &codes[i], sizeof(int)).code,
			 codes[i]);
	head = head_of(&v, PROBE_NOTHING);
	CHECK_EQ(peer_call(&v.peer, &head, NULL, 0).code, -ENOSYS);
	head = head_of(&v, PROBE_WHERE);
	head.query_kind = SLEY_QUERY_ID;
	head.query_first = 99;
	CHECK_EQ(peer_call(&v.peer, &head, NULL, 0).code, -ENXIO);
	head.query_kind = 77;
	CHECK_EQ(peer_call(&v.peer, &head, NULL, 0).code, -EINVAL);
	head = head_of(&v, PROBE_WHERE);
	head.priority = 1000;
	CHECK_EQ(peer_call(&v.peer, &head, NULL, 0).code, SLEY_EPRIORITY);
	head = head_of(&v, PROBE_ECHO);
	head.out_room = 2;
	CHECK_EQ(peer_call(&v.peer, &head, "abc", 3).code, -EMSGSIZE);
	end_visit(&v);
}

TEST_WORKERS(a_request_may_go_to_all_containers)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_ID);
	struct reply reply;
	uint64_t digits;

	head.query_kind = SLEY_QUERY_BROADCAST;
	head.out_room = sizeof(digits);
	reply = peer_call(&v.peer, &head, NULL, 0);
	CHECK_EQ(reply.code, 0);
	CHECK_EQ(reply.size, sizeof(digits));
	memcpy(&digits, reply.data, sizeof(digits));
	CHECK_EQ(digits, 1);
	end_visit(&v);
}

TEST_WORKERS(a_deadline_of_the_client_counts)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_WAIT);
	struct sley_event never, *event = &never;

	sley_event_init(&never, false, false);
	head.deadline_ns = sley_after(2 * SLEY_MSEC);
	CHECK_EQ(peer_call(&v.peer, &head, &event, sizeof(event)).code,
		 -ETIMEDOUT);
	end_visit(&v);
}

TEST_WORKERS(a_forgotten_request_is_run_and_frees_its_slot)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_COUNT);
	int before = atomic_load(&probe_counts.begun);

	head.flags = WIRE_FORGOTTEN;
	for (int i = 0; i < 200; i++)
		CHECK_EQ(peer_call(&v.peer, &head, NULL, 0).size, 0);
	CHECK_EQ(atomic_load(&probe_counts.begun) - before, 200);
	end_visit(&v);
}

TEST_WORKERS(a_request_in_flight_is_cancelled)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_WAIT);
	struct sley_event never, *event = &never;
	struct wire_head cancel = { .method = WIRE_CONTROL_CANCEL };
	int before = atomic_load(&probe_counts.begun);
	struct wire_number number;
	struct reply first, second;

	sley_event_init(&never, false, false);
	number.number = peer_put(&v.peer, &head, &event, sizeof(event));
	peer_publish(&v.peer);
	EVENTUALLY(atomic_load(&probe_counts.begun) > before);
	peer_put(&v.peer, &cancel, &number, sizeof(number));
	peer_publish(&v.peer);
	first = peer_collect(&v.peer);
	second = peer_collect(&v.peer);
	if (first.id != number.number) {
		struct reply swap = first;

		first = second;
		second = swap;
	}
	CHECK_EQ(first.id, number.number);
	CHECK_EQ(first.code, -ECANCELED);
	CHECK_EQ(second.code, 0);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_CANCEL, number.number).code,
		 -ENOENT);
	end_visit(&v);
}

/* ---- C04: where it runs ------------------------------------------------------------- */

static atomic_int nr_asked, nr_inside, asked_process, lane;

static uint32_t client_map(void *self, const struct sley_route *route)
{
	(void)self;
	atomic_fetch_add(&nr_asked, 1);
	atomic_store(&asked_process, sley_route_process(route));
	CHECK_EQ(route->here, SLEY_NO_WORKER);
	return (uint32_t)atomic_load(&lane);
}

static uint32_t runtime_map(void *self, const struct sley_route *route)
{
	(void)self;
	(void)route;
	atomic_fetch_add(&nr_inside, 1);
	return SLEY_NO_WORKER;
}

static int two_lanes(void *self, struct sley_router *router)
{
	(void)self;
	return sley_router_set_client_lanes(router, 2);
}

static const struct sley_policy asking = {
	SLEY_POLICY_HEAD("asking"),
	.divide_workers = two_lanes,
	.client_map = client_map,
	.runtime_map = runtime_map,
};

TEST(c04_client_map_is_asked_for_each_request_of_a_client)
{
	struct sley_config config = config_of(2);
	struct visit v =
		visit_with(serving_of(routing_by(&config, &asking, 0), NULL));
	struct wire_head head = head_of(&v, PROBE_WHERE);
	struct place place;
	struct reply reply;

	skip_chaos();
	for (int i = 0; i < 20; i++) {
		atomic_store(&lane, i % 2);
		reply = peer_call(&v.peer, &head, NULL, 0);
		CHECK_EQ(reply.code, 0);
		CHECK_EQ(atomic_load(&nr_asked), i + 1);
	}
	CHECK_EQ(atomic_load(&nr_inside), 0);
	CHECK_EQ(atomic_load(&asked_process), getpid());
	memcpy(&place, reply.data, sizeof(place));
	CHECK_GE(place.worker, 0);
	end_visit(&v);
}

TEST(c04_an_answer_that_is_no_lane_is_refused_and_counted)
{
	struct sley_config config = config_of(2);
	struct visit v =
		visit_with(serving_of(routing_by(&config, &asking, 0), NULL));
	struct wire_head head = head_of(&v, PROBE_WHERE);

	atomic_store(&lane, 2);
	CHECK_EQ(peer_call(&v.peer, &head, NULL, 0).code, 0);
	CHECK_EQ(router_stats(v.s.r.router).refused, 1);
	end_visit(&v);
}

/* ---- C23: copied once ---------------------------------------------------------------- */

static struct sley_event changed;
static atomic_int nr_read;

/* Reads its IN part twice: before and after the client has changed its memory. */
static int read_twice(void *self, struct sley_request *request)
{
	size_t size;
	const void *in = sley_request_in(request, &size);
	char first[64];
	int err;

	(void)self;
	CHECK_EQ(size, sizeof(first));
	memcpy(first, in, sizeof(first));
	atomic_fetch_add(&nr_read, 1);
	err = sley_event_wait(&changed);
	if (err)
		return err;
	return memcmp(first, in, sizeof(first)) ? -EIO : 0;
}

static _Atomic(const struct request_ring *) spoilt;

/* The client changes all heads while the daemon runs its requests. */
static int change_heads(void *self, struct sley_request *request)
{
	const struct request_ring *ring = atomic_load(&spoilt);

	(void)self;
	(void)request;
	for (uint32_t i = 0; i < ring->depth; i++)
		memset(request_ring_slot(ring, i), 0xff,
		       sizeof(struct wire_head));
	atomic_store(&spoilt, NULL);
	return 0;
}

static int seven(void *self, struct sley_request *request)
{
	(void)self;
	(void)request;
	return 7;
}

enum { READ_TWICE, CHANGE_HEADS, SEVEN, NR_CAREFUL };

static const struct sley_method careful_methods[NR_CAREFUL] = {
	[READ_TWICE] = { .name = "read twice", .run = read_twice },
	[CHANGE_HEADS] = { .name = "change heads",
			   .run = change_heads,
			   .flags = SLEY_METHOD_SHORT },
	[SEVEN] = { .name = "seven", .run = seven },
};

static const struct sley_module careful = {
	SLEY_MODULE_HEAD("careful"),
	.methods = careful_methods,
	.nr_methods = NR_CAREFUL,
};

TEST_WORKERS(c23_a_method_reads_a_copy_that_the_client_cannot_change)
{
	struct visit v = visit("none");
	struct wire_head head = { .method = READ_TWICE };
	char in[64] = "not to be changed";
	struct reply reply;

	sley_event_init(&changed, false, false);
	CHECK_EQ(sley_router_add(v.s.r.router, &careful), 0);
	CHECK_EQ(peer_open(&v.peer, "careful", "careful", &head.pool), 0);
	peer_put(&v.peer, &head, in, sizeof(in));
	peer_publish(&v.peer);
	EVENTUALLY(atomic_load(&nr_read) == 1);
	for (uint32_t i = 0; i < v.peer.ring.depth; i++)
		memset(request_ring_slot(&v.peer.ring, i), 0xee, 1024);
	sley_event_set(&changed);
	reply = peer_collect(&v.peer);
	CHECK_EQ(reply.code, 0);
	end_visit(&v);
}

/* The first request of the batch is run in the taker, before the others are submitted. */
TEST_WORKERS(c23_a_method_is_chosen_by_the_copy_of_a_head)
{
	struct visit v = visit("none");
	struct wire_head head = { .method = CHANGE_HEADS };
	uint64_t first;

	CHECK_EQ(sley_router_add(v.s.r.router, &careful), 0);
	CHECK_EQ(peer_open(&v.peer, "careful", "careful", &head.pool), 0);
	first = peer_put(&v.peer, &head, NULL, 0);
	head.method = SEVEN;
	for (int i = 0; i < 3; i++)
		peer_put(&v.peer, &head, NULL, 0);
	atomic_store(&spoilt, &v.peer.ring);
	peer_publish(&v.peer);
	for (int i = 0; i < 4; i++) {
		struct reply reply = peer_collect(&v.peer);

		CHECK_EQ(reply.code, reply.id == first ? 0 : 7);
	}
	CHECK(!atomic_load(&spoilt));
	end_visit(&v);
}

/* ---- C36: many ----------------------------------------------------------------------- */

TEST_WORKERS(c36_many_requests_of_one_publish_are_answered_once_each)
{
	struct visit v = visit("none");
	static const uint32_t sizes[] = { 1, 2, 31, 32, 33, 64 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct wire_head head =
			head_of(&v, i % 2 ? PROBE_ECHO : PROBE_SHORT);
		uint64_t ids = 0;

		for (uint32_t k = 0; k < sizes[i]; k++)
			ids += peer_put(&v.peer, &head, &k, sizeof(k));
		peer_publish(&v.peer);
		for (uint32_t k = 0; k < sizes[i]; k++) {
			struct reply reply = peer_collect(&v.peer);

			CHECK_EQ(reply.code, 0);
			ids -= reply.id;
		}
		CHECK_EQ(ids, 0);
	}
	end_visit(&v);
}

TEST_WORKERS(c36_a_bad_entry_fails_alone)
{
	struct visit v = visit("none");
	struct wire_head good = head_of(&v, PROBE_SHORT), bad = good;
	uint64_t bad_id = 0;

	bad.pool = 63;
	for (int i = 0; i < 33; i++) {
		uint64_t id = peer_put(&v.peer, i == 7 ? &bad : &good, NULL, 0);

		if (i == 7)
			bad_id = id;
	}
	peer_publish(&v.peer);
	for (int i = 0; i < 33; i++) {
		struct reply reply = peer_collect(&v.peer);

		CHECK_EQ(reply.code, reply.id == bad_id ? -EBADF : 0);
	}
	end_visit(&v);
}

/* A short method runs where the request was taken. */
TEST(c36_short_requests_of_a_batch_run_inline)
{
	struct visit v = visit_with(serving_of(routing_of(2, "none"), NULL));
	struct wire_head head = head_of(&v, PROBE_SHORT);
	uint64_t before;

	before = router_stats(v.s.r.router).inlined;
	for (int i = 0; i < 32; i++)
		peer_put(&v.peer, &head, NULL, 0);
	peer_publish(&v.peer);
	for (int i = 0; i < 32; i++)
		CHECK_EQ(peer_collect(&v.peer).code, 0);
	CHECK_EQ(router_stats(v.s.r.router).inlined - before, 32);
	end_visit(&v);
}

/* ---- C36: turns ---------------------------------------------------------------------- */

#define TURN 32     /* requests of a client, before others have their turn */
#define ENOUGH 1000 /* requests of each client                             */
#define TOO_MANY 300000

/* A client whose ring is never empty: its method, in the taker, puts the next request. */
struct rival {
	struct peer peer;
	struct wire_head head;
	int nr_put, nr_got, nr_run;
	int streak; /* requests since another client had its turn */
};

static struct rival rivals[2];
static struct gate rivals_gate; /* until both rings are full */
static atomic_bool rivals_done;
static int longest_streak;

static void rival_put(struct rival *rival)
{
	const struct rival *own = rival;

	peer_put(&rival->peer, &rival->head, &own, sizeof(own));
	rival->nr_put++;
}

/* A client that has not run a request may still have to be heard: it has no turn yet. */
static void count_run(struct rival *own, struct rival *other)
{
	own->nr_run++;
	other->streak = 0;
	if (other->nr_run && ++own->streak > longest_streak)
		longest_streak = own->streak;
}

static void put_another(struct rival *own)
{
	struct reply reply;

	if (!peer_has_answer(&own->peer, &reply))
		return; /* these are of the same turn */
	own->nr_got++;
	rival_put(own);
	peer_publish(&own->peer);
}

static int compete(void *self, struct sley_request *request)
{
	size_t size;
	struct rival *const *in = sley_request_in(request, &size);
	struct rival *own = *in, *other = &rivals[own == rivals];

	(void)self;
	gate_hold(&rivals_gate);
	if (atomic_load(&rivals_done))
		return 0;
	count_run(own, other);
	put_another(own);
	if (own->nr_run >= TOO_MANY ||
	    (own->nr_run >= ENOUGH && other->nr_run >= ENOUGH))
		atomic_store(&rivals_done, true);
	return 0;
}

static const struct sley_method rival_methods[] = {
	{ .name = "compete", .run = compete, .flags = SLEY_METHOD_SHORT },
};

static const struct sley_module rival_module = {
	SLEY_MODULE_HEAD("rival"),
	.methods = rival_methods,
	.nr_methods = 1,
};

static void rival_begin(struct rival *rival, const char *path)
{
	peer_join(&rival->peer, path);
	CHECK_EQ(peer_open(&rival->peer, "rivals", "rival", &rival->head.pool),
		 0);
}

static void rival_fill(struct rival *rival)
{
	for (uint32_t i = 0; i < rival->peer.ring.depth; i++)
		rival_put(rival);
	peer_publish(&rival->peer);
}

static void rival_end(struct rival *rival)
{
	while (rival->nr_got < rival->nr_put) {
		CHECK_EQ(peer_collect(&rival->peer).code, 0);
		rival->nr_got++;
	}
	peer_leave(&rival->peer);
}

/* With a single worker there is a single ingress, which has the rings of both clients. */
TEST(c36_clients_that_keep_their_rings_full_have_their_turns)
{
	struct serving s = serving_of(routing_of(1, "none"), NULL);

	CHECK_EQ(sley_router_add(s.r.router, &rival_module), 0);
	for (int i = 0; i < 2; i++)
		rival_begin(&rivals[i], s.path);
	for (int i = 0; i < 2; i++)
		rival_fill(&rivals[i]);
	gate_open(&rivals_gate);
	EVENTUALLY(atomic_load(&rivals_done));
	for (int i = 0; i < 2; i++)
		CHECK_GE(rivals[i].nr_run, ENOUGH);
	CHECK_LE(longest_streak, TURN);
	for (int i = 0; i < 2; i++)
		rival_end(&rivals[i]);
	serving_stop(&s);
}

/* ---- C38, C39: segments -------------------------------------------------------------- */

static struct reply bulk_call(struct visit *v, uint32_t segment,
			      uint32_t in_size, uint32_t out_room)
{
	struct wire_head head = head_of(v, PROBE_ECHO);
	struct wire_bulk bulk = { .segment = segment, .in_size = in_size };

	head.flags = WIRE_BULK;
	head.out_room = out_room;
	return peer_call(&v->peer, &head, &bulk, sizeof(bulk));
}

TEST_WORKERS(c38_large_payloads_go_through_a_segment)
{
	const uint32_t size = 1 << 20;
	struct visit v = visit("none");
	unsigned char *memory;
	struct reply reply;
	uint64_t real;
	uint32_t segment;

	segment = peer_segment(&v.peer, size, (void **)&memory, &real);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < size; i++)
			memory[i] = (unsigned char)(i * 7 + (uint32_t)round);
		reply = bulk_call(&v, segment, size, size);
		CHECK_EQ(reply.code, 0);
		CHECK_EQ(reply.size, size);
		for (uint32_t i = 0; i < size; i++)
			CHECK_EQ(memory[i],
				 (unsigned char)(i * 7 + (uint32_t)round));
	}
	CHECK_EQ(serving_stats(&v.s).segment_bytes, real);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_RELEASE, segment).code, 0);
	CHECK_EQ(serving_stats(&v.s).segment_bytes, 0);
	CHECK_EQ(bulk_call(&v, segment, 1, 1).code, -EFAULT);
	os_unmap(memory, real);
	end_visit(&v);
}

TEST_WORKERS(c38_what_is_not_the_clients_is_refused)
{
	struct visit v = visit("none");
	struct peer other;
	void *memory;
	uint64_t size;
	uint32_t segment;

	peer_join(&other, v.s.path);
	segment = peer_segment(&other, 8192, &memory, &size);
	CHECK_EQ(bulk_call(&v, segment, 1, 1).code, -EFAULT);
	os_unmap(memory, size);
	segment = peer_segment(&v.peer, 8192, &memory, &size);
	CHECK_EQ(bulk_call(&v, segment, 8193, 1).code, -EFAULT);
	CHECK_EQ(bulk_call(&v, segment, 1, 8193).code, -EFAULT);
	CHECK_EQ(bulk_call(&v, segment + 1, 1, 1).code, -EFAULT);
	CHECK_EQ(bulk_call(&v, 0, 1, 1).code, -EFAULT);
	CHECK_EQ(bulk_call(&v, UINT32_MAX, UINT32_MAX, UINT32_MAX).code,
		 -EFAULT);
	CHECK_EQ(bulk_call(&v, segment, 8192, 8192).code, 0);
	os_unmap(memory, size);
	peer_leave(&other);
	end_visit(&v);
}

TEST_WORKERS(c39_segments_are_limited)
{
	struct visit v = visit_with(serving_start(
		"none", SLEY_SERVER_OPTIONS(.max_segment_bytes = 65536)));
	void *first, *second;
	uint64_t size;
	uint32_t number;

	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_SEGMENT, 65537).code,
		 -EDQUOT);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_SEGMENT, 0).code, -EINVAL);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_SEGMENT, UINT64_MAX).code,
		 -EINVAL);
	number = peer_segment(&v.peer, 1, &first, &size);
	CHECK_EQ(size, 4096);
	os_unmap(first, size);
	number = peer_segment(&v.peer, 61440, &second, &size);
	os_unmap(second, size);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_SEGMENT, 1).code, -EDQUOT);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_RELEASE, number).code, 0);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_RELEASE, number).code,
		 -EBADF);
	number = peer_segment(&v.peer, 4096, &second, &size);
	os_unmap(second, size);
	end_visit(&v);
}

/* ---- pools --------------------------------------------------------------------------- */

TEST_WORKERS(a_client_makes_and_closes_pools)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_ECHO);
	uint32_t number;

	CHECK_EQ(peer_open(&v.peer, "new", "", &number), -ENOENT);
	CHECK_EQ(peer_open(&v.peer, "new", "no such module", &number), -ENOENT);
	CHECK_EQ(peer_open(&v.peer, "new", "probe", &number), 0);
	CHECK_NE(number, v.pool);
	CHECK_EQ(peer_open(&v.peer, "p", "other", &number), -EEXIST);
	head.pool = number;
	CHECK_EQ(peer_call(&v.peer, &head, "x", 1).code, 0);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_CLOSE, number).code, 0);
	CHECK_EQ(peer_call(&v.peer, &head, "x", 1).code, -EBADF);
	CHECK_EQ(peer_control(&v.peer, WIRE_CONTROL_CLOSE, number).code,
		 -EBADF);
	end_visit(&v);
}

/* The reference of a client is its own: others may close and destroy. */
TEST_WORKERS(a_pool_that_was_destroyed_is_told_of)
{
	struct visit v = visit("none");
	struct wire_head head = head_of(&v, PROBE_ECHO);

	CHECK_EQ(sley_pool_destroy(v.s.r.pool), 0);
	CHECK_EQ(peer_call(&v.peer, &head, "x", 1).code, -ENOENT);
	end_visit(&v);
}

TEST_WORKERS(requests_for_the_daemon_that_are_wrong_are_refused)
{
	struct visit v = visit("none");
	struct wire_head head = { .method = WIRE_NR_CONTROLS };
	struct wire_open open;

	CHECK_EQ(peer_call(&v.peer, &head, NULL, 0).code, -ENOSYS);
	for (uint32_t i = 0; i < WIRE_NR_CONTROLS; i++) {
		head.method = i;
		CHECK_EQ(peer_call(&v.peer, &head, "abc", 3).code, -EBADMSG);
	}
	memset(&open, 'a', sizeof(open));
	head.method = WIRE_CONTROL_OPEN;
	CHECK_EQ(peer_call(&v.peer, &head, &open, sizeof(open)).code, -EBADMSG);
	open = (struct wire_open){ .pool = "p" };
	CHECK_EQ(peer_call(&v.peer, &head, &open, sizeof(open)).code,
		 -EMSGSIZE);
	end_visit(&v);
}

/* With a single slot, a request that waits for its pool would keep the pool from opening. */
TEST(the_smallest_ring_has_two_slots)
{
	struct serving s =
		serving_start("none", SLEY_SERVER_OPTIONS(.max_depth = 1));
	struct peer peer;

	peer_greet(&peer, s.path, 64, 1024);
	CHECK_EQ(peer.welcome.depth, 2);
	peer_begin(&peer);
	peer_leave(&peer);
	serving_stop(&s);
}
