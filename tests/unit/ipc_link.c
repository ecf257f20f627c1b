/* SPDX-License-Identifier: MIT */
/*
 * ipc_link.c - a client's link beside a daemon that is played here, in plain memory: all
 * short histories, with the end of the daemon at each step, and long ones by chance.
 *
 * The ledger of a history: a request ends once.  If its method's answer came, the method
 * ran, and just once unless the request is idempotent.  "Outcome unknown" is said only
 * of a request that a daemon had taken.
 */
#include "harness/test.h"

#include "base/rand.h"
#include "ipc/link.h"
#include "shm/request_server.h"

#include <errno.h>
#include <sley/error.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16u
#define SLOT 256u
#define ITEMS_MAX 512u
#define WORDS 12u /* of an answer, which overwrites the IN part in the slot */
#define POOL_NUMBER 40u /* of the first session */
#define PATIENCE_NS 1000u

struct item {
	uint32_t flags;
	uint32_t slot;
	bool accepted, cancelled, ended;
	bool answered, published; /* by the daemon */
	int code;
	unsigned int nr_taken, nr_run;
	uint64_t in, out[WORDS];
};

/* What the daemon has taken. */
struct job {
	struct request request;
	struct item *item; /* NULL: for the daemon itself, or told to end */
	bool cancelled;
};

static struct link tested;
static struct request_ring ring;
static struct item items[ITEMS_MAX];
static uint32_t nr_items, pool, session;
static uint64_t now_ns;

static bool alive;
static struct request_server server;
static struct job jobs[DEPTH_MAX];
static uint32_t nr_jobs;

/* ---- the daemon ---------------------------------------------------------------------- */

static void daemon_cancel(uint64_t id)
{
	for (uint32_t i = 0; i < nr_jobs; i++) {
		if (jobs[i].request.id == id)
			jobs[i].cancelled = true;
	}
}

static void daemon_take(void)
{
	unsigned char data[SLOT];
	struct job *job = &jobs[nr_jobs];
	struct wire_head head;
	uint64_t word;

	if (!alive || request_take(&server, &job->request, data) != 1)
		return;
	memcpy(&head, data, sizeof(head));
	memcpy(&word, data + sizeof(head), sizeof(word));
	job->item = NULL;
	job->cancelled = false;
	nr_jobs++;
	if (head.pool == 0) {
		CHECK_EQ(head.method, WIRE_CONTROL_CANCEL);
		daemon_cancel(word);
		return;
	}
	CHECK_EQ(head.pool, POOL_NUMBER + session);
	CHECK_EQ(job->request.size, sizeof(head) + sizeof(word));
	CHECK_LT(word, nr_items);
	job->item = &items[word];
	CHECK_EQ(job->item->in, word);
	CHECK(!job->item->published);
	job->item->nr_taken++;
	if (!(job->item->flags & LINK_IDEMPOTENT))
		CHECK_EQ(job->item->nr_taken, 1);
}

static void daemon_answer(uint32_t idx)
{
	struct job job;
	uint64_t answer[WORDS] = { 0 };
	int code = 0;

	if (!alive || idx >= nr_jobs)
		return;
	job = jobs[idx];
	jobs[idx] = jobs[--nr_jobs];
	if (job.item)
		job.item->answered = true;
	if (!job.item || job.item->flags & LINK_FORGOTTEN) {
		if (job.item)
			job.item->nr_run++;
		CHECK_EQ(request_put_answer(&server, &job.request,
					    wire_answer(0, 0), NULL, 0),
			 0);
		return;
	}
	if (job.cancelled) {
		code = -ECANCELED;
	} else {
		job.item->nr_run++;
		answer[WORDS - 1] = ~job.item->in;
	}
	CHECK_EQ(request_put_answer(&server, &job.request,
				    wire_answer(code, sizeof(answer)), answer,
				    sizeof(answer)),
		 0);
}

static void daemon_publish(void)
{
	if (!alive)
		return;
	CHECK_GE(request_publish_answers(&server), 0);
	for (uint32_t i = 0; i < nr_items; i++)
		items[i].published |= items[i].answered;
}

static void daemon_die(void)
{
	if (!alive)
		return;
	alive = false;
	nr_jobs = 0;
	for (uint32_t i = 0; i < nr_items; i++)
		items[i].answered = items[i].published;
	link_lost(&tested, now_ns);
}

/* The next daemon: it adopts the ring, and opens the pool. */
static void daemon_come(void)
{
	uint32_t life = 0;

	if (alive)
		return;
	alive = true;
	session++;
	link_greet(&tested, now_ns);
	CHECK_EQ(link_begin(&tested, &ring, &life), 0);
	request_server_init(&server, &tested.submitter->ring);
	CHECK_EQ(server.ring.life, life);
	link_pool_open(&tested, pool, POOL_NUMBER + session);
	CHECK_GE(link_publish(&tested), 0);
}

/* ---- the client ---------------------------------------------------------------------- */

static void begin(uint32_t depth)
{
	uint64_t size = request_ring_size(depth, SLOT);

	free(ring.memory);
	ring = (struct request_ring){ .size = size,
				      .depth = depth,
				      .slot_size = SLOT };
	ring.memory = aligned_alloc(64, (size + 63) / 64 * 64);
	CHECK(ring.memory);
	memset(ring.memory, 0, size);
	request_ring_begin_life(&ring, 1, 0);
	memset(items, 0, sizeof(items));
	nr_items = nr_jobs = session = 0;
	now_ns = 1;
	alive = false;
	link_init(&tested, &sley__program_mem, PATIENCE_NS);
	pool = link_pool_add(&tested);
	CHECK(pool);
	daemon_come();
}

static int64_t submit(uint32_t flags)
{
	struct item *item = &items[nr_items];
	struct link_submission what = {
		.head = { .out_room = flags & LINK_FORGOTTEN ? 0 : 96 },
		.pool = pool,
		.flags = flags,
		.in = &item->in,
		.in_size = sizeof(item->in),
		.out = item->out,
		.owner = flags & LINK_FORGOTTEN ? NULL : item,
	};
	int64_t slot;

	*item = (struct item){ .flags = flags, .in = nr_items };
	slot = link_submit(&tested, &what);
	if (slot >= 0) {
		item->accepted = true;
		item->slot = (uint32_t)slot;
		nr_items++;
	}
	CHECK_GE(link_publish(&tested), 0);
	return slot;
}

static void cancel(uint32_t idx)
{
	if (idx >= nr_items || items[idx].flags & LINK_FORGOTTEN)
		return;
	if (!items[idx].ended)
		items[idx].cancelled = true;
	link_cancel(&tested, items[idx].slot, &items[idx]);
	CHECK_GE(link_publish(&tested), 0);
}

static void check_end(struct item *item, const struct link_done *done)
{
	CHECK(!item->ended);
	item->ended = true;
	item->code = done->code;
	switch (done->code) {
	case 0:
		CHECK_EQ(done->size, sizeof(item->out));
		CHECK(item->out[WORDS - 1] == ~item->in);
		CHECK_GE(item->nr_run, 1);
		break;
	case SLEY_EUNKNOWN:
		CHECK(!(item->flags & LINK_IDEMPOTENT));
		CHECK_EQ(item->nr_taken, 1);
		CHECK(!item->published);
		break;
	case -ECANCELED:
		CHECK(item->cancelled);
		break;
	default:
		CHECK_EQ(done->code, -EHOSTDOWN);
		if (!(item->flags & LINK_IDEMPOTENT))
			CHECK_EQ(item->nr_run, 0);
	}
	if (!(item->flags & LINK_IDEMPOTENT))
		CHECK_LE(item->nr_run, 1);
}

static int collect_some(uint32_t max)
{
	struct link_done done[DEPTH_MAX];
	int nr = link_collect(&tested, done, max);

	CHECK_GE(nr, 0);
	for (int i = 0; i < nr; i++) {
		if (done[i].owner)
			check_end(done[i].owner, &done[i]);
	}
	CHECK_GE(link_publish(&tested), 0);
	return nr;
}

static void collect(void)
{
	while (collect_some(DEPTH_MAX))
		;
}

/* Everything that is under way ends; then the ledger is closed. */
static void finish(void)
{
	daemon_come();
	for (unsigned int i = 0; i < 1000 && tested.nr_used; i++) {
		daemon_take();
		daemon_answer(0);
		daemon_publish();
		collect();
		if (link_is_drained(&tested)) {
			daemon_die();
			daemon_come();
		}
	}
	CHECK_EQ(tested.nr_used, 0);
	CHECK_EQ(tested.nr_cancels, 0);
	CHECK_EQ(tested.nr_ended, 0);
	CHECK_EQ(tested.submitter->nr_pending, 0);
	CHECK_EQ(tested.counts.submitted, tested.counts.completed);
	for (uint32_t i = 0; i < nr_items; i++) {
		CHECK(items[i].ended || items[i].flags & LINK_FORGOTTEN);
		if (items[i].flags & LINK_FORGOTTEN)
			CHECK_GE(items[i].nr_taken, 1);
	}
	link_fini(&tested);
}

/* ---- all short histories -------------------------------------------------------------- */

enum {
	STEP_TAKE,
	STEP_FIRST,
	STEP_LAST,
	STEP_PUBLISH,
	STEP_DIE,
	STEP_COME,
	STEP_COLLECT,
	STEP_CANCEL,
	NR_STEPS
};

static void step(unsigned int what)
{
	switch (what) {
	case STEP_TAKE:
		daemon_take();
		break;
	case STEP_FIRST:
		daemon_answer(0);
		break;
	case STEP_LAST:
		daemon_answer(nr_jobs - 1);
		break;
	case STEP_PUBLISH:
		daemon_publish();
		break;
	case STEP_DIE:
		daemon_die();
		break;
	case STEP_COME:
		daemon_come();
		break;
	case STEP_COLLECT:
		collect();
		break;
	case STEP_CANCEL:
		cancel(0);
		break;
	default:
		break;
	}
}

static void all_histories(const uint32_t *flags, uint32_t nr,
			  unsigned int steps)
{
	unsigned int nr_histories = 1;

	for (unsigned int i = 0; i < steps; i++)
		nr_histories *= NR_STEPS;
	for (unsigned int history = 0; history < nr_histories; history++) {
		begin(4);
		for (uint32_t i = 0; i < nr; i++)
			CHECK_GE(submit(flags[i]), 0);
		for (unsigned int i = 0, left = history; i < steps; i++) {
			step(left % NR_STEPS);
			left /= NR_STEPS;
		}
		finish();
	}
}

TEST(each_request_ends_once_whenever_the_daemon_ends)
{
	const uint32_t flags[] = { 0, LINK_IDEMPOTENT, 0 };

	all_histories(flags, 3, test_is_slow() ? 5 : 6);
}

TEST(forgotten_requests_are_not_lost_whenever_the_daemon_ends)
{
	const uint32_t flags[] = { LINK_IDEMPOTENT,
				   LINK_FORGOTTEN | LINK_IDEMPOTENT };

	all_histories(flags, 2, 5);
}

/* ---- long histories, by chance --------------------------------------------------------- */

static void random_step(struct rand *rand)
{
	static const uint32_t kinds[] = { 0, LINK_IDEMPOTENT, LINK_FORGOTTEN,
					  LINK_FORGOTTEN | LINK_IDEMPOTENT };
	uint32_t pick = rand_below(rand, 100);

	if (pick < 30 && nr_items < ITEMS_MAX)
		(void)!submit(kinds[rand_below(rand, 4)]);
	else if (pick < 50)
		daemon_take();
	else if (pick < 70)
		daemon_answer(nr_jobs ? rand_below(rand, nr_jobs) : 0);
	else if (pick < 80)
		daemon_publish();
	else if (pick < 90)
		(void)!collect_some(1 + rand_below(rand, DEPTH_MAX));
	else if (pick < 95)
		cancel(nr_items ? rand_below(rand, nr_items) : 0);
	else if (pick < 96 && alive)
		(void)!request_server_stop(&server);
	else if (pick < 97)
		daemon_die();
	else
		daemon_come();
	now_ns++;
}

/* Forgotten requests that were begun when the daemon ended may be lost: no check of runs. */
TEST(each_request_ends_once_in_long_histories)
{
	struct rand rand;

	rand_seed(&rand, test_seed());
	for (int round = 0; round < test_scale(2000); round++) {
		begin(1u << (1 + rand_below(&rand, 4)));
		for (unsigned int i = 0; i < 400; i++)
			random_step(&rand);
		finish();
	}
}

/* ---- single promises -------------------------------------------------------------------- */

TEST(a_full_ring_leaves_slots_for_cancels)
{
	begin(4);
	for (int i = 0; i < 3; i++)
		CHECK_GE(submit(0), 0);
	CHECK_EQ(submit(0), -EAGAIN);
	for (int i = 0; i < 3; i++)
		daemon_take();
	cancel(0);
	CHECK_EQ(tested.nr_cancels, 0);
	cancel(1); /* no slot: waits */
	CHECK_EQ(tested.nr_cancels, 1);
	daemon_take();
	CHECK(jobs[0].cancelled);
	daemon_answer(3); /* the cancel itself */
	daemon_publish();
	collect();
	CHECK_EQ(tested.nr_cancels, 0);
	daemon_take();
	CHECK(jobs[1].cancelled);
	finish();
	CHECK_EQ(items[0].code, -ECANCELED);
	CHECK_EQ(items[1].code, -ECANCELED);
	CHECK_EQ(items[2].code, 0);
}

TEST(an_answer_of_the_last_daemon_is_the_answer_to_nothing)
{
	struct ring_entry stale;
	struct link_done done;

	begin(4);
	CHECK_GE(submit(LINK_IDEMPOTENT), 0);
	daemon_take();
	stale = (struct ring_entry){ .id = jobs[0].request.id,
				     .slot = jobs[0].request.slot };
	daemon_die();
	daemon_come();
	/* It was written late, and the next daemon publishes it. */
	entry_ring_put(&server.completions, &stale);
	CHECK_GE(entry_ring_publish(&server.completions), 0);
	CHECK_EQ(link_collect(&tested, &done, 1), -EPROTO);
	CHECK(link_is_broken(&tested));
	daemon_die();
	finish();
	CHECK_EQ(items[0].code, 0);
}

TEST(requests_wait_for_the_next_daemon_for_so_long)
{
	begin(4);
	CHECK_GE(submit(0), 0);
	daemon_take();
	CHECK_GE(submit(0), 0);
	now_ns = 100;
	daemon_die();
	CHECK_GE(submit(0), 0); /* held */
	link_expire(&tested, 100 + PATIENCE_NS - 1);
	collect();
	CHECK_EQ(items[0].code, SLEY_EUNKNOWN);
	CHECK(!items[1].ended);
	CHECK_EQ(tested.state, LINK_LOST);
	link_expire(&tested, 100 + PATIENCE_NS);
	CHECK_EQ(tested.state, LINK_DOWN);
	collect();
	CHECK_EQ(items[1].code, -EHOSTDOWN);
	CHECK_EQ(items[2].code, -EHOSTDOWN);
	CHECK_EQ(submit(0), -EHOSTDOWN);
	finish();
}

TEST(a_request_that_is_held_has_a_deadline)
{
	struct link_submission what = { .head = { .deadline_ns = 500,
						  .out_room = 8 },
					.pool = pool,
					.owner = &items[0] };

	begin(4);
	daemon_die();
	what.pool = pool;
	CHECK_GE(link_submit(&tested, &what), 0);
	link_expire(&tested, 499);
	CHECK_EQ(tested.nr_ended, 0);
	link_expire(&tested, 500);
	CHECK_EQ(tested.nr_ended, 1);
	link_end_all(&tested, -ECANCELED);
	CHECK_EQ(tested.nr_ended, 1);
	link_fini(&tested);
}

TEST(a_daemon_that_stops_gives_back_what_it_has_not_begun)
{
	begin(8);
	CHECK_GE(submit(0), 0);
	CHECK_GE(submit(0), 0);
	daemon_take();
	CHECK_GE(request_server_stop(&server), 0);
	collect();
	CHECK_GE(submit(0), 0); /* held */
	CHECK(!link_is_drained(&tested));
	daemon_answer(0);
	daemon_publish();
	collect();
	CHECK_EQ(items[0].code, 0);
	CHECK(items[0].ended);
	CHECK(link_is_drained(&tested));
	daemon_die();
	finish();
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(items[i].code, 0);
		CHECK_EQ(items[i].nr_taken, 1);
	}
}

TEST(requests_go_to_the_next_daemon_in_their_order)
{
	begin(16);
	for (int i = 0; i < 9; i++)
		CHECK_GE(submit(0), 0);
	for (int i = 0; i < 3; i++)
		daemon_take();
	daemon_answer(2);
	daemon_answer(0);
	daemon_publish();
	collect(); /* slots are free in another order than they were taken */
	for (int i = 0; i < 3; i++)
		CHECK_GE(submit(0), 0);
	daemon_die();
	collect();
	daemon_come();
	nr_jobs = 0;
	for (uint32_t i = 3; i < 12; i++) {
		daemon_take();
		CHECK(jobs[nr_jobs - 1].item == &items[i]);
	}
	finish();
}

TEST(a_pool_that_is_gone_fails_its_requests_alone)
{
	uint32_t other;
	struct link_done done[2];
	struct link_submission what = { .head = { .out_room = 0 },
					.owner = &other };

	begin(8);
	other = link_pool_add(&tested);
	CHECK_NE(other, pool);
	what.pool = other;
	CHECK_GE(submit(0), 0);
	CHECK_GE(link_submit(&tested, &what), 0); /* held: it is not open */
	link_pool_fail(&tested, other, -ENOENT);
	CHECK_EQ(link_collect(&tested, done, 2), 1);
	CHECK(done[0].owner == &other);
	CHECK_EQ(done[0].code, -ENOENT);
	CHECK_GE(link_submit(&tested, &what), 0); /* and later ones */
	CHECK_EQ(link_collect(&tested, done, 2), 1);
	CHECK_EQ(done[0].code, -ENOENT);
	finish();
	CHECK_EQ(items[0].code, 0);
}

TEST(a_client_that_is_thrown_out_is_told_why)
{
	begin(4);
	CHECK_GE(submit(0), 0);
	CHECK_GE(submit(LINK_IDEMPOTENT), 0);
	daemon_take();
	link_dismiss(&tested, -EPROTO);
	alive = false;
	nr_jobs = 0;
	link_lost(&tested, now_ns);
	CHECK_EQ(tested.state, LINK_DOWN);
	for (struct link_done done; link_collect(&tested, &done, 1) == 1;)
		((struct item *)done.owner)->code = done.code;
	CHECK_EQ(items[0].code, SLEY_EUNKNOWN);
	CHECK_EQ(items[1].code, -EPROTO);
	link_fini(&tested);
}

TEST(an_answer_that_is_too_long_breaks_the_daemon)
{
	uint64_t many[WORDS + 1] = { 0 };
	struct link_done done;

	begin(4);
	CHECK_GE(submit(0), 0);
	daemon_take();
	CHECK_EQ(request_put_answer(&server, &jobs[0].request,
				    wire_answer(0, sizeof(many)), many,
				    sizeof(many)),
		 0);
	daemon_publish();
	CHECK_EQ(link_collect(&tested, &done, 1), 1);
	CHECK_EQ(done.code, SLEY_EUNKNOWN);
	CHECK_EQ(items[0].out[0], 0);
	CHECK(link_is_broken(&tested));
	daemon_die();
	link_fini(&tested);
}

/* ---- segments --------------------------------------------------------------------------- */

TEST(a_large_request_needs_a_segment_of_the_next_daemon)
{
	struct link_submission what = {
		.head = { .out_room = 4096 },
		.flags = LINK_BULK | LINK_IDEMPOTENT,
		.in_size = 4096,
		.segment_number = 7,
		.segment = &items[7],
		.owner = &items[0],
	};
	unsigned char data[SLOT];
	struct request request;
	struct wire_bulk bulk;
	struct link_done done;
	uint32_t slot;

	begin(4);
	what.pool = pool;
	CHECK_GE(link_submit(&tested, &what), 0);
	CHECK_GE(link_publish(&tested), 0);
	CHECK_EQ(link_take_homeless(&tested), REQUEST_NO_SLOT);
	daemon_die();
	CHECK_EQ(link_take_homeless(&tested), REQUEST_NO_SLOT);
	CHECK_EQ(link_submit(&tested, &what), -ESTALE);
	daemon_come();
	CHECK_EQ(request_take(&server, &request, data), 0);
	slot = link_take_homeless(&tested);
	CHECK_NE(slot, REQUEST_NO_SLOT);
	CHECK(tested.requests[slot].segment == &items[7]);
	link_house(&tested, slot, 3, &items[3]);
	CHECK_EQ(link_take_homeless(&tested), REQUEST_NO_SLOT);
	CHECK_GE(link_publish(&tested), 0);
	CHECK_EQ(request_take(&server, &request, data), 1);
	memcpy(&bulk, data + sizeof(struct wire_head), sizeof(bulk));
	CHECK_EQ(bulk.segment, 3);
	CHECK_EQ(bulk.in_size, 4096);
	CHECK_EQ(request_put_answer(&server, &request, wire_answer(5, 4000),
				    NULL, 0),
		 0);
	daemon_publish();
	CHECK_EQ(link_collect(&tested, &done, 1), 1);
	CHECK_EQ(done.code, 5);
	CHECK_EQ(done.size, 4000);
	CHECK(done.segment == &items[3]);
	link_fini(&tested);
}

/* It was held, for its pool was not open yet: the daemon has never seen it. */
TEST(a_large_request_that_was_held_needs_another_segment)
{
	struct link_submission what = {
		.head = { .out_room = 4096 },
		.flags = LINK_BULK,
		.segment_number = 7,
		.owner = &items[0],
	};
	struct request request;

	begin(4);
	what.pool = link_pool_add(&tested);
	CHECK_GE(link_submit(&tested, &what), 0);
	daemon_die();
	daemon_come();
	link_pool_open(&tested, what.pool, 9);
	CHECK_GE(link_publish(&tested), 0);
	CHECK_EQ(request_take(&server, &request, NULL), 0);
	CHECK_NE(link_take_homeless(&tested), REQUEST_NO_SLOT);
	link_fini(&tested);
}

/* While its data is copied, without a lock, the memory of a request is in use. */
TEST(a_request_that_moves_ends_afterwards)
{
	struct link_submission what = {
		.head = { .out_room = 4096 },
		.flags = LINK_BULK,
		.segment_number = 7,
		.owner = &items[0],
	};
	struct link_done done;
	uint32_t slot;

	begin(4);
	what.pool = pool;
	for (int cancelled = 0; cancelled < 2; cancelled++) {
		CHECK_GE(link_submit(&tested, &what), 0);
		CHECK_GE(link_publish(&tested), 0);
		daemon_die();
		daemon_come();
		slot = link_take_homeless(&tested);
		CHECK_NE(slot, REQUEST_NO_SLOT);
		if (cancelled) {
			link_cancel(&tested, slot, &items[0]);
		} else {
			daemon_die();
			link_expire(&tested, now_ns + PATIENCE_NS);
		}
		CHECK_EQ(link_collect(&tested, &done, 1), 0);
		link_leave_homeless(&tested, slot, -EHOSTDOWN);
		CHECK_EQ(link_collect(&tested, &done, 1), 1);
		CHECK(done.owner == &items[0]);
		CHECK_EQ(done.code, cancelled ? -ECANCELED : -EHOSTDOWN);
		CHECK_EQ(tested.nr_homeless, 0);
		daemon_come();
	}
	link_fini(&tested);
}

/* ---- what a daemon said of itself ends with it --------------------------------------- */

/* A request for the daemon, which has the number @number as its IN part. */
static void ask_daemon(uint32_t method, const struct wire_number *number)
{
	struct link_submission what = { .head = { .method = method },
					.in = number,
					.in_size = sizeof(*number),
					.owner = &items[0] };

	CHECK_GE(link_submit(&tested, &what), 0);
	CHECK_GE(link_publish(&tested), 0);
}

static void check_stale(void)
{
	struct link_done done;

	CHECK_EQ(link_collect(&tested, &done, 1), 1);
	CHECK(done.owner == &items[0]);
	CHECK_EQ(done.code, -ESTALE);
	CHECK_EQ(done.size, 0);
	link_fini(&tested);
}

/* The number of a pool, say: it means another pool in the next session. */
TEST(what_a_dead_daemon_has_answered_about_itself_is_stale)
{
	struct wire_number number = { 0 };
	struct request request;

	begin(4);
	ask_daemon(WIRE_CONTROL_OPEN, &number);
	CHECK_EQ(request_take(&server, &request, NULL), 1);
	CHECK_EQ(request_put_answer(&server, &request, wire_answer(0, 0), NULL,
				    0),
		 0);
	daemon_publish();
	daemon_die();
	check_stale();
}

/* It would close another pool there. */
TEST(what_a_stopping_daemon_is_told_does_not_reach_the_next_one)
{
	struct wire_number number = { .number = POOL_NUMBER };
	struct request request;
	struct link_done done;

	begin(4);
	CHECK_GE(request_server_stop(&server), 0);
	CHECK_EQ(link_collect(&tested, &done, 1), 0);
	ask_daemon(WIRE_CONTROL_CLOSE, &number);
	daemon_die();
	daemon_come();
	CHECK_EQ(request_take(&server, &request, NULL), 0);
	check_stale();
}
