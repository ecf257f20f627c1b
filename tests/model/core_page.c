/* SPDX-License-Identifier: MIT */
/*
 * core_page.c - src/core/trace/page.c: a reader gets the words of one look of the
 * monitor, or none.
 *
 * Complete for one writer that looks twice, and a reader that tries once.  The page
 * has no worker; the eight words of the runtime are written as the words of a worker
 * are.  The models would not see mistakes of a layout (tests/unit/core_page.c).
 */
#include "explorer.h"

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
