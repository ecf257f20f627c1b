/* SPDX-License-Identifier: MIT */
/*
 * isolated_stress.c - the containers of an isolated pool are killed again and again, while
 * tasks and plain threads send requests to them and to a pool of this process.  Some of the
 * requests are too large for the ring between the processes.
 *
 * Each request has a byte in memory that all processes share, in which its method counts
 * how often it has run.  Whatever happens: a request completes once; if it went well, it
 * ran once and has its answer; if it was lost, given up or cancelled, it ran once or not
 * at all, and no death loses more than one request.  Requests to the other pool never
 * fail.  In the end there is no process and no memory left, and the router has
 * completed as many requests as it has accepted.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "stress/stress.h"

#include "mem/alloc.h"
#include "route/isolated.h"
#include "route/pool.h"

#define NR_CONTAINERS 2
#define NR_TASKS 6
#define NR_THREADS 2
#define NR_REQUESTS (1u << 22)

static unsigned char *ran; /* by number of the request */
static atomic_uint next_request;

static struct {
	struct sley_router *router;
	struct sley_pool *pool, *other;
	uint64_t end_ns;
	atomic_uint nr_well, nr_lost, nr_given_up, nr_killed, nr_lines;
} scene;

/* ---- the module ---------------------------------------------------------------------- */

static int run(void *self, struct sley_request *request)
{
	size_t size, room;
	const uint32_t *in = sley_request_in(request, &size);
	uint32_t *out = sley_request_out(request, &room), number = in[0];

	(void)self;
	__atomic_fetch_add(&ran[number], 1, __ATOMIC_RELAXED);
	if (number % 16 == 0)
		usleep(1000); /* many are killed here */
	for (size_t i = 0; i < size / sizeof(*in); i++) {
		if (in[i] != number)
			return -EBADMSG;
		out[i] = ~number;
	}
	return sley_request_answer(request, out, size);
}

static const struct sley_method methods[] = { { .name = "run", .run = run } };

static const struct sley_module module = { SLEY_MODULE_HEAD("counter"),
					   .methods = methods,
					   .nr_methods = 1 };

static unsigned int times_run(uint32_t number)
{
	return __atomic_load_n(&ran[number], __ATOMIC_RELAXED);
}

/* ---- requests ------------------------------------------------------------------------ */

static void check_end(uint32_t number, int code, const uint32_t *got, size_t nr)
{
	if (code == 0) {
		for (size_t i = 0; i < nr; i++)
			CHECK_EQ(got[i], ~number);
		CHECK_EQ(times_run(number), 1);
		atomic_fetch_add(&scene.nr_well, 1);
		return;
	}
	CHECK_LE(times_run(number), 1);
	if (code == SLEY_ECHILD) {
		atomic_fetch_add(&scene.nr_lost, 1);
		return;
	}
	CHECK(code == -ETIMEDOUT || code == -ECANCELED);
	atomic_fetch_add(&scene.nr_given_up, 1);
}

static void send_one(struct sley_pool *pool, uint32_t number)
{
	struct sley_request *request = malloc(sizeof(*request));
	bool impatient = pool == scene.pool && one_in(16);
	/* A word, or more than a slot has. */
	size_t nr = one_in(8) ? 1100 + test_random(30000) : 1;
	uint32_t *in = malloc(nr * sizeof(*in)),
		 *got = calloc(nr, sizeof(*got));

	CHECK(request != NULL && in != NULL && got != NULL);
	for (size_t i = 0; i < nr; i++)
		in[i] = number;
	CHECK_EQ(sley_submit(pool, request,
			     SLEY_REQUEST(.query = sley_query_hash(number),
					  .in = in, .in_size = nr * sizeof(*in),
					  .out = got,
					  .out_size = nr * sizeof(*got),
					  .deadline_ns = impatient ? 1 + soon()
								   : 0)),
		 0);
	if (impatient && one_in(2))
		sley_request_cancel(request);
	CHECK_EQ(sley_request_wait(request), 0);
	if (pool == scene.other)
		CHECK_EQ(sley_request_code(request), 0);
	check_end(number, sley_request_code(request), got, nr);
	free(request);
	free(in);
	free(got);
}

static void send_requests(void *arg)
{
	(void)arg;
	/* On a busy machine no request may have been faster than the killer. */
	while (sley_now() < scene.end_ns || !atomic_load(&scene.nr_well)) {
		uint32_t number = atomic_fetch_add(&next_request, 1);

		CHECK_LT(number, NR_REQUESTS);
		send_one(one_in(4) ? scene.other : scene.pool, number);
	}
}

static void *send_on_thread(void *arg)
{
	send_requests(arg);
	return NULL;
}

/* A pid may be gone, but is not taken again so soon. */
static void *kill_containers(void *arg)
{
	(void)arg;
	while (sley_now() < scene.end_ns) {
		uint64_t id = test_random(NR_CONTAINERS);
		int pid = isolated_pid(&scene.pool->container[id]);

		if (pid && kill(pid, SIGKILL) == 0)
			atomic_fetch_add(&scene.nr_killed, 1);
		usleep((useconds_t)test_random(5000));
	}
	return NULL;
}

/* Each loss is told. */
static void count_lines(void *self, const char *line)
{
	(void)self;
	CHECK(strstr(line, "was killed by signal 9 (Killed)") != NULL);
	atomic_fetch_add(&scene.nr_lines, 1);
}

/* ---- the play ------------------------------------------------------------------------ */

static void begin(struct sley *rt)
{
	CHECK_EQ(sley_router_create(rt, &scene.router, NULL), 0);
	CHECK_EQ(sley_router_add(scene.router, &module), 0);
	CHECK_EQ(sley_pool_open(scene.router, &scene.other, "other",
				SLEY_POOL_OPTIONS(.module = "counter")),
		 0);
	CHECK_EQ(sley_pool_open(scene.router, &scene.pool, "isolated",
				SLEY_POOL_OPTIONS(.module = "counter",
						  .containers = NR_CONTAINERS,
						  .isolated = true,
						  .max_restarts = 1000000)),
		 0);
	scene.end_ns = stress_end();
}

static void end(void)
{
	struct sley_router_stats stats = { .size = sizeof(stats) };

	CHECK_EQ(sley_router_get_stats(scene.router, &stats), 0);
	CHECK_EQ(stats.submitted, next_request);
	CHECK_EQ(stats.completed, next_request);
	sley_pool_close(scene.pool);
	sley_pool_close(scene.other);
	CHECK_EQ(sley_router_destroy(scene.router), 0);
	CHECK_EQ(scene.nr_well + scene.nr_lost + scene.nr_given_up,
		 next_request);
	CHECK_LE(scene.nr_lost, scene.nr_killed);
	CHECK_EQ(scene.nr_lines, scene.nr_lost);
	CHECK_GT(scene.nr_well, 0);
	test_count(next_request);
	printf("%u well, %u lost, %u given up, %u killed\n", scene.nr_well,
	       scene.nr_lost, scene.nr_given_up, scene.nr_killed);
}

TEST(rc15_nothing_is_lost_but_what_is_said_when_containers_are_killed)
{
	struct sley_config config = stress_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_TASKS];
	pthread_t threads[NR_THREADS], killer;
	struct sley *rt;

	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
	/* Whatever is left by the server is ours. */
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ran = mmap(NULL, NR_REQUESTS, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(ran != MAP_FAILED);
	CHECK_EQ(sley_subprocesses_init(), 0);
	config.report = count_lines;
	rt = start_with(&config);
	begin(rt);
	killer = test_thread(kill_containers, NULL);
	for (int i = 0; i < NR_THREADS; i++)
		threads[i] = test_thread(send_on_thread, NULL);
	for (int i = 0; i < NR_TASKS; i++)
		sley_spawn(&group, &tasks[i], send_requests, NULL);
	sley_join(&group);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(killer, NULL);
	end();
	stop(rt);
	sley_subprocesses_exit();
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQ(errno, ECHILD);
	CHECK_EQ(mem_allocated(&sley__program_mem), 0);
	munmap(ran, NR_REQUESTS);
}
