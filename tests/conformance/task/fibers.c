/* SPDX-License-Identifier: MIT */
/*
 * fibers.c - when a task gets a fiber and where it resumes: M14 to M18, M23.
 */
#include "conformance/bound.h"

static uint64_t nr_fibers(struct sley *rt)
{
	struct sley_stats stats;

	sley_get_stats(rt, &stats);
	return stats.fibers;
}

/* What workers have anyway: room for a few per worker. */
static int spare_fibers(void)
{
	return 3 * (nr_runners() + 1);
}

TEST_WORKERS(m14_a_task_that_never_blocks_costs_no_fiber)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	run_tasks(5000, count_task, &ran);
	CHECK_EQ(ran, 5000);
	CHECK_LE(nr_fibers(rt), spare_fibers());
	stop(rt);
}

struct blocked {
	struct sley_event event;
	atomic_int waiting, resumed, moved;
};

static void block(void *arg)
{
	struct blocked *b = arg;
	pid_t before = gettid();
	int worker = sley_worker();

	atomic_fetch_add(&b->waiting, 1);
	CHECK_EQ(sley_event_wait(&b->event), 0);
	if (gettid() != before || sley_worker() != worker)
		atomic_fetch_add(&b->moved, 1);
	atomic_fetch_add(&b->resumed, 1);
}

/* Lets @n tasks of @tasks block; the caller sets the event and joins. */
static void block_many(struct sley *rt, struct sley_group *group,
		       struct sley_task *tasks, struct blocked *b, int n)
{
	int i;

	b->waiting = 0;
	for (i = 0; i < n; i++)
		sley_spawn(group, &tasks[i], block, b);
	if (is_single())
		run_all(rt);
	CHECK_EVENTUALLY(atomic_load(&b->waiting) == n);
}

TEST_WORKERS(m14_each_blocked_task_costs_one_fiber)
{
	static struct sley_task tasks[300];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct blocked b = { .event = SLEY_EVENT_INIT };

	block_many(rt, &group, tasks, &b, 300);
	CHECK_GE(nr_fibers(rt), 300);
	CHECK_LE(nr_fibers(rt), 300 + spare_fibers());
	sley_event_set(&b.event);
	sley_join(&group);
	CHECK_EQ(b.resumed, 300);
	stop(rt);
}

TEST_WORKERS(m15_a_thousand_fibers_resume_on_the_thread_that_suspended_them)
{
	static struct sley_task tasks[1000];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct blocked b = { .event = SLEY_EVENT_INIT };
	int n = test_scale(1000);

	block_many(rt, &group, tasks, &b, n);
	sley_event_set(&b.event);
	sley_join(&group);
	CHECK_EQ(b.resumed, n);
	CHECK_EQ(b.moved, 0);
	stop(rt);
}

static _Thread_local int thread_mark;

static void yield_at_home(void *arg)
{
	pid_t tid = gettid();
	int i;

	(void)arg;
	for (i = 0; i < 50; i++) {
		thread_mark = tid;
		if (i % 10 == 9)
			CHECK_EQ(sley_sleep(10 * SLEY_USEC), 0);
		else
			sley_yield();
		CHECK_EQ(gettid(), tid);
		CHECK_EQ(thread_mark, tid);
	}
}

TEST_WORKERS(m15_yields_and_sleeps_stay_on_their_thread)
{
	struct sley *rt = start();

	run_tasks(64, yield_at_home, NULL);
	stop(rt);
}

static pthread_barrier_t all_bound;

static void *bound_with_fibers(void *rt)
{
	CHECK_EQ(sley_bind(rt), 0);
	pthread_barrier_wait(&all_bound);
	run_tasks(2, yield_at_home, NULL);
	sley_unbind(rt);
	return NULL;
}

TEST_WORKERS(m15_fibers_of_a_thousand_bound_threads_stay_apart)
{
	struct sley *rt = NULL;
	int n = test_scale(1000);

	CHECK_EQ(sley_create(&rt, test_config()), 0);
	pthread_barrier_init(&all_bound, NULL, (unsigned int)n);
	run_threads(n, bound_with_fibers, rt);
	pthread_barrier_destroy(&all_bound);
	CHECK_EQ(sley_destroy(rt), 0);
}

/*
 * Compilers keep the address of errno across calls; code that moves between
 * threads must ask for it out of line.
 */
__attribute__((noinline)) static int get_errno(void)
{
	return errno;
}

__attribute__((noinline)) static void set_errno(int value)
{
	errno = value;
}

static void hop(void *arg)
{
	long sum = 0;
	int i;

	for (i = 1; i <= 100; i++) {
		sum += i;
		set_errno(i);
		if (i % 20)
			sley_yield();
		else
			CHECK_EQ(sley_sleep(10 * SLEY_USEC), 0);
		CHECK_EQ(get_errno(), i);
	}
	CHECK_EQ(sum, 5050);
	count_task(arg);
}

/* In a migratable runtime a fiber may resume anywhere, errno comes along. */
TEST_WORKERS(m15_a_migratable_fiber_keeps_its_state_wherever_it_resumes)
{
	struct sley_config config = *test_config();
	atomic_int done = 0;
	struct sley *rt;
	int n = test_scale(200);

	config.migratable = true;
	rt = start_with(&config);
	run_tasks(n, hop, &done);
	CHECK_EQ(done, n);
	stop(rt);
}

struct trail {
	char text[16];
	int n;
	struct sley_event event;
};

static void resumed_first(void *arg)
{
	struct trail *t = arg;

	CHECK_EQ(sley_event_wait(&t->event), 0);
	t->text[t->n++] = 'r';
}

static void started_second(void *arg)
{
	struct trail *t = arg;

	t->text[t->n++] = 's';
}

/* That it never starves new tasks is t16 in fairness.c. */
TEST(m16_resuming_goes_before_starting)
{
	struct sley *rt = start_single();
	struct sley_group group = SLEY_GROUP_INIT;
	struct trail t = { .event = SLEY_EVENT_INIT };
	struct sley_task tasks[4];

	sley_spawn(&group, &tasks[0], resumed_first, &t);
	sley_spawn(&group, &tasks[1], resumed_first, &t);
	run_all(rt);
	sley_spawn(&group, &tasks[2], started_second, &t);
	sley_spawn(&group, &tasks[3], started_second, &t);
	sley_event_set(&t.event);
	sley_join(&group);
	CHECK_STR(t.text, "rrss");
	stop(rt);
}

/* ---- M17, M18: waiting and waking -------------------------------------- */

struct guarded {
	struct sley_mutex mutex;
	struct sley_cond cond;
	bool ready;
	atomic_int inside, timed_out, passed;
};

static void wait_with_predicate(void *arg)
{
	struct guarded *g = arg;
	uint64_t deadline = in_ms(5 + (unsigned int)test_random(30));
	int err = 0;

	sley_mutex_lock(&g->mutex);
	while (!g->ready && err == 0) {
		err = sley_cond_wait_until(&g->cond, &g->mutex, deadline);
		/* Held again, whatever happened: nobody else is in here. */
		CHECK_EQ(atomic_fetch_add(&g->inside, 1), 0);
		CHECK(!sley_mutex_try_lock(&g->mutex));
		atomic_fetch_sub(&g->inside, 1);
	}
	if (!g->ready) {
		CHECK_EQ(err, -ETIMEDOUT);
		CHECK_GE(sley_now(), deadline);
		atomic_fetch_add(&g->timed_out, 1);
	} else {
		atomic_fetch_add(&g->passed, 1);
	}
	sley_mutex_unlock(&g->mutex);
}

TEST_WORKERS(m17_the_lock_is_held_on_return_also_after_a_timeout)
{
	struct guarded g = { SLEY_MUTEX_INIT, SLEY_COND_INIT, false, 0, 0, 0 };
	struct sley_task tasks[100];
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		sley_spawn(&group, &tasks[i], wait_with_predicate, &g);
	CHECK_EQ(sley_sleep(20 * SLEY_MSEC), 0);
	sley_mutex_lock(&g.mutex);
	g.ready = true;
	sley_cond_notify_all(&g.cond);
	sley_mutex_unlock(&g.mutex);
	sley_join(&group);
	CHECK_EQ(g.timed_out + g.passed, 100);
	stop(rt);
}

struct bare {
	struct sley_task task;
	struct sley_waker waker;
	atomic_bool is_known, is_there, was_woken;
	bool late; /* the notify comes between the look and the wait: always */
	int nr_woken;
};

static void wait_bare(void *arg)
{
	struct bare *b = arg;

	CHECK_EQ(sley_waker_self(&b->waker), 0);
	/* Nobody wakes it yet: the deadline ends it, and takes nothing. */
	CHECK_EQ(sley_suspend_until(in_ms(1)), -ETIMEDOUT);
	if (b->late) {
		CHECK(!atomic_load(&b->is_there));
		atomic_store(&b->is_known, true);
		while (!atomic_load(&b->was_woken))
			test_nap_ms(1);
		CHECK_EQ(sley_suspend_until(in_ms(10000)), 0);
		b->nr_woken++;
	}
	atomic_store(&b->is_known, true);
	while (!atomic_load(&b->is_there)) {
		CHECK_EQ(sley_suspend_until(in_ms(10000)), 0);
		b->nr_woken++;
	}
}

static void *notify_bare(void *arg)
{
	struct bare *b = arg;

	while (!atomic_load(&b->is_known))
		test_nap_ms(1);
	atomic_store(&b->is_there, true);
	/* The task may have seen it already, and have ended. */
	(void)sley_wake(&b->waker);
	atomic_store(&b->was_woken, true);
	return NULL;
}

/* marl's wait without a lock may miss a notify from another thread. */
TEST_WORKERS(m17_a_bare_wait_misses_no_notify_from_another_thread)
{
	struct sley *rt = start();

	for (int round = 0; round < test_scale(40); round++) {
		struct sley_group group = SLEY_GROUP_INIT;
		struct bare b = { .late = round % 2 };
		pthread_t thread = test_thread(notify_bare, &b);

		sley_spawn(&group, &b.task, wait_bare, &b);
		sley_join(&group);
		if (b.late)
			CHECK_EQ(b.nr_woken, 1);
		else
			CHECK_LE(b.nr_woken, 1);
		pthread_join(thread, NULL);
	}
	stop(rt);
}

struct storm {
	struct sley_event event; /* automatic */
	atomic_int passes;
	atomic_bool done;
};

static void count_passes(void *arg)
{
	struct storm *s = arg;

	for (;;) {
		CHECK_EQ(sley_event_wait(&s->event), 0);
		if (atomic_load(&s->done))
			return;
		atomic_fetch_add(&s->passes, 1);
	}
}

static void *set_many(void *arg)
{
	struct storm *s = arg;
	int i;

	for (i = 0; i < test_scale(20000); i++)
		sley_event_set(&s->event);
	return NULL;
}

/*
 * All workers are held, so the fiber waits.  The first set wakes it: it is queued, and
 * cannot run.  The second set is for its next wait, and the others are absorbed.  So
 * it passes twice for each burst, no more and no less.
 */
TEST_WORKERS(m18_wakes_of_a_queued_fiber_are_absorbed_exactly)
{
	struct storm s = { .event = SLEY_EVENT_AUTO_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT, held = SLEY_GROUP_INIT;
	struct sley_task task, holders[64];
	int n = is_single() ? 0 : nr_runners(), expected = 1;

	sley_spawn(&group, &task, count_passes, &s);
	sley_event_set(&s.event);
	for (int round = 0; round < 5; round++, expected += 2) {
		struct gate gate = { 0 };

		CHECK_SOON(s.passes == expected);
		for (int i = 0; i < n; i++)
			sley_spawn(&held, &holders[i], gate_task, &gate);
		while (atomic_load(&gate.held) < n)
			test_nap_ms(1);
		for (int i = 0; i < 5; i++)
			sley_event_set(&s.event);
		CHECK_EQ(s.passes, expected);
		gate_open(&gate);
		sley_join(&held);
	}
	CHECK_SOON(s.passes == expected);
	atomic_store(&s.done, true);
	sley_event_set(&s.event);
	sley_join(&group);
	CHECK_EQ(s.passes, expected);
	stop(rt);
}

struct two_events {
	struct sley_event event[2];
	atomic_bool started;
	atomic_int passes;
};

static void pass_both(void *arg)
{
	struct two_events *two = arg;
	struct sley_event *const any[] = { &two->event[0], &two->event[1] };

	atomic_store(&two->started, true);
	CHECK_EQ(sley_event_wait_any(any, 2), 0);
	atomic_fetch_add(&two->passes, 1);
	CHECK_EQ(sley_event_wait_any(any, 2), 1);
	atomic_fetch_add(&two->passes, 1);
}

/*
 * All workers are held, so the fiber, which has started, waits for either event.  The
 * first set wakes the fiber.  The fiber is queued, and still linked to the other
 * event.  The set of the other event must neither queue the fiber again nor be lost.
 */
TEST_WORKERS(m18_a_queued_fiber_is_not_woken_again_by_another_event)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT, held = SLEY_GROUP_INIT;
	struct sley_task task, holders[64];
	int n = is_single() ? 0 : nr_runners();

	for (int round = 0; round < 5; round++) {
		struct two_events two = {
			.event = { SLEY_EVENT_AUTO_INIT, SLEY_EVENT_AUTO_INIT },
		};
		struct gate gate = { 0 };

		sley_spawn(&group, &task, pass_both, &two);
		CHECK_SOON(two.started);
		for (int i = 0; i < n; i++)
			sley_spawn(&held, &holders[i], gate_task, &gate);
		while (atomic_load(&gate.held) < n)
			test_nap_ms(1);
		sley_event_set(&two.event[0]);
		sley_event_set(&two.event[1]);
		CHECK_EQ(two.passes, 0);
		gate_open(&gate);
		sley_join(&held);
		sley_join(&group);
		CHECK_EQ(two.passes, 2);
	}
	stop(rt);
}

/* Wakes that meet a running or queued fiber must not queue it twice. */
TEST_WORKERS(m18_wakes_of_a_running_or_queued_fiber_are_absorbed)
{
	struct storm s = { .event = SLEY_EVENT_AUTO_INIT };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	pthread_t setters[3];
	size_t i;

	sley_spawn(&group, &task, count_passes, &s);
	for (i = 0; i < ARRAY_SIZE(setters); i++)
		setters[i] = test_thread(set_many, &s);
	/* Blocks in sley so that the single-threaded task can run. */
	CHECK_EQ(sley_sleep(5 * SLEY_MSEC), 0);
	for (i = 0; i < ARRAY_SIZE(setters); i++)
		pthread_join(setters[i], NULL);
	/* However many were absorbed, at least one was not. */
	CHECK_SOON(s.passes > 0);
	atomic_store(&s.done, true);
	sley_event_set(&s.event);
	sley_join(&group);
	CHECK_LE(s.passes, 3 * test_scale(20000));
	CHECK_EQ(sley_task_status(&task), 0);
	stop(rt);
}

struct staggered {
	struct sley_event event;
	atomic_bool set; /* or is about to be */
	atomic_int ended[100];
};

struct stagger_arg {
	struct staggered *s;
	int index;
};

static void wait_staggered(void *arg)
{
	struct stagger_arg *a = arg;
	uint64_t deadline = sley_now() + (uint64_t)a->index * 100 * SLEY_USEC;
	int err = sley_event_wait_until(&a->s->event, deadline);

	/* The two race; neither comes before its time. */
	if (err == 0) {
		CHECK(atomic_load(&a->s->set));
	} else {
		CHECK_EQ(err, -ETIMEDOUT);
		CHECK_GE(sley_now(), deadline);
	}
	CHECK_EQ(atomic_fetch_add(&a->s->ended[a->index], 1), 0);
}

/* marl's "fibers not double-queued": 10 rounds of 100 timeouts, one signal. */
TEST_WORKERS(m18_staggered_timeouts_against_one_signal_resume_each_once)
{
	static struct sley_task tasks[100];
	static struct stagger_arg args[100];
	static struct staggered s;
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	int round, i;

	for (round = 0; round < 10; round++) {
		memset(&s, 0, sizeof(s));
		for (i = 0; i < 100; i++) {
			args[i] = (struct stagger_arg){ &s, i };
			sley_spawn(&group, &tasks[i], wait_staggered, &args[i]);
		}
		CHECK_EQ(sley_sleep((uint64_t)round * SLEY_MSEC), 0);
		atomic_store(&s.set, true);
		sley_event_set(&s.event);
		sley_join(&group);
		for (i = 0; i < 100; i++)
			CHECK_EQ(s.ended[i], 1);
	}
	stop(rt);
}
