/* SPDX-License-Identifier: MIT */
/*
 * core_page.c - src/core/trace/page.c: a reader gets the words of one look of the
 * monitor, or none; and page_monitor.c: the monitor finds a page that is set up.
 *
 * Complete for one writer that looks twice, and a reader that tries once; for a monitor
 * that looks once, beside one or two callers that attach a page.  A page that is read
 * has no worker; the eight words of the runtime are written as the words of a worker
 * are.  The models would not see mistakes of a layout (tests/unit/core_page.c).
 */
#include "explorer.h"

#include "core/sched/worker.h"
#include "core/trace/page.h"

#include <errno.h>
#include <string.h>

static struct stats_page page;
static uint32_t attached;

static void setup(void)
{
	memset(&page, 0, sizeof(page));
	page_init(&page, 0);
	attached = 0;
	model_name(&page.counter, "counter");
	model_name(&page.runtime.time_ns, "time");
	model_name(&page.runtime.reserved[1], "last");
	model_name(&attached, "attached");
}

static void look(uint64_t value)
{
	struct page_runtime runtime = { .time_ns = value };

	runtime.reserved[1] = value;
	page_begin(&page);
	page_put_runtime(&page, &runtime);
	page_end(&page);
}

static void write_twice(int id)
{
	(void)id;
	look(1);
	look(2);
}

static void write_and_tell(int id)
{
	(void)id;
	look(1);
	store_release(&attached, 1);
}

/* All words are of one look, and a look that has ended is not missed. */
static void read_once(int id)
{
	bool told = load_acquire(&attached);
	struct page_runtime got;
	int err = page_read(&page, sizeof(page), &got, NULL, 0);

	(void)id;
	if (err == -EAGAIN) {
		MODEL_CHECK(!told);
		return;
	}
	MODEL_CHECK(err == 0);
	MODEL_CHECK(got.time_ns == got.reserved[1]);
	MODEL_CHECK(!told || got.time_ns == 1);
}

MODEL(a_reader_gets_the_words_of_one_look, .setup = setup,
      .threads = { write_twice, read_once });

MODEL(a_reader_that_was_told_gets_that_look, .setup = setup,
      .threads = { write_and_tell, read_once });

/* ---- a page is attached ---------------------------------------------------------- */

#define NOW_NS 5

static struct sley rt;
static struct worker worker, *workers[] = { &worker };
static uint64_t memory[2][page_size(1) / sizeof(uint64_t)];
static struct ledger {
	int attached, refused;
	const struct stats_page *page; /* of the caller that was first */
} ledger;

void gauge_worker_stats(const struct worker *of, uint64_t now_ns,
			struct sley_worker_stats *out)
{
	MODEL_CHECK(of == &worker && now_ns == NOW_NS);
	*out = (struct sley_worker_stats){ 0 };
}

static void setup_attach(void)
{
	memset(memory, 0, sizeof(memory));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	rt.page.page = NULL;
	rt.worker = workers;
	rt.nr_workers = 1;
	model_name(&rt.page.page, "page");
}

static void attach(int id)
{
	struct stats_page *own = model_mapped(memory[id], sizeof(memory[id]));

	if (page_attach(&rt, own)) {
		ledger.refused++;
	} else {
		ledger.attached++;
		ledger.page = own;
	}
}

static void update(int id)
{
	(void)id;
	page_update(&rt, NOW_NS);
}

/* The monitor has written nothing, or a whole look, and to that page alone. */
static void one_is_attached(void)
{
	MODEL_CHECK(ledger.attached == 1 && rt.page.page == ledger.page);
	for (int i = 0; i < 2; i++) {
		const struct stats_page *own = (const void *)memory[i];

		MODEL_CHECK(own->counter == 0 ||
			    (own == ledger.page && own->counter == 2));
	}
}

static void the_second_is_refused(void)
{
	one_is_attached();
	MODEL_CHECK(ledger.refused == 1);
}

MODEL(a_monitor_finds_a_page_that_is_set_up, .setup = setup_attach,
      .threads = { attach, update }, .finish = one_is_attached);

MODEL(one_of_two_pages_is_attached, .setup = setup_attach,
      .threads = { attach, attach }, .finish = the_second_is_refused);
