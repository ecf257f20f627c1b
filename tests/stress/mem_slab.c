/* SPDX-License-Identifier: MIT */
/*
 * mem_slab.c - objects that some threads allocate and others free, while one
 * looks at all that are live.
 *
 * An object is out once at a time: who has it writes its number and finds it
 * again.  The counts are right when everybody is done.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "mem/slab.h"
#include "os/thread.h"

#define NR_MAKERS 3
#define NR_TAKERS 3
#define NR_OBJECTS 500000
#define NR_SHELVES 64

struct object {
	uint64_t owner; /* 0: nobody; read by the one who looks */
	uint64_t twin;  /* plain: of who has it                 */
};

static struct mem mem;
static struct slab slab;
static struct object *shelf[NR_SHELVES];
static uint32_t nr_each, nr_making = NR_MAKERS;

/* Into @place, or out of it: what was there. */
static struct object *swap(uint64_t place, struct object *object)
{
	return xchg_acq_rel(&shelf[place], object);
}

static void take(struct object *object)
{
	if (!object)
		return;
	/* relaxed: its own. */
	CHECK_EQ(load_relaxed(&object->owner), object->twin);
	CHECK_NE(object->twin, 0);
	/* relaxed: for the one who looks. */
	store_relaxed(&object->owner, 0);
	slab_free(&slab, object);
}

static void *make(void *arg)
{
	for (uint32_t i = 1; i <= nr_each; i++) {
		struct object *object = slab_alloc(&slab);
		uint64_t number = (uint64_t)(uintptr_t)arg << 32 | i;

		CHECK(object);
		/* relaxed: its own; a new one is zeroed, an old one was put
		 * back so. */
		CHECK_EQ(load_relaxed(&object->owner), 0);
		/* relaxed: the shelf publishes it. */
		store_relaxed(&object->owner, number);
		object->twin = number;
		take(swap(test_random(NR_SHELVES), object));
	}
	(void)sub_acq_rel(&nr_making, 1);
	return NULL;
}

static void *empty(void *arg)
{
	while (load_acquire(&nr_making)) {
		take(swap(test_random(NR_SHELVES), NULL));
		if (test_random(64) == 0)
			os_thread_yield();
	}
	return arg;
}

static void look_at(void *object, void *arg)
{
	/* relaxed: its user may be writing it at this moment. */
	if (load_relaxed(&((struct object *)object)->owner))
		++*(uint64_t *)arg;
}

static void *look(void *arg)
{
	while (load_acquire(&nr_making)) {
		uint64_t nr = 0;

		slab_for_each(&slab, look_at, &nr);
		CHECK_LE(nr, NR_SHELVES + 2 * (NR_MAKERS + NR_TAKERS));
		os_thread_yield();
	}
	return arg;
}

TEST(objects_freed_by_others_are_out_once_at_a_time)
{
	pthread_t thread[NR_MAKERS + NR_TAKERS + 1];
	int n = 0;

	nr_each = (uint32_t)test_scale(NR_OBJECTS);
	mem_init(&mem, &test_config()->allocator);
	slab_init(&slab, &mem, sizeof(struct object));
	for (uintptr_t i = 1; i <= NR_MAKERS; i++)
		thread[n++] = test_thread(make, (void *)i);
	for (int i = 0; i < NR_TAKERS; i++)
		thread[n++] = test_thread(empty, NULL);
	thread[n++] = test_thread(look, NULL);
	while (n)
		pthread_join(thread[--n], NULL);
	for (uint64_t i = 0; i < NR_SHELVES; i++)
		take(swap(i, NULL));
	CHECK_EQ(slab_nr_live(&slab), 0);
	slab_fini(&slab);
	test_count((uint64_t)nr_each * NR_MAKERS);
}
