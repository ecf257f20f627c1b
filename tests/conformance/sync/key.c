/* SPDX-License-Identifier: MIT */
/*
 * key.c - numbers at which waiters and wakers meet: U11, R-U1, U-T11.
 *
 * That no wake is lost between a waiter's look and its wait is shown by
 * tests/model/sync_waker.c.
 */
#include <sys/wait.h>

#include "conformance/bound.h"

static uint64_t new_key(void)
{
	uint64_t key = 0;

	CHECK_EQ(sley_key_create(&key), 0);
	CHECK_NE(key, 0);
	return key;
}

TEST(u11_a_wake_that_comes_first_is_remembered_once)
{
	uint64_t key = new_key();

	CHECK_EQ(sley_key_wake(key), 0);
	CHECK_EQ(sley_key_wake(key), 0);
	CHECK_EQ(sley_key_wait(key), 0);
	CHECK_EQ(sley_key_wait_until(key, 0), -ETIMEDOUT);
	CHECK_EQ(sley_key_wake(key), 0);
	CHECK_EQ(sley_key_wait_until(key, 0), 0);
	CHECK_EQ(sley_key_destroy(key), 0);
}

TEST(u11_a_destroyed_key_is_never_valid_again)
{
	uint64_t old[100], key;

	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		old[i] = new_key();
		CHECK_EQ(sley_key_wake(old[i]), 0);
		CHECK_EQ(sley_key_destroy(old[i]), 0);
	}
	key = new_key();
	/* The same slot, another number, and no wake is left over. */
	CHECK_EQ((uint32_t)key, (uint32_t)old[0]);
	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		CHECK_NE(key, old[i]);
		CHECK_EQ(sley_key_wake(old[i]), -ESRCH);
		CHECK_EQ(sley_key_wait(old[i]), -ESRCH);
		CHECK_EQ(sley_key_destroy(old[i]), -ESRCH);
	}
	CHECK_EQ(sley_key_wait_until(key, 0), -ETIMEDOUT);
	CHECK_EQ(sley_nr_wakers(), 1);
	CHECK_EQ(sley_key_destroy(key), 0);
	CHECK_EQ(sley_nr_wakers(), 0);
}

TEST(u11_keys_are_counted_and_differ)
{
	enum { N = 5000 };
	static uint64_t keys[N];

	for (int i = 0; i < N; i++) {
		keys[i] = new_key();
		CHECK(i == 0 || keys[i] != keys[i - 1]);
	}
	CHECK_EQ(sley_nr_wakers(), N);
	for (int i = 0; i < N; i++)
		CHECK_EQ(sley_key_wake(keys[i]), 0);
	for (int i = 0; i < N; i++) {
		CHECK_EQ(sley_key_wait(keys[i]), 0);
		CHECK_EQ(sley_key_destroy(keys[i]), 0);
	}
	CHECK_EQ(sley_nr_wakers(), 0);
}

TEST(u11_numbers_that_were_never_given_are_refused)
{
	static const uint64_t bad[] = { 0,          1,          UINT64_MAX,
					1ull << 32, 7ull << 32, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK_EQ(sley_key_wake(bad[i]), -ESRCH);
		CHECK_EQ(sley_key_wait(bad[i]), -ESRCH);
		CHECK_EQ(sley_key_destroy(bad[i]), -ESRCH);
	}
}

static void mistake_a_waker_for_a_key(void *arg)
{
	struct sley_waker waker;
	uint64_t key = new_key();

	(void)arg;
	CHECK_EQ(sley_waker_self(&waker), 0);
	CHECK_EQ(sley_key_wake(waker.id), -ESRCH);
	CHECK_EQ(sley_key_wait(waker.id), -ESRCH);
	CHECK_EQ(sley_key_destroy(waker.id), -ESRCH);
	CHECK_EQ(sley_wake_id(key), -ESRCH);
	CHECK_EQ(sley_set_priority_id(key, 0), -ESRCH);
	CHECK_EQ(sley_suspend_until(0), -ETIMEDOUT);
	CHECK_EQ(sley_key_wait_until(key, 0), -ETIMEDOUT);
	CHECK_EQ(sley_key_destroy(key), 0);
}

TEST(u11_a_waker_is_no_key_and_a_key_no_waker)
{
	CHECK_EQ(sley_run(test_config(), mistake_a_waker_for_a_key, NULL), 0);
}

/* ---- waiters ---------------------------------------------------------------- */

struct line {
	uint64_t key;
	struct sley_group group;
	char order[8];
	int n;
};

struct waiter {
	struct sley_task task;
	struct line *line;
	char name;
	int result;
};

static void wait_in_line(void *arg)
{
	struct waiter *w = arg;

	w->result = sley_key_wait(w->line->key);
	if (w->result == 0)
		w->line->order[w->line->n++] = w->name;
}

static struct sley *start_line(struct line *line, struct waiter *w, int nr)
{
	struct sley *rt = start_single();

	*line = (struct line){ .key = new_key() };
	for (int i = 0; i < nr; i++) {
		w[i] = (struct waiter){ .line = line, .name = (char)('a' + i) };
		sley_spawn(&line->group, &w[i].task, wait_in_line, &w[i]);
	}
	run_all(rt);
	return rt;
}

TEST(u11_each_wake_lets_the_first_waiter_go)
{
	struct waiter w[3];
	struct line line;
	struct sley *rt = start_line(&line, w, 3);

	CHECK_EQ(sley_key_wake(line.key), 1);
	CHECK_EQ(sley_key_wake(line.key), 1);
	run_all(rt);
	CHECK_STR(line.order, "ab");
	CHECK_EQ(sley_key_wake(line.key), 1);
	CHECK_EQ(sley_key_wake(line.key), 0);
	sley_join(&line.group);
	CHECK_STR(line.order, "abc");
	CHECK_EQ(sley_key_destroy(line.key), 0);
	stop(rt);
}

TEST(u11_a_cancelled_waiter_takes_no_wake)
{
	struct waiter w[2];
	struct line line;
	struct sley *rt = start_line(&line, w, 2);

	sley_cancel(&w[0].task);
	/* Before the first one has run to leave. */
	CHECK_EQ(sley_key_wake(line.key), 1);
	sley_join(&line.group);
	CHECK_EQ(w[0].result, -ECANCELED);
	CHECK_STR(line.order, "b");
	CHECK_EQ(sley_key_destroy(line.key), 0);
	stop(rt);
}

TEST(u11_waiters_of_a_destroyed_key_return)
{
	struct waiter w[3];
	struct line line;
	struct sley *rt = start_line(&line, w, 3);
	uint64_t next;

	CHECK_EQ(sley_key_wake(line.key), 1);
	sley_cancel(&w[1].task);
	CHECK_EQ(sley_key_destroy(line.key), 0);
	/* The slot has a new tenant before they have run. */
	next = new_key();
	CHECK_EQ(sley_key_wake(next), 0);
	sley_join(&line.group);
	CHECK_EQ(w[0].result, 0);
	CHECK_EQ(w[1].result, -ECANCELED);
	CHECK_EQ(w[2].result, -EIDRM);
	CHECK_EQ(sley_key_wait(next), 0);
	CHECK_EQ(sley_key_destroy(next), 0);
	stop(rt);
}

/* ---- both sides at about the same time --------------------------------------- */

struct exchange {
	uint64_t go;  /* a key: there is a new one to be woken */
	uint64_t key; /* plain: written before the wake of go; 0: over */
	int data;     /* plain: written before the wake of key */
	int rounds;
};

/* Each key as soon as it is there, perhaps before it is waited for. */
static void *wake_each(void *arg)
{
	struct exchange *x = arg;

	for (;;) {
		CHECK_EQ(sley_key_wait(x->go), 0);
		if (!x->key)
			return NULL;
		x->data++;
		CHECK_GE(sley_key_wake(x->key), 0);
	}
}

static void wait_for_each(void *arg)
{
	struct exchange *x = arg;

	for (int i = 1; i <= x->rounds; i++) {
		uint64_t key = new_key();

		x->key = key;
		CHECK_GE(sley_key_wake(x->go), 0);
		if (test_random(2))
			sley_yield();
		CHECK_EQ(sley_key_wait(key), 0);
		CHECK_EQ(x->data, i);
		/* Its waker may still be on the way out. */
		CHECK_EQ(sley_key_destroy(key), 0);
	}
	x->key = 0;
	CHECK_GE(sley_key_wake(x->go), 0);
}

TEST_WORKERS(u11_no_wake_is_lost_whoever_comes_first)
{
	struct exchange x = { .rounds = test_scale(2000), .go = new_key() };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;
	pthread_t thread;

	sley_spawn(&group, &task, wait_for_each, &x);
	thread = test_thread(wake_each, &x);
	sley_join(&group);
	pthread_join(thread, NULL);
	CHECK_EQ(x.data, x.rounds);
	CHECK_EQ(sley_key_destroy(x.go), 0);
	CHECK_EQ(sley_nr_wakers(), 0);
	stop(rt);
}

/* A thread wakes the key at any moment of a wait, also between its look and its sleep. */
struct duel {
	uint64_t key;
	atomic_int round; /* of the wait that begins; -1: over */
	int rounds;
};

static void spin_randomly(void)
{
	for (uint64_t left = test_random(400); left; left--)
		atomic_signal_fence(memory_order_seq_cst);
}

static void *wake_each_round(void *arg)
{
	struct duel *duel = arg;
	int seen = 0, round;

	while ((round = atomic_load(&duel->round)) >= 0) {
		if (round == seen)
			continue;
		seen = round;
		spin_randomly();
		CHECK_GE(sley_key_wake(duel->key), 0);
	}
	return NULL;
}

static void wait_each_round(void *arg)
{
	struct duel *duel = arg;

	for (int i = 1; i <= duel->rounds; i++) {
		atomic_store(&duel->round, i);
		spin_randomly();
		CHECK_EQ(sley_key_wait_until(duel->key,
					     sley_after(10 * SLEY_SEC)),
			 0);
	}
	atomic_store(&duel->round, -1);
}

TEST_WORKERS(ru1_a_wake_between_the_look_and_the_sleep_is_not_lost)
{
	struct duel duel = { .rounds = test_scale(2000), .key = new_key() };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;
	pthread_t thread = test_thread(wake_each_round, &duel);

	sley_spawn(&group, &task, wait_each_round, &duel);
	sley_join(&group);
	pthread_join(thread, NULL);
	CHECK_EQ(sley_key_destroy(duel.key), 0);
	stop(rt);
}

/* ---- other processes ------------------------------------------------------------- */

static void *make_keys(void *arg)
{
	atomic_bool *over = arg;

	while (!atomic_load(over))
		CHECK_EQ(sley_key_destroy(new_key()), 0);
	return NULL;
}

/* The other thread has the lock of all slots more often than not. */
TEST(u11_a_child_process_makes_keys_of_its_own)
{
	atomic_bool over = false;
	pthread_t thread;
	int status;

	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	thread = test_thread(make_keys, &over);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			(void)alarm(10);
			_exit(sley_key_destroy(new_key()) != 0);
		}
		CHECK_GT(pid, 0);
		CHECK_EQ(waitpid(pid, &status, 0), pid);
		CHECK_EQ(status, 0);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}
