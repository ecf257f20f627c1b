/* SPDX-License-Identifier: MIT */
/*
 * sync_rwlock_tree.c - src/sync/rwlock_tree.c: task trees exclude each other
 * like readers and writers, and a tree that has the lock comes in again, past all
 * waiters.
 *
 * The threads are tasks; the model sets the tree of a thread: A, B or C.  In its
 * section a tree must see no other tree that writes, and `data` is plain memory that
 * only the lock orders.  Parents wait for their children by a word of the model, so
 * a child that is kept out is a deadlock.  At the end the lock is free.
 *
 * Complete for two trees with two operations, and for two tasks of one tree against
 * a task of another tree, with a deadline or a cancel for one of the tasks.  The
 * models could miss mistakes that take more trees than SLEY_RWLOCK_HOLDS, which are
 * in tests/conformance/sync/rwlock.c, and two trees that both come in again.
 */
#include "inline_paths.h"
#include "tasks_only.h"

#include "sync/rwlock_tree.h"

enum { A = 1, B = 2, C = 3 };

static struct sley_rwlock *lock;
static struct sley_rwlock_tree tree;
static uint64_t tree_of[TASKS_MAX];
static int data[2]; /* under the lock: equal */
static struct ledger {
	int met, gave_up;
	uint32_t writer;     /* the tree that is in a write section */
	uint32_t child_done; /* parents wait for it                 */
} ledger;

uint64_t tree_current(void)
{
	return model_thread() < 0 ? A : tree_of[model_thread()];
}

static void setup_with(uint64_t second, uint64_t third, enum tasks_flags flags)
{
	tasks_setup(flags);
	lock = model_alloc(sizeof(*lock));
	tree = (struct sley_rwlock_tree){ 0 };
	*lock = (struct sley_rwlock)SLEY_RWLOCK_TREE_INIT(&tree);
	tree_of[0] = A;
	tree_of[1] = second;
	tree_of[2] = third;
	data[0] = data[1] = 0;
	ledger = (struct ledger){ 0 };
	model_ledger(&ledger, sizeof(ledger));
	model_lock_word(&lock->q.word);
	model_name(&lock->q.word, "lock");
	model_name(&ledger.writer, "writer");
	model_name(&ledger.child_done, "child_done");
}

static void setup_strangers(void)
{
	setup_with(B, C, 0);
}

static void setup_strangers_timed(void)
{
	setup_with(B, C, TASKS_TIMED);
}

/* Thread 0 has the lock, thread 1 is its child, thread 2 a stranger. */
static void setup_family_reads(void)
{
	setup_with(A, B, 0);
	sley_rwlock_read_lock(lock);
}

static void setup_family_writes(void)
{
	setup_with(A, B, 0);
	sley_rwlock_write_lock(lock);
}

static void setup_read(void)
{
	setup_strangers();
	sley_rwlock_read_lock(lock);
}

static void setup_written(void)
{
	setup_strangers();
	sley_rwlock_write_lock(lock);
}

static void setup_read_timed(void)
{
	setup_strangers_timed();
	sley_rwlock_read_lock(lock);
}

static void finish(void)
{
	/* The count of readers means nothing here. */
	MODEL_CHECK(lock->q.word % SLEY_RWLOCK_READER == SLEY_RWLOCK_TREE);
	MODEL_CHECK(!lock->q.first);
	MODEL_CHECK(!tree.writer && !tree.writes && !tree.reads);
	for (int i = 0; i < SLEY_RWLOCK_HOLDS; i++)
		MODEL_CHECK(!tree.hold[i].tree && !tree.hold[i].count);
	model_free(lock);
}

/* No other tree writes. */
static void read_section(int id)
{
	/* relaxed: the holder of the lock sees the stores of the last writer. */
	uint32_t writer = load_relaxed(&ledger.writer);

	MODEL_CHECK(!writer || writer == tree_of[id]);
	MODEL_CHECK(data[0] == data[1]);
	ledger.met++;
}

static void write_section(int id)
{
	/* relaxed: as above. */
	uint32_t writer = xchg_relaxed(&ledger.writer, (uint32_t)tree_of[id]);

	MODEL_CHECK(!writer || writer == tree_of[id]);
	data[0]++;
	data[1]++;
	ledger.met++;
	/* relaxed: as above. */
	MODEL_CHECK(xchg_relaxed(&ledger.writer, writer) == tree_of[id]);
}

static void unread(int id)
{
	task_begin(id);
	read_section(id);
	sley_rwlock_read_unlock(lock);
}

static void unwrite(int id)
{
	task_begin(id);
	write_section(id);
	sley_rwlock_write_unlock(lock);
}

static void reader(int id)
{
	task_begin(id);
	sley_rwlock_read_lock(lock);
	unread(id);
}

static void writer(int id)
{
	task_begin(id);
	sley_rwlock_write_lock(lock);
	unwrite(id);
}

static bool refused(int err)
{
	MODEL_CHECK(err == 0 || err == -ETIMEDOUT || err == -ECANCELED);
	ledger.gave_up += err != 0;
	return err != 0;
}

static void writer_timed(int id)
{
	task_begin(id);
	if (!refused(sley_rwlock_write_lock_until(lock, LATER)))
		unwrite(id);
}

static void writer_or_end(int id)
{
	task_begin(id);
	if (!refused(sley_rwlock_write_lock_until(lock, UINT64_MAX)))
		unwrite(id);
}

static void reader_or_end(int id)
{
	task_begin(id);
	if (!refused(sley_rwlock_read_lock_until(lock, UINT64_MAX)))
		unread(id);
}

static void cancel_second(int id)
{
	task_begin(id);
	task_end_wait(1);
}

/* ---- strangers -------------------------------------------------------------- */

static void all_met(void)
{
	MODEL_CHECK(ledger.met == 3);
	finish();
}

static void two_met_or_gave_up(void)
{
	MODEL_CHECK(ledger.met + ledger.gave_up == 2);
	finish();
}

/* A has read all the time: the writer must give up, the reader not. */
static void setup_read_throughout(void)
{
	setup_read_timed();
	tree_of[0] = C;
}

static void setup_read_throughout_untimed(void)
{
	setup_read();
	tree_of[0] = C;
}

static void reader_met(void)
{
	MODEL_CHECK(ledger.met == 1 && ledger.gave_up == 1);
	sley_rwlock_read_unlock(lock);
	finish();
}

static void tries(int id)
{
	task_begin(id);
	if (sley_rwlock_try_read_lock(lock))
		unread(id);
	if (sley_rwlock_try_write_lock(lock))
		unwrite(id);
}

MODEL(a_reader_and_a_writer, .setup = setup_strangers,
      .threads = { reader, writer }, .finish = finish);
MODEL(a_reader_goes_and_both_kinds_come, .setup = setup_read,
      .threads = { unread, writer, reader }, .slow = true, .finish = all_met);
MODEL(a_writer_goes_and_two_readers_come, .setup = setup_written,
      .threads = { unwrite, reader, reader }, .slow = true, .finish = all_met);
MODEL(a_writer_goes_and_a_writer_comes_and_one_tries, .setup = setup_written,
      .threads = { unwrite, writer, tries }, .slow = true, .finish = finish);
MODEL(a_cancelled_writer, .setup = setup_read,
      .threads = { unread, writer_or_end, cancel_second },
      .finish = two_met_or_gave_up);
MODEL(a_cancelled_reader, .setup = setup_written,
      .threads = { unwrite, reader_or_end, cancel_second },
      .finish = two_met_or_gave_up);
MODEL(wake_and_deadline_and_cancel, .setup = setup_read_timed,
      .threads = { unread, writer_timed, cancel_second },
      .finish = two_met_or_gave_up);
MODEL(a_writer_that_gives_up_lets_a_reader_in, .setup = setup_read_throughout,
      .threads = { reader, writer_timed }, .finish = reader_met);
MODEL(a_cancelled_writer_lets_a_reader_in,
      .setup = setup_read_throughout_untimed,
      .threads = { reader, writer_or_end, cancel_second },
      .finish = reader_met);

/* ---- in and in again --------------------------------------------------------- */

/* Writes, reads within, and unlocks in the order of the locks. */
static void write_then_read(int id)
{
	task_begin(id);
	sley_rwlock_write_lock(lock);
	write_section(id);
	sley_rwlock_read_lock(lock);
	sley_rwlock_write_unlock(lock);
	unread(id); /* only reads now */
}

static void read_twice(int id)
{
	task_begin(id);
	sley_rwlock_read_lock(lock);
	sley_rwlock_read_lock(lock);
	read_section(id);
	sley_rwlock_read_unlock(lock);
	unread(id);
}

static void write_twice(int id)
{
	task_begin(id);
	sley_rwlock_write_lock(lock);
	sley_rwlock_write_lock(lock);
	write_section(id);
	sley_rwlock_write_unlock(lock);
	unwrite(id);
}

static void downgrade(int id)
{
	task_begin(id);
	write_section(id);
	sley_rwlock_downgrade(lock);
	unread(id);
}

/* The tree reads, and cannot write: the call fails, and the read lock stays. */
static void read_and_want_to_write(int id)
{
	task_begin(id);
	sley_rwlock_read_lock(lock);
	MODEL_CHECK(sley_rwlock_write_lock_until(lock, UINT64_MAX) == -EDEADLK);
	unread(id);
}

MODEL(what_was_written_is_read_by_who_wrote_it, .setup = setup_strangers,
      .threads = { write_then_read, reader }, .finish = all_met);
MODEL(a_writer_that_reads_on_keeps_writers_out, .setup = setup_strangers,
      .threads = { write_then_read, writer }, .finish = all_met);
MODEL(a_tree_reads_twice_around_a_writer, .setup = setup_strangers,
      .threads = { read_twice, writer }, .finish = all_met);
MODEL(a_tree_writes_twice_around_a_writer, .setup = setup_strangers,
      .threads = { write_twice, writer }, .finish = all_met);
MODEL(a_downgrade_lets_readers_in, .setup = setup_written,
      .threads = { downgrade, reader }, .finish = all_met);
MODEL(a_downgrade_keeps_writers_out, .setup = setup_written,
      .threads = { downgrade, writer }, .finish = all_met);
MODEL(a_tree_that_reads_is_told_that_it_cannot_write, .setup = setup_strangers,
      .threads = { read_and_want_to_write, writer }, .finish = finish);

/* ---- parent and child ---------------------------------------------------------- */

static void wait_for_child(void)
{
	while (!load_acquire(&ledger.child_done))
		spin_hint(&ledger.child_done);
}

static void parent_unread(int id)
{
	task_begin(id);
	wait_for_child();
	unread(id);
}

static void parent_unwrite(int id)
{
	task_begin(id);
	wait_for_child();
	unwrite(id);
}

static void child_reads(int id)
{
	reader(id);
	store_release(&ledger.child_done, 1);
}

static void child_writes(int id)
{
	writer(id);
	store_release(&ledger.child_done, 1);
}

MODEL(a_child_reads_past_a_writer_that_waits, .setup = setup_family_reads,
      .threads = { parent_unread, child_reads, writer }, .finish = all_met);
MODEL(a_child_reads_what_its_parent_writes, .setup = setup_family_writes,
      .threads = { parent_unwrite, child_reads, writer }, .finish = all_met);
MODEL(a_child_writes_past_a_writer_that_waits, .setup = setup_family_writes,
      .threads = { parent_unwrite, child_writes, writer }, .finish = all_met);
MODEL(a_child_writes_past_a_reader_that_waits, .setup = setup_family_writes,
      .threads = { parent_unwrite, child_writes, reader }, .finish = all_met);

/* The siblings wait as strangers, and come in as one tree. */
static void setup_siblings(void)
{
	setup_with(B, B, 0);
	sley_rwlock_write_lock(lock);
}

static void write_and_wait_for_child(int id)
{
	task_begin(id);
	sley_rwlock_write_lock(lock);
	wait_for_child();
	unwrite(id);
}

MODEL(a_child_waits_with_its_parent, .setup = setup_siblings,
      .threads = { unwrite, write_and_wait_for_child, child_writes },
      .finish = all_met);

/*
 * A stranger may stand between the siblings: the child is met behind the stranger.
 * There are four threads, so they go without the inline paths, which only look.
 */
static void setup_siblings_and_stranger(void)
{
	setup_siblings();
	tree_of[3] = C;
}

static void lock_tree(void)
{
	MODEL_CHECK(rwlock_tree_lock(lock, true, UINT64_MAX, 0) == 0);
	ledger.met++;
}

static void unlock_tree(int id)
{
	task_begin(id);
	MODEL_CHECK(rwlock_tree_unlock(lock, true));
}

static void bare_writer(int id)
{
	task_begin(id);
	lock_tree();
	unlock_tree(id);
}

static void bare_parent(int id)
{
	task_begin(id);
	lock_tree();
	wait_for_child();
	unlock_tree(id);
}

static void bare_child(int id)
{
	bare_writer(id);
	store_release(&ledger.child_done, 1);
}

MODEL(a_child_is_met_behind_a_stranger, .setup = setup_siblings_and_stranger,
      .threads = { unlock_tree, bare_parent, bare_child, bare_writer },
      .finish = all_met);
