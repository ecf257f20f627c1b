/* SPDX-License-Identifier: MIT */
/*
 * source_scene.h - for the models of src/core/sched/source.c: a source whose producer is
 * another process.
 *
 * The producer knows nothing of the workers' counts, and no membarrier() reaches it.  All
 * it has is one word, in which it counts items and finds the bit SLEEPS, and a descriptor.
 * Signalling the descriptor is idle_wake_one(), which stands for the kernel: it wakes a
 * parked worker, if there is one.  A worker that sleeps beside an item is a lost wake-up.
 */
#ifndef SLEY_TESTS_MODEL_SOURCE_SCENE_H
#define SLEY_TESTS_MODEL_SOURCE_SCENE_H

/* For what is static there; before the crew, which has an rt of its own. */
#include "core/sched/idle.c"
#include "core/sched/search.c"
#include "core/sched/source.c"

#define CREW_HAS_SOURCES
#define CREW_MAX 3
#include "crew.h"
#include "monitor_only.h"
#include "payload.h"

#define SLEEPS 1u
#define ONE 2u

static uint32_t box; /* the producer's word: items and SLEEPS */
static uint32_t out; /* items taken out: written by takers    */
static struct payload items[2];
static struct sley_source *source;
static struct sley_task home_task;
static struct ledger {
	int taken[3], ended; /* by each thread */
	bool began, counted;
	uint64_t look_ns;
} ledger;

/* There are no bound threads. */
void drain_end_unbind(struct worker *worker)
{
	(void)worker;
	MODEL_CHECK(!"nobody unbinds");
}

bool os_fd_is_readable(int fd)
{
	(void)fd;
	return false;
}

/* ---- the source ----------------------------------------------------------------- */

static bool box_has(void *arg)
{
	(void)arg;
	return load_relaxed(&box) / ONE != load_relaxed(&out);
}

static bool box_arm(void *arg)
{
	(void)arg;
	return or_relaxed(&box, SLEEPS) / ONE != load_relaxed(&out);
}

static void box_disarm(void *arg)
{
	(void)arg;
	(void)and_relaxed(&box, ~SLEEPS);
}

static bool box_take(void *arg)
{
	uint32_t nr = load_acquire(&box) / ONE, i = load_relaxed(&out);

	(void)arg;
	for (; i < nr; i++) {
		payload_check(&items[i]);
		ledger.taken[model_thread()]++;
	}
	store_relaxed(&out, nr);
	return false;
}

static const struct source_ops box_ops = {
	.has = box_has,
	.take = box_take,
	.arm = box_arm,
	.disarm = box_disarm,
};

/* The worker finds the item when it arms. */
static const struct source_ops armed_ops = {
	.take = box_take,
	.arm = box_arm,
	.disarm = box_disarm,
};

/* Of a producer in this process, which notifies. */
static const struct source_ops told_ops = { .take = box_take };

static void setup_with(unsigned int workers, const struct source_ops *ops)
{
	crew_set_up(workers);
	box = out = 0;
	memset(items, 0, sizeof(items));
	memset(&ledger, 0, sizeof(ledger));
	model_ledger(&ledger, sizeof(ledger));
	home_task = (struct sley_task){ 0 };
	rt->config.tick_us = 1000;
	model_lock_word(&rt->sources.lock.word);
	model_name(&box, "box");
	model_name(&out, "out");
	model_name(&rt->sources.live, "live");
	model_name(&rt->sources.with_fd, "with_fd");
	model_name(&rt->sources.source[0].word, "word");
	model_name(&rt->sources.source[0].pending, "pending");
	if (!ops)
		return;
	MODEL_CHECK(source_add(rt, &source, ops, NULL, true) == 0);
	source->pending = 0;
}

static void falls_asleep(int i)
{
	crew[i].seat.word = SEAT_PARKED;
	list_prepend(&rt->idle.parked, &crew[i].seat.link);
	rt->idle.counts += IDLE_PARKED_ONE;
}

/* ---- producers ------------------------------------------------------------------- */

static void put(uint32_t i)
{
	payload_write(&items[i]);
	if (add_release(&box, ONE) & SLEEPS) {
		(void)and_relaxed(&box, ~SLEEPS);
		idle_wake_one(&rt->idle);
	}
}

static void produce(int id)
{
	(void)id;
	put(0);
}

static void produce_two(int id)
{
	(void)id;
	put(0);
	put(1);
}

/* ---- workers --------------------------------------------------------------------- */

static void turn(int id, struct sley_task *task)
{
	(void)task_claim(task);
	task->fn(task);
	MODEL_CHECK(turns_of(task)->after(&crew[id], task) == NULL);
}

/* Until it has taken @nr items, or comes home. */
static void work_until(int id, int nr)
{
	while (ledger.taken[id] < nr) {
		struct sley_task *task = worker_search(&crew[id]);

		if (task == &home_task)
			break;
		turn(id, task);
	}
	ledger.ended++;
}

static void worker(int id)
{
	work_until(id, 1);
}

static void worker_of_two(int id)
{
	work_until(id, 2);
}

static int nr_taken(void)
{
	return ledger.taken[0] + ledger.taken[1] + ledger.taken[2];
}

static void done_two(void)
{
	MODEL_CHECK(nr_taken() == 2 && ledger.ended == 1);
	MODEL_CHECK(source->word == SOURCE_LIVE && !source->taking.word);
}

static void done_by_two(void)
{
	MODEL_CHECK(nr_taken() == 1 && ledger.ended == 2);
	MODEL_CHECK(source->word == SOURCE_LIVE && !source->taking.word);
}

/* ---- takers and sleepers ----------------------------------------------------------- */

/* Worker 0 has a taker of the source, whose take() has returned. */
static void setup_taker_ends_with(const struct source_ops *ops)
{
	setup_with(2, ops);
	source->word |= SOURCE_TAKEN;
	source->more = false;
	(void)build_taker(&crew[0], source);
	source->taker.state = TASK_RUNNING;
}

/* About to park, and not counted as a searcher. */
static void parker(int id)
{
	(void)park(&crew[id], false);
	worker(id);
}

static void sleeper(int id)
{
	const struct idle_look look = { .arg = &crew[id] };

	/* Woken as a searcher, it goes on with its search. */
	if (rest(&rt->idle, &crew[id].seat, false, &look, UINT64_MAX))
		worker_set_step(&crew[id], WORKER_SEARCHES);
	worker(id);
}

#define BOTH_VARIANTS(name, ...)                                               \
	MODEL(name##_with_membarrier, __VA_ARGS__);                            \
	MODEL(name##_without_membarrier, .no_membarrier = true, __VA_ARGS__)

#endif
