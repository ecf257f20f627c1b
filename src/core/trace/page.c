/* SPDX-License-Identifier: MIT */
/*
 * page.c - see page.h.
 */
#include "core/trace/page.h"

#include <errno.h>
#include <sley/runtime.h>

#ifndef SLEY_MODEL
#define ATTEMPTS 1000
#else
#define ATTEMPTS 1
#endif

void page_init(struct stats_page *page, uint32_t nr_workers)
{
	page->magic = PAGE_MAGIC;
	page->version = PAGE_VERSION;
	page->nr_workers = nr_workers;
	page->worker_offset = offsetof(struct stats_page, worker);
	page->worker_size = sizeof(struct page_worker);
}

static void write_words(uint64_t *to, const void *from, size_t size)
{
	const uint64_t *word = from;

	for (size_t i = 0; i < size / sizeof(*word); i++)
		store_release(&to[i], word[i]); /* PG1 */
}

void page_begin(struct stats_page *page)
{
	/* relaxed: only the writer changes the counter. */
	uint64_t counter = load_relaxed(&page->counter);

	/* relaxed: PG1 publishes the odd counter. */
	store_relaxed(&page->counter, counter | 1);
}

void page_put_runtime(struct stats_page *page,
		      const struct page_runtime *runtime)
{
	write_words((uint64_t *)(void *)&page->runtime, runtime,
		    sizeof(*runtime));
}

void page_put_worker(struct stats_page *page, uint32_t i,
		     const struct page_worker *worker)
{
	write_words((uint64_t *)(void *)&page->worker[i], worker,
		    sizeof(*worker));
}

void page_end(struct stats_page *page)
{
	/* relaxed: as above. */
	uint64_t counter = load_relaxed(&page->counter);

	store_release(&page->counter, counter + 1); /* PG2 */
}

static void read_words(void *to, const uint64_t *from, size_t size)
{
	uint64_t *word = to;

	for (size_t i = 0; i < size / sizeof(*word); i++)
		word[i] = load_acquire(&from[i]); /* PG1 */
}

/* Is there a page of this version, all of it within @size bytes? */
static bool is_page(const struct stats_page *page, size_t size,
		    uint32_t *nr_workers)
{
	if (size < sizeof(*page))
		return false;
	/* relaxed: constant, or not a page; each is read once. */
	*nr_workers = load_relaxed(&page->nr_workers);
	/* relaxed: as above. */
	return load_relaxed(&page->magic) == PAGE_MAGIC &&
	       load_relaxed(&page->version) == PAGE_VERSION &&
	       load_relaxed(&page->worker_offset) ==
		       offsetof(struct stats_page, worker) &&
	       load_relaxed(&page->worker_size) == sizeof(struct page_worker) &&
	       *nr_workers <= SLEY_WORKERS_MAX &&
	       page_size(*nr_workers) <= size;
}

int page_read(const void *memory, size_t size, struct page_runtime *runtime,
	      struct page_worker *worker, uint32_t max)
{
	const struct stats_page *page = memory;
	uint32_t nr;

	if (!is_page(page, size, &nr))
		return -EINVAL;
	for (int i = 0; i < ATTEMPTS; i++) {
		uint64_t counter = load_acquire(&page->counter); /* PG2 */

		if (counter & 1)
			continue;
		read_words(runtime, (const uint64_t *)&page->runtime,
			   sizeof(*runtime));
		read_words(worker, (const uint64_t *)page->worker,
			   (nr < max ? nr : max) * sizeof(*worker));
		/* relaxed: PG1 orders the load behind the words. */
		if (load_relaxed(&page->counter) == counter)
			return (int)nr;
	}
	return -EAGAIN;
}
