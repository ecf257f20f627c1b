/* SPDX-License-Identifier: MIT */
/*
 * local.c - values that belong to a task.
 */
#include "conformance/bound.h"

#define NR_KEYS 100

static atomic_int nr_destroyed;
static atomic_long order; /* the last four values destroyed, in base 10 */

static void note(void *value)
{
	atomic_fetch_add(&nr_destroyed, 1);
	atomic_store(&order, 10 * (order % 1000) + *(int *)value);
}

static struct sley_local plain;
static struct sley_local noted[3] = {
	SLEY_LOCAL_INIT(note),
	SLEY_LOCAL_INIT(note),
	SLEY_LOCAL_INIT(note),
};
static int digit[4] = { 0, 1, 2, 3 };

/* ---- whose they are -------------------------------------------------------- */

static void set_and_block(void *arg)
{
	CHECK(sley_local_get(&plain) == NULL);
	CHECK_EQ(sley_local_set(&plain, arg), 0);
	for (int i = 0; i < 10; i++) {
		CHECK(sley_local_get(&plain) == arg);
		if (i % 2)
			sley_yield();
		else
			CHECK_EQ(sley_sleep(SLEY_USEC), 0);
	}
	CHECK(sley_local_get(&plain) == arg);
	CHECK(sley_local_get(&noted[0]) == NULL);
}

static void many_with_their_own(const struct sley_config *config)
{
	static struct sley_task tasks[100];
	struct sley *rt = start_with(config);
	struct sley_group group = SLEY_GROUP_INIT;

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
			sley_spawn(&group, &tasks[i], set_and_block, &tasks[i]);
		sley_join(&group);
	}
	stop(rt);
}

TEST_WORKERS(each_task_has_values_of_its_own)
{
	many_with_their_own(test_config());
}

TEST_WORKERS(values_go_with_a_task_that_migrates)
{
	struct sley_config config = *test_config();

	config.migratable = true;
	many_with_their_own(&config);
}

static void set_many(void *arg)
{
	static struct sley_local keys[NR_KEYS];
	static char value[NR_KEYS];

	(void)arg;
	for (int i = 0; i < NR_KEYS; i++)
		CHECK_EQ(sley_local_set(&keys[i], &value[i]), 0);
	for (int i = 0; i < NR_KEYS; i++)
		CHECK(sley_local_get(&keys[i]) == &value[i]);
	for (int i = 0; i < NR_KEYS; i++)
		CHECK_EQ(sley_local_set(&keys[i], NULL), 0);
	for (int i = 0; i < NR_KEYS; i++)
		CHECK(sley_local_get(&keys[i]) == NULL);
}

TEST_WORKERS(a_task_may_have_many_values)
{
	struct sley *rt = start();

	run_task(set_many, NULL);
	stop(rt);
}

struct look {
	bool stolen; /* the parent joins when the child has run */
	void *value;
	atomic_bool over;
};

static void look_at_parents(void *arg)
{
	struct look *look = arg;

	look->value = sley_local_get(&plain);
	CHECK(sley_local_get(&noted[0]) == NULL);
	atomic_store(&look->over, true);
}

static void fork_with_a_value(void *arg)
{
	struct look *look = arg;
	struct sley_forked child;

	CHECK_EQ(sley_local_set(&plain, &digit[0]), 0);
	sley_fork(&child, look_at_parents, look);
	while (look->stolen && !atomic_load(&look->over))
		test_nap_ms(1);
	sley_fork_join(&child);
	CHECK(sley_local_get(&plain) == &digit[0]);
}

/* One worker runs the child in its parent; if the parent waits, a thief does. */
TEST_WORKERS(a_forked_child_has_the_values_of_its_parent_or_none)
{
	bool stolen = nr_runners() > 1;
	struct sley *rt = start();

	for (int i = 0; i < 100; i++) {
		struct look look = { .stolen = stolen };

		run_task(fork_with_a_value, &look);
		CHECK(look.value == (stolen ? NULL : &digit[0]));
	}
	stop(rt);
}

struct stolen {
	struct sley_group group; /* as somebody who asks for its tree */
	atomic_bool child_ran, destroyed;
};

/* As part of the child: it still has a parent, and that one's tree. */
static void destroy_slowly(void *value)
{
	struct stolen *s = value;

	sley_group_in_tree(&s->group);
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	sley_group_in_tree(&s->group);
	atomic_store(&s->destroyed, true);
}

static struct sley_local slow = SLEY_LOCAL_INIT(destroy_slowly);

static void set_in_child(void *arg)
{
	struct stolen *s = arg;

	CHECK_EQ(sley_local_set(&slow, s), 0);
	atomic_store(&s->child_ran, true);
}

static void fork_and_wait_for_a_thief(void *arg)
{
	struct stolen *s = arg;
	struct sley_forked child;

	sley_fork(&child, set_in_child, s);
	while (!atomic_load(&s->child_ran))
		test_nap_ms(1);
	sley_fork_join(&child);
	CHECK(atomic_load(&s->destroyed));
}

TEST_WORKERS(the_values_of_a_stolen_child_are_destroyed_before_it_is_joined)
{
	struct stolen s = { .child_ran = false };
	struct sley *rt;

	if (nr_runners() < 2)
		test_skip("needs a thief");
	rt = start();
	run_task(fork_and_wait_for_a_thief, &s);
	stop(rt);
}

/* ---- the end of a task ------------------------------------------------------- */

static void set_three(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_local_set(&noted[0], &digit[3]), 0);
	CHECK_EQ(sley_local_set(&plain, &digit[0]), 0);
	CHECK_EQ(sley_local_set(&noted[1], &digit[2]), 0);
	CHECK_EQ(sley_local_set(&noted[2], &digit[2]), 0);
	/* What it was is not destroyed. */
	CHECK_EQ(sley_local_set(&noted[0], &digit[1]), 0);
	CHECK_EQ(sley_local_set(&noted[2], &digit[3]), 0);
	CHECK_EQ(nr_destroyed, 0);
}

TEST_WORKERS(values_are_destroyed_at_the_end_of_the_task_the_newest_first)
{
	struct sley *rt = start();

	run_task(set_three, NULL);
	CHECK_EQ(nr_destroyed, 3);
	CHECK_EQ(order, 321);
	stop(rt);
}

static void set_and_unset(void *arg)
{
	(void)arg;
	CHECK_EQ(sley_local_set(&noted[0], &digit[1]), 0);
	CHECK_EQ(sley_local_set(&noted[0], NULL), 0);
}

TEST_WORKERS(what_is_null_at_the_end_is_not_destroyed)
{
	struct sley *rt = start();

	run_task(set_and_unset, NULL);
	CHECK_EQ(nr_destroyed, 0);
	stop(rt);
}

static struct sley_event release;

static void wait_and_note(void *value)
{
	CHECK_EQ(sley_event_wait(&release), 0);
	/* It is out, the older one is still there. */
	CHECK(sley_local_get(&noted[1]) == NULL);
	CHECK(sley_local_get(&noted[0]) == &digit[1]);
	note(value);
}

static void set_slow(void *arg)
{
	noted[1].destroy = wait_and_note;
	CHECK_EQ(sley_local_set(&noted[0], &digit[1]), 0);
	CHECK_EQ(sley_local_set(&noted[1], &digit[2]), 0);
	count_task(arg);
}

TEST_WORKERS(a_destructor_may_block_and_the_join_waits_for_it)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ended = 0;

	sley_spawn(&group, &task, set_slow, &ended);
	while (!atomic_load(&ended))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(sley_join_until(&group, in_ms(5)), -ETIMEDOUT);
	CHECK_EQ(nr_destroyed, 0);
	sley_event_set(&release);
	sley_join(&group);
	CHECK_EQ(order, 21);
	stop(rt);
}

/* Sets itself again, and, the first time, as many others as there are slots. */
static void set_again(void *value)
{
	static struct sley_local others[20];

	if (atomic_load(&nr_destroyed) == 0) {
		for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
			others[i].destroy = note;
			CHECK_EQ(sley_local_set(&others[i], &digit[0]), 0);
		}
	}
	note(value);
	CHECK_EQ(sley_local_set(&noted[0], value), 0);
}

static void set_stubborn(void *arg)
{
	(void)arg;
	noted[0].destroy = set_again;
	CHECK_EQ(sley_local_set(&noted[0], &digit[1]), 0);
}

TEST_WORKERS(a_destructor_may_set_values_for_four_rounds)
{
	struct sley *rt = start();

	run_task(set_stubborn, NULL);
	CHECK_EQ(nr_destroyed, 4 + 20);
	stop(rt);
}

static void set_noted(void *arg)
{
	CHECK(sley_local_get(&noted[0]) == NULL);
	CHECK_EQ(sley_local_set(&noted[0], arg), 0);
	CHECK_EQ(sley_sleep(SLEY_FOREVER), -ECANCELED);
	CHECK(sley_local_get(&noted[0]) == arg);
}

TEST_WORKERS(values_of_cancelled_tasks_are_destroyed_too)
{
	static struct sley_task tasks[50];
	struct sley *rt = NULL;
	struct sley_group group = SLEY_GROUP_INIT;

	rt = start();
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		sley_spawn(&group, &tasks[i], set_noted, &digit[0]);
	CHECK_EQ(sley_join_until(&group, in_ms(5)), -ETIMEDOUT);
	sley_cancel_all(rt);
	sley_join(&group);
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++)
		nr_destroyed -= sley_task_status(&tasks[i]) == 0;
	CHECK_EQ(nr_destroyed, 0);
	stop(rt);
}

/* ---- what else the task has, still is there ------------------------------------- */

static struct sley_rwlock_tree holds;
static struct sley_rwlock tree_lock = SLEY_RWLOCK_TREE_INIT(&holds);

static void write_unlock(void *lock)
{
	sley_rwlock_write_unlock(lock);
}

static struct sley_local held = SLEY_LOCAL_INIT(write_unlock);

static void lock_after_set(void *arg)
{
	CHECK_EQ(sley_local_set(&held, arg), 0);
	sley_rwlock_write_lock(arg);
}

TEST_WORKERS(a_destructor_is_in_the_tree_of_its_task)
{
	struct sley *rt = start();

	run_task(lock_after_set, &tree_lock);
	CHECK(sley_rwlock_try_write_lock(&tree_lock));
	sley_rwlock_write_unlock(&tree_lock);
	stop(rt);
}

static struct sley_waker published;
static atomic_bool is_published;

static void suspend_once_more(void *value)
{
	struct sley_waker waker;

	CHECK_EQ(sley_waker_self(&waker), 0);
	CHECK_EQ(waker.id, published.id);
	atomic_store(&is_published, true);
	CHECK_EQ(sley_suspend(), 0);
	note(value);
}

static struct sley_local suspended = SLEY_LOCAL_INIT(suspend_once_more);

static void publish_after_set(void *arg)
{
	CHECK_EQ(sley_local_set(&suspended, arg), 0);
	CHECK_EQ(sley_waker_self(&published), 0);
}

TEST_WORKERS(a_destructor_has_the_waker_of_its_task)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, publish_after_set, &digit[1]);
	while (!atomic_load(&is_published))
		CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	CHECK_EQ(sley_wake(&published), 0);
	sley_join(&group);
	CHECK_EQ(order, 1);
	CHECK_EQ(sley_wake(&published), -ESRCH);
	stop(rt);
}

/* ---- threads ------------------------------------------------------------------- */

static void *set_in_thread(void *arg)
{
	set_three(arg);
	set_many(arg);
	return NULL;
}

TEST(values_of_a_thread_are_destroyed_when_it_exits)
{
	pthread_join(test_thread(set_in_thread, NULL), NULL);
	CHECK_EQ(order, 321);
	CHECK(sley_local_get(&noted[0]) == NULL);
}

static void *set_stubborn_in_thread(void *arg)
{
	set_stubborn(arg);
	return NULL;
}

TEST(a_thread_ends_though_its_values_are_set_again)
{
	pthread_join(test_thread(set_stubborn_in_thread, NULL), NULL);
	CHECK_GE(nr_destroyed, 4);
}

TEST_WORKERS(a_bound_thread_keeps_its_own_values_apart)
{
	struct sley *rt;

	CHECK_EQ(sley_local_set(&plain, &digit[0]), 0);
	rt = start();
	CHECK(sley_local_get(&plain) == (is_single() ? NULL : &digit[0]));
	CHECK_EQ(sley_local_set(&noted[0], &digit[1]), 0);
	run_task(set_and_block, &digit[2]);
	CHECK(sley_local_get(&noted[0]) == &digit[1]);
	stop(rt);
	CHECK_EQ(nr_destroyed, is_single());
	CHECK(sley_local_get(&plain) == &digit[0]);
}

/* ---- no memory ------------------------------------------------------------------- */

static void set_without_memory(void *arg)
{
	static struct sley_local keys[6];

	(void)arg;
	test_fail_allocation_after(0);
	CHECK_EQ(sley_local_set(&keys[0], &digit[0]), -ENOMEM);
	CHECK(sley_local_get(&keys[0]) == NULL);
	test_fail_allocation_after(1);
	for (int i = 0; i < 5; i++)
		CHECK_EQ(sley_local_set(&keys[i], &digit[0]), 0);
	CHECK_EQ(sley_local_set(&keys[5], &digit[0]), -ENOMEM);
	CHECK(sley_local_get(&keys[5]) == NULL);
	/* The slot is there. */
	CHECK_EQ(sley_local_set(&keys[4], &digit[1]), 0);
	CHECK(sley_local_get(&keys[4]) == &digit[1]);
	test_fail_allocation_after(-1);
}

TEST_WORKERS(a_value_that_finds_no_memory_is_refused)
{
	struct sley *rt = start();

	run_task(set_without_memory, NULL);
	stop(rt);
}
