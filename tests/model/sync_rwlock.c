/* SPDX-License-Identifier: MIT */
/*
 * sync_rwlock.c - src/sync/rwlock.c and the inline paths of <sley/rwlock.h>:
 * readers, writers, waiters, and waiters that give up.
 *
 * The very sources, with plain threads and with tasks.  In its section a reader
 * must see no writer, and a writer must see no other thread; `data` is plain memory
 * that only the lock orders.  A writer frees the memory of the lock when all threads
 * have had their sections: an unlock that still touches the lock is seen.  A wait
 * with a deadline may time out at any moment.  At the end the lock must be free,
 * with nothing left in its balance.
 *
 * Complete for two threads that lock once or twice each, and for three threads that
 * lock once each, of which one may give up, be cancelled, try, or downgrade.  In
 * models of three threads one thread holds the lock at the beginning, so that the
 * models are small enough for every day; "make prove" also begins with a free lock.
 * Three plain threads: only readers and writers that do not give up.  The models
 * could miss mistakes that take four threads, as two readers between two writers.
 * Trees are in sync_rwlock_tree.c.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include <sley/rwlock.h>

uint64_t tree_current(void)
{
	never();
	return 0;
}

static struct sley_rwlock *lock;
static int data[2]; /* under the lock: equal */
static struct ledger {
	int met;          /* sections so far                   */
	int gave_up;      /* deadlines and cancels             */
	uint32_t writing; /* a thread is in a write section    */
} ledger;

static void setup_with(enum tasks_flags flags)
{
	tasks_setup(flags);
	lock = model_alloc(sizeof(*lock));
	data[0] = data[1] = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&lock->q.word);
	model_name(&lock->q.word, "lock");
	model_name(&ledger.writing, "writing");
}

static void setup(void)
{
	setup_with(0);
}

static void setup_timed(void)
{
	setup_with(TASKS_TIMED);
}

/* Thread 0 has the lock from the start. */
static void setup_read(void)
{
	setup();
	sley_rwlock_read_lock(lock);
}

static void setup_written(void)
{
	setup();
	sley_rwlock_write_lock(lock);
}

/* Free, but a writer that gave up has left its mark: no inline path. */
static void setup_stray(void)
{
	setup();
	lock->q.word = SLEY_RWLOCK_STRAY;
}

/* A reader has taken the first step, and is not in the list yet. */
static void setup_written_and_arrived(void)
{
	setup_written();
	lock->q.word += SLEY_RWLOCK_READER;
}

static void setup_read_timed(void)
{
	setup_timed();
	sley_rwlock_read_lock(lock);
}

static void setup_written_timed(void)
{
	setup_timed();
	sley_rwlock_write_lock(lock);
}

/* Readers only load, so that the order of two readers does not matter. */
static void read_section(void)
{
	/* relaxed: the holder of the lock sees the stores of the last writer. */
	MODEL_CHECK(!load_relaxed(&ledger.writing));
	MODEL_CHECK(data[0] == data[1]);
	ledger.met++;
}

static void write_section(void)
{
	/* relaxed: as above. */
	MODEL_CHECK(!xchg_relaxed(&ledger.writing, 1));
	data[0]++;
	data[1]++;
	ledger.met++;
	/* relaxed: as above. */
	MODEL_CHECK(xchg_relaxed(&ledger.writing, 0) == 1);
}

static void check_free(void)
{
	MODEL_CHECK(!(lock->q.word & ~(uint64_t)SLEY_RWLOCK_STRAY));
	MODEL_CHECK(!lock->q.first && !lock->balance);
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

static void unread(int id)
{
	(void)id;
	read_section();
	sley_rwlock_read_unlock(lock);
}

static void unwrite(int id)
{
	(void)id;
	write_section();
	sley_rwlock_write_unlock(lock);
}

static void reader(int id)
{
	sley_rwlock_read_lock(lock);
	unread(id);
}

static void writer(int id)
{
	sley_rwlock_write_lock(lock);
	unwrite(id);
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

/* The thread holds the write lock already. */
static void downgrade(int id)
{
	write_section();
	sley_rwlock_downgrade(lock);
	unread(id);
}

static bool refused(int err)
{
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	ledger.gave_up += err != 0;
	return err != 0;
}

static void reader_timed(int id)
{
	if (!refused(sley_rwlock_read_lock_until(lock, LATER)))
		unread(id);
}

static void writer_timed(int id)
{
	if (!refused(sley_rwlock_write_lock_until(lock, LATER)))
		unwrite(id);
}

static void try_read(int id)
{
	if (sley_rwlock_try_read_lock(lock))
		unread(id);
}

static void try_write(int id)
{
	if (sley_rwlock_try_write_lock(lock))
		unwrite(id);
}

/* The caller had the lock.  The try fails only if another thread got the lock. */
static void write_and_try(int id)
{
	writer(id);
	try_write(id);
}

static void read_and_try(int id)
{
	reader(id);
	try_write(id);
}

static void finish_try(void)
{
	MODEL_CHECK(ledger.met >= 2);
	finish();
}

/* ---- two threads ------------------------------------------------------------- */

/*
 * The other thread had its section, and this thread writes: the lock is not needed.
 */
static void write_and_free(int id)
{
	bool last;

	(void)id;
	sley_rwlock_write_lock(lock);
	write_section();
	last = ledger.met == 2;
	sley_rwlock_write_unlock(lock);
	if (last) {
		model_free(lock);
		lock = NULL;
	}
}

/* The writer gives up, comes again, and finds a reader that is not quite gone. */
static void give_up_write_and_free(int id)
{
	int err = sley_rwlock_write_lock_until(lock, LATER);

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

MODEL(a_reader_twice_and_a_writer, .setup = setup,
      .threads = { reader_twice, writer }, .finish = finish);

MODEL(a_reader_and_a_writer_twice, .setup = setup,
      .threads = { reader, writer_twice }, .finish = finish);

MODEL(who_tries_gets_what_a_writer_gave_up, .setup = setup,
      .threads = { write_and_try, writer_timed }, .finish = finish_try);

MODEL(who_tries_gets_what_a_reader_gave_up, .setup = setup,
      .threads = { write_and_try, reader_timed }, .finish = finish_try);

MODEL(who_tries_gets_what_it_has_read, .setup = setup,
      .threads = { read_and_try, writer_timed }, .finish = finish_try);

MODEL(who_tries_sees_what_a_reader_is_done_with, .setup = setup_stray,
      .threads = { try_write, reader }, .finish = finish);

MODEL(who_writes_sees_what_a_reader_is_done_with, .setup = setup_stray,
      .threads = { writer, reader }, .finish = finish);

/* ---- three threads, one of which has the lock ---------------------------------- */

MODEL(a_reader_goes_and_a_writer_and_a_reader_come, .setup = setup_read,
      .threads = { unread, writer, reader }, .slow = true, .finish = finish);

MODEL(a_reader_goes_and_two_writers_come, .setup = setup_read,
      .threads = { unread, writer, writer }, .slow = true, .finish = finish);

MODEL(a_writer_goes_and_two_readers_come, .setup = setup_written,
      .threads = { unwrite, reader, reader }, .slow = true, .finish = finish);

MODEL(who_tries_to_read_is_kept_out_too, .setup = setup_read,
      .threads = { unread, try_read, writer }, .finish = finish);

MODEL(who_tries_to_write_is_kept_out_too, .setup = setup_written,
      .threads = { unwrite, try_write, reader }, .finish = finish);

/* ---- tasks ------------------------------------------------------------------------ */

static void task_reader_twice(int id)
{
	task_begin(id);
	reader_twice(id);
}

static void task_writer_twice(int id)
{
	task_begin(id);
	writer_twice(id);
}

static void task_unread(int id)
{
	task_begin(id);
	unread(id);
}

static void task_unwrite(int id)
{
	task_begin(id);
	unwrite(id);
}

static void task_reader(int id)
{
	task_begin(id);
	reader(id);
}

static void task_writer(int id)
{
	task_begin(id);
	writer(id);
}

/* The reader that has arrived. */
static void task_reader_arrived(int id)
{
	task_begin(id);
	sley_rwlock_read_lock_slow(lock);
	unread(id);
}

static void task_downgrade(int id)
{
	task_begin(id);
	downgrade(id);
}

static void task_reader_timed(int id)
{
	task_begin(id);
	reader_timed(id);
}

static void task_writer_timed(int id)
{
	task_begin(id);
	writer_timed(id);
}

static void task_write_and_free(int id)
{
	task_begin(id);
	write_and_free(id);
}

static void task_reader_or_end(int id)
{
	task_begin(id);
	if (!refused(sley_rwlock_read_lock_until(lock, UINT64_MAX)))
		unread(id);
}

static void task_writer_or_end(int id)
{
	task_begin(id);
	if (!refused(sley_rwlock_write_lock_until(lock, UINT64_MAX)))
		unwrite(id);
}

static void cancel_second(int id)
{
	task_begin(id);
	task_end_wait(1);
}

static void all_met(void)
{
	MODEL_CHECK(ledger.met == 3);
	finish();
}

static void two_met(void)
{
	MODEL_CHECK(ledger.met == 2);
	finish();
}

static void two_met_or_gave_up(void)
{
	MODEL_CHECK(ledger.met + ledger.gave_up == 2);
	finish();
}

MODEL(tasks_of_both_kinds_twice, .setup = setup,
      .threads = { task_reader_twice, task_writer_twice }, .slow = true,
      .finish = finish);

MODEL(two_tasks_read_and_one_writes, .setup = setup,
      .threads = { task_reader, task_reader, task_writer }, .slow = true,
      .finish = all_met);

MODEL(two_tasks_write_and_one_reads, .setup = setup,
      .threads = { task_writer, task_writer, task_reader }, .slow = true,
      .finish = all_met);

MODEL(a_reader_goes_and_tasks_of_both_kinds_come, .setup = setup_read,
      .threads = { task_unread, task_writer, task_reader }, .finish = all_met);

MODEL(a_reader_goes_and_two_tasks_that_write_come, .setup = setup_read,
      .threads = { task_unread, task_writer, task_writer }, .finish = all_met);

MODEL(a_writer_goes_and_two_tasks_that_read_come, .setup = setup_written,
      .threads = { task_unwrite, task_reader, task_reader }, .finish = all_met);

MODEL(a_task_that_writes_may_free_what_was_read, .setup = setup,
      .threads = { task_reader, task_write_and_free }, .finish = finish);

MODEL(a_downgrade_lets_a_reader_in, .setup = setup_written,
      .threads = { task_downgrade, task_reader }, .finish = finish);

MODEL(a_downgrade_keeps_writers_out, .setup = setup_written,
      .threads = { task_downgrade, task_writer }, .finish = finish);

MODEL(a_downgrade_between_a_writer_and_a_reader, .setup = setup_written,
      .threads = { task_downgrade, task_writer, task_reader }, .slow = true,
      .finish = finish);

MODEL(a_downgrade_with_one_that_has_arrived_and_one_that_does,
      .setup = setup_written_and_arrived,
      .threads = { task_downgrade, task_reader_arrived, task_reader },
      .finish = finish, .slow_modes = MODEL_SC | MODEL_TSO);

MODEL(a_cancelled_writer_and_a_reader_that_goes, .setup = setup_read,
      .threads = { task_unread, task_writer_or_end, cancel_second },
      .finish = two_met_or_gave_up);

MODEL(a_cancelled_reader_and_a_writer_that_goes, .setup = setup_written,
      .threads = { task_unwrite, task_reader_or_end, cancel_second },
      .finish = two_met_or_gave_up);

/* A writer holds the lock all the time: both must give up, and leave no trace. */
static void both_gave_up(void)
{
	MODEL_CHECK(ledger.gave_up == 2);
	sley_rwlock_write_unlock(lock);
	finish();
}

MODEL(a_reader_gives_up_while_another_comes, .setup = setup_written,
      .threads = { reader_timed, reader_timed }, .finish = both_gave_up);

/* A reader holds the lock all the time: the writer must give up, the reader not. */
static void a_reader_met(void)
{
	MODEL_CHECK(ledger.met == 1 && ledger.gave_up == 1);
	sley_rwlock_read_unlock(lock);
	finish();
}

MODEL(a_writer_that_gives_up_lets_readers_in, .setup = setup_read,
      .threads = { reader, writer_timed }, .finish = a_reader_met);

MODEL(a_task_that_gives_up_lets_readers_in, .setup = setup_read_timed,
      .threads = { task_reader, task_writer_timed }, .finish = a_reader_met);

MODEL(a_cancelled_writer_lets_readers_in, .setup = setup_read,
      .threads = { task_reader, task_writer_or_end, cancel_second },
      .finish = a_reader_met);

MODEL(plain_locks_are_not_cancelled, .setup = setup_read,
      .threads = { task_unread, task_writer, cancel_second },
      .finish = two_met);

MODEL(a_task_that_writes_gives_up_before_a_reader, .setup = setup_read_timed,
      .threads = { task_unread, task_writer_timed, task_reader }, .slow = true,
      .finish = finish);

MODEL(a_task_that_reads_gives_up_between_writers, .setup = setup_written_timed,
      .threads = { task_unwrite, task_reader_timed, task_writer }, .slow = true,
      .finish = finish);

MODEL(a_task_that_writes_gives_up_and_another_comes, .setup = setup_read_timed,
      .threads = { task_unread, task_writer_timed, task_writer }, .slow = true,
      .finish = finish);

MODEL(wake_and_deadline_and_cancel_of_a_writer, .setup = setup_read_timed,
      .threads = { task_unread, task_writer_timed, cancel_second },
      .finish = two_met_or_gave_up);

MODEL(wake_and_deadline_and_cancel_of_a_reader, .setup = setup_written_timed,
      .threads = { task_unwrite, task_reader_timed, cancel_second },
      .finish = two_met_or_gave_up);
