/* SPDX-License-Identifier: MIT */
/*
 * inbox_stress.c - many threads put nodes from a pool into one inbox, and its
 * owner takes them, parks and is woken; now and then it closes, and another one
 * comes to its place.
 *
 * Nothing is lost: all that was accepted comes out, once, in the order of each
 * putter, but for what a late putter gave to the next owner, who is told whom it
 * is for.  Whoever is told to wake is the only one, and the owner sleeps then.
 * The nodes come from a pool, are freed by another thread than the one that got
 * them, and are out once at a time.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "lf/inbox.h"
#include "mem/object_pool.h"
#include "os/thread.h"
#include "stress/stress.h"

#include <semaphore.h>

#define NR_PUTTERS 4
#define MAX_OUT 2000 /* messages: putters wait, or the owner never catches up */

struct message {
	struct push_node node; /* where the pool has its links, too */
	struct push_node unused;
	uint32_t from;
	uint32_t owner; /* whom it is for: a generation */
	uint64_t number;
	uint64_t out; /* 1: somebody has it */
	uint64_t rest[3];
} __attribute__((aligned(64)));

static struct object_pool messages = { .object_size = sizeof(struct message) };
static struct scene {
	struct inbox inbox;
	uint32_t owner;   /* the generation; 0: nobody            */
	uint32_t parked;  /* 1: the owner has written it, resting */
	uint32_t stopped; /* nobody puts any more                 */
	sem_t woken;
	uint64_t nr_rests, nr_taken;
	uint64_t nr_out; /* messages that somebody has */
} scene;
static struct putter {
	pthread_t thread;
	uint32_t id;
	uint64_t nr_accepted, nr_refused, nr_wakes;
} putters[NR_PUTTERS];

/* ---- putters -------------------------------------------------------------------- */

static struct message *new_message(struct putter *own,
				   struct object_pool_cache *cache)
{
	struct message *message = object_pool_get(&messages, cache);

	CHECK(message);
	CHECK_EQ(message->out, 0);
	(void)add_relaxed(&scene.nr_out, 1);
	message->out = 1;
	message->from = own->id;
	message->number = own->nr_accepted + 1;
	return message;
}

static void drop(struct message *message, struct object_pool_cache *cache)
{
	CHECK_EQ(message->out, 1);
	message->out = 0;
	(void)sub_relaxed(&scene.nr_out, 1);
	object_pool_put(&messages, cache, message);
}

static void send(struct putter *own, struct object_pool_cache *cache)
{
	uint32_t owner = load_acquire(&scene.owner);
	struct message *message;

	if (!owner)
		return;
	message = new_message(own, cache);
	message->owner = owner;
	switch (inbox_put(&scene.inbox, &message->node)) {
	case INBOX_WAKE:
		/* Nobody else does, and it has parked. */
		CHECK_EQ(scene.parked, 1);
		scene.parked = 0;
		own->nr_wakes++;
		own->nr_accepted++;
		sem_post(&scene.woken);
		break;
	case INBOX_TAKEN:
		own->nr_accepted++;
		break;
	case INBOX_REFUSED:
		own->nr_refused++;
		drop(message, cache);
		break;
	}
}

static void *put(void *arg)
{
	/* One of them has no cache. */
	struct object_pool_cache memory = { 0 };
	struct putter *own = arg;
	struct object_pool_cache *cache = own->id ? &memory : NULL;

	while (!load_acquire(&scene.stopped)) {
		for (uint64_t i = test_random(30); i > 0; i--)
			send(own, cache);
		if (test_random(4) == 0)
			os_thread_yield();
		while (load_relaxed(&scene.nr_out) > MAX_OUT &&
		       !load_acquire(&scene.stopped))
			os_thread_yield();
	}
	object_pool_flush(&memory);
	return NULL;
}

/* ---- the owner ---------------------------------------------------------------------- */

static void read_one(struct push_node *node, uint64_t last[NR_PUTTERS],
		     uint32_t owner)
{
	const struct message *message =
		container_of(node, struct message, node);

	CHECK_EQ(message->out, 1);
	CHECK_LT(message->from, NR_PUTTERS);
	CHECK(message->number > last[message->from]);
	last[message->from] = message->number;
	CHECK_LE(message->owner, owner);
	scene.nr_taken++;
}

static void read_all(struct push_node *node, uint64_t last[NR_PUTTERS],
		     uint32_t owner, struct object_pool_cache *cache)
{
	while (node) {
		struct push_node *this = node;

		node = node->next;
		read_one(this, last, owner);
		drop(container_of(this, struct message, node), cache);
	}
}

/* What was looked at is dropped when it is out of the inbox. */
static void put_away(struct push_node **seen, struct object_pool_cache *cache)
{
	if (*seen)
		drop(container_of(*seen, struct message, node), cache);
	*seen = NULL;
}

static void rest(struct push_node **seen, struct object_pool_cache *cache)
{
	scene.parked = 1;
	if (inbox_rest(&scene.inbox, *seen)) {
		scene.nr_rests++;
		put_away(seen, cache);
		while (sem_wait(&scene.woken))
			;
	} else {
		scene.parked = 0;
	}
}

static void live(uint32_t owner, uint64_t last[NR_PUTTERS],
		 struct object_pool_cache *cache)
{
	uint64_t lives = 1 + test_random(200);
	struct push_node *seen = NULL, *chain;

	inbox_open(&scene.inbox);
	store_release(&scene.owner, owner);
	while (lives--) {
		if (!seen && (seen = inbox_peek(&scene.inbox))) {
			read_one(seen, last, owner);
		} else {
			chain = inbox_take(&scene.inbox, seen);
			put_away(&seen, cache);
			read_all(chain, last, owner, cache);
		}
		if (!load_acquire(&scene.stopped))
			rest(&seen, cache);
	}
	/* relaxed: who is late is refused. */
	store_relaxed(&scene.owner, 0);
	chain = inbox_close(&scene.inbox, seen);
	put_away(&seen, cache);
	read_all(chain, last, owner, cache);
}

TEST(nothing_is_lost_and_each_rest_has_one_waker)
{
	uint64_t last[NR_PUTTERS] = { 0 }, end = stress_end();
	uint64_t nr_accepted = 0, nr_wakes = 0;
	struct object_pool_cache cache = { 0 };
	uint32_t owner = 0;

	scene.inbox.word = INBOX_CLOSED;
	CHECK_EQ(sem_init(&scene.woken, 0, 0), 0);
	for (uint32_t i = 0; i < NR_PUTTERS; i++) {
		putters[i].id = i;
		putters[i].thread = test_thread(put, &putters[i]);
	}
	while (sley_now() < end)
		live(++owner, last, &cache);
	/* Not while it rests: nobody would wake it. */
	store_release(&scene.stopped, 1);
	for (int i = 0; i < NR_PUTTERS; i++) {
		pthread_join(putters[i].thread, NULL);
		nr_accepted += putters[i].nr_accepted;
		nr_wakes += putters[i].nr_wakes;
	}
	CHECK_EQ(scene.inbox.word, INBOX_CLOSED);
	CHECK_EQ(scene.nr_taken, nr_accepted);
	CHECK_EQ(scene.nr_rests, nr_wakes);
	CHECK(nr_accepted > 0);
	object_pool_flush(&cache);
	sem_destroy(&scene.woken);
	test_count(nr_accepted);
}

/* ---- the pool alone -------------------------------------------------------------------- */

#define NR_SHELVES 256

static struct message *shelf[NR_SHELVES];

/* Objects go from cache to cache over a shelf; half of the time in bursts. */
static void *trade(void *arg)
{
	struct object_pool_cache cache = { 0 };
	uint64_t nr = 0;

	while (!load_acquire(&scene.stopped)) {
		uint64_t burst = 1 + test_random(3 * OBJECT_POOL_MAGAZINE);
		bool fills = test_random(2);

		for (uint64_t i = 0; i < burst; i++) {
			struct object_pool_cache *use = one_in(16) ? NULL
								   : &cache;
			struct message *message = NULL;

			if (fills) {
				message = object_pool_get(&messages, use);
				CHECK(message);
				CHECK_EQ(message->out, 0);
				message->out = 1;
			}
			message = xchg_acq_rel(&shelf[test_random(NR_SHELVES)],
					       message);
			if (message)
				drop(message, use);
			nr++;
		}
		if (one_in(8))
			object_pool_flush(&cache);
	}
	object_pool_flush(&cache);
	*(uint64_t *)arg = nr;
	return NULL;
}

TEST(objects_of_a_pool_are_out_once_at_a_time)
{
	uint64_t end = stress_end(), sum = 0, nr[NR_PUTTERS];
	pthread_t thread[NR_PUTTERS];

	for (int i = 0; i < NR_PUTTERS; i++)
		thread[i] = test_thread(trade, &nr[i]);
	while (sley_now() < end)
		os_thread_yield();
	store_release(&scene.stopped, 1);
	for (int i = 0; i < NR_PUTTERS; i++) {
		pthread_join(thread[i], NULL);
		sum += nr[i];
	}
	for (int i = 0; i < NR_SHELVES; i++) {
		if (shelf[i])
			drop(shelf[i], NULL);
	}
	test_count(sum);
}
