/* SPDX-License-Identifier: MIT */
/*
 * subprocess.c - <sley/subprocess.h>: creating, destroying and calling subprocesses.
 *
 * See subprocess.h for the way of a call there and back.
 */
#include "base/assert.h"
#include "base/options.h"
#include "subprocess/collector.h"
#include "subprocess/subprocess.h"
#include "subprocess/function_table.h"
#include "subprocess/listener.h"
#include "os/eventfd.h"
#include "os/map.h"
#include "os/at_fork.h"
#include "os/shared_memory.h"
#include "sync/event.h"

#include <errno.h>
#include <sley/error.h>
#include <stdio.h>
#include <string.h>

#define LOOKS_PER_CLOCK 32

/* Only the event ends this wait. */
static void await(struct sley_event *event)
{
	(void)!event_wait(event, UINT64_MAX, WAIT_SHIELDED);
}

/* A child of fork() may have its own collector, which does not have @subprocess. */
static bool is_ours(const struct sley_subprocess *subprocess)
{
	return collector_exists() &&
	       subprocess->generation == os_fork_generation();
}

/* ---- begin and end -------------------------------------------------------------------- */

static size_t size_of(const struct sley_subprocess_options *options)
{
	return sizeof(struct sley_subprocess) +
	       options->depth * sizeof(struct asked_call);
}

static int take_options(struct sley_subprocess_options *out,
			const struct sley_subprocess_options *given)
{
	int err = options_take(out, given);

	if (err)
		return err;
	if (out->depth > SLEY_SUBPROCESS_DEPTH_MAX ||
	    (out->on_start && function_table_find(out->on_start) < 0))
		return -EINVAL;
	if (out->start_size > SLEY_SUBPROCESS_DATA_MAX)
		return -EMSGSIZE;
	if (!out->depth)
		out->depth = (uint32_t)chaos_few(16, 1);
	/* A power of two: so slots stay in order when the call numbers wrap. */
	while (out->depth & (out->depth - 1))
		out->depth++;
	if (!out->name)
		out->name = "subprocess";
	if (!out->max_restarts)
		out->max_restarts = 10;
	if (!out->within_ns)
		out->within_ns = 60000000000ull;
	if (!out->start_ns)
		out->start_ns = 10000000000ull;
	if (!out->spin_ns)
		out->spin_ns = 10000;
	else if (out->spin_ns == SLEY_SUBPROCESS_NO_SPIN)
		out->spin_ns = 0;
	return 0;
}

static void free_subprocess(struct sley_subprocess *subprocess)
{
	size_t size = call_ring_size(subprocess->options.depth);

	if (subprocess->ring)
		os_unmap(subprocess->ring, size);
	os_close(subprocess->segment);
	os_close(subprocess->eventfd);
	os_close(subprocess->answers);
	crates_close(&subprocess->crates);
	intensity_fini(&subprocess->restarts, &sley__program_mem);
	mem_free(&sley__program_mem, subprocess, size_of(&subprocess->options));
}

static int open_ring(struct sley_subprocess *subprocess)
{
	size_t size = call_ring_size(subprocess->options.depth);

	subprocess->segment = os_shared_memory_create("sley-subprocess", size);
	if (subprocess->segment < 0)
		return subprocess->segment;
	subprocess->ring = os_shared_memory_map(subprocess->segment, size);
	if (!subprocess->ring)
		return -ENOMEM;
	if (subprocess->options.on_start)
		subprocess->on_start = (uint32_t)function_table_find(
			subprocess->options.on_start);
	return 0;
}

static int set_up(struct sley_subprocess *subprocess, bool large)
{
	int err;

	subprocess->endpoint =
		(struct sley_endpoint){ .ops = &subprocess_endpoint_ops,
					.name = subprocess->options.name,
					.width = 1 };
	subprocess->segment = subprocess->answers = -1;
	subprocess->crates.file = -1;
	subprocess_calls_init(&subprocess->queue);
	subprocess->eventfd = os_eventfd_create();
	if (subprocess->eventfd < 0)
		return subprocess->eventfd;
	subprocess->answers = os_eventfd_create();
	if (subprocess->answers < 0)
		return subprocess->answers;
	err = open_ring(subprocess);
	if (!err && large)
		err = crates_open(&subprocess->crates);
	if (err)
		return err;
	return collector_join(subprocess);
}

int subprocess_create(struct sley_subprocess **out,
		      const struct sley_subprocess_options *given, bool large)
{
	struct sley_subprocess_options options;
	struct sley_subprocess *subprocess;
	int err = take_options(&options, given);

	if (err)
		return err;
	if (!collector_exists())
		return collector_is_lost() ? SLEY_EFORKED : -ENOENT;
	subprocess = mem_alloc(&sley__program_mem, size_of(&options));
	if (!subprocess)
		return -ENOMEM;
	subprocess->options = options;
	subprocess->generation = os_fork_generation();
	err = set_up(subprocess, large);
	if (!err) {
		await(&subprocess->started);
		err = subprocess->start_error;
	}
	if (err) {
		free_subprocess(subprocess);
		return err;
	}
	*out = subprocess;
	return 0;
}

int sley_subprocess_create(struct sley_subprocess **out,
			   const struct sley_subprocess_options *given)
{
	return subprocess_create(out, given, false);
}

void sley_subprocess_destroy(struct sley_subprocess *subprocess)
{
	if (!subprocess)
		return;
	sley_check(is_ours(subprocess),
		   "the subprocess belongs to the process that created it");
	spin_lock(&subprocess->lock);
	sley_check(
		!subprocess->nr_waiting && !subprocess->queue.first,
		"calls of the subprocess are under way: destroy it when they "
		"have returned");
	subprocess->closing = true;
	subprocess->since_ns = os_now();
	spin_unlock(&subprocess->lock);
	listeners_leave(subprocess);
	collector_nudge();
	await(&subprocess->gone);
	free_subprocess(subprocess);
}

int sley_subprocess_pid(struct sley_subprocess *subprocess)
{
	int pid;

	spin_lock(&subprocess->lock);
	pid = subprocess->pid;
	spin_unlock(&subprocess->lock);
	return pid;
}

uint64_t sley_subprocess_restarts(struct sley_subprocess *subprocess)
{
	uint64_t nr;

	spin_lock(&subprocess->lock);
	nr = subprocess->nr_restarts;
	spin_unlock(&subprocess->lock);
	return nr;
}

void subprocess_restart_no_more(struct sley_subprocess *subprocess)
{
	spin_lock(&subprocess->lock);
	subprocess->last_life = true;
	spin_unlock(&subprocess->lock);
}

bool subprocess_is_down(struct sley_subprocess *subprocess)
{
	bool down;

	spin_lock(&subprocess->lock);
	down = subprocess->phase == LIFE_DOWN;
	spin_unlock(&subprocess->lock);
	return down;
}

/* ---- a call ---------------------------------------------------------------------------- */

/*
 * Takes answers, puts queued calls into the ring, and calls @more, all under the
 * lock.  Returns the number up to which answers were taken.
 */
static uint32_t visit(struct sley_subprocess *subprocess,
		      struct subprocess_call *call,
		      void (*more)(struct sley_subprocess *subprocess,
				   struct subprocess_call *call,
				   struct subprocess_calls *ended))
{
	struct subprocess_calls ended;
	bool wake = false, nudge;
	uint32_t collected;

	subprocess_calls_init(&ended);
	spin_lock(&subprocess->lock);
	if (more)
		more(subprocess, call, &ended);
	if (subprocess->phase == LIFE_RUNNING) {
		subprocess_collect(subprocess, &ended);
		wake = subprocess_bring(subprocess);
	}
	collected = subprocess->collected;
	nudge = subprocess_wants_care(subprocess);
	if (subprocess->options.call_ns && !subprocess->timed &&
	    subprocess_in_ring(subprocess)) {
		subprocess->timed = true;
		nudge = true;
	}
	spin_unlock(&subprocess->lock);
	if (wake)
		call_ring_wake(subprocess->ring);
	if (nudge)
		collector_nudge();
	subprocess_calls_end(&ended);
	return collected;
}

/* From now on the eventfd of the reader of @call is signalled. */
static void begin_to_wait(struct sley_subprocess *subprocess,
			  struct subprocess_call *call,
			  struct subprocess_calls *ended)
{
	(void)ended;
	if (call->finished)
		return;
	subprocess_begin_wait(subprocess, call);
	if (subprocess->phase == LIFE_RUNNING)
		subprocess_ask_signals(subprocess);
}

static void unqueue(struct subprocess_calls *queue,
		    struct subprocess_call *call)
{
	struct subprocess_call **at = &queue->first;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	if (!call->next)
		queue->last = at;
}

/* The ring keeps the crate, until the subprocess is through with the call. */
static void leave_in_ring(struct sley_subprocess *subprocess,
			  struct subprocess_call *call)
{
	subprocess->calls[call->number % subprocess->options.depth].call = NULL;
	call->crate = NULL;
}

/* The caller waits no more.  False: the call has just ended. */
static bool give_up(struct sley_subprocess *subprocess,
		    struct subprocess_call *call)
{
	bool given_up;

	spin_lock(&subprocess->lock);
	given_up = !call->finished;
	if (given_up) {
		subprocess_end_wait(subprocess, call);
		if (call->in_ring)
			leave_in_ring(subprocess, call);
		else
			unqueue(&subprocess->queue, call);
	}
	spin_unlock(&subprocess->lock);
	return given_up;
}

/* Is the time up?  Most answers come before the clock is read. */
static bool is_late(const struct sley_subprocess *subprocess, uint64_t *end_ns)
{
	uint64_t now = os_now();

	if (!*end_ns)
		*end_ns = now + subprocess->options.spin_ns;
	return now >= *end_ns;
}

/* Spins for the answer; the ring is only a hint.  True: the call has ended. */
static bool look_for(struct sley_subprocess *subprocess,
		     struct subprocess_call *call, uint32_t collected)
{
	uint64_t end_ns = 0;
	uint32_t looks = 0;

	if (!subprocess->options.spin_ns)
		return false;
	while (!sley_event_is_set(&call->ended)) {
		if (call_ring_done(subprocess->ring) != collected)
			collected = visit(subprocess, call, NULL);
		else if (++looks % LOOKS_PER_CLOCK == 0 &&
			 is_late(subprocess, &end_ns))
			return false;
		else
			spin_pause();
	}
	return true;
}

/* Twice in the code, for the calls without a crate: most calls have none. */
static inline __attribute__((always_inline)) int
await_call(struct sley_subprocess *subprocess, struct subprocess_call *call)
{
	const struct call_spec *spec = &call->spec;
	int err;

	if (look_for(subprocess, call,
		     visit(subprocess, call, subprocess_enqueue)))
		return 0;
	call->listener = listener_of_caller(subprocess);
	(void)visit(subprocess, call, begin_to_wait);
	err = event_wait(&call->ended, spec->deadline_ns, spec->flags);
	if (!err)
		return 0;
	if (give_up(subprocess, call))
		return err;
	await(&call->ended);
	return 0;
}

/* The call was not run, or the caller gave up. */
static int call_nothing(struct sley_subprocess_result *result, int err)
{
	result->outcome = SLEY_OUTCOME_SKIPPED;
	result->code = err;
	result->size = 0;
	result->text[0] = '\0';
	return err;
}

/* ---- a call with a crate: see crate.h --------------------------------------------------- */

static bool fits_slot(size_t size)
{
	return size <= SLEY_SUBPROCESS_DATA_MAX;
}

/* Makes a crate for what does not fit the slot, and takes its range. */
static int take_crate(struct sley_subprocess *subprocess,
		      const struct call_spec *spec, struct crate **out)
{
	uint64_t room = fits_slot(spec->room) ? 0 : spec->room;
	uint64_t arg_size = 0;
	int err;

	if (spec->arg_size > CRATES_MAX)
		return -EMSGSIZE;
	if (!fits_slot(spec->arg_size))
		arg_size = spec->head_size + spec->arg_size;
	err = crate_make(&subprocess->crates, out, arg_size, room);
	if (err)
		return err;
	spin_lock(&subprocess->lock);
	err = crates_take(&subprocess->crates, *out);
	spin_unlock(&subprocess->lock);
	if (err)
		crate_free(*out);
	return err;
}

void subprocess_give_back(struct sley_subprocess *subprocess,
			  struct crate *crate)
{
	/* First the memory: then the range may have another owner. */
	crate_discard(&subprocess->crates, crate);
	spin_lock(&subprocess->lock);
	crates_remove(&subprocess->crates, crate);
	spin_unlock(&subprocess->lock);
	crate_free(crate);
}

/* A life that ends meanwhile may write to the crate: the queue compares lives. */
static int write_argument(struct sley_subprocess *subprocess,
			  const struct call_spec *spec, struct crate *crate)
{
	const struct crates *crates = &subprocess->crates;
	int err;

	if (!crate->arg_size)
		return 0;
	spin_lock(&subprocess->lock);
	crate->life = subprocess->life;
	spin_unlock(&subprocess->lock);
	err = crate_write(crates, crate, 0, spec->head, spec->head_size);
	if (err)
		return err;
	return crate_write(crates, crate, spec->head_size, spec->arg,
			   spec->arg_size);
}

/* The size was compared with the room of the crate when the answer was taken. */
static void read_result(const struct sley_subprocess *subprocess,
			const struct crate *crate,
			struct sley_subprocess_result *result)
{
	int err;

	if (fits_slot(result->size))
		return;
	err = crate_read_result(&subprocess->crates, crate, result->data,
				result->size);
	if (!err)
		return;
	result->outcome = SLEY_OUTCOME_FAILURE;
	result->code = err;
	result->size = 0;
	(void)snprintf(result->text, sizeof(result->text),
		       "the result cannot be read: %s", sley_strerror(err));
}

static cold int call_by_crate(struct sley_subprocess *subprocess,
			      const struct call_spec *spec,
			      struct sley_subprocess_result *result)
{
	struct subprocess_call call;
	struct crate *crate;
	int err = take_crate(subprocess, spec, &crate);

	sley_assert(spec->room <= result->size);
	if (err)
		return call_nothing(result, err);
	do {
		call = (struct subprocess_call){ .spec = *spec,
						 .result = result,
						 .crate = crate };
		err = write_argument(subprocess, spec, crate);
		if (!err)
			err = await_call(subprocess, &call);
	} while (!err && call.again);
	if (err)
		(void)call_nothing(result, err);
	else
		read_result(subprocess, crate, result);
	if (call.crate)
		subprocess_give_back(subprocess, call.crate);
	return result->code;
}

int subprocess_call(struct sley_subprocess *subprocess,
		    const struct call_spec *spec,
		    struct sley_subprocess_result *result)
{
	struct subprocess_call call = { .spec = *spec, .result = result };
	int err;

	if (!is_ours(subprocess))
		return call_nothing(result, SLEY_EFORKED);
	if (unlikely(!fits_slot(spec->arg_size) || !fits_slot(spec->room)))
		return call_by_crate(subprocess, spec, result);
	if (spec->fn < 0)
		return call_nothing(result, spec->fn);
	err = await_call(subprocess, &call);
	return err ? call_nothing(result, err) : result->code;
}

int sley_subprocess_call_until(struct sley_subprocess *subprocess,
			       sley_subprocess_fn *fn, const void *arg,
			       size_t size,
			       struct sley_subprocess_result *result,
			       uint64_t deadline_ns)
{
	const struct call_spec spec = { .fn = function_table_find(fn),
					.arg = arg,
					.arg_size = size,
					.deadline_ns = deadline_ns };
	struct sley_subprocess_result own = { .data = NULL };

	return subprocess_call(subprocess, &spec, result ? result : &own);
}

int sley_subprocess_call(struct sley_subprocess *subprocess,
			 sley_subprocess_fn *fn, const void *arg, size_t size,
			 struct sley_subprocess_result *result)
{
	return sley_subprocess_call_until(subprocess, fn, arg, size, result,
					  UINT64_MAX);
}
