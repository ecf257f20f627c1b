/* SPDX-License-Identifier: MIT */
/*
 * self_litmus.c - the explorer knows what two of its memories allow:
 * one operation at a time, and store buffers.  The third is in self_weak.c.
 *
 *   store buffering   each stores, then reads the other's: both may read the
 *                     old value with store buffers, never in SC
 *   message passing   data, then a flag: stores leave the buffer in order
 *   Peterson's lock   store buffering in disguise: needs a barrier
 *   membarrier        on one side repairs store buffering for both
 */
#include "explorer.h"

#include "base/atomic.h"
#include "os/membarrier.h"

static uint32_t x, y, seen[2];
static uint32_t want[2], turn;
static int inside;

static void setup(void)
{
	x = y = seen[0] = seen[1] = 0;
	want[0] = want[1] = turn = 0;
	inside = 0;
	model_name(&x, "x");
	model_name(&y, "y");
}

/* ---- store buffering ----------------------------------------------------- */

static void store_then_load(int id)
{
	store_release(id ? &y : &x, 1);
	seen[id] = load_acquire(id ? &x : &y);
}

static void swap_then_load(int id)
{
	xchg_acq_rel(id ? &y : &x, 1);
	seen[id] = load_acquire(id ? &x : &y);
}

static void barrier_then_load(int id)
{
	store_release(id ? &y : &x, 1);
	os_membarrier();
	seen[id] = load_acquire(id ? &x : &y);
}

static void somebody_saw(void)
{
	MODEL_CHECK(seen[0] || seen[1]);
}

MODEL(store_buffering_does_not_happen_in_sc, .modes = MODEL_SC, .setup = setup,
      .threads = { store_then_load, store_then_load }, .finish = somebody_saw);

MODEL(store_buffering_is_found_in_tso, .modes = MODEL_TSO, .setup = setup,
      .threads = { store_then_load, store_then_load }, .finish = somebody_saw,
      .expect = MODEL_ASSERTION);

MODEL(a_swap_on_one_side_is_not_enough, .modes = MODEL_TSO, .setup = setup,
      .threads = { store_then_load, swap_then_load }, .finish = somebody_saw,
      .expect = MODEL_ASSERTION);

MODEL(swaps_forbid_store_buffering, .modes = MODEL_SC | MODEL_TSO,
      .setup = setup, .threads = { swap_then_load, swap_then_load },
      .finish = somebody_saw);

MODEL(membarrier_on_one_side_is_enough, .setup = setup,
      .threads = { store_then_load, barrier_then_load },
      .finish = somebody_saw);

MODEL(two_membarriers_do_not_block_each_other, .setup = setup,
      .threads = { barrier_then_load, barrier_then_load },
      .finish = somebody_saw);

/* ---- message passing ----------------------------------------------------- */

static void send(int id)
{
	(void)id;
	store_relaxed(&x, 1);
	store_release(&y, 1);
}

static void receive(int id)
{
	(void)id;
	if (load_acquire(&y))
		MODEL_CHECK(load_relaxed(&x) == 1);
}

static void send_reversed(int id)
{
	(void)id;
	store_release(&y, 1);
	store_relaxed(&x, 1);
}

MODEL(messages_pass_in_order, .setup = setup, .threads = { send, receive });

MODEL(a_flag_before_its_data_is_found, .setup = setup,
      .threads = { send_reversed, receive }, .expect = MODEL_ASSERTION);

static void receive_by_spinning(int id)
{
	(void)id;
	while (!load_acquire(&y))
		spin_hint(&y);
	MODEL_CHECK(load_relaxed(&x) == 1);
}

MODEL(a_spinning_receiver_is_woken_by_the_store, .setup = setup,
      .threads = { send, receive_by_spinning, receive_by_spinning });

/* ---- a thread reads its own stores --------------------------------------- */

static void store_and_read_back(int id)
{
	store_relaxed(&x, (uint32_t)id + 1);
	seen[id] = load_relaxed(&x);
}

/* Forwarded or overwritten in between, but never the old value. */
static void nobody_saw_zero(void)
{
	MODEL_CHECK(seen[0] && seen[1]);
	MODEL_CHECK(!(seen[0] == 2 && seen[1] == 1));
}

MODEL(a_thread_sees_its_own_stores, .setup = setup,
      .threads = { store_and_read_back, store_and_read_back },
      .finish = nobody_saw_zero);

/* ---- independent reads of independent writes ----------------------------- */

static uint32_t read_by[2][2];

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
	uint32_t *mine = read_by[id - 2];

	mine[0] = load_acquire(id == 2 ? &x : &y);
	mine[1] = load_acquire(id == 2 ? &y : &x);
}

static void readers_agree(void)
{
	MODEL_CHECK(!(read_by[0][0] && !read_by[0][1] && read_by[1][0] &&
		      !read_by[1][1]));
}

MODEL(readers_agree_on_the_order_of_writes, .modes = MODEL_SC | MODEL_TSO,
      .setup = setup, .threads = { write_x, write_y, read_both, read_both },
      .finish = readers_agree);

/* ---- Peterson's lock ----------------------------------------------------- */

static void critical_section(void)
{
	model_access(&inside);
	inside++;
	model_access(&inside);
	MODEL_CHECK(inside == 1);
	inside--;
	model_access(&inside);
}

static void peterson(int id, bool barrier)
{
	int other = 1 - id;
	int looks = 0;

	store_release(&want[id], 1);
	store_release(&turn, (uint32_t)other);
	if (barrier)
		(void)add_acq_rel(&turn, 0);
	while (load_acquire(&want[other]) &&
	       load_acquire(&turn) == (uint32_t)other) {
		/* Either may change, so there is no one place to wait for. */
		if (++looks == 4)
			return;
	}
	critical_section();
	store_release(&want[id], 0);
}

static void peterson_plain(int id)
{
	peterson(id, false);
}

static void peterson_with_barrier(int id)
{
	peterson(id, true);
}

MODEL(peterson_excludes_in_sc, .modes = MODEL_SC, .setup = setup,
      .threads = { peterson_plain, peterson_plain });

MODEL(peterson_without_barrier_is_found_in_tso, .modes = MODEL_TSO,
      .setup = setup, .threads = { peterson_plain, peterson_plain },
      .expect = MODEL_ASSERTION);

MODEL(peterson_with_barrier_excludes, .modes = MODEL_SC | MODEL_TSO,
      .setup = setup,
      .threads = { peterson_with_barrier, peterson_with_barrier });
