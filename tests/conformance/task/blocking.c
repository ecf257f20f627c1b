/* SPDX-License-Identifier: MIT */
/*
 * blocking.c - calls that block a thread: M31, trap 22.
 */
#include <sys/resource.h>

#include "conformance/bound.h"

/* ---- a value, and who goes on meanwhile ------------------------------------------ */

struct question {
	struct sley *rt;
	pthread_t thread;
	char name[16];
	int answer;
};

static void answer(void *arg)
{
	struct question *q = arg;

	CHECK(sley_current() == q->rt);
	CHECK_EQ(sley_worker(), -1);
	CHECK_EQ(pthread_getname_np(pthread_self(), q->name, sizeof(q->name)),
		 0);
	q->thread = pthread_self();
	q->answer = 42;
}

/* How many are kept; chaos sends those that are idle away at once. */
static void check_threads(struct sley *rt, uint64_t nr)
{
	if (!test_is_chaotic())
		CHECK_EQ(stats_of(rt).blocking_threads, nr);
}

static void ask(void *arg)
{
	struct question *q = arg;
	pthread_t here = pthread_self();

	CHECK_EQ(sley_blocking_call(answer, q), 0);
	CHECK_EQ(q->answer, 42);
	CHECK(!pthread_equal(q->thread, here));
	/* It came back where it was. */
	CHECK(pthread_equal(pthread_self(), here));
	CHECK(sley_current() == q->rt);
}

TEST_WORKERS(m31_a_call_runs_elsewhere_and_hands_back_its_value)
{
	struct sley *rt = start();
	struct question q = { .rt = rt };

	CHECK_EQ(stats_of(rt).blocking_threads, 0);
	run_task(ask, &q);
	CHECK_STR(q.name, "sley-b0");
	check_threads(rt, 1);
	CHECK_EQ(stats_of(rt).blocking_calls, 1);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	stop(rt);
}

TEST(m31_a_plain_thread_makes_the_call_itself)
{
	struct question q = { .rt = NULL };

	CHECK_EQ(sley_blocking_call(answer, &q), 0);
	CHECK(pthread_equal(q.thread, pthread_self()));
	CHECK_EQ(sley_blocking_call_until(answer, &q, in_ms(1000)), 0);
	CHECK_EQ(sley_blocking_call_until(answer, &q, 0), -ETIMEDOUT);
}

/* Bound code of a single-threaded runtime runs tasks while it waits. */
TEST_WORKERS(m31_bound_code_may_call_too)
{
	struct sley *rt = start();
	struct question q = { .rt = rt };

	CHECK_EQ(sley_blocking_call(answer, &q), 0);
	CHECK_EQ(pthread_equal(q.thread, pthread_self()) != 0, !is_single());
	CHECK_EQ(q.answer, 42);
	stop(rt);
}

static void hold_gate(void *arg)
{
	CHECK_EQ(sley_blocking_call(gate_task, arg), 0);
}

TEST_WORKERS(m31_the_worker_goes_on_meanwhile)
{
	check_worker_goes_on(hold_gate);
}

/* ---- any number -------------------------------------------------------------------- */

#define NR_MEETING 1000

struct meeting {
	atomic_int there;
	int expected;
};

/* Ends only when all of them run at once: a thousand must not look often. */
static void meet(void *arg)
{
	struct meeting *m = arg;

	atomic_fetch_add(&m->there, 1);
	while (atomic_load(&m->there) < m->expected)
		test_nap_ms(50);
}

static void go_to_meeting(void *arg)
{
	CHECK_EQ(sley_blocking_call(meet, arg), 0);
}

static void meet_in_numbers(const struct sley_config *config)
{
	struct sley *rt = start_with(config);
	struct meeting m = { .expected = test_scale(NR_MEETING) };

	test_timeout(120);
	run_tasks(m.expected, go_to_meeting, &m);
	CHECK_EQ(stats_of(rt).blocking_calls, m.expected);
	check_threads(rt, (uint64_t)m.expected);
	stop(rt);
}

TEST(m31_a_thousand_calls_that_wait_for_each_other_do_not_deadlock)
{
	struct sley_config config = config_of(2);

	config.blocking_max = SLEY_UNBOUNDED;
	meet_in_numbers(&config);
}

TEST(m31_nor_do_they_in_a_single_threaded_runtime)
{
	struct sley_config config = config_of(SLEY_SINGLE);

	config.blocking_max = SLEY_UNBOUNDED;
	meet_in_numbers(&config);
}

static void call_nothing(void *arg)
{
	for (int i = 0; i < 100; i++)
		CHECK_EQ(sley_blocking_call(count_task, arg), 0);
}

TEST_WORKERS(m31_one_caller_needs_one_thread_however_often_it_calls)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	run_task(call_nothing, &ran);
	CHECK_EQ(ran, 100);
	check_threads(rt, 1);
	stop(rt);
}

TEST_WORKERS(m31_threads_without_work_end)
{
	struct sley_config config = *test_config();
	struct meeting m = { .expected = 10 };
	atomic_int ran = 0;
	struct sley *rt;

	config.blocking_idle_ms = 5;
	rt = start_with(&config);
	run_tasks(10, go_to_meeting, &m);
	CHECK_EVENTUALLY(stats_of(rt).blocking_threads == 0);
	/* And come again. */
	run_task(call_nothing, &ran);
	CHECK_EQ(ran, 100);
	stop(rt);
}

/* ---- calls from calls, and spawning --------------------------------------------------- */

static void call_again(void *arg)
{
	struct question q = { .rt = sley_current() };

	CHECK_EQ(sley_blocking_call(answer, &q), 0);
	CHECK(pthread_equal(q.thread, pthread_self()));
	count_task(arg);
}

static void call_calling(void *arg)
{
	CHECK_EQ(sley_blocking_call(call_again, arg), 0);
}

TEST_WORKERS(m31_a_call_from_a_call_runs_in_place)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	run_task(call_calling, &ran);
	CHECK_EQ(ran, 1);
	stop(rt);
}

static void spawn_and_join(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[10];

	if (is_single()) {
		CHECK_EQ(sley_spawn_with(&group, tasks, count_task, arg, NULL),
			 SLEY_ENOWORKER);
		CHECK_EQ(sley_schedule(count_task, arg), SLEY_ENOWORKER);
		return;
	}
	for (int i = 0; i < 10; i++)
		sley_spawn(&group, &tasks[i], count_task, arg);
	CHECK_EQ(sley_schedule(count_task, arg), 0);
	sley_join(&group);
	CHECK_GE(*(atomic_int *)arg, 10);
}

static void call_spawning(void *arg)
{
	CHECK_EQ(sley_blocking_call(spawn_and_join, arg), 0);
}

TEST_WORKERS(m31_a_call_may_spawn_and_wait_for_tasks)
{
	static atomic_int ran;
	struct sley *rt = start();

	run_task(call_spawning, &ran);
	stop(rt);
	CHECK_EQ(ran, is_single() ? 0 : 11);
}

static void spawn_one(void *arg)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, count_task, arg);
}

TEST_ABORTS(m31_a_call_of_a_single_threaded_runtime_does_not_spawn,
	    "only the bound threads run tasks")
{
	struct sley_config config = config_of(SLEY_SINGLE);

	(void)start_with(&config);
	CHECK_EQ(sley_blocking_call(spawn_one, NULL), 0);
}

static void unbind(void *arg)
{
	sley_unbind(arg);
}

static void call_unbind(void *arg)
{
	CHECK_EQ(sley_blocking_call(unbind, arg), 0);
}

TEST_ABORTS(m31_a_call_does_not_unbind,
	    "only the bound thread itself can unbind")
{
	struct sley *rt = start();

	run_task(call_unbind, rt);
}

static struct sley_local here;

static void look_at_local(void *arg)
{
	CHECK(sley_local_get(&here) == arg);
	CHECK_EQ(sley_local_set(&here, NULL), 0);
}

static void call_with_local(void *arg)
{
	CHECK_EQ(sley_local_set(&here, arg), 0);
	CHECK_EQ(sley_blocking_call(look_at_local, arg), 0);
	CHECK(sley_local_get(&here) == NULL);
}

TEST_WORKERS(m31_a_call_has_the_local_values_of_its_task)
{
	struct sley *rt = start();
	int value;

	for (int i = 0; i < 3; i++)
		run_task(call_with_local, &value);
	CHECK_EQ(sley_local_set(&here, &value), 0);
	CHECK_EQ(sley_blocking_call(look_at_local, &value), 0);
	CHECK(sley_local_get(&here) == NULL);
	stop(rt);
}

/* ---- no thread to be had ---------------------------------------------------------------- */

static void call_in_vain(void *arg)
{
	CHECK_EQ(sley_blocking_call(count_task, arg), -EAGAIN);
	CHECK_EQ(sley_blocking_call_until(count_task, arg, in_ms(10)), -EAGAIN);
}

TEST_WORKERS(m31_without_a_thread_a_call_fails_and_does_nothing)
{
	struct sley *rt = start();
	atomic_int ran = 0;

	test_fail_allocation_after(0);
	run_task(call_in_vain, &ran);
	test_fail_allocation_after(-1);
	CHECK_EQ(ran, 0);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	run_task(call_nothing, &ran);
	CHECK_EQ(ran, 100);
	stop(rt);
}

/* The system has no room for the stack of a thread. */
static void call_without_room(void *arg)
{
	struct rlimit limit, none;

	CHECK_EQ(getrlimit(RLIMIT_AS, &limit), 0);
	none = limit;
	none.rlim_cur = 1 << 20;
	CHECK_EQ(setrlimit(RLIMIT_AS, &none), 0);
	call_in_vain(arg);
	CHECK_EQ(sley_blocking_begin(), -EAGAIN);
	CHECK_GE(sley_worker(), 0);
	sley_blocking_end();
	CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

TEST_WORKERS(m31_where_the_system_gives_no_thread_a_call_fails)
{
	struct sley *rt;
	atomic_int ran = 0;

	if (test_sanitizer())
		test_skip("sanitizers need their address space");
	if (test_emulated())
		test_skip("qemu-user ignores RLIMIT_AS");
	rt = start();
	run_task(call_without_room, &ran);
	CHECK_EQ(ran, 0);
	CHECK_EQ(stats_of(rt).blocking_threads, 0);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	run_task(call_nothing, &ran);
	CHECK_EQ(ran, 100);
	stop(rt);
}

/* ---- before it has started ---------------------------------------------------------------- */

struct late {
	struct gate gate;
	struct sley_task task;
	uint64_t deadline_ns;
	atomic_int waiting, result, ran;
};

static void hold_only_thread(void *arg)
{
	struct late *l = arg;

	CHECK_EQ(sley_blocking_call(gate_task, &l->gate), 0);
}

static void call_late(void *arg)
{
	struct late *l = arg;

	while (!atomic_load(&l->gate.held))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	/* No second thread: the call waits for the first one. */
	test_fail_allocation_after(0);
	atomic_store(&l->waiting, 1);
	atomic_store(&l->result, sley_blocking_call_until(count_task, &l->ran,
							  l->deadline_ns));
	test_fail_allocation_after(-1);
	gate_open(&l->gate);
}

static void run_late(struct sley *rt, struct late *l, bool cancel)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task holder;

	sley_spawn(&group, &holder, hold_only_thread, l);
	sley_spawn(&group, &l->task, call_late, l);
	while (!atomic_load(&l->waiting) ||
	       (cancel && !stats_of(rt).blocking_queued))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	if (cancel)
		sley_cancel(&l->task);
	sley_join(&group);
}

TEST_WORKERS(m31_a_call_that_starts_too_late_is_taken_back)
{
	struct sley *rt = start();
	struct late l = { .deadline_ns = in_ms(30) };

	run_late(rt, &l, false);
	CHECK_EQ(l.result, -ETIMEDOUT);
	CHECK_GE(sley_now(), l.deadline_ns);
	CHECK_EQ(l.ran, 0);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	CHECK_EQ(stats_of(rt).blocking_calls, 1);
	stop(rt);
}

TEST_WORKERS(m31_a_call_is_taken_back_when_its_task_is_cancelled)
{
	struct sley *rt = start();
	struct late l = { .deadline_ns = SLEY_FOREVER };

	run_late(rt, &l, true);
	CHECK_EQ(l.result, -ECANCELED);
	CHECK_EQ(l.ran, 0);
	CHECK_EQ(stats_of(rt).blocking_queued, 0);
	stop(rt);
}

static void call_cancelled(void *arg)
{
	struct late *l = arg;

	atomic_store(&l->waiting, 1);
	while (!sley_cancelled())
		sley_yield();
	CHECK_EQ(sley_blocking_call(count_task, &l->ran), -ECANCELED);
}

TEST_WORKERS(m31_a_cancelled_task_makes_no_calls)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct late l = { .waiting = 0 };

	sley_spawn(&group, &l.task, call_cancelled, &l);
	while (!atomic_load(&l.waiting))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	sley_cancel(&l.task);
	sley_join(&group);
	CHECK_EQ(l.ran, 0);
	stop(rt);
}

/* ---- once it has started -------------------------------------------------------------------- */

static void see_the_cancel(void *arg)
{
	struct late *l = arg;

	CHECK(!sley_cancelled());
	atomic_store(&l->waiting, 1);
	while (!sley_cancelled())
		test_nap_ms(1);
	/* It waits like any thread: a cancel does not cut that short. */
	CHECK_EQ(sley_sleep(SLEY_MSEC), 0);
	atomic_store(&l->ran, 1);
}

static void call_long(void *arg)
{
	struct late *l = arg;
	unsigned int ms = 100;
	int err;

	/*
	 * A busy machine may start the call too late.  Such a call must not
	 * have run at all, and is made again with more time.
	 */
	do {
		l->deadline_ns = in_ms(ms);
		err = sley_blocking_call_until(see_the_cancel, l,
					       l->deadline_ns);
		CHECK(err != -ETIMEDOUT || !atomic_load(&l->waiting));
		ms *= 2;
	} while (err == -ETIMEDOUT);
	CHECK_EQ(err, 0);
	CHECK_EQ(l->ran, 1);
	CHECK_EQ(sley_sleep(SLEY_FOREVER), -ECANCELED);
}

static void cancel_running(bool all)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct late l = { .ran = 0 };

	/* Neither the cancel nor the deadline ends it early. */
	sley_spawn(&group, &l.task, call_long, &l);
	while (!atomic_load(&l.waiting))
		CHECK_EQ(sley_sleep(SLEY_MSEC / 10), 0);
	CHECK_EQ(sley_join_until(&group, l.deadline_ns + 50 * SLEY_MSEC),
		 -ETIMEDOUT);
	if (all)
		sley_cancel_all(rt);
	else
		sley_cancel(&l.task);
	sley_join(&group);
	CHECK_EQ(l.ran, 1);
	stop(rt);
}

TEST_WORKERS(m31_a_call_that_has_started_is_waited_for)
{
	cancel_running(false);
}

TEST_WORKERS(m31_a_call_that_has_started_is_waited_for_when_all_is_cancelled)
{
	cancel_running(true);
}

static void *open_soon(void *gate)
{
	CHECK_EVENTUALLY(atomic_load(&((struct gate *)gate)->held) == 1);
	test_nap_ms(20);
	gate_open(gate);
	return NULL;
}

static char lines[1024];

static void take_report(void *self, const char *line)
{
	(void)self;
	strncat(lines, line, sizeof(lines) - strlen(lines) - 1);
}

TEST_WORKERS(m31_destroy_waits_for_calls_that_run)
{
	struct sley_config config = *test_config();
	static struct gate gate;
	struct sley *rt = NULL;
	pthread_t opener;

	if (is_single())
		test_skip("unbinding waits for them already");
	config.report = take_report;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(sley_schedule_on(rt, hold_gate, &gate,
				  SLEY_OPTIONS(.name = "holder")),
		 0);
	CHECK_EVENTUALLY(atomic_load(&gate.held) == 1);
	CHECK_EQ(sley_destroy_until(rt, in_ms(5)), -ETIMEDOUT);
	CHECK(strstr(lines, "the runtime still waits for holder (function ") !=
	      NULL);
	opener = test_thread(open_soon, &gate);
	CHECK_EQ(sley_destroy(rt), 0);
	CHECK(atomic_load(&gate.open));
	pthread_join(opener, NULL);
}
