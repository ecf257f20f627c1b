/* SPDX-License-Identifier: MIT */
/*
 * core_wait_thread.c - plain threads in src/core/wait.c: woken, timed out, or
 * both at the same time.
 *
 * The object is a semaphore, as in core_waitq.c; the waiter's side here is the
 * very source, with its state word on the stack and its sleep on the futex.
 * After its wait a thread destroys the object, so that a decider which still
 * touches it is seen.  Complete.
 */
#include "threads_only.h"

#include <errno.h>

struct object {
	struct sley_waitq q;
	int units; /* under the lock of q */
};

static struct object *object;
static int got;

static void setup(void)
{
	object = model_alloc(sizeof(*object));
	got = 0;
	model_ledger(&got, sizeof(got));
	model_lock_word(&object->q.word);
	model_name(&object->q.word, "q");
}

static int acquire(uint64_t deadline_ns)
{
	struct sley_waiter node;
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
	return err;
}

static void post(int id)
{
	struct waitq_woken woken;

	(void)id;
	(void)waitq_lock(&object->q);
	woken = waitq_wake_first(&object->q);
	if (!woken.any)
		object->units++;
	waitq_unlock(&object->q);
	if (woken.task)
		task_enqueue(woken.task);
}

/* Got the only unit: nobody needs the object any more. */
static void acquirer(int id)
{
	(void)id;
	MODEL_CHECK(acquire(UINT64_MAX) == 0);
	got++;
	model_free(object);
	object = NULL;
}

static void acquirer_timed(int id)
{
	int err = acquire(2000000000);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	got += err == 0;
}

/* Nobody but it waits: what it got is the last that is done. */
static void acquirer_timed_alone(int id)
{
	acquirer_timed(id);
	if (got) {
		model_free(object);
		object = NULL;
	}
}

/* ---- any of two objects -------------------------------------------------- */

static struct sley_waitq either[2];
static int posted_unseen; /* posts that met no waiter */

static void setup_either(void)
{
	got = posted_unseen = 0;
	model_ledger(&got, sizeof(got));
	model_ledger(&posted_unseen, sizeof(posted_unseen));
	object = NULL;
	for (int i = 0; i < 2; i++) {
		either[i] = (struct sley_waitq){ 0 };
		model_lock_word(&either[i].word);
		model_name(&either[i].word, "q%d", i);
	}
}

static void wait_for_either(int id)
{
	struct sley_waiter node[2];
	struct sley_task thread, *task = wait_task(&thread);
	int index;

	(void)id;
	task_announce_wait(task);
	for (unsigned int i = 0; i < 2; i++) {
		node[i].task = task;
		node[i].index = i;
		(void)waitq_lock(&either[i]);
		waitq_link(&either[i], &node[i]);
		waitq_unlock(&either[i]);
	}
	index = waitq_wait_any(node, 2, 2000000000);
	MODEL_CHECK(index == 0 || index == 1 || index == -ETIMEDOUT);
	got += index >= 0;
}

static void post_either(int id)
{
	struct sley_waitq *q = &either[id - 1];
	struct waitq_woken woken;

	(void)waitq_lock(q);
	woken = waitq_wake_first(q);
	waitq_unlock(q);
	if (woken.task)
		task_enqueue(woken.task);
	if (!woken.any)
		posted_unseen++;
}

/* The waiter saw exactly the posts that claim to have woken somebody. */
static void both_sides_agree(void)
{
	MODEL_CHECK(got + posted_unseen == 2);
	MODEL_CHECK(!either[0].first && !either[1].first);
}

MODEL(a_thread_waits_for_either, .setup = setup_either,
      .threads = { wait_for_either, post_either, post_either },
      .finish = both_sides_agree);

/* ---- one object ---------------------------------------------------------- */

static void gone(void)
{
	MODEL_CHECK(got == 1);
}

static void one_unit(void)
{
	MODEL_CHECK(got + (object ? object->units : 0) == 1);
	MODEL_CHECK(!object || !object->q.first);
	model_free(object);
}

MODEL(a_thread_may_free_what_it_waited_for, .setup = setup,
      .threads = { acquirer, post }, .finish = gone);

MODEL(a_thread_is_woken_or_times_out, .setup = setup,
      .threads = { acquirer_timed_alone, post }, .finish = one_unit);

MODEL(two_threads_and_one_unit, .setup = setup,
      .threads = { acquirer_timed, acquirer_timed, post }, .finish = one_unit);
