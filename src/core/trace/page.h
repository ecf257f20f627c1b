/* SPDX-License-Identifier: MIT */
/*
 * page.h - counters and gauges of a runtime, in memory that others may read.
 *
 * The memory is the caller's: private memory, or a mapping that other processes
 * share.  It has a fixed layout without pointers, the same on all processors, and
 * begins with a version.  Nothing is written unless a caller asks, by page_attach().
 * Then the monitor writes all figures at each of its looks, while any worker is
 * awake.  The page has the time of the last look; a page that is not written any
 * more belongs to a runtime that sleeps, or has ended.
 *
 * A sequence counter tells a reader that it has read the words of one look:
 *
 *   writer (the monitor alone)           reader
 *   1. counter becomes odd               1. reads the counter: odd?  Again
 *   2. writes the words           (PG1)  2. reads the words
 *   3. counter becomes even       (PG2)  3. reads the counter: changed?  Again
 *
 * A reader that has found a word of a later look finds a later counter in step 3,
 * since the word publishes the odd counter.  A reader that has found the even
 * counter finds all words of that look, or later words.
 *
 * A reader believes nothing that is written there: the layout is checked against
 * the size of the memory, each count is read once, and the number of attempts has a
 * limit.  The writer reads nothing from the page.
 *
 * Edges:
 *
 *   PG1  the writer stores a word -> a reader loads it : the counter is odd
 *   PG2  the writer stores the even counter -> a reader loads it : all words
 *   PG3  a caller attaches the page -> the monitor sees it : the page is set up
 *
 * Rejected: pointers into the core (a reader of another process cannot follow
 * them, and a private reader would race with the end of the runtime); a lock in the
 * page (a reader that dies would stop the monitor).
 */
#ifndef SLEY_CORE_TRACE_PAGE_H
#define SLEY_CORE_TRACE_PAGE_H

#include "base/atomic.h"
#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sley;

#define PAGE_MAGIC                                                             \
	0x6567617079656c73ull /* "sleypage", as little-endian bytes */
#define PAGE_VERSION 1

/* Of the runtime.  Words of 64 bits only, here and in struct page_worker. */
struct page_runtime {
	uint64_t time_ns; /* of the look, as sley_now()            */
	uint64_t spawned;
	uint64_t finished;
	uint64_t steals;
	uint64_t parks;
	uint64_t shared_queued;
	uint64_t reserved[2];
};

struct page_worker {
	uint64_t finished;
	uint64_t switches;
	uint64_t parks;
	uint64_t load; /* in thousandths                            */
	uint64_t ready;
	uint64_t timers;
	uint64_t asleep; /* 0 or 1                                  */
	uint64_t reserved;
};

struct stats_page {
	uint64_t magic;
	uint32_t version;
	uint32_t nr_workers;
	uint32_t worker_offset; /* of the first worker, in bytes    */
	uint32_t worker_size;   /* of each worker, in bytes         */
	uint64_t counter;       /* odd: the words are being written */
	struct page_runtime runtime;
	uint64_t reserved[4];
	struct page_worker worker[];
};

_Static_assert(sizeof(struct page_runtime) == 64, "the layout of version 1");
_Static_assert(sizeof(struct page_worker) == 64, "the layout of version 1");
_Static_assert(offsetof(struct stats_page, counter) == 24,
	       "the layout of version 1");
_Static_assert(offsetof(struct stats_page, runtime) == 32,
	       "the layout of version 1");
_Static_assert(offsetof(struct stats_page, worker) == 128,
	       "the layout of version 1");

#define page_size(nr_workers)                                                  \
	(sizeof(struct stats_page) + (nr_workers) * sizeof(struct page_worker))

/* Set up a page in zeroed @memory, of page_size(@nr_workers) bytes. */
void page_init(struct stats_page *page, uint32_t nr_workers);

/* Steps 1, 2 and 3 of the writer. */
void page_begin(struct stats_page *page);
void page_put_runtime(struct stats_page *page,
		      const struct page_runtime *runtime);
void page_put_worker(struct stats_page *page, uint32_t i,
		     const struct page_worker *worker);
void page_end(struct stats_page *page);

/*
 * From memory of @size bytes, aligned to 8, that may hold anything.  The number of
 * workers, of which @max are copied at most; -EINVAL: this is no page of this
 * version, or it is too short; -EAGAIN: the words changed at each attempt.
 */
must_check int page_read(const void *memory, size_t size,
			 struct page_runtime *runtime,
			 struct page_worker *worker, uint32_t max);

/* The page of a runtime, or NULL. */
struct page_slot {
	struct stats_page *page;
};

/* False: there is a page already. */
static inline bool page_slot_set(struct page_slot *slot,
				 struct stats_page *page)
{
	struct stats_page *none = NULL;

	return cas_release(&slot->page, &none, page); /* PG3 */
}

static inline struct stats_page *page_slot_get(const struct page_slot *slot)
{
	return load_acquire(&slot->page); /* PG3 */
}

/* ---- page_monitor.c -------------------------------------------------------- */

/*
 * The monitor of @rt writes to @memory, of page_size(sley_nr_workers(@rt)) zeroed
 * bytes, until @rt has ended.  0, or -EINVAL: there is no monitor, or there is a
 * page already.
 */
must_check int page_attach(struct sley *rt, void *memory);

/* By the monitor, at a look. */
void page_update(struct sley *rt, uint64_t now_ns);

#endif
