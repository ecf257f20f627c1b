/* SPDX-License-Identifier: MIT */
/*
 * serve.c - a subprocess: serves one call after the other, until STOP.
 *
 * It trusts the program: the ring and the crates are the program's.  The mapping of the
 * crates grows with the calls, and begins where the file does.
 */
#include "subprocess/call_ring.h"
#include "subprocess/fork_server.h"
#include "subprocess/function_table.h"
#include "subprocess/crate.h"
#include "os/eventfd.h"
#include "os/map.h"
#include "os/pidfd.h"
#include "os/shared_memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Keeps the text of a function until it is known whether the call failed. */
static char text[SLEY_SUBPROCESS_TEXT_MAX];

static struct {
	int file; /* of crates, or -1 */
	char *memory;
	uint64_t size;
} crates;

/* Maps the crates up to @end, and more: few calls need a longer mapping. */
static int map_crates(uint64_t end)
{
	uint64_t size = CRATE_UNIT;

	if (end <= crates.size)
		return 0;
	while (size < end)
		size *= 2;
	if (crates.memory)
		os_unmap(crates.memory, crates.size);
	crates.memory = os_shared_memory_map(crates.file, size);
	crates.size = crates.memory ? size : 0;
	if (crates.memory)
		return 0;
	(void)snprintf(text, sizeof(text),
		       "no memory to map a request of this size");
	return -ENOMEM;
}

static int run(uint32_t fn, struct sley_subprocess_work *work)
{
	const struct subprocess_function *function = function_table_at(fn);

	text[0] = '\0';
	work->text = text;
	return function ? function->fn(work) : -ENOSYS;
}

/* As run(), with an argument or a result in a crate. */
static int run_crate(struct call_slot *slot, struct sley_subprocess_work *work)
{
	int err = map_crates(slot->crate_end);
	void *result;

	if (err)
		return err;
	if (slot->arg_at)
		work->arg = crates.memory + slot->arg_at;
	if (slot->result_at)
		work->result = crates.memory + slot->result_at;
	result = work->result;
	err = run(slot->fn, work);
	if (slot->result_at && work->result_size <= sizeof(slot->result))
		memcpy(slot->result, result, work->result_size);
	return err;
}

static void serve(struct call_ring *ring, uint32_t number)
{
	struct call_slot *slot = call_slot(ring, ring->depth, number);
	struct sley_subprocess_work work = { .arg = slot->arg,
					     .arg_size = slot->arg_size,
					     .result = slot->result };

	call_ring_begin(ring, number);
	slot->code = slot->crate_end ? run_crate(slot, &work)
				     : run(slot->fn, &work);
	slot->result_size = work.result_size;
	if (slot->code < 0)
		memcpy(slot->text, text, sizeof(text));
	slot->answer_life = ring->life;
	slot->answer_number = number;
}

static void become_ready(struct call_ring *ring, int eventfd)
{
	/* The result is not read; the function may write to it. */
	struct sley_subprocess_work work = { .arg = ring->slot[0].arg,
					     .arg_size = ring->slot[0].arg_size,
					     .result = ring->slot[0].result };

	if (ring->on_start)
		ring->refusal = run(ring->on_start, &work);
	call_ring_say_ready(ring, ring->refusal < 0 ? CALL_RING_REFUSES
						    : CALL_RING_READY);
	os_eventfd_signal(eventfd);
	if (ring->refusal < 0)
		os_exit(0);
}

/* First the worker: the collector need not hurry. */
static void signal_readers(const int *fds, uint32_t bits)
{
	if (bits & CALL_RING_WORKER)
		os_eventfd_signal(fds[FORK_SERVER_WORKER]);
	if (bits & CALL_RING_COLLECTOR)
		os_eventfd_signal(fds[FORK_SERVER_COLLECTOR]);
}

void subprocess_serve(const int *fds, const struct fork_server_order *order)
{
	struct call_ring *ring = os_shared_memory_map(
		fds[FORK_SERVER_RING], call_ring_size(order->depth));
	uint32_t number;

	crates.file = fds[FORK_SERVER_CRATES];
	os_close(fds[FORK_SERVER_RING]);
	os_name_process(order->name);
	/* Without memory, or room for descriptors. */
	if (!ring || fds[FORK_SERVER_WORKER] < 0)
		os_exit(1);
	number = call_ring_done(ring);
	become_ready(ring, fds[FORK_SERVER_COLLECTOR]);
	for (;;) {
		uint32_t asked = call_ring_await(ring, number);

		if (count_word_count(asked) == number)
			os_exit(0); /* nothing but COUNT_WORD_STOP */
		while (number != count_word_count(asked)) {
			serve(ring, number);
			number = (number + 1) & COUNT_WORD_MASK;
			signal_readers(fds, call_ring_answer(ring));
		}
	}
}
