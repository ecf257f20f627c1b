/* SPDX-License-Identifier: MIT */
/*
 * subprocess_stress.c - subprocesses that are killed again and again while tasks and
 * threads call them.
 *
 * Each call has a byte in memory that all processes share, in which the subprocess
 * counts how often it has run the call.  Whatever happens: a call that went well ran
 * once, and has the result for its argument; a call that failed, or was given up, ran
 * once or not at all; its outcome says so, and no death fails more than one call.
 * Some calls are made as nodes of a graph are.  In the end there is no process, no
 * descriptor and no memory left.
 *
 * $STRESS_MS of 1000 and more goes on until a thousand of them were killed: that is
 * "make prove".
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "stress/stress.h"

#include "endpoint/endpoint.h"
#include "mem/alloc.h"

#define NR_SUBPROCESSES 2
#define NR_TASKS 6
#define NR_THREADS 2
#define NR_CALLS (1u << 22)

static unsigned char *ran; /* by number of the call */
static atomic_uint next_call;

#define NR_KILLS 1000 /* in full */

static struct {
	struct sley_subprocess *subprocess[NR_SUBPROCESSES];
	uint64_t end_ns;
	uint64_t nr_restarts; /* at least */
	atomic_uint nr_well, nr_lost, nr_given_up, nr_killed;
} scene;

static int run(struct sley_subprocess_work *work)
{
	uint32_t number = *(const uint32_t *)work->arg;

	__atomic_fetch_add(&ran[number], 1, __ATOMIC_RELAXED);
	if (number % 16 == 0)
		usleep(1000); /* many are killed here */
	*(uint32_t *)work->result = ~number;
	work->result_size = sizeof(number);
	return 0;
}

/* The same as a node: it has no result but what it returns. */
static int run_node(void *arg)
{
	uint32_t number = *(const uint32_t *)arg;

	__atomic_fetch_add(&ran[number], 1, __ATOMIC_RELAXED);
	if (number % 16 == 1)
		usleep(1000);
	return (int)(number ^ 0x5555);
}

static unsigned int times_run(uint32_t number)
{
	return __atomic_load_n(&ran[number], __ATOMIC_RELAXED);
}

/* Who should have run it is dead: it may have begun. */
static void check_lost(uint32_t number, enum sley_outcome outcome,
		       const char *text, const char *expected)
{
	CHECK_EQ(outcome, SLEY_OUTCOME_ENDPOINT);
	CHECK_STR(text, expected);
	CHECK_LE(times_run(number), 1);
	atomic_fetch_add(&scene.nr_lost, 1);
}

static void call_as_node(uint32_t number)
{
	struct sley_endpoint *endpoint = sley_subprocess_endpoint(
		scene.subprocess[number % NR_SUBPROCESSES]);
	struct endpoint_work work = { .fn = run_node,
				      .arg = &number,
				      .arg_size = sizeof(number),
				      .deadline_ns = SLEY_FOREVER };
	struct endpoint_end end;

	endpoint->ops->run(endpoint, &work, &end);
	if (end.code >= 0) {
		CHECK_EQ(end.outcome, SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(end.code, (int)(number ^ 0x5555));
		CHECK_EQ(times_run(number), 1);
		atomic_fetch_add(&scene.nr_well, 1);
		return;
	}
	CHECK_EQ(end.code, SLEY_ECHILD);
	check_lost(number, end.outcome, end.text,
		   "subprocess was killed by signal 9 (Killed)");
}

static void call_one(uint32_t number)
{
	uint32_t got = 0;
	struct sley_subprocess_result result = { .data = &got,
						 .size = sizeof(got) };
	uint64_t deadline_ns = one_in(16) ? soon() : SLEY_FOREVER;
	int err = sley_subprocess_call_until(
		scene.subprocess[number % NR_SUBPROCESSES], run, &number,
		sizeof(number), &result, deadline_ns);

	CHECK_EQ(err, result.code);
	if (err == 0) {
		CHECK_EQ(result.outcome, SLEY_OUTCOME_SUCCESS);
		CHECK_EQ(result.size, sizeof(got));
		CHECK_EQ(got, ~number);
		CHECK_EQ(times_run(number), 1);
		atomic_fetch_add(&scene.nr_well, 1);
	} else if (err == -ETIMEDOUT) {
		CHECK_NE(deadline_ns, SLEY_FOREVER);
		CHECK_EQ(result.outcome, SLEY_OUTCOME_SKIPPED);
		CHECK_LE(times_run(number), 1);
		atomic_fetch_add(&scene.nr_given_up, 1);
	} else {
		CHECK_EQ(err, SLEY_ECHILD);
		check_lost(number, result.outcome, result.text,
			   "run: subprocess was killed by signal 9 (Killed)");
	}
}

static uint64_t nr_restarts(void)
{
	uint64_t nr = 0;

	for (int i = 0; i < NR_SUBPROCESSES; i++)
		nr += sley_subprocess_restarts(scene.subprocess[i]);
	return nr;
}

static bool goes_on(void)
{
	return sley_now() < scene.end_ns || nr_restarts() < scene.nr_restarts;
}

static void call_on(void *arg)
{
	(void)arg;
	/* On a busy machine no call may have been faster than the killer. */
	while (goes_on() || !atomic_load(&scene.nr_well)) {
		uint32_t number = atomic_fetch_add(&next_call, 1);

		CHECK_LT(number, NR_CALLS);
		if (one_in(4))
			call_as_node(number);
		else
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
	while (goes_on()) {
		int pid = sley_subprocess_pid(
			scene.subprocess[test_random(NR_SUBPROCESSES)]);

		if (pid && kill(pid, SIGKILL) == 0)
			atomic_fetch_add(&scene.nr_killed, 1);
		usleep((useconds_t)test_random(3000));
	}
	return NULL;
}

static void begin(uint64_t spin_ns)
{
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
	/* Whatever is left by the server is ours. */
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ran = mmap(NULL, NR_CALLS, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(ran != MAP_FAILED);
	CHECK_EQ(sley_subprocess_register("run", run), 0);
	CHECK_EQ(sley_subprocesses_init(), 0);
	for (int i = 0; i < NR_SUBPROCESSES; i++)
		CHECK_EQ(
			sley_subprocess_create(
				&scene.subprocess[i],
				SLEY_SUBPROCESS_OPTIONS(.max_restarts = 1000000,
							.spin_ns = spin_ns,
							.depth = 4)),
			0);
	scene.end_ns = stress_end();
	scene.nr_restarts = STRESS_MS >= 1000 ? (uint64_t)test_scale(NR_KILLS)
					      : 0;
	if (scene.nr_restarts)
		test_timeout(300);
}

static void end(void)
{
	uint64_t restarts = nr_restarts();

	for (int i = 0; i < NR_SUBPROCESSES; i++)
		sley_subprocess_destroy(scene.subprocess[i]);
	sley_subprocesses_exit();
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
	CHECK_EQ(mem_allocated(&sley__program_mem), 0);
	CHECK_EQ(scene.nr_well + scene.nr_lost + scene.nr_given_up, next_call);
	CHECK_LE(scene.nr_lost, restarts + NR_SUBPROCESSES);
	CHECK_LE(restarts, scene.nr_killed);
	CHECK_GE(restarts, scene.nr_restarts);
	CHECK_GT(scene.nr_well, 0);
	test_count(next_call);
	printf("%u well, %u lost, %u given up, %u killed, %u restarts\n",
	       scene.nr_well, scene.nr_lost, scene.nr_given_up, scene.nr_killed,
	       (unsigned int)restarts);
	munmap(ran, NR_CALLS);
}

static void play(uint64_t spin_ns)
{
	struct sley_config config = stress_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	pthread_t threads[NR_THREADS], killer;
	struct sley *rt;

	begin(spin_ns);
	rt = start_with(&config);
	killer = test_thread(kill_them, NULL);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(call_on_thread, NULL);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &tasks[i], call_on, NULL);
	sley_join(&group);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(killer, NULL);
	stop(rt);
	end();
}

TEST(s24_nothing_is_lost_but_what_is_said_when_subprocesses_are_killed)
{
	play(0);
}

TEST(s24_nor_where_everybody_sleeps)
{
	play(SLEY_SUBPROCESS_NO_SPIN);
}
