/* SPDX-License-Identifier: MIT */
/*
 * name_wait.c - W36: a name can be waited for, by anybody, and not for ever.
 */
#include "conformance/actor/listener.h"

static struct scene {
	const char *name;
	sley_pid expected;
	atomic_int waits, got;
} scene;

static void find_once(void)
{
	sley_pid pid = SLEY_NO_PID;

	scene.waits++;
	CHECK_EQ(sley_name_find_until(scene.name, &pid, UINT64_MAX), 0);
	CHECK_EQ(pid, scene.expected);
	scene.got++;
}

static void find_in_task(void *arg)
{
	(void)arg;
	find_once();
}

static void *find_in_thread(void *arg)
{
	(void)arg;
	find_once();
	return NULL;
}

static int find_in_actor(void *arg)
{
	(void)arg;
	find_once();
	return 0;
}

#define NR 4

TEST_WORKERS(w36_tasks_actors_and_threads_wait_for_a_name)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task tasks[NR];
	struct sley *rt = start();
	struct listener listener;
	pthread_t threads[2];

	scene = (struct scene){ .name = "late", .expected = listen(&listener) };
	for (int i = 0; i < NR; i++) {
		sley_spawn(&group, &tasks[i], find_in_task, NULL);
		CHECK_EQ(sley_actor_spawn(NULL, find_in_actor, NULL, NULL), 0);
	}
	for (int i = 0; i < 2; i++)
		threads[i] = test_thread(find_in_thread, NULL);
	CHECK_SOON(scene.waits == 2 * NR + 2);
	/* Names that are not it, some of them in the same list. */
	for (int i = 0; i < 100; i++) {
		char other[] = "other--";

		other[5] = (char)('0' + i / 10);
		other[6] = (char)('0' + i % 10);
		CHECK_EQ(sley_name_register(other, listener.pid, NULL), 0);
	}
	CHECK_EQ(scene.got, 0);
	CHECK_EQ(sley_name_register("late", listener.pid, NULL), 0);
	sley_join(&group);
	CHECK_SOON(scene.got == 2 * NR + 2);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	hush(&listener);
	stop(rt);
}

TEST_WORKERS(w36_a_name_that_is_there_needs_no_wait)
{
	struct sley *rt = start();
	struct listener listener;
	sley_pid pid;

	CHECK_EQ(sley_name_register("there", listen(&listener), NULL), 0);
	CHECK_EQ(sley_name_find_until("there", &pid, 0), 0);
	CHECK_EQ(pid, listener.pid);
	hush(&listener);
	CHECK_EQ(sley_name_find_until("there", &pid, 0), -ETIMEDOUT);
	CHECK_EQ(pid, SLEY_NO_PID);
	stop(rt);
}

TEST_WORKERS(w36_a_wait_for_a_name_has_a_deadline)
{
	struct sley *rt = start();
	uint64_t began = sley_now();
	sley_pid pid = 1;

	CHECK_EQ(sley_name_find_until("never", &pid, in_ms(20)), -ETIMEDOUT);
	CHECK_EQ(pid, SLEY_NO_PID);
	CHECK_LE(20, ms_since(began));
	stop(rt);
}

static atomic_int begun, cancelled;

static void find_until_cancelled(void *arg)
{
	sley_pid pid;

	(void)arg;
	begun++;
	CHECK_EQ(sley_name_find_until("never", &pid, UINT64_MAX), -ECANCELED);
	CHECK_EQ(pid, SLEY_NO_PID);
	cancelled++;
}

TEST_WORKERS(w36_a_wait_for_a_name_is_cancelled)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley *rt = start();
	struct sley_task task;

	begun = cancelled = 0;
	sley_spawn(&group, &task, find_until_cancelled, NULL);
	CHECK_SOON(begun);
	(void)!sley_sleep(test_random(2) * SLEY_MSEC);
	sley_cancel(&task);
	sley_join(&group);
	CHECK_EQ(cancelled, 1);
	stop(rt);
}

TEST_WORKERS(w36_what_is_no_name_cannot_be_waited_for)
{
	char longest[SLEY_NAME_MAX + 2];
	struct sley *rt = start();
	sley_pid pid = 1;

	memset(longest, 'x', sizeof(longest));
	longest[SLEY_NAME_MAX + 1] = '\0';
	CHECK_EQ(sley_name_find_until("", &pid, UINT64_MAX), -EINVAL);
	CHECK_EQ(sley_name_find_until(NULL, &pid, UINT64_MAX), -EINVAL);
	CHECK_EQ(sley_name_find_until(longest, &pid, UINT64_MAX), -EINVAL);
	CHECK_EQ(pid, SLEY_NO_PID);
	longest[SLEY_NAME_MAX] = '\0';
	CHECK_EQ(sley_name_find_until(longest, &pid, 0), -ETIMEDOUT);
	stop(rt);
}

/* ---- what it is for ------------------------------------------------------------------ */

static int fails(void *arg)
{
	struct sley_msg *msg;

	(void)arg;
	return sley_receive(&msg) ? 0 : -EIO;
}

static const struct sley_child child = { "phoenix", fails,
					 .restart = SLEY_PERMANENT };

/* Each time it is there again, until the supervisor has given up. */
TEST_WORKERS(w36_a_name_that_a_supervisor_gave_up_does_not_come_back)
{
	struct sley *rt = start();
	sley_pid supervisor, pid;

	CHECK_EQ(sley_supervise(&supervisor,
				SLEY_SUPERVISOR_OPTIONS(.intensity = 5,
							.within_ns =
								60 * SLEY_SEC),
				&child, 1),
		 0);
	for (int i = 0; i <= 5; i++) {
		CHECK_EQ(sley_name_find_until("phoenix", &pid, in_ms(60000)),
			 0);
		CHECK_EQ(sley_send(pid, 1, NULL, 0), 0);
		CHECK_SOON(!sley_process_alive(pid));
	}
	CHECK_SOON(!sley_process_alive(supervisor));
	CHECK_EQ(sley_name_find_until("phoenix", &pid, in_ms(20)), -ETIMEDOUT);
	stop(rt);
}
