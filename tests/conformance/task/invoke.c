/* SPDX-License-Identifier: MIT */
/*
 * invoke.c - the calls of a list, by fork and join.
 */
#include "conformance/everywhere.h"

static void check_any_number(void *arg)
{
	static struct sley_invocation calls[2000];
	static atomic_int n[2000];

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		calls[i] = (struct sley_invocation){ count_task, &n[i] };
	for (size_t nr = 0; nr <= ARRAY_SIZE(calls); nr = nr * 2 + 1) {
		memset(n, 0, sizeof(n));
		sley_invoke(calls, nr);
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
			CHECK_EQ(n[i], i < nr);
		CHECK_EQ(sley_invoke_with(calls, nr, SLEY_HOW(.grain = 7)), 0);
		for (size_t i = 0; i < nr; i++)
			CHECK_EQ(n[i], 2);
	}
}

TEST_WORKERS(invoke_any_number_of_calls)
{
	from_everywhere(check_any_number, NULL);
}

TEST(invoke_with_any_number_of_workers)
{
	with_many_workers(check_any_number, NULL);
}

static void nested(void *arg)
{
	atomic_int *n = arg;

	SLEY_INVOKE({ count_task, n }, { count_task, n }, { count_task, n });
	CHECK_EQ(sley_sleep(50 * SLEY_USEC), 0);
}

static void check_nested(void *arg)
{
	atomic_int n = 0;

	(void)arg;
	SLEY_INVOKE({ nested, &n }, { nested, &n }, { count_task, &n },
		    { nested, &n });
	CHECK_EQ(n, 10);
}

TEST_WORKERS(invoke_calls_may_block_and_invoke)
{
	from_everywhere(check_nested, NULL);
}

struct meeting {
	atomic_int here;
};

static void meet(void *arg)
{
	struct meeting *m = arg;

	atomic_fetch_add(&m->here, 1);
	while (atomic_load(&m->here) < 2)
		test_nap_ms(1);
}

static void check_beside(void *arg)
{
	struct meeting m = { 0 };

	(void)arg;
	SLEY_INVOKE({ meet, &m }, { meet, &m });
}

TEST_WORKERS(invoke_other_workers_help)
{
	struct sley *rt = start();

	if (nr_runners() < 2)
		test_skip("needs a thief");
	check_beside(NULL);
	run_task(check_beside, NULL);
	stop(rt);
}

struct victim {
	struct sley_task task;
	atomic_int n;
};

static void cancel_it(void *arg)
{
	struct victim *v = arg;

	sley_cancel(&v->task);
	atomic_fetch_add(&v->n, 1);
}

static void invoke_until_cancelled(void *arg)
{
	struct victim *v = arg;
	struct sley_invocation calls[100];

	for (int i = 0; i < 100; i++)
		calls[i] = (struct sley_invocation){ cancel_it, v };
	CHECK_EQ(sley_invoke_with(calls, 100, NULL), -ECANCELED);
	CHECK_LE(1, v->n);
	CHECK_LT(v->n, 100);
	if (nr_runners() == 1)
		CHECK_EQ(v->n, 1);
	atomic_store(&v->n, 0);
	sley_invoke(calls, 100);
	CHECK_EQ(v->n, 100);
	CHECK_EQ(sley_invoke_with(calls, 100, SLEY_HOW(.priority = 1)),
		 -ECANCELED);
	CHECK_EQ(v->n, 100);
	CHECK_EQ(sley_invoke_with(calls, 100, SLEY_HOW(.priority = 100)),
		 SLEY_EPRIORITY);
}

TEST_WORKERS(invoke_is_cancelled_with_the_caller)
{
	struct sley *rt = start();
	struct sley_group group = SLEY_GROUP_INIT;
	static struct victim v;

	if (nr_runners() > 8)
		test_skip("so many workers may have begun all of them");
	sley_spawn(&group, &v.task, invoke_until_cancelled, &v);
	sley_join(&group);
	stop(rt);
}
