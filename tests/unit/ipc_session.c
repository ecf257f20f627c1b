/* SPDX-License-Identifier: MIT */
/*
 * ipc_session.c - a client as the daemon sees it, driven by a submitter in plain memory,
 * and by one that lies.
 *
 * The source is compiled here, with reads of foreign memory that the submitter sees: it can
 * change each byte as soon as the byte was read.
 */
#include "harness/test.h"

#define foreign_read read_foreign
#include "shm/foreign.h"
#undef foreign_read

static bool is_changing; /* the submitter changes what was read */

static void foreign_read(void *to, const void foreign *from, size_t size)
{
	read_foreign(to, from, size);
	if (is_changing)
		memset((void *)(uintptr_t)from, 0xff, size);
}

#include "ipc/session.c"
#include "shm/request_submitter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 8
#define SLOT 256

static const struct session_limits limits = { .max_depth = 64,
					      .max_slot_size = 4096,
					      .max_segment_bytes = 1 << 20 };
static const struct packet_offer offer = { .session = 9,
					   .generation = 3,
					   .segment_bytes = 1 << 20 };
static struct session session;
static struct request_ring ring;
static struct request_submitter *submitter;
static struct wire_packet packet, answer;
static uint32_t slots[DEPTH];
static struct session_call call;
static char pool_a, pool_b;

/* A ring in plain memory. */
static void make_ring(uint32_t depth, uint32_t slot_size)
{
	uint64_t size = request_ring_size(depth, slot_size);

	CHECK_GT(size, 0);
	ring = (struct request_ring){
		.memory = aligned_alloc(64, size),
		.size = size,
		.depth = depth,
		.slot_size = slot_size,
	};
	memset(ring.memory, 0, size);
	request_ring_begin_life(&ring, 1, 0);
}

static void greet(void)
{
	session_init(&session, &limits);
	packet_hello(&packet, "tester", DEPTH, SLOT, false);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer),
		 SESSION_MAKE_RING);
	CHECK_EQ(session.depth, DEPTH);
	CHECK_EQ(session.slot_size, SLOT);
	make_ring(DEPTH, SLOT);
	CHECK_EQ(session_welcome(&session, &sley__program_mem, &ring, &offer,
				 &answer),
		 0);
}

static void open_session(void)
{
	greet();
	submitter = malloc(request_submitter_size(DEPTH));
	request_submitter_init(submitter, &ring);
	packet_ready(&packet, ring.life);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer), SESSION_BEGIN);
}

static void end(void)
{
	session_free(&session, &sley__program_mem);
	free(submitter);
	free(ring.memory);
}

/* Puts a request: @head, then @in_size bytes. */
static uint64_t put(const struct wire_head *head, const void *in,
		    uint32_t in_size)
{
	unsigned char data[SLOT];
	struct request_submission what = {
		.data = data, .size = (uint32_t)sizeof(*head) + in_size
	};
	uint64_t id = 0;

	memcpy(data, head, sizeof(*head));
	if (in_size)
		memcpy(data + sizeof(*head), in, in_size);
	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	return id;
}

static void publish(void)
{
	CHECK_GE(request_publish(submitter), 0);
}

/* Takes a single request: how its head is judged. */
static int take_single(void)
{
	CHECK_EQ(session_take(&session, slots, DEPTH), 1);
	return session_check(&session, slots[0], &call);
}

static int submit_and_take(const struct wire_head *head, const void *in,
			   uint32_t in_size)
{
	put(head, in, in_size);
	publish();
	return take_single();
}

/* The same of a request whose parts are in a segment. */
static int bulk(uint32_t segment, uint32_t in_size, uint32_t out_room)
{
	struct wire_head head = { .flags = WIRE_BULK, .out_room = out_room };
	struct wire_bulk where = { .segment = segment, .in_size = in_size };

	return submit_and_take(&head, &where, sizeof(where));
}

/* What the submitter gets. */
static int64_t collect(void)
{
	struct request_answer got;

	CHECK_EQ(request_collect(submitter, &got, NULL), 1);
	return wire_answer_code(got.value);
}

/* ---- the handshake ---------------------------------------------------------------------- */

TEST(a_client_is_greeted_welcomed_and_served)
{
	open_session();
	CHECK_EQ(session.state, SESSION_LIVE);
	CHECK_STR(session.name, "tester");
	CHECK_EQ(session_nr_in_flight(&session), 0);
	end();
}

TEST(a_welcome_says_what_the_client_gets)
{
	greet();
	CHECK_EQ(answer.kind, WIRE_WELCOME);
	CHECK_EQ(answer.depth, DEPTH);
	CHECK_EQ(answer.slot_size, SLOT);
	CHECK_EQ(answer.session, 9);
	CHECK_EQ(answer.generation, 3);
	CHECK_EQ(answer.bytes, 1 << 20);
	end();
}

TEST(wishes_are_rounded_and_cut)
{
	session_init(&session, &limits);
	packet_hello(&packet, "x", 5, 300, false);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer),
		 SESSION_MAKE_RING);
	CHECK_EQ(session.depth, 8);
	CHECK_EQ(session.slot_size, 320);
	session_init(&session, &limits);
	packet_hello(&packet, "x", UINT32_MAX, UINT32_MAX, false);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer),
		 SESSION_MAKE_RING);
	CHECK_EQ(session.depth, 64);
	CHECK_EQ(session.slot_size, 4096);
	session_init(&session, &limits);
	packet_hello(&packet, "x", 1, 1, false);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer),
		 SESSION_MAKE_RING);
	CHECK_EQ(session.depth, 1);
	CHECK_EQ(session.slot_size, 256);
}

TEST(packets_out_of_turn_are_refused)
{
	session_init(&session, &limits);
	packet_ready(&packet, 1);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer), -EPROTO);
	CHECK_EQ(answer.kind, WIRE_REFUSED);
	open_session();
	packet_hello(&packet, "x", 0, 0, false);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer), -EPROTO);
	packet_ready(&packet, 1);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer), -EPROTO);
	end();
}

TEST(another_version_is_refused_with_both_named)
{
	session_init(&session, &limits);
	packet_hello(&packet, "x", 0, 0, false);
	packet.major = 7;
	CHECK_EQ(session_packet(&session, &packet, 0, &answer),
		 -EPROTONOSUPPORT);
	CHECK(strstr(answer.text, "7.0") && strstr(answer.text, "1.0"));
}

TEST(a_ring_that_is_adopted_keeps_its_sizes_and_its_numbers)
{
	session_init(&session, &limits);
	packet_hello(&packet, "x", 0, 0, true);
	CHECK_EQ(session_packet(&session, &packet, 1, &answer),
		 SESSION_ADOPT_RING);
	make_ring(DEPTH, 512);
	CHECK_EQ(session_welcome(&session, &sley__program_mem, &ring, &offer,
				 &answer),
		 0);
	CHECK_EQ(answer.slot_size, 512);
	request_ring_begin_life(&ring, 5, 1000);
	submitter = malloc(request_submitter_size(DEPTH));
	request_submitter_init(submitter, &ring);
	packet_ready(&packet, 5);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer), SESSION_BEGIN);
	CHECK_EQ(session.server.ring.first, 1000);
	CHECK_EQ(submit_and_take(&(struct wire_head){ .method = 1 }, NULL, 0),
		 0);
	CHECK_EQ(session.slots[slots[0]].taken.id, request_id(5, 1000));
	end();
}

TEST(a_life_that_the_ring_does_not_have_is_refused)
{
	greet();
	packet_ready(&packet, 2);
	CHECK_EQ(session_packet(&session, &packet, 0, &answer), -EPROTO);
	session_free(&session, &sley__program_mem);
	free(ring.memory);
}

TEST(an_adopted_ring_above_the_limits_is_refused)
{
	session_init(&session, &limits);
	packet_hello(&packet, "x", 0, 0, true);
	CHECK_EQ(session_packet(&session, &packet, 1, &answer),
		 SESSION_ADOPT_RING);
	make_ring(128, SLOT);
	CHECK_EQ(session_welcome(&session, &sley__program_mem, &ring, &offer,
				 &answer),
		 -E2BIG);
	free(ring.memory);
	make_ring(DEPTH, 8192);
	CHECK_EQ(session_welcome(&session, &sley__program_mem, &ring, &offer,
				 &answer),
		 -E2BIG);
	free(ring.memory);
	make_ring(DEPTH, 64);
	CHECK_EQ(session_welcome(&session, &sley__program_mem, &ring, &offer,
				 &answer),
		 -E2BIG);
	free(ring.memory);
}

/* ---- requests ------------------------------------------------------------------------- */

TEST(a_request_is_taken_checked_and_answered)
{
	struct wire_head head = { .method = 3, .out_room = 16 };
	unsigned char got[SLOT];
	struct request_answer reply;

	open_session();
	CHECK_EQ(session_add_pool(&session, &pool_a, UINT64_MAX), 1);
	head.pool = 1;
	CHECK_EQ(submit_and_take(&head, "question", 8), 0);
	CHECK(call.pool == &pool_a);
	CHECK_EQ(call.in_size, 8);
	CHECK_EQ(memcmp(call.in, "question", 8), 0);
	CHECK_EQ(session_nr_in_flight(&session), 1);
	memcpy(session_answer_place(&session, call.slot), "answer", 6);
	CHECK(!session_answer(&session, call.slot, 7, 6));
	CHECK_EQ(session_publish(&session), 0);
	CHECK_EQ(session_nr_in_flight(&session), 0);
	CHECK_EQ(request_collect(submitter, &reply, got), 1);
	CHECK_EQ(wire_answer_code(reply.value), 7);
	CHECK_EQ(wire_answer_size(reply.value), 6);
	CHECK_EQ(memcmp(got, "answer", 6), 0);
	end();
}

/* C36: one publish, and one of the entries is bad. */
TEST(c36_a_bad_head_fails_alone)
{
	struct wire_head good = { .method = 0 }, bad = { .pool = 5 };

	open_session();
	put(&good, NULL, 0);
	put(&bad, NULL, 0);
	put(&good, NULL, 0);
	publish();
	CHECK_EQ(session_take(&session, slots, DEPTH), 3);
	CHECK_EQ(session_check(&session, slots[0], &call), 0);
	CHECK_EQ(session_check(&session, slots[1], &call), -EBADF);
	CHECK_EQ(session_check(&session, slots[2], &call), 0);
	for (int i = 0; i < 3; i++)
		CHECK(!session_answer(&session, slots[i], -i, 0));
	CHECK_EQ(session_publish(&session), 0);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(collect(), -i);
	end();
}

TEST(c36_a_batch_is_taken_in_parts)
{
	struct wire_head head = { .method = 0 };

	open_session();
	CHECK_EQ(session_take(&session, slots, DEPTH), 0);
	for (int i = 0; i < DEPTH; i++)
		put(&head, NULL, 0);
	publish();
	CHECK_EQ(session_take(&session, slots, 0), 0);
	CHECK_EQ(session_take(&session, slots, 3), 3);
	CHECK_EQ(session_take(&session, slots, DEPTH), DEPTH - 3);
	CHECK_EQ(session.nr_requests, DEPTH);
	end();
}

TEST(heads_that_are_wrong_are_told_apart)
{
	struct wire_head head = { .method = 0 };
	struct request_submission what = { .data = &head, .size = 63 };
	uint64_t id;

	open_session();
	CHECK_EQ(request_submit(submitter, &what, &id), 0);
	publish();
	CHECK_EQ(take_single(), -EBADMSG);
	head.flags = 8;
	CHECK_EQ(submit_and_take(&head, NULL, 0), -EBADMSG);
	head.flags = 0;
	head.out_room = SLOT + 1;
	CHECK_EQ(submit_and_take(&head, NULL, 0), -EMSGSIZE);
	head.out_room = SLOT;
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	head.pool = UINT32_MAX;
	CHECK_EQ(submit_and_take(&head, NULL, 0), -EBADF);
	end();
}

TEST(a_forgotten_request_has_no_room_for_an_answer)
{
	struct wire_head head = { .flags = WIRE_FORGOTTEN, .out_room = 100 };

	open_session();
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	CHECK_EQ(call.out_room, 0);
	CHECK_EQ(session.slots[call.slot].out_room, 0);
	end();
}

TEST(only_methods_that_are_allowed_are_run)
{
	struct wire_head head = { .pool = 1 };

	open_session();
	CHECK_EQ(session_add_pool(&session, &pool_a, 1ull << 63 | 4), 1);
	head.method = 2;
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	head.method = 3;
	CHECK_EQ(submit_and_take(&head, NULL, 0), -EACCES);
	head.method = 63;
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	head.method = UINT32_MAX;
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	end();
}

/* C23: what is judged is a copy, which the client cannot change; and it is what is used. */
TEST(c23_a_head_is_judged_by_its_copy)
{
	struct wire_head head = { .pool = 1, .method = 3, .out_room = 16 };
	void *pool;

	open_session();
	CHECK_EQ(session_add_pool(&session, &pool_a, UINT64_MAX), 1);
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	memset(request_ring_slot(&ring, call.slot), 0xff, SLOT);
	CHECK_EQ(call.head.method, 3);
	CHECK_EQ(session.slots[call.slot].out_room, 16);
	CHECK(session_answer_place(&session, call.slot) ==
	      request_ring_slot(&ring, call.slot));
	CHECK_EQ(session_close_pool(&session, 1, &pool), 0);
	CHECK(session_answer(&session, call.slot, 0, 16) == &pool_a);
	end();
}

/* C23: a head that is read a second time is another one by then. */
TEST(c23_a_head_is_read_once)
{
	struct wire_head head = {
		.pool = 1, .method = 3, .group = 7, .io_size = 9, .out_room = 16
	};

	open_session();
	CHECK_EQ(session_add_pool(&session, &pool_a, UINT64_MAX), 1);
	is_changing = true;
	CHECK_EQ(submit_and_take(&head, "question", 8), 0);
	is_changing = false;
	CHECK_EQ(memcmp(&call.head, &head, sizeof(head)), 0);
	CHECK(call.pool == &pool_a);
	CHECK_EQ(call.out_room, 16);
	CHECK_EQ(call.in_size, 8);
	CHECK_EQ(memcmp(call.in, "question", 8), 0);
	end();
}

/* C23: the same of the place in a segment, which is in the slot, too. */
TEST(c23_a_head_of_a_bulk_request_is_read_once_with_its_place)
{
	static char memory[4096];

	open_session();
	session_set_segment(&session, 1, memory, sizeof(memory));
	is_changing = true;
	CHECK_EQ(bulk(1, 10, 20), 0);
	is_changing = false;
	CHECK(call.in == memory);
	CHECK_EQ(call.in_size, 10);
	CHECK_EQ(call.out_room, 20);
	CHECK_EQ(call.segment, 1);
	end();
}

/* ---- nonsense --------------------------------------------------------------------------- */

TEST(more_requests_than_slots_are_nonsense)
{
	open_session();
	(void)!count_word_add(&ring.memory->submitted, DEPTH + 1);
	CHECK_EQ(session_take(&session, slots, DEPTH), -EPROTO);
	CHECK(session.reason);
	CHECK_EQ(session_take(&session, slots, DEPTH), -EPROTO);
	end();
}

TEST(a_slot_that_is_in_use_is_nonsense)
{
	struct wire_head head = { .method = 0 };

	open_session();
	put(&head, NULL, 0);
	put(&head, NULL, 0);
	request_ring_submissions(&ring)[1].slot =
		request_ring_submissions(&ring)[0].slot;
	publish();
	CHECK_EQ(session_take(&session, slots, DEPTH), 1);
	CHECK_EQ(session_nr_in_flight(&session), 1);
	CHECK_EQ(session_take(&session, slots, DEPTH), -EPROTO);
	CHECK_STR(session.reason, "a slot that is in use");
	/* What was taken is still answered. */
	CHECK_EQ(session_check(&session, slots[0], &call), 0);
	CHECK(!session_answer(&session, slots[0], 0, 0));
	CHECK_EQ(session_nr_in_flight(&session), 0);
	end();
}

TEST(an_id_that_was_there_is_nonsense)
{
	struct wire_head head = { .method = 0 };

	open_session();
	put(&head, NULL, 0);
	put(&head, NULL, 0);
	request_ring_submissions(&ring)[1].id =
		request_ring_submissions(&ring)[0].id;
	publish();
	CHECK_EQ(session_take(&session, slots, DEPTH), 1);
	CHECK_EQ(session_take(&session, slots, DEPTH), -EPROTO);
	CHECK_EQ(session_nr_in_flight(&session), 1);
	end();
}

TEST(a_changed_count_of_answers_is_nonsense)
{
	struct wire_head head = { .method = 0 };

	open_session();
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	(void)!count_word_add(&ring.memory->completed, 1);
	CHECK(!session_answer(&session, call.slot, 0, 0));
	CHECK_EQ(session_publish(&session), 0);
	CHECK_EQ(session_take(&session, slots, DEPTH), -EPROTO);
	end();
}

/* ---- pools ------------------------------------------------------------------------------ */

TEST(pools_have_numbers_of_this_session)
{
	void *pool;

	open_session();
	CHECK_EQ(session_add_pool(&session, &pool_a, 1), 1);
	CHECK_EQ(session_add_pool(&session, &pool_b, 1), 2);
	CHECK_EQ(session_close_pool(&session, 1, &pool), 0);
	CHECK(pool == &pool_a);
	CHECK_EQ(session_close_pool(&session, 1, &pool), -EBADF);
	CHECK_EQ(session_close_pool(&session, 0, &pool), -EBADF);
	CHECK_EQ(session_close_pool(&session, UINT64_MAX, &pool), -EBADF);
	CHECK_EQ(session_add_pool(&session, &pool_b, 1), 1);
	CHECK_EQ(session.nr_pools, 2);
	end();
}

TEST(a_pool_is_closed_after_its_last_request)
{
	struct wire_head head = { .pool = 1 };
	uint32_t first;
	void *pool;

	open_session();
	CHECK_EQ(session_add_pool(&session, &pool_a, 1), 1);
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	first = call.slot;
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	CHECK_EQ(session_close_pool(&session, 1, &pool), 0);
	CHECK(!pool);
	CHECK(!session_answer(&session, first, 0, 0));
	CHECK(session_answer(&session, call.slot, 0, 0) == &pool_a);
	CHECK_EQ(session.nr_pools, 0);
	end();
}

TEST(a_pool_that_is_being_closed_takes_no_request)
{
	struct wire_head head = { .pool = 1 };
	void *pool;

	open_session();
	CHECK_EQ(session_add_pool(&session, &pool_a, 1), 1);
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	CHECK_EQ(session_close_pool(&session, 1, &pool), 0);
	CHECK_EQ(submit_and_take(&head, NULL, 0), -EBADF);
	end();
}

TEST(there_are_so_many_pools)
{
	open_session();
	for (int i = 1; i <= SESSION_POOLS_MAX; i++)
		CHECK_EQ(session_add_pool(&session, &pool_a, 1), i);
	CHECK_EQ(session_add_pool(&session, &pool_a, 1), -EMFILE);
	end();
}

/* ---- segments --------------------------------------------------------------------------- */

/* C38: a number or a range that is not the client's. */
TEST(c38_only_a_segment_of_the_client_is_used_and_no_byte_beside_it)
{
	static char memory[4096];

	open_session();
	CHECK_EQ(bulk(1, 10, 10), -EFAULT);
	CHECK_EQ(session_reserve_segment(&session, sizeof(memory)), 1);
	session_set_segment(&session, 1, memory, sizeof(memory));
	CHECK_EQ(bulk(0, 10, 10), -EFAULT);
	CHECK_EQ(bulk(2, 10, 10), -EFAULT);
	CHECK_EQ(bulk(UINT32_MAX, 10, 10), -EFAULT);
	CHECK_EQ(bulk(1, 4097, 10), -EFAULT);
	CHECK_EQ(bulk(1, 10, 4097), -EFAULT);
	CHECK_EQ(bulk(1, 4096, 4096), 0);
	CHECK(call.in == memory);
	CHECK_EQ(call.in_size, 4096);
	CHECK(session_answer_place(&session, call.slot) == memory);
	end();
}

TEST(c38_a_bulk_request_without_its_place_is_refused)
{
	struct wire_head head = { .flags = WIRE_BULK };

	open_session();
	CHECK_EQ(submit_and_take(&head, "short", 5), -EBADMSG);
	end();
}

TEST(c39_a_segment_serves_one_request_at_a_time)
{
	static char memory[4096];
	struct session_segment out;
	uint32_t slot;

	open_session();
	session_set_segment(&session, 1, memory, sizeof(memory));
	CHECK_EQ(bulk(1, 10, 10), 0);
	slot = call.slot;
	CHECK_EQ(bulk(1, 10, 10), -EBUSY);
	CHECK_EQ(session_release_segment(&session, 1, &out), -EBUSY);
	CHECK(!session_answer(&session, slot, 0, 10));
	CHECK_EQ(bulk(1, 10, 10), 0);
	CHECK(!session_answer(&session, call.slot, 0, 10));
	CHECK_EQ(session_release_segment(&session, 1, &out), 0);
	CHECK(out.memory == memory);
	CHECK_EQ(session_release_segment(&session, 1, &out), -EBADF);
	end();
}

TEST(c39_segments_are_limited_in_number_and_bytes)
{
	static char memory;

	open_session();
	CHECK_EQ(session_reserve_segment(&session, 0), -EINVAL);
	CHECK_EQ(session_reserve_segment(&session, UINT64_MAX), -EINVAL);
	CHECK_EQ(session_reserve_segment(&session, (1 << 20) + 1), -EDQUOT);
	CHECK_EQ(session_reserve_segment(&session, 1 << 20), 1);
	for (uint32_t i = 1; i <= SESSION_SEGMENTS_MAX; i++) {
		CHECK_EQ(session_reserve_segment(&session, 1), i);
		session_set_segment(&session, i, &memory, 1);
	}
	CHECK_EQ(session_reserve_segment(&session, 1), -EMFILE);
	CHECK_EQ(session.segment_bytes, SESSION_SEGMENTS_MAX);
	end();
}

/* ---- the rest --------------------------------------------------------------------------- */

TEST(a_request_is_found_by_its_id_while_it_is_in_flight)
{
	struct wire_head head = { .method = 0 };
	uint64_t id;

	open_session();
	id = put(&head, NULL, 0);
	publish();
	CHECK_EQ(session_find(&session, id), SESSION_NO_SLOT);
	CHECK_EQ(take_single(), 0);
	CHECK_EQ(session_find(&session, id), call.slot);
	CHECK_EQ(session_find(&session, id + 1), SESSION_NO_SLOT);
	CHECK_EQ(session_find(&session, 0), SESSION_NO_SLOT);
	CHECK(!session_answer(&session, call.slot, 0, 0));
	CHECK_EQ(session_find(&session, id), SESSION_NO_SLOT);
	end();
}

TEST(rc14_a_session_that_stops_takes_nothing_and_answers)
{
	struct wire_head head = { .method = 0 };
	struct request_retreat retreat;
	struct request_remnant remnant;

	open_session();
	CHECK_EQ(submit_and_take(&head, NULL, 0), 0);
	put(&head, NULL, 0);
	publish();
	CHECK_EQ(session_stop(&session), 0);
	CHECK_EQ(session_take(&session, slots, DEPTH), 0);
	CHECK(!session_answer(&session, call.slot, 5, 0));
	CHECK_EQ(session_publish(&session), 0);
	CHECK_EQ(collect(), 5);
	request_retreat_init(&retreat, submitter, false);
	CHECK(request_take_back(submitter, &retreat, &remnant));
	CHECK(!remnant.begun);
	end();
}
