/* SPDX-License-Identifier: MIT */
/*
 * fork_process.c - a process with a runtime that calls fork(2): what the child
 * is told, what it may do, and that the parent notices nothing.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "conformance/bound.h"

/* What a child said on stderr. */
static char words[4096];

static void skip_sanitizers(void)
{
	if (test_sanitizer())
		test_skip("sanitizers do not survive fork() with threads");
	if (test_emulated())
		test_skip("qemu-user dies of threads in the forked child of a "
			  "process with threads");
}

static void read_words(int fd)
{
	size_t size = 0;
	ssize_t nr;

	while (size < sizeof(words) - 1 &&
	       (nr = read(fd, words + size, sizeof(words) - 1 - size)) > 0)
		size += (size_t)nr;
	words[size] = '\0';
}

/* Fork here; the child calls @fn(@arg) and exits with 0 if that returns. */
static int status_of_child(sley_fn *fn, void *arg)
{
	struct rlimit no_core = { 0, 0 };
	int out[2], status;
	pid_t pid;

	CHECK_EQ(pipe(out), 0);
	pid = fork();
	CHECK_GE(pid, 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(out[1], STDERR_FILENO);
		close(out[0]);
		close(out[1]);
		fn(arg);
		_exit(0);
	}
	close(out[1]);
	read_words(out[0]);
	close(out[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void child_succeeds(sley_fn *fn, void *arg)
{
	int status = status_of_child(fn, arg);

	if (status)
		CHECK_STR(words, "nothing");
}

static void child_aborts(sley_fn *fn, void *arg, const char *text)
{
	int status = status_of_child(fn, arg);

	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
	if (!strstr(words, text))
		CHECK_STR(words, text);
}

/* ---- from where ------------------------------------------------------------------- */

struct place {
	sley_fn *fn;
	struct sley *rt;
};

static void *call_on_thread(void *arg)
{
	struct place *place = arg;

	place->fn(place->rt);
	return NULL;
}

static void call_in_task(void *arg)
{
	(void)call_on_thread(arg);
}

/* @fn(runtime) on a plain thread, a bound thread or in a task. */
static void from_plain_thread(sley_fn *fn)
{
	struct place place = { .fn = fn };

	CHECK_EQ(sley_create(&place.rt, test_config()), 0);
	pthread_join(test_thread(call_on_thread, &place), NULL);
	CHECK_EQ(sley_destroy(place.rt), 0);
}

static void from_bound_thread(sley_fn *fn)
{
	struct sley *rt = start();

	fn(rt);
	CHECK(sley_current() == rt);
	stop(rt);
}

static void from_task(sley_fn *fn)
{
	struct place place = { .fn = fn, .rt = start() };

	run_task(call_in_task, &place);
	stop(place.rt);
}

/* ---- what returns errors -------------------------------------------------------------- */

static void use_old_runtime(void *arg)
{
	struct sley_config config = { .size = sizeof(config) };
	struct sley_worker_stats stats = SLEY_WORKER_STATS_INIT;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt = arg;
	atomic_int ran = 0;

	CHECK(sley_current() == NULL);
	CHECK_EQ(sley_worker(), -1);
	CHECK_EQ(sley_spawn_on(rt, &group, &task, count_task, &ran, NULL),
		 SLEY_EFORKED);
	CHECK_EQ(sley_schedule_on(rt, count_task, &ran, NULL), SLEY_EFORKED);
	CHECK_EQ(sley_schedule_on(rt, count_task, &ran,
				  SLEY_OPTIONS(.priority = 99)),
		 SLEY_EFORKED);
	CHECK_EQ(sley_bind(rt), SLEY_EFORKED);
	CHECK_EQ(sley_destroy(rt), SLEY_EFORKED);
	CHECK_EQ(sley_destroy_until(rt, 0), SLEY_EFORKED);
	CHECK_EQ(sley_nr_workers(rt), SLEY_EFORKED);
	CHECK_EQ(sley_get_config(rt, &config), SLEY_EFORKED);
	CHECK_EQ(sley_get_worker_stats(rt, 0, &stats), SLEY_EFORKED);
	CHECK(strstr(sley_strerror(SLEY_EFORKED), "fork()"));
	sley_join(&group); /* nothing is in it */
}

static void use_no_runtime(int expected)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	atomic_int ran = 0;

	CHECK_EQ(sley_schedule(count_task, &ran), expected);
	CHECK_EQ(sley_spawn_with(&group, &task, count_task, &ran, NULL),
		 expected);
}

static void as_one_of_it(void *arg)
{
	use_old_runtime(arg);
	use_no_runtime(SLEY_EFORKED);
}

static void as_stranger(void *arg)
{
	use_old_runtime(arg);
	use_no_runtime(SLEY_ENORUNTIME);
}

static void fork_as_one_of_it(void *rt)
{
	child_succeeds(as_one_of_it, rt);
	child_succeeds(as_one_of_it, rt);
}

static void fork_as_stranger(void *rt)
{
	child_succeeds(as_stranger, rt);
}

TEST_WORKERS(a_child_of_a_plain_thread_gets_errors)
{
	skip_sanitizers();
	from_plain_thread(fork_as_stranger);
}

TEST_WORKERS(a_child_of_a_bound_thread_gets_errors)
{
	skip_sanitizers();
	from_bound_thread(fork_as_one_of_it);
}

TEST_WORKERS(a_child_of_a_task_gets_errors)
{
	skip_sanitizers();
	from_task(fork_as_one_of_it);
}

static void fork_again(void *rt)
{
	child_succeeds(as_one_of_it, rt);
	as_one_of_it(rt);
}

static void fork_grandchild(void *rt)
{
	child_succeeds(fork_again, rt);
}

TEST_WORKERS(a_child_of_a_child_gets_errors)
{
	skip_sanitizers();
	from_task(fork_grandchild);
}

/* ---- what cannot return an error aborts -------------------------------------------------- */

static void spawn_in_child(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, count_task, arg);
}

static void cancel_in_child(void *rt)
{
	sley_cancel_all(rt);
}

static void unbind_in_child(void *rt)
{
	sley_unbind(rt);
}

static void step_in_child(void *rt)
{
	(void)sley_run_one(rt);
}

static void stats_in_child(void *rt)
{
	struct sley_stats stats;

	sley_get_stats(rt, &stats);
}

static void fork_aborting(void *rt)
{
	static const char text[] = "a runtime does not survive fork()";

	child_aborts(spawn_in_child, rt, text);
	child_aborts(cancel_in_child, rt, text);
	child_aborts(unbind_in_child, rt, text);
	child_aborts(step_in_child, rt, text);
	child_aborts(stats_in_child, rt, text);
}

TEST_WORKERS(a_child_of_a_bound_thread_aborts_with_the_rule)
{
	skip_sanitizers();
	from_bound_thread(fork_aborting);
}

TEST_WORKERS(a_child_of_a_task_aborts_with_the_rule)
{
	skip_sanitizers();
	from_task(fork_aborting);
}

static void fork_and_come_back(void *arg)
{
	pid_t pid = fork();
	int status;

	CHECK_GE(pid, 0);
	if (pid == 0) {
		struct rlimit no_core = { 0, 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		dup2(*(int *)arg, STDERR_FILENO);
		return; /* to a worker that is not there */
	}
	close(*(int *)arg);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGABRT);
}

TEST_WORKERS(a_child_that_returns_from_its_task_aborts_with_a_sentence)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;
	struct sley *rt;
	int out[2];

	skip_sanitizers();
	CHECK_EQ(pipe(out), 0);
	rt = start();
	sley_spawn(&group, &task, fork_and_come_back, &out[1]);
	sley_join(&group);
	read_words(out[0]);
	close(out[0]);
	CHECK(strstr(words, "returned from the task that forked it"));
	stop(rt);
}

/* ---- what works ------------------------------------------------------------------------------ */

static void *set_later(void *arg)
{
	test_nap_ms(5);
	sley_event_set(arg);
	return NULL;
}

static void block_as_plain_thread(void *arg)
{
	struct sley_mutex mutex = SLEY_MUTEX_INIT, taken = SLEY_MUTEX_INIT;
	struct sley_event event = SLEY_EVENT_INIT;
	struct sley_chan *chan = NULL;
	uint64_t start_ns = sley_now();
	pthread_t thread;
	int value = 7;

	(void)arg;
	CHECK_EQ(sley_sleep(2 * SLEY_MSEC), 0);
	CHECK_GE(sley_now() - start_ns, 2 * SLEY_MSEC);
	sley_yield();
	CHECK(!sley_cancelled());
	lock_for_ever(&taken);
	CHECK_EQ(sley_mutex_lock_until(&taken, in_ms(2)), -ETIMEDOUT);
	sley_mutex_lock(&mutex);
	sley_mutex_unlock(&mutex);
	CHECK_EQ(sley_event_wait_until(&event, in_ms(2)), -ETIMEDOUT);
	thread = test_thread(set_later, &event);
	CHECK_EQ(sley_event_wait(&event), 0);
	pthread_join(thread, NULL);
	CHECK_EQ(sley_chan_create(&chan, sizeof(int), 1), 0);
	CHECK_EQ(sley_chan_send(chan, &value), 0);
	CHECK_EQ(sley_chan_recv(chan, &value), 0);
	CHECK_EQ(sley_chan_recv_until(chan, &value, in_ms(2)), -ETIMEDOUT);
	sley_chan_destroy(chan);
}

static void fork_blocking(void *arg)
{
	child_succeeds(block_as_plain_thread, arg);
}

TEST_WORKERS(a_child_of_a_task_blocks_as_a_plain_thread)
{
	skip_sanitizers();
	from_task(fork_blocking);
}

TEST_WORKERS(a_child_of_a_bound_thread_blocks_as_a_plain_thread)
{
	skip_sanitizers();
	from_bound_thread(fork_blocking);
}

static void run_own(int workers)
{
	struct sley_config config = { .size = sizeof(config),
				      .workers = workers };
	atomic_int ran = 0;
	struct sley *own = start_with(&config);

	run_tasks(50, count_task, &ran);
	CHECK_EQ(ran, 50);
	CHECK_EQ(sley_schedule(count_task, &ran), 0);
	stop(own);
	CHECK_EQ(ran, 51);
	/* It has been told, and has had one of its own. */
	use_no_runtime(SLEY_ENORUNTIME);
}

static void run_own_runtimes(void *old)
{
	run_own(2);
	run_own(SLEY_SINGLE);
	run_own(1);
	use_old_runtime(old);
}

static void fork_own_runtimes(void *rt)
{
	child_succeeds(run_own_runtimes, rt);
}

TEST_WORKERS(a_child_of_a_plain_thread_runs_its_own_runtimes)
{
	skip_sanitizers();
	from_plain_thread(fork_own_runtimes);
}

TEST_WORKERS(a_child_of_a_bound_thread_runs_its_own_runtimes)
{
	skip_sanitizers();
	from_bound_thread(fork_own_runtimes);
}

TEST_WORKERS(a_child_of_a_task_runs_its_own_runtimes)
{
	skip_sanitizers();
	from_task(fork_own_runtimes);
}

static void execute(void *arg)
{
	(void)arg;
	execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
	_exit(1);
}

static void fork_exec(void *arg)
{
	child_succeeds(execute, arg);
}

TEST_WORKERS(a_child_of_a_task_may_execute_a_program)
{
	skip_sanitizers();
	from_task(fork_exec);
}

/* Workers block all signals; a child that did could not be asked to end. */
static void raise_term(void *arg)
{
	(void)arg;
	raise(SIGTERM);
}

static void fork_and_be_killed(void *arg)
{
	int status = status_of_child(raise_term, arg);

	CHECK(WIFSIGNALED(status));
	CHECK_EQ(WTERMSIG(status), SIGTERM);
}

TEST_WORKERS(a_child_of_a_task_takes_signals)
{
	skip_sanitizers();
	from_task(fork_and_be_killed);
}

/* ---- tasks of the parent, seen from the child ---------------------------------------------------- */

static struct sley_event waited_for = SLEY_EVENT_INIT;
static struct sley_task waiting[8];
static atomic_int nr_begun;

static void wait_for_event(void *arg)
{
	(void)arg;
	atomic_fetch_add(&nr_begun, 1);
	(void)!sley_event_wait(&waited_for);
}

/* What the kernel says that a thread of ours does. */
static bool reads(const char *thread, const char *file, const char *word)
{
	char path[300], text[100] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", thread, file);
	f = fopen(path, "r");
	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	return strstr(text, word);
}

/*
 * All tasks wait, and no worker is about to: one that is has the lock of the event,
 * and the child would find it locked for ever.
 */
static bool all_wait(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	bool asleep = dir && atomic_load(&nr_begun) == 8;

	while (asleep && (entry = readdir(dir))) {
		if (reads(entry->d_name, "comm", "sley-"))
			asleep = reads(entry->d_name, "wchan", "futex");
	}
	if (dir)
		closedir(dir);
	return asleep;
}

static void disturb_old_tasks(void *arg)
{
	(void)arg;
	for (int i = 0; i < 4; i++) {
		CHECK_EQ(sley_set_priority(&waiting[i], 5), 0);
		sley_cancel(&waiting[i]);
	}
	CHECK_EQ(sley_task_status(&waiting[7]), -EINPROGRESS);
	sley_event_set(&waited_for); /* they will never run here */
	CHECK_EQ(sley_task_status(&waiting[7]), -EINPROGRESS);
	run_own(2);
}

static void wake_the_dead(bool migratable)
{
	struct sley_config config = *test_config();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt;
	int i;

	config.migratable = migratable;
	atomic_store(&nr_begun, 0);
	rt = start_with(&config);
	for (i = 0; i < 8; i++)
		sley_spawn(&group, &waiting[i], wait_for_event, NULL);
	if (is_single())
		(void)!sley_sleep(2 * SLEY_MSEC);
	else
		CHECK_EVENTUALLY(all_wait());
	child_succeeds(disturb_old_tasks, NULL);
	sley_event_set(&waited_for);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(a_child_that_wakes_tasks_of_its_parent_does_no_harm)
{
	skip_sanitizers();
	wake_the_dead(false);
}

TEST_WORKERS(nor_if_they_are_migratable)
{
	skip_sanitizers();
	wake_the_dead(true);
}

/* ---- locks held by others while the process forks --------------------------------------------------- */

static atomic_bool enough;

static void *create_and_destroy(void *arg)
{
	struct sley_config config = config_of(SLEY_SINGLE);

	(void)arg;
	while (!atomic_load(&enough)) {
		struct sley *rt = NULL;

		CHECK_EQ(sley_create(&rt, &config), 0);
		CHECK_EQ(sley_destroy(rt), 0);
	}
	return NULL;
}

static void run_own_small(void *arg)
{
	(void)arg;
	run_own(1);
}

TEST(no_lock_of_another_thread_keeps_a_child_from_its_own_runtime)
{
	pthread_t thread[3];
	int i;

	skip_sanitizers();
	for (i = 0; i < 3; i++)
		thread[i] = test_thread(create_and_destroy, NULL);
	for (i = 0; i < 60; i++)
		child_succeeds(run_own_small, NULL);
	atomic_store(&enough, true);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

/* Keeps the lock of the shared queue busy. */
static void *move_about(void *arg)
{
	CHECK_EQ(sley_bind(arg), 0);
	for (int i = 0; !atomic_load(&enough); i++)
		CHECK_EQ(sley_set_priority(&waiting[i % 8], i % 5), 0);
	sley_unbind(arg);
	return NULL;
}

static void wake_old_tasks(void *arg)
{
	(void)arg;
	sley_event_set(&waited_for);
}

TEST(no_lock_of_a_lost_runtime_holds_who_wakes_its_tasks)
{
	struct sley_config config = config_of(2);
	struct sley_group group = SLEY_GROUP_INIT;
	pthread_t thread[2];
	struct sley *rt;
	int i;

	skip_sanitizers();
	config.migratable = true;
	rt = start_with(&config);
	for (i = 0; i < 8; i++)
		sley_spawn(&group, &waiting[i], wait_for_event, NULL);
	test_nap_ms(20);
	for (i = 0; i < 2; i++)
		thread[i] = test_thread(move_about, rt);
	for (i = 0; i < 100; i++)
		child_succeeds(wake_old_tasks, NULL);
	atomic_store(&enough, true);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	sley_event_set(&waited_for);
	sley_join(&group);
	stop(rt);
}

/* ---- the parent ---------------------------------------------------------------------------------------- */

static void nothing(void *arg)
{
	(void)arg;
}

static void fork_and_go_on(void *arg)
{
	child_succeeds(nothing, NULL);
	count_task(arg);
}

TEST_WORKERS(the_parent_notices_nothing)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[20];
	atomic_int ran = 0;
	struct sley *rt;
	int i;

	skip_sanitizers();
	rt = start();
	for (i = 0; i < 20; i++)
		sley_spawn(&group, &tasks[i],
			   i % 5 == 0 ? fork_and_go_on : count_task, &ran);
	sley_join(&group);
	CHECK_EQ(ran, 20);
	stop(rt);
}

/* ---- keys, which belong to the process --------------------------------------- */

static atomic_bool keys_over;

static void *wait_at_key(void *key)
{
	CHECK_EQ(sley_key_wait(*(uint64_t *)key), 0);
	return NULL;
}

static void *use_key(void *key)
{
	while (!atomic_load(&keys_over))
		CHECK_EQ(sley_key_wake(*(uint64_t *)key), 0);
	return NULL;
}

static void use_key_in_child(void *key)
{
	uint64_t id = *(uint64_t *)key;

	alarm(20); /* a lock that is taken for ever */
	CHECK_EQ(sley_key_wake(id), 0);
	CHECK_EQ(sley_key_wait(id), 0);
	CHECK_EQ(sley_key_wait_until(id, 0), -ETIMEDOUT);
	CHECK_EQ(sley_key_destroy(id), 0);
}

TEST(who_waits_at_a_key_is_not_there_in_a_child)
{
	pthread_t thread;
	uint64_t key;

	skip_sanitizers();
	CHECK_EQ(sley_key_create(&key), 0);
	thread = test_thread(wait_at_key, &key);
	test_nap_ms(20);
	child_succeeds(use_key_in_child, &key);
	(void)sley_key_wake(key);
	pthread_join(thread, NULL);
	CHECK_EQ(sley_key_destroy(key), 0);
}

TEST(a_key_that_is_in_use_is_free_in_a_child)
{
	pthread_t thread;
	uint64_t key;

	skip_sanitizers();
	CHECK_EQ(sley_key_create(&key), 0);
	thread = test_thread(use_key, &key);
	for (int i = 0; i < 50; i++)
		child_succeeds(use_key_in_child, &key);
	atomic_store(&keys_over, true);
	pthread_join(thread, NULL);
	CHECK_EQ(sley_key_destroy(key), 0);
}
