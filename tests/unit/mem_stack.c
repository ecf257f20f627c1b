/* SPDX-License-Identifier: MIT */
/*
 * mem_stack.c - guards, reuse and bounds of the stack pool.
 */
#include "harness/test.h"
#include "mem/stack.h"
#include "os/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)

static struct stack_pool pool;

/* Asks the kernel to read it, so that a guard does not kill us. */
static bool is_readable(const char *address)
{
	static int ends[2] = { -1, -1 };
	char byte;

	if (ends[0] < 0)
		CHECK_EQ(pipe(ends), 0);
	if (write(ends[1], address, 1) == 1) {
		CHECK_EQ(read(ends[0], &byte, 1), 1);
		return true;
	}
	CHECK_EQ(errno, EFAULT);
	return false;
}

static void check_guard(const struct stack *stack)
{
	CHECK(!is_readable(stack->low - 1));
	CHECK(!is_readable(stack->low - stack_guard_size() / 2));
	CHECK(!is_readable(stack->low - stack_guard_size()));
	CHECK(is_readable(stack->low));
	CHECK(is_readable(stack->low + stack->size - 1));
}

static int nr_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	int nr = 0;

	CHECK(maps);
	for (int c = fgetc(maps); c != EOF; c = fgetc(maps))
		nr += c == '\n';
	fclose(maps);
	return nr;
}

static void check_many(bool no_guard_advice)
{
	struct stack stacks[200];

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, no_guard_advice), 0);
	for (int i = 0; i < 200; i++) {
		CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
		CHECK_GE(stacks[i].size, 32 * KIB - STACK_COLOUR_MAX);
		memset(stacks[i].low, i, stacks[i].size);
	}
	for (int i = 0; i < 200; i++) {
		char *top = stacks[i].low + stacks[i].size - 1;

		check_guard(&stacks[i]);
		CHECK_EQ(stacks[i].low[0], (char)i);
		CHECK_EQ(*top, (char)i);
	}
	for (int i = 0; i < 200; i++)
		stack_pool_put(&pool, &stacks[i]);
	stack_pool_fini(&pool);
}

TEST(every_stack_has_a_guard_below_it)
{
	check_many(false);
}

TEST(every_stack_has_a_guard_by_protection_too)
{
	check_many(true);
}

TEST_ABORTS(touching_a_guard_kills, "the lowest byte is fine")
{
	struct stack stack;

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, false), 0);
	CHECK_EQ(stack_pool_get(&pool, &stack), 0);
	((volatile char *)stack.low)[0] = 1;
	fputs("the lowest byte is fine\n", stderr);
	((volatile char *)stack.low)[-1] = 1;
}

TEST(the_stack_put_last_is_got_first)
{
	struct stack a, b, c;
	char *low_a, *low_b;

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, false), 0);
	CHECK_EQ(stack_pool_get(&pool, &a), 0);
	CHECK_EQ(stack_pool_get(&pool, &b), 0);
	low_a = a.low;
	low_b = b.low;
	stack_pool_put(&pool, &a);
	stack_pool_put(&pool, &b);
	CHECK_EQ(stack_pool_get(&pool, &c), 0);
	CHECK(c.low == low_b);
	stack_pool_put(&pool, &c);
	CHECK_EQ(stack_pool_get(&pool, &b), 0);
	CHECK_EQ(stack_pool_get(&pool, &c), 0);
	CHECK(c.low == low_a);
	stack_pool_put(&pool, &b);
	stack_pool_put(&pool, &c);
	stack_pool_fini(&pool);
}

TEST(the_tops_of_neighbours_lie_in_different_cache_sets)
{
	struct stack stacks[STACK_NR_COLOURS];
	bool is_taken[STACK_NR_COLOURS] = { false };
	size_t page_size = os_page_size();

	CHECK_EQ(stack_pool_init(&pool, 256 * KIB, false), 0);
	for (int i = 0; i < STACK_NR_COLOURS; i++) {
		size_t colour;

		CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
		colour = page_size -
			 (size_t)(stacks[i].low + stacks[i].size) % page_size;
		colour = colour % page_size / CACHE_LINE;
		CHECK_LT(colour, STACK_NR_COLOURS);
		CHECK(!is_taken[colour]);
		is_taken[colour] = true;
	}
	for (int i = 0; i < STACK_NR_COLOURS; i++)
		stack_pool_put(&pool, &stacks[i]);
	stack_pool_fini(&pool);
}

static void get_marked(struct stack *stacks, int nr)
{
	for (int i = 0; i < nr; i++) {
		CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
		stacks[i].low[stacks[i].size - 1] = 'x';
	}
}

/* Gets @nr stacks; how many of them have kept their pages? */
static int count_marked(struct stack *stacks, int nr)
{
	int nr_marked = 0;

	for (int i = 0; i < nr; i++) {
		CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
		check_guard(&stacks[i]);
		nr_marked += stacks[i].low[stacks[i].size - 1] == 'x';
	}
	return nr_marked;
}

static void put_all(struct stack *stacks, int nr)
{
	for (int i = 0; i < nr; i++)
		stack_pool_put(&pool, &stacks[i]);
}

TEST(idle_stacks_keep_their_pages_up_to_the_bound)
{
	struct stack stacks[20];

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, false), 0);
	pool.warm_max = 6;
	get_marked(stacks, 20);
	put_all(stacks, 20);
	CHECK_EQ(pool.nr_warm, 6);
	CHECK_EQ(count_marked(stacks, 20), 6);
	put_all(stacks, 20);
	stack_pool_fini(&pool);
}

TEST(aging_takes_from_those_that_were_not_needed_only)
{
	enum { NR = 2 * STACK_AGE_SHARE + 72 };
	static struct stack stacks[NR];

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, false), 0);
	pool.warm_max = STACK_WARM_ALL;
	get_marked(stacks, NR);
	put_all(stacks, NR);
	CHECK_EQ(pool.nr_warm, NR);
	stack_pool_age(&pool); /* all were needed since the beginning */
	CHECK_EQ(pool.nr_warm, NR);
	for (int i = 0; i < 72; i++)
		CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
	put_all(stacks, 72);
	stack_pool_age(&pool); /* two shares were not: two go cold */
	CHECK_EQ(pool.nr_warm, NR - 2);
	stack_pool_age(&pool); /* now all, two shares and a rest */
	CHECK_EQ(pool.nr_warm, NR - 5);
	for (int i = 0; i < NR; i++)
		stack_pool_age(&pool);
	CHECK_EQ(pool.nr_warm, 0);
	stack_pool_fini(&pool);
}

/* What went cold some other way was not there to be needed. */
TEST(aging_after_a_trim_takes_nothing_of_the_next_wave)
{
	struct stack stacks[100];

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, false), 0);
	pool.warm_max = STACK_WARM_ALL;
	get_marked(stacks, 100);
	put_all(stacks, 100);
	stack_pool_age(&pool);
	stack_pool_trim(&pool);
	stack_pool_age(&pool);
	CHECK_EQ(pool.nr_warm, 0);
	get_marked(stacks, 100);
	put_all(stacks, 100);
	stack_pool_age(&pool);
	CHECK_EQ(pool.nr_warm, 100);
	stack_pool_fini(&pool);
}

static void check_trim(bool no_guard_advice)
{
	struct stack stacks[20];

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, no_guard_advice), 0);
	get_marked(stacks, 20);
	put_all(stacks, 10);
	stack_pool_trim(&pool);
	CHECK_EQ(pool.nr_warm, 0);
	for (int i = 10; i < 20; i++) /* those in use are not touched */
		CHECK_EQ(stacks[i].low[stacks[i].size - 1], 'x');
	CHECK_EQ(count_marked(stacks, 10), 0);
	put_all(stacks, 20);
	stack_pool_fini(&pool);
}

TEST(trimming_gives_pages_back_and_keeps_guards)
{
	check_trim(false);
	check_trim(true);
}

TEST(a_hundred_thousand_stacks_are_few_mappings)
{
	int nr = test_scale(100000);
	struct stack *stacks = calloc((size_t)nr, sizeof(*stacks));
	struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int before = nr_mappings();

	CHECK(stacks);
	(void)setrlimit(RLIMIT_AS, &unlimited);
	CHECK_EQ(stack_pool_init(&pool, 256 * KIB, false), 0);
	for (int i = 0; i < nr; i++)
		CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
	if (pool.no_guard_advice)
		test_skip("the kernel knows no advised guards");
	for (int i = 0; i < nr; i += 997)
		check_guard(&stacks[i]);
	CHECK_LT(nr_mappings() - before, 500);
	put_all(stacks, nr);
	stack_pool_fini(&pool);
	CHECK_LT(nr_mappings() - before, test_sanitizer() ? 500 : 50);
	free(stacks);
}

TEST(at_the_limit_of_mappings_the_pool_refuses_and_recovers)
{
	static struct stack stacks[200000];
	int nr = 0, err;

	if (test_sanitizer())
		test_skip("the sanitizer needs mappings itself");
	CHECK_EQ(stack_pool_init(&pool, 16 * KIB, true), 0);
	do {
		err = stack_pool_get(&pool, &stacks[nr]);
	} while (!err && ++nr < 200000);
	if (!err)
		test_skip("vm.max_map_count is very large here");
	CHECK_EQ(err, -ENOMEM);
	CHECK_GT(nr, 1000);
	/* What there is goes on working. */
	stack_pool_put(&pool, &stacks[nr - 1]);
	CHECK_EQ(stack_pool_get(&pool, &stacks[nr - 1]), 0);
	CHECK_EQ(stack_pool_get(&pool, &stacks[nr]), -ENOMEM);
	check_guard(&stacks[nr - 1]);
	put_all(stacks, nr);
	stack_pool_fini(&pool);

	CHECK_EQ(stack_pool_init(&pool, 16 * KIB, true), 0);
	CHECK_EQ(stack_pool_get(&pool, &stacks[0]), 0);
	stack_pool_put(&pool, &stacks[0]);
	stack_pool_fini(&pool);
}

TEST(without_address_space_the_pool_refuses)
{
	struct rlimit small = { .rlim_cur = 256 << 20, .rlim_max = 256 << 20 };
	static struct stack stacks[200];
	int nr = 0;

	if (test_sanitizer())
		test_skip("the sanitizer needs the address space itself");
	if (test_emulated())
		test_skip("qemu-user ignores RLIMIT_AS");
	CHECK_EQ(stack_pool_init(&pool, 4096 * KIB, false), 0);
	CHECK_EQ(setrlimit(RLIMIT_AS, &small), 0);
	while (nr < 200 && !stack_pool_get(&pool, &stacks[nr]))
		nr++;
	CHECK_GT(nr, 0); /* smaller chunks are tried */
	CHECK_LT(nr, 64);
	put_all(stacks, nr);
	stack_pool_fini(&pool);
}

TEST(sizes_that_make_no_sense_are_refused)
{
	CHECK_EQ(stack_pool_init(&pool, 0, false), -EINVAL);
	CHECK_EQ(stack_pool_init(&pool, STACK_SIZE_MIN - 1, false), -EINVAL);
	CHECK_EQ(stack_pool_init(&pool, SIZE_MAX, false), -EINVAL);
	CHECK_EQ(stack_pool_init(&pool, STACK_SIZE_MIN, false), 0);
	stack_pool_fini(&pool);
}

static void *get_and_put(void *arg)
{
	struct stack stacks[8];

	for (int round = 0; round < test_scale(4000); round++) {
		int nr = 1 + (int)test_random(8);

		for (int i = 0; i < nr; i++) {
			CHECK_EQ(stack_pool_get(&pool, &stacks[i]), 0);
			*(void **)stacks[i].low = arg;
		}
		for (int i = 0; i < nr; i++) {
			CHECK(*(void **)stacks[i].low == arg);
			stack_pool_put(&pool, &stacks[i]);
		}
	}
	return NULL;
}

TEST(no_stack_is_handed_out_twice_to_busy_threads)
{
	pthread_t threads[4];

	CHECK_EQ(stack_pool_init(&pool, 32 * KIB, false), 0);
	pool.warm_max = 8; /* so that some are discarded, too */
	for (int i = 0; i < 4; i++)
		threads[i] = test_thread(get_and_put, &threads[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(pool.nr_out, 0);
	stack_pool_fini(&pool);
}
