/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - asking tasks to end: before, while and after they run.
 */
#include "conformance/bound.h"

/* ---- before it starts -------------------------------------------------- */

TEST(cancel_before_the_start_means_it_never_starts)
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task a, b, c;
	atomic_int ran = 0;

	sley_spawn(&group, &a, count_task, &ran);
	sley_spawn(&group, &b, count_task, &ran);
	CHECK_EQ(sley_spawn_with(&group, &c, count_task, &ran,
				 SLEY_OPTIONS(.priority = 4)),
		 0);
	CHECK_EQ(sley_task_status(&a), -EINPROGRESS);
	sley_cancel(&a);
	sley_cancel(&a);
	sley_cancel(&c);
	sley_join(&group);
	CHECK_EQ(ran, 1);
	CHECK_EQ(sley_task_status(&a), -ECANCELED);
	CHECK_EQ(sley_task_status(&b), 0);
	CHECK_EQ(sley_task_status(&c), -ECANCELED);
	stop(rt);
}

struct raced {
	struct sley_task task;
	atomic_int runs;
};

static void run_raced(void *arg)
{
	struct raced *r = arg;

	atomic_fetch_add(&r->runs, 1);
}

TEST_WORKERS(cancel_against_the_start_it_ran_or_it_did_not)
{
	static struct raced raced[200];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int round, i, status;

	for (round = 0; round < test_scale(40); round++) {
		memset((void *)raced, 0, sizeof(raced));
		for (i = 0; i < 200; i++)
			sley_spawn(&group, &raced[i].task, run_raced,
				   &raced[i]);
		for (i = 199; i >= 0; i--)
			sley_cancel(&raced[i].task);
		sley_join(&group);
		for (i = 0; i < 200; i++) {
			status = sley_task_status(&raced[i].task);
			/* Workers race; without any, all were cancelled first. */
			CHECK(status == -ECANCELED ||
			      (status == 0 && !is_single()));
			CHECK_EQ(raced[i].runs, status == 0);
		}
	}
	stop(rt);
}

/* ---- while it is blocked ----------------------------------------------- */

struct places {
	struct sley_event event;
	struct sley_mutex mutex;
	struct sley_cond cond;
	struct sley_mutex cond_mutex;
	struct sley_waitgroup wg;
	struct sley_chan *chan;
	struct sley_group group;
	atomic_int waiting, ended;
};

static int wait_event(struct places *p)
{
	return sley_event_wait(&p->event);
}

static int wait_event_until(struct places *p)
{
	return sley_event_wait_until(&p->event, in_ms(600000));
}

static int wait_any(struct places *p)
{
	struct sley_event *events[] = { &p->event, &p->event };

	return sley_event_wait_any(events, 2);
}

static int wait_waitgroup(struct places *p)
{
	return sley_waitgroup_wait(&p->wg);
}

static int wait_cond(struct places *p)
{
	int err;

	sley_mutex_lock(&p->cond_mutex);
	err = sley_cond_wait_until(&p->cond, &p->cond_mutex, SLEY_FOREVER);
	sley_mutex_unlock(&p->cond_mutex);
	return err;
}

static int wait_mutex(struct places *p)
{
	return sley_mutex_lock_until(&p->mutex, SLEY_FOREVER);
}

static int wait_recv(struct places *p)
{
	int value;

	return sley_chan_recv(p->chan, &value);
}

static int wait_sleep(struct places *p)
{
	(void)p;
	return sley_sleep(SLEY_FOREVER);
}

static int wait_join(struct places *p)
{
	return sley_join_until(&p->group, SLEY_FOREVER);
}

static int (*const waits[])(struct places *) = {
	wait_event, wait_event_until, wait_any,   wait_waitgroup, wait_cond,
	wait_mutex, wait_recv,        wait_sleep, wait_join,
};

struct stuck {
	struct sley_task task;
	struct places *places;
	int (*wait)(struct places *);
};

static void get_stuck(void *arg)
{
	struct stuck *s = arg;

	CHECK(!sley_cancelled());
	atomic_fetch_add(&s->places->waiting, 1);
	CHECK_EQ(s->wait(s->places), -ECANCELED);
	CHECK(sley_cancelled());
	/* And so does every later wait, at once. */
	CHECK_EQ(s->wait(s->places), -ECANCELED);
	CHECK_EQ(sley_sleep(SLEY_FOREVER), -ECANCELED);
	atomic_fetch_add(&s->places->ended, 1);
}

/* Something nobody can have: each of @waits blocks here. */
static void places_init(struct places *p)
{
	*p = (struct places){ .event = SLEY_EVENT_INIT };
	CHECK_EQ(sley_chan_create(&p->chan, sizeof(int), 0), 0);
	sley_mutex_lock(&p->mutex);
	sley_waitgroup_add(&p->wg, 1);
}

static void wait_until_all_wait(struct sley *rt, struct places *p, int n)
{
	if (is_single())
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&p->waiting) == n);
}

static void long_task(void *arg)
{
	CHECK_EQ(sley_event_wait(arg), 0);
}

static void cancel_blocked(bool wait_first)
{
	struct sley_event release = SLEY_EVENT_INIT;
	struct stuck stuck[ARRAY_SIZE(waits)];
	struct sley_task pending;
	struct places p;
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int i, n = ARRAY_SIZE(waits);

	places_init(&p);
	sley_spawn(&p.group, &pending, long_task, &release);
	for (i = 0; i < n; i++) {
		stuck[i] = (struct stuck){ .places = &p, .wait = waits[i] };
		sley_spawn(&group, &stuck[i].task, get_stuck, &stuck[i]);
	}
	wait_until_all_wait(rt, &p, n);
	if (wait_first)
		test_nap_ms(10);
	for (i = 0; i < n; i++)
		sley_cancel(&stuck[i].task);
	sley_join(&group);
	CHECK_EQ(p.ended, n);
	/* Nothing was consumed and nothing is held by those who have gone. */
	sley_mutex_unlock(&p.mutex);
	CHECK(sley_mutex_try_lock(&p.mutex));
	CHECK(sley_mutex_try_lock(&p.cond_mutex));
	sley_event_set(&release);
	sley_join(&p.group);
	sley_chan_destroy(p.chan);
	stop(rt);
}

TEST_WORKERS(cancel_wakes_every_kind_of_wait)
{
	cancel_blocked(true);
}

TEST_WORKERS(cancel_may_come_while_the_task_is_about_to_wait)
{
	cancel_blocked(false);
}

/* ---- against a wake ---------------------------------------------------- */

struct duel {
	struct sley_event event; /* automatic */
	atomic_int result;
};

static void wait_in_duel(void *arg)
{
	struct duel *d = arg;

	atomic_store(&d->result, sley_event_wait(&d->event));
}

static void *set_in_duel(void *arg)
{
	struct duel *d = arg;

	sley_event_set(&d->event);
	return NULL;
}

static void set_task(void *arg)
{
	set_in_duel(arg);
}

TEST_WORKERS(cancel_against_a_wake_has_one_winner)
{
	struct duel d = { SLEY_EVENT_AUTO_INIT, 0 };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task wait, set;
	int i;

	for (i = 0; i < test_scale(3000); i++) {
		atomic_store(&d.result, 1);
		sley_spawn(&group, &wait, wait_in_duel, &d);
		if (i % 3)
			CHECK_EQ(sley_sleep(test_random(40) * SLEY_USEC), 0);
		sley_spawn(&group, &set, set_task, &d);
		sley_cancel(&wait);
		sley_join(&group);
		/* Never started, cancelled, or woken; the set is used or not. */
		if (sley_task_status(&wait) == -ECANCELED)
			CHECK_EQ(d.result, 1);
		else
			CHECK(d.result == 0 || d.result == -ECANCELED);
		/* Whoever won: the set is used exactly if the wait ended well. */
		CHECK_EQ(sley_event_try(&d.event), d.result != 0);
	}
	stop(rt);
}

/* ---- what is not cut short --------------------------------------------- */

struct firm {
	struct sley_mutex mutex;
	struct sley_event release;
	struct sley_task child;
	atomic_int started, locked, joined, child_ended;
};

static void lock_firmly(void *arg)
{
	struct firm *f = arg;

	atomic_fetch_add(&f->started, 1);
	sley_mutex_lock(&f->mutex);
	CHECK(sley_cancelled());
	atomic_store(&f->locked, 1);
	sley_mutex_unlock(&f->mutex);
	CHECK_EQ(sley_sleep(1), -ECANCELED);
}

static void slow_child(void *arg)
{
	struct firm *f = arg;

	/* Cancelling the parent does not cancel the child. */
	CHECK_EQ(sley_event_wait(&f->release), 0);
	CHECK(!sley_cancelled());
	atomic_store(&f->child_ended, 1);
}

static void join_firmly(void *arg)
{
	struct firm *f = arg;
	struct sley_group group = SLEY_GROUP_INIT;

	sley_spawn(&group, &f->child, slow_child, f);
	atomic_fetch_add(&f->started, 1);
	sley_join(&group);
	CHECK(f->child_ended);
	CHECK(sley_cancelled());
	atomic_store(&f->joined, 1);
}

TEST_WORKERS(cancel_cuts_neither_a_lock_nor_a_join_short)
{
	struct firm f = { .release = SLEY_EVENT_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task locker, joiner;

	sley_mutex_lock(&f.mutex);
	sley_spawn(&group, &locker, lock_firmly, &f);
	sley_spawn(&group, &joiner, join_firmly, &f);
	if (is_single())
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&f.started) == 2);
	sley_cancel(&locker);
	sley_cancel(&joiner);
	CHECK_EQ(sley_join_until(&group, in_ms(10)), -ETIMEDOUT);
	CHECK(!f.locked && !f.joined);
	sley_mutex_unlock(&f.mutex);
	sley_event_set(&f.release);
	sley_join(&group);
	CHECK(f.locked && f.joined);
	stop(rt);
}

/* ---- while it runs, after its end, all of them ------------------------- */

static void spin_until_cancelled(void *arg)
{
	count_task(arg);
	while (!sley_cancelled())
		sley_yield();
}

TEST_WORKERS(cancel_shows_in_a_running_task)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int started = 0;

	CHECK(!sley_cancelled());
	sley_spawn(&group, &task, spin_until_cancelled, &started);
	while (!atomic_load(&started))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	sley_cancel(&task);
	sley_join(&group);
	/* It ran to its end. */
	CHECK_EQ(sley_task_status(&task), 0);
	CHECK(!sley_cancelled());
	stop(rt);
}

TEST_WORKERS(cancel_after_the_end_changes_nothing)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	sley_spawn(&group, &task, count_task, &ran);
	while (sley_task_status(&task) == -EINPROGRESS)
		CHECK_EQ(sley_sleep(50 * SLEY_USEC), 0);
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(sley_task_status(&task), 0);
	CHECK_EQ(ran, 1);
	/* The memory may be used again, without the cancellation. */
	sley_spawn(&group, &task, count_task, &ran);
	sley_join(&group);
	CHECK_EQ(ran, 2);
	CHECK_EQ(sley_task_status(&task), 0);
	stop(rt);
}

static void wait_cancelled(void *arg)
{
	struct places *p = arg;

	atomic_fetch_add(&p->waiting, 1);
	CHECK_EQ(sley_event_wait(&p->event), -ECANCELED);
	atomic_fetch_add(&p->ended, 1);
}

TEST_WORKERS(cancel_all_reaches_the_blocked_the_queued_and_the_coming)
{
	static struct sley_task tasks[100];
	struct places p = { .event = SLEY_EVENT_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task late;
	int i;

	for (i = 0; i < 100; i++)
		sley_spawn(&group, &tasks[i], wait_cancelled, &p);
	wait_until_all_wait(rt, &p, 100);
	sley_cancel_all(rt);
	sley_join(&group);
	CHECK_EQ(p.ended, 100);
	/* From now on. */
	sley_spawn(&group, &late, wait_cancelled, &p);
	sley_join(&group);
	CHECK_EQ(sley_task_status(&late), -ECANCELED);
	CHECK_EQ(p.ended, 100);
	stop(rt);
}

/* ---- a bound thread is no task ------------------------------------------- */

TEST(cancelling_all_leaves_the_bound_thread_alone)
{
	struct sley_config config = *test_config();
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley *rt;

	config.workers = SLEY_SINGLE;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_bind(rt), 0);
	sley_cancel_all(rt);
	CHECK(!sley_cancelled());
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(sley_event_wait_until(&event, sley_now() + SLEY_MSEC),
		 -ETIMEDOUT);
	sley_unbind(rt);
	CHECK_EQ(sley_destroy(rt), 0);
}
