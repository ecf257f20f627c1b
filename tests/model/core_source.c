/* SPDX-License-Identifier: MIT */
/*
 * core_source.c - src/core/sched/source.c with the very search.c, idle.c and
 * monitor.c: an item in a source is taken, once; and a source that is removed is not
 * touched any more.
 *
 * The producer is another process, in source_scene.h.
 *
 * Complete for one worker and one producer; for a worker that ends a take while
 * another parks; for a search that ends while another worker sleeps; for a notifier
 * in this process; for adding, removing and shutting against one worker that picks;
 * for the plan of the monitor against one notifier; for a source whose has() says yes
 * once; for a source that keeps in memory what its has() got: one worker that takes, one that asks, and one that sleeps.  All
 * with membarrier and without.  The models would not see mistakes that take four
 * workers, two sources, or a second turn of the taker.  io_reactor.c has the source
 * that keeps things, and the poller.
 */
#include "source_scene.h"

static struct payload owned; /* memory of the source's owner */

static void notify(int id)
{
	(void)id;
	payload_write(&items[0]);
	(void)add_release(&box, ONE); /* take() may find it at once */
	source_notify(source);
}

static void done_one(void)
{
	MODEL_CHECK(nr_taken() == 1 && ledger.ended == 1);
	MODEL_CHECK(rt->idle.counts == 0);
	MODEL_CHECK(source->word == SOURCE_LIVE && !source->taking.word);
}

/* ---- one worker, one producer ------------------------------------------------------ */

static void setup_box(void)
{
	setup_with(1, &box_ops);
}

static void setup_armed(void)
{
	setup_with(1, &armed_ops);
}

static void setup_told(void)
{
	setup_with(1, &told_ops);
}

BOTH_VARIANTS(a_worker_hears_of_another_process, .setup = setup_box,
	      .threads = { worker, produce }, .finish = done_one);

BOTH_VARIANTS(a_worker_that_arms_hears_of_another_process, .setup = setup_armed,
	      .threads = { worker, produce }, .finish = done_one);

BOTH_VARIANTS(a_worker_hears_of_a_notifier, .setup = setup_told,
	      .threads = { worker, notify }, .finish = done_one);

/* Another notifier was here before, and its item was taken. */
static void setup_told_before(void)
{
	setup_told();
	source->pending = 1;
}

BOTH_VARIANTS(a_worker_hears_of_a_second_notifier, .setup = setup_told_before,
	      .threads = { worker, notify }, .finish = done_one);

/* Before the second item the worker may take, end the take, arm and sleep again. */
BOTH_VARIANTS(a_worker_hears_of_another_process_twice, .setup = setup_box,
	      .threads = { worker_of_two, produce_two }, .finish = done_two,
	      .slow_modes = MODEL_RA);

/* ---- a taker, and a worker that passes by ------------------------------------------- */

static void setup_taker_ends(void)
{
	setup_taker_ends_with(&box_ops);
}

/* An item came meanwhile, and its producer found no SLEEPS. */
static void setup_taker_ends_beside_an_item(void)
{
	setup_taker_ends();
	items[0].value = PAYLOAD;
	box = ONE;
}

/* Afterwards the worker is busy for ever. */
static void end_turn(int id)
{
	(void)after_take(&crew[id], &source->taker);
	ledger.ended++;
}

BOTH_VARIANTS(a_taker_leaves_an_item_to_a_worker_that_parks,
	      .setup = setup_taker_ends_beside_an_item,
	      .threads = { end_turn, parker }, .finish = done_by_two);

/* take() has said that there is more; only the taker knows. */
static void setup_taker_leaves_more(void)
{
	setup_with(2, &told_ops);
	source->word |= SOURCE_TAKEN;
	source->more = true;
	(void)build_taker(&crew[0], source);
	source->taker.state = TASK_RUNNING;
	items[0].value = PAYLOAD;
	box = ONE;
}

BOTH_VARIANTS(a_taker_leaves_more_to_a_worker_that_parks,
	      .setup = setup_taker_leaves_more, .threads = { end_turn, parker },
	      .finish = done_by_two);

BOTH_VARIANTS(a_taker_arms_for_a_worker_that_passed_by,
	      .setup = setup_taker_ends,
	      .threads = { end_turn, parker, produce }, .finish = done_by_two,
	      .slow_modes = MODEL_TSO | MODEL_RA);

/* Steps 1 and 2 of the parker, and no more: this much is between it and the taker. */
static void sit_down_and_arm(int id)
{
	const struct idle_look look = { 0 };

	sit_down(&rt->idle, &crew[id].seat, false, &look);
	sources_arm(&crew[id]);
	ledger.ended++;
}

static void one_of_the_two_armed(void)
{
	MODEL_CHECK(box & SLEEPS);
	MODEL_CHECK(ledger.ended == 2);
	MODEL_CHECK(source->word == SOURCE_LIVE && !source->taking.word);
}

BOTH_VARIANTS(a_taker_or_a_parker_arms, .setup = setup_taker_ends,
	      .threads = { end_turn, sit_down_and_arm },
	      .finish = one_of_the_two_armed);

/* ---- a source that keeps what its has() got ----------------------------------------- */

/* has() moves an item from the kernel into memory, where no worker listens. */
static uint32_t in_kernel, in_memory;

static bool kept_left(void *arg)
{
	(void)arg;
	/* relaxed: SR6, which is explored here. */
	return load_relaxed(&in_memory);
}

static bool kept_has(void *arg)
{
	if (xchg_relaxed(&in_kernel, 0)) {
		payload_write(&items[0]);
		store_release(&in_memory, 1);
	}
	return kept_left(arg);
}

static bool kept_take(void *arg)
{
	int id = model_thread();

	(void)arg;
	if (!xchg_acquire(&in_memory, 0))
		return false;
	payload_check(&items[0]);
	ledger.taken[id < 0 ? 2 : id]++; /* worker 2 comes at the end */
	return false;
}

static const struct source_ops kept_ops = {
	.has = kept_has,
	.left = kept_left,
	.take = kept_take,
	.fd = 3,
};

static void name_kept(void)
{
	model_name(&in_kernel, "in_kernel");
	model_name(&in_memory, "in_memory");
}

/* A notification is pending; worker 2 is asleep, and listens to the kernel. */
static void setup_kept(void)
{
	setup_with(3, &kept_ops);
	name_kept();
	in_kernel = 1;
	in_memory = 0;
	source->pending = 1;
	falls_asleep(2);
}

/* One look; then the worker is busy for ever. */
static void look_at_sources(int id)
{
	struct sley_task *task = source_pick(&crew[id]);

	if (task)
		turn(id, task);
	ledger.ended++;
}

/* Worker 2 looks only if it was woken, or hears the kernel. */
static void kept_is_taken(void)
{
	if (in_kernel || crew[2].seat.word != SEAT_PARKED)
		look_at_sources(2);
	MODEL_CHECK(nr_taken() == 1 && !in_kernel && !in_memory);
	MODEL_CHECK(source->word == SOURCE_LIVE && !source->taking.word);
}

/* One of the two takes; the other moves the item meanwhile, and passes by. */
BOTH_VARIANTS(what_an_asker_got_beside_a_taker_is_taken, .setup = setup_kept,
	      .threads = { look_at_sources, look_at_sources },
	      .finish = kept_is_taken);

/* An asker was here while the taker took, and has passed by. */
static void setup_taker_ends_beside_a_kept_item(void)
{
	setup_taker_ends_with(&kept_ops);
	name_kept();
	items[0].value = PAYLOAD;
	in_kernel = 0;
	in_memory = 1;
}

BOTH_VARIANTS(a_taker_leaves_what_was_kept_to_a_worker_that_parks,
	      .setup = setup_taker_ends_beside_a_kept_item,
	      .threads = { end_turn, parker }, .finish = done_by_two);

/* A notifier beside such a source: the memory has nothing, pending says it. */
static bool never(void *arg)
{
	(void)arg;
	return false;
}

static const struct source_ops told_beside_memory_ops = {
	.has = never,
	.left = never,
	.take = box_take,
	.fd = 3,
};

static void setup_told_beside_memory(void)
{
	setup_with(1, &told_beside_memory_ops);
}

BOTH_VARIANTS(a_worker_hears_of_a_notifier_beside_memory,
	      .setup = setup_told_beside_memory, .threads = { worker, notify },
	      .finish = done_one);

/* ---- the end of a search ---------------------------------------------------------- */

/* Worker 0 searches, as the only one; worker 1 is asleep; nobody has armed. */
static void setup_search_ends(void)
{
	setup_with(2, &box_ops);
	falls_asleep(1);
	rt->idle.counts += IDLE_SEARCHING_ONE;
}

/* The worker has found other work. */
static void ender(int id)
{
	end_search(&crew[id]);
	ledger.ended++;
}

BOTH_VARIANTS(a_searcher_arms_for_a_worker_that_sleeps,
	      .setup = setup_search_ends,
	      .threads = { ender, sleeper, produce }, .finish = done_by_two);

/* ---- a source that is not always asked ---------------------------------------------- */

/*
 * Its has() asks the kernel once in a while, and says no in between: here it says yes once,
 * to whoever asks first.  That may be a worker that looks before it parks, or when its
 * search ends, and that takes nothing by itself.
 */
static uint32_t nr_said;

static bool says_once(void *arg)
{
	return box_has(arg) && !xchg_relaxed(&nr_said, 1);
}

static const struct source_ops rare_ops = { .has = says_once,
					    .take = box_take };

static void setup_rare(unsigned int workers)
{
	setup_with(workers, &rare_ops);
	nr_said = 0;
	model_name(&nr_said, "said");
	items[0].value = PAYLOAD;
	box = ONE;
}

static void setup_rare_beside_a_parker(void)
{
	setup_rare(1);
}

static void done_by_one(void)
{
	MODEL_CHECK(nr_taken() == 1 && ledger.ended == 1);
	MODEL_CHECK(source->word == SOURCE_LIVE && !source->taking.word);
}

BOTH_VARIANTS(what_a_parker_has_found_is_taken,
	      .setup = setup_rare_beside_a_parker, .threads = { parker },
	      .finish = done_by_one);

static void setup_rare_beside_a_sleeper(void)
{
	setup_rare(2);
	falls_asleep(1);
	rt->idle.counts += IDLE_SEARCHING_ONE;
}

BOTH_VARIANTS(what_the_end_of_a_search_has_found_is_taken,
	      .setup = setup_rare_beside_a_sleeper,
	      .threads = { ender, sleeper }, .finish = done_by_two);

/* ---- adding ------------------------------------------------------------------------- */

static void setup_nothing(void)
{
	setup_with(1, NULL);
	items[0].value = PAYLOAD;
	box = ONE;
}

static void add(int id)
{
	(void)id;
	payload_write(&owned);
	MODEL_CHECK(source_add(rt, &source, &box_ops, &owned, true) == 0);
}

BOTH_VARIANTS(a_worker_hears_of_a_new_source, .setup = setup_nothing,
	      .threads = { worker, add }, .finish = done_one);

/* The producer came before the source, and told nobody. */
static void add_after_an_item(int id)
{
	(void)id;
	MODEL_CHECK(source_add(rt, &source, &told_ops, NULL, true) == 0);
}

BOTH_VARIANTS(a_worker_hears_of_an_item_that_came_first, .setup = setup_nothing,
	      .threads = { worker, add_after_an_item }, .finish = done_one);

/* ---- removing: what belongs to the owner is not touched afterwards ------------------- */

static bool owned_has(void *arg)
{
	payload_check(arg);
	return true;
}

static bool owned_take(void *arg)
{
	payload_check(arg);
	return true;
}

static bool owned_arm(void *arg)
{
	payload_check(arg);
	return false;
}

static const struct source_ops owned_ops = {
	.has = owned_has,
	.take = owned_take,
	.arm = owned_arm,
};

static void setup_owned(void)
{
	setup_with(1, NULL);
	owned.value = PAYLOAD;
	MODEL_CHECK(source_add(rt, &source, &owned_ops, &owned, true) == 0);
	model_lock_word(&source->taking.word);
}

static void take_one(int id)
{
	struct sley_task *task = source_pick(&crew[id]);

	if (task)
		turn(id, task);
	ledger.ended++;
}

static void ask(int id)
{
	sources_arm(&crew[id]);
	(void)!sources_wait(&crew[id]);
	ledger.ended++;
}

static void remove_it(int id)
{
	(void)id;
	source_remove(source);
	model_access(&owned.value);
	owned.value = 0;
	ledger.ended++;
}

static void removed(void)
{
	MODEL_CHECK(ledger.ended == 2);
	MODEL_CHECK(source->word == 0 && !source->taking.word);
	MODEL_CHECK(rt->sources.live == 0 && rt->sources.used == 0);
}

MODEL(a_source_that_is_removed_is_not_taken, .setup = setup_owned,
      .threads = { take_one, remove_it }, .finish = removed);

MODEL(a_source_that_is_removed_is_not_asked, .setup = setup_owned,
      .threads = { ask, remove_it }, .finish = removed);

/* ---- two workers take, one after the other ------------------------------------------ */

static void setup_two_take(void)
{
	setup_with(2, NULL);
	owned.value = PAYLOAD;
	MODEL_CHECK(source_add(rt, &source, &owned_ops, &owned, true) == 0);
}

static void both_took(void)
{
	MODEL_CHECK(ledger.ended == 2);
	MODEL_CHECK(source->word == SOURCE_LIVE && !source->taking.word);
	MODEL_CHECK(crew[0].counters.spawned == crew[0].counters.finished);
	MODEL_CHECK(crew[1].counters.spawned == crew[1].counters.finished);
}

MODEL(two_workers_take_in_turn, .setup = setup_two_take,
      .threads = { take_one, take_one }, .finish = both_took);

/* ---- shutting: a taker that has begun is counted ------------------------------------- */

static void shut(int id)
{
	(void)id;
	MODEL_CHECK(sources_shut(rt));
	/* relaxed: as nr_left() of core/life/drain.c. */
	ledger.counted = load_relaxed(&crew[0].counters.spawned);
	ledger.ended++;
}

static void begin(int id)
{
	ledger.began = source_pick(&crew[id]);
	ledger.ended++;
}

static void all_counted(void)
{
	MODEL_CHECK(ledger.ended == 2 && ledger.began == ledger.counted);
}

MODEL(a_taker_is_counted_or_does_not_begin, .setup = setup_owned,
      .threads = { begin, shut }, .finish = all_counted);

/* The sources are opened again while a worker has passed them by. */
static void setup_shut(void)
{
	setup_with(1, &box_ops);
	items[0].value = PAYLOAD;
	box = ONE;
	(void)set_shut(&rt->sources, true);
}

static void open_again(int id)
{
	(void)id;
	sources_open(rt);
}

static void opened(void)
{
	for (int i = 0; i < SOURCES_MAX; i++)
		MODEL_CHECK(!(rt->sources.source[i].word & SOURCE_SHUT));
	done_one();
}

BOTH_VARIANTS(a_worker_hears_of_sources_that_are_open_again,
	      .setup = setup_shut, .threads = { worker, open_again },
	      .finish = opened);

/* ---- the plan of the monitor ----------------------------------------------------------- */

static void plan(int id)
{
	(void)id;
	ledger.look_ns = monitor_plan(rt, os_now(), false);
}

/* The monitor looks after a tick, or at once. */
static void is_planned(void)
{
	MODEL_CHECK(ledger.look_ns == os_now() + 1000000 ||
		    rt->monitor.word == MONITOR_HASTENED);
}

BOTH_VARIANTS(the_monitor_hears_of_a_notifier, .setup = setup_told,
	      .threads = { plan, notify }, .finish = is_planned);

/* The last worker that was parked finds a task, and nobody listens any more. */
static void setup_last_asleep(void)
{
	struct source_ops ops = box_ops;

	ops.fd = 3;
	setup_with(1, &ops);
}

static bool finds_a_task(void *arg)
{
	(void)arg;
	return true;
}

static void almost_sleep(int id)
{
	const struct idle_look look = { .look = finds_a_task };

	(void)idle_park(&rt->idle, &crew[id].seat, false, &look, UINT64_MAX);
	sources_expect(rt);
}

static void plan_beside_a_worker(int id)
{
	(void)id;
	ledger.look_ns = monitor_plan(rt, os_now(), false);
}

BOTH_VARIANTS(the_monitor_hears_that_nobody_listens, .setup = setup_last_asleep,
	      .threads = { almost_sleep, plan_beside_a_worker },
	      .finish = is_planned);
