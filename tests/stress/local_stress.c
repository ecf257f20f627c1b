/* SPDX-License-Identifier: MIT */
/*
 * local_stress.c - values that belong to tasks and threads, and shared memory
 * that is gone with the last of them.
 *
 * Each task has values of its own under the same keys, whatever else runs on
 * the thread it resumes on.  Each value is destroyed once, with its task.
 */
#include "stress/crowd.h"

#include <stdlib.h>

#define NR_KEYS 7 /* more than fit without memory of their own */
#define NR_LOOPS 30

static atomic_int nr_values, nr_objects;

static void destroy_value(void *value)
{
	*(uint64_t *)value = UINT64_MAX;
	free(value);
	atomic_fetch_sub(&nr_values, 1);
}

static struct sley_local key[NR_KEYS] = {
	SLEY_LOCAL_INIT(destroy_value), SLEY_LOCAL_INIT(destroy_value),
	SLEY_LOCAL_INIT(destroy_value), SLEY_LOCAL_INIT(destroy_value),
	SLEY_LOCAL_INIT(destroy_value), SLEY_LOCAL_INIT(destroy_value),
	SLEY_LOCAL_INIT(destroy_value),
};

struct visitor {
	uint64_t number;
	unsigned int *shared; /* plain: see last_of_them() */
};

static void set_values(uint64_t number)
{
	for (int i = 0; i < NR_KEYS; i++) {
		uint64_t *value = malloc(sizeof(*value));

		CHECK(value);
		CHECK(!sley_local_get(&key[i]));
		*value = number + (uint64_t)i;
		atomic_fetch_add(&nr_values, 1);
		CHECK_EQ(sley_local_set(&key[i], value), 0);
	}
}

static void check_values(uint64_t number)
{
	for (int i = 0; i < NR_KEYS; i++) {
		uint64_t *value = sley_local_get(&key[i]);

		CHECK(value);
		CHECK_EQ(*value, number + (uint64_t)i);
	}
}

static void visit(void *arg)
{
	struct visitor *v = arg;

	set_values(v->number);
	for (int i = 0; i < 8; i++) {
		dawdle();
		check_values(v->number);
	}
	sley_shared_unref(v->shared);
}

static void *visit_in_thread(void *arg)
{
	visit(arg);
	return NULL;
}

/* By whoever dropped the last reference, after all that the others did. */
static void last_of_them(void *object)
{
	CHECK_EQ(*(unsigned int *)object, 7);
	*(unsigned int *)object = 0;
	atomic_fetch_sub(&nr_objects, 1);
}

/* Two tasks and now and then a thread, each with values of its own. */
static int send_visitors(void *scene, unsigned int index)
{
	unsigned int *shared =
		sley_shared_create(sizeof(*shared), last_of_them);
	struct sley_group group = SLEY_GROUP_INIT;
	struct visitor visitor[3];
	struct sley_task task[2];
	pthread_t thread;
	bool with_thread = one_in(8);

	(void)scene;
	CHECK(shared);
	*shared = 7;
	atomic_fetch_add(&nr_objects, 1);
	for (uint64_t i = 0; i < 3; i++)
		visitor[i] = (struct visitor){ (index * 4 + i) << 32, shared };
	for (int i = 0; i < 2; i++) {
		sley_shared_ref(shared);
		sley_spawn(&group, &task[i], visit, &visitor[i]);
	}
	if (with_thread) {
		sley_shared_ref(shared);
		thread = test_thread(visit_in_thread, &visitor[2]);
	}
	sley_shared_unref(shared);
	sley_join(&group);
	if (with_thread)
		pthread_join(thread, NULL);
	return 0;
}

static void play(void)
{
	struct crowd crowd = { .act = send_visitors,
			       .nr_tasks = 8,
			       .rounds = NR_LOOPS };

	crowd_run(&crowd);
	CHECK_EQ(atomic_load(&nr_values), 0);
	CHECK_EQ(atomic_load(&nr_objects), 0);
}

STRESS(values_stay_with_their_task, play);
