/* SPDX-License-Identifier: MIT */
/*
 * child_stress.c - children that are killed again and again while tasks and threads
 * call them.
 *
 * Each call has a byte in memory that all processes share, in which the child counts
 * how often it has run it.  Whatever happens: a call that went well ran once, one that
 * failed ran once or not at all, its outcome says so, and no death fails more than
 * one call.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "stress/stress.h"

#define NR_CHILDREN 2
#define NR_TASKS 6
#define NR_THREADS 2
#define NR_CALLS (1u << 22)

static unsigned char *ran; /* by number of the call */
static atomic_uint next_call;

static struct {
	struct sley_child_process *child[NR_CHILDREN];
	uint64_t end_ns;
	atomic_uint nr_well, nr_lost, nr_killed;
} scene;

static int run(struct sley_child_work *work)
{
	uint32_t number = *(const uint32_t *)work->arg;

	__atomic_fetch_add(&ran[number], 1, __ATOMIC_RELAXED);
	if (number % 16 == 0)
		usleep(1000); /* many are killed here */
	*(uint32_t *)work->result = ~number;
	work->result_size = sizeof(number);
	return 0;
}

static void call_one(uint32_t number)
{
	uint32_t got = 0;
	struct sley_child_result result = { .data = &got, .size = sizeof(got) };
	int err = sley_child_call(scene.child[number % NR_CHILDREN], run,
				  &number, sizeof(number), &result);
	unsigned char times = __atomic_load_n(&ran[number], __ATOMIC_RELAXED);

	if (err == 0) {
		CHECK_EQ(result.outcome, SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(got, ~number);
		CHECK_EQ(times, 1);
		atomic_fetch_add(&scene.nr_well, 1);
		return;
	}
	CHECK_EQ(err, SLEY_ECHILD);
	CHECK_EQ(result.outcome, SLEY_OUTCOME_ENDPOINT);
	CHECK_STR(result.text, "run: child was killed by signal 9 (Killed)");
	CHECK_LE(times, 1);
	atomic_fetch_add(&scene.nr_lost, 1);
}

static void call_on(void *arg)
{
	(void)arg;
	while (sley_now() < scene.end_ns) {
		uint32_t number = atomic_fetch_add(&next_call, 1);

		CHECK_LT(number, NR_CALLS);
		call_one(number);
	}
}

static void *call_on_thread(void *arg)
{
	call_on(arg);
	return NULL;
}

/* Kills whoever is there; a pid may be gone, but is not taken again so soon. */
static void *kill_them(void *arg)
{
	(void)arg;
	while (sley_now() < scene.end_ns) {
		int pid = sley_child_pid(scene.child[test_random(NR_CHILDREN)]);

		if (pid && kill(pid, SIGKILL) == 0)
			atomic_fetch_add(&scene.nr_killed, 1);
		usleep((useconds_t)test_random(3000));
	}
	return NULL;
}

static void play(uint64_t spin_ns)
{
	struct sley_config config = stress_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	pthread_t threads[NR_THREADS], killer;
	uint64_t nr_restarts = 0;
	struct sley *rt;

	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
	ran = mmap(NULL, NR_CALLS, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(ran != MAP_FAILED);
	CHECK_EQ(sley_child_register("run", run), 0);
	CHECK_EQ(sley_children_init(), 0);
	rt = start_with(&config);
	for (int i = 0; i < NR_CHILDREN; i++)
		CHECK_EQ(sley_child_create(
				 &scene.child[i],
				 SLEY_CHILD_OPTIONS(.max_restarts = 1000000,
						    .spin_ns = spin_ns,
						    .depth = 4)),
			 0);
	scene.end_ns = stress_end();
	killer = test_thread(kill_them, NULL);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(call_on_thread, NULL);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &tasks[i], call_on, NULL);
	sley_join(&group);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(killer, NULL);
	for (int i = 0; i < NR_CHILDREN; i++) {
		nr_restarts += sley_child_restarts(scene.child[i]);
		sley_child_destroy(scene.child[i]);
	}
	stop(rt);
	sley_children_exit();
	CHECK_EQ(atomic_load(&scene.nr_well) + atomic_load(&scene.nr_lost),
		 atomic_load(&next_call));
	CHECK_LE(atomic_load(&scene.nr_lost), nr_restarts + NR_CHILDREN);
	CHECK_LE(nr_restarts, atomic_load(&scene.nr_killed));
	CHECK_GT(atomic_load(&scene.nr_well), 0);
	test_count(atomic_load(&next_call));
	printf("%u well, %u lost, %u killed, %u restarts\n",
	       atomic_load(&scene.nr_well), atomic_load(&scene.nr_lost),
	       atomic_load(&scene.nr_killed), (unsigned int)nr_restarts);
	munmap(ran, NR_CALLS);
}

TEST(s24_nothing_is_lost_but_what_is_said_when_children_are_killed)
{
	play(0);
}

TEST(s24_nor_where_everybody_sleeps)
{
	play(SLEY_CHILD_NO_SPIN);
}
