/* SPDX-License-Identifier: MIT */
/*
 * blocking_stress.c - calls and regions that come and go while threads of the
 * pool leave, deadlines pass and tasks are cancelled.
 */
#include "stress/stress.h"

#define NR_TASKS 24
#define NR_LOOPS 40

static _Thread_local int of_this_thread;

/*
 * Not inlined, and not known to the compiler: clang takes the address of a
 * thread-local for a constant, also where a function returns it.
 */
static __attribute__((noinline)) int *thread_local_place(void)
{
	int *volatile place = &of_this_thread;

	return place;
}

struct scene {
	struct sley_task tasks[NR_TASKS];
	atomic_long called, ran;
	atomic_bool over;
	bool migratable;
};

static void work(void *arg)
{
	struct scene *s = arg;

	atomic_fetch_add(&s->ran, 1);
	if (one_in(8))
		test_nap_ms(1);
}

static void call(struct scene *s)
{
	bool patient = one_in(2);
	int err = patient ? sley_blocking_call(work, s)
			  : sley_blocking_call_until(work, s, soon());

	if (!err)
		atomic_fetch_add(&s->called, 1);
	else
		CHECK((err == -ETIMEDOUT && !patient) ||
		      (err == -ECANCELED && sley_cancelled()));
}

static void visit_region(struct scene *s)
{
	int *before = thread_local_place();

	CHECK_EQ(sley_blocking_begin(), 0);
	CHECK(thread_local_place() != before);
	atomic_fetch_add(&s->called, 1);
	work(s);
	if (one_in(4))
		call(s);
	sley_blocking_end();
	CHECK(s->migratable || thread_local_place() == before);
}

static void live(void *arg)
{
	struct scene *s = arg;

	for (int i = 0; i < NR_LOOPS; i++) {
		if (one_in(2))
			call(s);
		else
			visit_region(s);
		dawdle();
	}
}

static void *cancel_some(void *arg)
{
	struct scene *s = arg;

	while (!atomic_load(&s->over)) {
		test_nap_ms(5);
		sley_cancel(&s->tasks[test_random(NR_TASKS)]);
	}
	return NULL;
}

static void play(bool migratable)
{
	static struct scene s;
	struct sley_group group = SLEY_GROUP_INIT;
	pthread_t canceller;

	memset(&s, 0, sizeof(s));
	s.migratable = migratable;
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &s.tasks[i], live, &s);
	canceller = test_thread(cancel_some, &s);
	sley_join(&group);
	atomic_store(&s.over, true);
	pthread_join(canceller, NULL);
	CHECK_EQ(s.called, s.ran);
	test_count((uint64_t)s.ran);
}

static void run(struct sley_config config)
{
	struct sley *rt;
	uint64_t end = stress_end();

	config.blocking_idle_ms = 1;
	rt = start_with(&config);
	do
		play(config.migratable);
	while (sley_now() < end);
	stop(rt);
}

TEST(no_call_is_lost_or_runs_twice)
{
	run(stress_config());
}

TEST(no_call_is_lost_with_one_worker)
{
	run(config_of(1));
}

TEST(no_call_is_lost_without_worker_threads)
{
	run(config_of(SLEY_SINGLE));
}

TEST(no_call_is_lost_without_membarrier)
{
	run(stress_config_no_membarrier());
}

TEST(no_call_is_lost_where_fibers_move)
{
	run(stress_config_migratable());
}
