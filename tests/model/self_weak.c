/* SPDX-License-Identifier: MIT */
/*
 * self_weak.c - the explorer knows what C11 allows, and finds races (mode RA).
 *
 *   allowed, so it must be found: store buffering with read-modify-writes of
 *   two words, readers that disagree, stores of two threads in two orders,
 *   data that a relaxed flag does not bring along
 *   forbidden, so it must not be: what release and acquire order, reading
 *   backwards, a release sequence that is cut by a read-modify-write, all that
 *   sequentially consistent operations order
 *   not known to this mode, although C11 allows it: load buffering
 */
#include "explorer.h"

#include "base/atomic.h"
#include "os/futex.h"
#include "os/membarrier.h"

#define RA(id, ...) MODEL(id, .modes = MODEL_RA, .setup = setup, __VA_ARGS__)

static uint32_t x, y, seen[4];
static int data;

static void setup(void)
{
	x = y = 0;
	data = 0;
	for (int i = 0; i < 4; i++)
		seen[i] = 0;
	model_ledger(seen, sizeof(seen));
	model_name(&x, "x");
	model_name(&y, "y");
}

/* ---- store buffering ----------------------------------------------------- */

static void swap_then_load(int id)
{
	xchg_acq_rel(id ? &y : &x, 1);
	seen[id] = load_acquire(id ? &x : &y);
}

static void store_then_load_in_order(int id)
{
	store_seq_cst(id ? &y : &x, 1);
	seen[id] = load_seq_cst(id ? &x : &y);
}

static void somebody_saw(void)
{
	MODEL_CHECK(seen[0] || seen[1]);
}

RA(swaps_of_two_words_do_not_order,
   .threads = { swap_then_load, swap_then_load }, .finish = somebody_saw,
   .expect = MODEL_ASSERTION);
RA(consistent_operations_do,
   .threads = { store_then_load_in_order, store_then_load_in_order },
   .finish = somebody_saw);

/* ---- readers that disagree ----------------------------------------------- */

static void write_x(int id)
{
	(void)id;
	store_release(&x, 1);
}

static void write_y(int id)
{
	(void)id;
	store_release(&y, 1);
}

static void read_both(int id)
{
	uint32_t first = load_acquire(id == 2 ? &x : &y);
	uint32_t second = load_acquire(id == 2 ? &y : &x);

	seen[id] = first && !second;
}

static void write_x_in_order(int id)
{
	(void)id;
	store_seq_cst(&x, 1);
}

static void write_y_in_order(int id)
{
	(void)id;
	store_seq_cst(&y, 1);
}

static void read_both_in_order(int id)
{
	uint32_t first = load_seq_cst(id == 2 ? &x : &y);
	uint32_t second = load_seq_cst(id == 2 ? &y : &x);

	seen[id] = first && !second;
}

static void readers_agree(void)
{
	MODEL_CHECK(!(seen[2] && seen[3]));
}

RA(readers_may_disagree, .threads = { write_x, write_y, read_both, read_both },
   .finish = readers_agree, .expect = MODEL_ASSERTION);
RA(consistent_readers_agree,
   .threads = { write_x_in_order, write_y_in_order, read_both_in_order,
		read_both_in_order },
   .finish = readers_agree);

/* ---- stores in two orders ------------------------------------------------ */

static void store_both(int id)
{
	store_release(id ? &y : &x, 1);
	store_release(id ? &x : &y, 2);
}

static void not_both_first_stores_are_last(void)
{
	MODEL_CHECK(!(x == 1 && y == 1));
}

RA(stores_may_cross, .threads = { store_both, store_both },
   .finish = not_both_first_stores_are_last, .expect = MODEL_ASSERTION);

/* ---- coherence ----------------------------------------------------------- */

static void store_twice(int id)
{
	(void)id;
	store_relaxed(&x, 1);
	store_relaxed(&x, 2);
}

static void load_twice(int id)
{
	uint32_t first = load_relaxed(&x);

	seen[id] = load_relaxed(&x);
	MODEL_CHECK(seen[id] >= first);
}

RA(nobody_reads_backwards, .threads = { store_twice, load_twice, load_twice });

static void count(int id)
{
	seen[id] = add_relaxed(&x, 1) + 1;
}

static void counted_once_each(void)
{
	MODEL_CHECK(x == 3 && seen[0] + seen[1] + seen[2] == 6);
}

RA(relaxed_counting_loses_nothing, .threads = { count, count, count },
   .finish = counted_once_each);

/* ---- plain data ---------------------------------------------------------- */

static void publish(int id)
{
	(void)id;
	data = 42;
	store_release(&x, 1);
}

static void publish_relaxed(int id)
{
	(void)id;
	data = 42;
	store_relaxed(&x, 1);
}

static void pass_on(int id)
{
	(void)id;
	if (add_relaxed(&x, 1) == 1)
		seen[3] = 1;
}

static void pass_on_with_a_store(int id)
{
	(void)id;
	if (load_relaxed(&x) == 1)
		store_relaxed(&x, 2);
}

static void consume(int id)
{
	(void)id;
	if (load_acquire(&x))
		MODEL_CHECK(data == 42);
}

static void consume_relaxed(int id)
{
	(void)id;
	if (load_relaxed(&x))
		MODEL_CHECK(data == 42);
}

static void consume_two(int id)
{
	(void)id;
	if (load_acquire(&x) == 2)
		MODEL_CHECK(data == 42);
}

RA(release_and_acquire_pass_data, .threads = { publish, consume, consume });
RA(a_relaxed_store_passes_none, .threads = { publish_relaxed, consume },
   .expect = MODEL_RACE);
RA(a_relaxed_load_gets_none, .threads = { publish, consume_relaxed },
   .expect = MODEL_RACE);
RA(a_read_modify_write_passes_it_on,
   .threads = { publish, pass_on, consume_two });
RA(a_store_does_not_pass_it_on,
   .threads = { publish, pass_on_with_a_store, consume_two },
   .expect = MODEL_RACE);

static void write_data(int id)
{
	data = id;
}

static void declared(void)
{
	setup();
	model_ledger(&data, sizeof(data));
}

RA(two_plain_writes_race, .threads = { write_data, write_data },
   .expect = MODEL_RACE);
MODEL(bookkeeping_does_not, .modes = MODEL_RA, .setup = declared,
      .threads = { write_data, write_data });

/* ---- memory that is freed, or written anew ------------------------------- */

static uint32_t *block;

static void setup_block(void)
{
	setup();
	block = model_alloc(2 * sizeof(*block));
}

static void use(int id)
{
	(void)id;
	(void)load_relaxed(&block[0]);
	store_release(&x, 1);
}

static void use_relaxed(int id)
{
	(void)id;
	(void)load_relaxed(&block[0]);
	store_relaxed(&x, 1);
}

static void free_after_use(int id)
{
	(void)id;
	while (!load_acquire(&x))
		spin_hint(&x);
	model_free(block);
}

MODEL(a_block_is_freed_after_its_use, .modes = MODEL_RA, .setup = setup_block,
      .threads = { use, free_after_use });
MODEL(a_free_that_is_not_ordered_races, .modes = MODEL_RA, .setup = setup_block,
      .threads = { use_relaxed, free_after_use }, .expect = MODEL_RACE);

static void initialise(int id)
{
	(void)id;
	store_relaxed(&block[1], 1);
	block[1] = 7;
	store_release(&x, 1);
}

static void read_initialised(int id)
{
	(void)id;
	while (!load_acquire(&x))
		spin_hint(&x);
	MODEL_CHECK(load_relaxed(&block[1]) == 7);
	model_free(block);
}

MODEL(a_plain_write_begins_anew, .modes = MODEL_RA, .setup = setup_block,
      .threads = { initialise, read_initialised });

/* ---- memory that is mapped ------------------------------------------------ */

static _Alignas(64) uint32_t pages[2][1024];
static uint32_t *mapped; /* published by the thread that mapped it */

static void setup_mapped(void)
{
	setup();
	mapped = NULL;
}

static void map_and_publish(int id)
{
	store_release(&mapped,
		      (uint32_t *)model_mapped(pages[id], sizeof(pages[id])));
}

static void map_and_publish_relaxed(int id)
{
	store_relaxed(&mapped,
		      (uint32_t *)model_mapped(pages[id], sizeof(pages[id])));
}

static void use_mapped(int id)
{
	uint32_t *found = load_acquire(&mapped);

	(void)id;
	if (found)
		(void)load_relaxed(&found[1000]);
}

static void use_mapped_relaxed(int id)
{
	uint32_t *found = load_relaxed(&mapped);

	(void)id;
	if (found)
		(void)load_relaxed(&found[1000]);
}

static void allocate_and_publish_relaxed(int id)
{
	uint32_t *mine = model_alloc(4096);

	(void)id;
	store_relaxed(&mapped, mine);
}

/* The address is no secret: it was in use before. */
static void use_what_will_be_mapped(int id)
{
	(void)id;
	store_relaxed(&pages[0][1000], 1);
	store_relaxed(&x, 1);
}

static void map_after_use(int id)
{
	(void)id;
	if (load_relaxed(&x))
		(void)model_mapped(pages[0], sizeof(pages[0]));
}

#define MAPPED(id, ...)                                                        \
	MODEL(id, .modes = MODEL_RA, .setup = setup_mapped, __VA_ARGS__)

MAPPED(a_mapping_is_published_by_a_release,
       .threads = { map_and_publish, use_mapped, use_mapped });
MAPPED(a_mapping_that_is_published_relaxed_races,
       .threads = { map_and_publish_relaxed, use_mapped },
       .expect = MODEL_RACE);
MAPPED(a_mapping_that_is_found_relaxed_races,
       .threads = { map_and_publish, use_mapped_relaxed },
       .expect = MODEL_RACE);
MAPPED(an_allocation_that_is_published_relaxed_races,
       .threads = { allocate_and_publish_relaxed, use_mapped },
       .expect = MODEL_RACE);
MAPPED(a_mapping_of_memory_in_use_races,
       .threads = { use_what_will_be_mapped, map_after_use },
       .expect = MODEL_RACE);

/* ---- membarrier and futex ------------------------------------------------ */

static void store_then_load(int id)
{
	store_relaxed(id ? &y : &x, 1);
	seen[id] = load_relaxed(id ? &x : &y);
}

static void barrier_then_load(int id)
{
	store_relaxed(id ? &y : &x, 1);
	os_membarrier();
	seen[id] = load_relaxed(id ? &x : &y);
}

RA(one_membarrier_orders_both_sides,
   .threads = { store_then_load, barrier_then_load }, .finish = somebody_saw);

static void sleep_on_x(int id)
{
	(void)id;
	while (load_relaxed(&x) == 0)
		os_futex_wait(&x, 0, UINT64_MAX);
}

static void wake_x(int id)
{
	(void)id;
	store_relaxed(&x, 1);
	os_futex_wake(&x, 1);
}

static void wake_x_too_early(int id)
{
	(void)id;
	os_futex_wake(&x, 1);
	store_relaxed(&x, 1);
}

RA(a_futex_compares_with_what_its_waker_stored,
   .threads = { sleep_on_x, wake_x });
RA(a_wake_before_the_store_is_lost, .threads = { sleep_on_x, wake_x_too_early },
   .expect = MODEL_LOST_WAKEUP);

/* ---- what the mode does not know ----------------------------------------- */

static void load_then_store(int id)
{
	seen[id] = load_relaxed(id ? &x : &y);
	store_relaxed(id ? &y : &x, 1);
}

static void not_both_from_the_future(void)
{
	MODEL_CHECK(!(seen[0] && seen[1]));
}

/* C11 allows it, and so does ARM; no order of steps leads there. */
RA(load_buffering_is_not_seen, .threads = { load_then_store, load_then_store },
   .finish = not_both_from_the_future);
