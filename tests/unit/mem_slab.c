/* SPDX-License-Identifier: MIT */
/*
 * mem_slab.c - objects that do not overlap, do not move, and can be counted.
 */
#include "harness/test.h"

#include "base/atomic.h"
#include "base/rand.h"
#include "mem/slab.h"
#include "os/thread.h"

#include <stdlib.h>
#include <string.h>

static void count_object(void *object, void *arg)
{
	(void)object;
	(*(int *)arg)++;
}

static int nr_visited(struct slab *slab)
{
	int nr = 0;

	slab_for_each(slab, count_object, &nr);
	return nr;
}

TEST(an_unused_slab_has_allocated_nothing)
{
	struct mem mem;
	struct slab slab;

	mem_init(&mem, NULL);
	slab_init(&slab, &mem, 100);
	CHECK_EQ(nr_visited(&slab), 0);
	CHECK_EQ(mem_allocated(&mem), 0);
	slab_fini(&slab);
}

TEST(objects_of_every_size_are_aligned_zeroed_and_apart)
{
	static const size_t sizes[] = { 1, 8, 64, 65, 200, 4096, 70000 };
	struct mem mem;

	mem_init(&mem, NULL);
	for (int s = 0; s < 7; s++) {
		unsigned char *object[50];
		struct slab slab;

		slab_init(&slab, &mem, sizes[s]);
		for (int i = 0; i < 50; i++) {
			object[i] = slab_alloc(&slab);
			CHECK(object[i]);
			CHECK_EQ((uintptr_t)object[i] % CACHE_LINE, 0);
			for (size_t b = 0; b < sizes[s]; b++)
				CHECK_EQ(object[i][b], 0);
			memset(object[i], i + 1, sizes[s]);
		}
		for (int i = 0; i < 50; i++) {
			CHECK_EQ(object[i][0], i + 1);
			CHECK_EQ(object[i][sizes[s] - 1], i + 1);
		}
		CHECK_EQ(slab_nr_live(&slab), 50);
		slab_fini(&slab);
		CHECK_EQ(mem_allocated(&mem), 0);
	}
}

TEST(an_object_used_again_is_as_its_last_user_left_it)
{
	struct mem mem;
	struct slab slab;
	uint64_t *object;

	mem_init(&mem, NULL);
	slab_init(&slab, &mem, 4 * sizeof(*object));
	object = slab_alloc(&slab);
	for (int i = 0; i < 4; i++)
		object[i] = 7;
	slab_free(&slab, object);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(object[i], 7); /* a stale reader may look */
	CHECK(slab_alloc(&slab) == object);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(object[i], 7);
	slab_fini(&slab);
}

TEST(freed_objects_are_used_again_before_new_chunks)
{
	struct mem mem;
	struct slab slab;
	void *object[3000];
	uint64_t before;

	mem_init(&mem, NULL);
	slab_init(&slab, &mem, 128);
	for (int i = 0; i < 3000; i++)
		object[i] = slab_alloc(&slab);
	before = mem_allocated(&mem);
	CHECK_LE(before, 3000 * 128 * 5 / 4);
	for (int round = 0; round < 3; round++) {
		for (int i = round; i < 3000; i += 2)
			slab_free(&slab, object[i]);
		for (int i = round; i < 3000; i += 2)
			object[i] = slab_alloc(&slab);
	}
	CHECK_EQ(mem_allocated(&mem), before);
	CHECK_EQ(nr_visited(&slab), 3000);
	slab_fini(&slab);
	CHECK_EQ(mem_allocated(&mem), 0);
}

/* Each live object holds its own address and counts its visits. */
struct visited {
	struct visited *self;
	int nr_visits;
};

static void visit(void *object, void *arg)
{
	struct visited *v = object;

	CHECK(v->self == v);
	v->nr_visits++;
	(*(int *)arg)++;
}

TEST(for_each_visits_exactly_the_live_objects)
{
	static struct visited *live[4000];
	int nr = 0, steps = test_scale(40000);
	struct rand rand;
	struct mem mem;
	struct slab slab;

	rand_seed(&rand, test_seed());
	mem_init(&mem, NULL);
	slab_init(&slab, &mem, sizeof(struct visited));
	for (int step = 1; step <= steps; step++) {
		uint32_t i = rand_below(&rand, 4000);
		int nr_visits = 0;

		if (live[i]) {
			live[i]->self = NULL;
			slab_free(&slab, live[i]);
			live[i] = NULL;
			nr--;
		} else {
			live[i] = slab_alloc(&slab);
			*live[i] = (struct visited){ .self = live[i] };
			nr++;
		}
		if (step % 500)
			continue;
		for (int k = 0; k < 4000; k++) {
			if (live[k])
				live[k]->nr_visits = 0;
		}
		slab_for_each(&slab, visit, &nr_visits);
		CHECK_EQ(nr_visits, nr);
		for (int k = 0; k < 4000; k++)
			CHECK(!live[k] || live[k]->nr_visits == 1);
	}
	CHECK_EQ(slab_nr_live(&slab), nr);
	slab_fini(&slab);
}

static bool is_out_of_memory;

static void *limited_alloc(void *self, size_t size, size_t align)
{
	void *memory;

	(void)self;
	if (is_out_of_memory || posix_memalign(&memory, align, size))
		return NULL;
	return memory;
}

static void limited_free(void *self, void *memory, size_t size)
{
	(void)self;
	(void)size;
	free(memory);
}

TEST(running_out_of_memory_is_survived)
{
	const struct sley_allocator hook = { limited_alloc, limited_free,
					     NULL };
	struct mem mem;
	struct slab slab;
	void *object;

	mem_init(&mem, &hook);
	slab_init(&slab, &mem, 64);
	is_out_of_memory = true;
	CHECK(slab_alloc(&slab) == NULL);
	is_out_of_memory = false;
	object = slab_alloc(&slab);
	CHECK(object);
	is_out_of_memory = true;
	CHECK(slab_alloc(&slab)); /* the chunk has more of them */
	slab_free(&slab, object);
	CHECK_EQ(nr_visited(&slab), 1);
	slab_fini(&slab);
}

/* Threads own what they allocate: each writes its number all over it. */
struct shared {
	struct slab slab;
	uint32_t is_stopping;
	int nr_steps;
};

static void *churn(void *arg)
{
	struct shared *s = arg;
	uint64_t *mine[64] = { 0 }, stamp = (uint64_t)(uintptr_t)&mine;

	for (int step = 0; step < s->nr_steps; step++) {
		uint64_t **slot = &mine[test_random(64)];

		if (*slot) {
			CHECK((*slot)[0] == stamp && (*slot)[15] == stamp);
			slab_free(&s->slab, *slot);
			*slot = NULL;
		} else {
			*slot = slab_alloc(&s->slab);
			CHECK(*slot);
			(*slot)[0] = (*slot)[15] = stamp;
		}
	}
	for (int i = 0; i < 64; i++) {
		if (mine[i])
			slab_free(&s->slab, mine[i]);
	}
	return NULL;
}

static void *keep_counting(void *arg)
{
	struct shared *s = arg;

	while (!load_acquire(&s->is_stopping)) {
		CHECK_LE(nr_visited(&s->slab), 3 * 64);
		os_thread_yield(); /* it has the lock nearly always */
	}
	return NULL;
}

TEST(threads_share_a_slab_while_another_counts)
{
	struct shared s = { .nr_steps = test_scale(100000) };
	pthread_t thread[3], counter;
	struct mem mem;

	mem_init(&mem, NULL);
	slab_init(&s.slab, &mem, 128);
	counter = test_thread(keep_counting, &s);
	for (int i = 0; i < 3; i++)
		thread[i] = test_thread(churn, &s);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	store_release(&s.is_stopping, 1);
	pthread_join(counter, NULL);
	CHECK_EQ(slab_nr_live(&s.slab), 0);
	slab_fini(&s.slab);
	CHECK_EQ(mem_allocated(&mem), 0);
}

#ifndef NDEBUG
TEST_ABORTS(freeing_twice_is_noticed, "sley: internal error: ")
{
	struct mem mem;
	struct slab slab;
	void *object;

	mem_init(&mem, NULL);
	slab_init(&slab, &mem, 64);
	object = slab_alloc(&slab);
	slab_free(&slab, object);
	slab_free(&slab, object);
}
#endif
