/* SPDX-License-Identifier: MIT */
/*
 * io_ring.c - src/io/ring.c: the tasks of a runtime share one ring, which the first of
 * them has made; what the others made ends.
 *
 * The ring is a part of the runtime (core/life/sley.h); the reactor is another, and
 * takes the same steps.  Complete for two tasks that ask for the ring at the same time,
 * where the kernel has one and where it denies one for good.  Sources are in
 * core_source.c, calls in io_ring_call.c.
 */
#include "explorer.h"

#include "model_mem.h"

#include "io/ring.c"

#include <string.h>

#define FD 5

static struct sley rt;
static struct sley_source sources[2]; /* a thread has one */
static int kernel_says;
static struct ledger {
	int made, ended, removed, without;
} ledger;

int os_uring_file_create(struct os_uring_file *ring, uint32_t nr_completions)
{
	MODEL_CHECK(nr_completions == RING_COMPLETIONS);
	if (kernel_says)
		return kernel_says;
	ring->queue.fd = FD;
	ledger.made++;
	return 0;
}

void os_uring_file_destroy(struct os_uring_file *ring)
{
	MODEL_CHECK(ring->queue.fd == FD);
	ledger.ended++;
}

bool os_uring_file_has(const struct os_uring_file *ring)
{
	(void)ring;
	MODEL_CHECK(!"nothing is taken");
	return false;
}

bool ring_calls_take(struct ring_calls *calls)
{
	(void)calls;
	MODEL_CHECK(!"nothing is taken");
	return false;
}

void ring_calls_init(struct ring_calls *calls)
{
	calls->nr_places = RING_PLACES;
}

int source_add(struct sley *of, struct sley_source **out,
	       const struct source_ops *ops, void *arg, bool of_user)
{
	struct sley_source *source = &sources[model_thread()];

	MODEL_CHECK(of == &rt && ops->fd == FD && !of_user);
	source->arg = arg;
	*out = source;
	return 0;
}

void source_remove(struct sley_source *source)
{
	MODEL_CHECK(source == &sources[model_thread()]);
	ledger.removed++;
}

static void setup(void)
{
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	memset(sources, 0, sizeof(sources));
	memset(rt.part, 0, sizeof(rt.part));
	rt.config.io = SLEY_IO_URING;
	kernel_says = 0;
	model_name(&rt.part[RUNTIME_RING], "part");
}

static void setup_denied(void)
{
	setup();
	kernel_says = -EPERM;
}

/* The fields are there: as ring_call() reads and changes them. */
static void use(int id)
{
	struct ring_calls *calls = ring_of(&rt);

	(void)id;
	if (!calls) {
		ledger.without++;
		return;
	}
	MODEL_CHECK(calls->nr_places == RING_PLACES);
	MODEL_CHECK(calls->kernel.queue.fd == FD);
	MODEL_CHECK(calls == ring_of(&rt));
}

static void one_is_left(void)
{
	MODEL_CHECK(!ledger.without);
	MODEL_CHECK(ledger.made == ledger.ended + 1);
	MODEL_CHECK(ledger.ended == ledger.removed);
	end(rt.part[RUNTIME_RING]);
}

static void all_go_without(void)
{
	MODEL_CHECK(ledger.without == 2 && !ledger.made);
	MODEL_CHECK(rt.part[RUNTIME_RING] == &denied);
}

MODEL(two_tasks_share_the_ring_of_the_first, .setup = setup,
      .threads = { use, use }, .finish = one_is_left);

MODEL(a_ring_that_is_denied_is_asked_for_once_more_at_most,
      .setup = setup_denied, .threads = { use, use }, .finish = all_go_without);
