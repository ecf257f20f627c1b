/* SPDX-License-Identifier: MIT */
/*
 * parallelize.c - several functions at the same time.
 */
#include "conformance/bound.h"

static void in_place(void *arg)
{
	/* Not the address of a local: AddressSanitizer keeps these elsewhere. */
	*(uintptr_t *)arg = (uintptr_t)__builtin_frame_address(0);
}

TEST_WORKERS(m32_the_first_call_is_made_in_place_and_all_are_waited_for)
{
	struct sley *rt = start();
	atomic_int n = 0;
	uintptr_t stack = 0;

	CHECK_EQ(SLEY_PARALLELIZE({ in_place, &stack }, { count_task, &n },
				  { count_task, &n }),
		 0);
	CHECK_EQ(n, 2);
	/* On this very stack.  Unsigned: no stack below it is near, either. */
	stack -= (uintptr_t)__builtin_frame_address(0);
	CHECK(stack + 65536 < 2 * 65536);
	CHECK_EQ(SLEY_PARALLELIZE({ count_task, &n }), 0);
	CHECK_EQ(n, 3);
	CHECK_EQ(sley_parallelize(NULL, 0), 0);
	stop(rt);
}

TEST_WORKERS(m32_any_number_of_calls_up_to_the_limit)
{
	struct sley_invocation calls[SLEY_PARALLELIZE_MAX + 1];
	struct sley *rt = start();
	atomic_int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = (struct sley_invocation){ count_task, &n };
	for (int nr = 0; nr <= SLEY_PARALLELIZE_MAX; nr++) {
		atomic_store(&n, 0);
		CHECK_EQ(sley_parallelize(calls, (size_t)nr), 0);
		CHECK_EQ(n, nr);
	}
	atomic_store(&n, 0);
	CHECK_EQ(sley_parallelize(calls, SLEY_PARALLELIZE_MAX + 1), -EINVAL);
	CHECK_EQ(n, 0);
	stop(rt);
}

struct ring {
	struct sley_event go[40];
	struct link {
		struct ring *ring;
		int number;
	} link[40];
};

/* Each waits for the next; the first one starts it, from the other end. */
static void wait_for_next(void *arg)
{
	struct link *link = arg;
	struct ring *ring = link->ring;

	if (link->number + 1 < 40)
		CHECK_EQ(sley_event_wait(&ring->go[link->number + 1]), 0);
	sley_event_set(&ring->go[link->number]);
}

TEST_WORKERS(m32_calls_may_wait_for_each_other)
{
	static struct ring ring;
	struct sley_invocation calls[40];
	struct sley *rt = start();

	for (int i = 0; i < 40; i++) {
		ring.link[i] = (struct link){ &ring, i };
		calls[i] = (struct sley_invocation){ wait_for_next,
						     &ring.link[i] };
	}
	CHECK_EQ(sley_parallelize(calls, 40), 0);
	stop(rt);
}

static void nested(void *arg)
{
	atomic_int *n = arg;

	CHECK_EQ(SLEY_PARALLELIZE({ count_task, n }, { count_task, n },
				  { count_task, n }),
		 0);
}

TEST_WORKERS(m32_a_call_may_parallelize)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[8];
	atomic_int n = 0;

	for (int i = 0; i < 8; i++)
		sley_spawn(&group, &task[i], nested, &n);
	CHECK_EQ(SLEY_PARALLELIZE({ nested, &n }, { nested, &n }), 0);
	sley_join(&group);
	CHECK_EQ(n, 30);
	stop(rt);
}

struct shield {
	struct sley_event begun, go;
	atomic_bool waited;
};

static void wait_for_go(void *arg)
{
	struct shield *s = arg;

	sley_event_set(&s->begun);
	CHECK_EQ(sley_event_wait(&s->go), 0);
	atomic_store(&s->waited, true);
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static void parallelize_while_cancelled(void *arg)
{
	struct shield *s = arg;

	CHECK_EQ(SLEY_PARALLELIZE({ do_nothing, s }, { wait_for_go, s }), 0);
	CHECK(atomic_load(&s->waited));
	CHECK(sley_cancelled());
}

TEST_WORKERS(m32_cancelling_the_caller_does_not_cut_it_short)
{
	struct shield s = { .waited = false };
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task;

	sley_spawn(&group, &task, parallelize_while_cancelled, &s);
	CHECK_EQ(sley_event_wait(&s.begun), 0);
	sley_cancel(&task);
	CHECK_EQ(sley_join_until(&group, in_ms(2)), -ETIMEDOUT);
	sley_event_set(&s.go);
	sley_join(&group);
	stop(rt);
}

TEST_WORKERS(m32_says_so_if_calls_were_not_made)
{
	struct sley *rt = start();
	atomic_int n = 0;

	sley_cancel_all(rt);
	CHECK_EQ(SLEY_PARALLELIZE({ count_task, &n }, { count_task, &n }),
		 -ECANCELED);
	CHECK_EQ(n, 1);
	stop(rt);
}

TEST(m32_needs_a_runtime)
{
	atomic_int n = 0;

	CHECK_EQ(SLEY_PARALLELIZE({ count_task, &n }), SLEY_ENORUNTIME);
	CHECK_EQ(n, 0);
}
