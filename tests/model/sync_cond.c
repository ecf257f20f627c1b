/* SPDX-License-Identifier: MIT */
/*
 * sync_cond.c - src/sync/cond.c over src/sync/mutex.c, with plain threads and with
 * tasks: no notification is lost or goes to a waiter that has given up in place of a
 * waiter that waits, and a waiter that returns holds the mutex.
 *
 * `ready`, the condition, and `inside` are plain memory: the mutex orders them, also
 * for a cancelled waiter.
 *
 * Complete for a waiter and a notifier, with deadline, with cancel and with both;
 * for two waiters and a notifier, where one waiter may give up.  Spurious wake-ups
 * are not promised, and no model needs them.  The models could miss mistakes that
 * take three waiters, and two condition variables with one mutex.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "holders.h"

#include <sley/sync.h>

static struct scene {
	struct sley_mutex mutex, other;
	struct sley_cond cond;
} * scene;
/* Under the mutex: */
static bool ready;
static int inside;
static struct ledger {
	int got, gave_up;
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	holders_setup(false);
	scene = model_alloc(sizeof(*scene));
	ready = false;
	inside = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&scene->mutex.q.word);
	model_lock_word(&scene->other.q.word);
	model_lock_word(&scene->cond.q.word);
	model_name(&scene->mutex.q.word, "mutex");
	model_name(&scene->other.q.word, "other");
	model_name(&scene->cond.q.word, "cond");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

static void lock(void)
{
	sley_mutex_lock(&scene->mutex);
	MODEL_CHECK(inside++ == 0);
}

static void unlock(void)
{
	MODEL_CHECK(inside-- == 1);
	sley_mutex_unlock(&scene->mutex);
}

static int wait_notified(uint64_t deadline_ns)
{
	int err;

	MODEL_CHECK(inside-- == 1);
	err = sley_cond_wait_until(&scene->cond, &scene->mutex, deadline_ns);
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	/* A thread that came in wrongly is seen up to here. */
	model_access(&inside);
	MODEL_CHECK(inside++ == 0);
	return err;
}

/* The same without a deadline: no cancel ends it. */
static void wait_shielded(void)
{
	MODEL_CHECK(inside-- == 1);
	sley_cond_wait(&scene->cond, &scene->mutex);
	model_access(&inside);
	MODEL_CHECK(inside++ == 0);
}

static void settled(void)
{
	MODEL_CHECK(!scene->mutex.q.word && !scene->mutex.q.first);
	MODEL_CHECK(!scene->other.q.word && !scene->other.q.first);
	MODEL_CHECK(!scene->cond.q.word && !scene->cond.q.first);
	model_free(scene);
}

/* ---- a flag ------------------------------------------------------------------- */

static void wait_for_flag(int id)
{
	(void)id;
	lock();
	while (!ready)
		wait_shielded();
	unlock();
	ledger.got++;
}

static void set_and_notify(int id)
{
	(void)id;
	lock();
	ready = true;
	sley_cond_notify_one(&scene->cond);
	unlock();
}

static void set_and_notify_outside(int id)
{
	(void)id;
	lock();
	ready = true;
	unlock();
	sley_cond_notify_one(&scene->cond);
}

static void set_and_notify_all(int id)
{
	(void)id;
	lock();
	ready = true;
	unlock();
	sley_cond_notify_all(&scene->cond);
}

static void one_went(void)
{
	MODEL_CHECK(ledger.got == 1);
	settled();
}

static void both_went(void)
{
	MODEL_CHECK(ledger.got == 2);
	settled();
}

MODEL(a_waiter_and_a_notifier_inside, .setup = setup,
      .threads = { wait_for_flag, set_and_notify }, .finish = one_went);
MODEL(a_waiter_and_a_notifier_outside, .setup = setup,
      .threads = { wait_for_flag, set_and_notify_outside }, .finish = one_went);

/* ---- the waiter frees after its return ------------------------------------------- */

static void wait_for_flag_and_free(int id)
{
	wait_for_flag(id);
	model_free(scene);
	scene = NULL;
}

/* Notifies with the mutex held, so that the waiter cannot be gone before. */
static void gone(void)
{
	MODEL_CHECK(!scene && ledger.got == 1);
}

MODEL(a_waiter_may_free_both, .setup = setup,
      .threads = { wait_for_flag_and_free, set_and_notify }, .finish = gone);

/* ---- tasks, which can be cancelled -------------------------------------------------- */

static void task_wait_for_flag(int id)
{
	task_begin(id);
	wait_for_flag(id);
}

static void task_wait_for_flag_and_free(int id)
{
	task_begin(id);
	wait_for_flag_and_free(id);
}

static void task_set_and_notify(int id)
{
	task_begin(id);
	set_and_notify(id);
}

static void task_set_and_notify_all(int id)
{
	task_begin(id);
	set_and_notify_all(id);
}

/* Holding the mutex, the task sees the flag, cancelled or not. */
static void wait_or_end(uint64_t deadline_ns)
{
	int err = 0;

	lock();
	while (!ready && !err)
		err = wait_notified(deadline_ns);
	ledger.got += ready;
	ledger.gave_up += err != 0;
	unlock();
}

static void task_wait_or_end(int id)
{
	task_begin(id);
	wait_or_end(UINT64_MAX);
}

static void task_wait_or_end_timed(int id)
{
	task_begin(id);
	wait_or_end(LATER);
}

static void cancel_first(int id)
{
	task_begin(id);
	task_end_wait(0);
}

static void one_or_given_up(void)
{
	MODEL_CHECK(ledger.got + ledger.gave_up >= 1);
	settled();
}

MODEL(a_task_and_a_notifier, .setup = setup,
      .threads = { task_wait_for_flag, task_set_and_notify },
      .finish = one_went);
MODEL(a_task_may_free_both, .setup = setup,
      .threads = { task_wait_for_flag_and_free, task_set_and_notify },
      .finish = gone);
MODEL(two_tasks_and_one_notification_for_all, .setup = setup,
      .threads = { task_wait_for_flag, task_wait_for_flag,
		   task_set_and_notify_all },
      .slow = true, .finish = both_went);
MODEL(a_cancelled_task_has_the_mutex_again, .setup = setup,
      .threads = { task_wait_or_end, task_set_and_notify, cancel_first },
      .finish = one_or_given_up);
MODEL(a_plain_wait_is_not_cancelled, .setup = setup,
      .threads = { task_wait_for_flag, task_set_and_notify, cancel_first },
      .finish = one_went);
MODEL(a_task_and_its_deadline, .setup = setup_timed,
      .threads = { task_wait_or_end_timed, task_set_and_notify },
      .finish = one_or_given_up);
MODEL(wake_and_deadline_and_cancel, .setup = setup_timed,
      .threads = { task_wait_or_end_timed, task_set_and_notify, cancel_first },
      .slow = true, .finish = one_or_given_up);

/* ---- one notification, two waiters ---------------------------------------------------- */

/*
 * The hasty waiter waits without a condition, with a mutex of its own.  The waiter
 * gives up, or is woken and notifies the next: the other waiter must be told in
 * either case.
 */
static void hasty(uint64_t deadline_ns)
{
	int err;

	sley_mutex_lock(&scene->other);
	err = sley_cond_wait_until(&scene->cond, &scene->other, deadline_ns);
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	sley_mutex_unlock(&scene->other);
	if (!err)
		sley_cond_notify_one(&scene->cond);
	ledger.gave_up += err != 0;
}

static void hasty_timed(int id)
{
	task_begin(id);
	hasty(LATER);
}

static void hasty_or_end(int id)
{
	task_begin(id);
	hasty(UINT64_MAX);
}

static void cancel_set_and_notify(int id)
{
	cancel_first(id);
	set_and_notify_outside(id);
}

static void task_set_and_notify_outside(int id)
{
	task_begin(id);
	set_and_notify_outside(id);
}

MODEL(a_deadline_does_not_swallow_a_notification, .setup = setup_timed,
      .threads = { hasty_timed, task_wait_for_flag,
		   task_set_and_notify_outside },
      .finish = one_went);
MODEL(a_cancel_does_not_swallow_a_notification, .setup = setup,
      .threads = { hasty_or_end, task_wait_for_flag, cancel_set_and_notify },
      .finish = one_went);
