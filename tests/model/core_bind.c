/* SPDX-License-Identifier: MIT */
/*
 * core_bind.c - src/core/life/runtime_bind.c: threads come and go while a runtime is
 * cancelled and destroyed; the runtime is not freed before the last thread has left,
 * and the worker of a thread is not touched after the thread has left.
 *
 * The runtime, and the workers that threads bring to a single-threaded runtime, are
 * freed at their end, so that a late access is seen.  A bound thread writes plain
 * data, which the destroyer reads.
 *
 * Complete for a thread that binds and unbinds against the destroyer, with a third
 * thread that cancels everything, or with two threads; for two threads that come and
 * go; for two destroyers of which one or both give up, while a thread stays bound or
 * then leaves; for a guest that sends a task to a bound thread that then leaves, and
 * for two guests.  All with membarrier: without membarrier the destroyer looks again
 * for ever.  Not seen: tasks that keep a thread from unbinding (only the thread
 * itself has to do with these), hooks, and a bind that fails for lack of memory.
 */
#define CREW_REPORTS
#include "crew.h"
#include "payload.h"

#include "core/sched/place.h"
#include "core/life/hooks.h"

#include <errno.h>

static struct payload payload[2];
static struct sley_task task;
static struct worker *home; /* of the guest's task */
static uint32_t sent[2];    /* by guests */
static struct ledger {
	int bound, refused, freed, gave_up;
} ledger;

static void setup(unsigned int workers)
{
	struct sley *memory = model_alloc(sizeof(*memory));

	crew_set_up_in(memory, workers);
	memset(payload, 0, sizeof(payload));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	slab_init(&rt->strands, &rt->mem, sizeof(struct strand));
	model_lock_word(&rt->strands.lock.word);
	selves_set(&(struct self){ 0 });
	model_lock_word(&rt->bound_lock.word);
	model_name(&rt->bound_lock.word, "bound_lock");
	model_name(&rt->nr_bound, "nr_bound");
	model_name(&rt->drain.gate, "gate");
	model_name(&rt->drain.wanted, "draining");
	model_name(&rt->drain.events, "events");
	model_name(&rt->cancelled, "cancelled");
	model_name(&rt->destroying, "destroying");
}

/* The threads of the workers are not in this model: the workers are idle. */
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

/* Bound already: the thread may leave at any time. */
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

/* The first thread is bound, and so keeps the runtime alive. */
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

/* The thread stays until it is cancelled. */
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

/* Both change the number of bound threads at once. */
static void come_and_go(int id)
{
	MODEL_CHECK(runtime_bind(rt) == 0);
	unbind(id);
}

static void nobody_is_bound(void)
{
	MODEL_CHECK(rt->nr_bound == 0 && list_empty(&rt->bound));
	model_free(rt);
}

MODEL(two_threads_come_and_go, .setup = setup_with_workers,
      .threads = { come_and_go, come_and_go }, .finish = nobody_is_bound);

/* ---- a destroyer that gives up ---------------------------------------------------------- */

/* A user's report function: one destroyer at a time reports. */
void report(const struct sley *runtime, const char *format, ...)
{
	(void)format;
	MODEL_CHECK(runtime == rt);
	payload_write(&payload[0]);
}

static void give_up(int id)
{
	int err = runtime_destroy(rt, 0);

	(void)id;
	MODEL_CHECK(err == -ETIMEDOUT || err == -EBUSY);
	if (err == -ETIMEDOUT)
		ledger.gave_up++;
}

static void somebody_gave_up(void)
{
	MODEL_CHECK(ledger.gave_up > 0);
	MODEL_CHECK(!rt->destroying && rt->drain.gate == GATE_SHUT);
	model_free(rt);
}

MODEL(two_destroyers_give_up, .setup = setup_bound_with_workers,
      .threads = { give_up, give_up }, .finish = somebody_gave_up);

static void give_up_and_unbind(int id)
{
	give_up(id);
	unbind(id);
}

static void destroyer_that_insists(int id)
{
	int err;

	(void)id;
	while ((err = runtime_destroy(rt, UINT64_MAX)) == -EBUSY)
		spin_hint(&rt->destroying);
	MODEL_CHECK(err == 0);
}

/* The first destroyer no longer listens; the second must be told of the end. */
MODEL(a_destroyer_gives_up_before_another, .setup = setup_bound_with_workers,
      .threads = { give_up_and_unbind, destroyer_that_insists },
      .finish = freed_once);

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

/* The thread waits for its task only: then the worker goes. */
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

static void setup_guests(void)
{
	setup_guest();
	memset(sent, 0, sizeof(sent));
	model_name(&sent[0], "sent0");
	model_name(&sent[1], "sent1");
}

/* As place_at(), reduced: the worker exists meanwhile. */
static void brief_guest(int id)
{
	guest_enter(home);
	store_release(&sent[id], 1);
	MODEL_CHECK(home->rt == rt);
	guest_leave(home);
}

static void unbind_after_both(int id)
{
	(void)id;
	for (int i = 0; i < 2; i++)
		while (!load_acquire(&sent[i]))
			spin_hint(&sent[i]);
	worker_destroy(home);
}

static void home_is_gone(void)
{
	model_free(rt);
}

MODEL(two_guests_are_waited_for, .setup = setup_guests,
      .threads = { brief_guest, brief_guest, unbind_after_both },
      .finish = home_is_gone);
