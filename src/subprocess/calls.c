/* SPDX-License-Identifier: MIT */
/*
 * calls.c - moves calls into the ring, and answers back.  See subprocess.h.
 *
 * Data in the ring is read once, into private memory, and checked there.
 */
#include "subprocess/subprocess.h"

#include "subprocess/function_table.h"

#include <sley/error.h>
#include <stdio.h>
#include <string.h>

void subprocess_calls_end(struct subprocess_calls *calls)
{
	struct subprocess_call *call = calls->first;

	while (call) {
		struct subprocess_call *next = call->next;

		sley_event_set(&call->ended);
		call = next;
	}
}

/* ---- to the ring ------------------------------------------------------------------- */

static void fill(struct sley_subprocess *child, struct subprocess_call *call)
{
	struct call_slot *slot =
		call_slot(child->ring, child->options.depth, child->asked);

	slot->life = child->life;
	slot->number = child->asked;
	slot->fn = call->fn;
	slot->arg_size = call->arg_size;
	if (call->arg_size)
		memcpy(slot->arg, call->arg, call->arg_size);
	child->calls[child->asked % child->options.depth] = call;
	call->number = child->asked;
	call->in_ring = true;
	child->asked = (child->asked + 1) & CALL_RING_COUNT_MASK;
}

bool subprocess_bring(struct sley_subprocess *child)
{
	bool was_empty = subprocess_in_ring(child) == 0;
	uint32_t nr = 0;

	if (child->phase != LIFE_RUNNING || child->broken)
		return false;
	/* Before the calls are asked: then no answer is missed. */
	if (child->nr_waiting && !child->watched) {
		child->watched = true;
		(void)call_ring_watch(child->ring);
	}
	while (child->queue.first &&
	       subprocess_in_ring(child) < child->options.depth) {
		struct subprocess_call *call = child->queue.first;

		child->queue.first = call->next;
		if (!call->next)
			child->queue.last = &child->queue.first;
		fill(child, call);
		nr++;
	}
	if (nr && was_empty && child->options.call_ns)
		child->since_ns = os_now();
	return nr && call_ring_ask(child->ring, nr);
}

/* ---- answers ------------------------------------------------------------------------- */

static void finish(struct sley_subprocess *child, struct subprocess_call *call,
		   struct subprocess_calls *ended)
{
	child->nr_waiting -= call->waits;
	call->in_ring = false;
	call->finished = true;
	subprocess_calls_add(ended, call);
}

/* The result does not fit: a part would look like the whole. */
static void refuse_result(struct sley_subprocess_result *result, uint32_t size)
{
	if (result->code < 0)
		return; /* this error stays */
	result->code = -EMSGSIZE;
	result->outcome = SLEY_OUTCOME_FAILURE;
	(void)snprintf(result->text, sizeof(result->text),
		       "the result has %u bytes, and there is room for %zu",
		       size, result->size);
}

static void give_result(struct subprocess_call *call, struct call_slot *slot,
			uint32_t size)
{
	struct sley_subprocess_result *result = call->result;

	/* relaxed: CR2 of call_ring.h; only the copy counts. */
	result->code = load_relaxed(&slot->code);
	result->outcome = result->code < 0 ? SLEY_OUTCOME_FAILURE
					   : SLEY_OUTCOME_SUCCESS;
	result->text[0] = '\0';
	if (result->code < 0) {
		memcpy(result->text, slot->text, sizeof(result->text));
		result->text[sizeof(result->text) - 1] = '\0';
	}
	if (!result->data)
		size = 0; /* the caller wants no data */
	else if (size > result->size)
		refuse_result(result, size);
	else
		memcpy(result->data, slot->result, size);
	result->size = size;
}

/* Takes the answer to the oldest call.  False: it makes no sense. */
static bool take_answer(struct sley_subprocess *child,
			struct subprocess_calls *ended)
{
	uint32_t number = child->collected;
	struct call_slot *slot =
		call_slot(child->ring, child->options.depth, number);
	struct subprocess_call **place =
		&child->calls[number % child->options.depth];
	struct subprocess_call *call = *place;
	/* relaxed: as above. */
	uint32_t size = load_relaxed(&slot->result_size);

	/* relaxed: as above. */
	if (load_relaxed(&slot->answer_life) != child->life ||
	    load_relaxed(&slot->answer_number) != number ||
	    size > SLEY_SUBPROCESS_DATA_MAX)
		return false;
	*place = NULL;
	child->collected = (number + 1) & CALL_RING_COUNT_MASK;
	if (!call)
		return true;
	give_result(call, slot, size);
	finish(child, call, ended);
	return true;
}

void subprocess_collect(struct sley_subprocess *child,
			struct subprocess_calls *ended)
{
	uint32_t done = call_ring_done(child->ring);
	uint32_t nr = call_ring_distance(child->collected, done);

	if (!nr || child->broken)
		return;
	if (nr > subprocess_in_ring(child))
		child->broken = true;
	while (nr-- && !child->broken)
		child->broken = !take_answer(child, ended);
	if (child->options.call_ns)
		child->since_ns = os_now();
}

/* ---- the death of a subprocess -------------------------------------------------------- */

void subprocess_fail_call(struct sley_subprocess *child,
			  struct subprocess_call *call,
			  struct subprocess_calls *ended)
{
	const struct subprocess_function *function =
		function_table_at(call->fn);
	/* A node has its own name, which the explanation has already. */
	bool named = function && call->fn != FUNCTION_TABLE_NODE;
	struct sley_subprocess_result *result = call->result;

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

/* Puts @first before the queued calls. */
static void queue_again(struct sley_subprocess *child,
			struct subprocess_calls *first)
{
	if (!first->first)
		return;
	*first->last = child->queue.first;
	if (child->queue.first)
		first->last = child->queue.last;
	child->queue = *first;
}

void subprocess_take_back(struct sley_subprocess *child,
			  struct subprocess_calls *ended)
{
	uint32_t depth = child->options.depth, nr_begun;
	struct subprocess_calls again;

	if (child->phase == LIFE_RUNNING)
		subprocess_collect(child, ended);
	nr_begun = subprocess_in_ring(child);
	if (!child->broken && !child->options.fail_queued)
		nr_begun = call_ring_distance(child->collected,
					      call_ring_begun(child->ring,
							      child->collected,
							      child->asked));
	subprocess_calls_init(&again);
	while (child->collected != child->asked) {
		uint32_t place = child->collected % depth;
		struct subprocess_call *call = child->calls[place];
		bool begun = nr_begun > 0;

		child->calls[place] = NULL;
		child->collected = (child->collected + 1) &
				   CALL_RING_COUNT_MASK;
		nr_begun -= begun;
		if (!call)
			continue;
		call->in_ring = false;
		if (begun)
			subprocess_fail_call(child, call, ended);
		else
			subprocess_calls_add(&again, call);
	}
	queue_again(child, &again);
}

void subprocess_fail_queue(struct sley_subprocess *child,
			   struct subprocess_calls *ended)
{
	struct subprocess_call *call = child->queue.first;

	while (call) {
		struct subprocess_call *next = call->next;

		subprocess_fail_call(child, call, ended);
		call = next;
	}
	subprocess_calls_init(&child->queue);
}
