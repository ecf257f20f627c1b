/* SPDX-License-Identifier: MIT */
/*
 * core_wait_thread.c - plain threads in src/core/wait/wait.c: woken, timed out, or
 * both at the same time.
 *
 * The object is a semaphore, as in core_waitq.c; the waiter's side here is the very
 * source, with its state word on the stack and its sleep on the futex.  After its
 * wait a thread destroys the object, so that a decider that still touches the object
 * is seen.  The waker writes plain data to the frame of the thread.
 *
 * Complete for two threads and a post, and for a thread that waits for either of two
 * objects.  The models would not see mistakes that take three waiters, or a thread
 * whose next wait begins while the decider of the last wait is still under way: the
 * state word is in a frame that is gone, or in the same frame again.
 */
#include "core/sched/place.h"
#include "payload.h"
#include "threads_only.h"

#include <errno.h>

struct object {
	struct sley_waitq q;
	int units; /* under the lock of q */
};

static struct object *object;
static struct ledger {
	int got;
	int unseen; /* posts that met no waiter */
} ledger;

static void setup(void)
{
	object = model_alloc(sizeof(*object));
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&object->q.word);
	model_name(&object->q.word, "q");
}

static int acquire(uint64_t deadline_ns)
{
	struct payload unit = { 0 }; /* where a waker puts the unit */
	struct sley_waiter node = { .slot = &unit };
	int err;

	(void)waitq_lock(&object->q);
	if (object->units > 0) {
		object->units--;
		waitq_unlock(&object->q);
		return 0;
	}
	err = waitq_wait(&object->q, &node, deadline_ns, 0);
	if (err)
		waitq_unlock(&object->q);
	else
		payload_check(&unit);
	return err;
}

static void post(int id)
{
	struct waitq_woken woken;

	(void)id;
	(void)waitq_lock(&object->q);
	woken = waitq_wake_first(&object->q);
	if (woken.any)
		payload_write(woken.slot);
	else
		object->units++;
	waitq_unlock(&object->q);
	if (woken.task)
		task_enqueue(woken.task);
}

/* Got the only unit: the object is not needed any more. */
static void acquirer(int id)
{
	(void)id;
	MODEL_CHECK(acquire(UINT64_MAX) == 0);
	ledger.got++;
	model_free(object);
	object = NULL;
}

static void acquirer_timed(int id)
{
	int err = acquire(2000000000);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	ledger.got += err == 0;
}

/* The only waiter: a unit that it got is the last operation. */
static void acquirer_timed_alone(int id)
{
	acquirer_timed(id);
	if (ledger.got) {
		model_free(object);
		object = NULL;
	}
}

/* ---- any of two objects -------------------------------------------------- */

static struct sley_waitq either[2];

static void setup_either(void)
{
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	object = NULL;
	for (int i = 0; i < 2; i++) {
		either[i] = (struct sley_waitq){ 0 };
		model_lock_word(&either[i].word);
		model_name(&either[i].word, "q%d", i);
	}
}

static void wait_for_either(int id)
{
	struct payload unit[2] = { { 0 } };
	struct sley_waiter node[2];
	struct sley_task thread, *task = wait_task(&thread);
	int index;

	(void)id;
	task_announce_wait(task);
	for (unsigned int i = 0; i < 2; i++) {
		node[i].task = task;
		node[i].index = i;
		node[i].slot = &unit[i];
		(void)waitq_lock(&either[i]);
		waitq_link(&either[i], &node[i]);
		waitq_unlock(&either[i]);
	}
	index = waitq_wait_any(node, 2, 2000000000);
	MODEL_CHECK(index == 0 || index == 1 || index == -ETIMEDOUT);
	if (index >= 0)
		payload_check(&unit[index]);
	ledger.got += index >= 0;
}

static void post_either(int id)
{
	struct sley_waitq *q = &either[id - 1];
	struct waitq_woken woken;

	(void)waitq_lock(q);
	woken = waitq_wake_first(q);
	if (woken.any)
		payload_write(woken.slot);
	waitq_unlock(q);
	if (woken.task)
		task_enqueue(woken.task);
	if (!woken.any)
		ledger.unseen++;
}

/* The waiter saw exactly the posts that claim to have woken a waiter. */
static void both_sides_agree(void)
{
	MODEL_CHECK(ledger.got + ledger.unseen == 2);
	MODEL_CHECK(!either[0].first && !either[1].first);
}

MODEL(a_thread_waits_for_either, .setup = setup_either,
      .threads = { wait_for_either, post_either, post_either },
      .finish = both_sides_agree);

/* ---- one object ---------------------------------------------------------- */

static void gone(void)
{
	MODEL_CHECK(ledger.got == 1);
}

static void one_unit(void)
{
	MODEL_CHECK(ledger.got + (object ? object->units : 0) == 1);
	MODEL_CHECK(!object || !object->q.first);
	model_free(object);
}

MODEL(a_thread_may_free_what_it_waited_for, .setup = setup,
      .threads = { acquirer, post }, .finish = gone);

MODEL(a_thread_is_woken_or_times_out, .setup = setup,
      .threads = { acquirer_timed_alone, post }, .finish = one_unit);

MODEL(two_threads_and_one_unit, .setup = setup,
      .threads = { acquirer_timed, acquirer_timed, post }, .finish = one_unit);

/*
 * A post has found the first waiter too late, and has taken this waiter off the
 * list; before the first waiter gives up, another waiter is on the list.
 */
static void acquire_soon_or_post(int id)
{
	if (acquire(2000000000) == 0)
		post(id);
}

static void acquire_twice(int id)
{
	(void)id;
	for (int i = 0; i < 2; i++)
		MODEL_CHECK(acquire(UINT64_MAX) == 0);
}

static void post_twice(int id)
{
	post(id);
	post(id);
}

static void none_left(void)
{
	MODEL_CHECK(object->units == 0 && !object->q.first);
	model_free(object);
}

MODEL(who_gives_up_leaves_the_next_one_alone, .setup = setup,
      .slow_modes = MODEL_TSO | MODEL_RA,
      .threads = { acquire_soon_or_post, acquire_twice, post_twice },
      .finish = none_left);
