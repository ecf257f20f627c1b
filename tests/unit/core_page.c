/* SPDX-License-Identifier: MIT */
/*
 * core_page.c - the page of core/trace/page.h: its layout, what the monitor writes,
 * and memory that holds anything.
 */
#include "core/trace/page.h"

#include "harness/test.h"

#include <errno.h>
#include <sley/sley.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 3

static void *new_page(void)
{
	void *memory = calloc(1, page_size(WORKERS));

	CHECK(memory != NULL);
	return memory;
}

/* The same bytes on every processor: readers of other processes rely on them. */
TEST(the_bytes_of_a_page_are_fixed)
{
	static const unsigned char head[32] = {
		's', 'l', 'e', 'y', 'p', 'a', 'g', 'e', 1, 0, 0, 0, 3, 0, 0, 0,
		128, 0,   0,   0,   64,  0,   0,   0,   2, 0, 0, 0, 0, 0, 0, 0,
	};
	struct page_runtime runtime = { .time_ns = 0x0102030405060708 };
	struct page_worker worker = { .finished = 0x11 };
	unsigned char *memory = new_page();

	page_init((struct stats_page *)(void *)memory, WORKERS);
	page_begin((struct stats_page *)(void *)memory);
	page_put_runtime((struct stats_page *)(void *)memory, &runtime);
	page_put_worker((struct stats_page *)(void *)memory, 2, &worker);
	page_end((struct stats_page *)(void *)memory);
	CHECK(memcmp(memory, head, sizeof(head)) == 0);
	CHECK_EQ(memory[32], 8);
	CHECK_EQ(memory[39], 1);
	CHECK_EQ(memory[128 + 2 * 64], 0x11);
	free(memory);
}

/* Copies of each length, of which the address sanitizer knows the end. */
TEST(a_truncated_page_is_refused)
{
	struct page_worker worker[WORKERS];
	struct page_runtime runtime;
	struct stats_page *page = new_page();

	page_init(page, WORKERS);
	for (size_t size = 0; size < page_size(WORKERS); size++) {
		char *copy = malloc(size + 1);

		CHECK(copy != NULL);
		memcpy(copy, page, size);
		CHECK_EQ(page_read(copy, size, &runtime, worker, WORKERS),
			 -EINVAL);
		free(copy);
	}
	CHECK_EQ(page_read(page, page_size(WORKERS), &runtime, worker, WORKERS),
		 WORKERS);
	CHECK_EQ(page_read(page, page_size(WORKERS), &runtime, worker, 1),
		 WORKERS);
	free(page);
}

TEST(a_page_that_was_scribbled_on_does_no_harm)
{
	struct page_worker worker[WORKERS];
	struct page_runtime runtime;
	struct stats_page *page = new_page();
	unsigned char *byte = (unsigned char *)page;

	for (int i = 0; i < test_scale(20000); i++) {
		int nr;

		memset(page, 0, page_size(WORKERS));
		page_init(page, WORKERS);
		for (int n = 0; n < 4; n++)
			byte[test_random(page_size(WORKERS))] =
				(unsigned char)test_random(256);
		byte[test_random(40)] = (unsigned char)test_random(256);
		nr = page_read(page, page_size(WORKERS), &runtime, worker,
			       WORKERS);
		CHECK(nr == -EINVAL || nr == -EAGAIN ||
		      (nr >= 0 && nr <= WORKERS));
	}
	/* A writer that died in the middle. */
	memset(page, 0, page_size(WORKERS));
	page_init(page, WORKERS);
	page_begin(page);
	CHECK_EQ(page_read(page, page_size(WORKERS), &runtime, worker, WORKERS),
		 -EAGAIN);
	free(page);
}

static atomic_bool over;

static void hold(void *arg)
{
	(void)arg;
	while (!atomic_load(&over))
		test_nap_ms(1);
}

static struct page_runtime read_page(const void *page,
				     struct page_worker *worker)
{
	struct page_runtime runtime = { 0 };

	CHECK_EVENTUALLY(page_read(page, page_size(WORKERS), &runtime, worker,
				   WORKERS) == WORKERS);
	return runtime;
}

TEST(the_monitor_writes_what_the_runtime_counts)
{
	struct sley_config config = *test_config();
	struct page_worker worker[WORKERS];
	void *page = new_page();
	struct sley *rt;
	int nr_busy = 0;

	config.workers = WORKERS;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(page_attach(rt, page), 0);
	CHECK_EQ(page_attach(rt, page), -EINVAL);
	CHECK_EQ(sley_schedule_on(rt, hold, NULL, NULL), 0);
	CHECK_EVENTUALLY(read_page(page, worker).time_ns > 0);
	/* One of the workers is held, and has a load in the end. */
	for (int i = 0; i < 1000 && !nr_busy; i++) {
		(void)read_page(page, worker);
		for (int w = 0; w < WORKERS; w++)
			nr_busy += worker[w].load > 900 && !worker[w].asleep;
		test_nap_ms(10);
	}
	CHECK_EQ(nr_busy, 1);
	atomic_store(&over, true);
	CHECK_EQ(sley_destroy(rt), 0);
	free(page);
}

TEST(a_runtime_without_a_monitor_has_no_page)
{
	struct sley_config config = *test_config();
	void *page = new_page();
	struct sley *rt;

	config.workers = SLEY_SINGLE;
	CHECK_EQ(sley_create(&rt, &config), 0);
	CHECK_EQ(page_attach(rt, page), -EINVAL);
	CHECK_EQ(sley_destroy(rt), 0);
	free(page);
}
