/* SPDX-License-Identifier: MIT */
/*
 * calls.c - calls: to the ring, and back.  See subprocess.h.
 *
 * What is read from the ring is read once, into memory of our own, and looked at
 * there.
 */
#include "subprocess/subprocess.h"

#include "subprocess/function_table.h"

#include <sley/error.h>
#include <stdio.h>
#include <string.h>

void child_calls_end(struct child_calls *calls)
{
	struct child_call *call = calls->first;

	while (call) {
		struct child_call *next = call->next;

		sley_event_set(&call->ended);
		call = next;
	}
}

/* ---- to the ring ------------------------------------------------------------------- */

static void fill(struct sley_child_process *child, struct child_call *call)
{
	struct child_slot *slot =
		child_slot(child->ring, child->options.depth, child->asked);

	slot->life = child->life;
	slot->number = child->asked;
	slot->fn = call->fn;
	slot->arg_size = call->arg_size;
	if (call->arg_size)
		memcpy(slot->arg, call->arg, call->arg_size);
	child->calls[child->asked % child->options.depth] = call;
	call->number = child->asked;
	call->in_ring = true;
	child->asked = (child->asked + 1) & CHILD_COUNT_MASK;
}

bool child_bring(struct sley_child_process *child)
{
	bool was_empty = child_in_ring(child) == 0;
	uint32_t nr = 0;

	if (child->phase != LIFE_RUNNING || child->broken)
		return false;
	/* Before they are asked: then no answer is missed. */
	if (child->nr_waiting && !child->watched) {
		child->watched = true;
		(void)child_ring_watch(child->ring);
	}
	while (child->queue.first &&
	       child_in_ring(child) < child->options.depth) {
		struct child_call *call = child->queue.first;

		child->queue.first = call->next;
		if (!call->next)
			child->queue.last = &child->queue.first;
		fill(child, call);
		nr++;
	}
	if (nr && was_empty && child->options.call_ns)
		child->since_ns = os_now();
	return nr && child_ring_ask(child->ring, nr);
}

/* ---- and back ------------------------------------------------------------------------ */

static void finish(struct sley_child_process *child, struct child_call *call,
		   struct child_calls *ended)
{
	child->nr_waiting -= call->waits;
	call->in_ring = false;
	call->finished = true;
	child_calls_add(ended, call);
}

/* It is longer than its room: a part of it would pass for the whole. */
static void refuse_result(struct sley_child_result *result, uint32_t size)
{
	if (result->code < 0)
		return; /* that is the error */
	result->code = -EMSGSIZE;
	result->outcome = SLEY_OUTCOME_FAILURE;
	(void)snprintf(result->text, sizeof(result->text),
		       "the result has %u bytes, and there is room for %zu",
		       size, result->size);
}

static void give_result(struct child_call *call, struct child_slot *slot,
			uint32_t size)
{
	struct sley_child_result *result = call->result;

	/* relaxed: K2; it is the copy that counts. */
	result->code = load_relaxed(&slot->code);
	result->outcome = result->code < 0 ? SLEY_OUTCOME_FAILURE
					   : SLEY_OUTCOME_SUCCESS;
	result->text[0] = '\0';
	if (result->code < 0) {
		memcpy(result->text, slot->text, sizeof(result->text));
		result->text[sizeof(result->text) - 1] = '\0';
	}
	if (!result->data)
		size = 0; /* it is not wanted */
	else if (size > result->size)
		refuse_result(result, size);
	else
		memcpy(result->data, slot->result, size);
	result->size = size;
}

/* The answer to the oldest call.  False: it is none. */
static bool take_answer(struct sley_child_process *child,
			struct child_calls *ended)
{
	uint32_t number = child->collected;
	struct child_slot *slot =
		child_slot(child->ring, child->options.depth, number);
	struct child_call **place =
		&child->calls[number % child->options.depth];
	struct child_call *call = *place;
	/* relaxed: as above. */
	uint32_t size = load_relaxed(&slot->result_size);

	/* relaxed: as above. */
	if (load_relaxed(&slot->answer_life) != child->life ||
	    load_relaxed(&slot->answer_number) != number ||
	    size > SLEY_CHILD_DATA_MAX)
		return false;
	*place = NULL;
	child->collected = (number + 1) & CHILD_COUNT_MASK;
	if (!call)
		return true;
	give_result(call, slot, size);
	finish(child, call, ended);
	return true;
}

void child_collect(struct sley_child_process *child, struct child_calls *ended)
{
	uint32_t done = child_ring_done(child->ring);
	uint32_t nr = child_distance(child->collected, done);

	if (!nr || child->broken)
		return;
	if (nr > child_in_ring(child))
		child->broken = true;
	while (nr-- && !child->broken)
		child->broken = !take_answer(child, ended);
	if (child->options.call_ns)
		child->since_ns = os_now();
}

/* ---- its death ------------------------------------------------------------------------ */

void child_fail_call(struct sley_child_process *child, struct child_call *call,
		     struct child_calls *ended)
{
	const struct child_function *function = child_table_at(call->fn);
	/* A node has a name of its own, which who explains it knows. */
	bool named = function && call->fn != CHILD_TABLE_NODE;
	struct sley_child_result *result = call->result;

	result->code = SLEY_ECHILD;
	result->outcome = SLEY_OUTCOME_ENDPOINT;
	result->size = 0;
	(void)snprintf(result->text, sizeof(result->text), "%s%s%.60s %s%.150s",
		       named ? function->name : "", named ? ": " : "",
		       child->endpoint.name,
		       child->phase == LIFE_DOWN ? "is down, it " : "",
		       child->death);
	finish(child, call, ended);
}

/* @first, then what was queued before. */
static void queue_again(struct sley_child_process *child,
			struct child_calls *first)
{
	if (!first->first)
		return;
	*first->last = child->queue.first;
	if (child->queue.first)
		first->last = child->queue.last;
	child->queue = *first;
}

void child_take_back(struct sley_child_process *child,
		     struct child_calls *ended)
{
	uint32_t depth = child->options.depth, nr_begun;
	struct child_calls again;

	if (child->phase == LIFE_RUNNING)
		child_collect(child, ended);
	nr_begun = child_in_ring(child);
	if (!child->broken && !child->options.fail_queued)
		nr_begun = child_distance(child->collected,
					  child_ring_begun(child->ring,
							   child->collected,
							   child->asked));
	child_calls_init(&again);
	while (child->collected != child->asked) {
		uint32_t place = child->collected % depth;
		struct child_call *call = child->calls[place];
		bool begun = nr_begun > 0;

		child->calls[place] = NULL;
		child->collected = (child->collected + 1) & CHILD_COUNT_MASK;
		nr_begun -= begun;
		if (!call)
			continue;
		call->in_ring = false;
		if (begun)
			child_fail_call(child, call, ended);
		else
			child_calls_add(&again, call);
	}
	queue_again(child, &again);
}

void child_fail_queue(struct sley_child_process *child,
		      struct child_calls *ended)
{
	struct child_call *call = child->queue.first;

	while (call) {
		struct child_call *next = call->next;

		child_fail_call(child, call, ended);
		call = next;
	}
	child_calls_init(&child->queue);
}
