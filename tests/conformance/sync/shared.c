/* SPDX-License-Identifier: MIT */
/*
 * shared.c - reference-counted memory, and every primitive in it.
 *
 * In each round two sides share an object and the last one out frees it; which
 * one that is, is up to chance.  AddressSanitizer sees who comes too late.
 */
#include "conformance/bound.h"

/* ---- the memory ------------------------------------------------------------ */

static atomic_int nr_last;

static void count_last(void *object)
{
	CHECK_EQ(*(int *)object, 42);
	atomic_fetch_add(&nr_last, 1);
}

TEST(m35_the_last_reference_runs_the_function)
{
	int *object = sley_shared_create(sizeof(*object), count_last);

	CHECK(object != NULL);
	CHECK_EQ((uintptr_t)object % 16, 0);
	CHECK_EQ(*object, 0);
	*object = 42;
	CHECK(sley_shared_ref(object) == object);
	sley_shared_unref(object);
	CHECK_EQ(nr_last, 0);
	sley_shared_unref(object);
	CHECK_EQ(nr_last, 1);
	sley_shared_unref(NULL);
}

TEST(shared_memory_that_cannot_be_had_is_null)
{
	CHECK(sley_shared_create(0, NULL) == NULL);
	CHECK(sley_shared_create(SIZE_MAX, NULL) == NULL);
	/* Sanitizers would rather abort. */
	if (!test_sanitizer())
		CHECK(sley_shared_create(SIZE_MAX / 4, NULL) == NULL);
}

/* marl's shared finally: copies go to tasks, the end comes once. */
static void drop(void *arg)
{
	sley_yield();
	sley_shared_unref(arg);
}

TEST_WORKERS(m35_a_shared_finally_runs_once_after_all_tasks)
{
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[50];
	struct sley *rt = start();
	int *object = sley_shared_create(sizeof(*object), count_last);

	CHECK(object != NULL);
	*object = 42;
	for (int i = 0; i < 50; i++)
		sley_spawn(&group, &task[i], drop, sley_shared_ref(object));
	sley_shared_unref(object);
	sley_join(&group);
	CHECK_EQ(nr_last, 1);
	stop(rt);
}

/* ---- each primitive ----------------------------------------------------------- */

struct all {
	struct sley_event event, automatic;
	struct sley_waitgroup wg;
	struct sley_mutex mutex;
	struct sley_cond cond;
	bool ready; /* under the mutex */
	int locked; /* under the mutex */
};

/* One scene for each: what the other side does, and what this side does. */
static void set_event(struct all *all)
{
	sley_event_set(&all->event);
}

static void wait_event(struct all *all)
{
	CHECK_EQ(sley_event_wait(&all->event), 0);
}

static void set_automatic(struct all *all)
{
	sley_event_set(&all->automatic);
}

static void wait_automatic(struct all *all)
{
	CHECK_EQ(sley_event_wait(&all->automatic), 0);
}

static void count_down(struct all *all)
{
	(void)sley_waitgroup_done(&all->wg);
}

static void wait_countdown(struct all *all)
{
	CHECK_EQ(sley_waitgroup_wait(&all->wg), 0);
}

static void lock(struct all *all)
{
	sley_mutex_lock(&all->mutex);
	CHECK_EQ(all->locked++, 0);
	CHECK_EQ(--all->locked, 0);
	sley_mutex_unlock(&all->mutex);
}

static void notify(struct all *all)
{
	sley_mutex_lock(&all->mutex);
	all->ready = true;
	sley_mutex_unlock(&all->mutex);
	sley_cond_notify_all(&all->cond);
}

static void wait_condition(struct all *all)
{
	sley_mutex_lock(&all->mutex);
	while (!all->ready)
		sley_cond_wait(&all->cond, &all->mutex);
	sley_mutex_unlock(&all->mutex);
}

struct scene {
	void (*waker)(struct all *all);
	void (*waiter)(struct all *all);
};

static const struct scene scenes[] = {
	{ set_event, wait_event },      { set_automatic, wait_automatic },
	{ count_down, wait_countdown }, { lock, lock },
	{ notify, wait_condition },
};

struct side {
	struct all *all;
	void (*act)(struct all *all);
};

static void act_and_drop(void *arg)
{
	struct side *side = arg;

	side->act(side->all);
	sley_shared_unref(side->all);
}

static void play(const struct scene *scene, int round)
{
	struct all *all = SLEY_SHARED(struct all);
	struct side waker, waiter;
	struct sley_group group = SLEY_GROUP_INIT;
	struct sley_task task[2];

	CHECK(all != NULL);
	sley_event_init(&all->automatic, true, false);
	sley_waitgroup_add(&all->wg, 1);
	waker = (struct side){ sley_shared_ref(all), scene->waker };
	waiter = (struct side){ all, scene->waiter };
	sley_spawn(&group, &task[0], act_and_drop,
		   round % 2 ? &waiter : &waker);
	sley_spawn(&group, &task[1], act_and_drop,
		   round % 2 ? &waker : &waiter);
	sley_join(&group);
}

TEST_WORKERS(shared_primitives_may_be_dropped_while_the_waker_is_inside)
{
	struct sley *rt = start();

	for (int i = 0; i < test_scale(400); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(scenes); j++)
			play(&scenes[j], i);
	}
	stop(rt);
}

static void *act_in_thread(void *arg)
{
	act_and_drop(arg);
	return NULL;
}

TEST(shared_primitives_between_plain_threads)
{
	for (int i = 0; i < test_scale(400); i++) {
		const struct scene *scene = &scenes[i % ARRAY_SIZE(scenes)];
		struct all *all = SLEY_SHARED(struct all);
		struct side waker;
		pthread_t thread;

		CHECK(all != NULL);
		sley_event_init(&all->automatic, true, false);
		sley_waitgroup_add(&all->wg, 1);
		waker = (struct side){ sley_shared_ref(all), scene->waker };
		thread = test_thread(act_in_thread, &waker);
		scene->waiter(all);
		sley_shared_unref(all);
		pthread_join(thread, NULL);
	}
}

/* ---- alignment ------------------------------------------------------------------------ */

struct wide {
	_Alignas(256) char bytes[256];
};

TEST(m34_shared_memory_is_aligned_as_asked)
{
	struct wide *wide = SLEY_SHARED(struct wide);

	CHECK(wide && (uintptr_t)wide % 256 == 0);
	CHECK_EQ(wide->bytes[255], 0);
	sley_shared_unref(wide);
	for (size_t align = 1; align <= SLEY_SHARED_ALIGN_MAX; align *= 2) {
		char *object = sley_shared_create_aligned(33, align, NULL);

		CHECK(object && (uintptr_t)object % align == 0);
		CHECK_EQ((uintptr_t)object % 16, 0);
		memset(object, 1, 33);
		sley_shared_unref(sley_shared_ref(object));
		sley_shared_unref(object);
	}
	CHECK(!sley_shared_create_aligned(8, 0, NULL));
	CHECK(!sley_shared_create_aligned(8, 24, NULL));
	CHECK(!sley_shared_create_aligned(8, SLEY_SHARED_ALIGN_MAX * 2, NULL));
	CHECK(!sley_shared_create_aligned(0, 16, NULL));
}
