/* SPDX-License-Identifier: MIT */
/*
 * sync_rwlock.c - src/sync/rwlock.c and the inline paths of <sley/rwlock.h>:
 * who reads, who writes, who waits, who gives up.
 *
 * The very sources, with plain threads.  In its section a reader must see no
 * writer and a writer nobody.  The lock is in memory that a writer frees when it
 * has met everybody in there: an unlock that still touches the lock is seen.
 * A wait with a deadline may end with it at any moment.  At the end the lock
 * must be free, with nothing left in its balance.
 *
 * Complete for two threads that lock once each; with three, or twice, bounded
 * in preemptions.  "make prove" is complete for two readers and a writer, and
 * for a reader and a writer that lock twice.  What it does not see: tasks, whose
 * waits are core_waitq.c's.
 */
#include "inline_paths.h"
#include "threads_only.h"

#include <errno.h>
#include <sley/rwlock.h>

uint64_t tree_current(void)
{
	return (uint64_t)model_thread() + 1;
}

static struct sley_rwlock *lock;
static struct sley_rwlock_tree tree;
static int readers, writers; /* in their sections          */
static int met;              /* sections so far            */
static uint32_t second_in;   /* the second of two readers came in */

static void clear(uint64_t word)
{
	lock = model_alloc(sizeof(*lock));
	lock->q.word = word;
	readers = writers = met = 0;
	second_in = 0;
	model_name(&second_in, "second_in");
	model_lock_word(&lock->q.word);
	model_name(&lock->q.word, "lock");
}

static void setup(void)
{
	clear(0);
}

static void setup_tree(void)
{
	clear(SLEY_RWLOCK_TREE);
	tree = (struct sley_rwlock_tree){ 0 };
	lock->tree = &tree;
}

/* Each access is a scheduling point: who should not be there would be seen. */
static void read_section(void)
{
	model_access(&writers);
	MODEL_CHECK(!writers);
	readers++;
	met++;
	model_access(&writers);
	MODEL_CHECK(!writers);
	readers--;
}

static void write_section(void)
{
	model_access(&writers);
	MODEL_CHECK(!writers && !readers);
	writers = 1;
	met++;
	model_access(&writers);
	MODEL_CHECK(writers == 1 && !readers);
	writers = 0;
}

static void check_free(void)
{
	MODEL_CHECK(!(lock->q.word &
		      ~(uint64_t)(SLEY_RWLOCK_STRAY | SLEY_RWLOCK_TREE)));
	MODEL_CHECK(!lock->q.first);
	if (!(lock->q.word & SLEY_RWLOCK_TREE))
		MODEL_CHECK(!lock->balance);
	else
		MODEL_CHECK(!tree.writer && !tree.hold[0].tree);
}

static void finish(void)
{
	if (lock) {
		check_free();
		model_free(lock);
	}
	lock = NULL;
}

/* ---- the threads ----------------------------------------------------------- */

static void reader(int id)
{
	(void)id;
	sley_rwlock_read_lock(lock);
	read_section();
	sley_rwlock_read_unlock(lock);
}

static void writer(int id)
{
	(void)id;
	sley_rwlock_write_lock(lock);
	write_section();
	sley_rwlock_write_unlock(lock);
}

static void writer_twice(int id)
{
	writer(id);
	writer(id);
}

static void reader_twice(int id)
{
	reader(id);
	reader(id);
}

static void downgrader(int id)
{
	(void)id;
	sley_rwlock_write_lock(lock);
	write_section();
	sley_rwlock_downgrade(lock);
	read_section();
	sley_rwlock_read_unlock(lock);
}

static void reader_timed(int id)
{
	int err = sley_rwlock_read_lock_until(lock, 2000000000);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	if (err)
		return;
	read_section();
	sley_rwlock_read_unlock(lock);
}

static void writer_timed(int id)
{
	int err = sley_rwlock_write_lock_until(lock, 2000000000);

	(void)id;
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT);
	if (err)
		return;
	write_section();
	sley_rwlock_write_unlock(lock);
}

/* Reads until the second reader has come in: a writer must not keep it out. */
static void first_reader(int id)
{
	(void)id;
	sley_rwlock_read_lock(lock);
	while (!load_acquire(&second_in))
		spin_hint(&second_in);
	sley_rwlock_read_unlock(lock);
}

static void second_reader(int id)
{
	(void)id;
	sley_rwlock_read_lock(lock);
	store_release(&second_in, 1);
	sley_rwlock_read_unlock(lock);
}

static void tries(int id)
{
	(void)id;
	if (sley_rwlock_try_read_lock(lock)) {
		read_section();
		sley_rwlock_read_unlock(lock);
	}
	if (sley_rwlock_try_write_lock(lock)) {
		write_section();
		sley_rwlock_write_unlock(lock);
	}
}

/* The lock was this one's.  Only somebody who got it meanwhile may keep it. */
static void try_write(void)
{
	if (sley_rwlock_try_write_lock(lock)) {
		write_section();
		sley_rwlock_write_unlock(lock);
	}
}

static void write_and_try(int id)
{
	writer(id);
	try_write();
}

static void read_and_try(int id)
{
	reader(id);
	try_write();
}

static void finish_try(void)
{
	MODEL_CHECK(met >= 2);
	finish();
}

/* The other one was in its section, and I write: nobody needs the lock. */
static void write_and_free(int id)
{
	bool last;

	(void)id;
	sley_rwlock_write_lock(lock);
	write_section();
	last = met == 2;
	sley_rwlock_write_unlock(lock);
	if (last) {
		model_free(lock);
		lock = NULL;
	}
}

/* It gives up, comes again, and finds a reader that is not quite gone. */
static void give_up_write_and_free(int id)
{
	int err = sley_rwlock_write_lock_until(lock, 2000000000);

	if (err)
		write_and_free(id);
	else
		sley_rwlock_write_unlock(lock);
}

MODEL(a_reader_and_a_writer, .setup = setup, .threads = { reader, writer },
      .finish = finish);

MODEL(a_writer_may_free_what_was_read, .setup = setup,
      .threads = { reader, write_and_free }, .finish = finish);

MODEL(a_writer_that_gave_up_may_free_it_later, .setup = setup,
      .threads = { reader, give_up_write_and_free }, .finish = finish);

MODEL(a_writer_may_free_what_was_written, .setup = setup,
      .threads = { writer, write_and_free }, .finish = finish);

MODEL(a_reader_and_a_writer_twice, .setup = setup,
      .threads = { reader_twice, writer_twice }, .bound = 4, .finish = finish);

MODEL(a_reader_and_a_writer_twice_in_full, .setup = setup,
      .threads = { reader_twice, writer_twice }, .slow = true,
      .finish = finish);

MODEL(two_readers_and_a_writer_in_full, .setup = setup,
      .threads = { reader, reader, writer }, .slow = true, .finish = finish);

MODEL(a_downgrade_keeps_writers_out, .setup = setup,
      .threads = { downgrader, writer, reader }, .bound = 3, .finish = finish);

MODEL(two_readers_and_a_writer, .setup = setup,
      .threads = { reader, reader, writer }, .bound = 3, .finish = finish);

MODEL(two_writers_and_a_reader, .setup = setup,
      .threads = { writer, writer, reader }, .bound = 3, .finish = finish);

MODEL(a_writer_gives_up_before_readers, .setup = setup,
      .threads = { reader, writer_timed, reader }, .bound = 3,
      .finish = finish);

MODEL(a_writer_that_gives_up_lets_readers_in, .setup = setup,
      .threads = { first_reader, writer_timed, second_reader }, .bound = 3,
      .finish = finish);

MODEL(a_reader_gives_up_between_writers, .setup = setup,
      .threads = { writer, reader_timed, writer }, .bound = 3,
      .finish = finish);

MODEL(a_writer_gives_up_and_another_comes, .setup = setup,
      .threads = { reader, writer_timed, writer }, .bound = 3,
      .finish = finish);

MODEL(who_only_tries_is_kept_out_too, .setup = setup,
      .threads = { tries, reader, writer_timed }, .bound = 3, .finish = finish);

MODEL(who_tries_gets_what_a_writer_gave_up, .setup = setup,
      .threads = { write_and_try, writer_timed }, .finish = finish_try);

MODEL(who_tries_gets_what_a_reader_gave_up, .setup = setup,
      .threads = { write_and_try, reader_timed }, .finish = finish_try);

MODEL(who_tries_gets_what_it_has_read, .setup = setup,
      .threads = { read_and_try, writer_timed }, .finish = finish_try);

MODEL(trees_exclude_each_other, .setup = setup_tree,
      .threads = { reader, writer_timed, writer }, .bound = 3,
      .finish = finish);
