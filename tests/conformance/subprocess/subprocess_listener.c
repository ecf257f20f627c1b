/* SPDX-License-Identifier: MIT */
/*
 * subprocess_listener.c - workers that hear the answers of subprocesses themselves:
 * src/subprocess/listener.h.
 */
#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "conformance/subprocess/subprocess.h"

#include "core/sched/worker.h"
#include "subprocess/listener.h"
#include "subprocess/subprocess.h"

#define NO_SPIN .spin_ns = SLEY_SUBPROCESS_NO_SPIN

/* ---- functions of subprocesses ------------------------------------------------------ */

static int order[2]; /* a pipe: a byte lets one call of wait_for_order() end */

static int wait_for_order(struct sley_subprocess_work *work)
{
	char byte;

	(void)work;
	return read(order[0], &byte, 1) == 1 ? 0 : -EIO;
}

static void give_order(void)
{
	CHECK_EQ(write(order[1], "x", 1), 1);
}

/* The eventfd that workers listen to is the last that a subprocess has got. */
static int find_eventfd(void)
{
	char path[64], text[64];
	int last = -1;

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t size;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		size = readlink(path, text, sizeof(text) - 1);
		text[size < 0 ? 0 : size] = '\0';
		if (strstr(text, "eventfd"))
			last = fd;
	}
	return last;
}

static void signal_for_ever(void)
{
	const uint64_t one = 1;
	int fd = find_eventfd();

	for (;;)
		(void)!write(fd, &one, sizeof(one));
}

/* When it is told to. */
static int signal_without_end(struct sley_subprocess_work *work)
{
	if (wait_for_order(work) == 0)
		signal_for_ever();
	return 0;
}

/* The descendant outlives this subprocess; its pid is the result. */
static int leave_a_signaller(struct sley_subprocess_work *work)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)setsid(); /* out of the group that is killed */
		alarm(20);      /* if the test fails */
		signal_for_ever();
	}
	memcpy(work->result, &pid, sizeof(pid));
	work->result_size = sizeof(pid);
	return 0;
}

static void begin(void)
{
	CHECK_EQ(pipe(order), 0);
	CHECK_EQ(sley_subprocess_register("wait_for_order", wait_for_order), 0);
	CHECK_EQ(sley_subprocess_register("signal_without_end",
					  signal_without_end),
		 0);
	CHECK_EQ(sley_subprocess_register("leave_a_signaller",
					  leave_a_signaller),
		 0);
	begin_subprocesses();
}

static void end(void)
{
	sley_subprocesses_exit();
	close(order[0]);
	close(order[1]);
}

/* ---- tasks that call ------------------------------------------------------------------ */

struct caller {
	struct sley_subprocess *subprocess;
	sley_subprocess_fn *fn;
	int code;
	struct sley_subprocess_result result;
};

static void call(void *arg)
{
	struct caller *c = arg;

	c->code =
		sley_subprocess_call(c->subprocess, c->fn, NULL, 0, &c->result);
}

/* By a task of @rt. */
static void call_on(struct sley *rt, struct caller *c)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	CHECK_EQ(sley_spawn_on(rt, &group, &task, call, c, NULL), 0);
	sley_join(&group);
}

/* A call that must work; with it the runtime has a listener. */
static void call_well(struct sley *rt, struct sley_subprocess *subprocess)
{
	struct caller c = { .subprocess = subprocess, .fn = count_calls };

	call_on(rt, &c);
	CHECK_GT(c.code, 0);
}

static struct listener *listener_of(struct sley_subprocess *subprocess,
				    const struct sley *rt)
{
	struct listener *found = NULL;

	spin_lock(&subprocess->lock);
	for (int i = 0; i < LISTENERS_MAX; i++) {
		struct listener *listener = subprocess->listeners[i];

		if (listener && listener->rt == rt)
			found = listener;
	}
	spin_unlock(&subprocess->lock);
	return found;
}

static bool is_deaf(struct sley_subprocess *subprocess)
{
	bool deaf;

	spin_lock(&subprocess->lock);
	deaf = subprocess->deaf;
	spin_unlock(&subprocess->lock);
	return deaf;
}

static uint64_t nr_readable(struct sley *rt)
{
	return load_relaxed(&rt->poller.nr_readable);
}

static uint32_t nr_parked(struct sley *rt)
{
	return idle_parked(idle_counts(&rt->idle));
}

/* How many descriptors are in an epoll. */
static int nr_watched(int epoll)
{
	char line[256];
	FILE *file;
	int nr = 0;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", epoll);
	file = fopen(line, "r");
	CHECK(file != NULL);
	while (fgets(line, sizeof(line), file))
		nr += strncmp(line, "tfd:", 4) == 0;
	fclose(file);
	return nr;
}

/* How often a thread has gone to sleep. */
static long nr_sleeps(const char *thread)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300], line[256];
	struct dirent *entry;
	long nr = -1;

	CHECK(tasks != NULL);
	while ((entry = readdir(tasks)) != NULL) {
		bool found = false;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 entry->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file)) {
			if (strncmp(line, "Name:", 5) == 0)
				found = strstr(line, thread);
			if (found)
				(void)sscanf(line,
					     "voluntary_ctxt_switches: %ld",
					     &nr);
		}
		if (file)
			fclose(file);
	}
	closedir(tasks);
	CHECK_GE(nr, 0);
	return nr;
}

/* ---- answers --------------------------------------------------------------------------- */

#define NR_NAPS 20

static void call_that_naps(void *arg)
{
	const unsigned int ms = 5;

	for (int i = 0; i < NR_NAPS; i++)
		CHECK_EQ(sley_subprocess_call(arg, nap, &ms, sizeof(ms), NULL),
			 0);
}

static void hear_without_the_collector(bool no_io_uring)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_config config = *test_config();
	struct sley_subprocess *subprocess;
	struct sley_task task;
	struct sley *rt;
	long sleeps;

	config.no_io_uring = no_io_uring;
	rt = start_with(&config);
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	call_well(rt, subprocess);
	CHECK(listener_of(subprocess, rt) != NULL);
	sleeps = nr_sleeps("sley-collector");
	sley_spawn(&group, &task, call_that_naps, subprocess);
	sley_join(&group);
	/* The collector may have been on its way to sleep. */
	CHECK_LE(nr_sleeps("sley-collector") - sleeps, NR_NAPS / 4);
	/* A signal that comes while a worker is awake is heard, too. */
	CHECK_GE(nr_readable(rt), NR_NAPS / 4);
	sley_subprocess_destroy(subprocess);
	stop(rt);
}

TEST_WORKERS(s22_a_sleeping_worker_hears_the_answer_itself)
{
	begin();
	hear_without_the_collector(false);
	hear_without_the_collector(true);
	end();
}

static void hold_worker(void *arg)
{
	while (!atomic_load((atomic_bool *)arg))
		sched_yield();
}

TEST(a_plain_thread_is_answered_while_all_workers_are_busy)
{
	struct sley_config config = config_of(1);
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_subprocess *subprocess;
	static atomic_bool over;
	struct sley_task task;
	struct sley *rt;
	long sleeps;

	begin();
	rt = start_with(&config);
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	call_well(rt, subprocess);
	atomic_store(&over, false);
	sley_spawn(&group, &task, hold_worker, &over);
	sleeps = nr_sleeps("sley-collector");
	call_that_naps(subprocess);
	/* The collector has heard all of them. */
	CHECK_GE(nr_sleeps("sley-collector") - sleeps, NR_NAPS / 2);
	atomic_store(&over, true);
	sley_join(&group);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	end();
}

static void yield_until(void *arg)
{
	while (!atomic_load((atomic_bool *)arg))
		sley_yield();
}

static void call_and_say(void *arg)
{
	call_that_naps(((struct caller *)arg)->subprocess);
	atomic_store((atomic_bool *)((struct caller *)arg)->result.data, true);
}

TEST_WORKERS(workers_that_are_never_idle_find_the_answers)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task, busy[64];
	atomic_bool over = false;
	struct caller c = { .result.data = &over };
	struct sley *rt;

	begin();
	rt = start();
	c.subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	for (int i = 0; i < nr_runners(); i++)
		sley_spawn(&group, &busy[i], yield_until, &over);
	sley_spawn(&group, &task, call_and_say, &c);
	sley_join(&group);
	CHECK(listener_of(c.subprocess, rt) != NULL);
	sley_subprocess_destroy(c.subprocess);
	stop(rt);
	end();
}

#define NR_RUNTIMES (LISTENERS_MAX + 1)

TEST(several_runtimes_hear_one_subprocess)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_RUNTIMES];
	struct sley_config config = config_of(1);
	struct sley_subprocess *subprocess;
	struct sley *rt[NR_RUNTIMES];
	int nr = 0;

	begin();
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	for (int i = 0; i < NR_RUNTIMES; i++) {
		CHECK_EQ(sley_create(&rt[i], &config), 0);
		call_well(rt[i], subprocess);
		nr += listener_of(subprocess, rt[i]) != NULL;
	}
	/* The collector hears for the last. */
	CHECK_EQ(nr, LISTENERS_MAX);
	for (int i = 0; i < NR_RUNTIMES; i++)
		CHECK_EQ(sley_spawn_on(rt[i], &group, &tasks[i], call_that_naps,
				       subprocess, NULL),
			 0);
	sley_join(&group);
	/* A runtime that ends makes room for another. */
	CHECK_EQ(sley_destroy(rt[0]), 0);
	call_well(rt[NR_RUNTIMES - 1], subprocess);
	CHECK(listener_of(subprocess, rt[NR_RUNTIMES - 1]) != NULL);
	sley_subprocess_destroy(subprocess);
	for (int i = 1; i < NR_RUNTIMES; i++)
		CHECK_EQ(sley_destroy(rt[i]), 0);
	end();
}

TEST(without_a_descriptor_for_a_listener_the_collector_hears)
{
	struct sley_config config = config_of(1);
	struct sley_subprocess *subprocess;
	struct rlimit limit, low;
	struct sley *rt;
	int next;

	begin();
	rt = start_with(&config);
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	next = dup(0);
	CHECK_GE(next, 0);
	close(next);
	low = limit;
	low.rlim_cur = (rlim_t)next;
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
	call_well(rt, subprocess);
	CHECK(listener_of(subprocess, rt) == NULL);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	call_well(rt, subprocess);
	CHECK(listener_of(subprocess, rt) != NULL);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	end();
}

/* ---- single-threaded mode ---------------------------------------------------------------- */

static struct {
	struct sley *rt;
	struct sley_event go; /* for the thread that leaves */
	int away[2];          /* where it blocks, outside of sley */
	atomic_bool waits, left;
} single;

static void *leave_the_seat(void *arg)
{
	char byte;

	(void)arg;
	CHECK_EQ(sley_bind(single.rt), 0);
	atomic_store(&single.waits, true);
	CHECK_EQ(sley_event_wait(&single.go), 0);
	atomic_store(&single.left, true);
	CHECK_EQ(read(single.away[0], &byte, 1), 1);
	sley_unbind(single.rt);
	return NULL;
}

/* Both bound threads sleep: lets the first leave, then the subprocess answer. */
static void *direct(void *arg)
{
	(void)arg;
	CHECK_EVENTUALLY(nr_parked(single.rt) == 2);
	sley_event_set(&single.go);
	CHECK_EVENTUALLY(atomic_load(&single.left));
	give_order();
	return NULL;
}

TEST(a_bound_thread_hears_when_the_listener_before_it_is_away)
{
	struct caller c = { .fn = wait_for_order };
	pthread_t leaver, director;

	begin();
	single.rt = start_single();
	CHECK_EQ(pipe(single.away), 0);
	c.subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	call_well(single.rt, c.subprocess);
	leaver = test_thread(leave_the_seat, NULL);
	/* The other thread sleeps in the poller. */
	CHECK_EVENTUALLY(atomic_load(&single.waits) &&
			 nr_parked(single.rt) == 1 &&
			 load_relaxed(&single.rt->poller.taken));
	director = test_thread(direct, NULL);
	call(&c);
	CHECK_EQ(c.code, 0);
	CHECK(listener_of(c.subprocess, single.rt) != NULL);
	CHECK_EQ(write(single.away[1], "x", 1), 1);
	pthread_join(leaver, NULL);
	pthread_join(director, NULL);
	close(single.away[0]);
	close(single.away[1]);
	sley_subprocess_destroy(c.subprocess);
	stop(single.rt);
	end();
}

/* ---- ends ---------------------------------------------------------------------------------- */

TEST_WORKERS(a_worker_that_listens_hears_of_the_next_life)
{
	struct caller c = { .fn = crash };
	struct listener *listener;
	struct sley *rt;

	begin();
	rt = start();
	c.subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	call_well(rt, c.subprocess);
	listener = listener_of(c.subprocess, rt);
	for (uint64_t i = 1; i <= 3; i++) {
		call_on(rt, &c);
		CHECK_EQ(c.code, SLEY_ECHILD);
		call_well(rt, c.subprocess);
		CHECK_EQ(sley_subprocess_restarts(c.subprocess), i);
	}
	CHECK(listener_of(c.subprocess, rt) == listener);
	CHECK_EQ(nr_watched(listener->epoll), 1);
	sley_subprocess_destroy(c.subprocess);
	stop(rt);
	end();
}

/* @down: the subprocess has died before, and is not started again. */
static void destroy_and_create(struct sley *rt, bool down)
{
	struct caller c = { .fn = crash };
	struct listener *listener;
	int copy;

	c.subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(
		NO_SPIN, .max_restarts = SLEY_SUBPROCESS_NEVER));
	call_well(rt, c.subprocess);
	listener = listener_of(c.subprocess, rt);
	CHECK_EQ(nr_watched(listener->epoll), 1);
	/* As a descendant may have: then close() does not end the watch. */
	copy = dup(c.subprocess->answers);
	CHECK_GE(copy, 0);
	if (down) {
		call_on(rt, &c);
		CHECK_EQ(c.code, SLEY_ECHILD);
		call_on(rt, &c);
		CHECK_EQ(c.code, SLEY_ECHILD);
		CHECK_EQ(nr_watched(listener->epoll), 1);
	}
	sley_subprocess_destroy(c.subprocess);
	CHECK_EQ(nr_watched(listener->epoll), 0);
	close(copy);
}

TEST_WORKERS(no_worker_listens_to_a_subprocess_that_was_destroyed)
{
	struct sley *rt;

	begin();
	rt = start();
	destroy_and_create(rt, false);
	destroy_and_create(rt, true);
	destroy_and_create(rt, false);
	stop(rt);
	end();
}

static atomic_int noise_fd; /* 0: none yet; -1: over */

static void *make_noise(void *arg)
{
	const uint64_t one = 1;
	int last = -1, nr = 0, fd;

	(void)arg;
	while ((fd = atomic_load(&noise_fd)) >= 0) {
		nr = fd == last ? nr + 1 : 0;
		last = fd;
		/* Less than a noisy subprocess makes. */
		if (fd && nr < NOISES_MAX / 2)
			CHECK_EQ(write(fd, &one, sizeof(one)), sizeof(one));
		else
			test_nap_ms(1);
	}
	return NULL;
}

TEST_WORKERS(a_subprocess_is_destroyed_while_workers_hear_signals)
{
	struct sley_subprocess *subprocess;
	int copies[20];
	pthread_t thread;
	struct sley *rt;

	begin();
	rt = start();
	atomic_store(&noise_fd, 0);
	thread = test_thread(make_noise, NULL);
	for (int i = 0; i < 20; i++) {
		subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
		copies[i] = dup(subprocess->answers);
		atomic_store(&noise_fd, copies[i]);
		call_well(rt, subprocess);
		CHECK_EQ(sley_subprocess_restarts(subprocess), 0);
		CHECK(!is_deaf(subprocess));
		sley_subprocess_destroy(subprocess);
	}
	atomic_store(&noise_fd, -1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 20; i++)
		close(copies[i]);
	stop(rt);
	end();
}

TEST(a_runtime_ends_when_its_calls_have_been_answered)
{
	struct caller c = { .fn = wait_for_order };
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_config config = config_of(1);
	struct sley_task task;
	struct sley *rt;

	begin();
	CHECK_EQ(sley_create(&rt, &config), 0);
	c.subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	CHECK_EQ(sley_spawn_on(rt, &group, &task, call, &c, NULL), 0);
	CHECK_EVENTUALLY(listener_of(c.subprocess, rt) && nr_parked(rt) == 1);
	CHECK_EQ(sley_destroy_until(rt, sley_now() + 20 * SLEY_MSEC),
		 -ETIMEDOUT);
	give_order();
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK_EQ(c.code, 0);
	CHECK(listener_of(c.subprocess, rt) == NULL);
	/* The subprocess serves others. */
	CHECK_EQ(sley_subprocess_call(c.subprocess, count_calls, NULL, 0, NULL),
		 1);
	sley_subprocess_destroy(c.subprocess);
	end();
}

/* ---- hostile subprocesses ------------------------------------------------------------------ */

static uint32_t nr_heard(struct sley_subprocess *subprocess)
{
	uint32_t nr;

	spin_lock(&subprocess->lock);
	nr = subprocess->nr_heard;
	spin_unlock(&subprocess->lock);
	return nr;
}

TEST_WORKERS(s23_a_subprocess_that_signals_without_end_is_killed)
{
	struct caller c = { .fn = signal_without_end }, next;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[2];
	struct sley *rt;

	begin();
	rt = start();
	c.subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	next = (struct caller){ .subprocess = c.subprocess, .fn = count_calls };
	sley_spawn(&group, &tasks[0], call, &c);
	CHECK_SOON(nr_heard(c.subprocess) == 1);
	/* This call waits in the ring, and is made again in the next life. */
	sley_spawn(&group, &tasks[1], call, &next);
	CHECK_SOON(nr_heard(c.subprocess) == 2);
	give_order();
	sley_join(&group);
	CHECK_EQ(next.code, 1);
	CHECK_EQ(c.code, SLEY_ECHILD);
	CHECK_STR(c.result.text,
		  "signal_without_end: subprocess was killed: it signals "
		  "answers and has none");
	CHECK_EQ(sley_subprocess_restarts(c.subprocess), 1);
	CHECK(is_deaf(c.subprocess));
	/* The collector hears of its next life. */
	call_well(rt, c.subprocess);
	sley_subprocess_destroy(c.subprocess);
	stop(rt);
	end();
}

TEST_WORKERS(a_descendant_that_signals_without_end_does_not_hold_a_worker)
{
	pid_t pid = 0;
	struct caller c = { .fn = leave_a_signaller,
			    .result = { .data = &pid, .size = sizeof(pid) } };
	struct sley *rt;
	uint64_t nr;

	begin();
	rt = start();
	c.subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	call_on(rt, &c);
	CHECK_SOON(is_deaf(c.subprocess));
	CHECK_SOON(sley_subprocess_restarts(c.subprocess) == 1);
	nr = nr_readable(rt);
	for (int i = 0; i < 50; i++)
		call_well(rt, c.subprocess);
	/* The last signals may have been under way. */
	CHECK_LE(nr_readable(rt) - nr, 5);
	CHECK_EQ(sley_subprocess_restarts(c.subprocess), 1);
	CHECK_GT(pid, 0);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	sley_subprocess_destroy(c.subprocess);
	stop(rt);
	end();
}

/* ---- fork() -------------------------------------------------------------------------------- */

/* In a child of fork(): everything of its own. */
static void live_on(void)
{
	struct sley_config config = { .size = sizeof(config),
				      .workers = SLEY_SINGLE };
	struct sley_subprocess *own;
	struct sley *rt;

	alarm(20);
	CHECK_EQ(sley_subprocesses_init(), 0);
	rt = start_with(&config);
	own = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	call_well(rt, own);
	CHECK(listener_of(own, rt) != NULL);
	sley_subprocess_destroy(own);
	stop(rt);
	end();
	_exit(0);
}

static void check_child(pid_t pid)
{
	int status;

	CHECK_GT(pid, 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

TEST(a_process_that_was_forked_listens_to_its_own_subprocesses)
{
	struct sley_config config = config_of(2);
	struct sley_subprocess *subprocess;
	struct listener *listener;
	struct sley *rt;
	pid_t pid;

	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	begin();
	rt = start_with(&config);
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	call_well(rt, subprocess);
	listener = listener_of(subprocess, rt);
	pid = fork();
	if (pid == 0)
		live_on();
	check_child(pid);
	/* The child has not touched the epoll, which it shares. */
	CHECK_EQ(nr_watched(listener->epoll), 1);
	call_well(rt, subprocess);
	CHECK(listener_of(subprocess, rt) == listener);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	end();
}

/* The memory of a listener is allocated while the mutex of all listeners is held. */
static void *fork_and_alloc(void *self, size_t size, size_t align)
{
	pid_t *pid = self;

	if (size == sizeof(struct listener) && !*pid) {
		*pid = fork();
		if (*pid == 0)
			live_on();
	}
	return aligned_alloc(align, (size + align - 1) / align * align);
}

static void free_memory(void *self, void *memory, size_t size)
{
	(void)self;
	(void)size;
	free(memory);
}

TEST(a_process_that_was_forked_while_a_listener_began_has_its_own)
{
	pid_t pid = 0;
	struct sley_config config = { .size = sizeof(config),
				      .workers = SLEY_SINGLE,
				      .allocator = { fork_and_alloc,
						     free_memory, &pid } };
	struct sley_subprocess *subprocess;
	struct sley *rt;

	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	begin();
	rt = start_with(&config);
	subprocess = subprocess_new(SLEY_SUBPROCESS_OPTIONS(NO_SPIN));
	CHECK_EQ(sley_subprocess_call(subprocess, count_calls, NULL, 0, NULL),
		 1);
	CHECK(listener_of(subprocess, rt) != NULL);
	check_child(pid);
	sley_subprocess_destroy(subprocess);
	stop(rt);
	end();
}
