/* SPDX-License-Identifier: MIT */
/*
 * scene.c - a small program that uses most of sley, for hostile surroundings.
 *
 *   scene [WORKERS] [OPTION]
 *
 * Creates a runtime; a thousand tasks that wait, over channels and a mutex,
 * with deadlines and timers; a blocking call and a region; destroys it.  Ends
 * with 0 and "works", or with 3 and what sley_strerror() says if there is no
 * runtime to be had.  A hang ends by an alarm, wrong results by an abort.
 *
 * Options are things that cannot be done before a program starts:
 *
 *   leave-maps=N     use up all mappings that the kernel allows but N
 *   use-files        use up all file descriptors
 *   placed           place each worker on a CPU of its own
 *   forbid-late=NR   forbid a system call, but only once the runtime is there
 *   misuse, overflow end in one of the ways that print a last line
 *   threads          print how many workers there were
 *   block=N          let N tasks be blocked at once
 *   overtake=N       let N urgent tasks be blocked at once, by a task that forks
 *   leave-child=N    let N tasks be blocked at once, by a task that then leaves a
 *                    forked child behind
 *   priority=N       of the task that forks
 */
#include "hostile/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NR_TASKS 1000
#define NR_SLEEPERS 100
#define SAYS_WHY 3

#define CHECK(x) ((x) ? (void)0 : failed(#x, __LINE__))

static void failed(const char *text, int line)
{
	fprintf(stderr, "scene.c:%d: wrong: %s\n", line, text);
	abort();
}

static int option(int argc, char **argv, const char *name, int otherwise)
{
	size_t length = strlen(name);

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], name, length))
			continue;
		if (argv[i][length] == '=')
			return atoi(argv[i] + length + 1);
		if (!argv[i][length])
			return 1;
	}
	return otherwise;
}

/* ---- the scene --------------------------------------------------------------- */

struct scene {
	struct sley_chan *chan;
	struct sley_mutex mutex;
	struct sley_event never;
	int sum;          /* under the mutex */
	atomic_int slept; /* sleepers that woke in time */
	atomic_int called;
	bool no_thread; /* there was none for a blocking call */
};

struct item {
	struct sley_task task;
	struct scene *scene;
	int value;
};

static void send_and_add(void *arg)
{
	struct item *item = arg;
	struct scene *s = item->scene;

	sley_yield();
	CHECK(sley_chan_send(s->chan, &item->value) == 0);
	sley_mutex_lock(&s->mutex);
	s->sum += item->value;
	sley_yield();
	sley_mutex_unlock(&s->mutex);
}

static void receive_all(void *arg)
{
	struct item *item = arg;
	int value;

	for (int i = 0; i < NR_TASKS; i++) {
		CHECK(sley_chan_recv(item->scene->chan, &value) == 0);
		item->value += value;
	}
}

static void sleep_a_little(void *arg)
{
	struct item *item = arg;
	struct scene *s = item->scene;
	uint64_t deadline_ns = sley_now() + SLEY_MSEC;

	if (item->value % 2)
		CHECK(sley_sleep_until(deadline_ns) == 0);
	else
		CHECK(sley_event_wait_until(&s->never, deadline_ns) ==
		      -ETIMEDOUT);
	CHECK(sley_now() >= deadline_ns);
	atomic_fetch_add(&s->slept, 1);
}

static void nap(void *arg)
{
	struct item *item = arg;

	usleep(1000);
	atomic_fetch_add(&item->scene->called, 1);
}

static void call(void *arg)
{
	struct item *item = arg;
	int err = sley_blocking_call(nap, item);

	CHECK(err == 0 || err == -EAGAIN);
	item->scene->no_thread = err != 0;
	(void)sley_blocking_begin(); /* without a thread it stays here */
	nap(item);
	sley_blocking_end();
}

static struct item items[NR_TASKS], receiver, sleepers[NR_SLEEPERS], caller;

static void play(void *arg)
{
	struct scene *s = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	const int sum = NR_TASKS * (NR_TASKS - 1) / 2;

	receiver.scene = s;
	sley_spawn(&group, &receiver.task, receive_all, &receiver);
	for (int i = 0; i < NR_TASKS; i++) {
		items[i].scene = s;
		items[i].value = i;
		sley_spawn(&group, &items[i].task, send_and_add, &items[i]);
	}
	for (int i = 0; i < NR_SLEEPERS; i++) {
		sleepers[i].scene = s;
		sleepers[i].value = i;
		sley_spawn(&group, &sleepers[i].task, sleep_a_little,
			   &sleepers[i]);
	}
	caller.scene = s;
	sley_spawn(&group, &caller.task, call, &caller);
	sley_join(&group);
	CHECK(s->sum == sum);
	CHECK(receiver.value == sum);
	CHECK(s->slept == NR_SLEEPERS);
	CHECK(s->called == (s->no_thread ? 1 : 2));
}

/* ---- many at once -------------------------------------------------------------- */

static struct sley_event go = SLEY_EVENT_INIT;
static atomic_int nr_waiting;

static void wait_for_go(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_waiting, 1);
	CHECK(sley_event_wait(&go) == 0);
}

/* As many as there is memory for; the others run when those have ended. */
static void block_many(int nr)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *tasks = calloc((size_t)nr, sizeof(*tasks));
	int before = -1;

	CHECK(tasks);
	for (int i = 0; i < nr; i++)
		sley_spawn(&group, &tasks[i], wait_for_go, NULL);
	while (atomic_load(&nr_waiting) != before) {
		before = atomic_load(&nr_waiting);
		usleep(100000);
	}
	printf("blocked: %d of %d\n", before, nr);
	sley_event_set(&go);
	sley_join(&group);
	CHECK(nr_waiting == nr);
	free(tasks);
}

/* ---- a task that forks, where there is no stack --------------------------------- */

static void do_nothing(void *arg)
{
	(void)arg;
}

static void fork_one(void)
{
	struct sley_forked child;

	sley_fork(&child, do_nothing, NULL);
	sley_fork_join(&child);
}

static uint64_t nr_switches(void)
{
	struct sley_worker_stats stats = SLEY_WORKER_STATS_INIT;

	CHECK(sley_get_worker_stats(sley_current(), 0, &stats) == 0);
	return stats.switches;
}

/*
 * Each fork gives way to an urgent task, which takes a stack and keeps it, until there
 * are no stacks.  From then on a fork leaves the forking task where it is.  The urgent
 * tasks that have the stacks wait for that task.
 */
static void fork_among_urgent(void *arg)
{
	const int nr = *(int *)arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *tasks = calloc((size_t)nr, sizeof(*tasks));
	uint64_t before;

	CHECK(tasks);
	for (int i = 0; i < nr; i++) {
		CHECK(sley_spawn_with(&group, &tasks[i], wait_for_go, NULL,
				      SLEY_OPTIONS(.priority = -1)) == 0);
		fork_one();
	}
	printf("blocked: %d of %d\n", atomic_load(&nr_waiting), nr);
	before = nr_switches();
	for (int i = 0; i < NR_TASKS; i++)
		fork_one();
	CHECK(nr_switches() == before);
	sley_event_set(&go);
	sley_join(&group);
	CHECK(nr_waiting == nr);
	free(tasks);
}

/*
 * The worker runs other tasks while the parent yields, and may start the child, too.  But
 * there is no stack for the child: the tasks that have the stacks wait for the parent.
 */
static void fork_among_blocked(void *arg)
{
	const int nr = *(int *)arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task *tasks = calloc((size_t)nr, sizeof(*tasks));
	struct sley_forked child;
	int before;

	CHECK(tasks);
	for (int i = 0; i < nr; i++)
		sley_spawn(&group, &tasks[i], wait_for_go, NULL);
	do {
		before = atomic_load(&nr_waiting);
		sley_yield();
	} while (atomic_load(&nr_waiting) != before);
	printf("blocked: %d of %d\n", before, nr);
	sley_fork(&child, do_nothing, NULL);
	for (int i = 0; i < 20; i++)
		sley_yield();
	sley_fork_join(&child);
	sley_event_set(&go);
	sley_join(&group);
	CHECK(nr_waiting == nr);
	free(tasks);
}

static void run_forking(sley_fn *fn, int nr, int priority)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK(sley_spawn_with(&group, &task, fn, &nr,
			      SLEY_OPTIONS(.priority = priority)) == 0);
	sley_join(&group);
}

static void fork_without_stacks(int argc, char **argv)
{
	int priority = option(argc, argv, "priority", 0);
	int nr = option(argc, argv, "overtake", 0);

	if (nr)
		run_forking(fork_among_urgent, nr, priority);
	nr = option(argc, argv, "leave-child", 0);
	if (nr)
		run_forking(fork_among_blocked, nr, priority);
}

/* ---- what is done to it ----------------------------------------------------------- */

/* Pages that cannot be merged with their neighbours. */
static void leave_maps(int nr)
{
	long size = sysconf(_SC_PAGESIZE);
	static char *last[4096]; /* stacks may be small */
	int i = 0;

	for (;; i++) {
		int access = i % 2 ? PROT_READ : PROT_NONE;
		char *page = mmap(NULL, (size_t)size, access,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			break;
		last[i % 4096] = page;
	}
	for (int k = 0; k < nr && k < i && k < 4096; k++)
		munmap(last[(i - 1 - k) % 4096], (size_t)size);
}

static void use_files(void)
{
	while (open("/dev/null", O_RDONLY) >= 0)
		;
	CHECK(errno == EMFILE);
}

static volatile int bottom = -1;

static int dig(int depth)
{
	volatile char frame[200];

	if (depth == bottom)
		return 0;
	frame[0] = (char)depth;
	return dig(depth + 1) + frame[0];
}

static void overflow(void *arg)
{
	(void)arg;
	dig(0);
}

static void misuse(void *arg)
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT;

	(void)arg;
	sley_mutex_unlock(&mutex);
}

/* The last act: ends the process in one of two ways, if asked for. */
static void end_badly(int argc, char **argv)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	sley_fn *fn = option(argc, argv, "overflow", 0) ? overflow
		      : option(argc, argv, "misuse", 0) ? misuse
							: NULL;

	if (!fn)
		return;
	CHECK(sley_spawn_with(&group, &task, fn, NULL,
			      SLEY_OPTIONS(.name = "culprit")) == 0);
	sley_join(&group);
}

int main(int argc, char **argv)
{
	struct scene s = { .mutex = SLEY_MUTEX_INIT };
	struct sley_config config = { .size = sizeof(config) };
	int late = option(argc, argv, "forbid-late", 0);
	int nr = option(argc, argv, "block", 0);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task root;
	struct sley *rt;
	int err;

	alarm(60);
	config.workers = argc > 1 ? atoi(argv[1]) : 0;
	if (option(argc, argv, "placed", 0))
		config.placement = SLEY_PLACE_ONE_OF;
	if (option(argc, argv, "leave-maps", 0))
		leave_maps(option(argc, argv, "leave-maps", 0));
	if (option(argc, argv, "use-files", 0))
		use_files();
	err = sley_create(&rt, &config);
	/* Before many stacks take all there is. */
	if (!err)
		err = sley_chan_create(&s.chan, sizeof(int), 16);
	if (err) {
		printf("no runtime: %s\n", sley_strerror(err));
		return SAYS_WHY;
	}
	if (late)
		CHECK(filter_forbid(late, EPERM) == 0);
	CHECK(sley_bind(rt) == 0);
	if (nr)
		block_many(nr);
	fork_without_stacks(argc, argv);
	sley_spawn(&group, &root, play, &s);
	sley_join(&group);
	end_badly(argc, argv);
	if (option(argc, argv, "threads", 0))
		printf("%d workers\n", sley_nr_workers(rt));
	sley_unbind(rt);
	CHECK(sley_destroy(rt) == 0);
	sley_chan_destroy(s.chan);
	printf("works%s\n", s.no_thread ? ", without blocking calls" : "");
	return 0;
}
