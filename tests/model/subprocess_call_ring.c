/* SPDX-License-Identifier: MIT */
/*
 * subprocess_call_ring.c - the ring of src/subprocess/call_ring.h between a program
 * and its subprocess: no call and no answer is lost, whichever side sleeps when.
 *
 * The subprocess is a thread, with the very operations of serve.c.  The eventfd of
 * the kernel is a word with a futex here, with the order of the kernel's lock: a side
 * that slept on the eventfd sees all that was done before the signal.  A side that
 * did not sleep on the eventfd has the edges of the ring alone.
 * Neither side spins first: each side goes to sleep as soon as possible.
 *
 * Complete for two calls, which are asked at once or one by one, and the stop; and for
 * one call with two readers that sleep for the answer, the collector and a worker.  The
 * models would not see mistakes that take more calls than the ring has slots: there
 * the program counts for itself, under a lock.
 */
#include "explorer.h"

#include "subprocess/call_ring.h"

#define DEPTH 2

static union {
	struct call_ring ring;
	unsigned char bytes[sizeof(struct call_ring) +
			    DEPTH * sizeof(struct call_slot)];
} memory;

static struct call_ring *const ring = &memory.ring;
static uint32_t eventfd; /* of the collector */
static uint32_t answers; /* of the worker    */
static uint32_t nr_collected;
static struct ledger {
	int nr_heard;
} ledger;

static void setup(void)
{
	ring->depth = DEPTH;
	ring->spin_ns = 0;
	call_ring_reset(ring, 1, COUNT_WORD_MASK); /* the count wraps */
	for (int i = 0; i < DEPTH; i++) {
		ring->slot[i].arg_size = 0;
		ring->slot[i].result_size = 0;
	}
	eventfd = answers = 0;
	nr_collected = 0;
	ledger.nr_heard = 0;
	model_ledger(&ledger, sizeof(ledger));
	model_name(&ring->asked, "asked");
	model_name(&ring->done, "done");
	model_name(&ring->ready, "ready");
	model_name(&eventfd, "eventfd");
	model_name(&answers, "answers");
}

/* ---- eventfds -------------------------------------------------------------------- */

static void eventfd_signal(uint32_t *fd)
{
	(void)xchg_release(fd, 1);
	os_futex_wake(fd, 1);
}

/* Sleeps until the eventfd is signalled. */
static void eventfd_await(uint32_t *fd)
{
	while (!xchg_acquire(fd, 0))
		(void)os_futex_wait(fd, 0, UINT64_MAX);
}

static void signal_readers(uint32_t bits)
{
	if (bits & CALL_RING_WORKER)
		eventfd_signal(&answers);
	if (bits & CALL_RING_COLLECTOR)
		eventfd_signal(&eventfd);
}

/* ---- the subprocess ----------------------------------------------------------------- */

static void subprocess(int id)
{
	uint32_t number = COUNT_WORD_MASK;

	(void)id;
	ring->refusal = 5;
	call_ring_say_ready(ring, CALL_RING_READY);
	eventfd_signal(&eventfd);
	for (;;) {
		uint32_t asked = call_ring_await(ring, number);

		if (count_word_count(asked) == number)
			return;
		while (number != count_word_count(asked)) {
			struct call_slot *slot = call_slot(ring, DEPTH, number);

			call_ring_begin(ring, number);
			slot->result_size = slot->arg_size + 1;
			number = (number + 1) & COUNT_WORD_MASK;
			signal_readers(call_ring_answer(ring));
		}
	}
}

/* ---- the program ------------------------------------------------------------------- */

static void await_ready(void)
{
	while (call_ring_readiness(ring) != CALL_RING_READY)
		eventfd_await(&eventfd);
	MODEL_CHECK(ring->refusal == 5);
}

static void ask(uint32_t first, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		call_slot(ring, DEPTH, first + i)->arg_size = 10 + i;
	if (call_ring_ask(ring, nr))
		call_ring_wake(ring);
}

/* Takes the answers up to @done. */
static void collect(uint32_t first, uint32_t done)
{
	uint32_t nr = count_word_distance(first, done);

	MODEL_CHECK(nr <= 2);
	for (uint32_t i = nr_collected; i < nr; i++)
		MODEL_CHECK(call_slot(ring, DEPTH, first + i)->result_size ==
			    11 + i);
	nr_collected = nr;
}

/* Sleeps until all @nr answers are there. */
static void await_answers(uint32_t first, uint32_t nr)
{
	collect(first, call_ring_watch(ring, CALL_RING_COLLECTOR));
	while (nr_collected < nr) {
		eventfd_await(&eventfd);
		collect(first, call_ring_watch(ring, CALL_RING_COLLECTOR));
	}
}

static void ask_two_at_once(int id)
{
	(void)id;
	await_ready();
	ask(COUNT_WORD_MASK, 2);
	await_answers(COUNT_WORD_MASK, 2);
	call_ring_stop(ring);
}

static void finish(void)
{
	MODEL_CHECK(nr_collected == 2);
	MODEL_CHECK(call_ring_begun(ring, COUNT_WORD_MASK, 1) == 1);
}

MODEL(two_calls_at_once_are_answered, .setup = setup,
      .threads = { ask_two_at_once, subprocess }, .finish = finish);

/* The second call comes when the subprocess may be about to sleep. */
static void ask_one_by_one(int id)
{
	(void)id;
	await_ready();
	ask(COUNT_WORD_MASK, 1);
	call_slot(ring, DEPTH, 0)->arg_size = 11;
	if (call_ring_ask(ring, 1))
		call_ring_wake(ring);
	await_answers(COUNT_WORD_MASK, 2);
	call_ring_stop(ring);
}

MODEL(two_calls_one_by_one_are_answered, .setup = setup,
      .threads = { ask_one_by_one, subprocess }, .finish = finish);

/* Sleeps for the first answer; spins for the second, and asks for no signal. */
static void look_for_the_second(int id)
{
	(void)id;
	await_ready();
	ask(COUNT_WORD_MASK, 2);
	await_answers(COUNT_WORD_MASK, 1);
	for (;;) {
		collect(COUNT_WORD_MASK, call_ring_done(ring));
		if (nr_collected == 2)
			break;
		spin_hint(&ring->done);
	}
	call_ring_stop(ring);
}

MODEL(who_stops_sleeping_loses_no_answer, .setup = setup,
      .threads = { look_for_the_second, subprocess }, .finish = finish);

/* ---- two readers ------------------------------------------------------------------- */

/* Each reader looks at the answer, and sleeps for its own eventfd. */
static void hear(uint32_t bit, uint32_t *fd)
{
	while (call_ring_watch(ring, bit) != 0)
		eventfd_await(fd);
	MODEL_CHECK(call_slot(ring, DEPTH, COUNT_WORD_MASK)->result_size == 11);
	ledger.nr_heard++;
}

static void ask_and_collect(int id)
{
	(void)id;
	await_ready();
	ask(COUNT_WORD_MASK, 1);
	hear(CALL_RING_COLLECTOR, &eventfd);
	call_ring_stop(ring);
}

static void listen(int id)
{
	(void)id;
	hear(CALL_RING_WORKER, &answers);
}

static void both(void)
{
	MODEL_CHECK(ledger.nr_heard == 2);
}

MODEL(the_collector_and_a_worker_hear_of_an_answer, .setup = setup,
      .threads = { ask_and_collect, listen, subprocess }, .finish = both);
