/* SPDX-License-Identifier: MIT */
/*
 * inherit.c - an urgent task that waits for a mutex lends its level to the task that
 * holds the mutex, along chains: R-U9, U-T10.  inherit.h has the scenes.
 */
#include "conformance/sync/inherit.h"

/* The scene begins with @first, which has the level @priority, alone. */
static void play(struct scene *s, sley_fn *first, int priority,
		 sley_fn *urgent_fn)
{
	struct sley *rt = start();

	s->urgent_fn = urgent_fn;
	s->holder = &s->low;
	spawn_at(s, &s->low, first, priority);
	sley_join(&s->group);
	stop(rt);
}

static void lock_and_end(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	atomic_store(&s->done, true);
	sley_mutex_unlock(&s->mutex);
}

/* ---- a holder that is ready, blocked, or runs ---------------------------------------- */

static void hold_and_yield(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	spawn_hogs(s);
	yield_some(s);
	sley_mutex_unlock(&s->mutex);
}

TEST_WORKERS(ru9_a_holder_that_has_yielded_gets_the_level_of_its_waiter)
{
	struct scene s = { .rounds = 0 };

	play(&s, hold_and_yield, LOW, lock_and_end);
}

static void wake_and_lock(void *arg)
{
	struct scene *s = arg;

	/* The holder is woken, and behind the hogs until the mutex is asked for. */
	sley_event_set(&s->event);
	lock_and_end(s);
}

static void hold_and_wait(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	spawn_hogs(s);
	atomic_store(&s->stage, 1);
	CHECK_EQ(sley_event_wait(&s->event), 0);
	for (int i = 0; i < 10; i++)
		sley_yield();
	sley_mutex_unlock(&s->mutex);
}

TEST_WORKERS(ru9_a_holder_that_was_woken_gets_the_level_of_its_waiter)
{
	struct scene s = { .event = SLEY_EVENT_INIT };

	play(&s, hold_and_wait, LOW, wake_and_lock);
}

static void wake_later(void *arg)
{
	struct scene *s = arg;

	/* The urgent task waits for the mutex by now, if there is one worker. */
	sley_event_set(&s->event);
}

static void lock_then_wake(void *arg)
{
	struct scene *s = arg;

	spawn_at(s, &s->extra[0], wake_later, HOG);
	lock_and_end(s);
}

TEST_WORKERS(ru9_a_holder_that_is_blocked_wakes_at_the_level_of_its_waiter)
{
	struct scene s = { .event = SLEY_EVENT_INIT };

	play(&s, hold_and_wait, LOW, lock_then_wake);
}

/* It may move, and so is in the shared queue when it has been woken. */
TEST_WORKERS(ru9_a_holder_in_the_shared_queue_gets_the_level_of_its_waiter)
{
	struct sley_config config = *test_config();
	struct scene s = { .event = SLEY_EVENT_INIT };
	struct sley *rt;

	config.migratable = !is_single();
	rt = start_with(&config);
	s.urgent_fn = wake_and_lock;
	spawn_at(&s, &s.low, hold_and_wait, LOW);
	sley_join(&s.group);
	stop(rt);
}

static void hold_lock_and_unlock(void *arg)
{
	struct scene *s = arg;

	/* In a blocking region: the holder runs, on no worker. */
	sley_mutex_lock(&s->mutex);
	spawn_hogs(s);
	CHECK_EQ(sley_blocking_begin(), 0);
	atomic_store(&s->stage, 1);
	while (!atomic_load(&s->started))
		test_nap_ms(1);
	sley_blocking_end();
	sley_yield();
	sley_mutex_unlock(&s->mutex);
}

TEST_WORKERS(ru9_a_holder_in_a_blocking_region_gets_the_level_of_its_waiter)
{
	struct scene s = { .rounds = 0 };

	play(&s, hold_lock_and_unlock, LOW, lock_and_end);
}

/* ---- chains ------------------------------------------------------------------------- */

static void hold_inner_and_lock(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	sley_mutex_lock(&s->inner);
	sley_mutex_unlock(&s->inner);
	sley_mutex_unlock(&s->mutex);
}

static void hold_inner_and_lock_innermost(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->inner);
	/* More urgent, and so next on this worker: waits for `inner`. */
	spawn_at(s, &s->mid, hold_inner_and_lock, LOW);
	sley_yield();
	sley_mutex_lock(&s->innermost);
	sley_mutex_unlock(&s->innermost);
	sley_mutex_unlock(&s->inner);
}

/* Each of the others waits for the next when the hogs come. */
static void hold_innermost(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->innermost);
	spawn_at(s, &s->lowest, hold_inner_and_lock_innermost, LOWER);
	/* Held, and waited for: a try fails, and so do the others' locks. */
	while (sley_mutex_try_lock(&s->mutex)) {
		sley_mutex_unlock(&s->mutex);
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	}
	while (!(__atomic_load_n(&s->innermost.q.word, __ATOMIC_RELAXED) &
		 SLEY_MUTEX_WAITERS))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	spawn_hogs(s);
	yield_some(s);
	sley_mutex_unlock(&s->innermost);
}

TEST_WORKERS(ru9_each_holder_of_a_chain_gets_the_level_of_the_last_waiter)
{
	struct scene s = { .rounds = 0 };

	play(&s, hold_innermost, LOWEST, lock_and_end);
}

/* ---- a level that is given back ----------------------------------------------------- */

/* One worker, so that a hog keeps a less urgent task from running at all. */
static void play_alone(struct scene *s, sley_fn *first, sley_fn *urgent_fn,
		       int workers)
{
	struct sley_config config = config_of(workers);
	struct sley *rt = start_with(&config);

	s->urgent_fn = urgent_fn;
	s->holder = &s->low;
	spawn_at(s, &s->low, first, LOW);
	sley_join(&s->group);
	stop(rt);
}

static void give_up_in_time(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_mutex_lock_until(&s->mutex, in_ms(50)), -ETIMEDOUT);
	CHECK(atomic_load(&s->progress) > 1);
	check_holder_stays(s);
	atomic_store(&s->done, true);
}

TEST(ru9_a_waiter_that_times_out_takes_its_level_back_single_threaded)
{
	struct scene s = { .rounds = 0 };

	play_alone(&s, hold_and_count, give_up_in_time, SLEY_SINGLE);
}

TEST(ru9_a_waiter_that_times_out_takes_its_level_back)
{
	struct scene s = { .rounds = 0 };

	play_alone(&s, hold_and_count, give_up_in_time, 1);
}

static void cancel_urgent(void *arg)
{
	struct scene *s = arg;

	while (atomic_load(&s->progress) < 100)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	sley_cancel(&s->urgent);
}

static void go_on_after_cancel(void *arg)
{
	struct scene *s = arg;

	check_holder_stays(s);
	atomic_store(&s->done, true);
}

static void give_up_when_cancelled(void *arg)
{
	struct scene *s = arg;

	spawn_at(s, &s->extra[0], cancel_urgent, URGENT - 1);
	CHECK_EQ(sley_mutex_lock_until(&s->mutex, UINT64_MAX), -ECANCELED);
	/* This task cannot wait any more. */
	spawn_at(s, &s->extra[1], go_on_after_cancel, URGENT - 1);
}

TEST(ru9_a_waiter_that_is_cancelled_takes_its_level_back)
{
	struct scene s = { .rounds = 0 };

	play_alone(&s, hold_and_count, give_up_when_cancelled, 1);
}

static void note_after_release(void *arg)
{
	struct scene *s = arg;

	s->order[s->nr_order++] = 2;
}

static void note_before_release(void *arg)
{
	struct scene *s = arg;

	s->order[s->nr_order++] = 1;
}

static void lock_and_stay(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	s->order[s->nr_order++] = 0;
	spawn_at(s, &s->extra[0], note_before_release, s->before);
	spawn_at(s, &s->extra[1], note_after_release, LOWER + 1);
	sley_mutex_unlock(&s->mutex);
	atomic_store(&s->done, true);
}

static void release_and_yield(void *arg)
{
	struct scene *s = arg;

	hold_and_yield(s);
	/* It was lent a level, and has its own again: 1, then this, then 2. */
	sley_yield();
	s->order[s->nr_order++] = 3;
	sley_yield();
}

TEST(ru9_a_release_gives_the_level_back)
{
	struct scene s = { .before = LOW - 1 };

	play_alone(&s, release_and_yield, lock_and_stay, 1);
	CHECK_EQ(s.nr_order, 4);
	CHECK_EQ(s.order[0], 0);
	CHECK_EQ(s.order[1], 1);
	CHECK_EQ(s.order[2], 3);
	CHECK_EQ(s.order[3], 2);
}

/* Two mutexes, two waiters: what is still lent counts. */
static void lock_inner(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->inner);
	atomic_store(&s->done, true);
	sley_mutex_unlock(&s->inner);
}

static void lock_after_another(void *arg)
{
	struct scene *s = arg;

	spawn_at(s, &s->mid, lock_inner, URGENT + 1);
	sley_mutex_lock(&s->mutex);
	sley_mutex_unlock(&s->mutex);
}

static void hold_both(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->inner);
	sley_mutex_lock(&s->mutex);
	spawn_hogs(s);
	yield_some(s);
	sley_mutex_unlock(&s->mutex);
	for (int i = 0; i < 100; i++)
		sley_yield();
	sley_mutex_unlock(&s->inner);
}

TEST_WORKERS(ru9_a_release_leaves_what_is_lent_for_another_mutex)
{
	struct scene s = { .rounds = 0 };

	play(&s, hold_both, LOW, lock_after_another);
}

/* ---- a level that is set meanwhile --------------------------------------------------- */

static void raise_the_waiter(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_set_priority(&s->mid, URGENT), 0);
}

/* The waiter is less urgent than the hogs until its level is set. */
static void hold_for_a_low_waiter(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	spawn_at(s, &s->mid, lock_and_end, LOW - 1);
	while (!(__atomic_load_n(&s->mutex.q.word, __ATOMIC_RELAXED) &
		 SLEY_MUTEX_WAITERS))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	spawn_hogs(s);
	yield_some(s);
	sley_mutex_unlock(&s->mutex);
}

TEST_WORKERS(ru9_a_waiter_that_becomes_urgent_lends_its_new_level)
{
	struct scene s = { .rounds = 0 };

	play(&s, hold_for_a_low_waiter, LOW, raise_the_waiter);
}

static void lower_the_holder_and_lock(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_set_priority(s->holder, LOWEST), 0);
	lock_and_end(s);
}

TEST_WORKERS(ru9_a_holder_whose_level_was_set_gets_the_level_of_its_waiter)
{
	struct scene s = { .rounds = 0 };

	play(&s, hold_and_yield, LOW, lower_the_holder_and_lock);
}

static void lower_the_holder(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_set_priority(s->holder, LOWER), 0);
}

static void lock_while_the_holder_is_set(void *arg)
{
	struct scene *s = arg;

	spawn_at(s, &s->mid, lower_the_holder, URGENT + 1);
	lock_and_stay(s);
}

static void release_with_another_level(void *arg)
{
	struct scene *s = arg;

	hold_and_yield(s);
	sley_yield();
	s->order[s->nr_order++] = 3;
}

/* Lent all the while; afterwards the level that was set counts. */
TEST(ru9_a_level_that_is_set_while_another_is_lent_counts_after_the_release)
{
	struct scene s = { .before = LOWER - 1 };

	play_alone(&s, release_with_another_level, lock_while_the_holder_is_set,
		   1);
	CHECK_EQ(s.nr_order, 4);
	CHECK_EQ(s.order[0], 0);
	CHECK_EQ(s.order[1], 1);
	CHECK_EQ(s.order[2], 3);
	CHECK_EQ(s.order[3], 2);
}

/* ---- a holder that ends, and many waiters --------------------------------------------- */

static void end_while_holding(void *arg)
{
	struct scene *s = arg;

	sley_mutex_lock(&s->mutex);
	spawn_hogs(s);
	yield_some(s);
}

static void count_once(void *arg)
{
	struct scene *s = arg;

	atomic_fetch_add(&s->progress, 1);
}

/* The next task in the place of the holder owes nothing. */
static void use_the_place_again(void *arg)
{
	struct scene *s = arg;

	while (sley_task_status(&s->low) == -EINPROGRESS)
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	spawn_at(s, &s->low, count_once, LOW);
	CHECK_EQ(sley_set_priority(&s->low, LOW + 1), 0);
	check_holder_stays(s);
	atomic_store(&s->done, true);
	sley_cancel(&s->urgent);
}

static void wait_in_vain(void *arg)
{
	struct scene *s = arg;

	spawn_at(s, &s->extra[0], use_the_place_again, URGENT - 1);
	CHECK_EQ(sley_mutex_lock_until(&s->mutex, UINT64_MAX), -ECANCELED);
}

TEST(ru9_a_holder_that_ends_owes_nothing_any_more)
{
	struct scene s = { .rounds = 0 };

	play_alone(&s, end_while_holding, wait_in_vain, 1);
	CHECK_EQ(s.seen, 0);
	CHECK_EQ(atomic_load(&s.progress), 1);
}

enum { MANY = 64, TURNS = 50 };

struct crowd {
	struct sley_event go; /* all have been spawned */
	struct sley_mutex mutex[3];
	struct sley_task task[MANY];
	int locked[3]; /* under the mutex */
	atomic_int expected[3];
	atomic_uint seed;
};

/* Two mutexes in their order, or one; some give up, some levels are set. */
static void take_turns(void *arg)
{
	struct crowd *crowd = arg;
	unsigned int random = atomic_fetch_add(&crowd->seed, 0x9e3779b9u);

	CHECK_EQ(sley_event_wait(&crowd->go), 0);
	for (int i = 0; i < TURNS; i++) {
		int first = (int)(random >> 8) % 3, err = 0;
		int last = first + (int)(random >> 16) % (3 - first);

		if (random >> 24 & 3)
			sley_mutex_lock(&crowd->mutex[first]);
		else
			err = sley_mutex_lock_until(&crowd->mutex[first],
						    sley_now() + 100000);
		if (!err) {
			if (last != first)
				sley_mutex_lock(&crowd->mutex[last]);
			sley_yield();
			crowd->locked[last]++;
			atomic_fetch_add(&crowd->expected[last], 1);
			if (last != first)
				sley_mutex_unlock(&crowd->mutex[last]);
			sley_mutex_unlock(&crowd->mutex[first]);
		}
		CHECK_EQ(sley_set_priority(&crowd->task[random % MANY],
					   (int)(random >> 4) % 20 - 10),
			 0);
		random = random * 1664525u + 1013904223u;
	}
}

TEST_WORKERS(ru9_many_waiters_of_all_levels_get_their_turn)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct crowd crowd = { .go = SLEY_EVENT_INIT };
	struct sley *rt = start();

	atomic_store(&crowd.seed, (unsigned int)test_random(1u << 30));
	for (int i = 0; i < MANY; i++)
		CHECK_EQ(sley_spawn_with(&group, &crowd.task[i], take_turns,
					 &crowd,
					 SLEY_OPTIONS(.priority = i % 40 - 20)),
			 0);
	sley_event_set(&crowd.go);
	sley_join(&group);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(crowd.locked[i], atomic_load(&crowd.expected[i]));
		CHECK(sley_mutex_try_lock(&crowd.mutex[i]));
	}
	stop(rt);
}
