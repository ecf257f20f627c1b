/* SPDX-License-Identifier: MIT */
/*
 * calls.c - moves calls into the ring, and answers back.  See subprocess.h.
 *
 * Data in the ring is read once, into private memory, and checked there.
 */
#include "subprocess/subprocess.h"

#include "subprocess/function_table.h"
#include "subprocess/listener.h"

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

/* ---- waiting ----------------------------------------------------------------------- */

void subprocess_ask_signals(struct sley_subprocess *subprocess)
{
	uint32_t nr_heard = subprocess->deaf ? 0 : subprocess->nr_heard;
	uint32_t bits = nr_heard ? CALL_RING_WORKER : 0;

	if (subprocess->nr_waiting > nr_heard)
		bits |= CALL_RING_COLLECTOR;
	bits &= ~subprocess->signals;
	if (!bits)
		return;
	subprocess->signals |= bits;
	(void)call_ring_watch(subprocess->ring, bits);
}

void subprocess_begin_wait(struct sley_subprocess *subprocess,
			   struct subprocess_call *call)
{
	call->waits = true;
	subprocess->nr_waiting++;
	if (!call->listener)
		return;
	subprocess->nr_heard++;
	listener_expect(call->listener);
}

void subprocess_end_wait(struct sley_subprocess *subprocess,
			 struct subprocess_call *call)
{
	if (!call->waits)
		return;
	subprocess->nr_waiting--;
	if (!call->listener)
		return;
	subprocess->nr_heard--;
	listener_expect_no_more(call->listener);
}

/* ---- to the ring ------------------------------------------------------------------- */

/* Where the parts in @crate are, if there is one.  True: the argument is there. */
static bool fill_crate(struct call_slot *slot, const struct crate *crate)
{
	slot->crate_end = 0;
	if (likely(!crate))
		return false;
	slot->crate_end = crate->begin + crate->size;
	slot->arg_at = crate->arg_size ? crate->begin : 0;
	slot->result_at = crate->room ? crate_result_at(crate) : 0;
	return crate->arg_size;
}

static void fill(struct sley_subprocess *subprocess,
		 struct subprocess_call *call)
{
	struct call_slot *slot = call_slot(
		subprocess->ring, subprocess->options.depth, subprocess->asked);
	const struct call_spec *spec = &call->spec;

	slot->life = subprocess->life;
	slot->number = subprocess->asked;
	slot->fn = (uint32_t)spec->fn;
	slot->arg_size = spec->head_size + spec->arg_size;
	if (!fill_crate(slot, call->crate)) {
		if (spec->head_size)
			memcpy(slot->arg, spec->head, spec->head_size);
		if (spec->arg_size)
			memcpy(slot->arg + spec->head_size, spec->arg,
			       spec->arg_size);
	}
	subprocess->calls[subprocess->asked % subprocess->options.depth] =
		(struct asked_call){ call, call->crate };
	call->number = subprocess->asked;
	call->in_ring = true;
	subprocess->asked = (subprocess->asked + 1) & COUNT_WORD_MASK;
}

bool subprocess_bring(struct sley_subprocess *subprocess)
{
	bool was_empty = subprocess_in_ring(subprocess) == 0;
	uint32_t nr = 0;

	if (subprocess->phase != LIFE_RUNNING || subprocess->broken)
		return false;
	/* Before the calls are asked: then no answer is missed. */
	subprocess_ask_signals(subprocess);
	while (subprocess->queue.first &&
	       subprocess_in_ring(subprocess) < subprocess->options.depth) {
		struct subprocess_call *call = subprocess->queue.first;

		subprocess->queue.first = call->next;
		if (!call->next)
			subprocess->queue.last = &subprocess->queue.first;
		fill(subprocess, call);
		nr++;
	}
	if (nr && was_empty && subprocess->options.call_ns)
		subprocess->since_ns = os_now();
	return nr && call_ring_ask(subprocess->ring, nr);
}

/* ---- answers ------------------------------------------------------------------------- */

static void finish(struct sley_subprocess *subprocess,
		   struct subprocess_call *call, struct subprocess_calls *ended)
{
	subprocess_end_wait(subprocess, call);
	call->in_ring = false;
	call->finished = true;
	subprocess_calls_add(ended, call);
}

/*
 * The caller shall write its argument again: a life that has ended could write to the
 * crate.
 */
static void send_back(struct sley_subprocess *subprocess,
		      struct subprocess_call *call,
		      struct subprocess_calls *ended)
{
	call->again = true;
	finish(subprocess, call, ended);
}

/* The result does not fit: a part would look like the whole. */
static void refuse_result(struct sley_subprocess_result *result, uint64_t size)
{
	if (result->code < 0)
		return; /* this error stays */
	result->code = -EMSGSIZE;
	result->outcome = SLEY_OUTCOME_FAILURE;
	(void)snprintf(result->text, sizeof(result->text),
		       "the result has %llu bytes, and there is room for %zu",
		       (unsigned long long)size, result->size);
}

/* What fits no slot is in the crate, and the caller reads it there. */
static void give_result(struct subprocess_call *call, struct call_slot *slot,
			uint64_t size)
{
	struct sley_subprocess_result *result = call->result;

	/* relaxed: CW1 of shm/count_word.h; only the copy counts. */
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
	else if (size <= SLEY_SUBPROCESS_DATA_MAX)
		memcpy(result->data, slot->result, size);
	result->size = size;
}

/* The largest result that the call can have. */
static uint64_t room_of(const struct crate *crate)
{
	return crate && crate->room ? crate->room : SLEY_SUBPROCESS_DATA_MAX;
}

/* Takes the answer to the oldest call.  False: it makes no sense. */
static bool take_answer(struct sley_subprocess *subprocess,
			struct subprocess_calls *ended)
{
	uint32_t number = subprocess->collected;
	struct call_slot *slot =
		call_slot(subprocess->ring, subprocess->options.depth, number);
	struct asked_call *place =
		&subprocess->calls[number % subprocess->options.depth];
	struct asked_call asked = *place;
	/* relaxed: as above. */
	uint64_t size = load_relaxed(&slot->result_size);

	/* relaxed: as above. */
	if (load_relaxed(&slot->answer_life) != subprocess->life ||
	    load_relaxed(&slot->answer_number) != number ||
	    size > room_of(asked.crate))
		return false;
	*place = (struct asked_call){ NULL, NULL };
	subprocess->collected = (number + 1) & COUNT_WORD_MASK;
	if (asked.call) {
		give_result(asked.call, slot, size);
		finish(subprocess, asked.call, ended);
	} else if (asked.crate) {
		crates_leave(&subprocess->crates, asked.crate);
	}
	return true;
}

void subprocess_collect(struct sley_subprocess *subprocess,
			struct subprocess_calls *ended)
{
	uint32_t done = call_ring_done(subprocess->ring);
	uint32_t nr = count_word_distance(subprocess->collected, done);

	if (!nr || subprocess->broken)
		return;
	if (nr > subprocess_in_ring(subprocess))
		subprocess->broken = true;
	while (nr-- && !subprocess->broken)
		subprocess->broken = !take_answer(subprocess, ended);
	if (subprocess->options.call_ns)
		subprocess->since_ns = os_now();
}

/* ---- the death of a subprocess -------------------------------------------------------- */

void subprocess_fail_call(struct sley_subprocess *subprocess,
			  struct subprocess_call *call,
			  struct subprocess_calls *ended)
{
	uint32_t fn = (uint32_t)call->spec.fn;
	const struct subprocess_function *function = function_table_at(fn);
	/* A node has its own name, which the explanation has already. */
	bool named = function && fn >= NR_OWN_FUNCTIONS;
	struct sley_subprocess_result *result = call->result;

	result->code = SLEY_ECHILD;
	result->outcome = SLEY_OUTCOME_ENDPOINT;
	result->size = 0;
	(void)snprintf(result->text, sizeof(result->text), "%s%s%.60s %s%.150s",
		       named ? function->name : "", named ? ": " : "",
		       subprocess->endpoint.name,
		       subprocess->phase == LIFE_DOWN ? "is down, it " : "",
		       subprocess->death);
	finish(subprocess, call, ended);
}

/* ---- the queue --------------------------------------------------------------------------- */

/* Has its caller written to a crate that a life which has ended could write to, too? */
static bool is_spoilt(const struct sley_subprocess *subprocess,
		      const struct subprocess_call *call)
{
	return call->crate && call->crate->arg_size &&
	       call->crate->life != subprocess->life;
}

void subprocess_enqueue(struct sley_subprocess *subprocess,
			struct subprocess_call *call,
			struct subprocess_calls *ended)
{
	if (subprocess->phase == LIFE_DOWN)
		subprocess_fail_call(subprocess, call, ended);
	else if (is_spoilt(subprocess, call))
		send_back(subprocess, call, ended);
	else
		subprocess_calls_add(&subprocess->queue, call);
}

/* Puts @first before the queued calls. */
static void queue_again(struct sley_subprocess *subprocess,
			struct subprocess_calls *first)
{
	if (!first->first)
		return;
	*first->last = subprocess->queue.first;
	if (subprocess->queue.first)
		first->last = subprocess->queue.last;
	subprocess->queue = *first;
}

void subprocess_send_spoilt_back(struct sley_subprocess *subprocess,
				 struct subprocess_calls *ended)
{
	struct subprocess_call *call = subprocess->queue.first, *next;

	subprocess_calls_init(&subprocess->queue);
	for (; call; call = next) {
		next = call->next;
		if (is_spoilt(subprocess, call))
			send_back(subprocess, call, ended);
		else
			subprocess_calls_add(&subprocess->queue, call);
	}
}

/* The call at @place has ended with the subprocess.  It may go to @again. */
static void take_one_back(struct sley_subprocess *subprocess,
			  struct asked_call *place, bool begun,
			  struct subprocess_calls *again,
			  struct subprocess_calls *ended)
{
	struct subprocess_call *call = place->call;

	if (call) {
		call->in_ring = false;
		if (begun)
			subprocess_fail_call(subprocess, call, ended);
		else
			subprocess_calls_add(again, call);
	} else if (place->crate) {
		crates_leave(&subprocess->crates, place->crate);
	}
	*place = (struct asked_call){ NULL, NULL };
}

void subprocess_take_back(struct sley_subprocess *subprocess,
			  struct subprocess_calls *ended)
{
	uint32_t depth = subprocess->options.depth, nr_begun;
	struct subprocess_calls again;

	if (subprocess->phase == LIFE_RUNNING)
		subprocess_collect(subprocess, ended);
	nr_begun = subprocess_in_ring(subprocess);
	if (!subprocess->broken && !subprocess->options.fail_queued)
		nr_begun = count_word_distance(
			subprocess->collected,
			call_ring_begun(subprocess->ring, subprocess->collected,
					subprocess->asked));
	subprocess_calls_init(&again);
	while (subprocess->collected != subprocess->asked) {
		uint32_t place = subprocess->collected % depth;
		bool begun = nr_begun > 0;

		subprocess->collected = (subprocess->collected + 1) &
					COUNT_WORD_MASK;
		nr_begun -= begun;
		take_one_back(subprocess, &subprocess->calls[place], begun,
			      &again, ended);
	}
	queue_again(subprocess, &again);
}

void subprocess_fail_queue(struct sley_subprocess *subprocess,
			   struct subprocess_calls *ended)
{
	struct subprocess_call *call = subprocess->queue.first;

	while (call) {
		struct subprocess_call *next = call->next;

		subprocess_fail_call(subprocess, call, ended);
		call = next;
	}
	subprocess_calls_init(&subprocess->queue);
}
