/* SPDX-License-Identifier: MIT */
/*
 * core_bind.c - src/core/runtime_bind.c: threads come and go while a runtime is
 * cancelled and destroyed; it is not freed before the last one has left, and
 * nothing of a worker that a thread brought is touched when that has gone.
 *
 * The runtime and the workers that threads bring to a single-threaded one are
 * freed at their end, so that whoever still touches them is seen.  What a
 * bound thread did is plain data, which the destroyer reads.
 *
 * Complete for a thread that binds and unbinds against the destroyer, with one
 * more that cancels everything, or with two threads; and for a guest, who sends
 * a task to a bound thread that then leaves.  All with membarrier: without it
 * the destroyer looks again for ever.  Not seen: tasks that keep a thread from
 * unbinding (they are its own business), hooks, and a bind that fails for want
 * of memory.
 */
#include "crew.h"
#include "payload.h"

#include "core/hooks.h"

#include <errno.h>

static struct payload payload[2];
static struct sley_task task;
static struct worker *home; /* of the guest's task */
static struct ledger {
	int bound, refused, freed;
} ledger;

static void setup(unsigned int workers)
{
	struct sley *memory = model_alloc(sizeof(*memory));

	crew_set_up_in(memory, workers);
	memset(payload, 0, sizeof(payload));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	selves_set(&(struct self){ 0 });
	model_lock_word(&rt->bound_lock.word);
	model_name(&rt->bound_lock.word, "bound_lock");
	model_name(&rt->nr_bound, "nr_bound");
	model_name(&rt->gate, "gate");
	model_name(&rt->draining, "draining");
	model_name(&rt->drain_events, "events");
	model_name(&rt->cancelled, "cancelled");
}

/* Their own threads are none of this model: they are idle. */
static void setup_with_workers(void)
{
	setup(1);
}

static void setup_single_threaded(void)
{
	setup(0);
}

/* ---- a worker that a thread brings ----------------------------------------------- */

int worker_create(struct sley *runtime, unsigned int index, struct worker **out)
{
	struct worker *worker = model_alloc(sizeof(*worker));

	worker->rt = runtime;
	worker->index = index;
	idle_seat_init(&worker->seat);
	list_init(&worker->link);
	timers_init(&worker->timers);
	*out = worker;
	return 0;
}

void worker_destroy(struct worker *worker)
{
	guests_wait(worker);
	model_free(worker);
}

int worker_bind(struct worker *worker)
{
	sley__self.worker = worker;
	sley__self.bound = worker->rt;
	return 0;
}

void worker_unbind(struct worker *worker)
{
	MODEL_CHECK(sley__self.worker == worker);
	sley__self.worker = NULL;
	sley__self.bound = NULL;
}

void hooks_call_start(struct sley *runtime)
{
	(void)runtime;
}

bool hooks_queue_stop(struct sley *runtime)
{
	(void)runtime;
	return false;
}

void runtime_free(struct sley *runtime)
{
	MODEL_CHECK(runtime == rt && list_empty(&rt->bound));
	for (int i = 0; i < ledger.bound; i++)
		payload_check(&payload[i]);
	model_free(rt);
	ledger.freed++;
}

/* ---- threads ------------------------------------------------------------------------ */

/* Bound already: it may take its time. */
static void setup_bound(void)
{
	setup_single_threaded();
	MODEL_CHECK(runtime_bind(rt) == 0);
	selves[1] = selves[0];
	ledger.bound = 1;
}

static void setup_bound_with_workers(void)
{
	setup_with_workers();
	MODEL_CHECK(runtime_bind(rt) == 0);
	selves[1] = selves[0];
	ledger.bound = 1;
}

static void unbind(int id)
{
	payload_write(&payload[id]);
	runtime_unbind(rt);
}

/* What the first thread, which is bound, makes sure is there. */
static void bind_and_unbind(int id)
{
	int err = runtime_bind(rt);

	MODEL_CHECK(err == 0 || err == -ESHUTDOWN);
	if (err) {
		ledger.refused++;
	} else {
		ledger.bound++;
		unbind(id);
	}
	store_release(&task.state, 1);
}

static void unbind_last(int id)
{
	while (!load_acquire(&task.state))
		spin_hint(&task.state);
	unbind(id);
}

/* It runs until it is cancelled. */
static void unbind_when_cancelled(int id)
{
	while (!load_relaxed(&rt->cancelled))
		spin_hint(&rt->cancelled);
	unbind(id);
}

static void cancel_all(int id)
{
	(void)id;
	runtime_cancel_all(rt);
}

static void destroyer(int id)
{
	(void)id;
	MODEL_CHECK(runtime_destroy(rt, UINT64_MAX) == 0);
}

static void freed_once(void)
{
	MODEL_CHECK(ledger.freed == 1);
}

#define BOTH_KINDS(name, ...)                                                  \
	MODEL(name, .setup = setup_bound_with_workers, .finish = freed_once,   \
	      __VA_ARGS__);                                                    \
	MODEL(name##_alone, .setup = setup_bound, .finish = freed_once,        \
	      __VA_ARGS__)

BOTH_KINDS(a_thread_unbinds_while_all_ends, .threads = { unbind, destroyer });

BOTH_KINDS(a_canceller_is_still_there_at_the_end,
	   .threads = { unbind_when_cancelled, cancel_all, destroyer });

static void setup_task(void)
{
	task = (struct sley_task){ 0 };
	model_name(&task.state, "returned");
}

static void setup_two(void)
{
	setup_bound();
	setup_task();
}

static void setup_two_with_workers(void)
{
	setup_bound_with_workers();
	setup_task();
}

MODEL(a_second_thread_is_counted_or_refused, .setup = setup_two_with_workers,
      .threads = { unbind_last, bind_and_unbind, destroyer },
      .finish = freed_once);

MODEL(a_second_thread_is_counted_or_refused_alone, .setup = setup_two,
      .threads = { unbind_last, bind_and_unbind, destroyer },
      .finish = freed_once, .slow = true);

/* ---- a guest ------------------------------------------------------------------------- */

static void setup_guest(void)
{
	setup_bound();
	task_build(&task, LEVEL_DEFAULT, 0);
	home = selves[1].worker;
	idle_init(&rt->idle, 0, rt->membarrier);
	model_name(&home->guests, "guests");
	model_name(&home->home.head, "home");
	model_name(&home->seat.word, "seat");
}

/* Its task is all it waits for: then the worker goes. */
static void run_and_unbind(int id)
{
	MODEL_CHECK(worker_search(home) == &task);
	(void)task_claim(&task);
	payload_check(&payload[1]);
	unbind(id);
	model_free(rt);
}

static void guest(int id)
{
	payload_write(&payload[id]);
	place_at(home, &task);
}

MODEL(a_guest_is_waited_for, .setup = setup_guest,
      .threads = { run_and_unbind, guest });
