/* SPDX-License-Identifier: MIT */
/*
 * process_wait.c - W3, W24, W32: anybody can wait for the end of a process, and gets
 * its reason, its time and its result.
 */
#include "conformance/actor/processes.h"

#define NR_WAITERS 8

/* An actor or a step process that ends when it gets TAG_END. */
static sley_pid spawn(bool actor, bool joinable)
{
	return spawn_mortal_with(actor,
				 SLEY_PROCESS_OPTIONS(.joinable = joinable));
}

static void check_wait(sley_pid pid, int reason)
{
	struct sley_process_end end = { .reason = 1 };

	CHECK_EQ(sley_process_wait(pid, &end), 0);
	CHECK_EQ(end.pid, pid);
	CHECK_EQ(end.reason, reason);
	CHECK(end.result == NULL);
}

static void check_nobody(sley_pid pid)
{
	struct sley_process_end end = { .reason = 1 };

	CHECK_EQ(sley_process_wait(pid, &end), -ESRCH);
	CHECK_EQ(end.reason, 1);
}

/* ---- who waits -------------------------------------------------------------------- */

static struct crowd {
	sley_pid pid;
	int reason;
	atomic_int waits;
	atomic_int got;
} crowd;

static void wait_once(void)
{
	crowd.waits++;
	check_wait(crowd.pid, crowd.reason);
	crowd.got++;
}

static void wait_in_task(void *arg)
{
	(void)arg;
	wait_once();
}

static void *wait_in_thread(void *arg)
{
	(void)arg;
	wait_once();
	return NULL;
}

static int wait_in_actor(void *arg)
{
	(void)arg;
	wait_once();
	return 0;
}

/* The thread runs outside of any runtime. */
static void wait_in_all(bool actor, int reason)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR_WAITERS];
	pthread_t threads[2];

	crowd = (struct crowd){ .pid = spawn(actor, false), .reason = reason };
	for (int i = 0; i < NR_WAITERS; i++) {
		sley_spawn(&group, &tasks[i], wait_in_task, NULL);
		CHECK_EQ(sley_actor_spawn(NULL, wait_in_actor, NULL, NULL), 0);
	}
	for (int i = 0; i < 2; i++)
		threads[i] = test_thread(wait_in_thread, NULL);
	CHECK_SOON(crowd.waits == 2 * NR_WAITERS + 2);
	/* Those that have not got as far as to wait would be too late. */
	(void)!sley_sleep(20 * SLEY_MSEC);
	CHECK_EQ(crowd.got, 0);
	end_mortal(crowd.pid, reason);
	sley_join(&group);
	CHECK_SOON(crowd.got == 2 * NR_WAITERS + 2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check_nobody(crowd.pid);
}

TEST_WORKERS(w24_tasks_actors_and_threads_wait_for_the_end_of_a_process)
{
	struct sley *rt = start();

	wait_in_all(false, 0);
	wait_in_all(true, -EIO);
	stop(rt);
}

/* ---- the reason is not lost --------------------------------------------------------- */

static int ends_at_once(void *arg)
{
	return *(const int *)arg;
}

TEST_WORKERS(w24_the_end_of_a_joinable_process_is_never_missed)
{
	static const int reasons[] = { 0, -EIO, -EPROTO };
	struct sley *rt = start();

	for (int i = 0; i < test_scale(300); i++) {
		const int *reason = &reasons[i % 3];
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(
				 &pid, ends_at_once, (void *)(uintptr_t)reason,
				 SLEY_PROCESS_OPTIONS(.joinable = true)),
			 0);
		check_wait(pid, *reason);
		check_nobody(pid);
	}
	stop(rt);
}

TEST_WORKERS(w24_the_end_of_a_joinable_process_is_kept_for_one)
{
	struct sley *rt = start();

	for (int actor = 0; actor < 2; actor++) {
		sley_pid pid = spawn(actor, true);

		end_mortal(pid, -EDOM);
		CHECK_SOON(!sley_process_alive(pid));
		CHECK_EQ(sley_send(pid, 1, NULL, 0), -ESRCH);
		CHECK_EQ(sley_process_kill(pid), -ESRCH);
		check_wait(pid, -EDOM);
		check_nobody(pid);
	}
	stop(rt);
}

TEST_WORKERS(w24_the_end_of_a_joinable_process_outlives_its_runtime)
{
	struct sley *rt = start();
	sley_pid pid = spawn(true, true);

	stop(rt);
	check_wait(pid, -ECANCELED);
	check_nobody(pid);
}

/* A place that keeps an end is neither used nor seen. */
TEST_WORKERS(w24_an_end_that_is_kept_is_no_process)
{
	struct sley *rt = start();
	sley_pid pid = spawn(false, true), other[50];
	uint64_t nr = sley_process_count();

	end_mortal(pid, -EDOM);
	CHECK_SOON(sley_process_count() == nr - 1);
	for (int i = 0; i < 50; i++)
		other[i] = spawn(i % 2, true);
	for (sley_pid p = SLEY_NO_PID; (p = sley_process_next(p));)
		CHECK_NE(p, pid);
	for (int i = 0; i < 50; i++) {
		CHECK_EQ(sley_process_kill(other[i]), 0);
		check_wait(other[i], SLEY_EKILLED);
	}
	check_wait(pid, -EDOM);
	stop(rt);
}

/* A spawn that fails leaves nothing to wait for. */
TEST_WORKERS(w24_a_joinable_process_whose_name_is_taken_is_not_kept)
{
	struct sley *rt = start();
	sley_pid pid = spawn_mortal_with(
		true, SLEY_PROCESS_OPTIONS(.name = "taken", .joinable = true));
	sley_pid second;

	for (int i = 0; i < 10; i++) {
		CHECK_EQ(sley_actor_spawn(&second, mortal_actor, NULL,
					  SLEY_PROCESS_OPTIONS(.name = "taken",
							       .joinable =
								       true)),
			 -EEXIST);
		CHECK_EQ(second, pid);
	}
	end_mortal(pid, 0);
	check_wait(pid, 0);
	stop(rt);
}

/* ---- giving up ------------------------------------------------------------------------ */

TEST_WORKERS(w24_a_wait_for_an_end_has_a_deadline)
{
	struct sley *rt = start();

	for (int joinable = 0; joinable < 2; joinable++) {
		sley_pid pid = spawn(true, joinable);
		struct sley_process_end end = { .reason = 1 };
		uint64_t began = sley_now();

		CHECK_EQ(sley_process_wait_until(pid, &end, 0), -ETIMEDOUT);
		CHECK_EQ(sley_process_wait_until(pid, &end, in_ms(20)),
			 -ETIMEDOUT);
		CHECK_LE(20, ms_since(began));
		CHECK_EQ(end.reason, 1);
		end_mortal(pid, -EIO);
		CHECK_SOON(!sley_process_alive(pid));
		/* What is there needs no time. */
		CHECK_EQ(sley_process_wait_until(pid, &end, 0),
			 joinable ? 0 : -ESRCH);
		CHECK_EQ(end.reason, joinable ? -EIO : 1);
	}
	stop(rt);
}

static atomic_int begun, cancelled;

static void wait_until_cancelled(void *arg)
{
	struct sley_process_end end = { .reason = 1 };

	begun++;
	CHECK_EQ(sley_process_wait(*(sley_pid *)arg, &end), -ECANCELED);
	CHECK_EQ(end.reason, 1);
	cancelled++;
}

TEST_WORKERS(w24_a_wait_for_an_end_is_cancelled)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	sley_pid pid = spawn(false, true);
	struct sley_task task;

	begun = cancelled = 0;
	sley_spawn(&group, &task, wait_until_cancelled, &pid);
	CHECK_SOON(begun);
	(void)!sley_sleep(test_random(2) * SLEY_MSEC);
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(cancelled, 1);
	/* The process does not know, and its end is still there. */
	end_mortal(pid, -EIO);
	check_wait(pid, -EIO);
	stop(rt);
}

static int waits_for_it(void *arg)
{
	struct sley_process_end end;

	CHECK_EQ(sley_process_wait(*(sley_pid *)arg, &end), -ECANCELED);
	return 0;
}

/* Both are asked to end: the one that waits is not left behind. */
TEST_WORKERS(w24_a_runtime_is_destroyed_while_an_actor_waits_for_another)
{
	struct sley *rt = start();
	struct sley *elsewhere = NULL;
	sley_pid pid, waiter;

	CHECK_EQ(sley_create(&elsewhere, SLEY_CONFIG(.workers = 1)), 0);
	pid = spawn_mortal_with(true,
				SLEY_PROCESS_OPTIONS(.runtime = elsewhere));
	CHECK_EQ(sley_actor_spawn(&waiter, waits_for_it, &pid,
				  SLEY_PROCESS_OPTIONS(.joinable = true)),
		 0);
	(void)!sley_sleep(SLEY_MSEC);
	stop(rt);
	check_wait(waiter, -ECANCELED);
	CHECK(sley_process_alive(pid));
	CHECK_EQ(sley_destroy(elsewhere), 0);
}

/* ---- the end and the deadline at once ---------------------------------------------------- */

TEST_WORKERS(w24_an_end_is_got_or_still_there)
{
	struct sley *rt = start();

	for (int i = 0; i < 200; i++) {
		sley_pid pid = spawn(i % 2, true);
		struct sley_process_end end = { .reason = 1 };
		uint64_t deadline = sley_now() + test_random(50000);
		int err;

		end_mortal(pid, -EIO);
		err = sley_process_wait_until(pid, &end, deadline);
		if (err) {
			CHECK_EQ(err, -ETIMEDOUT);
			CHECK_EQ(end.reason, 1);
			check_wait(pid, -EIO);
		} else {
			CHECK_EQ(end.reason, -EIO);
			check_nobody(pid);
		}
	}
	stop(rt);
}

/* ---- bad input ------------------------------------------------------------------------- */

static int waits_for_itself(void *arg)
{
	(void)arg;
	return sley_process_wait(sley_self(), NULL);
}

TEST_WORKERS(w24_who_cannot_be_waited_for)
{
	struct sley *rt = start();
	sley_pid pid;

	check_nobody(SLEY_NO_PID);
	check_nobody(~(sley_pid)0);
	check_nobody(1234567);
	CHECK_EQ(sley_actor_spawn(&pid, waits_for_itself, NULL,
				  SLEY_PROCESS_OPTIONS(.joinable = true)),
		 0);
	check_nobody(~pid);
	check_wait(pid, -EDEADLK);
	pid = spawn(true, true);
	end_mortal(pid, -EIO);
	CHECK_EQ(sley_process_wait(pid, NULL), 0);
	check_nobody(pid);
	stop(rt);
}

/* ---- the result, and when ---------------------------------------------------------------- */

static int leaves_a_result(void *arg)
{
	const char *text = arg;

	CHECK_EQ(sley_process_result("something else", 15), 0);
	CHECK_EQ(sley_process_result(text, strlen(text) + 1), 0);
	return -EIO;
}

TEST_WORKERS(w03_a_process_leaves_a_result)
{
	static char text[] = "forty-two";
	struct sley *rt = start();
	struct sley_process_end end;
	uint64_t before = sley_now();
	sley_pid pid;

	CHECK_EQ(sley_process_result("nobody", 7), -EINVAL);
	CHECK_EQ(sley_actor_spawn(&pid, leaves_a_result, text,
				  SLEY_PROCESS_OPTIONS(.joinable = true)),
		 0);
	CHECK_EQ(sley_process_wait(pid, &end), 0);
	CHECK_EQ(end.reason, -EIO);
	CHECK(end.result != NULL);
	CHECK(!strcmp(sley_blob_data(end.result), text));
	CHECK_LE(before, end.time_ns);
	CHECK_LE(end.time_ns, sley_now());
	sley_blob_put(end.result);
	stop(rt);
}

static enum sley_step step_with_result(void *self, struct sley_msg *const *msg,
				       size_t nr, struct sley_out *out)
{
	uint64_t n = 17;

	(void)self;
	(void)msg;
	if (!nr)
		return SLEY_WAIT;
	CHECK_EQ(sley_process_result(&n, sizeof(n)), 0);
	return sley_out_done(out, 0);
}

static const struct sley_behaviour with_result = { .step = step_with_result };

#define NR_MONITORS 3

static int monitored_with_result(void *arg)
{
	uint64_t before = sley_now(), number[NR_MONITORS];
	struct sley_msg *kept[NR_MONITORS];
	sley_pid pid;

	(void)arg;
	CHECK_EQ(sley_process_spawn(&pid, &with_result, NULL, 0, NULL), 0);
	for (int i = 0; i < NR_MONITORS; i++)
		CHECK_EQ(sley_monitor(pid, &number[i]), 0);
	CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
	for (int i = 0; i < NR_MONITORS; i++) {
		CHECK_EQ(sley_receive(&kept[i]), 0);
		sley_msg_keep(kept[i]);
	}
	for (int i = 0; i < NR_MONITORS; i++) {
		CHECK_EQ(kept[i]->kind, SLEY_DOWN);
		CHECK_EQ(kept[i]->error, 0);
		CHECK_EQ(kept[i]->size, sizeof(uint64_t));
		CHECK_EQ(*(const uint64_t *)kept[i]->data, 17);
		CHECK_LE(before, sley_down_time(kept[i]));
		CHECK_LE(sley_down_time(kept[i]), sley_now());
		sley_msg_free(kept[i]);
	}
	return 0;
}

TEST_WORKERS(w32_monitors_get_the_result_and_the_time)
{
	run_actor(monitored_with_result, NULL, false);
}

/* What nobody waits for is given back with the process. */
TEST_WORKERS(w03_a_result_that_nobody_wants_is_freed)
{
	static char text[] = "more than nothing";
	struct sley *rt = start();

	for (int i = 0; i < 20; i++) {
		sley_pid pid;

		CHECK_EQ(sley_actor_spawn(&pid, leaves_a_result, text, NULL),
			 0);
		CHECK_SOON(!sley_process_alive(pid));
	}
	stop(rt);
}
