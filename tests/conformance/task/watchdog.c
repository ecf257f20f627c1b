/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - .watchdog_ms: a long task that holds up fibers of its worker is
 * reported.
 */
#include "conformance/bound.h"
#include "hostile/filter.h"

#include <stdio.h>
#include <sys/syscall.h>

#define FIBERS 5

struct lines {
	atomic_int of_all;
	atomic_int nr; /* about the long task */
	const char *about;
	char last[512];
};

static void take_line(void *self, const char *line)
{
	struct lines *lines = self;

	atomic_fetch_add(&lines->of_all, 1);
	/* Where CPUs are short a worker may be held between two instructions. */
	if (!strstr(line, lines->about))
		return;
	(void)snprintf(lines->last, sizeof(lines->last), "%s", line);
	atomic_fetch_add(&lines->nr, 1);
}

static struct sley *start_watched(uint64_t ms, struct lines *lines)
{
	struct sley_config config = *test_config();

	if (test_emulated())
		test_skip("qemu-user does not read memory as a debugger does");
	if (!lines->about)
		lines->about = "\"long call\"";
	config.watchdog_ms = ms;
	config.report = take_line;
	config.report_self = lines;
	return start_with(&config);
}

/* ---- a long task, and fibers behind it --------------------------------------- */

struct scene {
	struct sley *rt;
	struct lines lines;
	struct sley_event event;
	struct gate gate;
	sley_fn *long_fn;
	/* The long tasks: one that follows at the same address is not told apart. */
	struct sley_task task[7];
	int nr_tasks;
	int worker;
	atomic_int waiting, resumed;
};

static void wait_for_event(void *arg)
{
	struct scene *s = arg;

	atomic_fetch_add(&s->waiting, 1);
	CHECK_EQ(sley_event_wait(&s->event), 0);
	atomic_fetch_add(&s->resumed, 1);
}

/* Holds the worker until the task was counted. */
static void hold_until_counted(const struct scene *s)
{
	uint64_t before = stats_of(s->rt).long_tasks, end_ns = in_ms(10000);

	while (stats_of(s->rt).long_tasks == before && sley_now() < end_ns)
		test_nap_ms(1);
}

/* And then for some time more. */
static void wake_and_hold(void *arg)
{
	struct scene *s = arg;

	sley_event_set(&s->event);
	hold_until_counted(s);
	test_nap_ms(200);
	CHECK_EQ(s->resumed, 0);
}

static void hold_briefly(void *arg)
{
	struct scene *s = arg;

	sley_event_set(&s->event);
	hold_until_counted(s);
}

static void hold_for_a_while(void *arg)
{
	struct scene *s = arg;

	sley_event_set(&s->event);
	test_nap_ms(300);
}

static void hold_while_none_wait(void *arg)
{
	struct scene *s = arg;

	test_nap_ms(300);
	sley_event_set(&s->event);
}

/* The fibers and the long task are all of the caller's worker. */
static void play(void *arg)
{
	struct scene *s = arg;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task fiber[FIBERS];
	struct sley_task *task = &s->task[s->nr_tasks++];

	s->worker = sley_worker();
	for (int i = 0; i < FIBERS; i++)
		CHECK_EQ(sley_spawn_with(&group, &fiber[i], wait_for_event, s,
					 SLEY_OPTIONS(.pinned = true)),
			 0);
	while (atomic_load(&s->waiting) % FIBERS || !atomic_load(&s->waiting))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(sley_spawn_with(&group, task, s->long_fn, s,
				 SLEY_OPTIONS(.pinned = true,
					      .name = "long call")),
		 0);
	sley_join(&group);
	CHECK_EQ(s->resumed, FIBERS);
}

static void run_scene(struct scene *s, sley_fn *long_fn)
{
	s->long_fn = long_fn;
	s->event = (struct sley_event)SLEY_EVENT_INIT;
	atomic_store(&s->waiting, 0);
	atomic_store(&s->resumed, 0);
	run_task(play, s);
}

static void check_line(const struct scene *s)
{
	const char *line = s->lines.last;
	char text[64];
	const char *held;
	int ms;

	CHECK(strstr(line, "task \"long call\" (function"));
	(void)snprintf(text, sizeof(text), "has held worker %d for ",
		       s->worker);
	held = strstr(line, text);
	CHECK(held != NULL);
	ms = atoi(held + strlen(text));
	CHECK_GE(ms, 100);
	CHECK_LE(ms, 10000);
	CHECK(strstr(line, " 5 task(s) that only this worker may run"));
	CHECK(strstr(line, "sley_blocking_call()"));
	CHECK(strstr(line, "sley_yield()"));
	CHECK_EQ(strstr(line, ".migratable") != NULL, nr_runners() > 1);
}

/* By default. */
TEST_WORKERS(a_long_task_with_fibers_behind_it_is_reported_once)
{
	struct scene s = { 0 };

	need_workers(1);
	s.rt = start_watched(0, &s.lines);
	run_scene(&s, wake_and_hold);
	CHECK_EQ(s.lines.nr, 1);
	check_line(&s);
	CHECK_GE(stats_of(s.rt).long_tasks, 1);
	stop(s.rt);
}

static void hold_gate(void *arg)
{
	struct scene *s = arg;

	gate_hold(&s->gate);
}

static void *set_event_when_held(void *arg)
{
	struct scene *s = arg;

	CHECK_EVENTUALLY(atomic_load(&s->gate.held) == 1);
	sley_event_set(&s->event);
	CHECK_EVENTUALLY(atomic_load(&s->lines.nr) == 1);
	gate_open(&s->gate);
	return NULL;
}

TEST_WORKERS(fibers_that_another_thread_has_woken_count_as_well)
{
	struct scene s = { 0 };
	pthread_t thread;

	need_workers(1);
	s.rt = start_watched(0, &s.lines);
	thread = test_thread(set_event_when_held, &s);
	run_scene(&s, hold_gate);
	pthread_join(thread, NULL);
	CHECK_EQ(s.lines.nr, 1);
	check_line(&s);
	stop(s.rt);
}

TEST_WORKERS(two_long_tasks_are_two_lines)
{
	struct scene s = { 0 };

	need_workers(1);
	s.rt = start_watched(0, &s.lines);
	run_scene(&s, wake_and_hold);
	run_scene(&s, hold_briefly);
	CHECK_GE(stats_of(s.rt).long_tasks, 2);
	stop(s.rt);
	/* The monitor, which counts a task and then writes, has ended. */
	CHECK_EQ(s.lines.nr, 2);
	check_line(&s);
}

TEST_WORKERS(many_long_tasks_are_counted_and_few_are_reported)
{
	struct scene s = { 0 };
	uint64_t begin_ns;

	need_workers(1);
	s.rt = start_watched(50, &s.lines);
	begin_ns = sley_now();
	for (int i = 0; i < 7; i++)
		run_scene(&s, wake_and_hold);
	CHECK_GE(stats_of(s.rt).long_tasks, 7);
	CHECK_GE(s.lines.of_all, 4);
	CHECK_LE(s.lines.of_all, 4 * (1 + ms_since(begin_ns) / 10000));
	stop(s.rt);
}

/* ---- nothing to report ------------------------------------------------------------ */

static void check_silence(uint64_t ms, sley_fn *long_fn)
{
	struct scene s = { 0 };

	s.rt = start_watched(ms, &s.lines);
	run_scene(&s, long_fn);
	CHECK_EQ(s.lines.nr, 0);
	if (ms == SLEY_NEVER || is_single())
		CHECK_EQ(stats_of(s.rt).long_tasks, 0);
	stop(s.rt);
}

TEST_WORKERS(a_watchdog_that_is_off_is_silent)
{
	check_silence(SLEY_NEVER, hold_for_a_while);
}

TEST_WORKERS(a_patient_watchdog_is_silent)
{
	check_silence(5000, hold_for_a_while);
}

TEST_WORKERS(a_long_task_that_holds_nothing_up_is_not_reported)
{
	check_silence(0, hold_while_none_wait);
}

static void nap(void *arg)
{
	(void)arg;
	test_nap_ms(300);
}

static void wake_and_call(void *arg)
{
	struct scene *s = arg;

	sley_event_set(&s->event);
	CHECK_EQ(sley_blocking_call(nap, NULL), 0);
}

static void wake_in_region(void *arg)
{
	struct scene *s = arg;

	CHECK_EQ(sley_blocking_begin(), 0);
	sley_event_set(&s->event);
	test_nap_ms(300);
	sley_blocking_end();
}

static void wake_and_yield(void *arg)
{
	struct scene *s = arg;
	uint64_t end_ns = in_ms(300);

	sley_event_set(&s->event);
	while (sley_now() < end_ns) {
		test_nap_ms(1);
		sley_yield();
	}
}

TEST_WORKERS(a_blocking_call_is_not_reported)
{
	check_silence(0, wake_and_call);
}

TEST_WORKERS(a_blocking_region_is_not_reported)
{
	check_silence(0, wake_in_region);
}

TEST_WORKERS(a_long_task_that_yields_is_not_reported)
{
	check_silence(0, wake_and_yield);
}

/* No monitor, no watchdog. */
TEST(a_task_is_reported_without_its_name_where_no_debugger_may_read)
{
	struct scene s = { .lines.about = "a task has held worker 0" };
	struct sley_config config = config_of(1);

	if (filter_forbid(SYS_process_vm_readv, EPERM))
		test_skip("seccomp is not to be had");
	config.report = take_line;
	config.report_self = &s.lines;
	s.rt = start_with(&config);
	run_scene(&s, hold_briefly);
	stop(s.rt);
	/* The monitor, which counts a task and then writes, has ended. */
	CHECK_GE(s.lines.nr, 1);
}

TEST(a_single_threaded_runtime_has_no_watchdog)
{
	struct sley_config config = config_of(SLEY_SINGLE);
	struct scene s = { 0 };

	config.report = take_line;
	config.report_self = &s.lines;
	s.rt = start_with(&config);
	run_scene(&s, hold_for_a_while);
	CHECK_EQ(s.lines.nr, 0);
	CHECK_EQ(stats_of(s.rt).long_tasks, 0);
	stop(s.rt);
}
