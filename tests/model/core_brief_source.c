/* SPDX-License-Identifier: MIT */
/*
 * core_brief_source.c - src/core/sched/source.c with the very search.c, pick.c and idle.c:
 * a searcher that takes from a brief source keeps its search, and neither arms nor
 * notifies.  Nothing is lost by that when the search ends in the end.
 *
 * Complete for a search that is kept over one take, and then finds other work, or is ended
 * by a take that waits, while another worker sleeps or parks; and for one worker that takes
 * two items in one search.  All with membarrier and without.  The models would not see
 * mistakes that take three workers.
 */
#include "source_scene.h"

/* ---- a search that is kept over a take ------------------------------------------------ */

static const struct source_ops brief_ops = {
	.has = box_has,
	.take = box_take,
	.arm = box_arm,
	.disarm = box_disarm,
	.brief = true,
};

/* Worker 0 searches, and has the taker; its take() has returned.  Nobody has armed. */
static void setup_kept_search(void)
{
	setup_taker_ends_with(&brief_ops);
	rt->idle.counts += IDLE_SEARCHING_ONE;
	keep_or_end_search(&crew[0], &source->taker);
	MODEL_CHECK(worker_keeps_search(&crew[0]));
}

static void setup_kept_search_beside_a_sleeper(void)
{
	setup_kept_search();
	falls_asleep(1);
}

/* The next pick is the search again, which finds a task. */
static void end_turn_and_find_work(int id)
{
	struct worker *worker = &crew[id];

	task_build(&home_task, LEVEL_DEFAULT, 0);
	levels_push(&worker->ready, &home_task, LEVEL_DEFAULT);
	MODEL_CHECK(after_take(worker, &source->taker) == NULL);
	MODEL_CHECK(worker_pick(worker) == NULL);
	MODEL_CHECK(worker_search(worker) == &home_task);
	MODEL_CHECK(!worker_keeps_search(worker));
	ledger.ended++;
}

BOTH_VARIANTS(a_kept_search_that_finds_work_wakes_for_an_item,
	      .setup = setup_kept_search_beside_a_sleeper,
	      .threads = { end_turn_and_find_work, sleeper, produce },
	      .finish = done_by_two);

BOTH_VARIANTS(a_kept_search_that_finds_work_arms_for_a_parker,
	      .setup = setup_kept_search,
	      .threads = { end_turn_and_find_work, parker, produce },
	      .finish = done_by_two,
	      .slow_modes = MODEL_SC | MODEL_TSO | MODEL_RA);

/* An item came meanwhile, and its producer found no SLEEPS. */
static void setup_kept_search_beside_an_item(void)
{
	setup_kept_search();
	items[0].value = PAYLOAD;
	box = ONE;
}

BOTH_VARIANTS(a_kept_search_that_finds_work_leaves_an_item_to_a_parker,
	      .setup = setup_kept_search_beside_an_item,
	      .threads = { end_turn_and_find_work, parker },
	      .finish = done_by_two, .slow_modes = MODEL_TSO | MODEL_RA);

/* The taker yields, or is about to wait: a task of its worker runs in the take. */
static void setup_kept_search_waits(void)
{
	setup_kept_search_beside_a_sleeper();
	crew[0].strand->task = &source->taker;
	crew[0].limbo = &crew[0].base;
}

static void take_waits(int id)
{
	struct worker *worker = &crew[id];

	task_build(&home_task, LEVEL_DEFAULT, 0);
	levels_push(&worker->ready, &home_task, LEVEL_DEFAULT);
	MODEL_CHECK(worker_pick(worker) == &home_task);
	worker->strand->task = NULL;
	(void)after_take(worker, &source->taker);
	ledger.ended++;
}

BOTH_VARIANTS(a_take_that_waits_ends_the_search,
	      .setup = setup_kept_search_waits,
	      .threads = { take_waits, sleeper, produce },
	      .finish = done_by_two);

/* A worker that searches takes two items, one after the other, and then sleeps. */
static void setup_brief(void)
{
	setup_with(1, &brief_ops);
}

BOTH_VARIANTS(a_searcher_takes_one_item_after_the_other, .setup = setup_brief,
	      .threads = { worker_of_two, produce_two }, .finish = done_two,
	      .slow_modes = MODEL_RA);
